//! What a realization does, counted: for each operation the points it visits, what it reads and writes there, and how much it computes.
//!
//! The counts follow from the realization alone. A policy prices them; nothing is measured here and nothing is searched.

use std::collections::BTreeMap;

use tile_ir::{Dim, Kernel, Op, OpKind, Param, Stride, Subscript, Value};

use crate::realization::{Realization, Representation};

/// Which addresses the lanes of an access touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessClass {
    /// All lanes share one address.
    Broadcast,
    /// Lanes touch neighbours.
    Contiguous,
    /// Lanes touch addresses an equal distance apart, or any addresses: one access a lane.
    Gather,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The caller's memory, through a view.
    View(Param),
    /// The private array of a value.
    Private(Value),
}

/// The reads or writes of one kind an operation does at each point it visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Which addresses.
    pub class: AccessClass,
    /// How many times the expression names the element.
    pub mentions: u32,
    /// How many times it is touched: repeated operands share one read.
    pub touches: u32,
}

/// What one operation outside nests does for one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpAccount {
    /// The operation.
    pub op: Op,
    /// How many points it visits: elements if a lane runs a program, packets of elements along the local axis otherwise. Scalars have one.
    pub points: u64,
    /// Reads at each point.
    pub reads: BTreeMap<Target, Accesses>,
    /// Writes at each point.
    pub writes: BTreeMap<Target, Accesses>,
    /// Elementwise operations at each point, one a packet.
    pub arithmetic: u64,
    /// Whether the operation walks a tile (a load, a reduction, a store or a value that is materialised), fused or not.
    pub walks: bool,
}

/// Counts a realization, operation by operation in program order. Loops count once an iteration if their bounds are constant, else once.
pub fn account(realization: &Realization) -> Vec<OpAccount> {
    let mut accounts = Vec::new();
    for nest in &realization.nests {
        for &op in nest.segments.iter().flatten() {
            count_op(realization, op, 1, &mut accounts);
        }
    }
    accounts
}

fn count_op(r: &Realization, op: Op, times: u64, out: &mut Vec<OpAccount>) {
    let kernel: &Kernel = &r.kernel;
    let data = kernel.op(op);
    let mut account = OpAccount {
        op,
        points: times,
        reads: BTreeMap::new(),
        writes: BTreeMap::new(),
        arithmetic: 0,
        walks: false,
    };
    match &data.kind {
        OpKind::Load { view, at } => {
            let value = data.results[0];
            account.points = times * points(r, &kernel.ty(value).dims);
            account.walks = !kernel.ty(value).is_scalar();
            let class = view_class(r, *view, at);
            match r.representation(value) {
                Some(Representation::Private(_)) => {
                    touch(&mut account.reads, Target::View(*view), class, 1);
                    touch(
                        &mut account.writes,
                        Target::Private(value),
                        AccessClass::Contiguous,
                        1,
                    );
                }
                Some(Representation::Scalar) => {
                    touch(&mut account.reads, Target::View(*view), class, 1)
                }
                _ => {}
            }
        }
        OpKind::Store { view, at, value } => {
            let dims: Vec<Dim> = at
                .iter()
                .filter_map(|s| match *s {
                    Subscript::Window { axis, .. } => Some(Dim::Axis(axis)),
                    Subscript::At(_) => None,
                })
                .collect();
            account.points = times * points(r, &dims);
            account.walks = true;
            let mut walk = Walk {
                r,
                account: &mut account,
                active: None,
                seen: Vec::new(),
            };
            walk.value(*value);
            touch(
                &mut account.writes,
                Target::View(*view),
                view_class(r, *view, at),
                1,
            );
        }
        OpKind::Reduce { dims, body, .. } => {
            account.points = times * points(r, dims);
            account.walks = true;
            let region = kernel.region(*body);
            let mut walk = Walk {
                r,
                account: &mut account,
                active: Some(op),
                seen: Vec::new(),
            };
            for &value in &region.yields {
                walk.value(value);
            }
            account.arithmetic += region.yields.len() as u64;
        }
        OpKind::For {
            lower, upper, body, ..
        } => {
            let bound = |value: Value| match kernel.defining_op(value).map(|op| &kernel.op(op).kind)
            {
                Some(OpKind::Const(numerics::Scalar::I32(n))) => Some(i64::from(*n)),
                _ => None,
            };
            let trips = match (bound(*lower), bound(*upper)) {
                (Some(low), Some(high)) => u64::try_from(high - low).unwrap_or(0),
                _ => 1,
            };
            for &inner in &kernel.region(*body).ops {
                count_op(r, inner, times * trips, out);
            }
            return;
        }
        OpKind::Const(_) | OpKind::Extent(_) | OpKind::ScalarParam(_) => return,
        _ => {
            for &result in &data.results {
                match r.representation(result) {
                    Some(Representation::Scalar) => {
                        let mut walk = Walk {
                            r,
                            account: &mut account,
                            active: None,
                            seen: Vec::new(),
                        };
                        walk.unfold(op);
                    }
                    Some(Representation::Private(_)) => {
                        account.points = times * points(r, &kernel.ty(result).dims);
                        account.walks = true;
                        let mut walk = Walk {
                            r,
                            account: &mut account,
                            active: None,
                            seen: Vec::new(),
                        };
                        walk.unfold(op);
                        touch(
                            &mut account.writes,
                            Target::Private(result),
                            AccessClass::Contiguous,
                            1,
                        );
                    }
                    _ => return,
                }
            }
        }
    }
    out.push(account);
}

/// Points a traversal of these dimensions visits.
fn points(r: &Realization, dims: &[Dim]) -> u64 {
    let lanes = u64::from(r.plan.lanes.get());
    dims.iter()
        .map(|&dim| {
            let extent = u64::from(r.kernel.extent(dim).unwrap_or(1));
            let local = r.local_axis.is_some_and(|axis| dim == Dim::Axis(axis));
            if local {
                extent.div_ceil(lanes)
            } else {
                extent
            }
        })
        .product()
}

/// The class of a view's access at subscripts.
pub fn view_class(r: &Realization, view: Param, at: &[Subscript]) -> AccessClass {
    let kernel: &Kernel = &r.kernel;
    let Some(ty) = kernel.view(view) else {
        return AccessClass::Broadcast;
    };
    let mut class = AccessClass::Broadcast;
    for (subscript, stride) in at.iter().zip(&ty.strides) {
        let unit = *stride == Stride::Fixed(1);
        let part = match *subscript {
            Subscript::At(value) if r.varies(value) && unit => AccessClass::Contiguous,
            Subscript::At(value) if r.varies(value) => AccessClass::Gather,
            Subscript::At(_) => AccessClass::Broadcast,
            Subscript::Window {
                origin: Some(origin),
                ..
            } if r.varies(origin) => AccessClass::Gather,
            Subscript::Window { axis, step, .. } if r.local_axis == Some(axis) => {
                if unit && step == 1 {
                    AccessClass::Contiguous
                } else {
                    AccessClass::Gather
                }
            }
            Subscript::Window { .. } => AccessClass::Broadcast,
        };
        class = class.max(part);
    }
    class
}

fn touch(map: &mut BTreeMap<Target, Accesses>, target: Target, class: AccessClass, touches: u32) {
    let entry = map.entry(target).or_insert(Accesses {
        class,
        mentions: 0,
        touches: 0,
    });
    entry.mentions += 1;
    entry.touches += touches;
    entry.class = entry.class.max(class);
}

/// A walk over the expression evaluated at one point.
struct Walk<'a> {
    r: &'a Realization,
    account: &'a mut OpAccount,
    active: Option<Op>,
    seen: Vec<Value>,
}

impl Walk<'_> {
    fn value(&mut self, value: Value) {
        let kernel: &Kernel = &self.r.kernel;
        let Some(op) = kernel.defining_op(value) else {
            if let Some(Representation::Private(_)) = self.r.representation(value) {
                self.private(value);
            }
            return;
        };
        match self.r.representation(value) {
            Some(Representation::Private(_)) => self.private(value),
            Some(Representation::Scalar) => {}
            Some(Representation::Reload) => self.view(op, value),
            Some(Representation::Fused { reduction, save }) if self.active == Some(reduction) => {
                let first = !self.seen.contains(&value);
                match kernel.op(op).kind {
                    OpKind::Load { .. } => self.view(op, value),
                    _ if first => self.unfold(op),
                    _ => {}
                }
                if first {
                    self.seen.push(value);
                    if save.is_some() {
                        touch(
                            &mut self.account.writes,
                            Target::Private(value),
                            AccessClass::Contiguous,
                            1,
                        );
                    }
                }
            }
            Some(Representation::Fused { .. }) => self.private(value),
            Some(Representation::Recipe) | None => {
                if !self.contains(value) {
                    self.seen.push(value);
                    self.unfold(op);
                } else {
                    // Named again: its reads are mentioned again, nothing is done again.
                    self.mention(op);
                }
            }
        }
    }

    fn contains(&self, value: Value) -> bool {
        self.seen.contains(&value)
    }

    fn private(&mut self, value: Value) {
        let first = !self.contains(value);
        if first {
            self.seen.push(value);
        }
        touch(
            &mut self.account.reads,
            Target::Private(value),
            AccessClass::Contiguous,
            u32::from(first),
        );
    }

    /// One read of the view a load captured: named as often as it likes, it is one read.
    fn view(&mut self, op: Op, value: Value) {
        let OpKind::Load { view, at } = &self.r.kernel.op(op).kind else {
            return;
        };
        if !self.contains(value) {
            let class = view_class(self.r, *view, at);
            touch(&mut self.account.reads, Target::View(*view), class, 1);
            if !matches!(
                self.r.representation(value),
                Some(Representation::Fused { .. })
            ) {
                self.seen.push(value);
            }
        }
    }

    fn mention(&mut self, op: Op) {
        for operand in self.r.kernel.op(op).kind.operands() {
            if let Some(Representation::Private(_)) = self.r.representation(operand) {
                self.private(operand);
            }
        }
    }

    fn unfold(&mut self, op: Op) {
        let kernel: &Kernel = &self.r.kernel;
        let data = kernel.op(op);
        match &data.kind {
            OpKind::Unary(..)
            | OpKind::Binary(..)
            | OpKind::Compare(..)
            | OpKind::Select { .. }
            | OpKind::Fma(..)
            | OpKind::Cast(..) => self.account.arithmetic += 1,
            OpKind::Reduce { dims, body, .. } => {
                // A reduction inside a nest runs whole at each point.
                let times = points(self.r, dims);
                let before = self.account.arithmetic;
                for &value in &kernel.region(*body).yields {
                    self.value(value);
                }
                let each =
                    self.account.arithmetic - before + kernel.region(*body).yields.len() as u64;
                self.account.arithmetic = before + each * times;
                return;
            }
            OpKind::Map { body, .. } => {
                for &value in &kernel.region(*body).yields {
                    self.value(value);
                }
                return;
            }
            OpKind::Extract { tile, .. } => {
                self.value(*tile);
                return;
            }
            _ => {}
        }
        for operand in data.kind.operands() {
            self.value(operand);
        }
    }
}
