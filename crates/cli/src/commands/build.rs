//! `tilewright build`: an object file or a static library, and the C header that goes with it.

use diagnostics::Diagnostic;
use machine::Machine;
use tilewright::aot::{Library, compile_for};

use super::{read_kernel, told};
use crate::arguments::BuildArguments;
use crate::failure::Failure;
use crate::files::{cannot_write, is_dash, stage};

/// Compiles every kernel, then writes both files, or neither.
pub(crate) fn build(arguments: &BuildArguments) -> Result<(), Failure> {
    if is_dash(&arguments.output) || arguments.header.as_deref().is_some_and(is_dash) {
        return Err(Failure::Usage(
            "code and header go to files, not to stdout".to_owned(),
        ));
    }
    let machine = match &arguments.target {
        Some(machine) => machine.clone(),
        None => Machine::host().map_err(|error| {
            Failure::without_source(Diagnostic::error("target", error.to_string()))
        })?,
    };
    let mut kernels = Vec::new();
    for path in &arguments.kernels {
        let (source, kernel) = read_kernel(path, &arguments.compilation)?;
        let kernel = compile_for(&kernel, &arguments.compilation.options(), &machine)
            .map_err(|error| Failure::in_kernel(told(error), &source))?;
        let comment = source
            .text
            .lines()
            .map_while(|line| line.strip_prefix("//"));
        let comment: Vec<&str> = comment.map(str::trim).collect();
        kernels.push(kernel.with_description(&comment.join(" ")));
    }
    let failed = |error| {
        let mut sentences = told(error)
            .iter()
            .map(|d| d.message.clone())
            .collect::<Vec<_>>();
        Failure::without_source(Diagnostic::error("library", sentences.remove(0)))
    };
    let library = Library::new(&arguments.prefix, kernels).map_err(failed)?;
    let is_archive = arguments
        .output
        .extension()
        .is_some_and(|extension| extension == "a");
    let code = if is_archive {
        library.archive()
    } else {
        library.object()
    }
    .map_err(failed)?;
    let mut files = vec![(&arguments.output, code)];
    if let Some(header) = &arguments.header {
        files.push((header, library.header().into_bytes()));
    }
    let mut staged = Vec::new();
    for (path, bytes) in files {
        let file = stage(path, |out| out.write_all(&bytes))
            .map_err(|error| Failure::without_source(cannot_write(path, &error)))?;
        staged.extend(file.map(|file| (path, file)));
    }
    if let [(_, first), (_, second)] = &staged[..]
        && first.same_target(second)
    {
        return Err(Failure::Usage(
            "code and header would be one file".to_owned(),
        ));
    }
    for (path, file) in staged {
        file.publish()
            .map_err(|error| Failure::without_source(cannot_write(path, &error)))?;
    }
    Ok(())
}
