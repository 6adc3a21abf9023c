//! Lanes made of uniform values, taken out, and exchanged.
//!
//! A shuffle moves lanes between chunks, and the targets move words between two registers at a time. So each chunk of the
//! result is built from the few chunks its lanes come from: from one with one instruction; from two with one or two
//! `shufps` on x86 and with `zip`, `uzp`, `trn`, `ext` or a table look-up on aarch64; from three or four by first joining
//! them in pairs.

use cranelift_codegen::ir::{self, InstBuilder, types};
use machine::Architecture;
use xir::{Elem, Value};

use super::Emitter;
use super::chunks::{Chunks, chunk_lanes, chunk_type, held_as};

/// For each 32-bit word of a result: a word of the first operand (0 to 3) or of the second (4 to 7).
type Words = [u8; 4];

impl Emitter<'_> {
    pub(super) fn splat(&mut self, a: Value) -> Chunks {
        let elem = self.program.ty(a).elem;
        let (ty, count) = held_as(xir::Type::varying(elem), self.program.lanes);
        let a = self.scalar(a);
        let chunk = match elem {
            Elem::F32 | Elem::F64 | Elem::I32 => self.b.ins().splat(ty, a),
            Elem::I64 => a,
            Elem::Bool => {
                let mask = self.b.ins().bmask(types::I32, a);
                self.b.ins().splat(ty, mask)
            }
        };
        std::iter::repeat_n(chunk, count).collect()
    }

    /// One lane of a varying value, uniform.
    pub(super) fn lane(&mut self, of: Value, lane: u32) -> ir::Value {
        let elem = self.program.ty(of).elem;
        let chunks = self.chunks(of);
        let value = self.chunk_lane(&chunks, elem, lane);
        match elem {
            Elem::Bool => self.is_set(value),
            Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 => value,
        }
    }

    /// One lane of a varying value as it is held: a truth is 0 or -1 in 32 bits.
    pub(super) fn chunk_lane(&mut self, chunks: &Chunks, elem: Elem, lane: u32) -> ir::Value {
        let per_chunk = chunk_lanes(elem);
        let chunk = chunks[(lane / per_chunk) as usize];
        match elem {
            Elem::I64 => chunk,
            Elem::F32 | Elem::F64 | Elem::I32 | Elem::Bool => {
                self.b.ins().extractlane(chunk, (lane % per_chunk) as u8)
            }
        }
    }

    pub(super) fn build(&mut self, values: &[Value]) -> Chunks {
        let elem = self.program.ty(values[0]).elem;
        let lanes: Vec<ir::Value> = values
            .iter()
            .map(|&value| {
                let value = self.scalar(value);
                match elem {
                    Elem::Bool => self.b.ins().bmask(types::I32, value),
                    Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 => value,
                }
            })
            .collect();
        self.assemble(elem, &lanes)
    }

    /// A varying value from its lanes; a truth is 0 or -1 in 32 bits.
    pub(super) fn assemble(&mut self, elem: Elem, lanes: &[ir::Value]) -> Chunks {
        if elem == Elem::I64 {
            return lanes.iter().copied().collect();
        }
        lanes
            .chunks(chunk_lanes(elem) as usize)
            .map(|lanes| {
                let ty = chunk_type(elem);
                let mut chunk = self.b.ins().scalar_to_vector(ty, lanes[0]);
                for (index, &lane) in lanes.iter().enumerate().skip(1) {
                    chunk = self.b.ins().insertlane(chunk, lane, index as u8);
                }
                chunk
            })
            .collect()
    }

    pub(super) fn shuffle(&mut self, a: Value, b: Value, pattern: &[u8]) -> Chunks {
        let elem = self.program.ty(a).elem;
        let per_chunk = chunk_lanes(elem);
        let (from_a, from_b) = (self.chunks(a), self.chunks(b));
        // Where lane `l` of `a` followed by `b` is: a chunk (those of `b` after those of `a`) and a place in it.
        let source = |lane: u8| {
            let lane = u32::from(lane);
            let (chunks_before, lane) = if lane < self.lanes() {
                (0, lane)
            } else {
                (from_a.len() as u32, lane - self.lanes())
            };
            (chunks_before + lane / per_chunk, lane % per_chunk)
        };
        let chunk = |index: u32| {
            let index = index as usize;
            if index < from_a.len() {
                from_a[index]
            } else {
                from_b[index - from_a.len()]
            }
        };
        let places: Vec<(ir::Value, u32)> = pattern
            .iter()
            .map(|&lane| {
                let (index, place) = source(lane);
                (chunk(index), place)
            })
            .collect();
        if elem == Elem::I64 {
            return places.iter().map(|&(chunk, _)| chunk).collect();
        }
        let words_per_lane = 4 / per_chunk;
        places
            .chunks(per_chunk as usize)
            .map(|lanes| {
                let mut words = Vec::with_capacity(4);
                for &(chunk, place) in lanes {
                    for word in 0..words_per_lane {
                        words.push((chunk, (place * words_per_lane + word) as u8));
                    }
                }
                // Two lanes fill half a chunk; the other half may be anything, a copy is cheap.
                for index in words.len()..4 {
                    words.push(words[index - 2]);
                }
                self.gather_words([words[0], words[1], words[2], words[3]])
            })
            .collect()
    }

    /// A chunk from four words, each of some chunk.
    fn gather_words(&mut self, words: [(ir::Value, u8); 4]) -> ir::Value {
        let mut sources: Vec<ir::Value> = Vec::with_capacity(4);
        for (chunk, _) in words {
            if !sources.contains(&chunk) {
                sources.push(chunk);
            }
        }
        match sources[..] {
            [only] => self.shuffle_words(only, only, words.map(|(_, word)| word)),
            [first, second] => self.shuffle_words(
                first,
                second,
                words.map(|(chunk, word)| if chunk == first { word } else { 4 + word }),
            ),
            _ => {
                // Three or four sources: at most two words come from each pair of them; join the pairs first.
                let (low, low_at) = self.join(&words, &sources[..2]);
                let (high, high_at) = self.join(&words, &sources[2..]);
                let pattern = std::array::from_fn(|i| match (low_at[i], high_at[i]) {
                    (Some(word), _) => word,
                    (None, Some(word)) => 4 + word,
                    (None, None) => 0,
                });
                self.shuffle_words(low, high, pattern)
            }
        }
    }

    /// Puts the words that come from one or two sources into one chunk: the first source's in the low half, the second's in
    /// the high half. Gives the place of each word that is in it.
    fn join(
        &mut self,
        words: &[(ir::Value, u8); 4],
        sources: &[ir::Value],
    ) -> (ir::Value, [Option<u8>; 4]) {
        let mut at = [None; 4];
        let [first, second] = *sources else {
            let only = sources[0];
            for (place, &(chunk, word)) in at.iter_mut().zip(words) {
                *place = (chunk == only).then_some(word);
            }
            return (only, at);
        };
        let mut pattern: Words = [0, 0, 4, 4];
        let mut taken = [0, 0];
        for (place, &(chunk, word)) in at.iter_mut().zip(words) {
            let half = match chunk {
                c if c == first => 0,
                c if c == second => 1,
                _ => continue,
            };
            let slot = 2 * half + taken[half];
            taken[half] += 1;
            pattern[slot] = 4 * half as u8 + word;
            *place = Some(slot as u8);
        }
        (self.shuffle_words(first, second, pattern), at)
    }

    /// Exchanges 32-bit words of two vectors of one type.
    pub(super) fn shuffle_words(&mut self, a: ir::Value, b: ir::Value, words: Words) -> ir::Value {
        let from_a = words.iter().filter(|&&word| word < 4).count();
        match from_a {
            4 if words == [0, 1, 2, 3] => a,
            0 if words == [4, 5, 6, 7] => b,
            4 => self.shuffle_one(a, words),
            0 => self.shuffle_one(b, words.map(|word| word - 4)),
            _ if a == b => self.shuffle_words(a, a, words.map(|word| word % 4)),
            _ => match self.target.architecture() {
                Architecture::Aarch64 => self.shuffle_bytes(a, b, words),
                Architecture::X86_64 => self.shuffle_two_on_x86(a, b, words),
            },
        }
    }

    /// Words of one operand. Where all but one stay and aarch64 has no instruction for the pattern, the one is moved, which
    /// is cheaper than a table look-up.
    fn shuffle_one(&mut self, a: ir::Value, words: Words) -> ir::Value {
        let mut moved = (0..4).filter(|&place| usize::from(words[place]) != place);
        match (self.target.architecture(), moved.next(), moved.next()) {
            (Architecture::Aarch64, Some(place), None) => {
                let ty = self.b.func.dfg.value_type(a);
                let floats = self.as_type(types::F32X4, a);
                let word = self.b.ins().extractlane(floats, words[place]);
                let result = self.b.ins().insertlane(floats, word, place as u8);
                self.as_type(ty, result)
            }
            (Architecture::Aarch64 | Architecture::X86_64, _, _) => self.shuffle_bytes(a, a, words),
        }
    }

    /// Words of both operands with at most two instructions. `shufps` takes its low half from one register and its high
    /// half from another; what is not of this form is made so by a first one.
    fn shuffle_two_on_x86(&mut self, a: ir::Value, b: ir::Value, words: Words) -> ir::Value {
        if is_one_instruction_on_x86(words) {
            return self.shuffle_bytes(a, b, words);
        }
        let places_of = |of_b: bool| (0..4).filter(move |&i| (words[i] >= 4) == of_b);
        let (a_places, b_places): (Vec<usize>, Vec<usize>) =
            (places_of(false).collect(), places_of(true).collect());
        match (&a_places[..], &b_places[..]) {
            // Two of each: collect them in halves, then put them in order.
            (&[a0, a1], &[b0, b1]) => {
                let joined = self.shuffle_bytes(a, b, [words[a0], words[a1], words[b0], words[b1]]);
                let mut order: Words = [0; 4];
                for (slot, place) in [a0, a1, b0, b1].into_iter().enumerate() {
                    order[place] = slot as u8;
                }
                self.shuffle_bytes(joined, joined, order)
            }
            // One of one and three of the other: bring the one and its neighbour in the half together first.
            (&[single], _) => self.shuffle_three_and_one(b, a, words.map(|w| (w + 4) % 8), single),
            (_, &[single]) => self.shuffle_three_and_one(a, b, words, single),
            _ => self.shuffle_bytes(a, b, words),
        }
    }

    /// Three words of `many` and, at place `single`, one of `other`.
    fn shuffle_three_and_one(
        &mut self,
        many: ir::Value,
        other: ir::Value,
        words: Words,
        single: usize,
    ) -> ir::Value {
        let neighbour = single ^ 1;
        // Word 0 of the pair is the neighbour, word 2 the single one.
        let pair = self.shuffle_bytes(
            many,
            other,
            [
                words[neighbour],
                words[neighbour],
                words[single],
                words[single],
            ],
        );
        let mut order = words;
        let in_pair = |place: usize| if place == single { 2 } else { 0 };
        if single < 2 {
            // pair in the low half, `many` in the high half.
            order[0] = in_pair(0);
            order[1] = in_pair(1);
            order[2] = 4 + words[2];
            order[3] = 4 + words[3];
            self.shuffle_bytes(pair, many, order)
        } else {
            order[2] = 4 + in_pair(2);
            order[3] = 4 + in_pair(3);
            self.shuffle_bytes(many, pair, order)
        }
    }

    /// Cranelift's shuffle, which speaks of bytes.
    fn shuffle_bytes(&mut self, a: ir::Value, b: ir::Value, words: Words) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        let mask: Vec<u8> = words
            .iter()
            .flat_map(|&word| (0..4).map(move |byte| 4 * word + byte))
            .collect();
        self.shuffle_by(ty, a, b, &mask)
    }

    /// Any exchange of bytes; the result has type `ty`.
    pub(super) fn shuffle_by(
        &mut self,
        ty: ir::Type,
        a: ir::Value,
        b: ir::Value,
        mask: &[u8],
    ) -> ir::Value {
        let first = self.as_type(types::I8X16, a);
        let second = if a == b {
            first
        } else {
            self.as_type(types::I8X16, b)
        };
        let mask = self.b.func.dfg.immediates.push(mask.into());
        let bytes = self.b.ins().shuffle(first, second, mask);
        self.as_type(ty, bytes)
    }
}

/// Whether Cranelift has one x86 instruction for words of both operands: `shufps` either way round, the unpacks, `palignr`
/// and `pblendw`.
fn is_one_instruction_on_x86(words: Words) -> bool {
    let of_b = words.map(|word| word >= 4);
    let blend = (0..4).all(|i| usize::from(words[i] % 4) == i);
    let consecutive = (1..4).all(|i| words[i] == words[0] + i as u8);
    of_b == [false, false, true, true]
        || of_b == [true, true, false, false]
        || words == [0, 4, 1, 5]
        || words == [2, 6, 3, 7]
        || blend
        || consecutive
}
