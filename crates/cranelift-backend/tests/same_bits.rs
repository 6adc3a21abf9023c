//! Law **same bits**: generated code gives the bits of the interpreter, over random programs with every operation.

#![allow(unsafe_code, reason = "generated code is called directly")]

mod support;

use std::ffi::c_void;

use cranelift_backend::{Target, load};
use support::random::{Case, HookCall};
use support::{code, host, record, run, targets_of_this_host};

unsafe extern "C" fn remember(context: *mut c_void, id: u32, first: u64, count: u64) {
    // SAFETY: the test passes a vector that outlives the run.
    unsafe { &mut *context.cast::<Vec<HookCall>>() }.push((id, first, count));
}

/// Bytes before and after each buffer that nobody may touch.
const MARGIN: usize = 64;

fn check(case: &Case, target: &Target) {
    let mut buffers: Vec<Vec<u8>> = case
        .inputs
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
    let addresses =
        [0, 1, 2, 3].map(|index: usize| buffers[index].as_mut_ptr() as u64 + MARGIN as u64 + 1);
    let mut words = addresses.to_vec();
    words.extend(case.inputs.scalars);
    let mut calls: Vec<HookCall> = Vec::new();
    let context: *mut Vec<HookCall> = &mut calls;
    let executable = load(&code(&case.program, target)).expect("executable memory");
    // The interpreter finds every access outside the buffers, and runs first.
    let _ = case.interpret(addresses);
    // SAFETY: the record lends the four buffers.
    unsafe {
        run(
            &executable,
            &record(Some((remember, context.cast())), &words),
        );
    }
    let mut inside = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let (before, rest) = buffer.split_at(MARGIN + 1);
        let (middle, after) = rest.split_at(case.inputs.buffers[index].len());
        assert!(
            before.iter().chain(after).all(|&byte| byte == 0xA5),
            "{}: a write outside buffer {index}\n{}",
            case.name,
            *case.program
        );
        inside.push(middle);
    }
    case.compare(addresses, &inside, &calls);
}

#[test]
fn same_bits() {
    // A seed from the environment narrows a failure down.
    if let Ok(seed) = std::env::var("SEED") {
        let case = Case::of_seed(seed.parse().expect("SEED is a number"));
        return check(&case, &host());
    }
    let targets = targets_of_this_host();
    for seed in 0..200 {
        check(
            &Case::of_seed(seed),
            &targets[seed as usize % targets.len()],
        );
    }
}

/// P51: stack frames beyond the reach of short offsets.
#[test]
fn p51_large_stack_frames() {
    for case in support::kernels::stack_frames() {
        check(&case, &host());
    }
}
