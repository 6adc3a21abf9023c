//! Extents of axes: those the code was compiled for, those given by name, those the views tell; all must agree.

use crate::error::{BindError, ViewText};
use crate::signature::{Signature, ViewSignature};
use crate::view::{MOST, View};

/// Who said what the extent of an axis is.
#[derive(Clone, Copy)]
enum Source {
    /// The code.
    Code,
    /// The caller, by name.
    Given,
    /// Dimension `dim` of the view for parameter `param`.
    View { param: usize, dim: usize },
}

/// The extent of every axis.
pub(crate) fn extents(
    signature: &Signature,
    views: &[Option<&View<'_>>],
    given: &[(usize, u32)],
) -> Result<Vec<u32>, BindError> {
    let mut known: Vec<Option<(u32, Source)>> = signature
        .axes
        .iter()
        .map(|axis| axis.extent.map(|extent| (extent, Source::Code)))
        .collect();
    for &(axis, extent) in given {
        let Some(slot) = known.get_mut(axis) else {
            return Err(BindError::NoSuchAxis {
                kernel: signature.kernel.clone(),
                axis,
            });
        };
        if extent as usize > MOST {
            return Err(BindError::ExtentTooLarge {
                axis: signature.axis_name(axis).to_owned(),
                given: extent,
            });
        }
        match *slot {
            Some((fixed, _)) if fixed != extent => {
                return Err(BindError::GivenExtent {
                    axis: signature.axis_name(axis).to_owned(),
                    fixed,
                    given: extent,
                });
            }
            Some(_) => {}
            None => *slot = Some((extent, Source::Given)),
        }
    }
    for (param, wanted, view) in view_params(signature, views) {
        for (dim, (&axis, &extent)) in wanted.axes.iter().zip(view.shape()).enumerate() {
            // A view's extents fit i32.
            let extent = extent as u32;
            match known[axis] {
                None => known[axis] = Some((extent, Source::View { param, dim })),
                Some((other, _)) if other == extent => {}
                Some((other, source)) => {
                    return Err(disagreement(
                        signature, views, axis, other, source, param, dim,
                    ));
                }
            }
        }
    }
    known
        .iter()
        .enumerate()
        .map(|(axis, known)| match known {
            Some((extent, _)) => Ok(*extent),
            None => Err(BindError::OpenAxis {
                axis: signature.axis_name(axis).to_owned(),
            }),
        })
        .collect()
}

/// The view parameters with their views, in order.
pub(crate) fn view_params<'s, 'v>(
    signature: &'s Signature,
    views: &'v [Option<&'v View<'v>>],
) -> impl Iterator<Item = (usize, &'s ViewSignature, &'v View<'v>)> {
    signature
        .params
        .iter()
        .zip(views)
        .enumerate()
        .filter_map(|(index, ((_, param), view))| match (param, view) {
            (crate::ParamSignature::View(wanted), Some(view)) => Some((index, wanted, *view)),
            _ => None,
        })
}

fn disagreement(
    signature: &Signature,
    views: &[Option<&View<'_>>],
    axis: usize,
    other: u32,
    source: Source,
    param: usize,
    dim: usize,
) -> BindError {
    let text = |param: usize| {
        let name = &signature.params[param].0;
        views[param].map(|view| ViewText::new(name, view))
    };
    let axis_name = signature.axis_name(axis).to_owned();
    let Some(second) = text(param) else {
        return BindError::OpenAxis { axis: axis_name };
    };
    match source {
        Source::Code => BindError::FixedExtent {
            given: second,
            dim,
            axis: axis_name,
            wanted: other,
        },
        Source::Given => BindError::GivenExtentAndView {
            axis: axis_name,
            given: other,
            view: Box::new(second),
            dim,
        },
        Source::View {
            param: first,
            dim: first_dim,
        } => match text(first) {
            Some(first) => BindError::Extents {
                axis: axis_name,
                first: Box::new(first),
                first_dim,
                second: Box::new(second),
                second_dim: dim,
            },
            None => BindError::OpenAxis { axis: axis_name },
        },
    }
}
