//! Where the choices of a generator come from: a seed, or the bytes of a fuzzer.

/// A sequence of choices. The same seed or bytes give the same choices everywhere.
#[derive(Clone, Debug)]
pub struct Choices {
    state: u64,
    /// Bytes that are used up first; after the last every choice is the first one, so kernels end.
    bytes: Option<Vec<u8>>,
}

impl Choices {
    /// Choices from a seed.
    pub fn from_seed(seed: u64) -> Choices {
        Choices {
            state: seed,
            bytes: None,
        }
    }

    /// Choices from bytes, one or two a choice.
    pub fn from_bytes(bytes: &[u8]) -> Choices {
        Choices {
            state: 0,
            bytes: Some(bytes.iter().rev().copied().collect()),
        }
    }

    /// The next number: SplitMix64 (Steele, Lea, Flood 2014), or the next bytes.
    fn next(&mut self, limit: u32) -> u64 {
        if let Some(bytes) = &mut self.bytes {
            let low = bytes.pop().map_or(0, u64::from);
            return if limit > 256 {
                low << 8 | bytes.pop().map_or(0, u64::from)
            } else {
                low
            };
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 16
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1);
        (self.next(u32::try_from(limit).unwrap_or(u32::MAX)) % limit as u64) as usize
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        // The last choice of exhausted bytes is 0, which must mean the smaller kernel.
        self.below(100) >= 100 - percent.min(100)
    }

    /// One of the items; they may not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
