//! Code in memory: freed with the last handle, never writable and executable at once, wherever it lies.

#![allow(unsafe_code, reason = "generated code is called directly")]

mod support;

use std::sync::mpsc;

use kernel_abi::Executable;
use support::kernels::single;
use support::{code, executable, host, record, run};
use xir::{Access, Elem, MemElem, Verified};

/// Stores the number `k`.
fn constant(k: i32) -> Verified {
    single("constant", 4, |b| {
        let y = b.record(0, Elem::I64);
        let k = b.i32(k);
        b.store(MemElem::I32, Access::Scalar, y, 0, None, k);
    })
}

fn call(executable: &Executable) -> i32 {
    let mut result = -1;
    let words = record(None, &[(&raw mut result) as u64]);
    // SAFETY: the record lends the result.
    unsafe { run(executable, &words) };
    result
}

fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let resident = statm.split(' ').nth(1).expect("the second number");
    resident.parse().expect("a number")
}

fn no_page_is_writable_and_executable() {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    for line in maps.lines() {
        let access = line.split(' ').nth(1).expect("the second word");
        assert!(!(access.contains('w') && access.contains('x')), "{line}");
    }
}

#[test]
fn p53_distance_does_not_matter() {
    let mut far_apart = Vec::new();
    let mut kept = Vec::new();
    for k in 0..50 {
        kept.push((k, executable(&constant(k))));
        // SAFETY: a new mapping that nothing uses.
        let hole = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                3 << 30,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert_ne!(hole, libc::MAP_FAILED);
        far_apart.push(hole);
    }
    for (k, executable) in &kept {
        assert_eq!(call(executable), *k);
    }
    for hole in far_apart {
        // SAFETY: mapped above.
        unsafe { libc::munmap(hole, 3 << 30) };
    }
}

#[test]
fn p54_code_is_seen_by_every_thread_at_once() {
    const THREADS: usize = 8;
    const KERNELS: i32 = 400;
    std::thread::scope(|scope| {
        let workers: Vec<mpsc::Sender<(i32, Executable)>> = (0..THREADS)
            .map(|_| {
                let (sender, receiver) = mpsc::channel::<(i32, Executable)>();
                scope.spawn(move || {
                    for (k, executable) in receiver {
                        assert_eq!(call(&executable), k);
                    }
                });
                sender
            })
            .collect();
        for k in 0..KERNELS {
            let executable = executable(&constant(k));
            for worker in &workers {
                worker
                    .send((k, executable.clone()))
                    .expect("a worker that lives");
            }
            if k % 100 == 0 {
                no_page_is_writable_and_executable();
            }
        }
    });
}

#[test]
fn p55_code_is_freed_with_its_last_handle() {
    let target = host();
    let mut after_warm_up = 0;
    for k in 0..1500 {
        let code = code(&constant(k), &target);
        let executable = cranelift_backend::load(&code).expect("executable memory");
        drop(code);
        assert_eq!(call(&executable), k);
        if k == 300 {
            after_warm_up = resident_pages();
        }
    }
    let grown = resident_pages().saturating_sub(after_warm_up);
    assert!(
        grown * 10 <= after_warm_up,
        "{grown} pages more than {after_warm_up}"
    );
    // A handle outlives everything it was made from, on another thread.
    let last = executable(&constant(77));
    let other = last.clone();
    drop(last);
    let result = std::thread::spawn(move || call(&other)).join();
    assert_eq!(result.expect("no panic"), 77);
}

#[test]
fn code_for_another_machine_is_refused() {
    let other = if cfg!(target_arch = "x86_64") {
        "aarch64-linux"
    } else {
        "x86_64-linux"
    };
    let code = code(&constant(1), &support::named(other));
    let error = cranelift_backend::load(&code).expect_err("another architecture");
    assert!(error.to_string().contains("can't run on this"), "{error}");
}
