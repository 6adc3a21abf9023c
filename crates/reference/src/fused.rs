//! The fused mode: what a fusion *does*, so that an illegal one shows.
//!
//! To fuse a load into a reduction means not to execute it where it stands, and to read each element inside the
//! reduction's traversal instead. Whether anybody can tell is the question of legality; here it is only carried out. The
//! load's place still fixes buffer, origin, bounds and fill. The reduction then reads memory as it is when the reduction
//! runs, contribution by contribution, and keeps what it read if somebody needs the tile afterwards.
//!
//! So an intervening write is visible, and the rest of what a fusion promises is checked as it happens: an element that is
//! wanted before the reduction read it, or after a reduction that didn't keep it, is an error, and so is an element that
//! two contributions read. Repeated operands of one contribution share one read. A pure operation between the subject and
//! the reduction stays a recipe if it has one consumer; with more it would be an array of its own, and making that array
//! would be the first reader.
//!
//! A fused traversal serves one carry, so a reduction of several carries traverses once for each.

use std::cell::RefCell;

use tile_ir::{Definition, Kernel, Op, Region, Value};

use crate::interpreter::InterpretError;
use crate::walker::Access;

/// A load, or a pure expression, that is read inside a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fusion {
    /// The result of the load or of the pure operation.
    pub subject: Value,
    /// The reduction that reads it.
    pub reduction: Op,
    /// Whether the reduction keeps the elements for later consumers.
    pub save: bool,
}

/// The order in which a fused traversal visits the contributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traversal {
    /// First to last.
    #[default]
    RowMajor,
    /// Last to first.
    Reversed,
}

impl Traversal {
    /// The place in row-major order that is visited in step `step` of `count`.
    pub(crate) fn place(self, step: usize, count: usize) -> usize {
        match self {
            Traversal::RowMajor => step,
            Traversal::Reversed => count - 1 - step,
        }
    }
}

/// Where deferred elements come from.
pub(crate) enum Source {
    /// Memory, at coordinates captured where the load stands.
    Load(Access),
    /// The operands of the pure operation.
    Pure,
}

/// One element of a deferred value.
#[derive(Clone, Copy)]
pub(crate) enum Cell<I> {
    /// Nobody read it yet.
    Unread,
    /// Read by the contribution with this number.
    Read(u64, I),
}

/// A value whose elements are read inside a reduction.
pub(crate) struct Deferral<I> {
    pub(crate) value: Value,
    pub(crate) source: Source,
    pub(crate) reduction: Op,
    pub(crate) save: bool,
    pub(crate) cells: RefCell<Vec<Cell<I>>>,
}

impl<I: Copy> Deferral<I> {
    /// The element, if it has been read; `active` is the contribution that the reduction is at, if it is running.
    pub(crate) fn recall(
        &self,
        active: Option<u64>,
        index: usize,
    ) -> Result<Option<I>, Box<InterpretError>> {
        let (value, element) = (self.value, index);
        match (self.cells.borrow()[index], active) {
            (Cell::Unread, Some(_)) => Ok(None),
            (Cell::Unread, None) => Err(Box::new(InterpretError::ReadOutsideFusion {
                value,
                element,
            })),
            (Cell::Read(then, item), Some(now)) if then == now => Ok(Some(item)),
            (Cell::Read(..), Some(_)) => {
                Err(Box::new(InterpretError::ReadTwice { value, element }))
            }
            (Cell::Read(_, item), None) if self.save => Ok(Some(item)),
            (Cell::Read(..), None) => Err(Box::new(InterpretError::NotKept { value, element })),
        }
    }

    /// Notes an element that the running contribution read.
    pub(crate) fn remember(&self, active: Option<u64>, index: usize, item: I) {
        if let Some(contribution) = active {
            self.cells.borrow_mut()[index] = Cell::Read(contribution, item);
        }
    }
}

/// How many operations of its own region a value is consumed by, themselves or within their regions.
#[derive(Clone, Copy)]
enum Consumers {
    None,
    One(Op),
    Several,
}

/// The state of a fused run.
pub(crate) struct FusedMode {
    traversal: Traversal,
    /// Reduction and whether to save, one row a value.
    fusions: Vec<Option<(Op, bool)>>,
    /// One row a value.
    consumers: Vec<Consumers>,
    /// Reductions that run now, with the number of their contribution.
    running: Vec<(Op, u64)>,
    contributions: u64,
}

impl FusedMode {
    pub(crate) fn new(kernel: &Kernel, fusions: &[Fusion], traversal: Traversal) -> FusedMode {
        let mut rows = vec![None; kernel.values().len()];
        for fusion in fusions {
            rows[fusion.subject.index()] = Some((fusion.reduction, fusion.save));
        }
        FusedMode {
            traversal,
            fusions: rows,
            consumers: consumers(kernel),
            running: Vec::new(),
            contributions: 0,
        }
    }

    pub(crate) fn fusion_of(&self, value: Value) -> Option<(Op, bool)> {
        self.fusions[value.index()]
    }

    /// Whether the results of an operation have at most one consumer together.
    pub(crate) fn has_one_consumer(&self, results: &[Value]) -> bool {
        let mut only = None;
        results
            .iter()
            .all(|result| match self.consumers[result.index()] {
                Consumers::None => true,
                Consumers::One(op) => *only.get_or_insert(op) == op,
                Consumers::Several => false,
            })
    }

    /// Begins a reduction; the traversal if something is fused into it.
    pub(crate) fn enter(&mut self, reduction: Op) -> Option<Traversal> {
        let fused = self
            .fusions
            .iter()
            .flatten()
            .any(|&(op, _)| op == reduction);
        fused.then(|| {
            self.running.push((reduction, self.contributions));
            self.traversal
        })
    }

    /// Ends the reduction that began last.
    pub(crate) fn leave(&mut self) {
        self.running.pop();
    }

    /// Goes on to the next contribution of `reduction`, if something is fused into it.
    pub(crate) fn next_contribution(&mut self, reduction: Op) {
        if let Some(running) = self.running.last_mut()
            && running.0 == reduction
        {
            self.contributions += 1;
            running.1 = self.contributions;
        }
    }

    /// The number of the contribution a reduction is at, if it is running.
    pub(crate) fn contribution_of(&self, reduction: Op) -> Option<u64> {
        self.running
            .iter()
            .rev()
            .find(|(op, _)| *op == reduction)
            .map(|&(_, contribution)| contribution)
    }
}

fn consumers(kernel: &Kernel) -> Vec<Consumers> {
    let mut rows = vec![Consumers::None; kernel.values().len()];
    let mut note = |value: Value, user: Op| {
        let home = match kernel.value(value).definition {
            Definition::Result { op, .. } => kernel.op(op).parent,
            Definition::Argument { region, .. } => region,
        };
        let row = &mut rows[value.index()];
        *row = match (*row, ancestor(kernel, user, home)) {
            (Consumers::None, user) => Consumers::One(user),
            (Consumers::One(before), user) if before == user => Consumers::One(user),
            (Consumers::One(_) | Consumers::Several, _) => Consumers::Several,
        };
    };
    for op in kernel.ops() {
        for operand in kernel.op(op).kind.operands() {
            note(operand, op);
        }
    }
    for region in kernel.regions() {
        let data = kernel.region(region);
        for &value in &data.yields {
            if let Some(owner) = data.owner {
                note(value, owner);
            }
        }
    }
    rows
}

/// The operation of region `home` that is, or holds, `user`; `user` itself if a value leaves its region by a yield.
fn ancestor(kernel: &Kernel, user: Op, home: Region) -> Op {
    let mut at = user;
    while kernel.op(at).parent != home {
        match kernel.region(kernel.op(at).parent).owner {
            Some(owner) => at = owner,
            None => return user,
        }
    }
    at
}
