//! What the tests share: compile for this host, load, run every entry over all packets.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod guarded;
pub(crate) mod kernels;
pub(crate) mod random;

use cranelift_backend::{Code, SelfCheck, Target, compile, load};
use kernel_abi::{Executable, HOOK_CONTEXT_WORD, HOOK_WORD, Hook};
use machine::Machine;
use xir::{OpKind, Program, Verified};

/// The host as a target, with Cranelift's verifier on.
pub(crate) fn host() -> Target {
    Target::with_self_check(
        &Machine::host().expect("a host to generate code for"),
        SelfCheck::On,
    )
    .expect("a target")
}

/// A named machine as a target, with Cranelift's verifier on.
pub(crate) fn named(name: &str) -> Target {
    Target::with_self_check(
        &Machine::named(name).expect("a known machine"),
        SelfCheck::On,
    )
    .expect("a target")
}

/// Targets whose code runs here: the host, and the least that its architecture is compiled for.
pub(crate) fn targets_of_this_host() -> Vec<Target> {
    let least = if cfg!(target_arch = "x86_64") {
        "x86_64-linux"
    } else {
        "aarch64-linux"
    };
    if cfg!(target_os = "linux") {
        vec![host(), named(least)]
    } else {
        vec![host()]
    }
}

/// Code for this host, loaded.
pub(crate) fn executable(program: &Verified) -> Executable {
    load(&code(program, &host())).expect("executable memory")
}

/// Code for a target.
pub(crate) fn code(program: &Verified, target: &Target) -> Code {
    compile(program, target)
        .unwrap_or_else(|error| panic!("{error}\n{program}", program = **program))
}

/// The program with each record word moved past the hook's.
pub(crate) fn past_the_hook(mut program: Program) -> Program {
    for index in 0..program.op_count() {
        if let OpKind::Record { word, .. } = &mut program.op_mut(xir::Op::from_index(index)).kind {
            *word += HOOK_CONTEXT_WORD + 1;
        }
    }
    program
}

/// Workspaces, 64-byte aligned, filled with bytes that are NaN in every float type.
pub(crate) struct Workspace(Vec<[u64; 8]>);

impl Workspace {
    pub(crate) fn new(bytes: u64) -> Workspace {
        Workspace(vec![[u64::MAX; 8]; bytes.div_ceil(64) as usize + 1])
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

/// Runs every entry over all of its packets.
///
/// # Safety
/// The record describes memory that the program may use.
pub(crate) unsafe fn run(executable: &Executable, record: &[u64]) {
    let workspaces = executable.workspaces();
    let most = executable
        .entries()
        .map(|(_, domain)| domain.packets(record).expect("a sane domain"))
        .max()
        .unwrap_or(0);
    let mut worker = Workspace::new(workspaces.worker_bytes + 64);
    let mut shared = Workspace::new(workspaces.shared_bytes_per_packet * most + 64);
    for (entry, domain) in executable.entries() {
        let packets = domain.packets(record).expect("a sane domain");
        // SAFETY: the caller vouches for the record; the workspaces are as large as the code asks for.
        unsafe {
            entry(record.as_ptr(), 0, packets, worker.start(), shared.start());
        }
    }
}

/// A record with a hook, or without one, in front of these words.
pub(crate) fn record(hook: Option<(Hook, *mut std::ffi::c_void)>, words: &[u64]) -> Vec<u64> {
    let mut record = vec![0; (HOOK_CONTEXT_WORD + 1) as usize];
    if let Some((hook, context)) = hook {
        record[HOOK_WORD as usize] = hook as usize as u64;
        record[HOOK_CONTEXT_WORD as usize] = context as u64;
    }
    record.extend_from_slice(words);
    record
}
