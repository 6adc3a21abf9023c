//! Why a command ended early, and how people hear of it.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use diagnostics::{Diagnostic, Diagnostics, render};

use crate::kernel_source::KernelSource;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line can't be meant so.
    Usage(String),
    /// The input is wrong; each report is about one kernel, or about none.
    Input(Vec<Report>),
    /// The check found something and there is nothing to say about it.
    Silent,
}

/// Diagnostics, and the kernel text their places point into.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) diagnostics: Diagnostics,
    pub(crate) source: Option<KernelSource>,
}

impl Failure {
    /// A failure that has to do with no kernel text.
    pub(crate) fn without_source(diagnostic: Diagnostic) -> Failure {
        Failure::Input(vec![Report {
            diagnostics: diagnostic.into(),
            source: None,
        }])
    }

    /// A failure in, or with, a kernel.
    pub(crate) fn in_kernel(diagnostics: impl Into<Diagnostics>, source: &KernelSource) -> Failure {
        Failure::Input(vec![Report {
            diagnostics: diagnostics.into(),
            source: Some(source.clone()),
        }])
    }

    /// Tells stderr; the code to exit with.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Failure::Usage(message) => (
                format!("error: {message}\n\nFor more information, try '--help'.\n"),
                2,
            ),
            Failure::Input(reports) => {
                let texts: Vec<String> = reports.iter().map(Report::text).collect();
                (texts.join("\n"), 1)
            }
            Failure::Silent => (String::new(), 1),
        };
        // Nobody is left to hear that stderr is gone.
        let _ = std::io::stderr().write_all(text.as_bytes());
        ExitCode::from(code)
    }
}

impl Report {
    fn text(&self) -> String {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = !no_color && std::io::stderr().is_terminal();
        match &self.source {
            Some(source) => render(&self.diagnostics, &source.name, &source.text, color),
            None => render(&self.diagnostics, "", "", color),
        }
    }
}
