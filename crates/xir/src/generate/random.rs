//! Random numbers from a seed, and random contents of buffers.

use super::BUFFER_BYTES;

/// A small generator of random numbers (splitmix64): equal seeds give equal numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        (self.next_bits() % u64::from(bound.max(1))) as u32
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// An f32 that is special half of the time and small otherwise.
    pub fn float(&mut self) -> f32 {
        const SPECIAL: [f32; 16] = [
            0.0,
            0.0,
            -0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            f32::MIN_POSITIVE,
            1e-45,
            -1e-42,
            f32::MAX,
            3e9,
        ];
        if self.once_in(2) {
            self.pick(&SPECIAL)
        } else {
            (self.next_bits() as i32 as f32) / 65536.0 / 4096.0
        }
    }

    /// An i32 that is special half of the time.
    pub fn integer(&mut self) -> i32 {
        const SPECIAL: [i32; 10] = [0, 1, -1, 2, 31, 32, 33, i32::MIN, i32::MAX, -7];
        if self.once_in(2) {
            self.pick(&SPECIAL)
        } else {
            self.next_bits() as i32
        }
    }
}

/// What a generated program is launched with.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Contents of the buffers for words 0 to 3.
    pub buffers: [Vec<u8>; 4],
    /// Words 4, 5 and 6.
    pub scalars: [u64; 3],
}

impl Inputs {
    /// Random contents.
    pub fn random(random: &mut Random) -> Inputs {
        let mut floats = |count: usize| -> Vec<u8> {
            (0..count)
                .flat_map(|_| random.float().to_le_bytes())
                .collect()
        };
        let (first, second) = (floats(BUFFER_BYTES / 4), floats(BUFFER_BYTES / 4));
        let integers = (0..BUFFER_BYTES / 4)
            .flat_map(|_| random.integer().to_le_bytes())
            .collect();
        let doubles = (0..BUFFER_BYTES / 8)
            .flat_map(|_| (f64::from(random.float()) * 1.000_000_1).to_le_bytes())
            .collect();
        let scalars = [
            u64::from(random.below(7)),
            u64::from(random.float().to_bits()),
            random.integer().cast_unsigned().into(),
        ];
        Inputs {
            buffers: [first, second, integers, doubles],
            scalars,
        }
    }
}
