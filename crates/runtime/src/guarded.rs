//! Buffers between pages that nobody may touch, so that a stray access faults where it happens.
//!
//! A vector load one element past a row reads memory that usually is there and does no harm, until the row is the last
//! one of a page. Tests put every buffer there: with its end at a forbidden page, and again with its start after one.

use std::io;
use std::ptr::NonNull;

use numerics::ElementType;

use crate::error::ViewError;
use crate::view::View;

/// Which end of the buffer touches a forbidden page; both are near one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The byte before the first one is forbidden.
    Start,
    /// The byte after the last one is forbidden.
    End,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Start, Side::End];
}

/// Where a view lies in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'p> {
    /// The byte of the first coordinate.
    pub origin: usize,
    /// The element type.
    pub element: ElementType,
    /// One extent a dimension.
    pub shape: &'p [usize],
    /// One stride a dimension, in elements.
    pub strides: &'p [i64],
    /// Whether it may be written.
    pub mutable: bool,
}

/// Bytes with forbidden pages before and after.
pub struct Guarded {
    mapping: NonNull<u8>,
    mapped: usize,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Guarded {}

impl Guarded {
    /// `len` zero bytes.
    ///
    /// # Errors
    ///
    /// When the system gives no memory.
    pub fn new(len: usize, side: Side) -> io::Result<Guarded> {
        // SAFETY: asks for a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
            .map_err(|_| io::ErrorKind::Unsupported)?;
        let inside = len.max(1).next_multiple_of(page);
        let mapped = inside + 2 * page;
        // SAFETY: a new anonymous mapping touches no memory that exists.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let offset = match side {
            Side::Start => page,
            Side::End => page + inside - len,
        };
        // SAFETY: the offset lies in the mapping.
        let start = unsafe { mapping.add(offset) };
        let guarded = Guarded {
            mapping,
            mapped,
            start,
            len,
        };
        // SAFETY: the pages between the forbidden ones belong to the mapping made above.
        let status = unsafe {
            libc::mprotect(
                guarded.mapping.as_ptr().add(page).cast(),
                inside,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(guarded)
    }

    /// A copy of `bytes`.
    ///
    /// # Errors
    ///
    /// When the system gives no memory.
    pub fn copy_of(bytes: &[u8], side: Side) -> io::Result<Guarded> {
        let mut guarded = Guarded::new(bytes.len(), side)?;
        guarded.bytes_mut().copy_from_slice(bytes);
        Ok(guarded)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `len` readable bytes that this value owns.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` writable bytes that this value owns.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Views of these bytes, which may overlap one another: what tests of aliasing bind.
    ///
    /// The views belong to one call. `bind` holds the views of a call against each other, which borrows of overlapping
    /// memory can't do.
    ///
    /// # Errors
    ///
    /// [`ViewError::Outside`] if a coordinate has no element in the buffer.
    pub fn views(&mut self, placements: &[Placement<'_>]) -> Result<Vec<View<'_>>, ViewError> {
        let mut views = Vec::with_capacity(placements.len());
        for place in placements {
            let Placement {
                origin,
                element,
                shape,
                strides,
                mutable,
            } = *place;
            View::strided_bytes(self.bytes(), origin, element, shape, strides)?;
            let data = self.start.as_ptr().wrapping_add(origin);
            // SAFETY: every element lies in the buffer, which is borrowed exclusively as long as the views live and is
            // touched by launches only; the views of one launch are checked against each other when they are bound.
            views.push(unsafe {
                if mutable {
                    View::from_raw_mut(data, element, shape, strides)?
                } else {
                    View::from_raw(data, element, shape, strides)?
                }
            });
        }
        Ok(views)
    }

    /// Their address.
    pub fn address(&self) -> u64 {
        self.start.as_ptr() as usize as u64
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe {
            libc::munmap(self.mapping.as_ptr().cast(), self.mapped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Guarded, Side};

    #[test]
    fn buffers_end_and_begin_at_pages() {
        for len in [0, 1, 4, 4095, 4096, 4097] {
            let end = Guarded::copy_of(&vec![7; len], Side::End).expect("memory");
            assert_eq!((end.address() + len as u64) % 4096, 0);
            let start = Guarded::copy_of(&vec![7; len], Side::Start).expect("memory");
            assert_eq!(start.address() % 4096, 0);
            assert!(start.bytes().iter().all(|&byte| byte == 7));
        }
    }
}
