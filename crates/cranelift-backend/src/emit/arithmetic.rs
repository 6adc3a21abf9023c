//! Constants and elementwise arithmetic.

use cranelift_codegen::ir::{self, InstBuilder, types};
use machine::Architecture;
use xir::{BinaryOp, Constant, Elem, Shape, UnaryOp, Value};

use super::chunks::{Chunks, chunk_lanes, chunk_type, held_as};
use super::{Emitter, steady, survey};

impl Emitter<'_> {
    pub(super) fn constant(&mut self, constant: Constant, shape: Shape) -> Chunks {
        match shape {
            Shape::Uniform => Chunks::one(match constant {
                Constant::F32(bits) => self
                    .b
                    .ins()
                    .f32const(ir::immediates::Ieee32::with_bits(bits)),
                Constant::F64(bits) => self
                    .b
                    .ins()
                    .f64const(ir::immediates::Ieee64::with_bits(bits)),
                Constant::I32(number) => self.int(types::I32, i64::from(number)),
                Constant::I64(number) => self.int(types::I64, number),
                Constant::Bool(truth) => self.int(types::I8, i64::from(truth)),
            }),
            Shape::Varying => {
                let (ty, count) = held_as(xir::Type::varying(constant.elem()), self.program.lanes);
                let chunk = match constant {
                    Constant::F32(bits) => {
                        self.vector_constant(ty, &[bits.to_le_bytes(); 4].concat())
                    }
                    Constant::F64(bits) => {
                        self.vector_constant(ty, &[bits.to_le_bytes(); 2].concat())
                    }
                    Constant::I32(number) => {
                        self.vector_constant(ty, &[number.to_le_bytes(); 4].concat())
                    }
                    Constant::I64(number) => self.int(types::I64, number),
                    Constant::Bool(truth) => {
                        self.vector_constant(ty, &[if truth { 0xff } else { 0 }; 16])
                    }
                };
                std::iter::repeat_n(chunk, count).collect()
            }
        }
    }

    pub(super) fn record_word(&mut self, word: u32, elem: Elem) -> ir::Value {
        let ty = super::chunks::scalar_type(elem);
        let flags = steady().with_aligned();
        self.b.ins().load(ty, flags, self.record, 8 * word as i32)
    }

    fn map(&mut self, a: Value, mut f: impl FnMut(&mut Self, ir::Value) -> ir::Value) -> Chunks {
        let a = self.chunks(a);
        a.iter().map(|&a| f(self, a)).collect()
    }

    fn map2(
        &mut self,
        a: Value,
        b: Value,
        mut f: impl FnMut(&mut Self, ir::Value, ir::Value) -> ir::Value,
    ) -> Chunks {
        let (a, b) = (self.chunks(a), self.chunks(b));
        a.iter()
            .zip(b.iter())
            .map(|(&a, &b)| f(self, a, b))
            .collect()
    }

    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Chunks {
        let ty = self.program.ty(a);
        let is_float = matches!(ty.elem, Elem::F32 | Elem::F64);
        match op {
            UnaryOp::Neg if is_float => self.map(a, |e, a| match e.sign_mask(ty) {
                Some(sign) => e.b.ins().bxor(a, sign),
                None => e.b.ins().fneg(a),
            }),
            UnaryOp::Abs if is_float => self.map(a, |e, a| match e.sign_mask(ty) {
                Some(sign) => e.b.ins().band_not(a, sign),
                None => e.b.ins().fabs(a),
            }),
            UnaryOp::Neg => self.map(a, |e, a| e.b.ins().ineg(a)),
            UnaryOp::Abs => self.map(a, |e, a| e.b.ins().iabs(a)),
            UnaryOp::Sqrt => self.map(a, |e, a| e.b.ins().sqrt(a)),
            UnaryOp::Floor => self.map(a, |e, a| e.b.ins().floor(a)),
            UnaryOp::Ceil => self.map(a, |e, a| e.b.ins().ceil(a)),
            UnaryOp::Trunc => self.map(a, |e, a| e.b.ins().trunc(a)),
            UnaryOp::Nearest => self.map(a, |e, a| e.b.ins().nearest(a)),
            UnaryOp::Not if ty == xir::Type::uniform(Elem::Bool) => {
                self.map(a, |e, a| e.b.ins().bxor_imm_u(a, 1))
            }
            UnaryOp::Not => self.map(a, |e, a| e.b.ins().bnot(a)),
        }
    }

    /// The mask of sign bits with which x86 negates and takes magnitudes; NEON has instructions for both.
    fn sign_mask(&self, ty: xir::Type) -> Option<ir::Value> {
        match (self.target.architecture(), ty.shape, ty.elem) {
            (Architecture::Aarch64, _, _) | (_, Shape::Uniform, _) => None,
            (Architecture::X86_64, Shape::Varying, Elem::F32) => self.sign_of_f32,
            (Architecture::X86_64, Shape::Varying, Elem::F64) => self.sign_of_f64,
            (Architecture::X86_64, Shape::Varying, Elem::I32 | Elem::I64 | Elem::Bool) => None,
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Chunks {
        let ty = self.program.ty(a);
        let is_float = matches!(ty.elem, Elem::F32 | Elem::F64);
        match op {
            BinaryOp::Add if is_float => self.map2(a, b, |e, a, b| e.b.ins().fadd(a, b)),
            BinaryOp::Sub if is_float => self.map2(a, b, |e, a, b| e.b.ins().fsub(a, b)),
            BinaryOp::Mul if is_float => self.map2(a, b, |e, a, b| e.b.ins().fmul(a, b)),
            BinaryOp::Div if is_float => self.map2(a, b, |e, a, b| e.b.ins().fdiv(a, b)),
            BinaryOp::Min | BinaryOp::Max if is_float => self.extremum(op, a, b),
            BinaryOp::Add => self.map2(a, b, |e, a, b| e.b.ins().iadd(a, b)),
            BinaryOp::Sub => self.map2(a, b, |e, a, b| e.b.ins().isub(a, b)),
            BinaryOp::Mul => self.multiply_integers(a, b),
            BinaryOp::Div => self.divide_integers(a, b, super::integers::Part::Quotient),
            BinaryOp::Rem => self.divide_integers(a, b, super::integers::Part::Remainder),
            BinaryOp::Min => self.map2(a, b, |e, a, b| e.b.ins().smin(a, b)),
            BinaryOp::Max => self.map2(a, b, |e, a, b| e.b.ins().smax(a, b)),
            BinaryOp::CopySign => self.copy_sign(a, b),
            BinaryOp::And => self.map2(a, b, |e, a, b| e.b.ins().band(a, b)),
            BinaryOp::Or => self.map2(a, b, |e, a, b| e.b.ins().bor(a, b)),
            BinaryOp::Xor => self.map2(a, b, |e, a, b| e.b.ins().bxor(a, b)),
            BinaryOp::Shl => match survey::i64_of(self.program, b) {
                Some(amount) if !ty.is_varying() => {
                    Chunks::one(self.shifted(a, (amount & 63) as u32))
                }
                _ => self.shift(a, b, |e, a, n| e.b.ins().ishl(a, n)),
            },
            BinaryOp::ShrS => self.shift(a, b, |e, a, n| e.b.ins().sshr(a, n)),
            BinaryOp::ShrU => self.shift(a, b, |e, a, n| e.b.ins().ushr(a, n)),
        }
    }

    /// A constant bound takes one instruction on x86 too, when the order of its operands settles zeros and NaN.
    fn extremum(&mut self, op: BinaryOp, a: Value, b: Value) -> Chunks {
        let smaller = op == BinaryOp::Min;
        for (value, bound) in [(a, b), (b, a)] {
            let constant = survey::constant_of(self.program, bound);
            if constant.is_some_and(|constant| super::extremum::is_plain_bound(constant, smaller)) {
                return self.map2(bound, value, |e, bound, value| match smaller {
                    true => e.minimum_with_bound(bound, value),
                    false => e.maximum_with_bound(bound, value),
                });
            }
        }
        match smaller {
            true => self.map2(a, b, Self::minimum),
            false => self.map2(a, b, Self::maximum),
        }
    }

    fn copy_sign(&mut self, a: Value, b: Value) -> Chunks {
        let ty = self.program.ty(a);
        let sign = match (ty.shape, ty.elem) {
            (Shape::Uniform, _) => None,
            (Shape::Varying, Elem::F64) => self.sign_of_f64,
            (Shape::Varying, _) => self.sign_of_f32,
        };
        self.map2(a, b, |e, a, b| match sign {
            Some(sign) => e.b.ins().bitselect(sign, b, a),
            None => e.b.ins().fcopysign(a, b),
        })
    }

    pub(super) fn fma(&mut self, a: Value, b: Value, c: Value) -> Chunks {
        let (a, b, c) = (self.chunks(a), self.chunks(b), self.chunks(c));
        (0..a.len())
            .map(|i| self.b.ins().fma(a[i], b[i], c[i]))
            .collect()
    }

    pub(super) fn lane_index(&mut self) -> Chunks {
        let per_chunk = chunk_lanes(Elem::I32);
        (0..self.lanes().div_ceil(per_chunk))
            .map(|chunk| {
                let bytes: Vec<u8> = (0..per_chunk)
                    .flat_map(|lane| (chunk * per_chunk + lane).to_le_bytes())
                    .collect();
                self.vector_constant(chunk_type(Elem::I32), &bytes)
            })
            .collect()
    }
}
