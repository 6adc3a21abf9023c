//! Diagnostics as text for a terminal or a log.

use ariadne::{Color, Config, Label, Report, ReportKind, Source};

use crate::excerpt::{place, printable_lines, write_plain, write_title};
use crate::source::{Lines, printable, printable_char};
use crate::{Diagnostic, Diagnostics, Location, Severity, Span};

/// Above these sizes a text is quoted in pieces instead of drawn.
const DRAWN_TEXT_BYTES: usize = 1 << 20;
const DRAWN_LINE_BYTES: usize = 400;

/// All diagnostics as text, in order, a blank line between two.
///
/// `source_text` is the text the spans point into and `source_name` what its reader calls it (a path, `<stdin>`). With
/// `color` the text holds ANSI colour codes; without, none. A span that leaves the text, cuts a character or is empty
/// is drawn at the nearest place there is. Control characters of the text and of the messages come out as U+FFFD.
///
/// A diagnostic without a span, and one whose lines are too long to be drawn whole, comes in a plain form that quotes
/// a window around each place, so the result's size does not depend on the length of a line.
pub fn render(
    diagnostics: &Diagnostics,
    source_name: &str,
    source_text: &str,
    color: bool,
) -> String {
    let lines = Lines::new(source_text);
    let mut canvas: Option<Canvas> = None;
    let mut out = String::new();
    for (index, one) in diagnostics.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if is_drawable(one, &lines) {
            let canvas = canvas.get_or_insert_with(|| Canvas::new(&lines));
            draw(&mut out, one, source_name, &lines, canvas, color);
        } else {
            write_plain(&mut out, one, source_name, &lines, color);
        }
    }
    out
}

/// Whether the drawing of `diagnostic` would have a reasonable size: it has a span, and every line the drawing may
/// show, a line of context on each side included, is short.
fn is_drawable(diagnostic: &Diagnostic, lines: &Lines<'_>) -> bool {
    if lines.text().len() > DRAWN_TEXT_BYTES || diagnostic.location.span().is_none() {
        return false;
    }
    let secondary = diagnostic.secondary.iter().map(|(location, _)| *location);
    std::iter::once(diagnostic.location)
        .chain(secondary)
        .filter_map(Location::span)
        .all(|span| {
            let first = lines.line_of(lines.clamp(span.start));
            let last = lines.line_of(lines.clamp(span.end)).max(first);
            (first.saturating_sub(1)..=(last + 1).min(lines.count() - 1))
                .all(|index| lines.line(index).1.len() <= DRAWN_LINE_BYTES)
        })
}

/// The text as it is drawn: no byte order mark, `\n` for every line break, printable characters only, and one space at
/// the end for a span that points there.
struct Canvas {
    source: Source<String>,
    /// The character offset of each line's first character in `source`.
    starts: Vec<usize>,
}

impl Canvas {
    fn new(lines: &Lines<'_>) -> Canvas {
        let mut text = String::with_capacity(lines.text().len() + 1);
        let mut starts = Vec::with_capacity(lines.count());
        let mut characters = 0;
        for index in 0..lines.count() {
            starts.push(characters);
            let (_, line) = lines.line(index);
            for character in line.chars() {
                text.push(printable_char(character));
                characters += 1;
            }
            let last = index + 1 == lines.count();
            text.push(if last { ' ' } else { '\n' });
            characters += 1;
        }
        Canvas {
            source: Source::from(text),
            starts,
        }
    }

    /// The characters a span covers on the canvas, at least one.
    fn range(&self, span: Span, lines: &Lines<'_>) -> std::ops::Range<usize> {
        let character = |offset: u32| {
            let at = lines.line_column(lines.clamp(offset));
            self.starts[at.line - 1] + at.column - 1
        };
        let start = character(span.start);
        start..character(span.end).max(start + 1)
    }
}

/// Draws `diagnostic` beside the text. The drawing's own title is replaced by the title of the plain form, so that both
/// forms open alike.
fn draw(
    out: &mut String,
    diagnostic: &Diagnostic,
    name: &str,
    lines: &Lines<'_>,
    canvas: &Canvas,
    color: bool,
) {
    let name = printable(name);
    let Location::Text(primary) = diagnostic.location else {
        return write_plain(out, diagnostic, &name, lines, color);
    };
    let (kind, tint) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
        Severity::Note => (ReportKind::Advice, Color::Cyan),
    };
    let range = canvas.range(primary, lines);
    let mut report = Report::build(kind, (name.as_str(), range.clone()))
        .with_config(Config::default().with_color(color));

    let mut labels = vec![(range, tint, diagnostic.label.as_str())];
    for (location, text) in &diagnostic.secondary {
        match location {
            Location::Text(span) => labels.push((canvas.range(*span, lines), Color::Blue, text)),
            Location::Caller { .. } | Location::None => {
                let text = printable_lines(text);
                report.add_note(match place(*location, &name, lines) {
                    Some(place) => format!("{place}: {text}"),
                    None => text,
                });
            }
        }
    }
    // Labels in the order of the text share one frame.
    labels.sort_by_key(|(range, ..)| (range.end, range.start));
    for (range, tint, text) in labels {
        let text = if text.is_empty() { "here" } else { text };
        let label = Label::new((name.as_str(), range)).with_color(tint);
        report.add_label(label.with_message(printable_lines(text)));
    }
    for note in &diagnostic.notes {
        report.add_note(printable_lines(note));
    }
    if let Some(help) = &diagnostic.help {
        report.add_help(printable_lines(help));
    }

    let mut drawn = Vec::new();
    let written = report
        .finish()
        .write((name.as_str(), &canvas.source), &mut drawn);
    // Writing to memory does not fail; if it ever does, the plain form says the same.
    if written.is_err() {
        return write_plain(out, diagnostic, &name, lines, color);
    }
    write_title(out, diagnostic, color);
    for line in String::from_utf8_lossy(&drawn).lines().skip(1) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
