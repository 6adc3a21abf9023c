//! One walk from the subject to the end of its scope, noting who would need an element of it.
//!
//! The walk follows the program's own structure, region by region, and keeps a set of values that are *held*: not computed
//! yet, as nobody asked. An operation that takes a held tile either makes another held tile, if it is pure, works element
//! by element and has one consumer, or it is an event: elements are needed there.

use std::collections::{BTreeMap, BTreeSet};

use tile_ir::{Kernel, Op, OpKind, Region, Value};

/// Elements are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// By this operation.
    Reads(Op),
    /// At the end of the body of this loop, which carries them on.
    Leaves(Op),
}

/// What the walk found.
pub(super) struct Sweep<'k> {
    kernel: &'k Kernel,
    home: Region,
    held: BTreeSet<Value>,
    /// Who takes each value defined in the scope, as one consumer counts; each consumer once.
    takers: BTreeMap<Value, BTreeSet<Taker>>,
    /// The `map`s whose bodies are math on scalars.
    pointwise: BTreeSet<Op>,
    /// The pure operations that were put off.
    pub(super) recipes: BTreeSet<Op>,
    /// The operations among the events.
    seen: BTreeSet<Op>,
    /// In the order in which they happen.
    pub(super) events: Vec<Event>,
    /// How many consumers the results of the subject's operation have together.
    pub(super) consumers_of_subject: usize,
}

/// What counts as one consumer of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Taker {
    /// A reduction, by anything in its body.
    Reduction(Op),
    /// A `map` of scalar math, by anything in its body.
    Map(Op),
    /// An operation.
    Itself(Op),
    /// The end of a loop's body.
    End(Op),
}

/// Whether an operation is elementwise math.
pub(super) fn is_elementwise(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Unary(..)
            | OpKind::Binary(..)
            | OpKind::Compare(..)
            | OpKind::Select { .. }
            | OpKind::Fma(..)
            | OpKind::Cast(..)
    )
}

/// Whether a body consists of scalars, math on them, and element reads.
pub(super) fn is_pointwise_body(kernel: &Kernel, body: Region) -> bool {
    kernel.region(body).ops.iter().all(|&op| {
        let data = kernel.op(op);
        let scalars = data
            .results
            .iter()
            .all(|&result| kernel.ty(result).dims.is_empty());
        let source = matches!(
            data.kind,
            OpKind::Const(_) | OpKind::Extent(_) | OpKind::ScalarParam(_) | OpKind::Extract { .. }
        );
        scalars && (source || is_elementwise(&data.kind))
    })
}

impl<'k> Sweep<'k> {
    /// Walks from the operation `start`, which makes `value`, to the end of its region.
    pub(super) fn of(kernel: &'k Kernel, start: Op, value: Value) -> Sweep<'k> {
        let home = kernel.op(start).parent;
        let mut sweep = Sweep {
            kernel,
            home,
            held: BTreeSet::from([value]),
            takers: BTreeMap::new(),
            pointwise: BTreeSet::new(),
            recipes: BTreeSet::new(),
            seen: BTreeSet::new(),
            events: Vec::new(),
            consumers_of_subject: 0,
        };
        sweep.note_takers(home);
        sweep.consumers_of_subject = sweep.consumers(start);
        let ops = &kernel.region(home).ops;
        let rest = ops
            .iter()
            .position(|&op| op == start)
            .map_or(ops.len(), |place| place + 1);
        sweep.walk(home, &ops[rest..]);
        sweep
    }

    /// Notes who takes what in a region and in those nested there.
    fn note_takers(&mut self, region: Region) {
        let data = self.kernel.region(region);
        for &op in &data.ops {
            let taker = self.taker(op);
            for operand in self.kernel.op(op).kind.operands() {
                self.takers.entry(operand).or_default().insert(taker);
            }
            if let OpKind::Map { body, .. } = self.kernel.op(op).kind
                && is_pointwise_body(self.kernel, body)
            {
                self.pointwise.insert(op);
            }
            for inner in self.kernel.op(op).kind.regions() {
                self.note_takers(inner);
            }
        }
        if let Some(owner) = data.owner
            && let OpKind::For { .. } = self.kernel.op(owner).kind
        {
            for &value in &data.yields {
                self.takers
                    .entry(value)
                    .or_default()
                    .insert(Taker::End(owner));
            }
        }
    }

    /// As what an operation consumes: climbs from it to the subject's region; a reduction further out takes precedence.
    fn taker(&self, op: Op) -> Taker {
        let mut taker = Taker::Itself(op);
        let mut region = self.kernel.op(op).parent;
        let mut innermost = true;
        while region != self.home {
            let Some(owner) = self.kernel.region(region).owner else {
                break;
            };
            match &self.kernel.op(owner).kind {
                OpKind::Reduce { .. } => taker = Taker::Reduction(owner),
                OpKind::Map { .. } if innermost && self.pointwise.contains(&owner) => {
                    taker = Taker::Map(owner);
                }
                _ => {}
            }
            innermost = false;
            region = self.kernel.op(owner).parent;
        }
        taker
    }

    /// How many consumers the results of an operation have together.
    fn consumers(&self, op: Op) -> usize {
        let results = &self.kernel.op(op).results;
        let all: BTreeSet<&Taker> = results
            .iter()
            .filter_map(|result| self.takers.get(result))
            .flatten()
            .collect();
        all.len()
    }

    fn walk(&mut self, region: Region, ops: &[Op]) {
        for &op in ops {
            self.meet(op);
            for inner in self.kernel.op(op).kind.regions() {
                let inner_ops = &self.kernel.region(inner).ops;
                self.walk(inner, inner_ops);
            }
        }
        let data = self.kernel.region(region);
        if let Some(owner) = data.owner
            && let OpKind::For { .. } = self.kernel.op(owner).kind
            && data.yields.iter().any(|value| self.held.contains(value))
        {
            self.events.push(Event::Leaves(owner));
        }
    }

    fn meet(&mut self, op: Op) {
        let data = self.kernel.op(op);
        if !data
            .kind
            .operands()
            .iter()
            .any(|value| self.held.contains(value))
        {
            return;
        }
        match self.taker(op) {
            Taker::Reduction(reduction) => self.event(reduction),
            Taker::Map(map) => self.put_off(map),
            Taker::Itself(op) => {
                let elementwise = is_elementwise(&data.kind)
                    || matches!(
                        data.kind,
                        OpKind::Broadcast(..) | OpKind::Reshape(..) | OpKind::Permute(..)
                    );
                if elementwise
                    && data
                        .results
                        .iter()
                        .any(|&result| !self.kernel.ty(result).dims.is_empty())
                {
                    self.put_off(op);
                } else {
                    self.event(op);
                }
            }
            Taker::End(owner) => self.events.push(Event::Leaves(owner)),
        }
    }

    /// Puts a pure operation off if it has one consumer; else it is made here.
    fn put_off(&mut self, op: Op) {
        if self.consumers(op) > 1 {
            self.event(op);
        } else if self.recipes.insert(op) {
            self.held.extend(&self.kernel.op(op).results);
        }
    }

    fn event(&mut self, op: Op) {
        if self.seen.insert(op) {
            self.events.push(Event::Reads(op));
        }
    }

    /// The element reads of held tiles that stand directly in a body.
    pub(super) fn element_reads(&self, body: Region) -> BTreeSet<Op> {
        let ops = self.kernel.region(body).ops.iter().copied();
        ops.filter(|&op| match self.kernel.op(op).kind {
            OpKind::Extract { tile, .. } => self.held.contains(&tile),
            _ => false,
        })
        .collect()
    }

    /// Whether elements of a recipe's results are needed in the end.
    pub(super) fn is_read(&self, recipe: Op) -> bool {
        let mut at = recipe;
        loop {
            let results = &self.kernel.op(at).results;
            let mut takers = results
                .iter()
                .filter_map(|result| self.takers.get(result))
                .flatten();
            // A recipe has one taker at most.
            match takers.next() {
                None => return false,
                Some(Taker::Map(next) | Taker::Itself(next)) if self.recipes.contains(next) => {
                    at = *next
                }
                Some(Taker::Map(_) | Taker::Itself(_) | Taker::Reduction(_) | Taker::End(_)) => {
                    return true;
                }
            }
        }
    }
}
