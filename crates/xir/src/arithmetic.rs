//! Elementary functions as XIR: `numerics::Arithmetic` answered with operations of a builder.

use numerics::Arithmetic;

use crate::builder::Builder;
use crate::keys::Value;
use crate::ops::{BinaryOp, CompareOp, Constant, ConvertOp, Shape, UnaryOp};

/// Appends each step of an elementary function to a builder, on values of one shape.
///
/// Law **same bits**: each method is the one operation it names, so what is emitted computes what
/// `numerics::Plain` computes, lane by lane.
pub struct VectorArithmetic<'a, 'p> {
    builder: &'a mut Builder<'p>,
    shape: Shape,
}

impl<'a, 'p> VectorArithmetic<'a, 'p> {
    /// Emits for values of a shape.
    pub fn new(builder: &'a mut Builder<'p>, shape: Shape) -> VectorArithmetic<'a, 'p> {
        VectorArithmetic { builder, shape }
    }

    /// The builder that is appended to.
    pub fn builder(&mut self) -> &mut Builder<'p> {
        self.builder
    }

    fn shift(&mut self, op: BinaryOp, a: Value, bits: u32) -> Value {
        let bits = self
            .builder
            .constant(Constant::I32(bits as i32), self.shape);
        self.builder.binary(op, a, bits)
    }
}

impl Arithmetic for VectorArithmetic<'_, '_> {
    type F = Value;
    type I = Value;
    type M = Value;

    fn constant(&mut self, value: f32) -> Value {
        self.builder.constant(Constant::f32(value), self.shape)
    }
    fn constant_i32(&mut self, value: i32) -> Value {
        self.builder.constant(Constant::I32(value), self.shape)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.builder.add(a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.builder.sub(a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.builder.mul(a, b)
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.builder.div(a, b)
    }
    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.builder.fma(a, b, c)
    }
    fn neg(&mut self, a: Value) -> Value {
        self.builder.unary(UnaryOp::Neg, a)
    }
    fn abs(&mut self, a: Value) -> Value {
        self.builder.unary(UnaryOp::Abs, a)
    }
    fn sqrt(&mut self, a: Value) -> Value {
        self.builder.unary(UnaryOp::Sqrt, a)
    }
    fn bits(&mut self, a: Value) -> Value {
        self.builder.convert(ConvertOp::F32ToBits, a)
    }
    fn float_from_bits(&mut self, a: Value) -> Value {
        self.builder.convert(ConvertOp::BitsToF32, a)
    }
    fn i32_to_f32(&mut self, a: Value) -> Value {
        self.builder.convert(ConvertOp::I32ToF32, a)
    }
    fn add_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.add(a, b)
    }
    fn sub_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.sub(a, b)
    }
    fn and_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.and(a, b)
    }
    fn or_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.or(a, b)
    }
    fn xor_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.xor(a, b)
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
        self.builder.compare(CompareOp::Lt, a, b)
    }
    fn le(&mut self, a: Value, b: Value) -> Value {
        self.builder.compare(CompareOp::Le, a, b)
    }
    fn eq(&mut self, a: Value, b: Value) -> Value {
        self.builder.compare(CompareOp::Eq, a, b)
    }
    fn ne(&mut self, a: Value, b: Value) -> Value {
        self.builder.compare(CompareOp::Ne, a, b)
    }
    fn eq_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.compare(CompareOp::Eq, a, b)
    }
    fn lt_i32(&mut self, a: Value, b: Value) -> Value {
        self.builder.compare(CompareOp::Lt, a, b)
    }
    fn mask_and(&mut self, a: Value, b: Value) -> Value {
        self.builder.and(a, b)
    }
    fn mask_or(&mut self, a: Value, b: Value) -> Value {
        self.builder.or(a, b)
    }
    fn mask_not(&mut self, a: Value) -> Value {
        self.builder.not(a)
    }
    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.builder.select(mask, a, b)
    }
    fn select_i32(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.builder.select(mask, a, b)
    }

    /// Skips `rare` when no lane of the packet needs it; the lanes that don't keep what they had.
    fn rarely(
        &mut self,
        mask: Value,
        common: (Value, Value),
        rare: impl FnOnce(&mut Self) -> (Value, Value),
    ) -> (Value, Value) {
        let needed = self.builder.any(mask);
        self.builder.enter();
        let (value, integer) = rare(self);
        let value = self.builder.select(mask, value, common.0);
        let integer = self.builder.select(mask, integer, common.1);
        let then = self.builder.leave(vec![value, integer]);
        self.builder.enter();
        let otherwise = self.builder.leave(vec![common.0, common.1]);
        let results = self.builder.branch(needed, then, otherwise);
        (results[0], results[1])
    }
}
