//! Memory that belongs to the run: private arrays and workspaces, poisoned until written.

use xir::{Array, Elem, Program, Shape};

use super::{Lanes, Problem, Stray};

/// Simulated addresses of what the caller does not lend; the caller's own lie below.
pub(super) const WORKER: u64 = 1 << 60;
pub(super) const SHARED: u64 = 2 << 60;
const PRIVATE: u64 = 4 << 60;
/// Bytes of address space an array has.
const APART: u64 = 1 << 40;

/// Bytes that remember which of them were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Poisoned {
    bytes: Vec<u8>,
    written: Vec<bool>,
}

impl Poisoned {
    pub(super) fn new(size: usize) -> Poisoned {
        Poisoned {
            bytes: vec![0; size],
            written: vec![false; size],
        }
    }

    /// Forgets what was written.
    pub(super) fn poison(&mut self) {
        self.written.fill(false);
    }

    fn range(&self, offset: u64, length: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(length)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// Reads at `offset`; `address` is what the program calls it.
    pub(super) fn read(&self, offset: u64, address: u64, bytes: &mut [u8]) -> Result<(), Problem> {
        let Some(range) = self.range(offset, bytes.len()) else {
            return Err(Problem::StrayRead(Stray {
                address,
                bytes: bytes.len() as u32,
            }));
        };
        if let Some(hole) = self.written[range.clone()]
            .iter()
            .position(|&written| !written)
        {
            return Err(Problem::UnwrittenWorkspace {
                address: address + hole as u64,
            });
        }
        bytes.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    /// Writes at `offset`; `address` is what the program calls it.
    pub(super) fn write(&mut self, offset: u64, address: u64, bytes: &[u8]) -> Result<(), Problem> {
        let Some(range) = self.range(offset, bytes.len()) else {
            return Err(Problem::StrayWrite(Stray {
                address,
                bytes: bytes.len() as u32,
            }));
        };
        self.bytes[range.clone()].copy_from_slice(bytes);
        self.written[range].fill(true);
        Ok(())
    }
}

/// Every private array of a program.
pub(super) struct Arrays {
    rows: Vec<Row>,
}

struct Row {
    elem: Elem,
    lanes: usize,
    slots: i64,
    memory: Poisoned,
}

fn bytes_of(elem: Elem) -> usize {
    match elem {
        Elem::F32 | Elem::I32 | Elem::Bool => 4,
        Elem::F64 | Elem::I64 => 8,
    }
}

impl Arrays {
    pub(super) fn new(program: &Program) -> Arrays {
        let rows = program
            .arrays()
            .map(|array| {
                let data = program.array(array);
                let lanes = match data.shape {
                    Shape::Uniform => 1,
                    Shape::Varying => program.lanes.get() as usize,
                };
                let size = data.slots as usize * lanes * bytes_of(data.elem);
                let memory = Poisoned::new(size);
                Row {
                    elem: data.elem,
                    lanes,
                    slots: data.slots.into(),
                    memory,
                }
            })
            .collect();
        Arrays { rows }
    }

    pub(super) fn poison(&mut self, array: Array) {
        self.rows[array.index()].memory.poison();
    }

    pub(super) fn address(array: Array) -> u64 {
        PRIVATE + array.index() as u64 * APART
    }

    pub(super) fn load(&self, array: Array, slot: i64) -> Result<Lanes, Problem> {
        let row = &self.rows[array.index()];
        let size = bytes_of(row.elem);
        let start = row.start(slot)?;
        let mut lanes = [0; 16];
        for (lane, bits) in lanes.iter_mut().take(row.lanes).enumerate() {
            let mut bytes = [0; 8];
            let offset = start + (lane * size) as u64;
            match row.memory.read(offset, offset, &mut bytes[..size]) {
                Ok(()) => {}
                Err(_) => return Err(Problem::UnwrittenSlot { slot }),
            }
            let read = u64::from_le_bytes(bytes);
            *bits = if row.elem == Elem::Bool {
                read & 1
            } else {
                read
            };
        }
        Ok(lanes)
    }

    pub(super) fn store(&mut self, array: Array, slot: i64, lanes: &Lanes) -> Result<(), Problem> {
        let row = &mut self.rows[array.index()];
        let size = bytes_of(row.elem);
        let start = row.start(slot)?;
        for (lane, &bits) in lanes.iter().take(row.lanes).enumerate() {
            let stored = if row.elem == Elem::Bool {
                bits.wrapping_neg()
            } else {
                bits
            };
            let offset = start + (lane * size) as u64;
            row.memory
                .write(offset, offset, &stored.to_le_bytes()[..size])?;
        }
        Ok(())
    }

    /// Reads by address; `None` if the address is no array's.
    pub(super) fn read(&self, address: u64, bytes: &mut [u8]) -> Option<Result<(), Problem>> {
        let inside = address.checked_sub(PRIVATE)?;
        let row = self.rows.get(usize::try_from(inside / APART).ok()?)?;
        Some(row.memory.read(inside % APART, address, bytes))
    }

    /// Writes by address; `None` if the address is no array's.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Option<Result<(), Problem>> {
        let inside = address.checked_sub(PRIVATE)?;
        let row = self.rows.get_mut(usize::try_from(inside / APART).ok()?)?;
        Some(row.memory.write(inside % APART, address, bytes))
    }
}

impl Row {
    /// Offset of a slot.
    fn start(&self, slot: i64) -> Result<u64, Problem> {
        if slot < 0 || slot >= self.slots {
            return Err(Problem::NoSuchSlot { slot });
        }
        Ok((slot as usize * self.lanes * bytes_of(self.elem)) as u64)
    }
}
