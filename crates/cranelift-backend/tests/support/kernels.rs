//! Programs written by hand. Record words: 0 and 1 of the parameters are the addresses of `x` and `y`, 2 the number of
//! elements, 3 an f32.

use xir::{
    Access, ArrayData, Builder, Elem, Entry, Extent, Inlining, Lanes, MemElem, Program, Shape,
    Space, Type, Verified, verify,
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
            let offset = b.mul_i64(i, 4);
            let (from, to) = (b.add(x, offset), b.add(y, offset));
            for part in 0..unroll {
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
            let offset = b.mul_i64(i, 4);
            let from = b.add(x, offset);
            for round in 0..unroll {
                for (partial, carry) in carries.iter_mut().enumerate() {
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

/// P51: private arrays on the stack, of sizes that make offsets large and odd: each is filled, changed at both ends and
/// summed. They are launched as random programs are: word 1 holds a buffer.
pub(crate) fn stack_frames() -> Vec<super::random::Case> {
    let mut random = xir::generate::Random::new(51);
    [1021u32, 1365, 4099, 16387]
        .into_iter()
        .map(|slots| {
            let mut program =
                Program::new(format!("frame{slots}"), Lanes::new(4).expect("a width"));
            let floats = program.add_array(ArrayData {
                name: "floats".into(),
                elem: Elem::F32,
                shape: Shape::Uniform,
                slots,
                space: Space::Stack,
            });
            let flags = program.add_array(ArrayData {
                name: "flags".into(),
                elem: Elem::Bool,
                shape: Shape::Varying,
                slots: 257,
                space: Space::Stack,
            });
            let program = single_in(program, |b| {
                let (zero, count) = (b.i64(0), b.i64(i64::from(slots)));
                b.loop_(zero, count, 1, Vec::new(), |b, i, _| {
                    let number = b.convert(xir::ConvertOp::I64ToI32, i);
                    let number = b.convert(xir::ConvertOp::I32ToF32, number);
                    b.private_store(floats, i, 0, number);
                    Vec::new()
                });
                let yes = b.splat_bool(true);
                let ends = b.f32(0.5);
                b.private_store(floats, zero, slots - 1, ends);
                b.private_store(floats, zero, 0, ends);
                b.private_store(flags, zero, 256, yes);
                let start = b.f32(0.0);
                let sum = b.loop_(zero, count, 1, vec![start], |b, i, carries| {
                    let number = b.private_load(floats, i, 0);
                    vec![b.add(carries[0], number)]
                });
                let flag = b.private_load(flags, zero, 256);
                let any = b.any(flag);
                let none = b.f32(-1.0);
                let sum = b.select(any, sum[0], none);
                let y = b.record(1, Elem::I64);
                b.store(MemElem::F32, Access::Scalar, y, 0, None, sum);
            });
            super::random::Case::new(format!("frame of {slots}"), program, &mut random)
        })
        .collect()
}
