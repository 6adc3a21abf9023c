//! A checked launch, run on the caller's thread.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use kernel_abi::{Executable, HOOK_CONTEXT_WORD, HOOK_WORD, Hook, WORKSPACE_ALIGN};

use crate::bind::BindError;

/// Memory that generated code may scribble on, aligned as the contract asks.
struct Scratch {
    pointer: Option<NonNull<u8>>,
    layout: Layout,
}

impl Scratch {
    fn new(bytes: u64) -> Result<Scratch, BindError> {
        let refused = || BindError::Workspace { bytes };
        let size = usize::try_from(bytes).map_err(|_| refused())?;
        let layout = Layout::from_size_align(size, WORKSPACE_ALIGN).map_err(|_| refused())?;
        if size == 0 {
            return Ok(Scratch {
                pointer: None,
                layout,
            });
        }
        // SAFETY: the size is not zero.
        let pointer = NonNull::new(unsafe { alloc(layout) }).ok_or_else(refused)?;
        Ok(Scratch {
            pointer: Some(pointer),
            layout,
        })
    }

    fn address(&self) -> *mut u8 {
        self.pointer.map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(pointer) = self.pointer {
            // SAFETY: `alloc` gave the pointer for this layout.
            unsafe { dealloc(pointer.as_ptr(), self.layout) }
        }
    }
}

/// Arguments that fit, with the code and the workspace to run it. May be launched again and again.
pub struct Bound<'a> {
    executable: Executable,
    record: Vec<u64>,
    /// Packets of each entry.
    packets: Vec<u64>,
    worker: Scratch,
    shared: Scratch,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: the record points into memory borrowed for `'a` as exclusively as views are, the scratch is owned.
unsafe impl Send for Bound<'_> {}

/// What a hook is called with: number, first program, count of programs.
type HookFn<'h> = dyn FnMut(u32, u64, u64) + 'h;

/// Passes a call of generated code on to a closure.
///
/// # Safety
/// `context` points to a `&mut HookFn` that nobody else uses during the launch.
unsafe extern "C" fn call_hook(context: *mut c_void, id: u32, first: u64, count: u64) {
    // SAFETY: `launch_with_hook` put the pointer there and waits.
    let hook = unsafe { &mut *context.cast::<&mut HookFn<'_>>() };
    hook(id, first, count);
}

impl<'a> Bound<'a> {
    pub(crate) fn new(executable: Executable, record: Vec<u64>) -> Result<Bound<'a>, BindError> {
        let packets = executable
            .entries()
            .map(|(_, domain)| domain.packets(&record).ok_or(BindError::TooManyPrograms))
            .collect::<Result<Vec<u64>, BindError>>()?;
        let needs = executable.workspaces();
        let most = packets.iter().copied().max().unwrap_or(0);
        let shared_bytes = needs
            .shared_bytes_per_packet
            .checked_mul(most)
            .ok_or(BindError::Workspace { bytes: u64::MAX })?;
        let worker = Scratch::new(needs.worker_bytes)?;
        let shared = Scratch::new(shared_bytes)?;
        Ok(Bound {
            executable,
            record,
            packets,
            worker,
            shared,
            memory: PhantomData,
        })
    }

    /// Runs the kernel on the caller's thread, each entry after the one before. `opaque` operations do nothing.
    pub fn launch(&mut self) {
        self.record[HOOK_WORD as usize] = 0;
        self.record[HOOK_CONTEXT_WORD as usize] = 0;
        self.run();
    }

    /// Runs the kernel with a hook for its `opaque` operations. A hook that panics ends the process: generated code can't be unwound.
    pub fn launch_with_hook(&mut self, hook: &mut HookFn<'_>) {
        let entry: Hook = call_hook;
        let mut context: &mut HookFn<'_> = hook;
        self.record[HOOK_WORD as usize] = entry as usize as u64;
        self.record[HOOK_CONTEXT_WORD as usize] = (&raw mut context).expose_provenance() as u64;
        self.run();
        self.record[HOOK_WORD as usize] = 0;
        self.record[HOOK_CONTEXT_WORD as usize] = 0;
    }

    fn run(&mut self) {
        for ((entry, _), &packets) in self.executable.entries().zip(&self.packets) {
            // SAFETY: `bind` checked every word of the record against the signature the code was compiled for: views cover memory
            // borrowed for `'a`, outputs exclusively but where sharing is harmless. The workspaces have the size the code asks for, and
            // `&mut self` keeps a second launch away.
            unsafe {
                entry(
                    self.record.as_ptr(),
                    0,
                    packets,
                    self.worker.address(),
                    self.shared.address(),
                )
            }
        }
    }
}
