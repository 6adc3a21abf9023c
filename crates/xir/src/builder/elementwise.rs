//! Elementwise operations of the builder, with what is folded on the spot.

use super::Builder;
use crate::keys::Value;
use crate::ops::{BinaryOp, CompareOp, Constant, ConvertOp, Elem, OpKind, Type, UnaryOp};

/// Elementwise operations. A uniform operand that meets a varying one is splatted.
impl Builder<'_> {
    /// Any operation of one operand.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.ty(a);
        if op == UnaryOp::Not {
            match self.kind_of(a) {
                Some(&OpKind::Const(Constant::Bool(value), shape)) => {
                    return self.constant(Constant::Bool(!value), shape);
                }
                Some(&OpKind::Unary(UnaryOp::Not, inner)) => return inner,
                _ => {}
            }
        }
        self.push_one(OpKind::Unary(op, a), ty)
    }

    /// Any operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let ty = self.ty(a);
        match ty.elem {
            Elem::F32 | Elem::F64 => {}
            Elem::I32 | Elem::I64 => {
                if let Some(known) = self.fold_integer(op, ty, a, b) {
                    return known;
                }
            }
            Elem::Bool => {
                if let Some(known) = self.fold_bool(op, a, b) {
                    return known;
                }
            }
        }
        self.push_one(OpKind::Binary(op, a, b), ty)
    }

    /// `x + 0`, `x - 0`, `x * 1`, `x * 0`, constants, and `(x + c) + d`.
    fn fold_integer(&mut self, op: BinaryOp, ty: Type, a: Value, b: Value) -> Option<Value> {
        let left = self.constant_of(a).and_then(integer);
        let right = self.constant_of(b).and_then(integer);
        if let (Some(x), Some(y)) = (left, right) {
            let result = match op {
                BinaryOp::Add => x.wrapping_add(y),
                BinaryOp::Sub => x.wrapping_sub(y),
                BinaryOp::Mul => x.wrapping_mul(y),
                BinaryOp::Min => x.min(y),
                BinaryOp::Max => x.max(y),
                BinaryOp::And => x & y,
                BinaryOp::Or => x | y,
                BinaryOp::Xor => x ^ y,
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::CopySign
                | BinaryOp::Shl
                | BinaryOp::ShrS
                | BinaryOp::ShrU => return None,
            };
            return Some(self.integer_constant(ty, result));
        }
        match (op, left, right) {
            (BinaryOp::Add, Some(0), None) => Some(b),
            (BinaryOp::Add | BinaryOp::Sub, None, Some(0)) => Some(a),
            (BinaryOp::Mul, Some(1), None) => Some(b),
            (BinaryOp::Mul, None, Some(1)) => Some(a),
            (BinaryOp::Mul, Some(0), None) => Some(a),
            (BinaryOp::Mul, None, Some(0)) => Some(b),
            (BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU, None, Some(0)) => Some(a),
            (BinaryOp::Add, None, Some(y)) => {
                let Some(&OpKind::Binary(BinaryOp::Add, inner, c)) = self.kind_of(a) else {
                    return None;
                };
                let x = self.constant_of(c).and_then(integer)?;
                let sum = self.integer_constant(ty, x.wrapping_add(y));
                Some(self.binary(BinaryOp::Add, inner, sum))
            }
            _ => None,
        }
    }

    fn integer_constant(&mut self, ty: Type, value: i64) -> Value {
        let constant = if ty.elem == Elem::I32 {
            Constant::I32(value as i32)
        } else {
            Constant::I64(value)
        };
        self.constant(constant, ty.shape)
    }

    fn fold_bool(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
        let (known, other) = match (self.constant_of(a), self.constant_of(b)) {
            (Some(Constant::Bool(known)), _) => ((known, a), b),
            (_, Some(Constant::Bool(known))) => ((known, b), a),
            _ => return None,
        };
        match (op, known.0) {
            (BinaryOp::And, true) | (BinaryOp::Or | BinaryOp::Xor, false) => Some(other),
            (BinaryOp::And, false) | (BinaryOp::Or, true) => Some(known.1),
            (BinaryOp::Xor, true) => Some(self.not(other)),
            _ => None,
        }
    }

    /// `a + b`.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// `a / b`.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Div, a, b)
    }

    /// The integer remainder of `a / b`.
    pub fn rem(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Rem, a, b)
    }

    /// The lesser.
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Min, a, b)
    }

    /// The greater.
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Max, a, b)
    }

    /// Magnitude of `a`, sign of `b`.
    pub fn copysign(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::CopySign, a, b)
    }

    /// Bitwise or logical and.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    /// Bitwise or logical or.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    /// Bitwise or logical exclusive or.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Xor, a, b)
    }

    /// `a` shifted left by `b`.
    pub fn shl(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Shl, a, b)
    }

    /// `a` shifted right by `b`, filled with the sign.
    pub fn shr_s(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::ShrS, a, b)
    }

    /// `a` shifted right by `b`, filled with zeros.
    pub fn shr_u(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::ShrU, a, b)
    }

    /// `a + number`, for an i64.
    pub fn add_i64(&mut self, a: Value, number: i64) -> Value {
        if number == 0 {
            return a;
        }
        let number = self.i64(number);
        self.add(a, number)
    }

    /// `a * number`, for an i64.
    pub fn mul_i64(&mut self, a: Value, number: i64) -> Value {
        if number == 1 {
            return a;
        }
        let number = self.i64(number);
        self.mul(a, number)
    }

    /// The sign flipped.
    pub fn neg(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Neg, a)
    }

    /// The sign cleared.
    pub fn abs(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Abs, a)
    }

    /// The square root.
    pub fn sqrt(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Sqrt, a)
    }

    /// To an integer, towards minus infinity.
    pub fn floor(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Floor, a)
    }

    /// To an integer, towards plus infinity.
    pub fn ceil(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Ceil, a)
    }

    /// To an integer, towards zero.
    pub fn trunc(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Trunc, a)
    }

    /// To an integer, ties to even.
    pub fn nearest(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Nearest, a)
    }

    /// Complement or negation.
    pub fn not(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Not, a)
    }

    /// Any comparison.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let ty = Type {
            elem: Elem::Bool,
            shape: self.ty(a).shape,
        };
        let left = self.constant_of(a).and_then(integer);
        let right = self.constant_of(b).and_then(integer);
        if let (Some(x), Some(y)) = (left, right) {
            let holds = match op {
                CompareOp::Eq => x == y,
                CompareOp::Ne => x != y,
                CompareOp::Lt => x < y,
                CompareOp::Le => x <= y,
                CompareOp::Gt => x > y,
                CompareOp::Ge => x >= y,
            };
            return self.constant(Constant::Bool(holds), ty.shape);
        }
        self.push_one(OpKind::Compare(op, a, b), ty)
    }

    /// `a == b`.
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Eq, a, b)
    }

    /// `a != b`.
    pub fn ne(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Ne, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Lt, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Le, a, b)
    }

    /// `a > b`.
    pub fn gt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Gt, a, b)
    }

    /// `a >= b`.
    pub fn ge(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Ge, a, b)
    }

    /// `condition ? then : otherwise`.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        let (mut then, mut otherwise) = self.same_shape(then, otherwise);
        if then == otherwise && !self.ty(condition).is_varying() {
            return then;
        }
        if self.ty(condition).is_varying() {
            then = self.splat(then);
            otherwise = self.splat(otherwise);
        }
        match self.constant_of(condition) {
            Some(Constant::Bool(true)) => return then,
            Some(Constant::Bool(false)) => return otherwise,
            _ => {}
        }
        let ty = self.ty(then);
        self.push_one(
            OpKind::Select {
                condition,
                then,
                otherwise,
            },
            ty,
        )
    }

    /// `a * b + c` with one rounding.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let (a, c) = self.same_shape(a, c);
        let (a, b) = self.same_shape(a, b);
        let ty = self.ty(a);
        self.push_one(OpKind::Fma(a, b, c), ty)
    }

    /// Any conversion.
    pub fn convert(&mut self, op: ConvertOp, a: Value) -> Value {
        let ty = Type {
            elem: op.types().1,
            shape: self.ty(a).shape,
        };
        match (op, self.constant_of(a)) {
            (ConvertOp::I32ToI64, Some(Constant::I32(x))) => {
                self.constant(Constant::I64(x.into()), ty.shape)
            }
            (ConvertOp::I64ToI32, Some(Constant::I64(x))) => {
                self.constant(Constant::I32(x as i32), ty.shape)
            }
            (ConvertOp::BoolToI32, Some(Constant::Bool(x))) => {
                self.constant(Constant::I32(x.into()), ty.shape)
            }
            _ => self.push_one(OpKind::Convert(op, a), ty),
        }
    }
}

fn integer(constant: Constant) -> Option<i64> {
    match constant {
        Constant::I32(value) => Some(value.into()),
        Constant::I64(value) => Some(value),
        Constant::F32(_) | Constant::F64(_) | Constant::Bool(_) => None,
    }
}
