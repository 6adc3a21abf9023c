//! Writing an `.npy` file, version 1.0, C order, little-endian: byte for byte what `numpy.save` writes.

use std::io::{self, Write};

use numerics::ElementType;

use super::read::MAGIC;
use crate::host_tensor::HostTensor;

/// The array begins at a multiple of this many bytes, so that a mapping of the file is aligned.
const ALIGNMENT: usize = 64;

/// Elements written at a time.
const CHUNK: usize = 1 << 14;

/// An element type that `.npy` files don't have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an .npy file can't hold {0}; numpy has no such type")]
pub(crate) struct Unwritable(pub(crate) ElementType);

/// Whether an `.npy` file can hold elements of this type.
pub(crate) fn can_hold(element: ElementType) -> Result<(), Unwritable> {
    descr(element).map(|_| ()).ok_or(Unwritable(element))
}

fn descr(element: ElementType) -> Option<&'static str> {
    match element {
        ElementType::F32 => Some("<f4"),
        ElementType::F64 => Some("<f8"),
        ElementType::I32 => Some("<i4"),
        ElementType::Bool => Some("|b1"),
        ElementType::F16 => Some("<f2"),
        ElementType::BF16 => None,
    }
}

/// Writes an array.
///
/// # Errors
/// What the writer says; a type that [`can_hold`] refuses is `InvalidInput`.
pub(crate) fn write(tensor: &HostTensor, out: &mut dyn Write) -> io::Result<()> {
    let descr = descr(tensor.element())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, Unwritable(tensor.element())))?;
    let extents: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
    let shape = match extents.as_slice() {
        [only] => format!("({only},)"),
        several => format!("({})", several.join(", ")),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let prefix = MAGIC.len() + 2 + 2;
    let padded = (prefix + header.len() + 1).next_multiple_of(ALIGNMENT) - prefix;
    while header.len() + 1 < padded {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the shape is too long for a header",
        )
    })?;

    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    let elements = tensor.elements();
    let mut bytes = Vec::with_capacity(CHUNK * tensor.element().size());
    for start in (0..elements.len()).step_by(CHUNK) {
        bytes.clear();
        elements.little_endian_bytes(start..elements.len().min(start + CHUNK), &mut bytes);
        out.write_all(&bytes)?;
    }
    Ok(())
}
