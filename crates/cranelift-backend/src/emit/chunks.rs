//! How a value of the program is held: in which machine types, and in how many of them.
//!
//! A packet has 2 to 16 lanes and a register 128 bits. So a varying value is a list of chunks, lane 0 first: four lanes of
//! f32, i32 or bool to a chunk (two lanes fill the low half of one, and what is in the high half means nothing), two lanes
//! of f64, one lane of i64. A lane mask is 0 or -1 in 32 bits. A uniform value is one scalar; a condition is an i8, 0 or 1.

use std::ops::Deref;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::{self, types};
use xir::{Elem, Lanes, Shape, Type};

/// Most chunks a value has: 16 lanes of i64.
const MOST: usize = 16;

/// The chunks of one value.
#[derive(Clone, Copy)]
pub(crate) struct Chunks {
    values: [ir::Value; MOST],
    len: u8,
}

impl Chunks {
    /// No chunks yet.
    pub(crate) fn new() -> Chunks {
        Chunks {
            values: [ir::Value::new(0); MOST],
            len: 0,
        }
    }

    /// One chunk.
    pub(crate) fn one(value: ir::Value) -> Chunks {
        let mut chunks = Chunks::new();
        chunks.push(value);
        chunks
    }

    /// Adds a chunk at the end.
    pub(crate) fn push(&mut self, value: ir::Value) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    /// Replaces one chunk.
    pub(crate) fn set(&mut self, index: usize, value: ir::Value) {
        self.values[..usize::from(self.len)][index] = value;
    }
}

impl Deref for Chunks {
    type Target = [ir::Value];

    fn deref(&self) -> &[ir::Value] {
        &self.values[..usize::from(self.len)]
    }
}

impl FromIterator<ir::Value> for Chunks {
    fn from_iter<I: IntoIterator<Item = ir::Value>>(iter: I) -> Chunks {
        let mut chunks = Chunks::new();
        iter.into_iter().for_each(|value| chunks.push(value));
        chunks
    }
}

/// The machine type of one lane, alone in a register.
pub(crate) fn scalar_type(elem: Elem) -> ir::Type {
    match elem {
        Elem::F32 => types::F32,
        Elem::F64 => types::F64,
        Elem::I32 => types::I32,
        Elem::I64 => types::I64,
        Elem::Bool => types::I8,
    }
}

/// The machine type of one lane inside a varying value.
pub(crate) fn lane_type(elem: Elem) -> ir::Type {
    match elem {
        Elem::Bool => types::I32,
        Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 => scalar_type(elem),
    }
}

/// The machine type of a chunk of a varying value.
pub(crate) fn chunk_type(elem: Elem) -> ir::Type {
    match elem {
        Elem::F32 => types::F32X4,
        Elem::F64 => types::F64X2,
        Elem::I32 | Elem::Bool => types::I32X4,
        Elem::I64 => types::I64,
    }
}

/// How many lanes a chunk has.
pub(crate) fn chunk_lanes(elem: Elem) -> u32 {
    match elem {
        Elem::F32 | Elem::I32 | Elem::Bool => 4,
        Elem::F64 => 2,
        Elem::I64 => 1,
    }
}

/// The machine type of each chunk of a value, and how many there are.
pub(crate) fn held_as(ty: Type, lanes: Lanes) -> (ir::Type, usize) {
    match ty.shape {
        Shape::Uniform => (scalar_type(ty.elem), 1),
        Shape::Varying => (
            chunk_type(ty.elem),
            lanes.get().div_ceil(chunk_lanes(ty.elem)) as usize,
        ),
    }
}

/// Bytes of one lane in a private array: four for f32, i32 and bool, eight for f64 and i64.
pub(crate) fn private_lane_bytes(elem: Elem) -> u32 {
    match elem {
        Elem::F32 | Elem::I32 | Elem::Bool => 4,
        Elem::F64 | Elem::I64 => 8,
    }
}

/// Bytes of one slot of a private array.
pub(crate) fn slot_bytes(elem: Elem, shape: Shape, lanes: Lanes) -> u32 {
    match shape {
        Shape::Uniform => private_lane_bytes(elem),
        Shape::Varying => private_lane_bytes(elem) * lanes.get(),
    }
}
