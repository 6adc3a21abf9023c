//! `tilewright emit`: a kernel at one stage of its way to machine code.

use diagnostics::Diagnostic;
use machine::Machine;

use super::{read_kernel, told};
use crate::arguments::EmitArguments;
use crate::failure::Failure;
use crate::files::{cannot_write, is_dash, stage, write_stdout};

/// Compiles as far as asked, and shows what there is.
pub(crate) fn emit(arguments: &EmitArguments) -> Result<(), Failure> {
    let (source, kernel) = read_kernel(&arguments.kernel, &arguments.compilation)?;
    let machine = match &arguments.target {
        Some(machine) => machine.clone(),
        None => Machine::host().map_err(|error| {
            Failure::without_source(Diagnostic::error("target", error.to_string()))
        })?,
    };
    let mut text = tilewright::emit(
        &kernel,
        &arguments.compilation.options(),
        &machine,
        arguments.stage,
    )
    .map_err(|error| Failure::in_kernel(told(error), &source))?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let path = &arguments.output;
    let written = if is_dash(path) {
        write_stdout(|out| out.write_all(text.as_bytes()))
    } else {
        stage(path, |out| out.write_all(text.as_bytes())).and_then(|staged| match staged {
            Some(staged) => staged.publish(),
            None => Ok(()),
        })
    };
    written.map_err(|error| Failure::without_source(cannot_write(path, &error)))
}
