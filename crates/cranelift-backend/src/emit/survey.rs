//! What a function needs before its first operation is emitted.
//!
//! Cranelift leaves operations where they stand, so whatever loops should find ready in a register has to be made in the
//! entry block: base addresses of private arrays that are indexed by a variable, and masks of sign bits. One walk over the
//! function finds them.

use cranelift_codegen::ir;
use xir::{Array, BinaryOp, Elem, OpKind, Program, Region, Shape, UnaryOp, Value};

use super::chunks::held_as;

/// How a function uses a private array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayUse {
    /// Not at all.
    Unused,
    /// Only at slots known here.
    FixedSlots,
    /// At slots known when it runs, or by its address.
    VariableSlots,
}

/// What the walk found.
pub(crate) struct Survey {
    /// One entry for each array of the program.
    pub(crate) arrays: Vec<ArrayUse>,
    /// Some varying f32 needs its sign bits picked out.
    pub(crate) sign_of_f32: bool,
    /// Some varying f64 needs its sign bits picked out.
    pub(crate) sign_of_f64: bool,
    /// Bytes for the results of the largest call.
    pub(crate) result_bytes: u32,
}

/// Walks a function from its body down.
///
/// Counts in `accesses` how many loads and stores begin at each value; two stand for more.
pub(crate) fn survey(program: &Program, body: Region, accesses: &mut [u8]) -> Survey {
    let mut survey = Survey {
        arrays: vec![ArrayUse::Unused; program.arrays().len()],
        sign_of_f32: false,
        sign_of_f64: false,
        result_bytes: 0,
    };
    survey.visit(program, body, accesses);
    survey
}

/// Bytes that values take one after another, 16 for each chunk.
pub(crate) fn spilled_bytes(program: &Program, values: &[Value]) -> u32 {
    values
        .iter()
        .map(|&value| 16 * held_as(program.ty(value), program.lanes).1 as u32)
        .sum()
}

/// The constant a value is, if an operation says so.
pub(crate) fn constant_of(program: &Program, value: Value) -> Option<xir::Constant> {
    let kind = defining_kind(program, value)?;
    if let OpKind::Splat(of) = kind {
        return constant_of(program, *of);
    }
    if let OpKind::Const(constant, _) = kind {
        return Some(*constant);
    }
    None
}

/// The i64 a uniform value is, if an operation says so.
pub(crate) fn i64_of(program: &Program, value: Value) -> Option<i64> {
    match constant_of(program, value)? {
        xir::Constant::I64(number) => Some(number),
        _ => None,
    }
}

/// The operation that makes a value.
pub(crate) fn defining_kind(program: &Program, value: Value) -> Option<&OpKind> {
    match program.value(value).definition {
        xir::Definition::Result { op, .. } => Some(&program.op(op).kind),
        xir::Definition::Argument { .. } => None,
    }
}

/// A block parameter or argument list is short; this is what most lists are.
pub(crate) type BlockArgs = Vec<ir::BlockArg>;

impl Survey {
    fn visit(&mut self, program: &Program, region: Region, accesses: &mut [u8]) {
        for &op in &program.region(region).ops {
            let kind = &program.op(op).kind;
            match kind {
                OpKind::PrivateLoad { array, slot, .. }
                | OpKind::PrivateStore { array, slot, .. } => {
                    let slot_use = if i64_of(program, *slot).is_some() {
                        ArrayUse::FixedSlots
                    } else {
                        ArrayUse::VariableSlots
                    };
                    self.note(*array, slot_use);
                }
                OpKind::PrivateAddress(array) => self.note(*array, ArrayUse::VariableSlots),
                OpKind::Unary(UnaryOp::Neg | UnaryOp::Abs, value)
                | OpKind::Binary(BinaryOp::CopySign, value, _) => {
                    let ty = program.ty(*value);
                    match (ty.shape, ty.elem) {
                        (Shape::Varying, Elem::F32) => self.sign_of_f32 = true,
                        (Shape::Varying, Elem::F64) => self.sign_of_f64 = true,
                        (Shape::Varying, Elem::I32 | Elem::I64 | Elem::Bool)
                        | (Shape::Uniform, _) => {}
                    }
                }
                OpKind::Load {
                    address, access, ..
                }
                | OpKind::Store {
                    address, access, ..
                } => {
                    let pieces = match access {
                        xir::Access::Contiguous { live } if *live > 4 => 2,
                        _ => 1,
                    };
                    let count = &mut accesses[address.index()];
                    *count = (*count + pieces).min(2);
                }
                OpKind::Call { .. } => {
                    let bytes = spilled_bytes(program, &program.op(op).results);
                    self.result_bytes = self.result_bytes.max(bytes);
                }
                OpKind::Const(..)
                | OpKind::Record { .. }
                | OpKind::WorkspaceAddress(_)
                | OpKind::Unary(..)
                | OpKind::Binary(..)
                | OpKind::Compare(..)
                | OpKind::Select { .. }
                | OpKind::Fma(..)
                | OpKind::Convert(..)
                | OpKind::Splat(_)
                | OpKind::LaneIndex
                | OpKind::Lane { .. }
                | OpKind::Any(_)
                | OpKind::Build(_)
                | OpKind::Shuffle { .. }
                | OpKind::Loop { .. }
                | OpKind::If { .. }
                | OpKind::Opaque { .. } => {}
            }
            kind.visit_regions(|region| self.visit(program, region, accesses));
        }
    }

    fn note(&mut self, array: Array, slot_use: ArrayUse) {
        let entry = &mut self.arrays[array.index()];
        *entry = match (*entry, slot_use) {
            (ArrayUse::VariableSlots, _) | (_, ArrayUse::VariableSlots) => ArrayUse::VariableSlots,
            _ => slot_use,
        };
    }
}
