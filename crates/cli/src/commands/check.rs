//! `tilewright check`: what is wrong with kernels, all of it.

use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::kernel_source::KernelSource;

/// Reads and verifies every kernel, and says nothing if all are right.
pub(crate) fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for path in &arguments.kernels {
        match KernelSource::read(path).and_then(|source| source.parse()) {
            Ok(_) => {}
            Err(Failure::Input(found)) => reports.extend(found),
            Err(other) => return Err(other),
        }
    }
    if reports.is_empty() {
        Ok(())
    } else {
        Err(Failure::Input(reports))
    }
}
