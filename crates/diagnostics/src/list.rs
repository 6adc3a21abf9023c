//! The list a stage adds to while it goes on reading.

use std::fmt;

use crate::{Diagnostic, Location};

/// Diagnostics in the order they were found.
///
/// It is an error type too: a stage that refuses its input returns `Err(Diagnostics)` with everything it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// How many diagnostics there are, of any severity.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many of them refuse the input.
    pub fn error_count(&self) -> usize {
        self.list.iter().filter(|one| one.is_error()).count()
    }

    /// Whether one of them refuses the input.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }

    /// The diagnostics in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics in order, as a slice.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Puts them in the order of their places in the text; those without a span come last, and equals keep their order.
    pub fn sort_by_place(&mut self) {
        self.list.sort_by_key(|one| match one.location {
            Location::Text(span) => (0, span.start, span.end),
            Location::Caller { .. } | Location::None => (1, 0, 0),
        });
    }

    /// `value` when nothing here refuses the input, and the whole list as the error otherwise.
    ///
    /// Warnings and notes of an accepted input are dropped; a caller who wants them asks [`has_errors`] instead.
    ///
    /// # Errors
    ///
    /// The list itself, when [`has_errors`] holds.
    ///
    /// [`has_errors`]: Diagnostics::has_errors
    pub fn into_result<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.has_errors() {
            Err(self)
        } else {
            Ok(value)
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![one] }
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { list }
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Diagnostics {
        Diagnostics {
            list: iter.into_iter().collect(),
        }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.list.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Diagnostics {
    /// One diagnostic a line, without the places' text: what an `unwrap` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{one}")?;
            match one.location {
                Location::Text(span) => write!(f, " (bytes {span})")?,
                Location::Caller { file, line, column } => write!(f, " ({file}:{line}:{column})")?,
                Location::None => {}
            }
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn warnings_alone_refuse_nothing() {
        let mut found = Diagnostics::new();
        found.push(Diagnostic::warning("unused", "`w` is never read"));
        assert_eq!(found.clone().into_result(7), Ok(7));
        found.push(Diagnostic::error(
            "unknown-name",
            "nothing here is called `z`",
        ));
        let refused = found.into_result(7).expect_err("one error is in the list");
        assert_eq!((refused.len(), refused.error_count()), (2, 1));
    }

    #[test]
    fn places_in_the_text_come_first_and_in_order() {
        let mut found: Diagnostics = [
            Diagnostic::error("whole", "no place"),
            Diagnostic::error("late", "later").at(Span::new(9, 10)),
            Diagnostic::error("early", "earlier").at(Span::new(2, 4)),
        ]
        .into_iter()
        .collect();
        found.sort_by_place();
        let codes: Vec<_> = found.iter().map(|one| one.code).collect();
        assert_eq!(codes, ["early", "late", "whole"]);
    }

    #[test]
    fn display_names_every_place_without_the_text() {
        let found: Diagnostics = vec![
            Diagnostic::error("a", "one").at(Span::new(2, 4)),
            Diagnostic::error("b", "two").at(Location::Caller {
                file: "src/main.rs",
                line: 3,
                column: 9,
            }),
        ]
        .into();
        assert_eq!(
            found.to_string(),
            "error[a]: one (bytes 2..4)\nerror[b]: two (src/main.rs:3:9)"
        );
    }
}
