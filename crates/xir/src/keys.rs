//! Keys into the tables of a program: small typed indices whose `Display` is what dumps show.

use std::fmt;

macro_rules! key {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The key of row `index` of its table.
            pub const fn from_index(index: usize) -> Self {
                $name(index as u32)
            }

            /// The row this key stands for.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

key!(
    /// A value: the result of an operation, or an argument of a region.
    Value, "v"
);
key!(
    /// An operation.
    Op, "op"
);
key!(
    /// A region: a list of operations with arguments, ended by what it yields.
    Region, "region"
);
key!(
    /// A function.
    Function, "fn"
);
key!(
    /// A private array.
    Array, "array"
);
