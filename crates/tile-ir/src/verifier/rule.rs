//! The rules of TileIR, each a row with a stable code and a sentence; its failing example stands in `tests/files/verify`.

use diagnostics::Diagnostic;

macro_rules! rules {
    ($($(#[$attribute:meta])* $name:ident, $code:literal, $sentence:literal;)*) => {
        /// A rule every verified kernel keeps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $sentence] $(#[$attribute])* $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name),*];

            /// The stable code, in kebab case; a diagnostic carries it.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Rule::$name => $code,)*
                }
            }

            /// The rule in words.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Rule::$name => $sentence,)*
                }
            }
        }
    };
}

rules! {
    BrokenTables, "broken-tables", "Every key leads to a row, every operation stands in one region, every region belongs to one operation, and stated types are the derived ones.";
    NestingLimit, "nesting-limit", "Regions are nested at most `MAX_NESTING` deep.";
    OperationLimit, "operation-limit", "A kernel has at most `MAX_OPERATIONS` operations.";
    BadName, "bad-name", "The names of kernel, axes and parameters are identifiers and no reserved words.";
    DefinedTwice, "defined-twice", "No two parameters share a name, and no two axes do.";
    Scope, "scope", "A value is used after its definition, in the region that defines it or in one nested there.";
    ExtentZero, "extent-zero", "A fixed extent is at least 1.";
    ExtentTooLarge, "extent-too-large", "A fixed extent is at most 2147483647, for coordinates are i32.";
    RankLimit, "rank-limit", "Views, tiles and domains have at most `MAX_RANK` dimensions.";
    StrideCount, "stride-count", "A view states one stride a dimension.";
    FillType, "fill-type", "The fill value has the type that a load of the view computes with.";
    StorageOnly, "storage-only", "f16 and bf16 live in views only; scalars and tiles are f32, f64, i32 or bool.";
    NotAView, "not-a-view", "`load` and `store` name a view.";
    NotAScalar, "not-a-scalar", "A parameter used as a value is a scalar.";
    ElementType, "element-type", "An operation gets operands of an element type it is defined for.";
    MathNeedsF32, "math-needs-f32", "The functions exp, log, tanh and their kin are defined for f32 alone.";
    OperandMismatch, "operand-mismatch", "Operands of an elementwise operation have one element type, and the same dimensions unless they are scalars.";
    ConditionType, "condition-type", "The condition of `select` is bool.";
    RepeatedAxis, "repeated-axis", "No axis occurs twice in a tile or in a domain.";
    BroadcastDims, "broadcast-dims", "`broadcast` keeps the dimensions of its operand, in order, among the new ones.";
    ReshapeDims, "reshape-dims", "`reshape` inserts and drops unit dimensions and nothing else.";
    PermuteOrder, "permute-order", "`permute` names every dimension of its operand once.";
    CoordinateType, "coordinate-type", "Coordinates, window origins and loop bounds are i32 scalars.";
    SubscriptCount, "subscript-count", "There is one subscript a dimension, and what is indexed has dimensions.";
    StepZero, "step-zero", "The step of a window is at least 1.";
    ReadOnlyView, "read-only-view", "`store` writes through a `mut view`.";
    StoreType, "store-type", "The stored tile has the element type of the view's values and the windows' axes as dimensions, or is a scalar.";
    EmptyDomain, "empty-domain", "A `map` or `reduce` runs over at least one dimension.";
    ReduceType, "reduce-type", "A reduction combines f32, f64 or i32.";
    CarryType, "carry-type", "The carry of a reduction is a scalar.";
    YieldCount, "yield-count", "A body yields one value a result.";
    YieldType, "yield-type", "`map` yields scalars; other bodies yield the types of their carries.";
    NeedsClosedForm, "needs-closed-form", "An `unordered` or `tree` reduction adds, multiplies, or takes the minimum or maximum of, each carry exactly once, and nothing else reads the carry.";
    EffectInNest, "effect-in-nest", "The bodies of `map` and `reduce` have no effects.";
    ParallelPlace, "parallel-place", "`parallel` stands at the root.";
    RootContent, "root-content", "The root holds `parallel` nests and stages.";
    StagePlace, "stage-place", "`stage` stands at the root or directly in the body of a `parallel`.";
    ProgramsCollide, "programs-collide", "Two programs of one stage never write the same element through one parameter.";
    ReadsOtherPrograms, "reads-other-programs", "A program does not read, through the parameter, what another program of the stage writes.";
}

impl Rule {
    /// The rule with this code.
    pub fn from_code(code: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.code() == code)
    }

    /// Whether a text can break it; the others guard kernels made by hand.
    pub const fn breakable_in_text(self) -> bool {
        !matches!(
            self,
            Rule::BrokenTables
                | Rule::NestingLimit
                | Rule::OperationLimit
                | Rule::BadName
                | Rule::Scope
        )
    }

    /// The diagnostic of a violation, yet without a place.
    pub(crate) fn says(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.code(), message)
    }
}
