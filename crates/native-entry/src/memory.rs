//! Memory at an address that stays, for code that is given pointers.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Alignment of every [`Memory`] before it is staggered, in bytes: a page.
const PAGE: usize = 4096;

/// How far one stagger moves the start, in bytes: five cache lines, which is prime to the 64 lines of a page.
const STAGGER: usize = 320;

/// Bytes that several arms of a measurement read and write in turn.
///
/// Invariant **stays**: the bytes keep their address as long as the value lives, wherever it is moved.
#[derive(Debug)]
pub struct Memory {
    allocation: NonNull<u8>,
    layout: Layout,
    start: usize,
    bytes: usize,
}

// SAFETY: the allocation belongs to this value alone, and bytes are plain.
unsafe impl Send for Memory {}

impl Memory {
    /// Zero bytes, aligned to a cache line. Arrays that all begin at a page's start would make a store look like the one a
    /// later load waits for, so `stagger` (0, 1, 2, ...) moves each to lines of its own.
    ///
    /// Aborts as `Vec` does if the system has no memory.
    pub fn zeroed(bytes: usize, stagger: usize) -> Memory {
        let start = stagger % (PAGE / 64) * STAGGER;
        let size = (start + bytes.max(1)).next_multiple_of(PAGE);
        let layout = Layout::from_size_align(size, PAGE).unwrap_or_else(|error| {
            panic!("memory of {bytes} bytes breaks the rule that sizes fit isize: {error}")
        });
        // SAFETY: the size is at least a page.
        let allocation = unsafe { alloc_zeroed(layout) };
        let Some(allocation) = NonNull::new(allocation) else {
            handle_alloc_error(layout);
        };
        Memory {
            allocation,
            layout,
            start,
            bytes,
        }
    }

    /// The bytes of `values`.
    pub fn of_f32(values: &[f32], stagger: usize) -> Memory {
        Memory::of_bytes(
            values.iter().flat_map(|value| value.to_ne_bytes()),
            4 * values.len(),
            stagger,
        )
    }

    /// The bytes of `values`.
    pub fn of_i32(values: &[i32], stagger: usize) -> Memory {
        Memory::of_bytes(
            values.iter().flat_map(|value| value.to_ne_bytes()),
            4 * values.len(),
            stagger,
        )
    }

    /// The bytes of `values`.
    pub fn of_i64(values: &[i64], stagger: usize) -> Memory {
        Memory::of_bytes(
            values.iter().flat_map(|value| value.to_ne_bytes()),
            8 * values.len(),
            stagger,
        )
    }

    /// One byte a truth value: 0 or 1.
    pub fn of_bool(values: &[bool], stagger: usize) -> Memory {
        Memory::of_bytes(
            values.iter().map(|&value| u8::from(value)),
            values.len(),
            stagger,
        )
    }

    fn of_bytes(source: impl Iterator<Item = u8>, bytes: usize, stagger: usize) -> Memory {
        let mut memory = Memory::zeroed(bytes, stagger);
        for (to, from) in memory.bytes_mut().iter_mut().zip(source) {
            *to = from;
        }
        memory
    }

    /// Where the bytes begin. Valid for reads and writes of all of them as long as this value lives.
    pub fn pointer(&self) -> *mut u8 {
        self.allocation.as_ptr().wrapping_add(self.start)
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: they lie in the allocation, which was zeroed.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.bytes) }
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: they lie in the allocation, and this value is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.bytes) }
    }

    /// The bytes read as numbers; the last few that make no whole number are left out.
    pub fn to_f32(&self) -> Vec<f32> {
        let whole = self.bytes().as_chunks::<4>().0;
        whole
            .iter()
            .map(|&bytes| f32::from_ne_bytes(bytes))
            .collect()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_starts_differ_but_for_cache_lines() {
        let first = Memory::of_f32(&[1.5, -0.0], 0);
        let second = Memory::of_f32(&[2.0], 1);
        assert_eq!(first.to_f32(), [1.5, -0.0]);
        assert_eq!(second.to_f32(), [2.0]);
        let place = |memory: &Memory| memory.pointer() as usize % PAGE;
        assert_eq!((place(&first), place(&second)), (0, STAGGER));
        let moved = Memory::zeroed(0, 64);
        assert!(moved.is_empty() && place(&moved) == 0);
        assert_eq!(Memory::of_bool(&[true, false], 3).bytes(), [1, 0]);
        assert_eq!(Memory::of_i64(&[-1], 2).bytes(), [255; 8]);
        assert_eq!(Memory::of_i32(&[-1], 2).len(), 4);
    }
}
