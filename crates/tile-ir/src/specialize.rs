//! Specialisation: axis extents that a kernel left open, fixed before it is compiled.

use crate::kernel::{Dim, Kernel};
use crate::keys::Axis;
use crate::ops::{OpKind, Subscript};

/// Why extents can't be fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecializeError {
    /// An axis without coordinates has no tiles.
    #[error("axis `{axis}` is given extent 0; a tile has at least one coordinate along each axis")]
    Zero {
        /// The axis' name.
        axis: String,
    },
    /// Coordinates are i32.
    #[error("axis `{axis}` is given extent {extent}; the limit is {}", i32::MAX)]
    TooLarge {
        /// The axis' name.
        axis: String,
        /// The extent asked for.
        extent: u32,
    },
    /// The kernel, or an earlier entry of the list, says otherwise.
    #[error("axis `{axis}` has extent {fixed} and is given {given}")]
    Contradiction {
        /// The axis' name.
        axis: String,
        /// The extent it has.
        fixed: u32,
        /// The extent asked for.
        given: u32,
    },
    /// The key belongs to another kernel.
    #[error("the kernel has no {axis}; it has {count} axes")]
    NoSuchAxis {
        /// The key.
        axis: Axis,
        /// How many axes there are.
        count: usize,
    },
}

impl Kernel {
    /// The kernel with the extents of some axes fixed, and everything else (keys, names, places) as it was.
    ///
    /// # Errors
    /// An extent of zero or above `i32::MAX`, and one that contradicts what is fixed already.
    pub fn specialize(&self, extents: &[(Axis, u32)]) -> Result<Kernel, SpecializeError> {
        let mut kernel = self.clone();
        for &(axis, extent) in extents {
            if axis.index() >= kernel.axes().len() {
                return Err(SpecializeError::NoSuchAxis {
                    axis,
                    count: kernel.axes().len(),
                });
            }
            let data = kernel.axis(axis);
            let name = || data.name.clone();
            if extent == 0 {
                return Err(SpecializeError::Zero { axis: name() });
            }
            if extent > i32::MAX as u32 {
                return Err(SpecializeError::TooLarge {
                    axis: name(),
                    extent,
                });
            }
            match data.extent {
                Some(fixed) if fixed != extent => {
                    return Err(SpecializeError::Contradiction {
                        axis: name(),
                        fixed,
                        given: extent,
                    });
                }
                Some(_) => {}
                None => kernel.set_extent(axis, extent),
            }
        }
        Ok(kernel)
    }

    /// The axes that must get an extent before the kernel can be lowered, in order: those without one along which some
    /// tile, nest, window, `iota` or `extent` runs. An axis that only views and root nests know stays open until launch.
    pub fn open_axes(&self) -> Vec<Axis> {
        let mut used = vec![false; self.axes().len()];
        let mark = |used: &mut Vec<bool>, dims: &[Dim]| {
            for dim in dims {
                if let Dim::Axis(axis) = *dim {
                    used[axis.index()] = true;
                }
            }
        };
        for value in self.values() {
            mark(&mut used, &self.ty(value).dims);
        }
        for op in self.ops() {
            match &self.op(op).kind {
                OpKind::Extent(axis) | OpKind::Iota(axis) => used[axis.index()] = true,
                OpKind::Map { dims, .. }
                | OpKind::Reduce { dims, .. }
                | OpKind::Broadcast(_, dims)
                | OpKind::Reshape(_, dims) => mark(&mut used, dims),
                OpKind::Load { at, .. } | OpKind::Store { at, .. } => {
                    for subscript in at {
                        if let Subscript::Window { axis, .. } = *subscript {
                            used[axis.index()] = true;
                        }
                    }
                }
                OpKind::Const(_)
                | OpKind::ScalarParam(_)
                | OpKind::Unary(..)
                | OpKind::Binary(..)
                | OpKind::Compare(..)
                | OpKind::Select { .. }
                | OpKind::Fma(..)
                | OpKind::Cast(..)
                | OpKind::Permute(..)
                | OpKind::Extract { .. }
                | OpKind::For { .. }
                | OpKind::Parallel { .. }
                | OpKind::Stage
                | OpKind::Opaque { .. } => {}
            }
        }
        self.axes()
            .filter(|&axis| used[axis.index()] && self.axis(axis).extent.is_none())
            .collect()
    }
}
