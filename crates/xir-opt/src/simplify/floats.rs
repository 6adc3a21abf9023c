//! Rules of IEEE 754 arithmetic that hold for every input, and of conversions.

use xir::{BinaryOp, Constant, ConvertOp, Elem, OpKind, UnaryOp, Value};

use super::Equal;
use crate::rewrite::Cursor;

pub(super) fn unary(cursor: &mut Cursor<'_>, op: UnaryOp, a: Value) -> Option<Equal> {
    match (op, cursor.kind_of(a)?) {
        // twice-negated: --x = x, !!x = x.
        (UnaryOp::Neg, OpKind::Unary(UnaryOp::Neg, x))
        | (UnaryOp::Not, OpKind::Unary(UnaryOp::Not, x)) => Some(Equal::Value(*x)),
        // absolute-sign: |-x| = |x|, ||x|| = |x|.
        (UnaryOp::Abs, OpKind::Unary(UnaryOp::Neg | UnaryOp::Abs, x)) => {
            Some(Equal::Kind(OpKind::Unary(UnaryOp::Abs, *x)))
        }
        // twice-rounded: an integer rounds to itself.
        (
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest,
            OpKind::Unary(UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest, _),
        ) => Some(Equal::Value(a)),
        _ => None,
    }
}

pub(super) fn binary(cursor: &mut Cursor<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Equal> {
    let elem = cursor.ty(a).elem;
    let (left, right) = (cursor.float_of(a), cursor.float_of(b));
    let is = |known: Option<f64>, value: f64| {
        known.is_some_and(|known| known.to_bits() == value.to_bits())
    };
    match op {
        // add-negative-zero: x + -0.0 = x, x - 0.0 = x.
        BinaryOp::Add if is(right, -0.0) => Some(Equal::Value(a)),
        BinaryOp::Add if is(left, -0.0) => Some(Equal::Value(b)),
        BinaryOp::Sub if is(right, 0.0) => Some(Equal::Value(a)),
        // times-one: x * 1.0 = x, x / 1.0 = x.
        BinaryOp::Mul | BinaryOp::Div if is(right, 1.0) => Some(Equal::Value(a)),
        BinaryOp::Mul if is(left, 1.0) => Some(Equal::Value(b)),
        // times-minus-one: x * -1.0 = -x, x / -1.0 = -x.
        BinaryOp::Mul | BinaryOp::Div if is(right, -1.0) => {
            Some(Equal::Kind(OpKind::Unary(UnaryOp::Neg, a)))
        }
        BinaryOp::Mul if is(left, -1.0) => Some(Equal::Kind(OpKind::Unary(UnaryOp::Neg, b))),
        // divide-by-power: x / 2^k = x * 2^-k, both roundings of one number, where both are normal.
        BinaryOp::Div => {
            let reciprocal = exact_reciprocal(right?, elem)?;
            let shape = cursor.ty(b).shape;
            let reciprocal = cursor.constant(reciprocal, shape);
            Some(Equal::Kind(OpKind::Binary(BinaryOp::Mul, a, reciprocal)))
        }
        // same-operands: min(x, x) = x, copysign(x, x) = x.
        BinaryOp::Min | BinaryOp::Max | BinaryOp::CopySign if a == b => Some(Equal::Value(a)),
        // greatest-least: max(x, -inf) = x, min(x, inf) = x; a NaN stays one.
        BinaryOp::Max if is(right, f64::NEG_INFINITY) => Some(Equal::Value(a)),
        BinaryOp::Max if is(left, f64::NEG_INFINITY) => Some(Equal::Value(b)),
        BinaryOp::Min if is(right, f64::INFINITY) => Some(Equal::Value(a)),
        BinaryOp::Min if is(left, f64::INFINITY) => Some(Equal::Value(b)),
        // add-negated: x + -y = x - y, x - -y = x + y.
        BinaryOp::Add | BinaryOp::Sub => {
            let other = if op == BinaryOp::Add {
                BinaryOp::Sub
            } else {
                BinaryOp::Add
            };
            match cursor.kind_of(b)? {
                OpKind::Unary(UnaryOp::Neg, y) => Some(Equal::Kind(OpKind::Binary(other, a, *y))),
                _ => None,
            }
        }
        BinaryOp::Mul
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::CopySign
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrS
        | BinaryOp::ShrU => None,
    }
}

/// The reciprocal of a power of two, when it and the power are normal numbers.
fn exact_reciprocal(power: f64, elem: Elem) -> Option<Constant> {
    match elem {
        Elem::F32 => {
            let power = power as f32;
            let reciprocal = 1.0 / power;
            let is_power = power.to_bits().trailing_zeros() >= 23;
            (is_power && power.is_normal() && reciprocal.is_normal())
                .then(|| Constant::f32(reciprocal))
        }
        Elem::F64 => {
            let reciprocal = 1.0 / power;
            let is_power = power.to_bits().trailing_zeros() >= 52;
            (is_power && power.is_normal() && reciprocal.is_normal())
                .then(|| Constant::f64(reciprocal))
        }
        Elem::I32 | Elem::I64 | Elem::Bool => None,
    }
}

pub(super) fn fma(cursor: &mut Cursor<'_>, a: Value, b: Value, c: Value) -> Option<Equal> {
    let known = [a, b, c].map(|value| cursor.float_of(value));
    let is = |index: usize, value: f64| {
        known[index].is_some_and(|known: f64| known.to_bits() == value.to_bits())
    };
    // fma-one: 1.0 * x + c = x + c, one rounding either way.
    if is(0, 1.0) {
        return Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, b, c)));
    }
    if is(1, 1.0) {
        return Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, a, c)));
    }
    // fma-negative-zero: a * b + -0.0 = a * b.
    if is(2, -0.0) {
        return Some(Equal::Kind(OpKind::Binary(BinaryOp::Mul, a, b)));
    }
    None
}

pub(super) fn convert(cursor: &mut Cursor<'_>, op: ConvertOp, a: Value) -> Option<Equal> {
    let OpKind::Convert(inner, x) = cursor.kind_of(a)? else {
        return None;
    };
    match (op, inner) {
        // there-and-back: bits, and conversions that lose nothing on the way there.
        (ConvertOp::F32ToBits, ConvertOp::BitsToF32)
        | (ConvertOp::BitsToF32, ConvertOp::F32ToBits)
        | (ConvertOp::F64ToF32, ConvertOp::F32ToF64)
        | (ConvertOp::F64ToI32, ConvertOp::I32ToF64)
        | (ConvertOp::I64ToI32, ConvertOp::I32ToI64) => Some(Equal::Value(*x)),
        _ => None,
    }
}
