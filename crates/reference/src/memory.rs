//! The memory a kernel is interpreted on: buffers of bytes, with no types and no alignment.
//!
//! Views of different element types may share a buffer and overlap in any way, as pointers do. So a buffer is bytes, and
//! an access says which bytes it means.

use numerics::half_types::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use numerics::{ElementType, Scalar};

/// Several buffers of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// No buffers.
    #[must_use]
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a buffer and gives its number.
    pub fn add(&mut self, bytes: Vec<u8>) -> usize {
        self.buffers.push(bytes);
        self.buffers.len() - 1
    }

    /// Adds a buffer of numbers, each cast to `element` as a store would, and gives its number.
    pub fn add_scalars(
        &mut self,
        element: ElementType,
        values: impl IntoIterator<Item = Scalar>,
    ) -> usize {
        let values = values.into_iter();
        let mut bytes = Vec::with_capacity(values.size_hint().0 * element.size());
        for value in values {
            push_scalar(
                &mut bytes,
                element,
                numerics::casts::cast(value, element.compute_type()),
            );
        }
        self.add(bytes)
    }

    /// Adds a buffer of f32 and gives its number.
    pub fn add_f32(&mut self, values: &[f32]) -> usize {
        self.add_scalars(
            ElementType::F32,
            values.iter().map(|&value| Scalar::F32(value)),
        )
    }

    /// How many buffers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there is no buffer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// The bytes of a buffer; empty if there is no such buffer.
    #[must_use]
    pub fn bytes(&self, buffer: usize) -> &[u8] {
        self.buffers.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// The bytes of a buffer, to change; `None` if there is no such buffer.
    pub fn bytes_mut(&mut self, buffer: usize) -> Option<&mut Vec<u8>> {
        self.buffers.get_mut(buffer)
    }

    /// The whole buffer as numbers of `element` (half types widened to f32); a rest too short for an element is left out.
    #[must_use]
    pub fn scalars(&self, buffer: usize, element: ElementType) -> Vec<Scalar> {
        self.bytes(buffer)
            .chunks_exact(element.size())
            .map(|bytes| decode(bytes, element))
            .collect()
    }

    /// The whole buffer as f32.
    #[must_use]
    pub fn f32s(&self, buffer: usize) -> Vec<f32> {
        self.bytes(buffer)
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect()
    }

    /// The number at element `index` (in units of the element's size); `None` outside the buffer.
    #[inline]
    #[must_use]
    pub fn read(&self, buffer: usize, index: i64, element: ElementType) -> Option<Scalar> {
        let size = element.size();
        let start = usize::try_from(index).ok()?.checked_mul(size)?;
        let bytes = self
            .buffers
            .get(buffer)?
            .get(start..start.checked_add(size)?)?;
        Some(decode(bytes, element))
    }

    /// Writes a number at element `index`; `None` outside the buffer, and then nothing is written.
    #[inline]
    pub fn write(
        &mut self,
        buffer: usize,
        index: i64,
        element: ElementType,
        value: Scalar,
    ) -> Option<()> {
        let size = element.size();
        let start = usize::try_from(index).ok()?.checked_mul(size)?;
        let bytes = self
            .buffers
            .get_mut(buffer)?
            .get_mut(start..start.checked_add(size)?)?;
        encode(bytes, element, value);
        Some(())
    }
}

fn decode(bytes: &[u8], element: ElementType) -> Scalar {
    match element {
        ElementType::F32 => Scalar::F32(f32::from_le_bytes(array(bytes))),
        ElementType::F64 => Scalar::F64(f64::from_le_bytes(array(bytes))),
        ElementType::I32 => Scalar::I32(i32::from_le_bytes(array(bytes))),
        ElementType::Bool => Scalar::Bool(bytes[0] != 0),
        ElementType::F16 => Scalar::F32(f16_to_f32(u16::from_le_bytes(array(bytes)))),
        ElementType::BF16 => Scalar::F32(bf16_to_f32(u16::from_le_bytes(array(bytes)))),
    }
}

fn encode(bytes: &mut [u8], element: ElementType, value: Scalar) {
    match (element, value) {
        (ElementType::F32, Scalar::F32(value)) => bytes.copy_from_slice(&value.to_le_bytes()),
        (ElementType::F64, Scalar::F64(value)) => bytes.copy_from_slice(&value.to_le_bytes()),
        (ElementType::I32, Scalar::I32(value)) => bytes.copy_from_slice(&value.to_le_bytes()),
        (ElementType::Bool, Scalar::Bool(value)) => bytes[0] = u8::from(value),
        (ElementType::F16, Scalar::F32(value)) => {
            bytes.copy_from_slice(&f16_from_f32(value).to_le_bytes())
        }
        (ElementType::BF16, Scalar::F32(value)) => {
            bytes.copy_from_slice(&bf16_from_f32(value).to_le_bytes())
        }
        (element, value) => crate::meaning::ill_typed((element, value)),
    }
}

fn push_scalar(bytes: &mut Vec<u8>, element: ElementType, value: Scalar) {
    let start = bytes.len();
    bytes.resize(start + element.size(), 0);
    encode(&mut bytes[start..], element, value);
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_reads_back() {
        let mut memory = Memory::new();
        let buffer = memory.add(vec![0xff; 16]);
        for element in ElementType::ALL {
            let value = numerics::casts::cast(Scalar::F32(1.0), element.compute_type());
            assert_eq!(memory.write(buffer, 1, element, value), Some(()));
            assert_eq!(memory.read(buffer, 1, element), Some(value), "{element}");
        }
        assert_eq!(
            memory.read(buffer, 0, ElementType::Bool),
            Some(Scalar::Bool(true))
        );
    }

    #[test]
    fn nothing_beyond_the_ends() {
        let mut memory = Memory::new();
        let buffer = memory.add_f32(&[1.0, 2.0]);
        assert_eq!(memory.read(buffer, 2, ElementType::F32), None);
        assert_eq!(memory.read(buffer, -1, ElementType::F32), None);
        assert_eq!(memory.read(buffer, 1, ElementType::F64), None);
        assert_eq!(memory.read(buffer + 1, 0, ElementType::F32), None);
        assert_eq!(
            memory.write(buffer, i64::MAX, ElementType::F64, Scalar::F64(0.0)),
            None
        );
        assert_eq!(memory.f32s(buffer), [1.0, 2.0]);
    }
}
