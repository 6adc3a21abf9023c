//! Where something stands: bytes of a kernel text, or a line of Rust.

use std::fmt;
use std::ops::Range;

/// A range of bytes `start..end` in one source text.
///
/// The text is known from the context: a compilation reads one. An empty span is a point between two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The offset of the first byte, counted from the start of the file (a byte order mark counts).
    pub start: u32,
    /// The offset of the first byte after the span.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`; the two may come in either order.
    pub const fn new(start: u32, end: u32) -> Span {
        if start <= end {
            Span { start, end }
        } else {
            Span {
                start: end,
                end: start,
            }
        }
    }

    /// The empty span before byte `offset`.
    pub const fn point(offset: u32) -> Span {
        Span {
            start: offset,
            end: offset,
        }
    }

    /// The smallest span that covers both.
    pub fn join(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// How many bytes the span covers.
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers no byte.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The span's text in `source`, or `None` where the span leaves the text or cuts a character.
    pub fn text(self, source: &str) -> Option<&str> {
        source.get(self.start as usize..self.end as usize)
    }
}

impl From<Range<usize>> for Span {
    /// The bytes of `range`; offsets beyond 4 GiB saturate.
    fn from(range: Range<usize>) -> Span {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span::new(narrow(range.start), narrow(range.end))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Where a diagnostic points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Location {
    /// Bytes of the kernel text.
    Text(Span),
    /// A line of Rust that called a builder.
    Caller {
        /// The source file, as the Rust compiler was given it.
        file: &'static str,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
    /// Nowhere in particular: the whole kernel, or an argument of a launch.
    #[default]
    None,
}

impl Location {
    /// The place in Rust that called the function that calls this one, when that function is `#[track_caller]` too.
    ///
    /// ```
    /// use diagnostics::Location;
    ///
    /// let here = Location::caller();
    /// assert!(matches!(here, Location::Caller { line, .. } if line > 0));
    /// ```
    #[track_caller]
    pub fn caller() -> Location {
        std::panic::Location::caller().into()
    }

    /// The bytes of text it points to, if it points to text.
    pub const fn span(self) -> Option<Span> {
        match self {
            Location::Text(span) => Some(span),
            Location::Caller { .. } | Location::None => None,
        }
    }
}

impl From<Span> for Location {
    fn from(span: Span) -> Location {
        Location::Text(span)
    }
}

impl From<&'static std::panic::Location<'static>> for Location {
    fn from(location: &'static std::panic::Location<'static>) -> Location {
        Location::Caller {
            file: location.file(),
            line: location.line(),
            column: location.column(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_ordered_whatever_order_its_ends_come_in() {
        assert_eq!(Span::new(5, 2), Span { start: 2, end: 5 });
        assert_eq!(Span::new(2, 3).join(Span::new(7, 9)), Span::new(2, 9));
        assert_eq!(Span::from(3..usize::MAX), Span::new(3, u32::MAX));
    }

    #[test]
    fn a_span_that_cuts_a_character_has_no_text() {
        assert_eq!(Span::new(0, 1).text("é"), None);
        assert_eq!(Span::new(0, 2).text("é"), Some("é"));
        assert_eq!(Span::new(0, 3).text("é"), None);
    }

    #[test]
    fn a_builder_learns_its_callers_line() {
        #[track_caller]
        fn build() -> Location {
            Location::caller()
        }
        let (expected, found) = (line!(), build());
        assert!(matches!(found, Location::Caller { line, file, .. }
            if line == expected && file.ends_with("span.rs")));
    }
}
