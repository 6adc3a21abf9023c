//! The mistakes of a text that are found before there is a kernel, each a row with a stable code and a sentence; its
//! failing example stands in `tests/files/parse`.

use diagnostics::Diagnostic;

macro_rules! mistakes {
    ($($name:ident, $code:literal, $sentence:literal;)*) => {
        /// A mistake of a text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Mistake {
            $(#[doc = $sentence] $name,)*
        }

        impl Mistake {
            /// Every mistake.
            pub const ALL: &'static [Mistake] = &[$(Mistake::$name),*];

            /// The stable code, in kebab case; a diagnostic carries it.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Mistake::$name => $code,)*
                }
            }

            /// The mistake in words.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Mistake::$name => $sentence,)*
                }
            }
        }
    };
}

mistakes! {
    SourceTooLarge, "source-too-large", "The text is longer than `MAX_SOURCE_BYTES`.";
    UnknownCharacter, "unknown-character", "A character has no meaning outside comments.";
    NameTooLong, "name-too-long", "A name is longer than `MAX_NAME` bytes.";
    BadNumber, "bad-number", "A number is malformed, too large for its type, or of an unknown type.";
    Syntax, "syntax", "The text does not follow the grammar.";
    TooDeep, "too-deep", "Parentheses and braces nest deeper than `MAX_NESTING`.";
    ReservedWord, "reserved-word", "A reserved word is used as a name.";
    ChainedComparison, "chained-comparison", "Comparisons stand in a row without parentheses.";
    MisplacedYield, "misplaced-yield", "`yield` stands elsewhere than at the end of a nest that yields.";
    UnknownName, "unknown-name", "Nothing visible here has the name.";
    UnknownAxis, "unknown-axis", "No axis has the name.";
    UnknownFunction, "unknown-function", "No function has the name.";
    UnknownType, "unknown-type", "No element type has the name.";
    WrongArguments, "wrong-arguments", "A function gets other arguments than it takes.";
    NameDefinedTwice, "name-defined-twice", "A name is defined again where the first definition is visible.";
    AxisGivenTwice, "axis-given-twice", "`where` names an axis twice.";
    WrongCount, "wrong-count", "An expression makes another number of values than is asked for.";
    NotAnInteger, "not-an-integer", "An extent, stride, step or number is no integer in range.";
    TooManyOperations, "too-many-operations", "The kernel has more than `MAX_OPERATIONS` operations.";
    ListTooLong, "list-too-long", "A list of names, parameters or values has more than `MAX_ITEMS` items.";
    TooManyMistakes, "too-many-mistakes", "There are more than `MAX_MISTAKES` mistakes; the rest is not shown.";
}

impl Mistake {
    /// The diagnostic of a mistake, yet without a place.
    pub(crate) fn says(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.code(), message)
    }
}
