//! Rules of lanes: splats, single lanes, shuffles.

use xir::{Constant, OpKind, Shape, Type, Value};

use super::Equal;
use crate::rewrite::Cursor;

pub(super) fn lane(cursor: &mut Cursor<'_>, of: Value, lane: u32) -> Option<Equal> {
    match cursor.kind_of(of)? {
        // lane-of-splat, lane-of-build, lane-of-shuffle: the lane is there already.
        OpKind::Splat(x) => Some(Equal::Value(*x)),
        OpKind::Build(values) => Some(Equal::Value(values[lane as usize])),
        OpKind::Shuffle { a, b, pattern } => {
            let source = u32::from(pattern[lane as usize]);
            let lanes = cursor.program.lanes.get();
            let (of, lane) = if source < lanes {
                (*a, source)
            } else {
                (*b, source - lanes)
            };
            Some(Equal::Kind(OpKind::Lane { of, lane }))
        }
        _ => None,
    }
}

pub(super) fn any(cursor: &mut Cursor<'_>, a: Value) -> Option<Equal> {
    match cursor.kind_of(a)? {
        // any-of-splat: all lanes hold one truth.
        OpKind::Splat(x) => Some(Equal::Value(*x)),
        _ => None,
    }
}

pub(super) fn build(cursor: &mut Cursor<'_>, values: &[Value]) -> Option<Equal> {
    // build-of-one: the same value in every lane is a splat.
    if values.iter().all(|&value| value == values[0]) {
        return Some(Equal::Kind(OpKind::Splat(values[0])));
    }
    // build-of-lanes: the lanes of x in order are x.
    let Some(&OpKind::Lane { of, lane: 0 }) = cursor.kind_of(values[0]) else {
        return None;
    };
    for (index, &value) in values.iter().enumerate() {
        match cursor.kind_of(value) {
            Some(&OpKind::Lane { of: other, lane }) if other == of && lane as usize == index => {}
            _ => return None,
        }
    }
    Some(Equal::Value(of))
}

pub(super) fn shuffle(
    cursor: &mut Cursor<'_>,
    a: Value,
    b: Value,
    pattern: &[u8],
) -> Option<Equal> {
    let lanes = pattern.len();
    let in_order = |from: usize| {
        pattern
            .iter()
            .enumerate()
            .all(|(l, &p)| usize::from(p) == from + l)
    };
    // shuffle-identity: every lane where it was.
    if in_order(0) {
        return Some(Equal::Value(a));
    }
    if in_order(lanes) {
        return Some(Equal::Value(b));
    }
    // shuffle-of-splat: lanes that are all alike may be exchanged.
    let alike = |value| {
        matches!(
            cursor.kind_of(value),
            Some(OpKind::Splat(_) | OpKind::Const(..))
        )
    };
    if a == b && alike(a) {
        return Some(Equal::Value(a));
    }
    // shuffle-one-side: an operand that gives no lane is the other one.
    let from_a = pattern.iter().any(|&p| usize::from(p) < lanes);
    let from_b = pattern.iter().any(|&p| usize::from(p) >= lanes);
    match (from_a, from_b) {
        (true, false) if a != b => Some(Equal::Kind(OpKind::Shuffle {
            a,
            b: a,
            pattern: pattern.to_vec(),
        })),
        (false, true) => {
            let pattern = pattern.iter().map(|&p| p - lanes as u8).collect();
            Some(Equal::Kind(OpKind::Shuffle { a: b, b, pattern }))
        }
        // shuffle-one-operand: with a = b the pattern needs one half only.
        (true, true) if a == b => {
            let pattern = pattern.iter().map(|&p| p % lanes as u8).collect();
            Some(Equal::Kind(OpKind::Shuffle { a, b, pattern }))
        }
        _ => None,
    }
}

/// uniform-math: an operation on splats is the splat of the operation on what they splat.
pub(super) fn uniform_math(cursor: &mut Cursor<'_>, kind: &OpKind) -> Option<Equal> {
    let result = match kind {
        OpKind::Unary(_, a) => cursor.ty(*a).elem,
        OpKind::Binary(_, a, _) | OpKind::Fma(a, ..) => cursor.ty(*a).elem,
        OpKind::Compare(..) => xir::Elem::Bool,
        OpKind::Convert(op, _) => op.types().1,
        _ => return None,
    };
    let mut operands = [None; 3];
    let mut count = 0;
    kind.visit_operands(|value| {
        operands[count] = Some(value);
        count += 1;
    });
    let mut sources: [Option<Source>; 3] = [None; 3];
    for (source, operand) in sources.iter_mut().zip(operands).take(count) {
        *source = Some(match *cursor.kind_of(operand?)? {
            OpKind::Splat(x) => Source::Value(x),
            OpKind::Const(constant, Shape::Varying) => Source::Constant(constant),
            _ => return None,
        });
    }
    if !sources
        .iter()
        .flatten()
        .any(|source| matches!(source, Source::Value(_)))
    {
        return None;
    }
    let mut uniform = kind.clone();
    let mut values = Vec::with_capacity(count);
    for source in sources.into_iter().flatten() {
        values.push(match source {
            Source::Value(value) => value,
            Source::Constant(constant) => cursor.constant(constant, Shape::Uniform),
        });
    }
    let mut next = values.into_iter();
    uniform.visit_operands_mut(|operand| *operand = next.next().unwrap_or(*operand));
    let value = cursor.emit(uniform, Type::uniform(result));
    Some(Equal::Kind(OpKind::Splat(value)))
}

/// What a splat splats.
#[derive(Clone, Copy)]
enum Source {
    Value(Value),
    Constant(Constant),
}
