//! What the rule asks of a kernel again and again, gathered in one walk.

use tile_ir::{Dim, Kernel, Op, OpKind, ReduceForm, Region, Value};

use crate::readers::count_consumers;

/// One use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// An operation takes it as an operand.
    Operand(Op),
    /// A region yields it.
    Yield(Region),
}

/// What an operation is to the search for a first consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A number out of nothing: a constant, an extent, a scalar parameter.
    Source,
    /// The coordinates of an axis as a tile.
    Iota,
    /// Elementwise math.
    Elementwise,
    /// Elements in another place: broadcast, reshape, permute.
    Movement,
    /// A tile built point by point.
    Map(Region),
    /// A reduction.
    Reduce(Region),
    /// One element of a tile.
    Extract,
    /// A loop or the root nest.
    Control(Region),
    /// A read of memory.
    Load,
    /// A write to memory.
    Store,
    /// A stage.
    Stage,
    /// An effect about which nothing is known.
    Opaque,
}

pub(crate) fn role(kind: &OpKind) -> Role {
    match kind {
        OpKind::Const(_) | OpKind::Extent(_) | OpKind::ScalarParam(_) => Role::Source,
        OpKind::Iota(_) => Role::Iota,
        OpKind::Unary(..)
        | OpKind::Binary(..)
        | OpKind::Compare(..)
        | OpKind::Select { .. }
        | OpKind::Fma(..)
        | OpKind::Cast(..) => Role::Elementwise,
        OpKind::Broadcast(..) | OpKind::Reshape(..) | OpKind::Permute(..) => Role::Movement,
        OpKind::Map { body, .. } => Role::Map(*body),
        OpKind::Reduce { body, .. } => Role::Reduce(*body),
        OpKind::Extract { .. } => Role::Extract,
        OpKind::For { body, .. } | OpKind::Parallel { body, .. } => Role::Control(*body),
        OpKind::Load { .. } => Role::Load,
        OpKind::Store { .. } => Role::Store,
        OpKind::Stage => Role::Stage,
        OpKind::Opaque { .. } => Role::Opaque,
    }
}

/// Tables over a kernel. Operations of a verified kernel are numbered in program order, an operation before the contents
/// of its regions, so an interval of numbers is a stretch of the program.
pub(crate) struct Facts<'k> {
    pub(crate) kernel: &'k Kernel,
    /// The uses of each value, in program order.
    uses: Vec<Vec<Use>>,
    /// The operations that touch memory or wait for others, in program order.
    effects: Vec<Op>,
    /// Those among them that are no loads.
    obstacles: Vec<Op>,
    /// Whether an operation's results have several consumers together.
    shared: Vec<bool>,
    /// Whether an operation's body, if it has one, consists of scalar operations without regions of their own.
    pointwise: Vec<bool>,
    /// Whether an operation stands inside a `map` or `reduce`.
    nested: Vec<bool>,
    /// The last operation within an operation, itself included.
    last: Vec<Op>,
}

impl<'k> Facts<'k> {
    pub(crate) fn of(kernel: &'k Kernel) -> Facts<'k> {
        let count = kernel.ops().len();
        let mut facts = Facts {
            kernel,
            uses: vec![Vec::new(); kernel.values().len()],
            effects: Vec::new(),
            obstacles: Vec::new(),
            shared: Vec::new(),
            pointwise: vec![true; count],
            nested: vec![false; count],
            last: kernel.ops().collect(),
        };
        for op in kernel.ops() {
            let data = kernel.op(op);
            for operand in data.kind.operands() {
                let list: &mut Vec<Use> = &mut facts.uses[operand.index()];
                if list.last() != Some(&Use::Operand(op)) {
                    list.push(Use::Operand(op));
                }
            }
            let role = role(&data.kind);
            if matches!(role, Role::Load | Role::Store | Role::Stage | Role::Opaque) {
                facts.effects.push(op);
            }
            if matches!(role, Role::Store | Role::Stage | Role::Opaque) {
                facts.obstacles.push(op);
            }
            if let Some(owner) = kernel.region(data.parent).owner {
                let in_nest = matches!(
                    self::role(&kernel.op(owner).kind),
                    Role::Map(_) | Role::Reduce(_)
                );
                facts.nested[op.index()] = in_nest || facts.nested[owner.index()];
                let plain = match role {
                    Role::Source | Role::Elementwise | Role::Extract => data
                        .results
                        .iter()
                        .all(|&result| kernel.ty(result).is_scalar()),
                    Role::Iota
                    | Role::Movement
                    | Role::Map(_)
                    | Role::Reduce(_)
                    | Role::Control(_)
                    | Role::Load
                    | Role::Store
                    | Role::Stage
                    | Role::Opaque => false,
                };
                facts.pointwise[owner.index()] &= plain;
            }
        }
        for region in kernel.regions() {
            for &value in &kernel.region(region).yields {
                let list = &mut facts.uses[value.index()];
                if list.last() != Some(&Use::Yield(region)) {
                    list.push(Use::Yield(region));
                }
            }
        }
        for index in (0..count).rev() {
            let op = Op::from_index(index);
            let last = facts.last[index];
            if let Some(owner) = kernel.region(kernel.op(op).parent).owner {
                let row = &mut facts.last[owner.index()];
                *row = (*row).max(last);
            }
        }
        facts.shared = kernel
            .ops()
            .map(|op| count_consumers(&facts, op) > 1)
            .collect();
        facts
    }

    /// The uses of a value.
    pub(crate) fn uses(&self, value: Value) -> &[Use] {
        &self.uses[value.index()]
    }

    /// The effects strictly between two operations, loads among them, in program order.
    pub(crate) fn effects_between(&self, from: Op, to: Op) -> &[Op] {
        between(&self.effects, from, to)
    }

    /// The stores, stages and opaque effects strictly between two operations, in program order.
    pub(crate) fn obstacles_between(&self, from: Op, to: Op) -> &[Op] {
        between(&self.obstacles, from, to)
    }

    /// Whether an operation's results have several consumers together.
    pub(crate) fn is_shared(&self, op: Op) -> bool {
        self.shared[op.index()]
    }

    /// Whether a nest's body consists of constants, elementwise math on scalars and element reads only.
    pub(crate) fn is_pointwise(&self, nest: Op) -> bool {
        self.pointwise[nest.index()]
    }

    /// Whether an operation stands inside a `map` or `reduce`.
    pub(crate) fn is_nested(&self, op: Op) -> bool {
        self.nested[op.index()]
    }

    /// The last operation within a region's owner, itself included.
    pub(crate) fn last_within(&self, owner: Op) -> Op {
        self.last[owner.index()]
    }

    /// Whether a reduction is closed, however many carries it has.
    pub(crate) fn is_closed(&self, reduction: Op) -> bool {
        match &self.kernel.op(reduction).kind {
            OpKind::Reduce { form, .. } => {
                matches!(form, ReduceForm::Closed(_)) && self.is_pointwise(reduction)
            }
            _ => false,
        }
    }

    /// The nests between a region and one nested in it: the owners, outermost first.
    pub(crate) fn owners(&self, home: Region, mut at: Region) -> Vec<Op> {
        let mut owners = Vec::new();
        while at != home {
            let Some(owner) = self.kernel.region(at).owner else {
                break;
            };
            owners.push(owner);
            at = self.kernel.op(owner).parent;
        }
        owners.reverse();
        owners
    }

    /// Whether a dimension has one coordinate.
    pub(crate) fn is_unit(&self, dim: Dim) -> bool {
        self.kernel.extent(dim) == Some(1)
    }

    /// The dimensions of a nest.
    pub(crate) fn nest_dims(&self, nest: Op) -> Vec<Dim> {
        match &self.kernel.op(nest).kind {
            OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } => dims.clone(),
            OpKind::Parallel { axes, .. } => axes.iter().map(|&axis| Dim::Axis(axis)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether an operation is a `map` that runs once.
    pub(crate) fn is_unit_map(&self, op: Op) -> bool {
        match &self.kernel.op(op).kind {
            OpKind::Map { dims, .. } => dims.iter().all(|&dim| self.is_unit(dim)),
            _ => false,
        }
    }
}

fn between(list: &[Op], from: Op, to: Op) -> &[Op] {
    let start = list.partition_point(|&op| op <= from);
    let end = list.partition_point(|&op| op < to);
    &list[start..end.max(start)]
}
