//! What a kernel would give with exact enough arithmetic: the same walk, in binary64.
//!
//! Bits can be equal everywhere and wrong everywhere. So results are also held against the same kernel evaluated in
//! binary64: f32 values don't round to f32, half types don't round at all, the functions of `numerics` are replaced by
//! functions of binary64 that share nothing with them, and sums are compensated, so that their error doesn't grow with
//! their length. Integers and truth values are exact, and so are comparisons and casts to integers (of the unrounded
//! value: a kernel that rounds right at an integer's edge may differ).
//!
//! Memory is an array of binary64 numbers a buffer. A view's element type decides what a number means, so two views that
//! share a buffer must have elements of one size; i32 and bool are stored as the numbers they are.

use numerics::{ElementType, MathFunction, Scalar, TREE};
use tile_ir::{BinaryOp, CompareOp, ReduceOp, UnaryOp, Verified};

use crate::arguments::{Arguments, bind};
use crate::error_functions::{erf, erfc};
use crate::interpreter::InterpretError;
use crate::meaning::{Meaning, Order, ill_typed};
use crate::sums::compensated_sum;
use crate::walker::Walker;

/// Runs a kernel in binary64 on buffers of binary64 numbers, in place; `opaque` operations do nothing.
///
/// # Errors
/// [`InterpretError`], as for the interpreter.
pub fn oracle(
    kernel: &Verified,
    buffers: &mut [Vec<f64>],
    arguments: &Arguments,
) -> Result<(), InterpretError> {
    let bound = bind(kernel, arguments)?;
    let meaning = Wide { buffers };
    // The oracle's sums are compensated, whatever the tree.
    Walker {
        kernel,
        bound,
        meaning,
        trees: &|_| TREE,
        fuel: 1 << 32,
        fused: None,
        program: 0,
    }
    .run()
    .map_err(|error| *error)
}

/// A number of the oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item {
    /// A float of any type.
    Float(f64),
    /// An i32.
    Integer(i32),
    /// A truth value.
    Truth(bool),
}

struct Wide<'b> {
    buffers: &'b mut [Vec<f64>],
}

impl Meaning for Wide<'_> {
    type Item = Item;

    fn constant(&self, value: Scalar) -> Item {
        match value {
            Scalar::F32(value) => Item::Float(f64::from(value)),
            Scalar::F64(value) => Item::Float(value),
            Scalar::I32(value) => Item::Integer(value),
            Scalar::Bool(value) => Item::Truth(value),
        }
    }

    fn integer(&self, item: Item) -> i32 {
        match item {
            Item::Integer(value) => value,
            other @ (Item::Float(_) | Item::Truth(_)) => ill_typed(other),
        }
    }

    fn truth(&self, item: Item) -> bool {
        match item {
            Item::Truth(value) => value,
            other @ (Item::Float(_) | Item::Integer(_)) => ill_typed(other),
        }
    }

    fn unary(&self, op: UnaryOp, a: Item) -> Item {
        match a {
            Item::Float(a) => Item::Float(match op {
                UnaryOp::Neg => -a,
                UnaryOp::Abs => a.abs(),
                UnaryOp::Sqrt => a.sqrt(),
                UnaryOp::Rsqrt => 1.0 / a.sqrt(),
                UnaryOp::Floor => a.floor(),
                UnaryOp::Ceil => a.ceil(),
                UnaryOp::Trunc => a.trunc(),
                UnaryOp::Round => a.round_ties_even(),
                UnaryOp::Math(function) => math(function, a),
                UnaryOp::Not => ill_typed((op, a)),
            }),
            Item::Integer(a) => from_scalar(crate::bits::unary(op, Scalar::I32(a))),
            Item::Truth(a) => from_scalar(crate::bits::unary(op, Scalar::Bool(a))),
        }
    }

    fn binary(&self, op: BinaryOp, a: Item, b: Item) -> Item {
        from_scalar(crate::bits::binary(op, to_scalar(a), to_scalar(b)))
    }

    fn compare(&self, op: CompareOp, a: Item, b: Item) -> Item {
        Item::Truth(crate::bits::compare(op, to_scalar(a), to_scalar(b)))
    }

    fn fma(&self, a: Item, b: Item, c: Item) -> Item {
        from_scalar(crate::bits::fma(to_scalar(a), to_scalar(b), to_scalar(c)))
    }

    fn cast(&self, to: ElementType, a: Item) -> Item {
        match to {
            // Floats of every width are one type here: nothing is rounded.
            ElementType::F32 | ElementType::F64 | ElementType::F16 | ElementType::BF16 => {
                from_scalar(numerics::casts::cast(to_scalar(a), ElementType::F64))
            }
            ElementType::I32 | ElementType::Bool => {
                from_scalar(numerics::casts::cast(to_scalar(a), to))
            }
        }
    }

    fn reduce(&self, op: ReduceOp, _order: Order, init: Item, items: &[Item]) -> Item {
        match (op, init) {
            (ReduceOp::Add, Item::Float(init)) => {
                let terms = std::iter::once(init).chain(items.iter().map(|&item| match item {
                    Item::Float(value) => value,
                    other @ (Item::Integer(_) | Item::Truth(_)) => ill_typed(other),
                }));
                Item::Float(compensated_sum(terms))
            }
            (ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max, _) => items
                .iter()
                .fold(init, |total, &item| self.binary(op.binary(), total, item)),
        }
    }

    fn read(&self, buffer: usize, index: i64, element: ElementType) -> Option<Item> {
        let value = *self
            .buffers
            .get(buffer)?
            .get(usize::try_from(index).ok()?)?;
        Some(match element {
            ElementType::F32 | ElementType::F64 | ElementType::F16 | ElementType::BF16 => {
                Item::Float(value)
            }
            ElementType::I32 => Item::Integer(value as i32),
            ElementType::Bool => Item::Truth(value != 0.0),
        })
    }

    fn write(
        &mut self,
        buffer: usize,
        index: i64,
        _element: ElementType,
        item: Item,
    ) -> Option<()> {
        let place = self
            .buffers
            .get_mut(buffer)?
            .get_mut(usize::try_from(index).ok()?)?;
        *place = match item {
            Item::Float(value) => value,
            Item::Integer(value) => f64::from(value),
            Item::Truth(value) => f64::from(u8::from(value)),
        };
        Some(())
    }

    fn opaque(&mut self, _id: u32, _program: u64) {}
}

fn from_scalar(value: Scalar) -> Item {
    match value {
        Scalar::F32(value) => Item::Float(f64::from(value)),
        Scalar::F64(value) => Item::Float(value),
        Scalar::I32(value) => Item::Integer(value),
        Scalar::Bool(value) => Item::Truth(value),
    }
}

fn to_scalar(item: Item) -> Scalar {
    match item {
        Item::Float(value) => Scalar::F64(value),
        Item::Integer(value) => Scalar::I32(value),
        Item::Truth(value) => Scalar::Bool(value),
    }
}

/// The functions of `numerics`, by the standard library's binary64 functions and this crate's error functions.
#[must_use]
pub fn math(function: MathFunction, a: f64) -> f64 {
    match function {
        MathFunction::Exp => a.exp(),
        MathFunction::Exp2 => a.exp2(),
        MathFunction::Log => a.ln(),
        MathFunction::Log1p => a.ln_1p(),
        MathFunction::Expm1 => a.exp_m1(),
        MathFunction::Sigmoid => {
            if a >= 0.0 {
                1.0 / (1.0 + (-a).exp())
            } else {
                let power = a.exp();
                power / (1.0 + power)
            }
        }
        MathFunction::Tanh => a.tanh(),
        MathFunction::Erf => erf(a),
        MathFunction::Erfc => erfc(a),
        MathFunction::Sin => a.sin(),
        MathFunction::Cos => a.cos(),
        MathFunction::NormalCdf => 0.5 * erfc(-a / std::f64::consts::SQRT_2),
    }
}
