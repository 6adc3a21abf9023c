//! Rules of integer arithmetic, modulo 2^32 and 2^64.

use xir::{BinaryOp, CompareOp, Constant, Elem, OpKind, Value};

use super::Equal;
use crate::rewrite::Cursor;

pub(super) fn binary(cursor: &mut Cursor<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Equal> {
    let (left, right) = (cursor.integer_of(a), cursor.integer_of(b));
    let zero = |cursor: &mut Cursor<'_>| Some(Equal::Value(cursor.integer(cursor.ty(a), 0)));
    match (op, left, right) {
        // constant-right: c + x = x + c, and so for the others that commute.
        (
            BinaryOp::Add
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Min
            | BinaryOp::Max,
            Some(_),
            None,
        ) => Some(Equal::Kind(OpKind::Binary(op, b, a))),
        // add-zero, shift-zero: x + 0 = x.
        (
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::ShrS
            | BinaryOp::ShrU,
            _,
            Some(0),
        ) => Some(Equal::Value(a)),
        // times-one: x * 1 = x, x / 1 = x, x & -1 = x.
        (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) | (BinaryOp::And, _, Some(-1)) => {
            Some(Equal::Value(a))
        }
        // times-zero: x * 0 = 0, x & 0 = 0, x / 0 = 0, x % 1 = 0.
        (BinaryOp::Mul | BinaryOp::And | BinaryOp::Div, _, Some(0))
        | (BinaryOp::Rem, _, Some(1)) => zero(cursor),
        // remainder-zero: x % 0 = x.
        (BinaryOp::Rem, _, Some(0)) => Some(Equal::Value(a)),
        // same-operands: x - x = 0, x ^ x = 0, x & x = x.
        (BinaryOp::Sub | BinaryOp::Xor, _, _) if a == b => zero(cursor),
        (BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max, _, _) if a == b => {
            Some(Equal::Value(a))
        }
        // subtract-constant: x - c = x + -c.
        (BinaryOp::Sub, _, Some(c)) => {
            let negated = cursor.integer(cursor.ty(a), c.wrapping_neg());
            Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, a, negated)))
        }
        // times-power: x * 2^k = x << k.
        (BinaryOp::Mul, _, Some(c)) if c > 1 && c.count_ones() == 1 => {
            let bits = cursor.integer(cursor.ty(a), c.trailing_zeros().into());
            Some(Equal::Kind(OpKind::Binary(BinaryOp::Shl, a, bits)))
        }
        (BinaryOp::Add, _, _) => sum(cursor, a, b, right),
        (BinaryOp::Sub, _, None) => difference(cursor, a, b),
        // times-sum: (x + c) * d = x * d + c * d, and so for a shift. Constants drift outwards, into displacements.
        (BinaryOp::Mul, None, Some(d)) => scaled_sum(cursor, op, a, b, |c| c.wrapping_mul(d)),
        (BinaryOp::Shl, None, Some(k)) => {
            // shift-shift: (x << j) << k = x << j + k, while that is less than the width.
            if let Some(&OpKind::Binary(BinaryOp::Shl, x, j)) = cursor.kind_of(a)
                && let Some(j) = cursor.integer_of(j)
                && (0..32).contains(&j)
                && (0..32 - j).contains(&k)
            {
                let bits = cursor.integer(cursor.ty(a), j + k);
                return Some(Equal::Kind(OpKind::Binary(BinaryOp::Shl, x, bits)));
            }
            let width = if cursor.ty(a).elem == Elem::I32 {
                31
            } else {
                63
            };
            scaled_sum(cursor, op, a, b, |c| c.wrapping_shl((k & width) as u32))
        }
        _ => None,
    }
}

/// Rules of `a + b`, where `b` may be the constant `right`.
fn sum(cursor: &mut Cursor<'_>, a: Value, b: Value, right: Option<i64>) -> Option<Equal> {
    let ty = cursor.ty(a);
    if let Some(d) = right {
        // add-add: (x + c) + d = x + (c + d).
        let (x, c) = sum_with_constant(cursor, a)?;
        let total = cursor.integer(ty, c.wrapping_add(d));
        return Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, x, total)));
    }
    // constants-out: x + (y + c) = (x + y) + c.
    let (x, y, c) = match (sum_with_constant(cursor, a), sum_with_constant(cursor, b)) {
        (Some((x, c)), None) => (x, b, c),
        (None, Some((y, c))) => (a, y, c),
        (Some((x, c)), Some((y, d))) => (x, y, c.wrapping_add(d)),
        (None, None) => return None,
    };
    let inner = cursor.emit(OpKind::Binary(BinaryOp::Add, x, y), ty);
    let constant = cursor.integer(ty, c);
    Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, inner, constant)))
}

/// Rules of `a - b`, where `b` is no constant.
fn difference(cursor: &mut Cursor<'_>, a: Value, b: Value) -> Option<Equal> {
    let ty = cursor.ty(a);
    // constants-out-of-difference: (x + c) - y = (x - y) + c, x - (y + c) = (x - y) + -c.
    let (x, y, c) = match (sum_with_constant(cursor, a), sum_with_constant(cursor, b)) {
        (Some((x, c)), None) => (x, b, c),
        (None, Some((y, c))) => (a, y, c.wrapping_neg()),
        (Some((x, c)), Some((y, d))) => (x, y, c.wrapping_sub(d)),
        (None, None) => return None,
    };
    let inner = cursor.emit(OpKind::Binary(BinaryOp::Sub, x, y), ty);
    let constant = cursor.integer(ty, c);
    Some(Equal::Kind(OpKind::Binary(BinaryOp::Add, inner, constant)))
}

/// `(x + c) op b = x op b + scale(c)`.
fn scaled_sum(
    cursor: &mut Cursor<'_>,
    op: BinaryOp,
    a: Value,
    b: Value,
    scale: impl Fn(i64) -> i64,
) -> Option<Equal> {
    let ty = cursor.ty(a);
    let (x, c) = sum_with_constant(cursor, a)?;
    let product = cursor.emit(OpKind::Binary(op, x, b), ty);
    let constant = cursor.integer(ty, scale(c));
    Some(Equal::Kind(OpKind::Binary(
        BinaryOp::Add,
        product,
        constant,
    )))
}

/// The parts of `x + c`.
fn sum_with_constant(cursor: &Cursor<'_>, value: Value) -> Option<(Value, i64)> {
    match cursor.kind_of(value) {
        Some(&OpKind::Binary(BinaryOp::Add, x, c)) => Some((x, cursor.integer_of(c)?)),
        _ => None,
    }
}

pub(super) fn compare(cursor: &mut Cursor<'_>, op: CompareOp, a: Value, b: Value) -> Option<Equal> {
    let ty = cursor.ty(a);
    match ty.elem {
        Elem::F32 | Elem::F64 => return None,
        Elem::I32 | Elem::I64 | Elem::Bool => {}
    }
    if a == b {
        // compare-same: x <= x.
        let holds = match op {
            CompareOp::Eq | CompareOp::Le | CompareOp::Ge => true,
            CompareOp::Ne | CompareOp::Lt | CompareOp::Gt => false,
        };
        return Some(Equal::Value(
            cursor.constant(Constant::Bool(holds), ty.shape),
        ));
    }
    None
}
