//! `fold_constants`: what is known while compiling is computed while compiling.
//!
//! Integers and truth values fold always. A float operation folds when its operands are no NaN and neither is its result:
//! then IEEE 754 leaves one answer, the same on every target. A loop that runs no iteration, a loop that runs one and an
//! if whose condition is known leave no control behind.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: nothing; leaves constants that nothing uses.

use xir::{Constant, ConvertOp, Elem, Op, OpKind, Program, Shape, Type, Value, evaluate};

use crate::rewrite::{Cursor, Fate, Rewrite, rewrite, trips};

/// Folds every function.
pub fn fold_constants(program: &mut Program) {
    rewrite(program, &mut FoldConstants);
}

struct FoldConstants;

impl Rewrite for FoldConstants {
    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        let kind = &cursor.program.op(op).kind;
        if let Some((constant, shape)) = known(cursor, kind) {
            return cursor.become_kind(op, OpKind::Const(constant, shape));
        }
        match kind {
            OpKind::Loop {
                lower, inits, body, ..
            } => {
                let (lower, body) = (*lower, *body);
                match trips(cursor.program, kind) {
                    Some(0) => {
                        for (index, init) in inits.clone().into_iter().enumerate() {
                            let result = cursor.program.op(op).results[index];
                            cursor.replace(result, init);
                        }
                        Fate::Drop
                    }
                    Some(1) => {
                        let inits = inits.clone();
                        let args = cursor.program.region(body).args.clone();
                        for (arg, init) in args.into_iter().zip([lower].into_iter().chain(inits)) {
                            cursor.replace(arg, init);
                        }
                        Fate::Inline(body)
                    }
                    _ => Fate::Keep,
                }
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => match cursor.constant_of(*condition) {
                Some(Constant::Bool(true)) => Fate::Inline(*then),
                Some(Constant::Bool(false)) => Fate::Inline(*otherwise),
                _ => Fate::Keep,
            },
            _ => Fate::Keep,
        }
    }
}

/// The constant that an operation makes, if its operands tell.
fn known(cursor: &Cursor<'_>, kind: &OpKind) -> Option<(Constant, Shape)> {
    let bits = |value: Value| cursor.constant_of(value).map(Constant::bits);
    let shape = |value: Value| cursor.ty(value).shape;
    let elem = |value: Value| cursor.ty(value).elem;
    let (ty, result) = match *kind {
        OpKind::Unary(op, a) => {
            quiet(elem(a), &[bits(a)?])?;
            (cursor.ty(a), evaluate::unary(op, elem(a), bits(a)?))
        }
        OpKind::Binary(op, a, b) => {
            quiet(elem(a), &[bits(a)?, bits(b)?])?;
            (
                cursor.ty(a),
                evaluate::binary(op, elem(a), bits(a)?, bits(b)?),
            )
        }
        OpKind::Compare(op, a, b) => {
            let holds = evaluate::compare(op, elem(a), bits(a)?, bits(b)?);
            (
                Type {
                    elem: Elem::Bool,
                    shape: shape(a),
                },
                holds.into(),
            )
        }
        OpKind::Fma(a, b, c) => {
            quiet(elem(a), &[bits(a)?, bits(b)?, bits(c)?])?;
            (
                cursor.ty(a),
                evaluate::fma(elem(a), bits(a)?, bits(b)?, bits(c)?),
            )
        }
        OpKind::Convert(op, a) => {
            let from = bits(a)?;
            let keeps_bits = matches!(op, ConvertOp::F32ToBits | ConvertOp::BitsToF32);
            if !keeps_bits && !matches!(op, ConvertOp::F32ToI32 | ConvertOp::F64ToI32) {
                quiet(elem(a), &[from])?;
            }
            let result = evaluate::convert(op, from);
            let constant = Constant::from_bits(op.types().1, result);
            return Some((constant, shape(a)));
        }
        OpKind::Splat(a) => return cursor.constant_of(a).map(|c| (c, Shape::Varying)),
        OpKind::Lane { of, lane } => {
            if let Some(OpKind::LaneIndex) = cursor.kind_of(of) {
                return Some((Constant::I32(lane.cast_signed()), Shape::Uniform));
            }
            return cursor.constant_of(of).map(|c| (c, Shape::Uniform));
        }
        OpKind::Any(a) => return cursor.constant_of(a).map(|c| (c, Shape::Uniform)),
        OpKind::Const(..)
        | OpKind::Record { .. }
        | OpKind::WorkspaceAddress(_)
        | OpKind::Select { .. }
        | OpKind::LaneIndex
        | OpKind::Build(_)
        | OpKind::Shuffle { .. }
        | OpKind::Load { .. }
        | OpKind::Store { .. }
        | OpKind::PrivateLoad { .. }
        | OpKind::PrivateStore { .. }
        | OpKind::PrivateAddress(_)
        | OpKind::Loop { .. }
        | OpKind::If { .. }
        | OpKind::Call { .. }
        | OpKind::Opaque { .. } => return None,
    };
    quiet(ty.elem, &[result])?;
    Some((Constant::from_bits(ty.elem, result), ty.shape))
}

/// Nothing if one of the lanes is a NaN, whose sign and payload differ between targets.
fn quiet(elem: Elem, lanes: &[u64]) -> Option<()> {
    let nan = |&bits: &u64| match elem {
        Elem::F32 => f32::from_bits(bits as u32).is_nan(),
        Elem::F64 => f64::from_bits(bits).is_nan(),
        Elem::I32 | Elem::I64 | Elem::Bool => false,
    };
    (!lanes.iter().any(nan)).then_some(())
}
