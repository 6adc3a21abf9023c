//! Memory by address: what the caller lends to an interpreted program.

use std::fmt;

/// Bytes that an access wanted and memory does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Address of the first byte.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.bytes, self.address)
    }
}

/// What the caller lends, by simulated address below 2^60.
pub trait Memory {
    /// Fills `bytes` with what stands at `address`.
    ///
    /// # Errors
    /// [`Stray`] when a byte is not lent; then nothing was read.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Stray>;

    /// Writes `bytes` at `address`.
    ///
    /// # Errors
    /// [`Stray`] when a byte is not lent for writing; then nothing was written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stray>;
}

/// Buffers far apart from each other, so that running over an end is always noticed.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    list: Vec<Buffer>,
}

#[derive(Clone, Debug)]
struct Buffer {
    base: u64,
    bytes: Vec<u8>,
    writable: bool,
}

impl Buffers {
    /// Bytes between the starts of two buffers; none may be longer than half of it.
    const APART: u64 = 1 << 40;

    /// No buffers.
    pub fn new() -> Buffers {
        Buffers::default()
    }

    /// Lends a buffer for reading and writing; gives back its address.
    pub fn lend(&mut self, bytes: Vec<u8>) -> u64 {
        self.add(bytes, true)
    }

    /// Lends a buffer for reading only; gives back its address.
    pub fn lend_read_only(&mut self, bytes: Vec<u8>) -> u64 {
        self.add(bytes, false)
    }

    fn add(&mut self, bytes: Vec<u8>, writable: bool) -> u64 {
        // Unaligned, so that nothing comes to rely on alignment.
        let base = (self.list.len() as u64 + 1) * Self::APART + 1;
        self.list.push(Buffer {
            base,
            bytes,
            writable,
        });
        base
    }

    /// The bytes of buffer number `index`, in the order they were lent.
    pub fn bytes(&self, index: usize) -> &[u8] {
        &self.list[index].bytes
    }

    fn find(&mut self, address: u64, length: usize) -> Option<(&mut Buffer, usize)> {
        let index = (address / Self::APART).checked_sub(1)?;
        let buffer = self.list.get_mut(usize::try_from(index).ok()?)?;
        let offset = usize::try_from(address.checked_sub(buffer.base)?).ok()?;
        (offset.checked_add(length)? <= buffer.bytes.len()).then_some((buffer, offset))
    }
}

impl Memory for Buffers {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Stray> {
        match self.find(address, bytes.len()) {
            Some((buffer, offset)) => {
                bytes.copy_from_slice(&buffer.bytes[offset..][..bytes.len()]);
                Ok(())
            }
            None => Err(Stray {
                address,
                bytes: bytes.len() as u32,
            }),
        }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stray> {
        match self.find(address, bytes.len()) {
            Some((buffer, offset)) if buffer.writable => {
                buffer.bytes[offset..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(Stray {
                address,
                bytes: bytes.len() as u32,
            }),
        }
    }
}
