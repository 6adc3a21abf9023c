//! Conversions between element types; each rounds or saturates as `numerics::casts` says.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use xir::{ConvertOp, Elem, Shape, Value};

use super::Emitter;
use super::chunks::{Chunks, chunk_lanes};

impl Emitter<'_> {
    pub(super) fn convert(&mut self, op: ConvertOp, a: Value) -> Chunks {
        match self.program.ty(a).shape {
            Shape::Uniform => {
                let a = self.scalar(a);
                Chunks::one(self.convert_scalar(op, a))
            }
            Shape::Varying => self.convert_varying(op, a),
        }
    }

    fn convert_scalar(&mut self, op: ConvertOp, a: ir::Value) -> ir::Value {
        match op {
            ConvertOp::I32ToF32 => self.b.ins().fcvt_from_sint(types::F32, a),
            ConvertOp::I32ToF64 => self.b.ins().fcvt_from_sint(types::F64, a),
            ConvertOp::F32ToI32 | ConvertOp::F64ToI32 => {
                self.b.ins().fcvt_to_sint_sat(types::I32, a)
            }
            ConvertOp::F32ToF64 => self.b.ins().fpromote(types::F64, a),
            ConvertOp::F64ToF32 => self.b.ins().fdemote(types::F32, a),
            ConvertOp::I32ToI64 => self.b.ins().sextend(types::I64, a),
            ConvertOp::I64ToI32 => self.b.ins().ireduce(types::I32, a),
            ConvertOp::F32ToBits => self.as_type(types::I32, a),
            ConvertOp::BitsToF32 => self.as_type(types::F32, a),
            ConvertOp::BoolToI32 => self.b.ins().uextend(types::I32, a),
        }
    }

    fn convert_varying(&mut self, op: ConvertOp, a: Value) -> Chunks {
        let chunks = self.chunks(a);
        match op {
            ConvertOp::I32ToF32 => chunks
                .iter()
                .map(|&a| self.b.ins().fcvt_from_sint(types::F32X4, a))
                .collect(),
            ConvertOp::F32ToI32 => chunks
                .iter()
                .map(|&a| self.b.ins().fcvt_to_sint_sat(types::I32X4, a))
                .collect(),
            ConvertOp::F32ToBits => chunks
                .iter()
                .map(|&a| self.as_type(types::I32X4, a))
                .collect(),
            ConvertOp::BitsToF32 => chunks
                .iter()
                .map(|&a| self.as_type(types::F32X4, a))
                .collect(),
            ConvertOp::BoolToI32 => {
                let amount = self.int(types::I32, 31);
                chunks
                    .iter()
                    .map(|&a| self.b.ins().ushr(a, amount))
                    .collect()
            }
            ConvertOp::I32ToF64 => self.for_each_pair(&chunks, |e, low_pair| {
                let wide = e.b.ins().swiden_low(low_pair);
                e.b.ins().fcvt_from_sint(types::F64X2, wide)
            }),
            ConvertOp::F32ToF64 => {
                self.for_each_pair(&chunks, |e, low_pair| e.b.ins().fvpromote_low(low_pair))
            }
            ConvertOp::F64ToF32 => {
                let low: Chunks = chunks.iter().map(|&a| self.b.ins().fvdemote(a)).collect();
                self.join_low_pairs(&low)
            }
            ConvertOp::F64ToI32 => {
                let low: Chunks = chunks.iter().map(|&a| self.f64x2_to_low_i32(a)).collect();
                self.join_low_pairs(&low)
            }
            ConvertOp::I32ToI64 => (0..self.lanes())
                .map(|lane| {
                    let lane = self.lane(a, lane);
                    self.b.ins().sextend(types::I64, lane)
                })
                .collect(),
            ConvertOp::I64ToI32 => {
                let lanes: Vec<ir::Value> = chunks
                    .iter()
                    .map(|&a| self.b.ins().ireduce(types::I32, a))
                    .collect();
                self.assemble(Elem::I32, &lanes)
            }
        }
    }

    /// Two lanes to the low half of an i32 vector: towards zero, saturating, NaN gives 0.
    fn f64x2_to_low_i32(&mut self, a: ir::Value) -> ir::Value {
        let wide = self.b.ins().fcvt_to_sint_sat(types::I64X2, a);
        let zero = self.zero(types::I64X2);
        self.b.ins().snarrow(wide, zero)
    }

    /// Makes one chunk of each two lanes; `f` gets them in the low half.
    fn for_each_pair(
        &mut self,
        chunks: &[ir::Value],
        mut f: impl FnMut(&mut Self, ir::Value) -> ir::Value,
    ) -> Chunks {
        (0..self.lanes() / chunk_lanes(Elem::F64))
            .map(|pair| {
                let chunk = chunks[pair as usize / 2];
                let low_pair = if pair % 2 == 0 {
                    chunk
                } else {
                    self.shuffle_words(chunk, chunk, [2, 3, 2, 3])
                };
                f(self, low_pair)
            })
            .collect()
    }

    /// Joins vectors whose low halves hold two lanes each.
    fn join_low_pairs(&mut self, low: &[ir::Value]) -> Chunks {
        low.chunks(2)
            .map(|pair| match *pair {
                [first, second] => self.shuffle_words(first, second, [0, 1, 4, 5]),
                _ => pair[0],
            })
            .collect()
    }

    /// 0 or -1 in 32 bits as a condition.
    pub(super) fn is_set(&mut self, mask: ir::Value) -> ir::Value {
        let zero = self.int(types::I32, 0);
        self.b.ins().icmp(IntCC::NotEqual, mask, zero)
    }
}
