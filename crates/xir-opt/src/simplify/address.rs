//! Rules of addresses and slots: constants move into displacements and offsets, where they cost nothing.

use xir::{BinaryOp, Constant, OpKind, Value};

use super::Equal;
use crate::rewrite::Cursor;

pub(super) fn access(cursor: &mut Cursor<'_>, kind: &OpKind) -> Option<Equal> {
    let (OpKind::Load {
        address,
        displacement,
        ..
    }
    | OpKind::Store {
        address,
        displacement,
        ..
    }) = kind
    else {
        return None;
    };
    // fold-displacement: [(x + c) + d] = [x + (c + d)], while that fits.
    let (x, c) = sum_with_constant(cursor, *address)?;
    let total = i32::try_from(c.checked_add((*displacement).into())?).ok()?;
    let mut kind = kind.clone();
    if let OpKind::Load {
        address,
        displacement,
        ..
    }
    | OpKind::Store {
        address,
        displacement,
        ..
    } = &mut kind
    {
        (*address, *displacement) = (x, total);
    }
    Some(Equal::Kind(kind))
}

pub(super) fn slot(cursor: &mut Cursor<'_>, kind: &OpKind) -> Option<Equal> {
    let (OpKind::PrivateLoad { slot, offset, .. } | OpKind::PrivateStore { slot, offset, .. }) =
        kind
    else {
        return None;
    };
    // fold-slot: a[(x + c) + d] = a[x + (c + d)], and a known slot is an offset from slot 0.
    let (x, c) = match cursor.constant_of(*slot) {
        Some(Constant::I64(0)) => return None,
        Some(Constant::I64(c)) if c > 0 => {
            (cursor.constant(Constant::I64(0), xir::Shape::Uniform), c)
        }
        _ => sum_with_constant(cursor, *slot)?,
    };
    let total = u32::try_from(c.checked_add((*offset).into())?).ok()?;
    let mut kind = kind.clone();
    if let OpKind::PrivateLoad { slot, offset, .. } | OpKind::PrivateStore { slot, offset, .. } =
        &mut kind
    {
        (*slot, *offset) = (x, total);
    }
    Some(Equal::Kind(kind))
}

/// The parts of `x + c`, for an i64.
fn sum_with_constant(cursor: &Cursor<'_>, value: Value) -> Option<(Value, i64)> {
    match cursor.kind_of(value) {
        Some(&OpKind::Binary(BinaryOp::Add, x, c)) => match cursor.constant_of(c) {
            Some(Constant::I64(c)) => Some((x, c)),
            _ => None,
        },
        _ => None,
    }
}
