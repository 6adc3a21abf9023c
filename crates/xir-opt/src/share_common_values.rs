//! `share_common_values`: the same operation on the same values is carried out once.
//!
//! Pure operations are shared wherever the first one is visible: constants, record words, addresses, math. A load is
//! shared with an earlier one of the same bytes while nothing that may write lies between, in program order; a store through
//! any address may alias, so it ends the sharing of all loads that don't claim to be invariant. A loop between two loads
//! ends their sharing as well: the loop needs the registers, and what would be spilled can as well be loaded again.
//!
//! Keeps: results, effects and their order, bit for bit; no load moves. Breaks: values live longer.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use xir::{BinaryOp, Effect, Elem, Op, OpKind, Program, Region};

use crate::effects::{Effects, Summary};
use crate::hash::Mixer;
use crate::rewrite::{Cursor, Fate, Rewrite, rewrite};

/// Shares in every function.
pub fn share_common_values(program: &mut Program) {
    let mut pass = ShareCommonValues {
        summary: Summary::of(program),
        table: HashTable::with_capacity(program.op_count()),
        added: Vec::new(),
        marks: Vec::new(),
        writes: 0,
        array_writes: vec![0; program.arrays().len()],
        loops: 0,
    };
    rewrite(program, &mut pass);
}

/// When an operation was carried out: the writes before it that matter, and the loops. Pure operations know no time.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Epoch {
    writes: u32,
    loops: u32,
}

/// An operation that may be shared while its epoch lasts.
#[derive(Clone, Copy)]
struct Known {
    op: Op,
    hash: u64,
    epoch: Epoch,
}

struct ShareCommonValues {
    summary: Summary,
    table: HashTable<Known>,
    /// What was added, innermost region last, to be forgotten when its region ends.
    added: Vec<Known>,
    marks: Vec<usize>,
    /// Counts writes of memory.
    writes: u32,
    /// The same for each private array.
    array_writes: Vec<u32>,
    /// Counts loops that ended.
    loops: u32,
}

impl ShareCommonValues {
    fn after(&mut self, effects: &Effects) {
        self.writes += u32::from(effects.writes);
        for array in &effects.private_writes {
            self.array_writes[array.index()] += 1;
        }
    }

    /// The epoch in which the operation means the same; `None` if it can't be shared.
    fn epoch_of(&mut self, kind: &OpKind, program: &Program) -> Option<Epoch> {
        let loops = self.loops;
        match kind.effect() {
            Effect::Pure => Some(Epoch::default()),
            Effect::Read => {
                let moves = matches!(
                    kind,
                    OpKind::Load {
                        invariant: true,
                        ..
                    }
                );
                let writes = if moves { 0 } else { self.writes };
                Some(Epoch { writes, loops })
            }
            Effect::PrivateRead(array) => {
                let writes = self.array_writes[array.index()];
                Some(Epoch { writes, loops })
            }
            Effect::PrivateWrite(array) => {
                self.array_writes[array.index()] += 1;
                None
            }
            Effect::Write | Effect::Unknown => {
                self.writes += 1;
                None
            }
            Effect::Nested => {
                // The regions of loops and ifs are walked; a called function is not.
                if let OpKind::Call { function, .. } = kind {
                    let effects = self.summary.function(program, *function).clone();
                    self.after(&effects);
                }
                None
            }
        }
    }
}

impl Rewrite for ShareCommonValues {
    fn function(&mut self, _cursor: &Cursor<'_>) {
        self.table.clear();
        self.added.clear();
        self.marks.clear();
    }

    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        let program = &*cursor.program;
        let kind = &program.op(op).kind;
        let Some(epoch) = self.epoch_of(kind, program) else {
            return Fate::Keep;
        };
        let hash = hash_of(kind, program);
        let same = |known: &Known| {
            known.epoch == epoch && equal(&program.op(known.op).kind, kind, program)
        };
        if let Some(known) = self.table.find(hash, same) {
            let shared = program.op(known.op).results[0];
            return cursor.become_value(op, shared);
        }
        let known = Known { op, hash, epoch };
        self.table.insert_unique(hash, known, |known| known.hash);
        self.added.push(known);
        Fate::Keep
    }

    fn enter(&mut self, cursor: &Cursor<'_>, owner: Op, region: Region) {
        self.marks.push(self.added.len());
        // An iteration begins after the writes of the one before.
        if let OpKind::Loop { .. } = cursor.program.op(owner).kind {
            let effects = self.summary.region(region).clone();
            self.after(&effects);
        }
    }

    fn leave(&mut self, cursor: &Cursor<'_>, owner: Op, region: Region) {
        if let OpKind::Loop { .. } = cursor.program.op(owner).kind {
            self.loops += 1;
        }
        let mark = self.marks.pop().unwrap_or(0);
        for known in self.added.drain(mark..) {
            if let Ok(entry) = self
                .table
                .find_entry(known.hash, |other| other.op == known.op)
            {
                entry.remove();
            }
        }
        let effects = self.summary.region(region).clone();
        self.after(&effects);
    }
}

/// Whether operands may be exchanged without a change of bits.
fn commutes(op: BinaryOp, elem: Elem) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => true,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !matches!(elem, Elem::F32 | Elem::F64),
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::CopySign
        | BinaryOp::Shl
        | BinaryOp::ShrS
        | BinaryOp::ShrU => false,
    }
}

fn hash_of(kind: &OpKind, program: &Program) -> u64 {
    let mut mixer = Mixer::default();
    match kind {
        OpKind::Binary(op, a, b) if commutes(*op, program.ty(*a).elem) && b < a => {
            OpKind::Binary(*op, *b, *a).hash(&mut mixer);
        }
        _ => kind.hash(&mut mixer),
    }
    mixer.finish()
}

fn equal(one: &OpKind, other: &OpKind, program: &Program) -> bool {
    if one == other {
        return true;
    }
    match (one, other) {
        (OpKind::Binary(op, a, b), OpKind::Binary(other, c, d)) => {
            op == other && a == d && b == c && commutes(*op, program.ty(*a).elem)
        }
        _ => false,
    }
}
