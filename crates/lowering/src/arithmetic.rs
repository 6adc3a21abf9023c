//! The functions of `numerics`, written as XIR: each call of the arithmetic interface is one operation.

use numerics::Arithmetic;
use xir::{BinaryOp, CompareOp, Constant, ConvertOp, Shape, UnaryOp, Value};

use crate::emitter::Emitter;

/// Answers the arithmetic interface with values of an emitter.
pub(crate) struct Emitting<'e>(pub(crate) &'e mut Emitter);

impl Emitting<'_> {
    fn shift(&mut self, op: BinaryOp, a: Value, bits: u32) -> Value {
        let amount = self.0.i32(bits as i32);
        self.0.binary(op, a, amount)
    }
}

impl Arithmetic for Emitting<'_> {
    type F = Value;
    type I = Value;
    type M = Value;

    fn constant(&mut self, value: f32) -> Value {
        self.0.constant(Constant::f32(value), Shape::Uniform)
    }
    fn constant_i32(&mut self, value: i32) -> Value {
        self.0.i32(value)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Add, a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Sub, a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Mul, a, b)
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Div, a, b)
    }
    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.0.fma(a, b, c)
    }
    fn neg(&mut self, a: Value) -> Value {
        self.0.unary(UnaryOp::Neg, a)
    }
    fn abs(&mut self, a: Value) -> Value {
        self.0.unary(UnaryOp::Abs, a)
    }
    fn sqrt(&mut self, a: Value) -> Value {
        self.0.unary(UnaryOp::Sqrt, a)
    }
    fn bits(&mut self, a: Value) -> Value {
        self.0.convert(ConvertOp::F32ToBits, a)
    }
    fn float_from_bits(&mut self, a: Value) -> Value {
        self.0.convert(ConvertOp::BitsToF32, a)
    }
    fn i32_to_f32(&mut self, a: Value) -> Value {
        self.0.convert(ConvertOp::I32ToF32, a)
    }
    fn add_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Add, a, b)
    }
    fn sub_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Sub, a, b)
    }
    fn and_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::And, a, b)
    }
    fn or_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Or, a, b)
    }
    fn xor_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Xor, a, b)
    }
    fn shl_i32(&mut self, a: Value, bits: u32) -> Value {
        self.shift(BinaryOp::Shl, a, bits)
    }
    fn shr_logical_i32(&mut self, a: Value, bits: u32) -> Value {
        self.shift(BinaryOp::ShrU, a, bits)
    }
    fn shr_arithmetic_i32(&mut self, a: Value, bits: u32) -> Value {
        self.shift(BinaryOp::ShrS, a, bits)
    }
    fn lt(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Lt, a, b)
    }
    fn le(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Le, a, b)
    }
    fn eq(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Eq, a, b)
    }
    fn ne(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Ne, a, b)
    }
    fn eq_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Eq, a, b)
    }
    fn lt_i32(&mut self, a: Value, b: Value) -> Value {
        self.0.compare(CompareOp::Lt, a, b)
    }
    fn mask_and(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::And, a, b)
    }
    fn mask_or(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(BinaryOp::Or, a, b)
    }
    fn mask_not(&mut self, a: Value) -> Value {
        self.0.not(a)
    }
    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.0.select(mask, a, b)
    }
    fn select_i32(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.0.select(mask, a, b)
    }

    // With a bound that is neither zero nor NaN, IEEE 754's minimum and maximum are just these.
    fn at_most(&mut self, a: Value, bound: f32) -> Value {
        let bound = self.constant(bound);
        self.0.binary(BinaryOp::Min, a, bound)
    }
    fn at_least(&mut self, a: Value, bound: f32) -> Value {
        let bound = self.constant(bound);
        self.0.binary(BinaryOp::Max, a, bound)
    }

    /// Skips `rare` when no lane of the packet needs it; the lanes that don't keep what they had.
    fn rarely(
        &mut self,
        mask: Value,
        common: (Value, Value),
        rare: impl FnOnce(&mut Self) -> (Value, Value),
    ) -> (Value, Value) {
        let types = [self.0.ty(common.0), self.0.ty(common.1)];
        let needed = self.0.any(mask);
        let then = self.0.begin_side();
        let (value, integer) = rare(self);
        let value = self.0.select(mask, value, common.0);
        let integer = self.0.select(mask, integer, common.1);
        let yields = [value, integer]
            .into_iter()
            .zip(&types)
            .map(|(v, ty)| self.0.with_shape(v, ty.shape))
            .collect();
        self.0.end_side_with(yields);
        let otherwise = self.0.begin_side();
        self.0.end_side_with(vec![common.0, common.1]);
        let results = self.0.end_if_with(needed, then, otherwise, &types);
        (results[0], results[1])
    }
}
