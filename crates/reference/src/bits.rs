//! The numbers of the machine: every operation on [`Scalar`]s, bit for bit, by the rules of `numerics`.

use numerics::{ElementType, Scalar, casts, extremum, integers, reduce_with_shape, rounding};
use tile_ir::{BinaryOp, CompareOp, ReduceOp, UnaryOp};

use crate::interpreter::Hook;
use crate::meaning::{Meaning, Order, ill_typed};
use crate::memory::Memory;

/// An elementwise operation of one operand.
///
/// # Panics
/// If the operation is not defined on the operand's type, which the verifier rules out.
#[must_use]
pub fn unary(op: UnaryOp, a: Scalar) -> Scalar {
    match (op, a) {
        (UnaryOp::Neg, Scalar::F32(a)) => Scalar::F32(-a),
        (UnaryOp::Neg, Scalar::F64(a)) => Scalar::F64(-a),
        (UnaryOp::Neg, Scalar::I32(a)) => Scalar::I32(integers::negate(a)),
        (UnaryOp::Abs, Scalar::F32(a)) => Scalar::F32(a.abs()),
        (UnaryOp::Abs, Scalar::F64(a)) => Scalar::F64(a.abs()),
        (UnaryOp::Abs, Scalar::I32(a)) => Scalar::I32(integers::absolute(a)),
        (UnaryOp::Sqrt, Scalar::F32(a)) => Scalar::F32(a.sqrt()),
        (UnaryOp::Sqrt, Scalar::F64(a)) => Scalar::F64(a.sqrt()),
        (UnaryOp::Rsqrt, Scalar::F32(a)) => Scalar::F32(1.0 / a.sqrt()),
        (UnaryOp::Rsqrt, Scalar::F64(a)) => Scalar::F64(1.0 / a.sqrt()),
        (UnaryOp::Floor, Scalar::F32(a)) => Scalar::F32(rounding::floor_f32(a)),
        (UnaryOp::Floor, Scalar::F64(a)) => Scalar::F64(rounding::floor_f64(a)),
        (UnaryOp::Ceil, Scalar::F32(a)) => Scalar::F32(rounding::ceil_f32(a)),
        (UnaryOp::Ceil, Scalar::F64(a)) => Scalar::F64(rounding::ceil_f64(a)),
        (UnaryOp::Trunc, Scalar::F32(a)) => Scalar::F32(rounding::trunc_f32(a)),
        (UnaryOp::Trunc, Scalar::F64(a)) => Scalar::F64(rounding::trunc_f64(a)),
        (UnaryOp::Round, Scalar::F32(a)) => Scalar::F32(rounding::round_f32(a)),
        (UnaryOp::Round, Scalar::F64(a)) => Scalar::F64(rounding::round_f64(a)),
        (UnaryOp::Not, Scalar::I32(a)) => Scalar::I32(!a),
        (UnaryOp::Not, Scalar::Bool(a)) => Scalar::Bool(!a),
        (UnaryOp::Math(function), Scalar::F32(a)) => Scalar::F32(function.evaluate(a)),
        (op, a) => ill_typed((op, a)),
    }
}

/// An elementwise operation of two operands of one type.
///
/// # Panics
/// If the operation is not defined on the operands' types, which the verifier rules out.
#[must_use]
pub fn binary(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::F32(a), Scalar::F32(b)) => Scalar::F32(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Min => extremum::minimum_f32(a, b),
            BinaryOp::Max => extremum::maximum_f32(a, b),
            BinaryOp::CopySign if b.is_nan() => a.abs(),
            BinaryOp::CopySign => a.copysign(b),
            BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => ill_typed((op, a, b)),
        }),
        (Scalar::F64(a), Scalar::F64(b)) => Scalar::F64(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Min => extremum::minimum_f64(a, b),
            BinaryOp::Max => extremum::maximum_f64(a, b),
            BinaryOp::CopySign if b.is_nan() => a.abs(),
            BinaryOp::CopySign => a.copysign(b),
            BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => ill_typed((op, a, b)),
        }),
        (Scalar::I32(a), Scalar::I32(b)) => Scalar::I32(match op {
            BinaryOp::Add => integers::add(a, b),
            BinaryOp::Sub => integers::subtract(a, b),
            BinaryOp::Mul => integers::multiply(a, b),
            BinaryOp::Div => integers::divide(a, b),
            BinaryOp::Rem => integers::remainder(a, b),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl => integers::shift_left(a, b),
            BinaryOp::Shr => integers::shift_right_arithmetic(a, b),
            BinaryOp::CopySign => ill_typed((op, a, b)),
        }),
        (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::CopySign
            | BinaryOp::Shl
            | BinaryOp::Shr => ill_typed((op, a, b)),
        }),
        (a, b) => ill_typed((op, a, b)),
    }
}

/// A comparison of two operands of one type.
///
/// # Panics
/// If the types differ, which the verifier rules out.
#[must_use]
pub fn compare(op: CompareOp, a: Scalar, b: Scalar) -> bool {
    fn holds<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
        match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Lt => a < b,
            CompareOp::Le => a <= b,
            CompareOp::Gt => a > b,
            CompareOp::Ge => a >= b,
        }
    }
    match (a, b) {
        (Scalar::F32(a), Scalar::F32(b)) => holds(op, a, b),
        (Scalar::F64(a), Scalar::F64(b)) => holds(op, a, b),
        (Scalar::I32(a), Scalar::I32(b)) => holds(op, a, b),
        (Scalar::Bool(a), Scalar::Bool(b)) => holds(op, a, b),
        (a, b) => ill_typed((op, a, b)),
    }
}

/// `a * b + c` with one rounding.
///
/// # Panics
/// If the operands aren't floats of one type, which the verifier rules out.
#[must_use]
pub fn fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    match (a, b, c) {
        (Scalar::F32(a), Scalar::F32(b), Scalar::F32(c)) => Scalar::F32(a.mul_add(b, c)),
        (Scalar::F64(a), Scalar::F64(b), Scalar::F64(c)) => Scalar::F64(a.mul_add(b, c)),
        operands => ill_typed(operands),
    }
}

/// [`Scalar`]s in a [`Memory`], with a hook for `opaque`.
pub(crate) struct Bits<'m, 'h> {
    pub(crate) memory: &'m mut Memory,
    pub(crate) hook: Option<&'h mut Hook<'h>>,
}

impl Meaning for Bits<'_, '_> {
    type Item = Scalar;

    fn constant(&self, value: Scalar) -> Scalar {
        value
    }

    fn integer(&self, item: Scalar) -> i32 {
        match item {
            Scalar::I32(value) => value,
            other => ill_typed(other),
        }
    }

    fn truth(&self, item: Scalar) -> bool {
        match item {
            Scalar::Bool(value) => value,
            other => ill_typed(other),
        }
    }

    fn unary(&self, op: UnaryOp, a: Scalar) -> Scalar {
        unary(op, a)
    }

    fn binary(&self, op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
        binary(op, a, b)
    }

    fn compare(&self, op: CompareOp, a: Scalar, b: Scalar) -> Scalar {
        Scalar::Bool(compare(op, a, b))
    }

    fn fma(&self, a: Scalar, b: Scalar, c: Scalar) -> Scalar {
        fma(a, b, c)
    }

    fn cast(&self, to: ElementType, a: Scalar) -> Scalar {
        casts::cast(a, to)
    }

    fn reduce(&self, op: ReduceOp, order: Order, init: Scalar, items: &[Scalar]) -> Scalar {
        let op = op.binary();
        match order {
            Order::Fold => items
                .iter()
                .fold(init, |total, &item| binary(op, total, item)),
            Order::Tree(shape) => reduce_with_shape(shape, items, init, |a, b| binary(op, a, b)),
        }
    }

    fn read(&self, buffer: usize, index: i64, element: ElementType) -> Option<Scalar> {
        self.memory.read(buffer, index, element)
    }

    fn write(
        &mut self,
        buffer: usize,
        index: i64,
        element: ElementType,
        item: Scalar,
    ) -> Option<()> {
        self.memory.write(buffer, index, element, item)
    }

    fn opaque(&mut self, id: u32, program: u64) {
        if let Some(hook) = &mut self.hook {
            hook(id, program, self.memory);
        }
    }
}
