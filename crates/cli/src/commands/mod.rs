//! What `tilewright` does, one command a file.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod emit;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod run;

use diagnostics::{Diagnostic, Diagnostics};
use tile_ir::{Axis, Verified};
use tilewright::Error;

use crate::arguments::CompilationArguments;
use crate::bindings::unknown_axis;
use crate::failure::Failure;
use crate::kernel_source::KernelSource;

/// Reads a kernel and fixes the extents that options give.
fn read_kernel(
    path: &std::path::Path,
    arguments: &CompilationArguments,
) -> Result<(KernelSource, Verified), Failure> {
    let axes = arguments.axes()?;
    let source = KernelSource::read(path)?;
    let kernel = source.parse()?;
    let mut mistakes = Diagnostics::new();
    let mut extents: Vec<(Axis, u32)> = Vec::new();
    for (name, extent) in axes {
        match kernel.find_axis(name) {
            Some(axis) => extents.push((axis, *extent)),
            None => mistakes.push(unknown_axis(&kernel, name)),
        }
    }
    if !mistakes.is_empty() {
        return Err(Failure::in_kernel(mistakes, &source));
    }
    match kernel.specialize(&extents) {
        Ok(kernel) => Ok((source, kernel)),
        Err(error) => Err(Failure::in_kernel(
            Diagnostic::error("extent", error.to_string()),
            &source,
        )),
    }
}

/// What the compiler or the runtime says, under a stable code.
fn told(error: Error) -> Diagnostics {
    let message = error.to_string();
    let code = match error {
        Error::Kernel(diagnostics) => return diagnostics,
        Error::OpenAxis { .. } => "extent-unknown",
        Error::Specialize(_) | Error::CoordinatesWrap { .. } => "extent",
        Error::Pin(_) | Error::Refused(_) => "plan",
        Error::UnknownAxis { .. } => "unknown-axis",
        Error::Machine(_) | Error::Target(_) => "target",
        Error::Compile(_) | Error::Load(_) => "code",
        Error::Object(_) | Error::Library(_) => "library",
        Error::Bind(_) => "argument",
    };
    Diagnostic::error(code, message).into()
}
