//! One tensor out of a `.safetensors` file.
//!
//! Such a file is the length of a header, the header in JSON, and the data of all tensors. Readers exist that take the
//! last of two tensors of one name, pass over gaps and overlaps, or believe a shape that the data can't fill. So the whole
//! header is checked when the file is opened ([`header`]), whichever tensor is wanted; then only that tensor's bytes are
//! read, into aligned memory, wherever in the file they stand.

mod header;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use numerics::ElementType;

use crate::host_tensor::{ByteOrder, Elements, HostTensor, OutOfMemory};
pub(crate) use header::HeaderError;
use header::{Entry, Header};

/// Bytes read at a time; a multiple of every element's size.
const CHUNK: usize = 1 << 16;

/// How many names an error lists.
const NAMES_LISTED: usize = 6;

/// Why a tensor can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SafetensorsError {
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("it has no tensor `{name}`")]
    NoSuchTensor {
        name: String,
        near: Option<String>,
        some: Vec<String>,
        count: usize,
    },
    #[error(
        "tensor `{name}` has elements of type {dtype}; kernels have F32, F64, I32, BOOL, F16 and BF16"
    )]
    Element { name: String, dtype: String },
    #[error("it ended while tensor `{name}` was read")]
    Cut { name: String },
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("reading failed: {0}")]
    Read(#[from] io::Error),
}

impl SafetensorsError {
    /// What to do about it, if there is something.
    pub(crate) fn advice(&self) -> Option<String> {
        match self {
            SafetensorsError::NoSuchTensor {
                near: Some(near), ..
            } => Some(format!("a similar name: `{near}`")),
            SafetensorsError::NoSuchTensor { count: 0, .. } => {
                Some("it has no tensors at all".to_owned())
            }
            SafetensorsError::NoSuchTensor {
                near: None,
                some,
                count,
                ..
            } => {
                let more = if *count > some.len() { ", ..." } else { "" };
                Some(format!("its {count} tensors: {}{more}", some.join(", ")))
            }
            SafetensorsError::Element { .. } => Some(
                "convert it where the file is made, for example `tensor.to(torch.float32)`"
                    .to_owned(),
            ),
            SafetensorsError::Header(
                HeaderError::Short { .. } | HeaderError::BeyondFile { .. },
            ) => Some("the file may have been cut short, or be no .safetensors file".to_owned()),
            SafetensorsError::Header(_)
            | SafetensorsError::Cut { .. }
            | SafetensorsError::Memory(_)
            | SafetensorsError::Read(_) => None,
        }
    }
}

/// Reads tensor `name` from a regular file.
pub(crate) fn read(file: &mut File, name: &str) -> Result<HostTensor, SafetensorsError> {
    let header = Header::read(file)?;
    let entry = header
        .find(name)
        .ok_or_else(|| no_such_tensor(&header, name))?;
    let element = element_of(entry).ok_or_else(|| SafetensorsError::Element {
        name: name.to_owned(),
        dtype: entry.dtype.clone(),
    })?;
    let cut = || SafetensorsError::Cut {
        name: name.to_owned(),
    };

    file.seek(SeekFrom::Start(header.data_start + entry.begin))?;
    let bytes = entry.end - entry.begin;
    let mut source = file.take(bytes);
    let mut elements = Elements::new(element);
    // The header was checked against the size of the file, so there are this many bytes.
    elements.reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX) / element.size())?;
    let mut chunk = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        let part = &mut chunk[..CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
        source
            .read_exact(part)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => cut(),
                _ => error.into(),
            })?;
        elements.extend_from_bytes(part, ByteOrder::Little);
        left -= part.len() as u64;
    }
    Ok(HostTensor::from_c_order(entry.shape.clone(), elements)
        .expect("the header's sizes were checked"))
}

fn element_of(entry: &Entry) -> Option<ElementType> {
    match entry.dtype.as_str() {
        "F32" => Some(ElementType::F32),
        "F64" => Some(ElementType::F64),
        "I32" => Some(ElementType::I32),
        "BOOL" => Some(ElementType::Bool),
        "F16" => Some(ElementType::F16),
        "BF16" => Some(ElementType::BF16),
        _ => None,
    }
}

fn no_such_tensor(header: &Header, name: &str) -> SafetensorsError {
    let names = header.names();
    SafetensorsError::NoSuchTensor {
        name: name.to_owned(),
        near: crate::nearest::nearest(name, names.iter().copied()).map(str::to_owned),
        count: names.len(),
        some: names
            .into_iter()
            .take(NAMES_LISTED)
            .map(str::to_owned)
            .collect(),
    }
}

#[cfg(test)]
mod tests;
