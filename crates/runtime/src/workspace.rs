//! Memory lent to generated code: raw, aligned, given back when dropped.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use kernel_abi::WORKSPACE_ALIGN;

/// Bytes at [`WORKSPACE_ALIGN`]. What they hold means nothing.
pub(crate) struct Workspace {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the bytes belong to this value alone.
unsafe impl Send for Workspace {}

impl Workspace {
    /// `bytes` bytes, or nothing if there is no memory.
    pub(crate) fn new(bytes: u64) -> Option<Workspace> {
        let size = usize::try_from(bytes).ok()?;
        let layout = Layout::from_size_align(size, WORKSPACE_ALIGN).ok()?;
        if size == 0 {
            let start = std::ptr::without_provenance_mut(WORKSPACE_ALIGN);
            return Some(Workspace {
                start: NonNull::new(start)?,
                layout,
            });
        }
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        Some(Workspace { start, layout })
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}
