//! From words of the command line to arguments a kernel can be bound to.
//!
//! Every word is looked at before anything is compiled, and every mistake is told at once: a name the kernel doesn't have,
//! a file that can't be read, an array of another type or rank, an axis on which two arrays disagree.

mod extents;
mod input;
mod output;

use std::path::PathBuf;

use diagnostics::{Diagnostic, Diagnostics};
use numerics::{ElementType, Scalar};
use tile_ir::{Axis, Kernel, Param, ParamKind, Verified, ViewType};

use crate::arguments::Binding;
use crate::host_tensor::HostTensor;
use crate::nearest::nearest;
use extents::Extents;
pub(crate) use extents::unknown_axis;

/// What a parameter is bound to.
#[derive(Debug)]
pub(crate) enum Bound {
    /// Memory for a view.
    Tensor(HostTensor),
    /// A number.
    Scalar(Scalar),
}

/// A kernel with known extents, something for each of its parameters, and where to save results.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The kernel; every axis that has to be known before compilation is.
    pub(crate) kernel: Verified,
    /// By parameter, in order.
    pub(crate) bound: Vec<Bound>,
    /// The extent of each axis, by name.
    pub(crate) extents: Vec<(String, u32)>,
    /// The views to save, and where.
    pub(crate) outputs: Vec<(Param, PathBuf)>,
}

/// An array that was read for a view.
struct Read {
    tensor: HostTensor,
    /// What people call where it came from.
    origin: String,
}

/// What was given for a parameter.
enum Given {
    Nothing,
    /// Something wrong, which was told.
    Wrong,
    Tensor(Read),
    Scalar(Scalar),
}

/// Reads and checks everything the command line says about a kernel's parameters and axes.
pub(crate) fn prepare(
    kernel: &Verified,
    inputs: &[Binding],
    outputs: &[Binding],
    axes: &[(String, u32)],
) -> Result<Prepared, Diagnostics> {
    let mut mistakes = Diagnostics::new();
    for binding in inputs.iter().chain(outputs) {
        if kernel.find_param(&binding.name).is_none() {
            mistakes.push(unknown_parameter(kernel, &binding.name));
        }
    }
    let given: Vec<Given> = kernel
        .params()
        .map(|param| {
            let binding = inputs
                .iter()
                .find(|binding| binding.name == kernel.param(param).name);
            let given = binding.map_or(Ok(Given::Nothing), |binding| {
                input::read(kernel, param, binding)
            });
            given.unwrap_or_else(|mistake| {
                mistakes.push(mistake);
                Given::Wrong
            })
        })
        .collect();
    for (param, given) in kernel.params().zip(&given) {
        if let (Given::Nothing, Some(mistake)) = (given, missing(kernel, param)) {
            mistakes.push(mistake);
        }
    }
    let outputs = output::choose(kernel, outputs, &mut mistakes);
    let extents = find_extents(kernel, &given, axes, &mut mistakes);
    if !mistakes.is_empty() {
        mistakes.sort_by_place();
        return Err(mistakes);
    }

    let open: Vec<(Axis, u32)> = kernel
        .open_axes()
        .into_iter()
        .map(|axis| (axis, extents[axis.index()]))
        .collect();
    let specialized = kernel
        .specialize(&open)
        .map_err(|error| Diagnostic::error("extent", error.to_string()))?;
    let bound = kernel
        .params()
        .zip(given)
        .map(|(param, given)| bind(kernel, param, given, &extents))
        .collect::<Result<_, _>>()?;
    let extents = kernel
        .axes()
        .map(|axis| (kernel.axis(axis).name.clone(), extents[axis.index()]))
        .collect();
    Ok(Prepared {
        kernel: specialized,
        bound,
        extents,
        outputs,
    })
}

/// The extent of each axis, in order; what is unknown or contradicted becomes a mistake.
fn find_extents(
    kernel: &Verified,
    given: &[Given],
    axes: &[(String, u32)],
    mistakes: &mut Diagnostics,
) -> Vec<u32> {
    let mut extents = Extents::of(kernel);
    for (name, extent) in axes {
        extents.tell_by_option(name, *extent, mistakes);
    }
    for (param, given) in kernel.params().zip(given) {
        if let (Given::Tensor(read), Some(view)) = (given, kernel.view(param)) {
            extents.tell_by_view(param, view, read.tensor.shape(), mistakes);
        }
    }
    if mistakes.is_empty() {
        // An axis may be unknown because of another mistake; that one comes first.
        extents.demand_all(mistakes);
    }
    extents.known()
}

fn bind(kernel: &Kernel, param: Param, given: Given, extents: &[u32]) -> Result<Bound, Diagnostic> {
    match (given, &kernel.param(param).kind) {
        (Given::Tensor(read), _) => Ok(Bound::Tensor(read.tensor)),
        (Given::Scalar(scalar), _) => Ok(Bound::Scalar(scalar)),
        (Given::Nothing | Given::Wrong, ParamKind::View(view)) => {
            let shape: Vec<usize> = view
                .dims
                .iter()
                .map(|axis| extents[axis.index()] as usize)
                .collect();
            let zeros = HostTensor::zeros(view.element, &shape).map_err(|error| {
                let name = &kernel.param(param).name;
                Diagnostic::error("memory", format!("`{name}` of shape {shape:?}: {error}"))
                    .at(kernel.param(param).location)
                    .with_label("takes its shape from the axes")
            })?;
            Ok(Bound::Tensor(zeros))
        }
        (Given::Nothing | Given::Wrong, ParamKind::Scalar(_)) => {
            unreachable!("a number that is missing or wrong was told as a mistake")
        }
    }
}

fn unknown_parameter(kernel: &Kernel, name: &str) -> Diagnostic {
    let names: Vec<&str> = kernel
        .params()
        .map(|param| kernel.param(param).name.as_str())
        .collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("its parameters: {}", names.join(", ")),
    };
    Diagnostic::error(
        "unknown-parameter",
        format!("kernel `{}` has no parameter `{name}`", kernel.name),
    )
    .with_help(help)
}

/// The mistake of giving nothing for a parameter that needs something.
fn missing(kernel: &Kernel, param: Param) -> Option<Diagnostic> {
    let data = kernel.param(param);
    let name = &data.name;
    let help = match &data.kind {
        ParamKind::View(view) if view.mutable => return None,
        ParamKind::View(_) => format!("add `{name}=FILE.npy` or `{name}=FILE.safetensors:TENSOR`"),
        ParamKind::Scalar(element) => format!("add `{name}={}`", example(*element)),
    };
    let mistake = Diagnostic::error("missing-argument", format!("nothing is given for `{name}`"));
    Some(
        mistake
            .at(data.location)
            .with_label(param_text(kernel, param))
            .with_help(help),
    )
}

/// A number of a type, for advice.
fn example(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 | ElementType::F64 | ElementType::F16 | ElementType::BF16 => "1e-6",
        ElementType::I32 => "1",
        ElementType::Bool => "true",
    }
}

/// A parameter in words: `x: view f32[row, col]`.
fn param_text(kernel: &Kernel, param: Param) -> String {
    let data = kernel.param(param);
    match &data.kind {
        ParamKind::View(view) => {
            let mutable = if view.mutable { "mut " } else { "" };
            format!("{}: {mutable}view {}", data.name, view_text(kernel, view))
        }
        ParamKind::Scalar(element) => format!("{}: {element}", data.name),
    }
}

/// The elements and dimensions of a view: `f32[row, col]`.
fn view_text(kernel: &Kernel, view: &ViewType) -> String {
    let names: Vec<&str> = view
        .dims
        .iter()
        .map(|axis| kernel.axis(*axis).name.as_str())
        .collect();
    format!("{}[{}]", view.element, names.join(", "))
}
