//! `tilewright fmt`: kernels in house style.

use std::path::Path;

use crate::arguments::FmtArguments;
use crate::failure::Failure;
use crate::files::{cannot_write, is_dash, stage, write_stdout};
use crate::kernel_source::KernelSource;

/// Prints, rewrites or merely compares each kernel. A kernel that can't be read stops the command before anything is
/// written.
pub(crate) fn fmt(arguments: &FmtArguments) -> Result<(), Failure> {
    if arguments.write && arguments.kernels.iter().any(|path| is_dash(path)) {
        return Err(Failure::Usage(
            "stdin (`-`) can't be rewritten; leave `--write` out".to_owned(),
        ));
    }
    let mut formatted = Vec::new();
    let mut reports = Vec::new();
    for path in &arguments.kernels {
        match format(path) {
            Ok(pair) => formatted.push((path, pair)),
            Err(Failure::Input(found)) => reports.extend(found),
            Err(other) => return Err(other),
        }
    }
    if !reports.is_empty() {
        return Err(Failure::Input(reports));
    }
    let changed = |(before, after): &(String, String)| before != after;
    if arguments.check {
        return if formatted.iter().any(|(_, texts)| changed(texts)) {
            Err(Failure::Silent)
        } else {
            Ok(())
        };
    }
    for (path, (before, after)) in &formatted {
        let written = if !arguments.write {
            write_stdout(|out| out.write_all(after.as_bytes()))
        } else if before == after {
            Ok(())
        } else {
            rewrite(path, after)
        };
        written.map_err(|error| Failure::without_source(cannot_write(path, &error)))?;
    }
    Ok(())
}

/// A kernel's text, and the same in house style.
fn format(path: &Path) -> Result<(String, String), Failure> {
    let source = KernelSource::read(path)?;
    match tile_ir::format_text(&source.text) {
        Ok(text) => Ok((source.text, text)),
        Err(diagnostics) => Err(Failure::in_kernel(diagnostics, &source)),
    }
}

fn rewrite(path: &Path, text: &str) -> std::io::Result<()> {
    match stage(path, |out| out.write_all(text.as_bytes()))? {
        Some(staged) => staged.publish(),
        None => Ok(()),
    }
}
