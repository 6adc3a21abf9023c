//! Masked loads and stores: lanes whose mask is clear touch nothing and load zero.
//!
//! Neither NEON nor 128-bit AVX code as Cranelift emits it has masked moves, so the mask is asked. If every lane is set,
//! the common case, the access is a whole one; else each lane is asked in turn, out of the way in cold blocks. A mask
//! known here is not asked at all.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
use xir::{Access, Constant, MemElem, Shape, Value};

use super::Emitter;
use super::chunks::{Chunks, chunk_lanes, held_as};
use super::memory::Address;
use super::survey::{BlockArgs, constant_of};

/// What is known of a mask.
enum Mask {
    /// Every lane takes part.
    All,
    /// No lane does.
    Nothing,
    /// It is asked when the code runs.
    Asked(Value),
}

impl Emitter<'_> {
    fn mask(&self, mask: Option<Value>) -> Mask {
        let Some(mask) = mask else {
            return Mask::All;
        };
        match constant_of(self.program, mask) {
            Some(Constant::Bool(true)) => Mask::All,
            Some(Constant::Bool(false)) => Mask::Nothing,
            _ => Mask::Asked(mask),
        }
    }

    pub(super) fn load(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Address,
        mask: Option<Value>,
        flags: MemFlagsData,
    ) -> Chunks {
        let mask = match self.mask(mask) {
            Mask::All => return self.load_unmasked(mem, access, address, flags),
            Mask::Nothing => return self.zeros(mem, access.shape()),
            Mask::Asked(mask) => mask,
        };
        let all = self.condition_of(mask, access.shape());
        let (whole, partly, merge) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let ty = xir::Type {
            elem: mem.elem(),
            shape: access.shape(),
        };
        let (held, count) = held_as(ty, self.program.lanes);
        for _ in 0..count {
            self.b.append_block_param(merge, held);
        }
        self.b.ins().brif(all, whole, &[], partly, &[]);

        self.b.switch_to_block(whole);
        let chunks = self.load_unmasked(mem, access, address, flags);
        self.jump(merge, &chunks);

        self.b.set_cold_block(partly);
        self.b.switch_to_block(partly);
        let mut chunks = self.zeros(mem, access.shape());
        if access.shape() == Shape::Varying {
            let masks = self.chunks(mask);
            let addresses = self.lane_addresses(mem, access, address);
            for (lane, address) in addresses.into_iter().enumerate() {
                let lane = lane as u32;
                let index = (lane / chunk_lanes(mem.elem())) as usize;
                let (set, next) = (self.b.create_block(), self.b.create_block());
                self.b.set_cold_block(set);
                self.b.set_cold_block(next);
                let chunk = self.b.append_block_param(next, held);
                let truth = self.chunk_lane(&masks, xir::Elem::Bool, lane);
                let kept: BlockArgs = vec![chunks[index].into()];
                self.b.ins().brif(truth, set, &[], next, &kept);
                self.b.switch_to_block(set);
                let element = self.load_element(mem, address, flags);
                let filled = self.insert_lane(chunks[index], mem.elem(), lane, element);
                self.b.ins().jump(next, &[filled.into()]);
                self.b.switch_to_block(next);
                chunks.set(index, chunk);
            }
        }
        self.jump(merge, &chunks);

        self.b.switch_to_block(merge);
        self.b.block_params(merge).iter().copied().collect()
    }

    pub(super) fn store(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Address,
        mask: Option<Value>,
        value: Value,
    ) {
        let mask = match self.mask(mask) {
            Mask::All => return self.store_unmasked(mem, access, address, value),
            Mask::Nothing => return,
            Mask::Asked(mask) => mask,
        };
        let all = self.condition_of(mask, access.shape());
        let (whole, merge) = (self.b.create_block(), self.b.create_block());
        let partly = match access.shape() {
            Shape::Uniform => merge,
            Shape::Varying => self.b.create_block(),
        };
        self.b.ins().brif(all, whole, &[], partly, &[]);

        self.b.switch_to_block(whole);
        self.store_unmasked(mem, access, address, value);
        self.b.ins().jump(merge, &[]);

        if access.shape() == Shape::Varying {
            self.b.set_cold_block(partly);
            self.b.switch_to_block(partly);
            let (masks, chunks) = (self.chunks(mask), self.chunks(value));
            let addresses = self.lane_addresses(mem, access, address);
            for (lane, address) in addresses.into_iter().enumerate() {
                let lane = lane as u32;
                let (set, next) = (self.b.create_block(), self.b.create_block());
                self.b.set_cold_block(set);
                self.b.set_cold_block(next);
                let truth = self.chunk_lane(&masks, xir::Elem::Bool, lane);
                self.b.ins().brif(truth, set, &[], next, &[]);
                self.b.switch_to_block(set);
                let element = self.chunk_lane(&chunks, mem.elem(), lane);
                self.store_element(mem, element, address);
                self.b.ins().jump(next, &[]);
                self.b.switch_to_block(next);
            }
            self.b.ins().jump(merge, &[]);
        }
        self.b.switch_to_block(merge);
    }

    /// Whether all lanes take part; of a uniform mask, whether it holds.
    fn condition_of(&mut self, mask: Value, shape: Shape) -> cranelift_codegen::ir::Value {
        match shape {
            Shape::Uniform => self.scalar(mask),
            Shape::Varying => self.every(mask),
        }
    }

    fn zeros(&mut self, mem: MemElem, shape: Shape) -> Chunks {
        let ty = xir::Type {
            elem: mem.elem(),
            shape,
        };
        let (held, count) = held_as(ty, self.program.lanes);
        let zero = self.zero(held);
        std::iter::repeat_n(zero, count).collect()
    }

    pub(super) fn jump(
        &mut self,
        block: cranelift_codegen::ir::Block,
        chunks: &[cranelift_codegen::ir::Value],
    ) {
        let args: BlockArgs = chunks.iter().map(|&chunk| chunk.into()).collect();
        self.b.ins().jump(block, &args);
    }
}
