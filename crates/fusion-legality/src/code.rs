//! The codes of refusals, each a row with a stable name and a sentence; its failing example stands in `tests/files/admit`.

use std::fmt;

macro_rules! codes {
    ($($name:ident, $code:literal, $sentence:literal;)*) => {
        /// Why a load or an expression does not join its first consumer. Names and codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $sentence] $name,)*
        }

        impl Code {
            /// Every code, in the order in which refusals of one candidate are listed.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The stable code, in kebab case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Code::$name => $code,)*
                }
            }

            /// The reason in words.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Code::$name => $sentence,)*
                }
            }
        }
    };
}

codes! {
    ScalarLoad, "scalar-load", "The load reads one element and makes a scalar: there is no traversal to join.";
    NoConsumer, "no-consumer", "Nothing reads an element of the tile.";
    NotAReduction, "not-a-reduction", "The first consumer is a store, a lone element read or another operation that is no reduction.";
    MultiUseRecipe, "multi-use-recipe", "The first consumer is an expression with several consumers of its own: it is made as an array, which reads the tile.";
    StrictFold, "strict-fold", "The reduction is a `fold`, whose order is part of its meaning.";
    SeveralCarries, "several-carries", "The reduction has several carries, each of which may be traversed on its own.";
    OpenBody, "open-body", "The body holds more than constants, elementwise math on scalars and element reads, or it sees its carry.";
    CoordinateMismatch, "coordinate-mismatch", "An element is read at a coordinate that is not the nest's own coordinate along that very axis.";
    ExtentMismatch, "extent-mismatch", "The non-unit axes of the tile and those of the reduction are not the same, one to one by identity and extent.";
    NonUnitWrapper, "non-unit-wrapper", "The reduction stands in a `map` that runs more than once.";
    OtherScope, "other-scope", "The first consumer runs in another scope: in a loop the tile was made outside of, or beyond its edge as a carry.";
    WriteBetweenSameArgument, "write-between-same-argument", "A store through the argument that is loaded lies between the load and the reduction.";
    WriteBetweenOtherArgument, "write-between-other-argument", "A store through another argument, which may be the same memory, lies between the load and the reduction.";
    StageBetween, "stage-between", "A stage lies between the load and the reduction: other programs may have written.";
    OpaqueBetween, "opaque-between", "An effect about which nothing is known lies between the load and the reduction.";
    DynamicExtent, "dynamic-extent", "The extent of an axis of the tile or of the reduction is not known yet.";
    LimitReached, "limit-reached", "The search for the first consumer met more recipes, consumers or effects than `MAX_VISITS`, a chain deeper than `MAX_DEPTH`, or a domain larger than `u64::MAX`.";
}

impl Code {
    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
