//! `bind`: everything about a launch checked before a byte is written.

use kernel_abi::Executable;
use numerics::{ElementType, Scalar};

use crate::launch::Bound;
use crate::signature::{ParamSignature, Signature, ViewSignature};
use crate::view::View;

/// An argument.
#[derive(Debug)]
pub enum Argument<'a> {
    /// For a view parameter.
    View(View<'a>),
    /// For a scalar parameter.
    Scalar(Scalar),
}

impl<'a> From<View<'a>> for Argument<'a> {
    fn from(view: View<'a>) -> Argument<'a> {
        Argument::View(view)
    }
}

impl From<Scalar> for Argument<'_> {
    fn from(scalar: Scalar) -> Self {
        Argument::Scalar(scalar)
    }
}

impl From<f32> for Argument<'_> {
    fn from(value: f32) -> Self {
        Argument::Scalar(Scalar::F32(value))
    }
}

impl From<i32> for Argument<'_> {
    fn from(value: i32) -> Self {
        Argument::Scalar(Scalar::I32(value))
    }
}

/// Two views that disagree about an axis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "axis `{axis}` is {first_extent} in `{first}` (shape {first_shape:?}) and {second_extent} in \
     `{second}` (shape {second_shape:?}); it must be the same in both"
)]
pub struct Disagreement {
    /// The axis.
    pub axis: String,
    /// The view that came first.
    pub first: String,
    /// Its extent.
    pub first_extent: u64,
    /// Its shape.
    pub first_shape: Vec<u64>,
    /// The view that disagrees.
    pub second: String,
    /// Its extent.
    pub second_extent: u64,
    /// Its shape.
    pub second_shape: Vec<u64>,
}

/// Why arguments don't fit a kernel. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// A name the kernel doesn't have.
    #[error("kernel `{kernel}` has no parameter `{name}`; it has {known}")]
    UnknownParameter {
        /// The kernel.
        kernel: String,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// One parameter given twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// The parameter.
        name: String,
    },
    /// A parameter without an argument.
    #[error("`{name}` is missing: it is {expected}")]
    Missing {
        /// The parameter.
        name: String,
        /// What it is.
        expected: String,
    },
    /// A number for a view, or memory for a number.
    #[error("`{name}` is {expected}, but {found} is given")]
    Kind {
        /// The parameter.
        name: String,
        /// What it is.
        expected: String,
        /// What is given.
        found: String,
    },
    /// Another element type.
    #[error(
        "`{name}` holds {expected}, but {found} is given; convert it, or declare the view with {found}"
    )]
    Element {
        /// The parameter.
        name: String,
        /// The element type of the kernel.
        expected: ElementType,
        /// The element type given.
        found: ElementType,
    },
    /// Another number of dimensions.
    #[error("`{name}` has {expected} dimensions {dims}, but shape {shape:?} has {found}")]
    Rank {
        /// The parameter.
        name: String,
        /// Dimensions of the kernel.
        expected: usize,
        /// Their names.
        dims: String,
        /// The shape given.
        shape: Vec<u64>,
        /// Dimensions given.
        found: usize,
    },
    /// The kernel was compiled for another extent.
    #[error("axis `{axis}` of `{name}` is {expected}, but shape {shape:?} has {found} there")]
    Extent {
        /// The parameter.
        name: String,
        /// The axis.
        axis: String,
        /// The extent of the kernel.
        expected: u32,
        /// The shape given.
        shape: Vec<u64>,
        /// The extent given.
        found: u64,
    },
    /// Two views disagree about an axis.
    #[error(transparent)]
    Disagreement(Box<Disagreement>),
    /// An axis that no view tells.
    #[error("nothing tells the extent of axis `{axis}`; give it explicitly")]
    UnknownExtent {
        /// The axis.
        axis: String,
    },
    /// An extent that coordinates can't count.
    #[error("axis `{axis}` is {extent} in `{name}`; the limit is {}", i32::MAX)]
    TooLarge {
        /// The parameter.
        name: String,
        /// The axis.
        axis: String,
        /// The extent.
        extent: u64,
    },
    /// A byte offset that leaves 64 bits.
    #[error(
        "`{name}` with shape {shape:?} and strides {strides:?} reaches further than addresses go"
    )]
    OffsetTooLarge {
        /// The parameter.
        name: String,
        /// The shape.
        shape: Vec<u64>,
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// Another stride than the view declares.
    #[error(
        "`{name}` has stride {found} along `{axis}` where the kernel declares {expected}; copy it, or declare the view with \
         `strides [.., *]`"
    )]
    StrideMismatch {
        /// The parameter.
        name: String,
        /// The axis.
        axis: String,
        /// The stride of the kernel, in elements.
        expected: i64,
        /// The stride given, in elements.
        found: i64,
    },
    /// Memory that can't be written, for a view that is.
    #[error("`{name}` is written by the kernel, but read-only memory is given")]
    ReadOnly {
        /// The parameter.
        name: String,
    },
    /// A null pointer.
    #[error("`{name}` is a null pointer, but shape {shape:?} has elements")]
    Null {
        /// The parameter.
        name: String,
        /// The shape.
        shape: Vec<u64>,
    },
    /// Two coordinates of an output share an element.
    #[error(
        "output `{name}` overlaps itself: shape {shape:?} with strides {strides:?} has two coordinates for one element"
    )]
    OverlapsItself {
        /// The parameter.
        name: String,
        /// The shape.
        shape: Vec<u64>,
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// An output shares memory with another view, and programs would see each other's writes.
    #[error(
        "output `{output}` overlaps `{other}`, and programs would see each other's writes; give it memory of its own{hint}"
    )]
    Overlap {
        /// The output.
        output: String,
        /// The other view.
        other: String,
        /// What would be allowed.
        hint: &'static str,
    },
    /// More packets than 64 bits count.
    #[error("the launch has more programs than can be counted")]
    TooManyPrograms,
    /// Workspace could not be had.
    #[error("the launch needs {bytes} bytes of workspace, which could not be had")]
    Workspace {
        /// Bytes needed.
        bytes: u64,
    },
}

fn describe(signature: &Signature, param: &ParamSignature) -> String {
    match param {
        ParamSignature::View(view) => {
            let kind = if view.mutable {
                "a view to be written,"
            } else {
                "a view"
            };
            format!("{kind} {}{}", view.element, signature.dims(view))
        }
        ParamSignature::Scalar(element) => format!("a number of type {element}"),
    }
}

/// Puts named arguments in the kernel's order.
fn in_order<'a>(
    signature: &Signature,
    arguments: Vec<(String, Argument<'a>)>,
) -> Result<Vec<Argument<'a>>, BindError> {
    let mut slots: Vec<Option<Argument<'a>>> = signature.params.iter().map(|_| None).collect();
    for (name, argument) in arguments {
        let Some(index) = signature
            .params
            .iter()
            .position(|(known, _)| *known == name)
        else {
            let known: Vec<String> = signature
                .params
                .iter()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            let kernel = signature.kernel.clone();
            return Err(BindError::UnknownParameter {
                kernel,
                name,
                known: known.join(", "),
            });
        };
        if slots[index].replace(argument).is_some() {
            return Err(BindError::Twice { name });
        }
    }
    let missing = |(name, param): &(String, ParamSignature)| BindError::Missing {
        name: name.clone(),
        expected: describe(signature, param),
    };
    slots
        .into_iter()
        .zip(&signature.params)
        .map(|(slot, param)| slot.ok_or_else(|| missing(param)))
        .collect()
}

/// Who told the extent of an axis.
struct Told {
    extent: u64,
    view: Option<usize>,
}

/// Checks arguments against a kernel and makes a launch of them. `extents` tells axes (by index) that no view tells.
///
/// # Errors
/// [`BindError`]; nothing was written.
pub fn bind<'a>(
    executable: &Executable,
    signature: &Signature,
    arguments: Vec<(String, Argument<'a>)>,
    extents: &[(usize, u32)],
) -> Result<Bound<'a>, BindError> {
    let arguments = in_order(signature, arguments)?;
    let mut told: Vec<Option<Told>> = signature
        .axes
        .iter()
        .map(|axis| {
            axis.extent.map(|extent| Told {
                extent: u64::from(extent),
                view: None,
            })
        })
        .collect();
    for &(axis, extent) in extents {
        let slot = &mut told[axis];
        match slot {
            None => {
                *slot = Some(Told {
                    extent: u64::from(extent),
                    view: None,
                })
            }
            Some(told) if told.extent == u64::from(extent) => {}
            Some(told) => {
                return Err(BindError::Extent {
                    name: "the launch".to_string(),
                    axis: signature.axes[axis].name.clone(),
                    expected: u32::try_from(told.extent).unwrap_or(u32::MAX),
                    shape: Vec::new(),
                    found: u64::from(extent),
                });
            }
        }
    }
    let mut record = vec![0u64; signature.layout.words() as usize];
    for (index, argument) in arguments.iter().enumerate() {
        let (name, param) = &signature.params[index];
        let found = match argument {
            Argument::View(view) => format!("memory ({}{:?})", view.element(), view.shape()),
            Argument::Scalar(scalar) => format!("the number {scalar}"),
        };
        let kind = || BindError::Kind {
            name: name.clone(),
            expected: describe(signature, param),
            found: found.clone(),
        };
        match (param, argument) {
            (ParamSignature::View(expected), Argument::View(view)) => {
                check_view(signature, &arguments, index, expected, view, &mut told)?;
                write_view(signature, index, view, &mut record);
            }
            (ParamSignature::Scalar(element), Argument::Scalar(scalar)) => {
                let bits = scalar_bits(*element, *scalar).ok_or_else(kind)?;
                record[signature.layout.param(index) as usize] = bits;
            }
            (ParamSignature::View(_), Argument::Scalar(_))
            | (ParamSignature::Scalar(_), Argument::View(_)) => {
                return Err(kind());
            }
        }
    }
    for (index, axis) in signature.axes.iter().enumerate() {
        let Some(told) = &told[index] else {
            return Err(BindError::UnknownExtent {
                axis: axis.name.clone(),
            });
        };
        record[signature.layout.axis(index) as usize] = told.extent;
    }
    let mut programs = 0u64;
    for (_, domain) in executable.entries() {
        programs = programs.max(domain.programs(&record).ok_or(BindError::TooManyPrograms)?);
    }
    check_overlaps(signature, &arguments, programs)?;
    Bound::new(executable.clone(), record)
}

fn scalar_bits(element: ElementType, scalar: Scalar) -> Option<u64> {
    match (element, scalar) {
        (ElementType::F32, Scalar::F32(x)) => Some(u64::from(x.to_bits())),
        (ElementType::F64, Scalar::F64(x)) => Some(x.to_bits()),
        (ElementType::I32, Scalar::I32(n)) => Some(u64::from(n as u32)),
        (ElementType::Bool, Scalar::Bool(b)) => Some(u64::from(b)),
        _ => None,
    }
}

fn check_view(
    signature: &Signature,
    arguments: &[Argument<'_>],
    index: usize,
    expected: &ViewSignature,
    view: &View<'_>,
    told: &mut [Option<Told>],
) -> Result<(), BindError> {
    let name = || signature.params[index].0.clone();
    let shape = || view.shape().to_vec();
    if view.element() != expected.element {
        return Err(BindError::Element {
            name: name(),
            expected: expected.element,
            found: view.element(),
        });
    }
    if view.shape().len() != expected.axes.len() {
        let (dims, found) = (signature.dims(expected), view.shape().len());
        return Err(BindError::Rank {
            name: name(),
            expected: expected.axes.len(),
            dims,
            shape: shape(),
            found,
        });
    }
    for (dim, &axis) in expected.axes.iter().enumerate() {
        let extent = view.shape()[dim];
        let axis_name = || signature.axes[axis].name.clone();
        if extent > i32::MAX as u64 {
            return Err(BindError::TooLarge {
                name: name(),
                axis: axis_name(),
                extent,
            });
        }
        match &told[axis] {
            None => {
                told[axis] = Some(Told {
                    extent,
                    view: Some(index),
                })
            }
            Some(known) if known.extent == extent => {}
            Some(Told {
                extent: first_extent,
                view: Some(first),
            }) => {
                let first_shape = match &arguments[*first] {
                    Argument::View(view) => view.shape().to_vec(),
                    Argument::Scalar(_) => Vec::new(),
                };
                return Err(BindError::Disagreement(Box::new(Disagreement {
                    axis: axis_name(),
                    first: signature.params[*first].0.clone(),
                    first_extent: *first_extent,
                    first_shape,
                    second: name(),
                    second_extent: extent,
                    second_shape: shape(),
                })));
            }
            Some(Told {
                extent: fixed,
                view: None,
            }) => {
                let expected = u32::try_from(*fixed).unwrap_or(u32::MAX);
                return Err(BindError::Extent {
                    name: name(),
                    axis: axis_name(),
                    expected,
                    shape: shape(),
                    found: extent,
                });
            }
        }
        if let Some(stride) = expected.strides[dim]
            && view.strides()[dim] != stride
            && extent > 1
        {
            let found = view.strides()[dim];
            return Err(BindError::StrideMismatch {
                name: name(),
                axis: axis_name(),
                expected: stride,
                found,
            });
        }
    }
    let (low, high) = view.range();
    if low < 0 || high > i64::MAX as i128 {
        return Err(BindError::OffsetTooLarge {
            name: name(),
            shape: shape(),
            strides: view.strides().to_vec(),
        });
    }
    if view.is_empty() {
        return Ok(());
    }
    if view.base.is_null() {
        return Err(BindError::Null {
            name: name(),
            shape: shape(),
        });
    }
    if expected.mutable {
        if !view.writable {
            return Err(BindError::ReadOnly { name: name() });
        }
        if !view.is_injective() {
            return Err(BindError::OverlapsItself {
                name: name(),
                shape: shape(),
                strides: view.strides().to_vec(),
            });
        }
    }
    Ok(())
}

fn write_view(signature: &Signature, index: usize, view: &View<'_>, record: &mut [u64]) {
    let layout = &signature.layout;
    let size = view.element().size() as i64;
    record[layout.param(index) as usize] = view.base.expose_provenance() as u64;
    for (dim, (&extent, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
        record[layout.extent(index, dim) as usize] = extent;
        // A stride along an extent of one moves nobody; what the kernel declares keeps its meaning.
        record[layout.stride(index, dim) as usize] = stride.wrapping_mul(size) as u64;
    }
}

/// Refuses outputs that share memory with another view, but for the very same view where each program keeps to its own part, and
/// where there is one program in all.
fn check_overlaps(
    signature: &Signature,
    arguments: &[Argument<'_>],
    programs: u64,
) -> Result<(), BindError> {
    if programs <= 1 {
        return Ok(());
    }
    let views: Vec<(usize, &View<'_>, bool)> = arguments
        .iter()
        .enumerate()
        .filter_map(
            |(index, argument)| match (argument, &signature.params[index].1) {
                (Argument::View(view), ParamSignature::View(expected)) => {
                    Some((index, view, expected.mutable))
                }
                _ => None,
            },
        )
        .collect();
    for &(i, view, mutable) in &views {
        for &(j, other, _) in &views {
            if !mutable || i == j {
                continue;
            }
            let (a, b) = (view.range(), other.range());
            let apart = a.1 <= b.0 || b.1 <= a.0 || view.is_empty() || other.is_empty();
            let same = view.base == other.base
                && view.shape == other.shape
                && view.strides == other.strides
                && view.element == other.element;
            if apart || (same && signature.may_share(i, j)) {
                continue;
            }
            let hint = if signature.may_share(i, j) {
                ", or the very same view"
            } else {
                ""
            };
            let (output, other) = (signature.params[i].0.clone(), signature.params[j].0.clone());
            return Err(BindError::Overlap {
                output,
                other,
                hint,
            });
        }
    }
    Ok(())
}
