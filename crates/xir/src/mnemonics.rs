//! The names of elements, operations and their kinds in XIR text.

use std::fmt;

use crate::ops::{BinaryOp, CompareOp, ConvertOp, Elem, MemElem, Shape, Type, UnaryOp, Workspace};

macro_rules! names {
    ($kind:ident, $($variant:ident = $name:literal),+ $(,)?) => {
        impl $kind {
            /// Every row of the table, with its name in text.
            pub const NAMED: &[($kind, &str)] = &[$(($kind::$variant, $name)),+];

            /// The name in text.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name),+
                }
            }

            /// The row with this name, if there is one.
            pub fn from_name(name: &str) -> Option<$kind> {
                match name {
                    $($name => Some($kind::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names!(
    Elem,
    F32 = "f32",
    F64 = "f64",
    I32 = "i32",
    I64 = "i64",
    Bool = "bool",
);
names!(
    MemElem,
    F32 = "f32",
    F64 = "f64",
    I32 = "i32",
    U8 = "u8",
    U16 = "u16",
);
names!(
    UnaryOp,
    Neg = "neg",
    Abs = "abs",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    Trunc = "trunc",
    Nearest = "nearest",
    Not = "not",
);
names!(
    BinaryOp,
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    Div = "div",
    Rem = "rem",
    Min = "min",
    Max = "max",
    CopySign = "copysign",
    And = "and",
    Or = "or",
    Xor = "xor",
    Shl = "shl",
    ShrS = "shr_s",
    ShrU = "shr_u",
);
names!(
    CompareOp,
    Eq = "eq",
    Ne = "ne",
    Lt = "lt",
    Le = "le",
    Gt = "gt",
    Ge = "ge",
);
names!(
    ConvertOp,
    I32ToF32 = "i32_to_f32",
    I32ToF64 = "i32_to_f64",
    F32ToI32 = "f32_to_i32",
    F64ToI32 = "f64_to_i32",
    F32ToF64 = "f32_to_f64",
    F64ToF32 = "f64_to_f32",
    I32ToI64 = "i32_to_i64",
    I64ToI32 = "i64_to_i32",
    F32ToBits = "f32_to_bits",
    BitsToF32 = "bits_to_f32",
    BoolToI32 = "bool_to_i32",
);
names!(Workspace, Worker = "worker", Shared = "shared");

impl Type {
    /// The type with this name: that of the element, followed by `x` if varying.
    pub fn from_name(name: &str) -> Option<Type> {
        match name.strip_suffix('x') {
            Some(elem) => Elem::from_name(elem).map(Type::varying),
            None => Elem::from_name(name).map(Type::uniform),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Uniform => f.write_str(self.elem.name()),
            Shape::Varying => write!(f, "{}x", self.elem.name()),
        }
    }
}
