//! The caller's memory seen as an array: where, of what, in which shape.

use std::fmt;
use std::marker::PhantomData;

use numerics::ElementType;

use crate::element::Element;
use crate::error::ViewError;

/// Largest extent of a dimension: generated code counts coordinates in 32 bits.
pub(crate) const MOST: usize = i32::MAX as usize;

/// Whether memory may be written through a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// No.
    Shared,
    /// Yes: the view has the only reference to it.
    Exclusive,
}

/// Memory of the caller as an array.
///
/// Invariant **covered**: every element lies in memory that is valid for reads, and for writes if the view is mutable, as
/// long as `'a`; byte offsets from the first coordinate fit `isize`; extents fit `i32`.
pub struct View<'a> {
    base: *mut u8,
    element: ElementType,
    shape: Vec<usize>,
    strides: Vec<i64>,
    access: Access,
    /// Bytes from the base to the first byte of any element, and past the last one.
    span: (i64, i64),
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a view is a reference to memory of plain elements, shared or exclusive, and moves between threads like one.
unsafe impl Send for View<'_> {}

impl<'a> View<'a> {
    /// A slice as a dense array in row-major order.
    ///
    /// # Errors
    ///
    /// [`ViewError::Length`] unless the slice has exactly as many elements as the shape.
    pub fn new<T: Element>(data: &'a [T], shape: &[usize]) -> Result<View<'a>, ViewError> {
        let strides = dense(T::TYPE, data.len(), shape)?;
        View::strided(data, 0, shape, &strides)
    }

    /// A slice as a dense array in row-major order, to be written.
    ///
    /// # Errors
    ///
    /// As [`View::new`].
    pub fn new_mut<T: Element>(data: &'a mut [T], shape: &[usize]) -> Result<View<'a>, ViewError> {
        let strides = dense(T::TYPE, data.len(), shape)?;
        View::strided_mut(data, 0, shape, &strides)
    }

    /// Part of a slice: coordinate `(i, j, ..)` is element `origin + i * strides[0] + j * strides[1] + ..`.
    ///
    /// # Errors
    ///
    /// [`ViewError::Outside`] if a coordinate has no element in the slice.
    pub fn strided<T: Element>(
        data: &'a [T],
        origin: usize,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        let base = data.as_ptr().cast::<u8>().cast_mut();
        let space = Space::of_elements(T::TYPE, data.len(), origin);
        View::within(base, T::TYPE, shape, strides, Access::Shared, space)
    }

    /// [`View::strided`], to be written.
    ///
    /// # Errors
    ///
    /// As [`View::strided`].
    pub fn strided_mut<T: Element>(
        data: &'a mut [T],
        origin: usize,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        let space = Space::of_elements(T::TYPE, data.len(), origin);
        let base = data.as_mut_ptr().cast::<u8>();
        View::within(base, T::TYPE, shape, strides, Access::Exclusive, space)
    }

    /// Bytes, aligned or not, as a dense array in row-major order: what files hold.
    ///
    /// # Errors
    ///
    /// [`ViewError::Length`] unless there are exactly as many bytes as the elements take.
    pub fn from_bytes(
        bytes: &'a [u8],
        element: ElementType,
        shape: &[usize],
    ) -> Result<View<'a>, ViewError> {
        let strides = dense_bytes(element, bytes.len(), shape)?;
        View::strided_bytes(bytes, 0, element, shape, &strides)
    }

    /// [`View::from_bytes`], to be written.
    ///
    /// # Errors
    ///
    /// As [`View::from_bytes`].
    pub fn from_bytes_mut(
        bytes: &'a mut [u8],
        element: ElementType,
        shape: &[usize],
    ) -> Result<View<'a>, ViewError> {
        let strides = dense_bytes(element, bytes.len(), shape)?;
        View::strided_bytes_mut(bytes, 0, element, shape, &strides)
    }

    /// Part of bytes, aligned or not: the first coordinate is at byte `origin`; strides are in elements.
    ///
    /// # Errors
    ///
    /// [`ViewError::Outside`] if a coordinate has no element in the bytes.
    pub fn strided_bytes(
        bytes: &'a [u8],
        origin: usize,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        let base = bytes.as_ptr().cast_mut();
        let space = Space::of_bytes(bytes.len(), origin);
        View::within(base, element, shape, strides, Access::Shared, space)
    }

    /// [`View::strided_bytes`], to be written.
    ///
    /// # Errors
    ///
    /// As [`View::strided_bytes`].
    pub fn strided_bytes_mut(
        bytes: &'a mut [u8],
        origin: usize,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        let space = Space::of_bytes(bytes.len(), origin);
        let base = bytes.as_mut_ptr();
        View::within(base, element, shape, strides, Access::Exclusive, space)
    }

    /// Memory at an address; `data` points at the first coordinate. May be null if the array has no element.
    ///
    /// # Errors
    ///
    /// [`ViewError`] if the shape is one that no array has; what is at the address can't be checked.
    ///
    /// # Safety
    ///
    /// Every element is valid for reads for `'a`, and nothing writes it while a kernel runs on the view.
    pub unsafe fn from_raw(
        data: *const u8,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        View::checked(data.cast_mut(), element, shape, strides, Access::Shared)
    }

    /// [`View::from_raw`], to be written.
    ///
    /// # Errors
    ///
    /// As [`View::from_raw`].
    ///
    /// # Safety
    ///
    /// Every element is valid for reads and writes for `'a`, and nothing else reads or writes it while a kernel runs on the
    /// view, unless through another view of the same call: overlap between those is checked when they are bound.
    pub unsafe fn from_raw_mut(
        data: *mut u8,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<View<'a>, ViewError> {
        View::checked(data, element, shape, strides, Access::Exclusive)
    }

    /// A view of memory of which this much is known to be there.
    fn within(
        start: *mut u8,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
        access: Access,
        space: Space,
    ) -> Result<View<'a>, ViewError> {
        let origin = space.origin as i128;
        let base = start.wrapping_add(space.origin);
        let view = View::checked(base, element, shape, strides, access)?;
        let (low, high) = view.span;
        let outside =
            origin + i128::from(low) < 0 || origin + i128::from(high) > space.bytes as i128;
        if !view.is_empty() && outside {
            return Err(ViewError::Outside {
                shape: shape.to_vec(),
                strides: strides.to_vec(),
                first: origin + i128::from(low),
                end: origin + i128::from(high),
                bytes: space.bytes,
            });
        }
        Ok(view)
    }

    /// A view of a shape that is checked, of memory that is not.
    fn checked(
        base: *mut u8,
        element: ElementType,
        shape: &[usize],
        strides: &[i64],
        access: Access,
    ) -> Result<View<'a>, ViewError> {
        if shape.len() != strides.len() {
            return Err(ViewError::StrideCount {
                shape: shape.to_vec(),
                strides: strides.to_vec(),
            });
        }
        if let Some(dim) = shape.iter().position(|&extent| extent > MOST) {
            return Err(ViewError::Extent {
                shape: shape.to_vec(),
                dim,
            });
        }
        let view = View {
            base,
            element,
            span: span(element, shape, strides)?,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            access,
            memory: PhantomData,
        };
        if view.base.is_null() && !view.is_empty() {
            return Err(ViewError::Null {
                shape: shape.to_vec(),
            });
        }
        Ok(view)
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// One extent a dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// One stride a dimension, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Whether it may be written.
    pub fn is_mutable(&self) -> bool {
        self.access == Access::Exclusive
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// First address of any element and the address past the last one; 128 bits, so that nothing wraps.
    pub(crate) fn range(&self) -> (i128, i128) {
        let base = self.base as usize as i128;
        (
            base + i128::from(self.span.0),
            base + i128::from(self.span.1),
        )
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("element", &self.element)
            .field("shape", &self.shape)
            .field("strides", &self.strides)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// Memory that is known to be there, and where in it the first coordinate is, in bytes.
struct Space {
    bytes: usize,
    origin: usize,
}

impl Space {
    fn of_elements(element: ElementType, count: usize, origin: usize) -> Space {
        Space {
            bytes: count * element.size(),
            origin: origin.saturating_mul(element.size()),
        }
    }

    fn of_bytes(bytes: usize, origin: usize) -> Space {
        Space { bytes, origin }
    }
}

/// Bytes from the base to the first byte of any element and past the last one.
fn span(element: ElementType, shape: &[usize], strides: &[i64]) -> Result<(i64, i64), ViewError> {
    if shape.contains(&0) {
        return Ok((0, 0));
    }
    let size = element.size() as i128;
    let (mut low, mut high) = (0i128, size);
    for (&extent, &stride) in shape.iter().zip(strides) {
        // Each term is below 2^31 * 2^63 * 2^3, and there are few enough of them.
        let reach = (extent as i128 - 1) * i128::from(stride) * size;
        if reach < 0 {
            low += reach;
        } else {
            high += reach;
        }
        if low < i128::from(i64::MIN) || high > i128::from(i64::MAX) {
            return Err(ViewError::TooLarge {
                shape: shape.to_vec(),
                strides: strides.to_vec(),
            });
        }
    }
    Ok((low as i64, high as i64))
}

/// Row-major strides, if the shape has `count` elements.
fn dense(element: ElementType, count: usize, shape: &[usize]) -> Result<Vec<i64>, ViewError> {
    let wanted = elements(shape);
    if wanted != Some(count as u128) {
        return Err(ViewError::Length {
            shape: shape.to_vec(),
            element,
            wanted,
            have: count,
        });
    }
    Ok(row_major(shape))
}

fn dense_bytes(element: ElementType, bytes: usize, shape: &[usize]) -> Result<Vec<i64>, ViewError> {
    if !bytes.is_multiple_of(element.size()) {
        return Err(ViewError::Length {
            shape: shape.to_vec(),
            element,
            wanted: elements(shape),
            have: bytes / element.size(),
        });
    }
    dense(element, bytes / element.size(), shape)
}

/// How many elements a shape has, if that fits 128 bits.
fn elements(shape: &[usize]) -> Option<u128> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1u128, |count, &extent| count.checked_mul(extent as u128))
}

fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut next = 1i64;
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = next;
        next = next.saturating_mul(extent.max(1) as i64);
    }
    strides
}
