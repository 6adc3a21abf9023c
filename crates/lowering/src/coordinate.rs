//! Coordinates while code is written: what is the same in all lanes, what counts with the lane, what is neither.
//!
//! An address is cheap if its lanes are neighbours. So a coordinate keeps its form until the access is written.

use tile_ir::{BinaryOp, Definition, Kernel, OpKind, Value as TileValue};
use xir::Value;

/// One coordinate of a point, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coord {
    /// `base + add` in every lane.
    Uniform {
        /// A uniform i64.
        base: Option<Value>,
        /// Added.
        add: i64,
    },
    /// `lanes * (slot + add) + lane`: a whole packet of the local axis.
    Local {
        /// A uniform i64.
        slot: Option<Value>,
        /// Slots added.
        add: i64,
    },
    /// `base + add + step * lane`.
    Lanes {
        /// A uniform i64.
        base: Option<Value>,
        /// Added.
        add: i64,
        /// Elements between lanes.
        step: i64,
    },
    /// One varying i64.
    General(Value),
}

impl Coord {
    /// A constant.
    pub(crate) fn fixed(add: i64) -> Coord {
        Coord::Uniform { base: None, add }
    }

    /// A uniform value.
    pub(crate) fn uniform(base: Value) -> Coord {
        Coord::Uniform {
            base: Some(base),
            add: 0,
        }
    }

    /// Whether all lanes share it.
    pub(crate) fn is_uniform(self) -> bool {
        matches!(self, Coord::Uniform { .. })
    }
}

/// The least and the greatest number an i32 scalar can be, if that follows from static extents alone and nothing wraps.
pub(crate) fn range(kernel: &Kernel, value: TileValue) -> Option<(i64, i64)> {
    let fits = |(low, high): (i64, i64)| {
        (low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX)).then_some((low, high))
    };
    match kernel.value(value).definition {
        Definition::Argument { region, index } => {
            let owner = kernel.region(region).owner?;
            let extent = match &kernel.op(owner).kind {
                OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } => {
                    kernel.extent(*dims.get(index as usize)?)?
                }
                OpKind::Parallel { axes, .. } => kernel.axis(*axes.get(index as usize)?).extent?,
                _ => return None,
            };
            Some((0, i64::from(extent) - 1))
        }
        Definition::Result { op, .. } => match &kernel.op(op).kind {
            OpKind::Const(numerics::Scalar::I32(n)) => Some((i64::from(*n), i64::from(*n))),
            OpKind::Extent(axis) => {
                let extent = i64::from(kernel.axis(*axis).extent?);
                Some((extent, extent))
            }
            OpKind::Binary(op, a, b) => {
                let (a, b) = (range(kernel, *a)?, range(kernel, *b)?);
                match op {
                    BinaryOp::Add => fits((a.0 + b.0, a.1 + b.1)),
                    BinaryOp::Sub => fits((a.0 - b.1, a.1 - b.0)),
                    BinaryOp::Mul => {
                        let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        fits((products.into_iter().min()?, products.into_iter().max()?))
                    }
                    _ => None,
                }
            }
            _ => None,
        },
    }
}

/// Whether an i32 scalar always lies in `0 .. extent`.
pub(crate) fn always_within(kernel: &Kernel, value: TileValue, extent: u32) -> bool {
    range(kernel, value).is_some_and(|(low, high)| low >= 0 && high < i64::from(extent))
}
