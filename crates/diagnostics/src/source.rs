//! A text with its lines: which line and column a byte offset is.
//!
//! A line ends with `\n` or `\r\n`. A lone `\r`, a form feed or a Unicode line separator is a character like any other,
//! as it is to the kernel parser, so that the line a diagnostic names is the line an editor shows. A byte order mark at
//! the very start is not part of the first line.

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A line and a column, both from 1; a column is a Unicode scalar value (a tab is one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// The line and column of byte `offset` of `source`.
///
/// An offset past the end means the end; one inside a character means that character; one inside a `\r\n` means the
/// end of the line.
pub fn line_column(source: &str, offset: u32) -> LineColumn {
    let lines = Lines::new(source);
    lines.line_column(lines.clamp(offset))
}

/// The lines of a text. Offsets inside it are plain `usize` and lie on character boundaries; [`Lines::clamp`] makes one.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// The offset of each line's first byte; the first line begins after a byte order mark.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        let first = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let mut starts = vec![first];
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        starts.extend(ends.map(|(end, _)| end + 1));
        Lines { text, starts }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// How many lines there are: at least one, and a text that ends with a line break has an empty last line.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The nearest usable offset at or before `offset`: inside the text, at a character, not before the first line and
    /// not between `\r` and `\n`.
    pub(crate) fn clamp(&self, offset: u32) -> usize {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let bytes = self.text.as_bytes();
        if offset > 0 && bytes.get(offset) == Some(&b'\n') && bytes[offset - 1] == b'\r' {
            offset -= 1;
        }
        offset.max(self.starts[0])
    }

    /// The index of the line that holds `offset`, from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1)
    }

    /// The first byte and the text of line `index`, without its line break.
    pub(crate) fn line(&self, index: usize) -> (usize, &'a str) {
        let start = self.starts[index];
        let end = self.starts.get(index + 1).copied();
        let line = &self.text[start..end.unwrap_or(self.text.len())];
        let line = line
            .strip_suffix('\n')
            .map_or(line, |rest| rest.strip_suffix('\r').unwrap_or(rest));
        (start, line)
    }

    pub(crate) fn line_column(&self, offset: usize) -> LineColumn {
        let line = self.line_of(offset);
        let column = self.text[self.starts[line]..offset].chars().count();
        LineColumn {
            line: line + 1,
            column: column + 1,
        }
    }
}

/// `text` with each control character but the tab shown as U+FFFD, so that a file can't steer the reader's terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

/// What [`printable`] does to one character.
pub(crate) fn printable_char(character: char) -> char {
    let breaks_the_line = matches!(character, '\u{2028}' | '\u{2029}');
    let reorders = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if (character.is_control() && character != '\t') || breaks_the_line || reorders {
        char::REPLACEMENT_CHARACTER
    } else {
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, offset: u32, line: usize, column: usize) {
        let found = line_column(source, offset);
        assert_eq!(found, LineColumn { line, column }, "{source:?} at {offset}");
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        check("", 0, 1, 1);
        check("", 99, 1, 1);
        check("ab\ncd", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 3, 2, 1);
        check("ab\ncd", 99, 2, 3);
        check("ab\n", 3, 2, 1);
    }

    #[test]
    fn a_carriage_return_belongs_to_its_line_break() {
        check("ab\r\ncd", 2, 1, 3);
        check("ab\r\ncd", 3, 1, 3);
        check("ab\r\ncd", 4, 2, 1);
        check("a\rb\n", 2, 1, 3);
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        check("\u{feff}ab", 0, 1, 1);
        check("\u{feff}ab", 3, 1, 1);
        check("\u{feff}ab", 4, 1, 2);
        check("\u{feff}", 3, 1, 1);
    }

    #[test]
    fn columns_are_characters_not_bytes() {
        check("é=x", 3, 1, 3);
        check("é=x", 1, 1, 1);
        check("\u{2028}x", 3, 1, 2);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(
            printable("a\u{1b}[31m\tb\u{2028}"),
            "a\u{fffd}[31m\tb\u{fffd}"
        );
    }
}
