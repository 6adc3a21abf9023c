//! A hasher that gives the same numbers in every process, so that nothing depends on where a table happens to lie.

use std::hash::Hasher;

/// Mixes words by multiplication, as FxHash does; the constant is 2^64 divided by the golden ratio.
#[derive(Default)]
pub(crate) struct Mixer {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Mixer {
    fn mix(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(GOLDEN);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.state ^ (self.state >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}
