//! Running a bound kernel.

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use kernel_abi::{Executable, HOOK_CONTEXT_WORD, HOOK_WORD};

use crate::view::View;
use crate::workspace::Workspace;

/// What a caller's hook is told: number of the operation, first program, count of programs.
pub type Hook<'a> = dyn FnMut(u32, u64, u64) + Send + 'a;

/// A kernel with arguments that fit, ready to run.
///
/// It holds the views as long as it lives, so what they show stays borrowed. Invariant **fits**: the record is one that
/// `bind` checked, and the workspaces are as large as the code asks for.
pub struct Bound<'a> {
    executable: Executable,
    record: Vec<u64>,
    /// Packets of each entry.
    packets: Vec<u64>,
    worker: Workspace,
    shared: Workspace,
    hook: Option<HookHandle<'a>>,
    views: PhantomData<View<'a>>,
}

/// A hook at an address that stays: generated code has a pointer to it.
struct HookHandle<'a>(NonNull<HookState<'a>>);

// SAFETY: the state is owned by the handle and `Send` itself.
unsafe impl Send for HookHandle<'_> {}

impl<'a> HookHandle<'a> {
    fn new(hook: Box<Hook<'a>>) -> HookHandle<'a> {
        let state = Box::new(HookState { hook, panic: None });
        HookHandle(NonNull::from(Box::leak(state)))
    }

    fn take_panic(&mut self) -> Option<Box<dyn Any + Send>> {
        // SAFETY: the handle owns the state, and no generated code runs now.
        unsafe { self.0.as_mut() }.panic.take()
    }
}

impl Drop for HookHandle<'_> {
    fn drop(&mut self) {
        // SAFETY: the state came out of a box, and nothing uses it any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A hook and the panic it may have caused.
struct HookState<'a> {
    hook: Box<Hook<'a>>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Bound<'a> {
    pub(crate) fn new(
        executable: Executable,
        record: Vec<u64>,
        packets: Vec<u64>,
        worker: Workspace,
        shared: Workspace,
    ) -> Bound<'a> {
        Bound {
            executable,
            record,
            packets,
            worker,
            shared,
            hook: None,
            views: PhantomData,
        }
    }

    /// With a hook that `opaque` operations run; without one they do nothing.
    #[must_use]
    pub fn with_hook(mut self, hook: impl FnMut(u32, u64, u64) + Send + 'a) -> Bound<'a> {
        let state = HookHandle::new(Box::new(hook));
        self.record[HOOK_WORD as usize] = call_hook as kernel_abi::Hook as usize as u64;
        self.record[HOOK_CONTEXT_WORD as usize] = state.0.as_ptr() as usize as u64;
        self.hook = Some(state);
        self
    }

    /// The launch record that generated code reads, for callers that time the entry points by hand.
    pub fn record(&self) -> &[u64] {
        &self.record
    }

    /// How many packets each entry runs, in order.
    pub fn packets(&self) -> &[u64] {
        &self.packets
    }

    /// Runs every program on the caller's thread. May be called again; every launch does all the work anew.
    ///
    /// # Panics
    ///
    /// Only with the panic of a hook, after the launch: outputs are then written as if the hook had returned.
    pub fn launch(&mut self) {
        for entry in 0..self.packets.len() {
            self.run(entry, 0..self.packets[entry]);
        }
        if let Some(panic) = self.hook.as_mut().and_then(HookHandle::take_panic) {
            resume_unwind(panic);
        }
    }

    /// Runs some packets of an entry.
    fn run(&mut self, entry: usize, packets: Range<u64>) {
        if packets.is_empty() {
            return;
        }
        let Some((code, _)) = self.executable.entries().nth(entry) else {
            return;
        };
        // SAFETY: `bind` checked the record against the signature of this code, every view in it is borrowed by this
        // value, the packets lie in the entry's domain, and the workspaces have the sizes the executable states.
        unsafe {
            code(
                self.record.as_ptr(),
                packets.start,
                packets.end,
                self.worker.start(),
                self.shared.start(),
            );
        }
    }
}

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("packets", &self.packets)
            .finish_non_exhaustive()
    }
}

/// What generated code calls. A panic must not unwind through its frames: it is kept until the launch is over, and the hook
/// isn't called again.
unsafe extern "C" fn call_hook(context: *mut c_void, id: u32, first: u64, count: u64) {
    // SAFETY: the context is the state of the `Bound` that is launching, which nothing else touches meanwhile.
    let state = unsafe { &mut *context.cast::<HookState<'_>>() };
    if state.panic.is_none() {
        let result = catch_unwind(AssertUnwindSafe(|| (state.hook)(id, first, count)));
        state.panic = result.err();
    }
}
