//! The rules of a valid program, each with its code and its sentence.

/// A rule of the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A key names no row.
    ForeignKey,
    /// A row is used in two places, or its definition names another maker.
    OneHome,
    /// Regions nest too deep.
    Nesting,
    /// A value is used where it isn't visible.
    DefinedBefore,
    /// An operation isn't defined on an element.
    OperandElement,
    /// Operands differ in type.
    OperandTypes,
    /// An operand is uniform where varying is asked for, or the other way round.
    OperandShape,
    /// A result has another type than the operation makes.
    ResultTypes,
    /// A region takes other arguments than its operation gives.
    RegionArguments,
    /// A region yields other values than its operation takes.
    Yields,
    /// A call gives other values than the function takes.
    CallArguments,
    /// A lane, a pattern or a list of lanes doesn't fit the packet.
    Lanes,
    /// A contiguous access has no lane live, or more than there are.
    LiveLanes,
    /// A loop doesn't move on.
    Step,
    /// Functions call each other in a circle.
    Recursion,
    /// Two functions have one name, or one has none.
    FunctionName,
    /// An entry can't be started.
    Entry,
    /// A private array lies where it can't.
    ArrayPlace,
    /// A stack array is used by two functions.
    ArrayOwner,
    /// A slot lies outside its array.
    Slot,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 20] = [
        Rule::ForeignKey,
        Rule::OneHome,
        Rule::Nesting,
        Rule::DefinedBefore,
        Rule::OperandElement,
        Rule::OperandTypes,
        Rule::OperandShape,
        Rule::ResultTypes,
        Rule::RegionArguments,
        Rule::Yields,
        Rule::CallArguments,
        Rule::Lanes,
        Rule::LiveLanes,
        Rule::Step,
        Rule::Recursion,
        Rule::FunctionName,
        Rule::Entry,
        Rule::ArrayPlace,
        Rule::ArrayOwner,
        Rule::Slot,
    ];

    /// The stable name; the failing example is `tests/files/verify-xir/<code>.xir`.
    pub const fn code(self) -> &'static str {
        match self {
            Rule::ForeignKey => "foreign-key",
            Rule::OneHome => "one-home",
            Rule::Nesting => "nesting",
            Rule::DefinedBefore => "defined-before",
            Rule::OperandElement => "operand-element",
            Rule::OperandTypes => "operand-types",
            Rule::OperandShape => "operand-shape",
            Rule::ResultTypes => "result-types",
            Rule::RegionArguments => "region-arguments",
            Rule::Yields => "yields",
            Rule::CallArguments => "call-arguments",
            Rule::Lanes => "lanes",
            Rule::LiveLanes => "live-lanes",
            Rule::Step => "step",
            Rule::Recursion => "recursion",
            Rule::FunctionName => "function-name",
            Rule::Entry => "entry",
            Rule::ArrayPlace => "array-place",
            Rule::ArrayOwner => "array-owner",
            Rule::Slot => "slot",
        }
    }

    /// What a valid program keeps.
    pub const fn sentence(self) -> &'static str {
        match self {
            Rule::ForeignKey => "every key names a row of its table",
            Rule::OneHome => {
                "an operation stands in one region, a region belongs to one operation or function, and a value's row names its maker"
            }
            Rule::Nesting => "regions nest at most 64 deep",
            Rule::DefinedBefore => {
                "a value is used after its definition, in the same region or one inside it"
            }
            Rule::OperandElement => "an operation is used on elements it is defined on",
            Rule::OperandTypes => "operands of an elementwise operation have one type",
            Rule::OperandShape => "an operand is uniform or varying as its operation asks",
            Rule::ResultTypes => "results have the types their operation makes",
            Rule::RegionArguments => {
                "a loop's body takes an i64 and the carries; arms of an if take nothing"
            }
            Rule::Yields => {
                "a loop's body yields the next carries; both arms of an if yield its results"
            }
            Rule::CallArguments => "a call gives the values its function takes",
            Rule::Lanes => "a lane, a pattern's entries and a list of lanes fit the packet's width",
            Rule::LiveLanes => "a contiguous access has one to all lanes live",
            Rule::Step => "a loop's step is at least 1",
            Rule::Recursion => "functions don't call each other in a circle",
            Rule::FunctionName => "each function has a name of its own",
            Rule::Entry => {
                "an entry's function takes two uniform i64 and returns nothing, and a packet has at least one program"
            }
            Rule::ArrayPlace => {
                "an array has a slot; in the worker's workspace it lies 64-byte aligned, inside, and apart from the others"
            }
            Rule::ArrayOwner => "a stack array is used by one function",
            Rule::Slot => "a slot that is known lies in its array",
        }
    }
}
