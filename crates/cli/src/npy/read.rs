//! Reading an `.npy` file: its prefix, its header, its array, and nothing after it.

use std::io::{self, Read};

use super::descr::{Unsupported, element_of};
use super::header::{HeaderError, parse};
use crate::host_tensor::{Elements, HostTensor, OutOfMemory, element_count, shape_text};

/// The six bytes every `.npy` file begins with.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read, in bytes. Numpy writes 118 for two dimensions and stops reading at 10000.
const HEADER_LIMIT: u64 = 1 << 16;

/// How many bytes are read at a time; a multiple of every element's size.
const CHUNK: usize = 1 << 16;

/// Why an `.npy` file can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpyError {
    #[error("it is empty; an .npy file begins with the bytes \\x93NUMPY")]
    Empty,
    #[error("it is not an .npy file: it does not begin with the bytes \\x93NUMPY")]
    Magic,
    #[error("it ends after {found} bytes, within the header")]
    HeaderCut { found: u64 },
    #[error("it is of .npy version {major}.{minor}; versions 1.0, 2.0 and 3.0 are known")]
    Version { major: u8, minor: u8 },
    #[error("its header says it is {length} bytes long; the file has {rest} bytes after that")]
    HeaderBeyondFile { length: u64, rest: u64 },
    #[error(
        "its header says it is {length} bytes long; headers of up to {HEADER_LIMIT} bytes are read"
    )]
    HeaderTooLong { length: u64 },
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("its elements are `{}` ({}); kernels have f32, f64, i32, bool and f16", .0.descr, .0.name)]
    Element(Unsupported),
    #[error("its shape {shape:?} has more elements than memory has addresses")]
    Overflow { shape: Vec<u64> },
    #[error(
        "its shape {} takes {expected} bytes; the file has {found} bytes of data",
        shape_text(shape)
    )]
    Length {
        shape: Vec<usize>,
        expected: u64,
        found: u64,
    },
    #[error("its shape {} takes {expected} bytes; more follow", shape_text(shape))]
    Trailing { shape: Vec<usize>, expected: u64 },
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("reading failed: {0}")]
    Read(#[from] io::Error),
}

impl NpyError {
    /// What to do about it, if there is something.
    pub(crate) fn advice(&self) -> Option<String> {
        match self {
            NpyError::Empty | NpyError::Magic => {
                Some("write it with `numpy.save(path, array)`".to_owned())
            }
            NpyError::Element(unsupported) => Some(unsupported.advice.clone()),
            NpyError::Length {
                expected, found, ..
            } if found > expected => Some(
                "a file holds one array; write it anew with `numpy.save(path, array)`".to_owned(),
            ),
            NpyError::HeaderCut { .. }
            | NpyError::HeaderBeyondFile { .. }
            | NpyError::Length { .. } => Some(
                "the file may have been cut short while it was written or copied; write it anew"
                    .to_owned(),
            ),
            NpyError::Trailing { .. } => {
                Some("a file holds one array; save each to its own".to_owned())
            }
            NpyError::Version { .. }
            | NpyError::HeaderTooLong { .. }
            | NpyError::Header(_)
            | NpyError::Overflow { .. }
            | NpyError::Memory(_)
            | NpyError::Read(_) => None,
        }
    }
}

/// Reads an array. `length` is the size of the file in bytes, if it is known (a pipe has none).
pub(crate) fn read(source: &mut impl Read, length: Option<u64>) -> Result<HostTensor, NpyError> {
    let mut input = Counted { source, count: 0 };
    let mut prefix = [0; 8];
    let got = input.fill(&mut prefix)?;
    if got == 0 {
        return Err(NpyError::Empty);
    }
    let compared = got.min(MAGIC.len());
    if prefix[..compared] != MAGIC[..compared] {
        return Err(NpyError::Magic);
    }
    if got < prefix.len() {
        return Err(NpyError::HeaderCut { found: input.count });
    }
    let header_length = match (prefix[6], prefix[7]) {
        (1, 0) => u64::from(u16::from_le_bytes(input.exact()?)),
        (2 | 3, 0) => u64::from(u32::from_le_bytes(input.exact()?)),
        (major, minor) => return Err(NpyError::Version { major, minor }),
    };
    if let Some(length) = length {
        let rest = length.saturating_sub(input.count);
        if header_length > rest {
            return Err(NpyError::HeaderBeyondFile {
                length: header_length,
                rest,
            });
        }
    }
    if header_length > HEADER_LIMIT {
        return Err(NpyError::HeaderTooLong {
            length: header_length,
        });
    }
    let mut text = vec![0; header_length as usize];
    if input.fill(&mut text)? < text.len() {
        return Err(NpyError::HeaderCut { found: input.count });
    }
    let header = parse(&text)?;
    let descr = element_of(&header.descr).map_err(NpyError::Element)?;

    let overflow = || NpyError::Overflow {
        shape: header.shape.clone(),
    };
    let shape: Vec<usize> = header
        .shape
        .iter()
        .map(|extent| usize::try_from(*extent).ok())
        .collect::<Option<_>>()
        .ok_or_else(overflow)?;
    let count = element_count(&shape).ok_or_else(overflow)?;
    let bytes = count
        .checked_mul(descr.element.size())
        .ok_or_else(overflow)?;
    if let Some(length) = length {
        let found = length.saturating_sub(input.count);
        if found != bytes as u64 {
            return Err(NpyError::Length {
                shape,
                expected: bytes as u64,
                found,
            });
        }
    }

    let mut elements = Elements::new(descr.element);
    if length.is_some() {
        // The file was seen to be this long. Memory for a pipe grows with what arrives, so that it can't ask for more
        // than it sends.
        elements.reserve_exact(count)?;
    }
    let mut chunk = vec![0; CHUNK.min(bytes)];
    let mut left = bytes;
    while left > 0 {
        let part = &mut chunk[..CHUNK.min(left)];
        let got = input.fill(part)?;
        if got < part.len() {
            let found = (bytes - left + got) as u64;
            return Err(NpyError::Length {
                shape,
                expected: bytes as u64,
                found,
            });
        }
        elements.reserve(part.len() / descr.element.size())?;
        elements.extend_from_bytes(part, descr.order);
        left -= got;
    }
    if input.fill(&mut [0])? > 0 {
        return Err(NpyError::Trailing {
            shape,
            expected: bytes as u64,
        });
    }

    let tensor = if header.fortran_order {
        HostTensor::from_fortran_order(shape, elements)?
    } else {
        HostTensor::from_c_order(shape, elements)
    };
    Ok(tensor.expect("as many elements were read as the shape says"))
}

/// A reader that knows how far it is.
struct Counted<'r, R> {
    source: &'r mut R,
    count: u64,
}

impl<R: Read> Counted<'_, R> {
    /// Reads until `buffer` is full or the source ends; how many bytes came.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, NpyError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.count += filled as u64;
        Ok(filled)
    }

    /// Reads all of a small field of the header.
    fn exact<const N: usize>(&mut self) -> Result<[u8; N], NpyError> {
        let mut field = [0; N];
        if self.fill(&mut field)? < N {
            return Err(NpyError::HeaderCut { found: self.count });
        }
        Ok(field)
    }
}
