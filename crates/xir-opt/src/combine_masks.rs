//! `combine_masks`: a mask that is known while compiling is no mask.
//!
//! Tails are written as masks: lane index compared with what is left. Where that is a constant the mask is a constant
//! pattern of lanes. A pattern that holds everywhere is dropped, one that holds nowhere takes the access with it, and for
//! a contiguous access the first lanes are a count of live lanes, which needs no branch in machine code.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: nothing; leaves masks that nothing uses.

use xir::{Access, Constant, Elem, Op, OpKind, Program, Shape, Type, Value, evaluate};

use crate::rewrite::{Cursor, Fate, Rewrite, rewrite};

/// How many operations may lie between a mask and what is known.
const DEEPEST: u32 = 6;

/// Combines in every function.
pub fn combine_masks(program: &mut Program) {
    rewrite(program, &mut CombineMasks);
}

struct CombineMasks;

impl Rewrite for CombineMasks {
    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        let kind = &cursor.program.op(op).kind;
        if let OpKind::Select {
            condition,
            then,
            otherwise,
        } = *kind
        {
            return match is_masked_load(cursor, then, condition) && is_zero(cursor, otherwise) {
                // select-of-masked: lanes that a load leaves out hold zero already.
                true => cursor.become_value(op, then),
                false => Fate::Keep,
            };
        }
        let (OpKind::Load {
            mask: Some(mask),
            access,
            ..
        }
        | OpKind::Store {
            mask: Some(mask),
            access,
            ..
        }) = *kind
        else {
            return Fate::Keep;
        };
        let Some(lanes) = known_lanes(cursor, mask, DEEPEST) else {
            return Fate::Keep;
        };
        let count = match access {
            Access::Scalar => 1,
            Access::Contiguous { live } => live,
            Access::Strided { .. } | Access::Gather { .. } => cursor.program.lanes.get(),
        } as usize;
        let first = lanes
            .iter()
            .take(count)
            .take_while(|&&bits| bits != 0)
            .count();
        let all = lanes.iter().take(count).filter(|&&bits| bits != 0).count();
        if all == 0 {
            // mask-nowhere: nothing is touched, and a load holds zeros.
            let Some(&result) = cursor.program.op(op).results.first() else {
                return Fate::Drop;
            };
            let ty = cursor.ty(result);
            let zero = Constant::from_bits(ty.elem, 0);
            return cursor.become_kind(op, OpKind::Const(zero, ty.shape));
        }
        let access = match access {
            // mask-everywhere.
            access if first == count => access,
            // mask-first-lanes.
            Access::Contiguous { .. } if first == all => Access::Contiguous { live: first as u32 },
            Access::Scalar
            | Access::Contiguous { .. }
            | Access::Strided { .. }
            | Access::Gather { .. } => {
                return Fate::Keep;
            }
        };
        let mut kind = kind.clone();
        if let OpKind::Load {
            mask,
            access: place,
            ..
        }
        | OpKind::Store {
            mask,
            access: place,
            ..
        } = &mut kind
        {
            (*mask, *place) = (None, access);
        }
        cursor.become_kind(op, kind)
    }
}

fn is_masked_load(cursor: &Cursor<'_>, value: Value, condition: Value) -> bool {
    matches!(cursor.kind_of(value), Some(OpKind::Load { mask: Some(mask), .. }) if *mask == condition)
}

fn is_zero(cursor: &Cursor<'_>, value: Value) -> bool {
    cursor
        .constant_of(value)
        .is_some_and(|constant| constant.bits() == 0)
}

/// The bits of each lane, if they follow from constants and lane numbers.
fn known_lanes(cursor: &Cursor<'_>, value: Value, depth: u32) -> Option<[u64; 16]> {
    let depth = depth.checked_sub(1)?;
    let elem = |value: Value| cursor.ty(value).elem;
    let known = |value: Value| known_lanes(cursor, value, depth);
    let each = |f: &dyn Fn(usize) -> u64| Some(std::array::from_fn(f));
    match cursor.kind_of(value)? {
        OpKind::Const(constant, Shape::Varying) => each(&|_| constant.bits()),
        OpKind::Const(constant, Shape::Uniform) => {
            each(&|lane| if lane == 0 { constant.bits() } else { 0 })
        }
        OpKind::LaneIndex => each(&|lane| lane as u64),
        OpKind::Splat(a) => {
            let bits = cursor.constant_of(*a)?.bits();
            each(&|_| bits)
        }
        OpKind::Build(values) => {
            let mut lanes = [0; 16];
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = cursor.constant_of(*value)?.bits();
            }
            Some(lanes)
        }
        OpKind::Compare(op, a, b) => {
            let (left, right) = (known(*a)?, known(*b)?);
            each(&|lane| evaluate::compare(*op, elem(*a), left[lane], right[lane]).into())
        }
        OpKind::Binary(op, a, b) if is_exact(elem(*a)) => {
            let (left, right) = (known(*a)?, known(*b)?);
            each(&|lane| evaluate::binary(*op, elem(*a), left[lane], right[lane]))
        }
        OpKind::Unary(op, a) if is_exact(elem(*a)) => {
            let operand = known(*a)?;
            each(&|lane| evaluate::unary(*op, elem(*a), operand[lane]))
        }
        OpKind::Convert(op, a) if is_exact(elem(*a)) => {
            let operand = known(*a)?;
            let ty = Type {
                elem: op.types().1,
                shape: Shape::Varying,
            };
            is_exact(ty.elem).then(|| operand.map(|bits| evaluate::convert(*op, bits)))
        }
        _ => None,
    }
}

/// Integers and truth values, which have no NaN.
fn is_exact(elem: Elem) -> bool {
    match elem {
        Elem::I32 | Elem::I64 | Elem::Bool => true,
        Elem::F32 | Elem::F64 => false,
    }
}
