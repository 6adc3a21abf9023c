//! `tilewright explain`: why loads may or may not join their first consumer.

use std::path::Path;

use diagnostics::{Location, line_column};
use tilewright::explain::{explain as find, in_sentences};

use super::{read_kernel, told};
use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use crate::files::{cannot_write, write_stdout};

/// Finds the reasons and prints them.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let (source, kernel) = read_kernel(&arguments.kernel, &arguments.compilation)?;
    let found = find(&kernel, &arguments.compilation.options().request)
        .map_err(|error| Failure::in_kernel(told(error), &source))?;
    let place = |location: &Location| match location {
        Location::Text(span) => format!("line {}", line_column(&source.text, span.start).line),
        Location::Caller { file, line, .. } => format!("{file}:{line}"),
        Location::None => "somewhere".to_owned(),
    };
    let text = in_sentences(&found, &place);
    write_stdout(|out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::without_source(cannot_write(Path::new("-"), &error)))
}
