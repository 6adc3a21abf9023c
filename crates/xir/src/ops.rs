//! The table of XIR operations: operands, results and effects. Printer, parser, verifier, interpreter and backend read it.

use crate::keys::{Array, Function, Region, Value};

/// What one lane of a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// 32-bit two's complement integer.
    I32,
    /// 64-bit two's complement integer: counters, byte offsets and addresses.
    I64,
    /// A truth value: a condition if uniform, a lane mask if varying.
    Bool,
}

/// Whether the lanes of a packet share one value or have one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// One value for the whole packet.
    Uniform,
    /// One value a lane, `Program::lanes` of them.
    Varying,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// What a lane holds.
    pub elem: Elem,
    /// One value or one a lane.
    pub shape: Shape,
}

impl Type {
    /// One value for the whole packet.
    pub const fn uniform(elem: Elem) -> Type {
        Type {
            elem,
            shape: Shape::Uniform,
        }
    }

    /// One value a lane.
    pub const fn varying(elem: Elem) -> Type {
        Type {
            elem,
            shape: Shape::Varying,
        }
    }

    /// Whether lanes have a value each.
    pub const fn is_varying(self) -> bool {
        matches!(self.shape, Shape::Varying)
    }
}

/// How an element lies in the caller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemElem {
    /// Four bytes, held as f32.
    F32,
    /// Eight bytes, held as f64.
    F64,
    /// Four bytes, held as i32.
    I32,
    /// One byte, zero-extended to i32 when loaded, truncated when stored.
    U8,
    /// Two bytes, zero-extended to i32 when loaded, truncated when stored.
    U16,
}

impl MemElem {
    /// Bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            MemElem::U8 => 1,
            MemElem::U16 => 2,
            MemElem::F32 | MemElem::I32 => 4,
            MemElem::F64 => 8,
        }
    }

    /// What a lane holds after a load.
    pub const fn elem(self) -> Elem {
        match self {
            MemElem::F32 => Elem::F32,
            MemElem::F64 => Elem::F64,
            MemElem::I32 | MemElem::U8 | MemElem::U16 => Elem::I32,
        }
    }
}

/// Which addresses the lanes of one access touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// One element; the value is uniform.
    Scalar,
    /// Lane `l < live` touches element `l` from the address. Lanes from `live` on touch nothing and load zero.
    Contiguous {
        /// How many lanes take part, 1 to the packet's width.
        live: u32,
    },
    /// Lane `l` touches `address + l * stride`.
    Strided {
        /// Bytes between lanes, a uniform i64.
        stride: Value,
    },
    /// Lane `l` touches `address + offsets[l]`. In a store, lanes that share an address hold the same value.
    Gather {
        /// Bytes from the address, a varying i64.
        offsets: Value,
    },
}

impl Access {
    /// The shape of what is read or written.
    pub const fn shape(self) -> Shape {
        match self {
            Access::Scalar => Shape::Uniform,
            Access::Contiguous { .. } | Access::Strided { .. } | Access::Gather { .. } => {
                Shape::Varying
            }
        }
    }

    /// The value that says where the lanes go, if there is one.
    pub const fn operand(self) -> Option<Value> {
        match self {
            Access::Scalar | Access::Contiguous { .. } => None,
            Access::Strided { stride: value } | Access::Gather { offsets: value } => Some(value),
        }
    }

    pub(crate) fn operand_mut(&mut self) -> Option<&mut Value> {
        match self {
            Access::Scalar | Access::Contiguous { .. } => None,
            Access::Strided { stride: value } | Access::Gather { offsets: value } => Some(value),
        }
    }
}

/// Operations of one operand; the result has its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Sign flipped (floats), two's complement (integers, wrapping).
    Neg,
    /// Sign cleared (floats, integers wrap at the minimum).
    Abs,
    /// Correctly rounded square root.
    Sqrt,
    /// To an integer, towards minus infinity.
    Floor,
    /// To an integer, towards plus infinity.
    Ceil,
    /// To an integer, towards zero.
    Trunc,
    /// To an integer, ties to even.
    Nearest,
    /// Complement (integers), negation (bool).
    Not,
}

/// Operations of two operands of one type; the result has that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; for integers truncating, `x / 0 = 0`, `MIN / -1 = MIN`.
    Div,
    /// Integer remainder, `x % 0 = x`, `MIN % -1 = 0`.
    Rem,
    /// Floats: IEEE 754-2019 minimum (NaN propagates, -0 below +0). Integers: signed minimum.
    Min,
    /// Floats: IEEE 754-2019 maximum. Integers: signed maximum.
    Max,
    /// Magnitude of the first, sign of the second (floats).
    CopySign,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
    /// Shift left; the amount counts modulo the width.
    Shl,
    /// Arithmetic shift right.
    ShrS,
    /// Logical shift right.
    ShrU,
}

/// Comparisons of two operands of one type; the result is bool of the same shape. Signed for integers.
/// With a NaN all are false but `Ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// Conversions; the shape stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvertOp {
    /// i32 to f32, ties to even.
    I32ToF32,
    /// i32 to f64, exact.
    I32ToF64,
    /// f32 to i32: towards zero, saturating, NaN gives 0.
    F32ToI32,
    /// f64 to i32: towards zero, saturating, NaN gives 0.
    F64ToI32,
    /// f32 to f64, exact.
    F32ToF64,
    /// f64 to f32, ties to even.
    F64ToF32,
    /// i32 to i64, sign-extended.
    I32ToI64,
    /// i64 to i32, the low half.
    I64ToI32,
    /// The bits of an f32 as i32.
    F32ToBits,
    /// The f32 with the bits of an i32.
    BitsToF32,
    /// false is 0, true is 1.
    BoolToI32,
}

impl ConvertOp {
    /// Every conversion.
    pub const ALL: [ConvertOp; 11] = [
        ConvertOp::I32ToF32,
        ConvertOp::I32ToF64,
        ConvertOp::F32ToI32,
        ConvertOp::F64ToI32,
        ConvertOp::F32ToF64,
        ConvertOp::F64ToF32,
        ConvertOp::I32ToI64,
        ConvertOp::I64ToI32,
        ConvertOp::F32ToBits,
        ConvertOp::BitsToF32,
        ConvertOp::BoolToI32,
    ];

    /// The element before and after.
    pub const fn types(self) -> (Elem, Elem) {
        match self {
            ConvertOp::I32ToF32 | ConvertOp::BitsToF32 => (Elem::I32, Elem::F32),
            ConvertOp::I32ToF64 => (Elem::I32, Elem::F64),
            ConvertOp::F32ToI32 | ConvertOp::F32ToBits => (Elem::F32, Elem::I32),
            ConvertOp::F64ToI32 => (Elem::F64, Elem::I32),
            ConvertOp::F32ToF64 => (Elem::F32, Elem::F64),
            ConvertOp::F64ToF32 => (Elem::F64, Elem::F32),
            ConvertOp::I32ToI64 => (Elem::I32, Elem::I64),
            ConvertOp::I64ToI32 => (Elem::I64, Elem::I32),
            ConvertOp::BoolToI32 => (Elem::Bool, Elem::I32),
        }
    }
}

/// A constant, compared by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// Bits of an f32.
    F32(u32),
    /// Bits of an f64.
    F64(u64),
    /// An i32.
    I32(i32),
    /// An i64.
    I64(i64),
    /// A truth value.
    Bool(bool),
}

impl Constant {
    /// An f32.
    pub fn f32(value: f32) -> Constant {
        Constant::F32(value.to_bits())
    }

    /// An f64.
    pub fn f64(value: f64) -> Constant {
        Constant::F64(value.to_bits())
    }

    /// What a lane holds.
    pub const fn elem(self) -> Elem {
        match self {
            Constant::F32(_) => Elem::F32,
            Constant::F64(_) => Elem::F64,
            Constant::I32(_) => Elem::I32,
            Constant::I64(_) => Elem::I64,
            Constant::Bool(_) => Elem::Bool,
        }
    }
}

/// Memory that the runtime lends to the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workspace {
    /// 64-byte aligned, one a worker; its contents mean nothing when an entry begins.
    Worker,
    /// 64-byte aligned, one a launch, kept from one entry to the next; packets use disjoint parts of it.
    Shared,
}

/// An operation with its operands. Operands of elementwise operations have one shape; `Splat` makes varying of uniform.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// A constant of the given shape.
    Const(Constant, Shape),
    /// Word `word` of the launch record, uniform, read as the given element (low bits).
    Record {
        /// Index of the 8-byte word.
        word: u32,
        /// What it holds.
        elem: Elem,
    },
    /// The address of a workspace, uniform i64.
    WorkspaceAddress(Workspace),
    /// Elementwise, one operand.
    Unary(UnaryOp, Value),
    /// Elementwise, two operands.
    Binary(BinaryOp, Value, Value),
    /// Elementwise comparison.
    Compare(CompareOp, Value, Value),
    /// `condition ? then : otherwise`; the condition is bool of the same shape, or uniform for any shape.
    Select {
        /// The condition.
        condition: Value,
        /// The value where it holds.
        then: Value,
        /// The value where it doesn't.
        otherwise: Value,
    },
    /// `a * b + c` with one rounding (floats).
    Fma(Value, Value, Value),
    /// Elementwise conversion.
    Convert(ConvertOp, Value),
    /// Uniform to varying: every lane gets it.
    Splat(Value),
    /// Varying i32: lane `l` holds `l`.
    LaneIndex,
    /// One lane of a varying value, uniform.
    Lane {
        /// The varying value.
        of: Value,
        /// Which lane.
        lane: u32,
    },
    /// Whether a varying bool holds in some lane; uniform bool.
    Any(Value),
    /// A varying value from one uniform value a lane.
    Build(Vec<Value>),
    /// Lane exchange: lane `l` of the result is lane `pattern[l]` of `a` followed by `b` (so 0 .. 2 * lanes).
    Shuffle {
        /// Lanes 0 .. lanes.
        a: Value,
        /// Lanes lanes .. 2 * lanes.
        b: Value,
        /// One source a lane.
        pattern: Vec<u8>,
    },
    /// Reads the caller's memory (or a workspace). Lanes that don't take part touch nothing and hold zero.
    Load {
        /// How an element lies in memory.
        mem: MemElem,
        /// Which addresses.
        access: Access,
        /// Uniform i64; no alignment beyond one byte is assumed.
        address: Value,
        /// Bytes added to the address.
        displacement: i32,
        /// Lanes that take part: varying bool, or uniform bool for `Access::Scalar`.
        mask: Option<Value>,
        /// Nothing writes these bytes while the entry runs, so the load may move.
        invariant: bool,
    },
    /// Writes the caller's memory (or a workspace).
    Store {
        /// How an element lies in memory.
        mem: MemElem,
        /// Which addresses.
        access: Access,
        /// Uniform i64.
        address: Value,
        /// Bytes added to the address.
        displacement: i32,
        /// Lanes that take part.
        mask: Option<Value>,
        /// What is written; uniform for `Access::Scalar`.
        value: Value,
    },
    /// Slot `slot + offset` of a private array.
    PrivateLoad {
        /// The array.
        array: Array,
        /// Uniform i64.
        slot: Value,
        /// Slots added.
        offset: u32,
    },
    /// Sets slot `slot + offset` of a private array.
    PrivateStore {
        /// The array.
        array: Array,
        /// Uniform i64.
        slot: Value,
        /// Slots added.
        offset: u32,
        /// What is written, of the array's slot type.
        value: Value,
    },
    /// The address of slot 0, uniform i64. An array whose address is taken may be read through `Load` and written
    /// through `Store` as well: a slot of a varying array is its lanes in order, four bytes each (f32, i32, and bool as 0 or -1) or eight (f64, i64).
    PrivateAddress(Array),
    /// `for (i = lower; i < upper; i += step)`, signed; the region takes `i` (uniform i64), then the carries.
    Loop {
        /// First value of `i`, uniform i64.
        lower: Value,
        /// Bound of `i`, uniform i64.
        upper: Value,
        /// At least 1.
        step: i64,
        /// Initial carries.
        inits: Vec<Value>,
        /// One iteration; yields the next carries.
        body: Region,
    },
    /// One of two regions without arguments; both yield the results.
    If {
        /// Uniform bool.
        condition: Value,
        /// Runs if it holds.
        then: Region,
        /// Runs if it doesn't.
        otherwise: Region,
    },
    /// Calls a function; the results are what its body yields.
    Call {
        /// The function.
        function: Function,
        /// Its arguments.
        args: Vec<Value>,
    },
    /// Runs the caller's hook `id` for programs `first .. first + count`.
    Opaque {
        /// What the hook is told.
        id: u32,
        /// Index of the first program, uniform i64.
        first: Value,
        /// How many, uniform i64.
        count: Value,
    },
}

/// What an operation does beyond its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be dropped, shared and moved.
    Pure,
    /// Reads memory of the caller or a workspace.
    Read,
    /// Reads a private array.
    PrivateRead(Array),
    /// Writes memory of the caller or a workspace.
    Write,
    /// Writes a private array.
    PrivateWrite(Array),
    /// Whatever its regions or its function do.
    Nested,
    /// Anything.
    Unknown,
}
