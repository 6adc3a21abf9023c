//! Bytes between pages that nobody may touch.

/// Which end of the bytes touches a forbidden page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Start,
    End,
}

impl Side {
    pub(crate) const ALL: [Side; 2] = [Side::Start, Side::End];
}

pub(crate) struct Guarded {
    mapping: *mut u8,
    start: *mut u8,
    len: usize,
}

/// A multiple of every page size there is.
const PAGE: usize = 65536;

impl Guarded {
    pub(crate) fn copy_of(bytes: &[u8], side: Side) -> Guarded {
        let len = bytes.len();
        assert!(len <= PAGE);
        // SAFETY: three new ranges of pages, of which the middle one becomes accessible.
        unsafe {
            let mapping = libc::mmap(
                std::ptr::null_mut(),
                3 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
            .cast::<u8>();
            assert_ne!(mapping.cast(), libc::MAP_FAILED);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(mapping.add(PAGE).cast(), PAGE, access), 0);
            let offset = match side {
                Side::Start => PAGE,
                Side::End => 2 * PAGE - len,
            };
            let start = mapping.add(offset);
            start.copy_from_nonoverlapping(bytes.as_ptr(), len);
            Guarded {
                mapping,
                start,
                len,
            }
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes inside the accessible pages.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.start as u64
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.mapping.cast(), 3 * PAGE) };
    }
}
