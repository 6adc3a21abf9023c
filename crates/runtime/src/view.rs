//! Views of the caller's memory: a pointer with a shape, made from slices so that it can't reach outside them.

use std::fmt;
use std::marker::PhantomData;

use numerics::ElementType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that a view can be made of.
pub trait Element: sealed::Sealed + Copy + 'static {
    /// Its element type.
    const TYPE: ElementType;
}

macro_rules! element {
    ($($ty:ty => $element:ident),*) => {
        $(impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const TYPE: ElementType = ElementType::$element;
        })*
    };
}

element!(f32 => F32, f64 => F64, i32 => I32, bool => Bool, half::f16 => F16, half::bf16 => BF16);

/// Memory seen as an array. Strides are in elements; dimensions are outermost first.
///
/// Invariant **inside**: every element of a view made by a safe constructor lies in the slice it was made from.
pub struct View<'a> {
    pub(crate) base: *mut u8,
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<u64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) writable: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a view stands for a borrow of plain numbers: `&[T]` or `&mut [T]` with `T: Send + Sync`.
unsafe impl Send for View<'_> {}
// SAFETY: nothing can be done through a shared view but read its shape.
unsafe impl Sync for View<'_> {}

/// Why memory can't be seen as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// Shape and strides have different ranks.
    #[error("the shape has {shape} dimensions and the strides have {strides}")]
    Rank {
        /// Dimensions of the shape.
        shape: usize,
        /// Dimensions of the strides.
        strides: usize,
    },
    /// The memory is shorter or longer than a dense array of that shape.
    #[error("shape {shape:?} has {expected} elements, but the memory holds {found}")]
    Length {
        /// The shape.
        shape: Vec<usize>,
        /// Elements of the shape.
        expected: usize,
        /// Elements of the memory.
        found: usize,
    },
    /// An element would lie outside the memory.
    #[error(
        "shape {shape:?} with strides {strides:?} from element {offset} reaches element {reach}, but the memory holds {length}"
    )]
    Outside {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<i64>,
        /// The first element.
        offset: usize,
        /// The offending element.
        reach: i128,
        /// Elements of the memory.
        length: usize,
    },
    /// The product of the extents leaves 64 bits.
    #[error("shape {shape:?} is too large")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
}

/// Strides of a dense array in C order.
fn dense_strides(shape: &[usize]) -> Option<Vec<i64>> {
    let mut strides = vec![1i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].checked_mul(i64::try_from(shape[dim].max(1)).ok()?)?;
    }
    Some(strides)
}

fn count(shape: &[usize]) -> Result<usize, ViewError> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape
        .iter()
        .try_fold(1usize, |n, &extent| n.checked_mul(extent));
    product.ok_or_else(|| ViewError::TooLarge {
        shape: shape.to_vec(),
    })
}

fn check(shape: &[usize], strides: &[i64], offset: usize, length: usize) -> Result<(), ViewError> {
    if shape.len() != strides.len() {
        return Err(ViewError::Rank {
            shape: shape.len(),
            strides: strides.len(),
        });
    }
    if count(shape)? == 0 {
        return Ok(());
    }
    let (mut low, mut high) = (offset as i128, offset as i128);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let span = (extent as i128 - 1) * i128::from(stride);
        if span < 0 { low += span } else { high += span }
    }
    for reach in [low, high] {
        if reach < 0 || reach >= length as i128 {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            return Err(ViewError::Outside {
                shape,
                strides,
                offset,
                reach,
                length,
            });
        }
    }
    Ok(())
}

impl<'a> View<'a> {
    fn make(
        base: *mut u8,
        element: ElementType,
        shape: &[usize],
        strides: Vec<i64>,
        writable: bool,
    ) -> View<'a> {
        let shape = shape.iter().map(|&n| n as u64).collect();
        View {
            base,
            element,
            shape,
            strides,
            writable,
            memory: PhantomData,
        }
    }

    /// A dense array in C order over a whole slice.
    ///
    /// # Errors
    /// The slice has another length than the shape.
    pub fn new<T: Element>(memory: &'a [T], shape: &[usize]) -> Result<View<'a>, ViewError> {
        let strides = Self::dense(shape, memory.len())?;
        Ok(Self::make(
            memory.as_ptr().cast_mut().cast(),
            T::TYPE,
            shape,
            strides,
            false,
        ))
    }

    /// As [`View::new`], to be written.
    ///
    /// # Errors
    /// As [`View::new`].
    pub fn new_mut<T: Element>(
        memory: &'a mut [T],
        shape: &[usize],
    ) -> Result<View<'a>, ViewError> {
        let strides = Self::dense(shape, memory.len())?;
        Ok(Self::make(
            memory.as_mut_ptr().cast(),
            T::TYPE,
            shape,
            strides,
            true,
        ))
    }

    fn dense(shape: &[usize], length: usize) -> Result<Vec<i64>, ViewError> {
        let expected = count(shape)?;
        if expected != length {
            return Err(ViewError::Length {
                shape: shape.to_vec(),
                expected,
                found: length,
            });
        }
        dense_strides(shape).ok_or_else(|| ViewError::TooLarge {
            shape: shape.to_vec(),
        })
    }

    /// Any array inside a slice: element `offset` has coordinates 0, and a step along dimension `d` moves `strides[d]` elements, which may
    /// be 0 or negative.
    ///
    /// # Errors
    /// An element would lie outside the slice.
    pub fn strided<T: Element>(
        memory: &'a [T],
        offset: usize,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        check(shape, strides, offset, memory.len())?;
        let base = memory.as_ptr().wrapping_add(offset).cast_mut().cast();
        Ok(Self::make(base, T::TYPE, shape, strides.to_vec(), false))
    }

    /// As [`View::strided`], to be written.
    ///
    /// # Errors
    /// As [`View::strided`].
    pub fn strided_mut<T: Element>(
        memory: &'a mut [T],
        offset: usize,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        check(shape, strides, offset, memory.len())?;
        let base = memory.as_mut_ptr().wrapping_add(offset).cast();
        Ok(Self::make(base, T::TYPE, shape, strides.to_vec(), true))
    }

    /// A dense array in C order over bytes, aligned or not, as a mapped file has them.
    ///
    /// # Errors
    /// The bytes have another length than the shape.
    pub fn of_bytes(
        bytes: &'a [u8],
        element: ElementType,
        shape: &[usize],
    ) -> Result<View<'a>, ViewError> {
        let strides = Self::dense_bytes(bytes.len(), element, shape)?;
        Ok(Self::make(
            bytes.as_ptr().cast_mut(),
            element,
            shape,
            strides,
            false,
        ))
    }

    /// As [`View::of_bytes`], to be written.
    ///
    /// # Errors
    /// As [`View::of_bytes`].
    pub fn of_bytes_mut(
        bytes: &'a mut [u8],
        element: ElementType,
        shape: &[usize],
    ) -> Result<View<'a>, ViewError> {
        let strides = Self::dense_bytes(bytes.len(), element, shape)?;
        Ok(Self::make(
            bytes.as_mut_ptr(),
            element,
            shape,
            strides,
            true,
        ))
    }

    fn dense_bytes(
        length: usize,
        element: ElementType,
        shape: &[usize],
    ) -> Result<Vec<i64>, ViewError> {
        let expected = count(shape)?;
        let size = element.size();
        if expected.checked_mul(size) != Some(length) {
            return Err(ViewError::Length {
                shape: shape.to_vec(),
                expected,
                found: length / size,
            });
        }
        dense_strides(shape).ok_or_else(|| ViewError::TooLarge {
            shape: shape.to_vec(),
        })
    }

    /// Memory by address.
    ///
    /// # Safety
    /// Every element (`base` plus strides in elements) is valid for reads for `'a`, for writes too if `writable`, and nobody else writes it
    /// meanwhile (or reads it, if `writable`) but through views that are bound together with this one.
    pub unsafe fn from_raw(
        base: *mut u8,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
        writable: bool,
    ) -> Result<View<'a>, ViewError> {
        if shape.len() != strides.len() {
            return Err(ViewError::Rank {
                shape: shape.len(),
                strides: strides.len(),
            });
        }
        count(shape)?;
        Ok(Self::make(base, element, shape, strides.to_vec(), writable))
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The strides, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// First address and the one behind the last byte; empty views have an empty range.
    pub(crate) fn range(&self) -> (i128, i128) {
        let base = self.base.addr() as i128;
        if self.is_empty() {
            return (base, base);
        }
        let size = self.element.size() as i128;
        let (mut low, mut high) = (base, base + size);
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let span = (i128::from(extent) - 1) * i128::from(stride) * size;
            if span < 0 { low += span } else { high += span }
        }
        (low, high)
    }

    /// Whether no two coordinates share an element, as far as sorting the strides can tell.
    pub(crate) fn is_injective(&self) -> bool {
        let mut dims: Vec<(i128, i128)> = self
            .shape
            .iter()
            .zip(&self.strides)
            .filter(|&(&extent, _)| extent > 1)
            .map(|(&extent, &stride)| (i128::from(stride).abs(), i128::from(extent)))
            .collect();
        dims.sort_unstable();
        let mut reach = 0;
        for (stride, extent) in dims {
            if stride <= reach {
                return false;
            }
            reach += stride * (extent - 1);
        }
        true
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{:?} strides {:?}",
            self.element, self.shape, self.strides
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_stay_inside_their_slice() {
        let memory = [0f32; 12];
        assert!(View::new(&memory, &[3, 4]).is_ok());
        assert_eq!(
            View::new(&memory, &[3, 5]).unwrap_err().to_string(),
            "shape [3, 5] has 15 elements, but the memory holds 12"
        );
        assert!(View::strided(&memory, 3, &[3, 4], &[4, -1]).is_ok());
        assert!(
            View::strided(&memory, 2, &[3, 4], &[4, -1]).is_err(),
            "element -1"
        );
        assert!(
            View::strided(&memory, 0, &[3, 5], &[4, 1]).is_err(),
            "element 12"
        );
        assert!(
            View::strided(&memory, 0, &[1000, 1000], &[0, 0]).is_ok(),
            "one element seen a million times"
        );
        assert!(View::new(&memory, &[usize::MAX, 2]).is_err());
        assert!(
            View::strided::<f32>(&[], 0, &[10, 0], &[1, 1]).is_ok(),
            "no elements, no memory"
        );
    }

    #[test]
    fn self_overlap_is_seen() {
        let mut memory = [0f32; 64];
        let mut injective = |shape: &[usize], strides: &[i64]| {
            View::strided_mut(&mut memory, 0, shape, strides)
                .expect("inside")
                .is_injective()
        };
        assert!(injective(&[4, 4], &[4, 1]));
        assert!(injective(&[4, 4], &[1, 4]));
        assert!(
            injective(&[1, 4], &[0, 1]),
            "an extent of one has no second coordinate"
        );
        assert!(!injective(&[2, 8], &[0, 1]));
        assert!(!injective(&[3], &[0]));
        assert!(!injective(&[4, 4], &[2, 1]));
    }
}
