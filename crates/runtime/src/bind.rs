//! Arguments against a signature: everything is checked here, before a byte is written.

use kernel_abi::Executable;
use numerics::{ElementType, Scalar, casts};

use crate::argument::Argument;
use crate::axes::{extents, view_params};
use crate::error::{BindError, ViewText};
use crate::launch::Bound;
use crate::overlap::{Relation, is_injective, relation};
use crate::signature::{ParamSignature, Signature, ViewSignature};
use crate::view::View;
use crate::workspace::Workspace;

/// Binds named arguments to a kernel; extents of axes that no view tells are given by axis number.
///
/// Views may be strided in any way the signature allows, and unaligned. An output must have distinct elements, and must not
/// overlap any other view, unless the two are the very same elements and the signature says that programs keep to their
/// own, or the launch runs one program. A zero extent makes a launch that does nothing.
///
/// The signature has to be that of the executable: `tilewright` makes both from one kernel, and nobody else need.
///
/// # Errors
///
/// [`BindError`] names what doesn't fit; nothing was written.
pub fn bind<'a>(
    executable: &Executable,
    signature: &Signature,
    arguments: Vec<(String, Argument<'a>)>,
    given: &[(usize, u32)],
) -> Result<Bound<'a>, BindError> {
    let arguments = match_names(signature, arguments)?;
    for (argument, (name, param)) in arguments.iter().zip(&signature.params) {
        check_argument(signature, name, param, argument)?;
    }
    let views: Vec<Option<&View<'_>>> = arguments
        .iter()
        .map(|argument| match argument {
            Argument::View(view) => Some(view),
            Argument::Scalar(_) => None,
        })
        .collect();
    let extents = extents(signature, &views, given)?;
    check_strides(signature, &views)?;
    let record = record(signature, &arguments, &extents)?;

    let too_large = || BindError::TooLarge {
        kernel: signature.kernel.clone(),
    };
    let mut programs = 0u64;
    let mut packets = Vec::new();
    for (_, domain) in executable.entries() {
        programs = programs.max(domain.programs(&record).ok_or_else(too_large)?);
        packets.push(domain.packets(&record).ok_or_else(too_large)?);
    }
    check_overlap(signature, &views, programs)?;

    let workspaces = executable.workspaces();
    let most = packets.iter().copied().max().unwrap_or(0);
    let shared_bytes = workspaces
        .shared_bytes_per_packet
        .checked_mul(most)
        .ok_or_else(too_large)?;
    let allocate = |bytes| {
        Workspace::new(bytes).ok_or_else(|| BindError::NoWorkspace {
            kernel: signature.kernel.clone(),
            bytes,
        })
    };
    let worker = allocate(workspaces.worker_bytes)?;
    let shared = allocate(shared_bytes)?;
    Ok(Bound::new(
        executable.clone(),
        record,
        packets,
        worker,
        shared,
    ))
}

/// Puts arguments in the order of the parameters.
fn match_names<'a>(
    signature: &Signature,
    arguments: Vec<(String, Argument<'a>)>,
) -> Result<Vec<Argument<'a>>, BindError> {
    let mut slots: Vec<Option<Argument<'a>>> = Vec::new();
    slots.resize_with(signature.params.len(), || None);
    for (name, argument) in arguments {
        let Some(index) = signature
            .params
            .iter()
            .position(|(param, _)| *param == name)
        else {
            let params = signature.params.iter().map(|(name, _)| format!("`{name}`"));
            return Err(BindError::UnknownName {
                kernel: signature.kernel.clone(),
                name,
                params: params.collect(),
            });
        };
        if slots[index].is_some() {
            return Err(BindError::GivenTwice { name });
        }
        slots[index] = Some(argument);
    }
    let missing: Vec<String> = signature
        .params
        .iter()
        .zip(&slots)
        .filter(|(_, slot)| slot.is_none())
        .map(|((name, param), _)| param_text(signature, name, param))
        .collect();
    if !missing.is_empty() {
        return Err(BindError::Missing {
            kernel: signature.kernel.clone(),
            missing,
        });
    }
    Ok(slots.into_iter().flatten().collect())
}

/// A parameter as its declaration shows it.
fn param_text(signature: &Signature, name: &str, param: &ParamSignature) -> String {
    match param {
        ParamSignature::Scalar(element) => format!("`{name}`: {element}"),
        ParamSignature::View(view) => {
            let axes = axis_names(signature, view).join(", ");
            format!("`{name}`: {}[{axes}]", view.element)
        }
    }
}

fn axis_names(signature: &Signature, view: &ViewSignature) -> Vec<String> {
    view.axes
        .iter()
        .map(|&axis| signature.axis_name(axis).to_owned())
        .collect()
}

/// Kind, element type, mutability and rank of one argument.
fn check_argument(
    signature: &Signature,
    name: &str,
    param: &ParamSignature,
    argument: &Argument<'_>,
) -> Result<(), BindError> {
    match (param, argument) {
        (ParamSignature::Scalar(wanted), Argument::Scalar(given)) => {
            scalar_bits(name, *wanted, *given).map(|_| ())
        }
        (ParamSignature::View(wanted), Argument::View(view)) => {
            let given = || ViewText::new(name, view);
            if view.element() != wanted.element {
                return Err(BindError::Element {
                    given: given(),
                    wanted: wanted.element,
                });
            }
            if view.shape().len() != wanted.axes.len() {
                return Err(BindError::Rank {
                    given: given(),
                    axes: axis_names(signature, wanted),
                });
            }
            if wanted.mutable && !view.is_mutable() {
                return Err(BindError::ReadOnly { given: given() });
            }
            Ok(())
        }
        (ParamSignature::Scalar(_), Argument::View(_))
        | (ParamSignature::View(_), Argument::Scalar(_)) => Err(BindError::Kind {
            wanted: format!("{} is wanted", param_text(signature, name, param)),
            given: argument.kind(),
        }),
    }
}

/// The bits of a number as the parameter's type, in the low end of a word.
fn scalar_bits(name: &str, wanted: ElementType, given: Scalar) -> Result<u64, BindError> {
    let wanted = wanted.compute_type();
    let refused = || BindError::Number {
        name: name.to_owned(),
        wanted,
        given,
    };
    let held = casts::cast(given, wanted);
    let fits = match (given, held) {
        (Scalar::F32(_), Scalar::F32(_))
        | (Scalar::F64(_), Scalar::F64(_))
        | (Scalar::F32(_), Scalar::F64(_))
        | (Scalar::I32(_), Scalar::I32(_) | Scalar::F64(_))
        | (Scalar::Bool(_), Scalar::Bool(_)) => true,
        (Scalar::F64(given), Scalar::F32(held)) => held.is_infinite() == given.is_infinite(),
        (Scalar::I32(given), Scalar::F32(held)) => i64::from(given) == held as i64,
        (Scalar::F32(_) | Scalar::F64(_), Scalar::I32(_) | Scalar::Bool(_))
        | (Scalar::I32(_), Scalar::Bool(_))
        | (Scalar::Bool(_), Scalar::F32(_) | Scalar::F64(_) | Scalar::I32(_)) => false,
    };
    if !fits {
        return Err(refused());
    }
    Ok(match held {
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::F64(value) => value.to_bits(),
        Scalar::I32(value) => u64::from(value.cast_unsigned()),
        Scalar::Bool(value) => u64::from(value),
    })
}

/// Strides that the kernel states. Where there is one coordinate, a stride has no meaning.
fn check_strides(signature: &Signature, views: &[Option<&View<'_>>]) -> Result<(), BindError> {
    for (param, wanted, view) in view_params(signature, views) {
        if view.is_empty() {
            continue;
        }
        for (dim, stride) in wanted.strides.iter().enumerate() {
            if let Some(stride) = *stride
                && view.shape()[dim] > 1
                && view.strides()[dim] != stride
            {
                return Err(BindError::Stride {
                    given: ViewText::new(&signature.params[param].0, view),
                    dim,
                    wanted: stride,
                });
            }
        }
    }
    Ok(())
}

/// Outputs have distinct elements and keep to themselves.
fn check_overlap(
    signature: &Signature,
    views: &[Option<&View<'_>>],
    programs: u64,
) -> Result<(), BindError> {
    let text =
        |param: usize, view: &View<'_>| Box::new(ViewText::new(&signature.params[param].0, view));
    for (written, wanted, view) in view_params(signature, views) {
        if !wanted.mutable {
            continue;
        }
        if !is_injective(view) {
            return Err(BindError::OverlapsItself {
                given: *text(written, view),
            });
        }
        for (other, _, other_view) in view_params(signature, views) {
            if other == written {
                continue;
            }
            match relation(view, other_view) {
                Relation::Apart => {}
                Relation::Same if signature.may_share(written, other) || programs <= 1 => {}
                Relation::Same => {
                    return Err(BindError::SharedByPrograms {
                        written: text(written, view),
                        other: text(other, other_view),
                    });
                }
                Relation::Overlapping => {
                    return Err(BindError::Overlap {
                        written: text(written, view),
                        other: text(other, other_view),
                    });
                }
            }
        }
    }
    Ok(())
}

/// The launch record: what generated code reads.
fn record(
    signature: &Signature,
    arguments: &[Argument<'_>],
    extents: &[u32],
) -> Result<Vec<u64>, BindError> {
    let layout = &signature.layout;
    let mut record = vec![0u64; layout.words() as usize];
    for (index, (argument, (name, param))) in arguments.iter().zip(&signature.params).enumerate() {
        match (param, argument) {
            (ParamSignature::View(_), Argument::View(view)) => {
                let size = view.element().size() as i64;
                record[layout.param(index) as usize] = view.base() as usize as u64;
                for (dim, (&extent, &stride)) in view.shape().iter().zip(view.strides()).enumerate()
                {
                    record[layout.extent(index, dim) as usize] = extent as u64;
                    // Where there is one coordinate at most, the stride is never used and may be beyond 64 bits.
                    let bytes = if extent > 1 { stride * size } else { 0 };
                    record[layout.stride(index, dim) as usize] = bytes.cast_unsigned();
                }
            }
            (ParamSignature::Scalar(wanted), Argument::Scalar(given)) => {
                record[layout.param(index) as usize] = scalar_bits(name, *wanted, *given)?;
            }
            (ParamSignature::View(_), Argument::Scalar(_))
            | (ParamSignature::Scalar(_), Argument::View(_)) => {}
        }
    }
    for (axis, &extent) in extents.iter().enumerate() {
        record[layout.axis(axis) as usize] = u64::from(extent);
    }
    Ok(record)
}
