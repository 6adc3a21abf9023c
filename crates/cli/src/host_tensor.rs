//! A tensor in the memory of this process, on its way between a file and a kernel.

use half::{bf16, f16};
use numerics::ElementType;

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub(crate) const NATIVE: ByteOrder = if cfg!(target_endian = "big") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
}

/// The elements of a tensor, one variant an element type, so that each is aligned as its type asks.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    Bool(Vec<bool>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
}

/// A tensor in C order: the last dimension is dense.
///
/// Invariant **full**: there are as many elements as the product of the shape.
#[derive(Clone, Debug)]
pub(crate) struct HostTensor {
    shape: Vec<usize>,
    elements: Elements,
}

/// Memory for so many bytes could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is not enough memory for {count} elements of {element}")]
pub(crate) struct OutOfMemory {
    pub(crate) count: usize,
    pub(crate) element: ElementType,
}

/// Runs an expression with `$vector` bound to the elements, whatever their type.
macro_rules! for_each_type {
    ($elements:expr, $vector:ident => $body:expr) => {
        match $elements {
            Elements::F32($vector) => $body,
            Elements::F64($vector) => $body,
            Elements::I32($vector) => $body,
            Elements::Bool($vector) => $body,
            Elements::F16($vector) => $body,
            Elements::BF16($vector) => $body,
        }
    };
}

impl Elements {
    /// No elements yet.
    pub(crate) fn new(element: ElementType) -> Elements {
        match element {
            ElementType::F32 => Elements::F32(Vec::new()),
            ElementType::F64 => Elements::F64(Vec::new()),
            ElementType::I32 => Elements::I32(Vec::new()),
            ElementType::Bool => Elements::Bool(Vec::new()),
            ElementType::F16 => Elements::F16(Vec::new()),
            ElementType::BF16 => Elements::BF16(Vec::new()),
        }
    }

    /// Their type.
    pub(crate) fn element(&self) -> ElementType {
        match self {
            Elements::F32(_) => ElementType::F32,
            Elements::F64(_) => ElementType::F64,
            Elements::I32(_) => ElementType::I32,
            Elements::Bool(_) => ElementType::Bool,
            Elements::F16(_) => ElementType::F16,
            Elements::BF16(_) => ElementType::BF16,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        for_each_type!(self, vector => vector.len())
    }

    /// Makes room for exactly `count` more.
    pub(crate) fn reserve_exact(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let element = self.element();
        for_each_type!(self, vector => vector.try_reserve_exact(count))
            .map_err(|_| OutOfMemory { count, element })
    }

    /// Makes room for `count` more and, where more will come, some of that.
    pub(crate) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let element = self.element();
        for_each_type!(self, vector => vector.try_reserve(count))
            .map_err(|_| OutOfMemory { count, element })
    }

    /// Appends whole elements from their bytes in a file. A truth value is true if its byte is not 0.
    pub(crate) fn extend_from_bytes(&mut self, bytes: &[u8], order: ByteOrder) {
        macro_rules! numbers {
            ($vector:expr, $type:ty) => {{
                let (numbers, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match order {
                    ByteOrder::Little => {
                        $vector.extend(numbers.iter().map(|n| <$type>::from_le_bytes(*n)))
                    }
                    ByteOrder::Big => {
                        $vector.extend(numbers.iter().map(|n| <$type>::from_be_bytes(*n)))
                    }
                }
            }};
        }
        match self {
            Elements::F32(vector) => numbers!(vector, f32),
            Elements::F64(vector) => numbers!(vector, f64),
            Elements::I32(vector) => numbers!(vector, i32),
            Elements::Bool(vector) => vector.extend(bytes.iter().map(|byte| *byte != 0)),
            Elements::F16(vector) => numbers!(vector, f16),
            Elements::BF16(vector) => numbers!(vector, bf16),
        }
    }

    /// Appends the bytes of elements `range` to `out`, low byte first.
    pub(crate) fn little_endian_bytes(&self, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
        macro_rules! numbers {
            ($vector:expr) => {
                $vector[range]
                    .iter()
                    .for_each(|number| out.extend(number.to_le_bytes()))
            };
        }
        match self {
            Elements::F32(vector) => numbers!(vector),
            Elements::F64(vector) => numbers!(vector),
            Elements::I32(vector) => numbers!(vector),
            Elements::Bool(vector) => {
                out.extend(vector[range].iter().map(|truth| u8::from(*truth)))
            }
            Elements::F16(vector) => numbers!(vector),
            Elements::BF16(vector) => numbers!(vector),
        }
    }

    /// The same elements in C order, given that they stand in Fortran order (first dimension dense).
    fn into_c_order(self, shape: &[usize]) -> Result<Elements, OutOfMemory> {
        let element = self.element();
        macro_rules! variant {
            ($($name:ident),*) => {
                match self {
                    $(Elements::$name(vector) => Elements::$name(c_order(&vector, shape).ok_or(
                        OutOfMemory { count: vector.len(), element },
                    )?),)*
                }
            };
        }
        Ok(variant!(F32, F64, I32, Bool, F16, BF16))
    }
}

/// Elements in Fortran order, put into C order; `None` if memory runs out.
fn c_order<T: Copy>(fortran: &[T], shape: &[usize]) -> Option<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(fortran.len()).ok()?;
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for extent in shape {
        strides.push(stride);
        stride *= extent;
    }
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    while out.len() < fortran.len() {
        out.push(fortran[at]);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            at += strides[dim];
            if index[dim] < shape[dim] {
                break;
            }
            at -= strides[dim] * shape[dim];
            index[dim] = 0;
        }
    }
    Some(out)
}

impl HostTensor {
    /// A tensor of zeros (false for truth values).
    pub(crate) fn zeros(element: ElementType, shape: &[usize]) -> Result<HostTensor, OutOfMemory> {
        let count = element_count(shape).ok_or(OutOfMemory {
            count: usize::MAX,
            element,
        })?;
        macro_rules! variant {
            ($($name:ident = $zero:expr),*) => {
                match element {
                    $(ElementType::$name => Elements::$name(zeroed(count, $zero).ok_or(OutOfMemory { count, element })?),)*
                }
            };
        }
        let elements = variant!(
            F32 = 0.0,
            F64 = 0.0,
            I32 = 0,
            Bool = false,
            F16 = f16::ZERO,
            BF16 = bf16::ZERO
        );
        Ok(HostTensor {
            shape: shape.to_vec(),
            elements,
        })
    }

    /// A tensor of elements in C order; `None` unless there are as many as the shape says.
    pub(crate) fn from_c_order(shape: Vec<usize>, elements: Elements) -> Option<HostTensor> {
        (element_count(&shape) == Some(elements.len())).then_some(HostTensor { shape, elements })
    }

    /// A tensor of elements in Fortran order, which are put into C order.
    pub(crate) fn from_fortran_order(
        shape: Vec<usize>,
        elements: Elements,
    ) -> Result<Option<HostTensor>, OutOfMemory> {
        if element_count(&shape) != Some(elements.len()) {
            return Ok(None);
        }
        let elements = elements.into_c_order(&shape)?;
        Ok(Some(HostTensor { shape, elements }))
    }

    /// The extents, outermost first.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of an element.
    pub(crate) fn element(&self) -> ElementType {
        self.elements.element()
    }

    /// The elements in C order.
    pub(crate) fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The elements in C order, to be written.
    pub(crate) fn elements_mut(&mut self) -> ElementsMut<'_> {
        match &mut self.elements {
            Elements::F32(vector) => ElementsMut::F32(vector),
            Elements::F64(vector) => ElementsMut::F64(vector),
            Elements::I32(vector) => ElementsMut::I32(vector),
            Elements::Bool(vector) => ElementsMut::Bool(vector),
            Elements::F16(vector) => ElementsMut::F16(vector),
            Elements::BF16(vector) => ElementsMut::BF16(vector),
        }
    }
}

/// The elements of a tensor as slices, so that their number can't change.
pub(crate) enum ElementsMut<'t> {
    F32(&'t mut [f32]),
    F64(&'t mut [f64]),
    I32(&'t mut [i32]),
    Bool(&'t mut [bool]),
    F16(&'t mut [f16]),
    BF16(&'t mut [bf16]),
}

/// The product of a shape, if it fits; 1 for rank 0.
pub(crate) fn element_count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1usize, |product, extent| product.checked_mul(*extent))
}

fn zeroed<T: Clone>(count: usize, zero: T) -> Option<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).ok()?;
    vector.resize(count, zero);
    Some(vector)
}

/// A shape as people write it: `[3, 4]`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    format!("{shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_of_three_dimensions_becomes_c_order() {
        // Element (i, j, k) of shape [2, 3, 4] has value 100i + 10j + k.
        let mut fortran = Vec::new();
        let mut expected = vec![0; 24];
        for k in 0..4 {
            for j in 0..3 {
                for i in 0..2 {
                    fortran.push((100 * i + 10 * j + k) as i32);
                    expected[(i * 3 + j) * 4 + k] = (100 * i + 10 * j + k) as i32;
                }
            }
        }
        assert_eq!(c_order(&fortran, &[2, 3, 4]), Some(expected));
        assert_eq!(c_order(&[7], &[]), Some(vec![7]));
        assert_eq!(c_order::<i32>(&[], &[2, 0]), Some(vec![]));
    }

    #[test]
    fn a_tensor_is_full() {
        assert!(HostTensor::from_c_order(vec![2, 2], Elements::I32(vec![1, 2, 3])).is_none());
        assert!(HostTensor::from_c_order(vec![usize::MAX, 2], Elements::I32(vec![])).is_none());
        assert!(HostTensor::from_c_order(vec![usize::MAX, 0, 2], Elements::I32(vec![])).is_some());
        assert!(HostTensor::zeros(ElementType::F64, &[usize::MAX, 2]).is_err());
        assert!(HostTensor::zeros(ElementType::F64, &[1 << 60]).is_err());
    }
}
