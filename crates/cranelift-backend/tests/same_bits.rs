//! Law **same bits**: generated code gives the bits of the interpreter, over random programs with every operation.

#![allow(unsafe_code, reason = "generated code is called directly")]

mod support;

use std::ffi::c_void;

use reference::xir_interpreter::{Buffers, Launch, Memory};
use support::{executable, past_the_hook, record, run};
use xir::generate::{Inputs, Random, program};
use xir::verify;

/// One call of the hook: number, first program, count of programs.
type HookCall = (u32, u64, u64);

unsafe extern "C" fn remember(context: *mut c_void, id: u32, first: u64, count: u64) {
    // SAFETY: the test passes a vector that outlives the run.
    unsafe { &mut *context.cast::<Vec<HookCall>>() }.push((id, first, count));
}

/// Bytes before and after each buffer that nobody may touch.
const MARGIN: usize = 64;

/// Equal, where any NaN is equal to any NaN: buffers 0 and 1 hold f32, 2 i32, 3 f64.
fn differs(buffer: usize, a: &[u8], b: &[u8]) -> Option<usize> {
    let step = if buffer == 3 { 8 } else { 4 };
    (0..a.len()).step_by(step).find(|&at| {
        let (a, b) = (&a[at..at + step], &b[at..at + step]);
        let both_nan = match buffer {
            2 => false,
            3 => [a, b].iter().all(|bytes| {
                f64::from_le_bytes((*bytes).try_into().expect("eight bytes")).is_nan()
            }),
            _ => [a, b]
                .iter()
                .all(|bytes| f32::from_le_bytes((*bytes).try_into().expect("four bytes")).is_nan()),
        };
        a != b && !both_nan
    })
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let size = 4 + random.below(60);
    let verified = verify(past_the_hook(program(&mut random, size)))
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let inputs = Inputs::random(&mut random);

    let mut memory = Buffers::new();
    let mut words = vec![memory.lend_read_only(inputs.buffers[0].clone())];
    for buffer in &inputs.buffers[1..] {
        words.push(memory.lend(buffer.clone()));
    }
    words.extend(inputs.scalars);
    let mut expected_calls: Vec<HookCall> = Vec::new();
    let simulated = record(None, &words);
    let mut hook = |id: u32, first: u64, count: u64, _: &mut dyn Memory| {
        expected_calls.push((id, first, count));
    };
    let outcome = Launch::new(&verified, &simulated, &mut memory)
        .with_hook(&mut hook)
        .run_all();
    if let Err(fault) = outcome {
        panic!("seed {seed}: {fault}\n{}", *verified);
    }

    let mut buffers: Vec<Vec<u8>> = inputs
        .buffers
        .iter()
        .map(|buffer| {
            // Unaligned, with a margin that must stay as it is.
            let mut bytes = vec![0xA5; MARGIN + 1];
            bytes.extend_from_slice(buffer);
            bytes.extend_from_slice(&[0xA5; MARGIN]);
            bytes
        })
        .collect();
    let mut words: Vec<u64> = buffers
        .iter_mut()
        .map(|buffer| buffer.as_mut_ptr() as u64 + MARGIN as u64 + 1)
        .collect();
    words.extend(inputs.scalars);
    let mut calls: Vec<HookCall> = Vec::new();
    let context: *mut Vec<HookCall> = &mut calls;
    let executable = executable(&verified);
    // SAFETY: the record lends the four buffers, and the interpreter found no access outside them.
    unsafe {
        run(
            &executable,
            &record(Some((remember, context.cast())), &words),
        )
    };

    for (index, buffer) in buffers.iter().enumerate() {
        let (before, rest) = buffer.split_at(MARGIN + 1);
        let (inside, after) = rest.split_at(inputs.buffers[index].len());
        assert!(
            before.iter().chain(after).all(|&byte| byte == 0xA5),
            "seed {seed}: a write outside buffer {index}\n{}",
            *verified
        );
        if let Some(at) = differs(index, memory.bytes(index), inside) {
            let end = at + 8;
            panic!(
                "seed {seed}: buffer {index} at byte {at}: interpreted {:02x?}, generated {:02x?}\n{}",
                &memory.bytes(index)[at..end],
                &inside[at..end],
                *verified
            );
        }
    }
    assert_eq!(expected_calls, calls, "seed {seed}: calls of the hook");
}

#[test]
fn same_bits() {
    // A seed from the environment narrows a failure down.
    if let Ok(seed) = std::env::var("SEED") {
        return check(seed.parse().expect("SEED is a number"));
    }
    for seed in 0..200 {
        check(seed);
    }
}
