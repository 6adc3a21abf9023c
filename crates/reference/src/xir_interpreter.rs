//! What XIR means: a plain interpreter of lowered programs.
//!
//! It executes an entry packet by packet, operation by operation, over memory the caller supplies by address. It is slow and
//! strict: where generated code would go wrong in silence it stops and names the operation. It stops at an access to
//! memory that nobody lent, at a private slot or workspace byte read before it was written, at lanes that write different values
//! to one place, and at a load that claims `invariant` for bytes that the entry writes.
//!
//! Law **same bits**: for a program that runs without fault, generated code gives the same bits, any NaN equal to any NaN.

mod memory;
mod private;
mod run;

use std::fmt;

use xir::{Entry, Extent, Function, Verified};

pub use memory::{Buffers, Memory, Stray};

/// The lanes of a value: the bits of lane `l` at `l`; a uniform value stands in lane 0.
pub type Lanes = [u64; 16];

/// The caller's hook for `opaque` operations: number, first program, count of programs, and the memory.
pub type Hook<'a> = dyn FnMut(u32, u64, u64, &mut dyn Memory) + 'a;

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}, in `{operation}`")]
pub struct Fault {
    /// What is wrong.
    pub problem: Problem,
    /// The line of the operation that did it.
    pub operation: String,
}

/// What can be wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Reads bytes that nobody lent.
    StrayRead(Stray),
    /// Writes bytes that nobody lent, or that are read-only.
    StrayWrite(Stray),
    /// Reads a word beyond the launch record.
    NoSuchWord {
        /// The word.
        word: u32,
    },
    /// Uses a slot outside its array.
    NoSuchSlot {
        /// The slot.
        slot: i64,
    },
    /// Reads a private slot that nothing wrote.
    UnwrittenSlot {
        /// The slot.
        slot: i64,
    },
    /// Reads a workspace byte that nothing wrote.
    UnwrittenWorkspace {
        /// Its address.
        address: u64,
    },
    /// Two lanes of one store write different values to one byte.
    LanesDisagree {
        /// The byte's address.
        address: u64,
    },
    /// Reads as invariant a byte that this entry writes, before or after.
    NotInvariant {
        /// The byte's address.
        address: u64,
    },
    /// The run took more operations than it may.
    OutOfFuel,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::StrayRead(stray) => write!(f, "a read of {stray} that nobody lent"),
            Problem::StrayWrite(stray) => write!(f, "a write of {stray} that may not be written"),
            Problem::NoSuchWord { word } => write!(f, "the record has no word {word}"),
            Problem::NoSuchSlot { slot } => write!(f, "the array has no slot {slot}"),
            Problem::UnwrittenSlot { slot } => {
                write!(f, "slot {slot} is read before it is written")
            }
            Problem::UnwrittenWorkspace { address } => {
                write!(
                    f,
                    "workspace byte {address:#x} is read before it is written"
                )
            }
            Problem::LanesDisagree { address } => {
                write!(f, "lanes write different values to byte {address:#x}")
            }
            Problem::NotInvariant { address } => {
                write!(
                    f,
                    "byte {address:#x} is read as invariant and written in one entry"
                )
            }
            Problem::OutOfFuel => f.write_str("the run takes too long"),
        }
    }
}

/// How many packets an entry has, given the launch record; words beyond the record count as 0.
pub fn packets(entry: &Entry, record: &[u64]) -> u64 {
    let size = |extent: &Extent| match *extent {
        Extent::Fixed(size) => u64::from(size),
        Extent::Word(word) => record.get(word as usize).copied().unwrap_or(0),
    };
    match entry.extents.split_last() {
        None => 1,
        Some((last, outer)) => {
            let packed = size(last).div_ceil(u64::from(entry.programs_per_packet));
            outer.iter().map(size).product::<u64>() * packed
        }
    }
}

/// A launch of a program: its workspaces and arrays between entries.
pub struct Launch<'a> {
    run: run::Run<'a>,
}

impl<'a> Launch<'a> {
    /// A launch with a record laid out as `kernel_abi` says; addresses in it are those of `memory`.
    pub fn new(program: &'a Verified, record: &'a [u64], memory: &'a mut dyn Memory) -> Launch<'a> {
        Launch {
            run: run::Run::new(program, record, memory),
        }
    }

    /// With a hook for `opaque` operations; without one they do nothing.
    #[must_use]
    pub fn with_hook(mut self, hook: &'a mut Hook<'a>) -> Launch<'a> {
        self.run.hook = Some(hook);
        self
    }

    /// With a bound on the number of operations, of which the default is a thousand million.
    #[must_use]
    pub fn with_fuel(mut self, operations: u64) -> Launch<'a> {
        self.run.fuel = operations;
        self
    }

    /// Runs every entry over all of its packets.
    ///
    /// # Errors
    /// The first fault; memory then holds what was written until it.
    pub fn run_all(&mut self) -> Result<(), Fault> {
        for entry in 0..self.run.program.entries.len() {
            let end = packets(&self.run.program.entries[entry], self.run.record);
            self.run_entry(entry, 0, end)?;
        }
        Ok(())
    }

    /// Runs packets `begin .. end` of entry number `entry`.
    ///
    /// # Errors
    /// The first fault; memory then holds what was written until it.
    ///
    /// # Panics
    /// If the program has no such entry.
    pub fn run_entry(&mut self, entry: usize, begin: u64, end: u64) -> Result<(), Fault> {
        let function = self.run.program.entries[entry].function;
        self.run.begin_entry(entry);
        let argument = |packet| std::array::from_fn(|lane| if lane == 0 { packet } else { 0 });
        self.run
            .call(function, &[argument(begin), argument(end)])
            .map(|_| ())
    }

    /// Calls one function with arguments, as if it were an entry of its own, and gives back what it returns.
    ///
    /// # Errors
    /// The first fault; memory then holds what was written until it.
    pub fn call(&mut self, function: Function, args: &[Lanes]) -> Result<Vec<Lanes>, Fault> {
        self.run.begin_entry(usize::MAX);
        self.run.call(function, args)
    }
}
