//! `forward_private_loads`: what was just stored to a private slot isn't loaded again.
//!
//! Private arrays are nobody else's memory: only stores of the array itself change a slot, and stores by address if its
//! address is taken. So a load of a slot whose last
//! store or load is known is that value, and a store that is overwritten before any read is no store. Slots are the same
//! when index and offset are; constants are told apart by number, anything else may be the same slot.
//!
//! A loop needs its registers, so what is known before it is forgotten after it, but for arrays so small that they may
//! live in registers altogether.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: values live longer.

use xir::{Array, Op, OpKind, Program, Region, Value};

use crate::effects::{Effects, Summary};
use crate::rewrite::{Cursor, Fate, Rewrite, rewrite};

/// An array of at most this many bytes may live in registers across a loop: four of 16 bytes, a quarter of what x86-64 has.
const REGISTER_BYTES: u64 = 64;

/// How many slots are remembered at once: the latest. More would make the pass quadratic, and live in no register.
const MOST_SLOTS: usize = 64;

/// Forwards in every function.
pub fn forward_private_loads(program: &mut Program) {
    if program.arrays().len() == 0 {
        return;
    }
    let mut pass = ForwardPrivateLoads {
        summary: Summary::of(program),
        known: Vec::new(),
        unread: Vec::new(),
        outer_known: Vec::new(),
        outer_unread: Vec::new(),
        dead: Vec::new(),
    };
    rewrite(program, &mut pass);
    if !pass.dead.is_empty() {
        pass.dead.sort_unstable();
        for region in (0..program.region_count()).map(Region::from_index) {
            program
                .region_mut(region)
                .ops
                .retain(|op| pass.dead.binary_search(op).is_err());
        }
    }
}

/// A slot: a number, or a number after a value.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    array: Array,
    base: Option<Value>,
    offset: i64,
}

impl Slot {
    /// Whether the two can't be the same slot.
    fn apart(self, other: Slot) -> bool {
        self.array != other.array || (self.base == other.base && self.offset != other.offset)
    }
}

struct ForwardPrivateLoads {
    summary: Summary,
    /// What slots hold.
    known: Vec<(Slot, Value)>,
    /// Stores of the region at hand that nothing has read so far.
    unread: Vec<(Slot, Op)>,
    /// `known` as it stood where each enclosing region was left.
    outer_known: Vec<Vec<(Slot, Value)>>,
    /// `unread` as it stood there.
    outer_unread: Vec<Vec<(Slot, Op)>>,
    dead: Vec<Op>,
}

impl ForwardPrivateLoads {
    /// Forgets what a region or a call may have changed or read.
    fn after(&mut self, effects: &Effects) {
        self.known
            .retain(|(slot, _)| !effects.writes_array(slot.array));
        self.unread
            .retain(|(slot, _)| !effects.reads_array(slot.array));
    }

    /// Whether loads and stores by address may reach an array.
    fn addressed(&self, array: Array) -> bool {
        self.summary.addressed().binary_search(&array).is_ok()
    }

    fn store(&mut self, slot: Slot, value: Value, op: Op) {
        if let Some(at) = self.unread.iter().position(|(other, _)| *other == slot) {
            self.dead.push(self.unread.swap_remove(at).1);
        }
        if !self.addressed(slot.array) {
            self.unread.push((slot, op));
        }
        self.known.retain(|(other, _)| slot.apart(*other));
        self.known.push((slot, value));
    }
}

impl Rewrite for ForwardPrivateLoads {
    fn function(&mut self, _cursor: &Cursor<'_>) {
        self.known.clear();
        self.unread.clear();
        self.outer_known.clear();
        self.outer_unread.clear();
    }

    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        match cursor.program.op(op).kind {
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            } => {
                let slot = slot_of(cursor, array, slot, offset);
                if let Some((_, value)) = self.known.iter().rev().find(|(other, _)| *other == slot)
                {
                    return cursor.become_value(op, *value);
                }
                self.unread.retain(|(other, _)| slot.apart(*other));
                let result = cursor.program.op(op).results[0];
                push_latest(&mut self.known, (slot, result));
            }
            OpKind::PrivateStore {
                array,
                slot,
                offset,
                value,
            } => {
                let slot = slot_of(cursor, array, slot, offset);
                self.store(slot, value, op);
            }
            OpKind::Store { .. } => {
                let addressed = self.summary.addressed();
                self.known
                    .retain(|(slot, _)| addressed.binary_search(&slot.array).is_err());
            }
            OpKind::Call { function, .. } => {
                let effects = self.summary.function(cursor.program, function).clone();
                self.after(&effects);
            }
            _ => {}
        }
        Fate::Keep
    }

    fn enter(&mut self, cursor: &Cursor<'_>, owner: Op, region: Region) {
        self.outer_known.push(self.known.clone());
        self.outer_unread.push(std::mem::take(&mut self.unread));
        // An iteration begins after the stores of the one before.
        if let OpKind::Loop { .. } = cursor.program.op(owner).kind {
            let effects = self.summary.region(region);
            self.known
                .retain(|(slot, _)| !effects.writes_array(slot.array));
        }
    }

    fn leave(&mut self, cursor: &Cursor<'_>, owner: Op, region: Region) {
        self.known = self.outer_known.pop().unwrap_or_default();
        self.unread = self.outer_unread.pop().unwrap_or_default();
        let effects = self.summary.region(region).clone();
        self.after(&effects);
        if let OpKind::Loop { .. } = cursor.program.op(owner).kind {
            let small = |array| cursor.program.array_bytes(array) <= REGISTER_BYTES;
            self.known.retain(|(slot, _)| small(slot.array));
        }
    }
}

fn push_latest<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= MOST_SLOTS {
        list.remove(0);
    }
    list.push(item);
}

fn slot_of(cursor: &Cursor<'_>, array: Array, slot: Value, offset: u32) -> Slot {
    match cursor.constant_of(slot) {
        Some(xir::Constant::I64(number)) => Slot {
            array,
            base: None,
            offset: number.wrapping_add(offset.into()),
        },
        _ => Slot {
            array,
            base: Some(slot),
            offset: offset.into(),
        },
    }
}
