//! Loads and stores of the caller's memory, each touching exactly the elements it names.
//!
//! A vector load past the end of a row may cross into a page that isn't there, so a chunk with fewer live lanes than it
//! has is read in pieces of eight and four bytes, and lanes that are far apart are read one by one.

use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use machine::Architecture;
use xir::{Access, Elem, MemElem, Value};

use super::chunks::{Chunks, chunk_lanes, chunk_type, lane_type};
use super::{Emitter, plain};

/// An address: a register and bytes from it.
#[derive(Clone, Copy)]
pub(super) struct Address {
    base: ir::Value,
    offset: i64,
}

impl Address {
    pub(super) fn new(base: ir::Value, offset: i64) -> Address {
        Address { base, offset }
    }

    /// The address this many bytes on.
    pub(super) fn plus(self, bytes: i64) -> Address {
        Address {
            base: self.base,
            offset: self.offset + bytes,
        }
    }
}

impl Emitter<'_> {
    pub(super) fn address_of(&mut self, address: Value, displacement: i32) -> Address {
        Address::new(self.scalar(address), i64::from(displacement))
    }

    /// A sum at which several accesses begin, on aarch64 in a register.
    ///
    /// Cranelift folds a sum into each access it can, which x86 does for nothing. An access of aarch64 takes an index or
    /// an offset but not both, so some accesses would fold what others need made anyway. A cast that costs nothing hides
    /// the sum from it.
    pub(super) fn shared_address(&mut self, sum: Value, chunks: Chunks) -> Chunks {
        let uniform_i64 = self.program.ty(sum) == xir::Type::uniform(Elem::I64);
        match &chunks[..] {
            &[address]
                if uniform_i64 && !self.folds_sums() && self.values.accesses[sum.index()] > 1 =>
            {
                Chunks::one(self.hide(address))
            }
            _ => chunks,
        }
    }

    /// Whether an access takes a sum and an offset at once.
    pub(super) fn folds_sums(&self) -> bool {
        match self.target.architecture() {
            Architecture::X86_64 => true,
            Architecture::Aarch64 => false,
        }
    }

    /// The same address, of which Cranelift doesn't see how it was made.
    pub(super) fn hide(&mut self, address: ir::Value) -> ir::Value {
        self.b
            .ins()
            .bitcast(types::I64, MemFlagsData::new(), address)
    }

    /// Base and offset as an instruction takes them.
    fn operand(&mut self, address: Address) -> (ir::Value, i32) {
        match i32::try_from(address.offset) {
            Ok(offset) => (address.base, offset),
            Err(_) => (self.add_bytes(address.base, address.offset), 0),
        }
    }

    pub(super) fn load_type(
        &mut self,
        ty: ir::Type,
        address: Address,
        flags: MemFlagsData,
    ) -> ir::Value {
        let (base, offset) = self.operand(address);
        self.b.ins().load(ty, flags, base, offset)
    }

    pub(super) fn store_value(&mut self, value: ir::Value, address: Address) {
        let (base, offset) = self.operand(address);
        self.b.ins().store(plain(), value, base, offset);
    }

    /// One element as a lane holds it.
    pub(super) fn load_element(
        &mut self,
        mem: MemElem,
        address: Address,
        flags: MemFlagsData,
    ) -> ir::Value {
        let (base, offset) = self.operand(address);
        match mem {
            MemElem::F32 => self.b.ins().load(types::F32, flags, base, offset),
            MemElem::F64 => self.b.ins().load(types::F64, flags, base, offset),
            MemElem::I32 => self.b.ins().load(types::I32, flags, base, offset),
            MemElem::U8 => self.b.ins().uload8(types::I32, flags, base, offset),
            MemElem::U16 => self.b.ins().uload16(types::I32, flags, base, offset),
        }
    }

    pub(super) fn store_element(&mut self, mem: MemElem, value: ir::Value, address: Address) {
        let (base, offset) = self.operand(address);
        match mem {
            MemElem::F32 | MemElem::F64 | MemElem::I32 => {
                self.b.ins().store(plain(), value, base, offset);
            }
            MemElem::U8 => {
                self.b.ins().istore8(plain(), value, base, offset);
            }
            MemElem::U16 => {
                self.b.ins().istore16(plain(), value, base, offset);
            }
        }
    }

    /// Reads every lane that takes part by its access alone.
    pub(super) fn load_unmasked(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Address,
        flags: MemFlagsData,
    ) -> Chunks {
        match access {
            Access::Scalar => Chunks::one(self.load_element(mem, address, flags)),
            Access::Contiguous { live } => self.load_contiguous(mem, live, address, flags),
            Access::Strided { .. } | Access::Gather { .. } => {
                let lanes: Vec<ir::Value> = self
                    .lane_addresses(mem, access, address)
                    .into_iter()
                    .map(|address| self.load_element(mem, address, flags))
                    .collect();
                self.assemble(mem.elem(), &lanes)
            }
        }
    }

    /// Writes every lane that takes part by its access alone.
    pub(super) fn store_unmasked(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Address,
        value: Value,
    ) {
        match access {
            Access::Scalar => {
                let value = self.scalar(value);
                self.store_element(mem, value, address);
            }
            Access::Contiguous { live } => self.store_contiguous(mem, live, address, value),
            Access::Strided { .. } | Access::Gather { .. } => {
                let chunks = self.chunks(value);
                let addresses = self.lane_addresses(mem, access, address);
                for (lane, address) in addresses.into_iter().enumerate() {
                    let lane = self.chunk_lane(&chunks, mem.elem(), lane as u32);
                    self.store_element(mem, lane, address);
                }
            }
        }
    }

    /// Where each lane that takes part goes.
    pub(super) fn lane_addresses(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Address,
    ) -> Vec<Address> {
        let lanes = self.lanes();
        match access {
            Access::Scalar => vec![address],
            Access::Contiguous { live } => (0..live.min(lanes))
                .map(|lane| address.plus(i64::from(lane) * i64::from(mem.bytes())))
                .collect(),
            Access::Strided { stride } => {
                if let Some(stride) = super::survey::i64_of(self.program, stride)
                    && stride.unsigned_abs() < 1 << 26
                {
                    return (0..lanes)
                        .map(|lane| address.plus(i64::from(lane) * stride))
                        .collect();
                }
                let stride = self.scalar(stride);
                let mut base = address.base;
                (0..lanes)
                    .map(|lane| {
                        if lane > 0 {
                            base = self.b.ins().iadd(base, stride);
                        }
                        Address::new(base, address.offset)
                    })
                    .collect()
            }
            Access::Gather { offsets } => {
                let offsets = self.chunks(offsets);
                offsets
                    .iter()
                    .map(|&offset| {
                        let base = self.b.ins().iadd(address.base, offset);
                        Address::new(base, address.offset)
                    })
                    .collect()
            }
        }
    }

    fn load_contiguous(
        &mut self,
        mem: MemElem,
        live: u32,
        address: Address,
        flags: MemFlagsData,
    ) -> Chunks {
        let per_chunk = chunk_lanes(mem.elem());
        (0..self.lanes().div_ceil(per_chunk))
            .map(|chunk| {
                let first = chunk * per_chunk;
                let count = live.saturating_sub(first).min(per_chunk);
                let address = address.plus(i64::from(first) * i64::from(mem.bytes()));
                self.load_chunk(mem, count, address, flags)
            })
            .collect()
    }

    /// The first `count` lanes of a chunk; the others are zero.
    pub(super) fn load_chunk(
        &mut self,
        mem: MemElem,
        count: u32,
        address: Address,
        flags: MemFlagsData,
    ) -> ir::Value {
        let ty = chunk_type(mem.elem());
        match (mem, count) {
            (_, 0) => self.zero(ty),
            (MemElem::F32 | MemElem::I32, 4) | (MemElem::F64, 2) => {
                self.load_type(ty, address, flags)
            }
            (MemElem::F32 | MemElem::I32, 2 | 3) => {
                let low = self.load_type(types::F64, address, flags);
                let low = self.b.ins().scalar_to_vector(types::F64X2, low);
                let low = self.as_type(ty, low);
                if count == 2 {
                    return low;
                }
                let third = self.load_type(lane_type(mem.elem()), address.plus(8), flags);
                self.b.ins().insertlane(low, third, 2)
            }
            (MemElem::U8, 4) => {
                let bytes = self.load_type(types::I32, address, flags);
                let bytes = self.b.ins().scalar_to_vector(types::I32X4, bytes);
                let bytes = self.as_type(types::I8X16, bytes);
                let halves = self.b.ins().uwiden_low(bytes);
                self.b.ins().uwiden_low(halves)
            }
            (MemElem::U16, 4) => {
                let (base, offset) = self.operand(address);
                self.b.ins().uload16x4(flags, base, offset)
            }
            (MemElem::F32 | MemElem::I32 | MemElem::F64 | MemElem::U8 | MemElem::U16, _) => {
                let mut chunk = None;
                for lane in 0..count {
                    let at = address.plus(i64::from(lane) * i64::from(mem.bytes()));
                    let element = self.load_element(mem, at, flags);
                    chunk = Some(match chunk {
                        None => self.b.ins().scalar_to_vector(ty, element),
                        Some(chunk) => self.b.ins().insertlane(chunk, element, lane as u8),
                    });
                }
                chunk.unwrap_or_else(|| self.zero(ty))
            }
        }
    }

    fn store_contiguous(&mut self, mem: MemElem, live: u32, address: Address, value: Value) {
        let per_chunk = chunk_lanes(mem.elem());
        let chunks = self.chunks(value);
        let mut chunk = 0;
        while chunk * per_chunk < live {
            let first = chunk * per_chunk;
            let count = (live - first).min(per_chunk);
            let address = address.plus(i64::from(first) * i64::from(mem.bytes()));
            let one = chunks[chunk as usize];
            if self.pairs_halves() && mem == MemElem::U16 && live - first >= 2 * per_chunk {
                let joined = self.low_halves(one, chunks[chunk as usize + 1]);
                self.store_value(joined, address);
                chunk += 2;
            } else {
                self.store_chunk(mem, count, address, one);
                chunk += 1;
            }
        }
    }

    /// Whether the low halves of two vectors join in one instruction.
    fn pairs_halves(&self) -> bool {
        self.target.architecture() == Architecture::Aarch64
    }

    /// The low 16 bits of each lane of two vectors.
    fn low_halves(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        let mask: Vec<u8> = (0..8).flat_map(|lane| [4 * lane, 4 * lane + 1]).collect();
        self.shuffle_by(types::I16X8, a, b, &mask)
    }

    /// The first `count` lanes of a chunk.
    pub(super) fn store_chunk(
        &mut self,
        mem: MemElem,
        count: u32,
        address: Address,
        chunk: ir::Value,
    ) {
        match (mem, count) {
            (_, 0) => {}
            (MemElem::F32 | MemElem::I32, 4) | (MemElem::F64, 2) => {
                self.store_value(chunk, address);
            }
            (MemElem::F32 | MemElem::I32, 2 | 3) => {
                self.store_low_half(chunk, address);
                if count == 3 {
                    let third = self.b.ins().extractlane(chunk, 2);
                    self.store_value(third, address.plus(8));
                }
            }
            (MemElem::U8, 4) => {
                let packed = match self.target.architecture() {
                    Architecture::Aarch64 => {
                        let halves = self.low_halves(chunk, chunk);
                        let even: Vec<u8> = (0..16).map(|byte| 2 * byte).collect();
                        self.shuffle_by(types::I32X4, halves, halves, &even)
                    }
                    Architecture::X86_64 => {
                        let bytes: Vec<u8> = (0..16).map(|byte| 4 * (byte % 4)).collect();
                        self.shuffle_by(types::I32X4, chunk, chunk, &bytes)
                    }
                };
                let packed = self.b.ins().extractlane(packed, 0);
                self.store_value(packed, address);
            }
            (MemElem::U16, 4) => {
                let packed = self.low_halves(chunk, chunk);
                self.store_low_half(packed, address);
            }
            (MemElem::F32 | MemElem::I32 | MemElem::F64 | MemElem::U8 | MemElem::U16, _) => {
                for lane in 0..count {
                    let element = self.b.ins().extractlane(chunk, lane as u8);
                    let at = address.plus(i64::from(lane) * i64::from(mem.bytes()));
                    self.store_element(mem, element, at);
                }
            }
        }
    }

    fn store_low_half(&mut self, chunk: ir::Value, address: Address) {
        let halves = self.as_type(types::F64X2, chunk);
        let low = self.b.ins().extractlane(halves, 0);
        self.store_value(low, address);
    }

    /// The chunk that lane `lane` of an element is in, with that lane replaced.
    pub(super) fn insert_lane(
        &mut self,
        chunk: ir::Value,
        elem: Elem,
        lane: u32,
        value: ir::Value,
    ) -> ir::Value {
        self.b
            .ins()
            .insertlane(chunk, value, (lane % chunk_lanes(elem)) as u8)
    }
}
