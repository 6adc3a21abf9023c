//! `simplify`: named rewrites of one operation, each sound bit for bit.
//!
//! Each rule is an equation that holds for every input, in integers modulo 2^n and in IEEE 754 arithmetic, where any NaN
//! equals any NaN. So there is `x + -0.0 = x` and no `x + 0.0 = x`, which is wrong for `x = -0.0`; a division becomes a
//! product where the reciprocal is exact, and nowhere else.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: nothing; leaves operations that nothing uses.

mod address;
mod floats;
mod integers;
mod lanes;
mod selects;

use xir::{Elem, Op, OpKind, Program, Type, Value};

use crate::rewrite::{Cursor, Fate, Rewrite, rewrite};

/// Simplifies every function.
pub fn simplify(program: &mut Program) {
    rewrite(program, &mut Simplify);
}

/// What an operation equals: another one, or a value that is there already.
enum Equal {
    Kind(OpKind),
    Value(Value),
}

struct Simplify;

impl Rewrite for Simplify {
    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        // A rule may open the way for another; each takes the operation closer to a form with none left.
        let mut fate = Fate::Keep;
        for _ in 0..8 {
            let kind = cursor.program.op(op).kind.clone();
            let equal = match &kind {
                OpKind::Unary(deed, a) => floats::unary(cursor, *deed, *a),
                OpKind::Binary(deed, a, b) => match cursor.ty(*a).elem {
                    Elem::F32 | Elem::F64 => floats::binary(cursor, *deed, *a, *b),
                    Elem::I32 | Elem::I64 => integers::binary(cursor, *deed, *a, *b),
                    Elem::Bool => selects::logic(cursor, *deed, *a, *b),
                },
                OpKind::Compare(deed, a, b) => integers::compare(cursor, *deed, *a, *b),
                OpKind::Select {
                    condition,
                    then,
                    otherwise,
                } => selects::select(cursor, *condition, *then, *otherwise),
                OpKind::Fma(a, b, c) => floats::fma(cursor, *a, *b, *c),
                OpKind::Convert(deed, a) => floats::convert(cursor, *deed, *a),
                OpKind::Lane { of, lane } => lanes::lane(cursor, *of, *lane),
                OpKind::Any(a) => lanes::any(cursor, *a),
                OpKind::Build(values) => lanes::build(cursor, values),
                OpKind::Shuffle { a, b, pattern } => lanes::shuffle(cursor, *a, *b, pattern),
                OpKind::Load { .. } | OpKind::Store { .. } => address::access(cursor, &kind),
                OpKind::PrivateLoad { .. } | OpKind::PrivateStore { .. } => {
                    address::slot(cursor, &kind)
                }
                OpKind::Const(..)
                | OpKind::Record { .. }
                | OpKind::WorkspaceAddress(_)
                | OpKind::Splat(_)
                | OpKind::LaneIndex
                | OpKind::PrivateAddress(_)
                | OpKind::Loop { .. }
                | OpKind::If { .. }
                | OpKind::Call { .. }
                | OpKind::Opaque { .. } => None,
            };
            match equal.or_else(|| lanes::uniform_math(cursor, &kind)) {
                Some(Equal::Kind(kind)) => fate = cursor.become_kind(op, kind),
                Some(Equal::Value(value)) => return cursor.become_value(op, value),
                None => break,
            }
        }
        fate
    }
}

impl Cursor<'_> {
    /// An integer constant of a type before the operation at hand.
    fn integer(&mut self, ty: Type, value: i64) -> Value {
        let constant = match ty.elem {
            Elem::I32 => xir::Constant::I32(value as i32),
            Elem::I64 | Elem::F32 | Elem::F64 | Elem::Bool => xir::Constant::I64(value),
        };
        self.constant(constant, ty.shape)
    }

    /// The integer that a value is known to be.
    fn integer_of(&self, value: Value) -> Option<i64> {
        match self.constant_of(value)? {
            xir::Constant::I32(value) => Some(value.into()),
            xir::Constant::I64(value) => Some(value),
            xir::Constant::F32(_) | xir::Constant::F64(_) | xir::Constant::Bool(_) => None,
        }
    }

    /// The float that a value is known to be, widened exactly.
    fn float_of(&self, value: Value) -> Option<f64> {
        match self.constant_of(value)? {
            xir::Constant::F32(bits) => Some(f32::from_bits(bits).into()),
            xir::Constant::F64(bits) => Some(f64::from_bits(bits)),
            xir::Constant::I32(_) | xir::Constant::I64(_) | xir::Constant::Bool(_) => None,
        }
    }
}
