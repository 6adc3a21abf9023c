//! The text of a kernel, and the file it came from.

use std::io::Read;
use std::path::Path;

use diagnostics::Diagnostic;
use tile_ir::{MAX_SOURCE_BYTES, Verified};

use crate::failure::Failure;
use crate::files::{cannot_read, is_dash, open};

/// A kernel's text and what its reader calls it.
#[derive(Clone, Debug)]
pub(crate) struct KernelSource {
    /// The path, or `<stdin>`.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl KernelSource {
    /// Reads a file, or stdin for `-`.
    pub(crate) fn read(path: &Path) -> Result<KernelSource, Failure> {
        let mut bytes = Vec::new();
        // One byte more than the limit shows the compiler that the limit is passed, even if the file never ends.
        let limit = MAX_SOURCE_BYTES as u64 + 1;
        let result = if is_dash(path) {
            std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
        } else {
            open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        };
        result.map_err(|error| Failure::without_source(cannot_read(path, &error)))?;
        let name = if is_dash(path) {
            "<stdin>".to_owned()
        } else {
            path.display().to_string()
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(KernelSource { name, text }),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = 1 + error.as_bytes()[..at]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
                let message = format!("`{name}` is not UTF-8 from byte {at} on, in line {line}");
                Err(Failure::without_source(Diagnostic::error(
                    "not-utf8", message,
                )))
            }
        }
    }

    /// Reads the text as a kernel.
    pub(crate) fn parse(&self) -> Result<Verified, Failure> {
        tilewright::parse(&self.text).map_err(|diagnostics| Failure::in_kernel(diagnostics, self))
    }
}
