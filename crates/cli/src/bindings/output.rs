//! Which views are saved, and where.

use std::path::PathBuf;

use diagnostics::{Diagnostic, Diagnostics};
use tile_ir::{Kernel, Param, ParamKind};

use super::param_text;
use crate::arguments::Binding;
use crate::npy;

/// The views to save. An output that can't be saved, and a run that would save nothing, becomes a mistake; a name the kernel
/// doesn't have is somebody else's.
pub(super) fn choose(
    kernel: &Kernel,
    outputs: &[Binding],
    mistakes: &mut Diagnostics,
) -> Vec<(Param, PathBuf)> {
    if outputs.is_empty() {
        mistakes.push(nothing_saved(kernel));
    }
    let mut chosen = Vec::new();
    for binding in outputs {
        let Some(param) = kernel.find_param(&binding.name) else {
            continue;
        };
        match check(kernel, param) {
            Ok(()) => chosen.push((param, PathBuf::from(&binding.value))),
            Err(mistake) => {
                let data = kernel.param(param);
                mistakes.push(
                    mistake
                        .at(data.location)
                        .with_label(param_text(kernel, param)),
                );
            }
        }
    }
    chosen
}

fn check(kernel: &Kernel, param: Param) -> Result<(), Diagnostic> {
    let data = kernel.param(param);
    let name = &data.name;
    match &data.kind {
        ParamKind::Scalar(_) => Err(Diagnostic::error(
            "not-an-output",
            format!("`{name}` is a number, so there is nothing to save"),
        )),
        ParamKind::View(view) if !view.mutable => {
            let message = format!("`{name}` is not `mut`: the kernel stores nothing there");
            Err(
                Diagnostic::error("not-an-output", message).with_help(format!(
                    "outputs of `{}`: {}",
                    kernel.name,
                    names_of_outputs(kernel)
                )),
            )
        }
        ParamKind::View(view) => npy::can_hold(view.element).map_err(|error| {
            Diagnostic::error("element-type", format!("`{name}` can't be saved: {error}"))
                .with_help("declare the view f32 or f16: a store rounds once")
        }),
    }
}

fn nothing_saved(kernel: &Kernel) -> Diagnostic {
    let first = kernel
        .params()
        .find(|param| kernel.view(*param).is_some_and(|view| view.mutable));
    let mistake = Diagnostic::error("nothing-saved", "nothing would be saved");
    match first {
        Some(param) => mistake.with_help(format!("add `-o {}=FILE.npy`", kernel.param(param).name)),
        None => mistake.with_help(format!(
            "kernel `{}` has no `mut` view, so it computes nothing",
            kernel.name
        )),
    }
}

fn names_of_outputs(kernel: &Kernel) -> String {
    let is_output = |param: &Param| kernel.view(*param).is_some_and(|view| view.mutable);
    let names: Vec<&str> = kernel
        .params()
        .filter(is_output)
        .map(|param| kernel.param(param).name.as_str())
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
