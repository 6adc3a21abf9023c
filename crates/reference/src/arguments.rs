//! What a kernel is run on: a place in memory for each view, a number for each scalar, extents for the axes.
//!
//! The interpreters take any binding whose parts fit together: views may alias, overlap themselves and run backwards.
//! What a launch refuses beyond that is the runtime's matter.

use numerics::{ElementType, Scalar};
use tile_ir::{Axis, Kernel, ParamKind, Stride, ViewType};

/// Where a view lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the buffer.
    pub buffer: usize,
    /// The element of the buffer at which the view's coordinates are all 0, in elements of the view's type.
    pub offset: i64,
    /// One extent a dimension.
    pub shape: Vec<u32>,
    /// One stride a dimension, in elements.
    pub strides: Vec<i64>,
}

impl Place {
    /// A view in C order over the start of a buffer.
    #[must_use]
    pub fn dense(buffer: usize, shape: &[u32]) -> Place {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * i64::from(shape[dim]);
        }
        Place {
            buffer,
            offset: 0,
            shape: shape.to_vec(),
            strides,
        }
    }
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// For a view parameter.
    View(Place),
    /// For a scalar parameter.
    Scalar(Scalar),
}

/// All arguments, one a parameter in the kernel's order, and the extents that no view tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// One a parameter.
    pub params: Vec<Argument>,
    /// Extents of axes; needed for axes that neither the kernel nor a view's shape fixes.
    pub extents: Vec<(Axis, u32)>,
}

/// Why arguments don't fit a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// There are too many or too few.
    #[error("the kernel has {expected} parameters, but {found} arguments are given")]
    Count {
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments given.
        found: usize,
    },
    /// A view is given for a scalar or the other way round, or a scalar has another type.
    #[error("parameter `{param}` wants {expected}")]
    Kind {
        /// The parameter.
        param: String,
        /// What it wants.
        expected: String,
    },
    /// Shape or strides have another rank than the view.
    #[error(
        "view `{param}` has {expected} dimensions, but the argument has {shape} extents and {strides} strides"
    )]
    Rank {
        /// The view.
        param: String,
        /// Dimensions of the view.
        expected: usize,
        /// Extents given.
        shape: usize,
        /// Strides given.
        strides: usize,
    },
    /// A stride differs from what the kernel fixes.
    #[error("view `{param}` fixes stride {expected} for dimension {dim}, but {found} is given")]
    FixedStride {
        /// The view.
        param: String,
        /// The dimension.
        dim: usize,
        /// What the kernel fixes.
        expected: i64,
        /// What is given.
        found: i64,
    },
    /// Two sources give one axis different extents.
    #[error("axis `{axis}` has extent {before} already, but `{source_name}` gives {found}")]
    Extent {
        /// The axis.
        axis: String,
        /// What is known.
        before: u32,
        /// What is given now.
        found: u32,
        /// Who gives it: a view, or the list of extents.
        source_name: String,
    },
    /// Nothing gives an axis its extent.
    #[error("axis `{axis}` has no extent; give one")]
    Unknown {
        /// The axis.
        axis: String,
    },
}

/// A bound view.
#[derive(Clone, Debug)]
pub(crate) struct BoundView {
    pub(crate) element: ElementType,
    pub(crate) fill: Scalar,
    pub(crate) buffer: usize,
    pub(crate) offset: i64,
    /// Extent and stride of each dimension.
    pub(crate) dims: Vec<(i64, i64)>,
}

/// A bound parameter.
#[derive(Clone, Debug)]
pub(crate) enum BoundParam {
    View(BoundView),
    Scalar(Scalar),
}

/// Arguments that fit a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) params: Vec<BoundParam>,
    /// One extent an axis.
    pub(crate) extents: Vec<usize>,
}

/// Holds arguments against a kernel.
pub(crate) fn bind(kernel: &Kernel, arguments: &Arguments) -> Result<Bound, ArgumentError> {
    let expected = kernel.params().len();
    if arguments.params.len() != expected {
        return Err(ArgumentError::Count {
            expected,
            found: arguments.params.len(),
        });
    }
    let mut extents: Vec<Option<u32>> =
        kernel.axes().map(|axis| kernel.axis(axis).extent).collect();
    let mut agree = |axis: Axis, found: u32, source_name: &str| {
        let known = &mut extents[axis.index()];
        match *known {
            Some(before) if before != found => Err(ArgumentError::Extent {
                axis: kernel.axis(axis).name.clone(),
                before,
                found,
                source_name: source_name.to_owned(),
            }),
            Some(_) | None => {
                *known = Some(found);
                Ok(())
            }
        }
    };
    for &(axis, extent) in &arguments.extents {
        agree(axis, extent, "the list of extents")?;
    }
    let mut params = Vec::with_capacity(expected);
    for (param, argument) in kernel.params().zip(&arguments.params) {
        let data = kernel.param(param);
        params.push(match (&data.kind, argument) {
            (ParamKind::View(view), Argument::View(place)) => {
                check_place(&data.name, view, place)?;
                for (&axis, &extent) in view.dims.iter().zip(&place.shape) {
                    agree(axis, extent, &data.name)?;
                }
                let dims = place.shape.iter().zip(&place.strides);
                BoundParam::View(BoundView {
                    element: view.element,
                    fill: view.fill,
                    buffer: place.buffer,
                    offset: place.offset,
                    dims: dims
                        .map(|(&extent, &stride)| (i64::from(extent), stride))
                        .collect(),
                })
            }
            (ParamKind::Scalar(element), Argument::Scalar(value))
                if value.element() == *element =>
            {
                BoundParam::Scalar(*value)
            }
            (ParamKind::View(view), Argument::Scalar(_)) => {
                let expected = format!(
                    "a view of {} with {} dimensions",
                    view.element,
                    view.dims.len()
                );
                return Err(ArgumentError::Kind {
                    param: data.name.clone(),
                    expected,
                });
            }
            (ParamKind::Scalar(element), Argument::View(_) | Argument::Scalar(_)) => {
                let expected = format!("a scalar of type {element}");
                return Err(ArgumentError::Kind {
                    param: data.name.clone(),
                    expected,
                });
            }
        });
    }
    let extents = kernel
        .axes()
        .zip(extents)
        .map(|(axis, extent)| match extent {
            Some(extent) => Ok(extent as usize),
            None => Err(ArgumentError::Unknown {
                axis: kernel.axis(axis).name.clone(),
            }),
        })
        .collect::<Result<_, _>>()?;
    Ok(Bound { params, extents })
}

fn check_place(param: &str, view: &ViewType, place: &Place) -> Result<(), ArgumentError> {
    let expected = view.dims.len();
    if place.shape.len() != expected || place.strides.len() != expected {
        return Err(ArgumentError::Rank {
            param: param.to_owned(),
            expected,
            shape: place.shape.len(),
            strides: place.strides.len(),
        });
    }
    for (dim, (stride, &found)) in view.strides.iter().zip(&place.strides).enumerate() {
        match *stride {
            Stride::Fixed(expected) if expected != found && place.shape[dim] > 1 => {
                return Err(ArgumentError::FixedStride {
                    param: param.to_owned(),
                    dim,
                    expected,
                    found,
                });
            }
            Stride::Fixed(_) | Stride::Any => {}
        }
    }
    Ok(())
}
