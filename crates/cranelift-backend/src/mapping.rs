//! Pages for code: writable first, executable afterwards, never both.

use std::io;
use std::ptr::NonNull;

/// An anonymous private mapping, unmapped when dropped.
///
/// Invariant **writable xor executable**: the pages are writable until [`Mapping::make_executable`], then readable and
/// executable for good.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    writable: bool,
}

// SAFETY: the mapping belongs to this value alone; it is written only through `&mut self` before it becomes executable,
// and never changes after that.
unsafe impl Send for Mapping {}
// SAFETY: see above; a shared reference gives no way to write.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// At least `bytes` writable bytes of zeros, in whole pages.
    pub(crate) fn new(bytes: usize) -> io::Result<Mapping> {
        let len = bytes.max(1).next_multiple_of(page_size());
        // SAFETY: a new anonymous mapping touches no memory that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping {
            start,
            len,
            writable: true,
        })
    }

    /// Bytes in the mapping.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Its start, while it may be written.
    pub(crate) fn writable(&mut self) -> io::Result<*mut u8> {
        if self.writable {
            Ok(self.start.as_ptr())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    /// Makes the pages executable and no longer writable, and makes sure that no core fetches what was there before.
    pub(crate) fn make_executable(&mut self) -> io::Result<()> {
        self.writable = false;
        // SAFETY: the range is this mapping.
        unsafe { synchronize_instructions(self.start.as_ptr(), self.len) };
        // SAFETY: the range is this mapping, which nobody holds a reference into.
        let status = unsafe {
            libc::mprotect(
                self.start.as_ptr().cast(),
                self.len,
                libc::PROT_READ | libc::PROT_EXEC,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        synchronize_pipelines();
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and whoever had a pointer into its code held this value alive.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.len);
        }
    }
}

fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096).max(4096)
}

/// Writes data caches back and drops instruction caches for a range, on processors that don't do so themselves
/// (Arm Architecture Reference Manual, B2.7.4: "synchronization and coherency issues between data and instruction
/// accesses").
///
/// # Safety
/// The range is mapped and readable.
#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
unsafe fn synchronize_instructions(start: *const u8, len: usize) {
    use std::arch::asm;
    let types: u64;
    // SAFETY: reads a register that user code may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    // CTR_EL0: log2 of words in the smallest data line (bits 16-19) and instruction line (bits 0-3).
    let data_line = 4usize << ((types >> 16) & 0xf);
    let instruction_line = 4usize << (types & 0xf);
    let (begin, end) = (start as usize, start as usize + len);
    // SAFETY: cleans and invalidates lines of a mapped range; no memory changes.
    unsafe {
        for line in (begin & !(data_line - 1)..end).step_by(data_line) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in (begin & !(instruction_line - 1)..end).step_by(instruction_line) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}

/// See the other one; this system brings its own.
///
/// # Safety
/// The range is mapped and readable.
#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
unsafe fn synchronize_instructions(start: *const u8, len: usize) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *mut std::ffi::c_void, len: usize);
    }
    // SAFETY: the range is mapped.
    unsafe { sys_icache_invalidate(start.cast_mut().cast(), len) };
}

/// Instruction fetches of x86 see what was stored.
///
/// # Safety
/// None needed.
#[cfg(not(target_arch = "aarch64"))]
unsafe fn synchronize_instructions(_: *const u8, _: usize) {}

/// Makes every core of this process drop what it fetched ahead (`membarrier` with core serialisation). A thread that runs
/// the code got its address through memory written after this.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
fn synchronize_pipelines() {
    const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 6;
    const PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 5;
    // SAFETY: the call has no effect on memory. Kernels before 4.16 refuse it; there `mprotect`, which interrupts the
    // cores that run this process, has to do.
    unsafe {
        libc::syscall(
            libc::SYS_membarrier,
            REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
            0,
            0,
        );
        libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    }
}

/// Nothing to do here: instruction fetches follow stores, or the system's call did it.
#[cfg(not(all(target_arch = "aarch64", target_os = "linux")))]
fn synchronize_pipelines() {}

#[cfg(test)]
mod tests {
    use super::Mapping;

    #[test]
    fn writable_xor_executable() {
        let mut mapping = Mapping::new(1).expect("a page");
        assert!(mapping.writable().is_ok());
        mapping.make_executable().expect("executable memory");
        assert!(mapping.writable().is_err());
    }
}
