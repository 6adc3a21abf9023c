//! Rules of truth values and selections.

use xir::{BinaryOp, Constant, OpKind, UnaryOp, Value};

use super::Equal;
use crate::rewrite::Cursor;

pub(super) fn logic(cursor: &mut Cursor<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Equal> {
    let shape = cursor.ty(a).shape;
    let truth = |cursor: &Cursor<'_>, value| match cursor.constant_of(value) {
        Some(Constant::Bool(known)) => Some(known),
        _ => None,
    };
    if let Some((known, constant, other)) = truth(cursor, a)
        .map(|known| (known, a, b))
        .or_else(|| truth(cursor, b).map(|known| (known, b, a)))
    {
        // logic-constant: x & true = x, x & false = false, x ^ true = !x, and so on.
        return match (op, known) {
            (BinaryOp::And, true) | (BinaryOp::Or | BinaryOp::Xor, false) => {
                Some(Equal::Value(other))
            }
            (BinaryOp::And, false) | (BinaryOp::Or, true) => Some(Equal::Value(constant)),
            (BinaryOp::Xor, true) => Some(Equal::Kind(OpKind::Unary(UnaryOp::Not, other))),
            _ => None,
        };
    }
    if a == b {
        // logic-same: x & x = x, x ^ x = false.
        return match op {
            BinaryOp::And | BinaryOp::Or => Some(Equal::Value(a)),
            BinaryOp::Xor => Some(Equal::Value(cursor.constant(Constant::Bool(false), shape))),
            _ => None,
        };
    }
    // logic-absorbed: x & (x & y) = x & y, and so for or.
    for (one, other) in [(a, b), (b, a)] {
        match cursor.kind_of(other) {
            Some(&OpKind::Binary(inner, x, y)) if inner == op && (x == one || y == one) => match op
            {
                BinaryOp::And | BinaryOp::Or => return Some(Equal::Value(other)),
                _ => {}
            },
            // logic-contrary: x & !x = false, x | !x = true.
            Some(&OpKind::Unary(UnaryOp::Not, x)) if x == one => {
                let known = match op {
                    BinaryOp::And => false,
                    BinaryOp::Or | BinaryOp::Xor => true,
                    _ => return None,
                };
                return Some(Equal::Value(cursor.constant(Constant::Bool(known), shape)));
            }
            _ => {}
        }
    }
    None
}

pub(super) fn select(
    cursor: &mut Cursor<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Option<Equal> {
    // select-same: c ? x : x = x.
    if then == otherwise {
        return Some(Equal::Value(then));
    }
    // select-known: true ? x : y = x.
    if let Some(Constant::Bool(known)) = cursor.constant_of(condition) {
        return Some(Equal::Value(if known { then } else { otherwise }));
    }
    match *cursor.kind_of(condition)? {
        // select-not: !c ? x : y = c ? y : x.
        OpKind::Unary(UnaryOp::Not, inner) => Some(Equal::Kind(OpKind::Select {
            condition: inner,
            then: otherwise,
            otherwise: then,
        })),
        // select-splat: a splat condition chooses for all lanes at once.
        OpKind::Splat(condition) => Some(Equal::Kind(OpKind::Select {
            condition,
            then,
            otherwise,
        })),
        _ => None,
    }
}
