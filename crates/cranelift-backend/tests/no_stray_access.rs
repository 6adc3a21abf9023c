//! Law **no stray access**: every access, at every width, element and number of live lanes, with its buffer against a page
//! that nobody may touch, on either side.

#![allow(unsafe_code, reason = "generated code is called directly")]

mod support;

use support::guarded::{Guarded, Side};
use support::kernels::single;
use support::{executable, record, run};
use xir::{Access, BinaryOp, Builder, ConvertOp, Elem, MemElem, Shape, Value, Verified};

const MEMS: [MemElem; 5] = [
    MemElem::F32,
    MemElem::F64,
    MemElem::I32,
    MemElem::U8,
    MemElem::U16,
];

/// How lanes are kept out by a mask.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Masked {
    /// There is no mask.
    No,
    /// Lanes below a number that the record holds.
    Below,
    /// Every other lane, beginning with lane 0.
    Even,
}

/// How the lanes lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Scalar,
    Contiguous,
    /// This many elements apart.
    Strided(i64),
    /// Last lane first.
    Reversed,
}

/// Which elements lane `lane` of `lanes` touches, from the start of the buffer.
fn element_of(form: Form, lane: u32, lanes: u32) -> i64 {
    match form {
        Form::Scalar => 0,
        Form::Contiguous => i64::from(lane),
        Form::Strided(stride) if stride < 0 => i64::from(lanes - 1 - lane) * -stride,
        Form::Strided(stride) => i64::from(lane) * stride,
        Form::Reversed => i64::from(lanes - 1 - lane),
    }
}

fn access(b: &mut Builder<'_>, form: Form, mem: MemElem, live: u32) -> (Access, i32) {
    let bytes = i64::from(mem.bytes());
    let last = (b.lanes() - 1) as i32 * bytes as i32;
    match form {
        Form::Scalar => (Access::Scalar, 0),
        Form::Contiguous => (Access::Contiguous { live }, 0),
        Form::Strided(stride) => {
            let amount = b.record(3, Elem::I64);
            let start = if stride < 0 { last * -stride as i32 } else { 0 };
            (Access::Strided { stride: amount }, start)
        }
        Form::Reversed => {
            let lane = b.lane_index();
            let lane = b.convert(ConvertOp::I32ToI64, lane);
            let scale = b.splat_i64(-bytes);
            let offsets = b.mul(lane, scale);
            (Access::Gather { offsets }, last)
        }
    }
}

fn mask(b: &mut Builder<'_>, masked: Masked, shape: Shape) -> Option<Value> {
    if masked == Masked::No {
        return None;
    }
    if shape == Shape::Uniform {
        let number = b.record(2, Elem::I32);
        let zero = b.i32(0);
        return Some(b.gt(number, zero));
    }
    let lane = b.lane_index();
    Some(match masked {
        Masked::Below => {
            let number = b.record(2, Elem::I32);
            b.lt(lane, number)
        }
        Masked::Even | Masked::No => {
            let one = b.i32(1);
            let odd = b.and(lane, one);
            let zero = b.i32(0);
            b.eq(odd, zero)
        }
    })
}

/// `y = x`, each with this access; words 0 and 1 are the buffers, 2 the number of lanes the mask lets in, 3 the stride in
/// bytes.
fn copy(lanes: u32, mem: MemElem, form: Form, live: u32, masked: Masked) -> Verified {
    single("copy", lanes, |b| {
        let (x, y) = (b.record(0, Elem::I64), b.record(1, Elem::I64));
        let (access, at) = access(b, form, mem, live);
        let mask = mask(b, masked, access.shape());
        let value = b.load(mem, access, x, at, mask, false);
        b.store(mem, access, y, at, mask, value);
    })
}

fn check(lanes: u32, mem: MemElem, form: Form, live: u32, masked: Masked) {
    let program = copy(lanes, mem, form, live, masked);
    let code = executable(&program);
    let bytes = mem.bytes() as usize;
    let mut counts = vec![lanes as i64];
    if masked == Masked::Below {
        counts = (0..=lanes as i64).collect();
    }
    for below in counts {
        let takes_part = |lane: u32| match (form, masked) {
            (Form::Scalar, Masked::No) => lane == 0,
            (Form::Scalar, _) => lane == 0 && below > 0,
            (_, Masked::No) => lane < live,
            (_, Masked::Below) => lane < live && i64::from(lane) < below,
            (_, Masked::Even) => lane < live && lane.is_multiple_of(2),
        };
        let touched: Vec<i64> = (0..lanes)
            .filter(|&lane| takes_part(lane))
            .map(|lane| element_of(form, lane, lanes))
            .collect();
        // The buffer spans exactly the elements that are touched.
        let first = touched.iter().copied().min().unwrap_or(0);
        let count = touched
            .iter()
            .copied()
            .max()
            .map_or(0, |last| last - first + 1);
        let length = count as usize * bytes;
        let data: Vec<u8> = (0..length).map(|i| (i * 37 + 11) as u8).collect();
        for side in Side::ALL {
            let x = Guarded::copy_of(&data, side);
            let y = Guarded::copy_of(&vec![0xEE; length], side);
            let before_first = (first as usize * bytes) as u64;
            let stride = match form {
                Form::Strided(stride) => stride * bytes as i64,
                _ => 0,
            };
            let words = record(
                None,
                &[
                    x.address().wrapping_sub(before_first),
                    y.address().wrapping_sub(before_first),
                    below as u64,
                    stride as u64,
                ],
            );
            // SAFETY: whatever is touched beyond the buffers faults, which is the test.
            unsafe { run(&code, &words) };
            let mut expected = vec![0xEE; length];
            for element in &touched {
                let at = (element - first) as usize * bytes;
                expected[at..at + bytes].copy_from_slice(&data[at..at + bytes]);
            }
            assert_eq!(
                y.bytes(),
                expected,
                "{mem:?} {form:?} W{lanes} live {live} {masked:?} below {below} {side:?}"
            );
        }
    }
}

#[test]
fn no_stray_access() {
    for lanes in [2, 4, 8, 16] {
        for mem in MEMS {
            check(lanes, mem, Form::Scalar, 1, Masked::No);
            check(lanes, mem, Form::Scalar, 1, Masked::Below);
            for live in 1..=lanes {
                check(lanes, mem, Form::Contiguous, live, Masked::No);
            }
            for live in [1, lanes / 2 + 1, lanes] {
                check(lanes, mem, Form::Contiguous, live, Masked::Below);
                check(lanes, mem, Form::Contiguous, live, Masked::Even);
            }
            for form in [Form::Strided(3), Form::Strided(-2), Form::Reversed] {
                check(lanes, mem, form, lanes, Masked::No);
                check(lanes, mem, form, lanes, Masked::Below);
                check(lanes, mem, form, lanes, Masked::Even);
            }
        }
    }
}

#[test]
fn lanes_that_take_no_part_are_zero() {
    for lanes in [2, 4, 8, 16] {
        for live in 1..=lanes {
            for mem in MEMS {
                let program = single("zeros", lanes, |b| {
                    let (x, y) = (b.record(0, Elem::I64), b.record(1, Elem::I64));
                    let value = b.load(mem, Access::Contiguous { live }, x, 0, None, false);
                    let all = Access::Contiguous { live: b.lanes() };
                    b.store(mem, all, y, 0, None, value);
                });
                let bytes = mem.bytes() as usize;
                let x = vec![0x7fu8; bytes * live as usize];
                let mut y = vec![0xEEu8; bytes * lanes as usize];
                let words = record(None, &[x.as_ptr() as u64, y.as_mut_ptr() as u64]);
                // SAFETY: the buffers are as large as the accesses.
                unsafe { run(&executable(&program), &words) };
                let (loaded, rest) = y.split_at(x.len());
                assert_eq!(loaded, x, "{mem:?} W{lanes} live {live}");
                assert!(
                    rest.iter().all(|&byte| byte == 0),
                    "{mem:?} W{lanes} live {live}"
                );
            }
        }
    }
}

/// P49: an operand in memory is never read wider than it is, whatever instruction it is folded into.
#[test]
fn p49_scalar_operands_are_not_widened() {
    type Apply = fn(&mut Builder<'_>, Value, Value) -> Value;
    let operations: [(&str, Apply, [f32; 2], f32); 12] = [
        ("floor", |b, x, _| b.floor(x), [-0.5, 0.0], -1.0),
        ("nearest", |b, x, _| b.nearest(x), [2.5, 0.0], 2.0),
        ("ceil", |b, x, _| b.ceil(x), [0.25, 0.0], 1.0),
        ("trunc", |b, x, _| b.trunc(x), [-1.75, 0.0], -1.0),
        ("copysign", |b, x, y| b.copysign(x, y), [3.0, -0.0], -3.0),
        ("abs", |b, x, _| b.abs(x), [-2.0, 0.0], 2.0),
        ("neg", |b, x, _| b.neg(x), [2.0, 0.0], -2.0),
        ("sqrt", |b, x, _| b.sqrt(x), [9.0, 0.0], 3.0),
        ("min", |b, x, y| b.min(x, y), [1.0, -1.0], -1.0),
        ("max", |b, x, y| b.max(x, y), [1.0, -1.0], 1.0),
        ("div", |b, x, y| b.div(x, y), [1.0, 4.0], 0.25),
        (
            "bits",
            |b, x, y| {
                let (x, y) = (
                    b.convert(ConvertOp::F32ToBits, x),
                    b.convert(ConvertOp::F32ToBits, y),
                );
                let or = b.binary(BinaryOp::Or, x, y);
                b.convert(ConvertOp::BitsToF32, or)
            },
            [1.0, -0.0],
            -1.0,
        ),
    ];
    for (name, apply, [x, y], expected) in operations {
        for elem in [Elem::F32, Elem::F64] {
            if name == "bits" && elem == Elem::F64 {
                continue;
            }
            let mem = if elem == Elem::F32 {
                MemElem::F32
            } else {
                MemElem::F64
            };
            for splat in [false, true] {
                let program = single("p49", 4, |b| {
                    let addresses = [0, 1, 2].map(|word| b.record(word, Elem::I64));
                    let mut operand = |address| {
                        let value = b.load(mem, Access::Scalar, address, 0, None, false);
                        if splat { b.splat(value) } else { value }
                    };
                    let (x, y) = (operand(addresses[0]), operand(addresses[1]));
                    let value = apply(b, x, y);
                    let value = if splat { b.lane(value, 0) } else { value };
                    b.store(mem, Access::Scalar, addresses[2], 0, None, value);
                });
                let bytes = |value: f32| match elem {
                    Elem::F32 => value.to_le_bytes().to_vec(),
                    _ => f64::from(value).to_le_bytes().to_vec(),
                };
                let buffers = [x, y, 0.0].map(|value| Guarded::copy_of(&bytes(value), Side::End));
                let words = record(None, &[0, 1, 2].map(|i: usize| buffers[i].address()));
                // SAFETY: whatever is touched beyond the buffers faults, which is the test.
                unsafe { run(&executable(&program), &words) };
                assert_eq!(buffers[2].bytes(), bytes(expected), "{name} of {elem}");
            }
        }
    }
}
