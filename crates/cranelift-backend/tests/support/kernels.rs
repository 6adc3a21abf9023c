//! Programs written by hand. Record words: 0 and 1 of the parameters are the addresses of `x` and `y`, 2 the number of
//! elements, 3 an f32.

use xir::{
    Access, Builder, Elem, Entry, Extent, Inlining, Lanes, MemElem, Program, Type, Value, Verified,
    verify,
};

use super::past_the_hook;

/// A program with one entry of one packet.
pub(crate) fn single(name: &str, lanes: u32, body: impl FnOnce(&mut Builder<'_>)) -> Verified {
    single_in(
        Program::new(name, Lanes::new(lanes).expect("a width")),
        body,
    )
}

/// The same in a program that has arrays or functions already.
pub(crate) fn single_in(mut program: Program, body: impl FnOnce(&mut Builder<'_>)) -> Verified {
    let function = program.add_function("entry", Inlining::Outline);
    let region = program.function(function).body;
    for _ in 0..2 {
        program.add_arg(region, Type::uniform(Elem::I64));
    }
    let mut b = Builder::new(&mut program, function);
    body(&mut b);
    b.finish(Vec::new());
    program.entries.push(Entry {
        function,
        extents: vec![Extent::Fixed(1)],
        programs_per_packet: 1,
    });
    verify(past_the_hook(program)).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn all(b: &Builder<'_>) -> Access {
    Access::Contiguous { live: b.lanes() }
}

/// The address of element `index` of parameter `word`.
pub(crate) fn element(b: &mut Builder<'_>, word: u32, index: Value, bytes: i64) -> Value {
    let base = b.record(word, Elem::I64);
    let offset = b.mul_i64(index, bytes);
    b.add(base, offset)
}

/// `y = x`, `unroll` packets of lanes an iteration, without a tail.
pub(crate) fn copy(lanes: u32, unroll: u32) -> Verified {
    single("copy", lanes, |b| {
        let (x, y, n) = (
            b.record(0, Elem::I64),
            b.record(1, Elem::I64),
            b.record(2, Elem::I64),
        );
        let zero = b.i64(0);
        b.loop_(zero, n, i64::from(lanes * unroll), Vec::new(), |b, i, _| {
            for part in 0..unroll {
                let offset = b.mul_i64(i, 4);
                let (from, to) = (b.add(x, offset), b.add(y, offset));
                let at = (4 * lanes * part) as i32;
                let access = all(b);
                let value = b.load(MemElem::F32, access, from, at, None, false);
                b.store(MemElem::F32, access, to, at, None, value);
            }
            Vec::new()
        });
    })
}

/// `y[0] = sum of x * x` in `partials` accumulators of `lanes` lanes, `unroll` rounds an iteration, merged lane by lane.
pub(crate) fn sum_of_squares(lanes: u32, partials: u32, unroll: u32) -> Verified {
    single("sum_of_squares", lanes, |b| {
        let (x, y, n) = (
            b.record(0, Elem::I64),
            b.record(1, Elem::I64),
            b.record(2, Elem::I64),
        );
        let zero = b.i64(0);
        let inits = (0..partials).map(|_| b.splat_f32(0.0)).collect();
        let step = i64::from(lanes * partials * unroll);
        let sums = b.loop_(zero, n, step, inits, |b, i, carries| {
            let mut carries = carries.to_vec();
            for round in 0..unroll {
                for (partial, carry) in carries.iter_mut().enumerate() {
                    let offset = b.mul_i64(i, 4);
                    let from = b.add(x, offset);
                    let at = 4 * lanes * (round * partials + partial as u32);
                    let access = all(b);
                    let value = b.load(MemElem::F32, access, from, at as i32, None, false);
                    *carry = b.fma(value, value, *carry);
                }
            }
            carries
        });
        let mut total = sums[0];
        for &sum in &sums[1..] {
            total = b.add(total, sum);
        }
        let mut sum = b.lane(total, 0);
        for lane in 1..lanes {
            let lane = b.lane(total, lane);
            sum = b.add(sum, lane);
        }
        b.store(MemElem::F32, Access::Scalar, y, 0, None, sum);
    })
}

/// `y = max(x)` in `partials` accumulators of `lanes` lanes.
pub(crate) fn maximum(lanes: u32, partials: u32) -> Verified {
    single("maximum", lanes, |b| {
        let (x, y, n) = (
            b.record(0, Elem::I64),
            b.record(1, Elem::I64),
            b.record(2, Elem::I64),
        );
        let zero = b.i64(0);
        let inits = (0..partials)
            .map(|_| b.splat_f32(f32::NEG_INFINITY))
            .collect();
        let most = b.loop_(
            zero,
            n,
            i64::from(lanes * partials),
            inits,
            |b, i, carries| {
                let offset = b.mul_i64(i, 4);
                let from = b.add(x, offset);
                carries
                    .iter()
                    .enumerate()
                    .map(|(partial, &carry)| {
                        let at = (4 * lanes) as usize * partial;
                        let access = all(b);
                        let value = b.load(MemElem::F32, access, from, at as i32, None, false);
                        b.max(carry, value)
                    })
                    .collect()
            },
        );
        let total = most
            .into_iter()
            .reduce(|a, c| b.max(a, c))
            .expect("a partial");
        let access = all(b);
        b.store(MemElem::F32, access, y, 0, None, total);
    })
}

/// `y[i] = -|x[i]| / s`, `unroll` packets of lanes an iteration.
pub(crate) fn scale(lanes: u32, unroll: u32) -> Verified {
    single("scale", lanes, |b| {
        let (x, y, n) = (
            b.record(0, Elem::I64),
            b.record(1, Elem::I64),
            b.record(2, Elem::I64),
        );
        let scale = b.record(3, Elem::F32);
        let scale = b.splat(scale);
        let zero = b.i64(0);
        b.loop_(zero, n, i64::from(lanes * unroll), Vec::new(), |b, i, _| {
            let offset = b.mul_i64(i, 4);
            let (from, to) = (b.add(x, offset), b.add(y, offset));
            for part in 0..unroll {
                let at = (4 * lanes * part) as i32;
                let access = all(b);
                let value = b.load(MemElem::F32, access, from, at, None, false);
                let value = b.abs(value);
                let value = b.neg(value);
                let value = b.div(value, scale);
                b.store(MemElem::F32, access, to, at, None, value);
            }
            Vec::new()
        });
    })
}
