//! Private arrays: a slot is one value, or the lanes of one in order.

use cranelift_codegen::ir::{self, InstBuilder, types};
use xir::{Array, Elem, MemElem, Shape, Value};

use super::chunks::{Chunks, chunk_lanes, private_lane_bytes, slot_bytes};
use super::memory::Address;
use super::survey::i64_of;
use super::{Emitter, Place, plain};

impl Emitter<'_> {
    pub(super) fn private_address(&mut self, array: Array) -> ir::Value {
        match self.places[array.index()] {
            Place::Stack(_, Some(base)) | Place::Worker(_, Some(base)) => base,
            Place::Stack(slot, None) => self.b.ins().stack_addr(types::I64, slot, 0),
            Place::Worker(offset, None) => self.add_bytes(self.worker, offset as i64),
            Place::Nowhere => unreachable!("the survey saw every use of {array}"),
        }
    }

    /// Where slot `slot + offset` begins.
    fn slot(&mut self, array: Array, slot: Value, offset: u32) -> Address {
        let data = self.program.array(array);
        let bytes = slot_bytes(data.elem, data.shape, self.program.lanes);
        let fixed = i64::from(offset) * i64::from(bytes);
        if let Some(slot) = i64_of(self.program, slot) {
            let at = fixed + slot * i64::from(bytes);
            return match self.places[array.index()] {
                Place::Stack(stack, _) => match i32::try_from(at) {
                    Ok(at) => Address::new(self.b.ins().stack_addr(types::I64, stack, at), 0),
                    Err(_) => {
                        let base = self.b.ins().stack_addr(types::I64, stack, 0);
                        Address::new(base, at)
                    }
                },
                Place::Worker(_, Some(base)) => Address::new(base, at),
                Place::Worker(offset, None) => Address::new(self.worker, offset as i64 + at),
                Place::Nowhere => unreachable!("the survey saw every use of {array}"),
            };
        }
        let known = |&&(of, at, _): &&(Array, Value, ir::Value)| (of, at) == (array, slot);
        if let Some(&(_, _, begin)) = self.slots.iter().find(known) {
            return Address::new(begin, fixed);
        }
        let base = self.private_address(array);
        let scaled = self.shifted(slot, bytes.trailing_zeros());
        let begin = self.b.ins().iadd(base, scaled);
        if !self.folds_sums() {
            let begin = self.hide(begin);
            self.slots.push((array, slot, begin));
            return Address::new(begin, fixed);
        }
        Address::new(begin, fixed)
    }

    /// A uniform i64 shifted left by a constant, made once for all that use it: arrays with slots of one size, and addresses.
    pub(super) fn shifted(&mut self, number: Value, shift: u32) -> ir::Value {
        let known = |&&(of, by, _): &&(Value, u32, ir::Value)| (of, by) == (number, shift);
        if let Some(&(_, _, shifted)) = self.shifted.iter().find(known) {
            return shifted;
        }
        let unshifted = self.scalar(number);
        let amount = self.int(types::I64, i64::from(shift));
        let shifted = self.b.ins().ishl(unshifted, amount);
        self.shifted.push((number, shift, shifted));
        shifted
    }

    pub(super) fn private_load(&mut self, array: Array, slot: Value, offset: u32) -> Chunks {
        let data = self.program.array(array);
        let (elem, shape) = (data.elem, data.shape);
        let address = self.slot(array, slot, offset);
        match shape {
            Shape::Uniform => Chunks::one(self.load_private_scalar(elem, address)),
            Shape::Varying => match mem_elem(elem) {
                Some(mem) => {
                    let per_chunk = chunk_lanes(elem);
                    (0..self.lanes().div_ceil(per_chunk))
                        .map(|chunk| {
                            let first = chunk * per_chunk;
                            let count = (self.lanes() - first).min(per_chunk);
                            let at = address.plus(i64::from(first * mem.bytes()));
                            self.load_chunk(mem, count, at, plain())
                        })
                        .collect()
                }
                None => (0..self.lanes())
                    .map(|lane| {
                        self.load_type(types::I64, address.plus(8 * i64::from(lane)), plain())
                    })
                    .collect(),
            },
        }
    }

    fn load_private_scalar(&mut self, elem: Elem, address: Address) -> ir::Value {
        match elem {
            Elem::Bool => {
                let mask = self.load_type(types::I32, address, plain());
                self.is_set(mask)
            }
            Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 => {
                self.load_type(super::chunks::scalar_type(elem), address, plain())
            }
        }
    }

    pub(super) fn private_store(&mut self, array: Array, slot: Value, offset: u32, value: Value) {
        let data = self.program.array(array);
        let (elem, shape) = (data.elem, data.shape);
        let address = self.slot(array, slot, offset);
        let chunks = self.chunks(value);
        match shape {
            Shape::Uniform => {
                let value = match elem {
                    Elem::Bool => self.b.ins().bmask(types::I32, chunks[0]),
                    Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 => chunks[0],
                };
                self.store_value(value, address);
            }
            Shape::Varying => {
                let per_chunk = chunk_lanes(elem);
                for (index, &chunk) in chunks.iter().enumerate() {
                    let first = index as u32 * per_chunk;
                    let at = address.plus(i64::from(first * private_lane_bytes(elem)));
                    match mem_elem(elem) {
                        Some(mem) => {
                            let count = (self.lanes() - first).min(per_chunk);
                            self.store_chunk(mem, count, at, chunk);
                        }
                        None => self.store_value(chunk, at),
                    }
                }
            }
        }
    }
}

/// How the lanes of a slot lie in memory; i64 lanes are scalars of their own.
fn mem_elem(elem: Elem) -> Option<MemElem> {
    match elem {
        Elem::F32 => Some(MemElem::F32),
        Elem::F64 => Some(MemElem::F64),
        Elem::I32 | Elem::Bool => Some(MemElem::I32),
        Elem::I64 => None,
    }
}
