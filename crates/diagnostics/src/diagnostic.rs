//! One thing to tell a person: what is wrong, where, and what to do.

use std::fmt;

use crate::Location;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something worth knowing; nothing is wrong.
    Note,
    /// The input is accepted, and probably not what its author meant.
    Warning,
    /// The input is refused.
    Error,
}

impl Severity {
    /// The word that opens a diagnostic of this severity.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message with its place, its reasons and a next step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// The stable name of the rule that speaks, in kebab case: `unknown-name`.
    pub code: &'static str,
    /// One sentence that says what is wrong, without a full stop.
    pub message: String,
    /// Where it is wrong.
    pub location: Location,
    /// A few words drawn at the place; may be empty.
    pub label: String,
    /// Facts that explain the message, one sentence each.
    pub notes: Vec<String>,
    /// What to do next.
    pub help: Option<String>,
    /// Other places that matter, each with a few words: "first defined here".
    pub secondary: Vec<(Location, String)>,
}

impl Diagnostic {
    /// A diagnostic of any severity, with no place yet.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            location: Location::None,
            label: String::new(),
            notes: Vec::new(),
            help: None,
            secondary: Vec::new(),
        }
    }

    /// A refusal: `message` says what is wrong.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    /// A doubt: `message` says what looks wrong.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    /// A remark: nothing is wrong.
    pub fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, message)
    }

    /// Points at `location`.
    pub fn at(mut self, location: impl Into<Location>) -> Diagnostic {
        self.location = location.into();
        self
    }

    /// Writes a few words at the place.
    pub fn with_label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds a fact that explains the message.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Says what to do next.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds another place with a few words of its own.
    pub fn with_secondary(
        mut self,
        location: impl Into<Location>,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.secondary.push((location.into(), label.into()));
        self
    }

    /// Whether it refuses the input.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    /// `error[unknown-name]: nothing here is called `zs``, without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}
