//! What holds of compilation itself: the same bytes, in time linear in the program, and errors instead of panics.

#![allow(unsafe_code, reason = "the shared support calls generated code")]

mod support;

use std::time::Duration;

use cranelift_backend::{
    CompileError, STACK_LIMIT, SelfCheck, Target, clif_text, compile, disassemble,
};
use machine::{KNOWN_MACHINES, Machine};
use support::kernels::{single, single_in};
use support::named;
use support::random::Case;
use xir::{Access, ArrayData, Elem, Lanes, MemElem, Program, Shape, Space, Verified};

/// Law **determinism**: the same program and target give the same bytes and the same text.
#[test]
fn determinism() {
    for name in KNOWN_MACHINES {
        for seed in 0..6 {
            let case = Case::of_seed(seed);
            let first = compile(&case.program, &named(name)).expect("code");
            // On a thread of its own, with scratch memory of its own.
            let second = std::thread::scope(|scope| {
                let thread = scope.spawn(|| compile(&case.program, &named(name)).expect("code"));
                thread.join().expect("no panic")
            });
            assert_eq!(first.functions(), second.functions());
            assert_eq!(disassemble(&first), disassemble(&second));
            let clif = clif_text(&case.program, &named(name)).expect("text");
            assert_eq!(clif, clif_text(&case.program, &named(name)).expect("text"));
        }
    }
}

/// A chain of `n` operations on one packet.
fn chain(n: usize) -> Verified {
    single("chain", 8, |b| {
        let (x, y) = (b.record(0, Elem::I64), b.record(1, Elem::I64));
        let access = Access::Contiguous { live: 8 };
        let mut value = b.load(MemElem::F32, access, x, 0, None, false);
        let (scale, shift) = (b.splat_f32(1.5), b.splat_f32(-0.25));
        for step in 0..n {
            value = match step % 3 {
                0 => b.fma(value, scale, shift),
                1 => b.max(value, shift),
                _ => b.mul(value, value),
            };
        }
        b.store(MemElem::F32, access, y, 0, None, value);
    })
}

/// Time this thread has run, which other work on the machine doesn't lengthen.
fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the system fills the structure in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn best_time(program: &Verified, target: &Target) -> Duration {
    (0..5)
        .map(|_| {
            let start = thread_time();
            compile(program, target).expect("code");
            thread_time() - start
        })
        .min()
        .expect("at least once")
}

#[test]
fn p52_compile_time_is_linear() {
    for name in ["x86_64-linux", "aarch64-linux"] {
        let machine = Machine::named(name).expect("a known machine");
        let target = Target::with_self_check(&machine, SelfCheck::Off).expect("a target");
        let small = best_time(&chain(1000), &target);
        let large = best_time(&chain(10_000), &target);
        // Linear time gives 10 and caches make 15 of it on a busy machine; quadratic time gives 100.
        assert!(
            large < Duration::from_secs(5) && large < small * 30,
            "{name}: {small:?} for 1000 operations, {large:?} for 10000"
        );
    }
}

#[test]
fn many_values_alive_at_once_spill_and_stay_right() {
    for name in ["x86_64-linux", "aarch64-linux"] {
        compile(&support::kernels::sum_of_squares(16, 8, 2), &named(name)).expect("code");
    }
}

#[test]
fn a_frame_beyond_the_limit_is_refused() {
    let mut program = Program::new("deep", Lanes::new(4).expect("a width"));
    let array = program.add_array(ArrayData {
        name: "deep".into(),
        elem: Elem::F64,
        shape: Shape::Varying,
        slots: (STACK_LIMIT / 32 + 1) as u32,
        space: Space::Stack,
    });
    let program = single_in(program, |b| {
        let zero = b.i64(0);
        let value = b.splat_f64(1.0);
        b.private_store(array, zero, 0, value);
    });
    let error = compile(&program, &named("aarch64-linux")).expect_err("too large");
    assert!(matches!(error, CompileError::FrameTooLarge { .. }));
    assert_eq!(
        error.to_string(),
        "private arrays of function `entry` of kernel `deep` take 262176 bytes of stack, more than 262144; place them in \
         the worker's workspace"
    );
}
