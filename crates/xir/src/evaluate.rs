//! What the elementwise operations do to one lane, on bits: the meaning that interpreter and constant folding share.
//!
//! A lane is a `u64` that holds the bits of its element in the low end, a bool as 0 or 1. Floats are `numerics`'; integers
//! wrap. Sign and payload of a NaN that an operation makes are not part of its meaning.
//!
//! # Panics
//! Each function panics when the operation isn't defined on the element; the verifier's rule *operand-element* keeps
//! such programs away.

use numerics::{extremum, integers, rounding};

use crate::ops::{BinaryOp, CompareOp, Constant, ConvertOp, Elem, UnaryOp};

impl Constant {
    /// The lane that holds this constant.
    pub const fn bits(self) -> u64 {
        match self {
            Constant::F32(bits) => bits as u64,
            Constant::F64(bits) => bits,
            Constant::I32(value) => value.cast_unsigned() as u64,
            Constant::I64(value) => value.cast_unsigned(),
            Constant::Bool(value) => value as u64,
        }
    }

    /// The constant in a lane.
    pub const fn from_bits(elem: Elem, bits: u64) -> Constant {
        match elem {
            Elem::F32 => Constant::F32(bits as u32),
            Elem::F64 => Constant::F64(bits),
            Elem::I32 => Constant::I32(bits as i32),
            Elem::I64 => Constant::I64(bits.cast_signed()),
            Elem::Bool => Constant::Bool(bits & 1 != 0),
        }
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn of_f32(value: f32) -> u64 {
    value.to_bits().into()
}

fn of_f64(value: f64) -> u64 {
    value.to_bits()
}

fn of_i32(value: i32) -> u64 {
    value.cast_unsigned().into()
}

fn of_i64(value: i64) -> u64 {
    value.cast_unsigned()
}

#[cold]
fn undefined(what: &str, elem: Elem) -> ! {
    panic!("operand-element: {what} isn't defined on {elem}")
}

/// An operation of one operand.
pub fn unary(op: UnaryOp, elem: Elem, a: u64) -> u64 {
    match elem {
        Elem::F32 => {
            let a = f32_of(a);
            of_f32(match op {
                UnaryOp::Neg => -a,
                UnaryOp::Abs => a.abs(),
                UnaryOp::Sqrt => a.sqrt(),
                UnaryOp::Floor => rounding::floor_f32(a),
                UnaryOp::Ceil => rounding::ceil_f32(a),
                UnaryOp::Trunc => rounding::trunc_f32(a),
                UnaryOp::Nearest => rounding::round_f32(a),
                UnaryOp::Not => undefined(op.name(), elem),
            })
        }
        Elem::F64 => {
            let a = f64_of(a);
            of_f64(match op {
                UnaryOp::Neg => -a,
                UnaryOp::Abs => a.abs(),
                UnaryOp::Sqrt => a.sqrt(),
                UnaryOp::Floor => rounding::floor_f64(a),
                UnaryOp::Ceil => rounding::ceil_f64(a),
                UnaryOp::Trunc => rounding::trunc_f64(a),
                UnaryOp::Nearest => rounding::round_f64(a),
                UnaryOp::Not => undefined(op.name(), elem),
            })
        }
        Elem::I32 => {
            let a = a as i32;
            of_i32(match op {
                UnaryOp::Neg => integers::negate(a),
                UnaryOp::Abs => integers::absolute(a),
                UnaryOp::Not => !a,
                UnaryOp::Sqrt
                | UnaryOp::Floor
                | UnaryOp::Ceil
                | UnaryOp::Trunc
                | UnaryOp::Nearest => undefined(op.name(), elem),
            })
        }
        Elem::I64 => {
            let a = a.cast_signed();
            of_i64(match op {
                UnaryOp::Neg => a.wrapping_neg(),
                UnaryOp::Abs => a.wrapping_abs(),
                UnaryOp::Not => !a,
                UnaryOp::Sqrt
                | UnaryOp::Floor
                | UnaryOp::Ceil
                | UnaryOp::Trunc
                | UnaryOp::Nearest => undefined(op.name(), elem),
            })
        }
        Elem::Bool => match op {
            UnaryOp::Not => a ^ 1,
            UnaryOp::Neg
            | UnaryOp::Abs
            | UnaryOp::Sqrt
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::Nearest => undefined(op.name(), elem),
        },
    }
}

/// An operation of two operands.
pub fn binary(op: BinaryOp, elem: Elem, a: u64, b: u64) -> u64 {
    match elem {
        Elem::F32 => {
            let (a, b) = (f32_of(a), f32_of(b));
            of_f32(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Min => extremum::minimum_f32(a, b),
                BinaryOp::Max => extremum::maximum_f32(a, b),
                BinaryOp::CopySign => a.copysign(b),
                BinaryOp::Rem
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::ShrS
                | BinaryOp::ShrU => undefined(op.name(), elem),
            })
        }
        Elem::F64 => {
            let (a, b) = (f64_of(a), f64_of(b));
            of_f64(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Min => extremum::minimum_f64(a, b),
                BinaryOp::Max => extremum::maximum_f64(a, b),
                BinaryOp::CopySign => a.copysign(b),
                BinaryOp::Rem
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::ShrS
                | BinaryOp::ShrU => undefined(op.name(), elem),
            })
        }
        Elem::I32 => {
            let (a, b) = (a as i32, b as i32);
            of_i32(match op {
                BinaryOp::Add => integers::add(a, b),
                BinaryOp::Sub => integers::subtract(a, b),
                BinaryOp::Mul => integers::multiply(a, b),
                BinaryOp::Div => integers::divide(a, b),
                BinaryOp::Rem => integers::remainder(a, b),
                BinaryOp::Min => a.min(b),
                BinaryOp::Max => a.max(b),
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                BinaryOp::Xor => a ^ b,
                BinaryOp::Shl => integers::shift_left(a, b),
                BinaryOp::ShrS => integers::shift_right_arithmetic(a, b),
                BinaryOp::ShrU => integers::shift_right_logical(a, b),
                BinaryOp::CopySign => undefined(op.name(), elem),
            })
        }
        Elem::I64 => {
            let (a, b) = (a.cast_signed(), b.cast_signed());
            of_i64(match op {
                BinaryOp::Add => a.wrapping_add(b),
                BinaryOp::Sub => a.wrapping_sub(b),
                BinaryOp::Mul => a.wrapping_mul(b),
                BinaryOp::Div if b == 0 => 0,
                BinaryOp::Div => a.wrapping_div(b),
                BinaryOp::Rem if b == 0 => a,
                BinaryOp::Rem => a.wrapping_rem(b),
                BinaryOp::Min => a.min(b),
                BinaryOp::Max => a.max(b),
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                BinaryOp::Xor => a ^ b,
                BinaryOp::Shl => a.wrapping_shl(b as u32),
                BinaryOp::ShrS => a.wrapping_shr(b as u32),
                BinaryOp::ShrU => a.cast_unsigned().wrapping_shr(b as u32).cast_signed(),
                BinaryOp::CopySign => undefined(op.name(), elem),
            })
        }
        Elem::Bool => match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::CopySign
            | BinaryOp::Shl
            | BinaryOp::ShrS
            | BinaryOp::ShrU => undefined(op.name(), elem),
        },
    }
}

/// A comparison.
pub fn compare(op: CompareOp, elem: Elem, a: u64, b: u64) -> bool {
    fn holds<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
        match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Lt => a < b,
            CompareOp::Le => a <= b,
            CompareOp::Gt => a > b,
            CompareOp::Ge => a >= b,
        }
    }
    match elem {
        Elem::F32 => holds(op, f32_of(a), f32_of(b)),
        Elem::F64 => holds(op, f64_of(a), f64_of(b)),
        Elem::I32 => holds(op, a as i32, b as i32),
        Elem::I64 => holds(op, a.cast_signed(), b.cast_signed()),
        Elem::Bool => holds(op, a & 1, b & 1),
    }
}

/// `a * b + c` with one rounding.
pub fn fma(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    match elem {
        Elem::F32 => of_f32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
        Elem::F64 => of_f64(f64_of(a).mul_add(f64_of(b), f64_of(c))),
        Elem::I32 | Elem::I64 | Elem::Bool => undefined("fma", elem),
    }
}

/// A conversion.
pub fn convert(op: ConvertOp, a: u64) -> u64 {
    match op {
        ConvertOp::I32ToF32 => of_f32(a as i32 as f32),
        ConvertOp::I32ToF64 => of_f64(f64::from(a as i32)),
        ConvertOp::F32ToI32 => of_i32(numerics::casts::f32_to_i32(f32_of(a))),
        ConvertOp::F64ToI32 => of_i32(numerics::casts::f64_to_i32(f64_of(a))),
        ConvertOp::F32ToF64 => of_f64(f64::from(f32_of(a))),
        ConvertOp::F64ToF32 => of_f32(numerics::casts::f64_to_f32(f64_of(a))),
        ConvertOp::I32ToI64 => of_i64(i64::from(a as i32)),
        ConvertOp::I64ToI32 => of_i32(a as i32),
        ConvertOp::F32ToBits | ConvertOp::BitsToF32 => a & 0xffff_ffff,
        ConvertOp::BoolToI32 => a & 1,
    }
}
