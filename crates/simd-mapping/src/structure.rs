//! Questions about a kernel that a layout asks again and again: who reads a value, what a nest runs along, where an operation stands.

use tile_ir::{Axis, Dim, Kernel, Op, OpKind, Region, Subscript, Value};

/// Whether a nest over these dimensions runs along `axis` packet by packet.
pub fn distributes(kernel: &Kernel, dims: &[Dim], axis: Axis) -> bool {
    dims.contains(&Dim::Axis(axis)) && kernel.axis(axis).extent.is_some_and(|extent| extent > 1)
}

/// Whether an operation stands inside a `map` or `reduce` that runs more than once. A nest with extents of one alone is transparent.
pub fn in_nest(kernel: &Kernel, op: Op) -> bool {
    let mut region = kernel.op(op).parent;
    while let Some(owner) = kernel.region(region).owner {
        if let OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } = &kernel.op(owner).kind
            && dims.iter().any(|&dim| kernel.extent(dim) != Some(1))
        {
            return true;
        }
        region = kernel.op(owner).parent;
    }
    false
}

/// Who reads a value.
pub struct Uses {
    users: Vec<Vec<Op>>,
    yields: Vec<Vec<Region>>,
}

impl Uses {
    /// Collects the users of every value: operations (once each), and regions that yield it.
    pub fn of(kernel: &Kernel) -> Uses {
        let mut users = vec![Vec::new(); kernel.values().len()];
        let mut yields = vec![Vec::new(); kernel.values().len()];
        for op in kernel.ops() {
            for operand in kernel.op(op).kind.operands() {
                let list: &mut Vec<Op> = &mut users[operand.index()];
                if list.last() != Some(&op) {
                    list.push(op);
                }
            }
        }
        for region in kernel.regions() {
            for value in &kernel.region(region).yields {
                yields[value.index()].push(region);
            }
        }
        Uses { users, yields }
    }

    /// The operations that take the value as an operand.
    pub fn users(&self, value: Value) -> &[Op] {
        &self.users[value.index()]
    }

    /// Whether a region yields the value.
    pub fn is_yielded(&self, value: Value) -> bool {
        !self.yields[value.index()].is_empty()
    }

    /// How many operations and yields read it.
    pub fn count(&self, value: Value) -> usize {
        self.users[value.index()].len() + self.yields[value.index()].len()
    }
}

/// The axis packets should lie along: the one that most loads and stores run contiguously along, weighted by nothing else;
/// then the longest; then the first. Axes of extent one don't qualify.
pub fn local_axis(kernel: &Kernel) -> Option<Axis> {
    let mut contiguous = vec![0u32; kernel.axes().len()];
    let mut present = vec![false; kernel.axes().len()];
    for op in kernel.ops() {
        match &kernel.op(op).kind {
            OpKind::Load { view, at } | OpKind::Store { view, at, .. } => {
                let Some(ty) = kernel.view(*view) else {
                    continue;
                };
                for (subscript, stride) in at.iter().zip(&ty.strides) {
                    if let Subscript::Window { axis, step, .. } = *subscript {
                        present[axis.index()] = true;
                        if *stride == tile_ir::Stride::Fixed(1) && step == 1 {
                            contiguous[axis.index()] += 2;
                        }
                    }
                }
            }
            OpKind::Reduce { dims, .. } | OpKind::Map { dims, .. } => {
                for dim in dims {
                    if let Dim::Axis(axis) = *dim {
                        present[axis.index()] = true;
                    }
                }
            }
            OpKind::Iota(axis) => present[axis.index()] = true,
            _ => {}
        }
    }
    kernel
        .axes()
        .filter(|axis| {
            present[axis.index()] && kernel.axis(*axis).extent.is_some_and(|extent| extent > 1)
        })
        .max_by_key(|axis| {
            (
                contiguous[axis.index()],
                kernel.axis(*axis).extent,
                std::cmp::Reverse(*axis),
            )
        })
}
