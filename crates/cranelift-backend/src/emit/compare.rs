//! Comparisons, selections and what is asked of a mask.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use machine::Architecture;
use xir::{CompareOp, Elem, OpKind, Shape, Value};

use super::Emitter;
use super::chunks::{Chunks, chunk_lanes};
use super::survey::defining_kind;

/// With a NaN all are false but `Ne`.
fn float_condition(op: CompareOp) -> FloatCC {
    match op {
        CompareOp::Eq => FloatCC::Equal,
        CompareOp::Ne => FloatCC::NotEqual,
        CompareOp::Lt => FloatCC::LessThan,
        CompareOp::Le => FloatCC::LessThanOrEqual,
        CompareOp::Gt => FloatCC::GreaterThan,
        CompareOp::Ge => FloatCC::GreaterThanOrEqual,
    }
}

fn signed_condition(op: CompareOp) -> IntCC {
    match op {
        CompareOp::Eq => IntCC::Equal,
        CompareOp::Ne => IntCC::NotEqual,
        CompareOp::Lt => IntCC::SignedLessThan,
        CompareOp::Le => IntCC::SignedLessThanOrEqual,
        CompareOp::Gt => IntCC::SignedGreaterThan,
        CompareOp::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

impl Emitter<'_> {
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Chunks {
        let ty = self.program.ty(a);
        let (a, b) = (self.chunks(a), self.chunks(b));
        match (ty.elem, ty.shape) {
            (Elem::F32, _) | (Elem::F64, Shape::Uniform) => {
                let condition = float_condition(op);
                (0..a.len())
                    .map(|i| self.b.ins().fcmp(condition, a[i], b[i]))
                    .collect()
            }
            (Elem::F64, Shape::Varying) => {
                let condition = float_condition(op);
                let wide: Chunks = (0..a.len())
                    .map(|i| self.b.ins().fcmp(condition, a[i], b[i]))
                    .collect();
                self.narrow_masks(&wide)
            }
            (Elem::I32, _) | (Elem::I64, Shape::Uniform) => {
                let condition = signed_condition(op);
                (0..a.len())
                    .map(|i| self.b.ins().icmp(condition, a[i], b[i]))
                    .collect()
            }
            (Elem::I64, Shape::Varying) => {
                let condition = signed_condition(op);
                let truths: Vec<ir::Value> = (0..a.len())
                    .map(|i| {
                        let truth = self.b.ins().icmp(condition, a[i], b[i]);
                        self.b.ins().bmask(types::I32, truth)
                    })
                    .collect();
                self.assemble(Elem::Bool, &truths)
            }
            // A truth is 1 or all ones, so false is below true unsigned.
            (Elem::Bool, _) => {
                let condition = signed_condition(op).unsigned();
                (0..a.len())
                    .map(|i| self.b.ins().icmp(condition, a[i], b[i]))
                    .collect()
            }
        }
    }

    /// Masks of two 64-bit lanes to masks of four 32-bit lanes.
    fn narrow_masks(&mut self, wide: &[ir::Value]) -> Chunks {
        wide.chunks(2)
            .map(|pair| {
                let last = pair[pair.len() - 1];
                let narrow = self.shuffle_words(pair[0], last, [0, 2, 4, 6]);
                self.as_type(types::I32X4, narrow)
            })
            .collect()
    }

    /// The mask of each chunk of a value of element `elem`, as wide as its lanes.
    pub(super) fn masks_for(&mut self, mask: Value, elem: Elem) -> Chunks {
        let narrow = self.chunks(mask);
        match elem {
            Elem::F32 | Elem::I32 | Elem::Bool => narrow,
            Elem::F64 => (0..self.lanes() / chunk_lanes(Elem::F64))
                .map(|i| {
                    let pair = narrow[i as usize / 2];
                    if i % 2 == 0 {
                        self.b.ins().swiden_low(pair)
                    } else {
                        self.b.ins().swiden_high(pair)
                    }
                })
                .collect(),
            Elem::I64 => (0..self.lanes())
                .map(|lane| self.lane(mask, lane))
                .collect(),
        }
    }

    pub(super) fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Chunks {
        let ty = self.program.ty(then);
        let (yes, no) = (self.chunks(then), self.chunks(otherwise));
        if !self.program.ty(condition).is_varying() {
            let condition = self.scalar(condition);
            return (0..yes.len())
                .map(|i| self.b.ins().select(condition, yes[i], no[i]))
                .collect();
        }
        if let Some(chunks) = self.select_the_less(condition, then, otherwise) {
            return chunks;
        }
        let masks = self.masks_for(condition, ty.elem);
        (0..yes.len())
            .map(|i| match ty.elem {
                Elem::I64 => self.b.ins().select(masks[i], yes[i], no[i]),
                Elem::F32 | Elem::F64 | Elem::I32 | Elem::Bool => {
                    self.blend(masks[i], yes[i], no[i])
                }
            })
            .collect()
    }

    /// `a < b ? a : b` and its like on floats: one instruction of x86.
    fn select_the_less(
        &mut self,
        condition: Value,
        then: Value,
        otherwise: Value,
    ) -> Option<Chunks> {
        let Some(&OpKind::Compare(op, a, b)) = defining_kind(self.program, condition) else {
            return None;
        };
        let elem = self.program.ty(then).elem;
        if self.target.architecture() != Architecture::X86_64
            || !matches!(elem, Elem::F32 | Elem::F64)
        {
            return None;
        }
        let less_first = match op {
            CompareOp::Lt => (a, b) == (then, otherwise),
            CompareOp::Gt => (b, a) == (then, otherwise),
            CompareOp::Eq | CompareOp::Ne | CompareOp::Le | CompareOp::Ge => return None,
        };
        let greater_first = match op {
            CompareOp::Gt => (a, b) == (then, otherwise),
            CompareOp::Lt => (b, a) == (then, otherwise),
            CompareOp::Eq | CompareOp::Ne | CompareOp::Le | CompareOp::Ge => return None,
        };
        let (yes, no) = (self.chunks(then), self.chunks(otherwise));
        if less_first {
            return Some(
                (0..yes.len())
                    .map(|i| self.less_or_second(yes[i], no[i]))
                    .collect(),
            );
        }
        if greater_first {
            return Some(
                (0..yes.len())
                    .map(|i| self.greater_or_second(yes[i], no[i]))
                    .collect(),
            );
        }
        None
    }

    /// Lanes of `yes` where the mask is set, of `no` where it is clear.
    pub(super) fn blend(&mut self, mask: ir::Value, yes: ir::Value, no: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(yes);
        match self.target.architecture() {
            Architecture::Aarch64 => {
                let mask = self.as_type(ty, mask);
                self.b.ins().bitselect(mask, yes, no)
            }
            Architecture::X86_64 => {
                let bits = self.b.func.dfg.value_type(mask);
                let (yes, no) = (self.as_type(bits, yes), self.as_type(bits, no));
                let blended = self.b.ins().blendv(mask, yes, no);
                self.as_type(ty, blended)
            }
        }
    }

    pub(super) fn any(&mut self, mask: Value) -> ir::Value {
        let chunks = self.chunks(mask);
        let mut all = chunks[0];
        for &chunk in &chunks[1..] {
            all = self.b.ins().bor(all, chunk);
        }
        if self.lanes() < chunk_lanes(Elem::Bool) {
            // The high half means nothing.
            let halves = self.as_type(types::I64X2, all);
            let low = self.b.ins().extractlane(halves, 0);
            let zero = self.int(types::I64, 0);
            return self.b.ins().icmp(IntCC::NotEqual, low, zero);
        }
        self.b.ins().vany_true(all)
    }

    /// Whether every lane of a mask is set.
    pub(super) fn every(&mut self, mask: Value) -> ir::Value {
        let chunks = self.chunks(mask);
        let mut all = chunks[0];
        for &chunk in &chunks[1..] {
            all = self.b.ins().band(all, chunk);
        }
        if self.lanes() < chunk_lanes(Elem::Bool) {
            let halves = self.as_type(types::I64X2, all);
            let low = self.b.ins().extractlane(halves, 0);
            let ones = self.int(types::I64, -1);
            return self.b.ins().icmp(IntCC::Equal, low, ones);
        }
        self.b.ins().vall_true(all)
    }
}
