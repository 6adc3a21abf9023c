//! The plain form: one diagnostic as lines that need no drawing.
//!
//! A place in Rust has no text beside it. A text of one 10 MB line has too much of it: a renderer that prints whole
//! lines would print all of it. So this form quotes at most [`WINDOW`] characters around a place, and serves both.

use crate::source::{LineColumn, Lines, printable, printable_char};
use crate::{Diagnostic, Location, Severity, Span};

/// How many characters of a line are quoted on each side of a place.
const WINDOW: usize = 60;

/// Writes `diagnostic` in the plain form; `name` is the source's name as the reader knows it.
pub(crate) fn write_plain(
    out: &mut String,
    diagnostic: &Diagnostic,
    name: &str,
    lines: &Lines<'_>,
    color: bool,
) {
    write_title(out, diagnostic, color);
    write_place(out, diagnostic.location, &diagnostic.label, name, lines);
    for (location, label) in &diagnostic.secondary {
        write_place(out, *location, label, name, lines);
    }
    for note in &diagnostic.notes {
        out.push_str(&format!("  = note: {}\n", printable_lines(note)));
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("  = help: {}\n", printable_lines(help)));
    }
}

/// Writes the line a diagnostic opens with: `error[unknown-name]: nothing here is called `zs``.
pub(crate) fn write_title(out: &mut String, diagnostic: &Diagnostic, color: bool) {
    let (paint, plain) = match (color, diagnostic.severity) {
        (false, _) => ("", ""),
        (true, Severity::Error) => ("\u{1b}[31m", "\u{1b}[0m"),
        (true, Severity::Warning) => ("\u{1b}[33m", "\u{1b}[0m"),
        (true, Severity::Note) => ("\u{1b}[36m", "\u{1b}[0m"),
    };
    out.push_str(&format!(
        "{paint}{}[{}]{plain}: {}\n",
        diagnostic.severity,
        diagnostic.code,
        printable_lines(&diagnostic.message)
    ));
}

/// A place in one line, for people: `name:line:column`, or nothing where there is none.
pub(crate) fn place(location: Location, name: &str, lines: &Lines<'_>) -> Option<String> {
    match location {
        Location::Text(span) => {
            let LineColumn { line, column } = lines.line_column(lines.clamp(span.start));
            Some(format!("{}:{line}:{column}", printable(name)))
        }
        Location::Caller { file, line, column } => Some(format!("{file}:{line}:{column}")),
        Location::None => None,
    }
}

/// `text` printable, with its own line breaks kept and indented under what opened it.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join("\n    ")
}

fn write_place(out: &mut String, location: Location, label: &str, name: &str, lines: &Lines<'_>) {
    let label = printable_lines(label);
    match place(location, name, lines) {
        Some(place) if label.is_empty() => out.push_str(&format!("  --> {place}\n")),
        Some(place) => out.push_str(&format!("  --> {place}: {label}\n")),
        None if label.is_empty() => {}
        None => out.push_str(&format!("  = {label}\n")),
    }
    if let Location::Text(span) = location {
        write_excerpt(out, span, lines);
    }
}

/// Quotes the line of `span.start`, cut to the window, with carets under what the span covers of it.
fn write_excerpt(out: &mut String, span: Span, lines: &Lines<'_>) {
    let start = lines.clamp(span.start);
    let end = lines.clamp(span.end).max(start);
    let (line_start, line) = lines.line(lines.line_of(start));
    let (before, after) = line.split_at((start - line_start).min(line.len()));

    let head_start = before
        .char_indices()
        .rev()
        .nth(WINDOW - 1)
        .map_or(0, |(at, _)| at);
    let tail_end = after
        .char_indices()
        .nth(WINDOW)
        .map_or(after.len(), |(at, _)| at);
    let (head, tail) = (&before[head_start..], &after[..tail_end]);
    let (opening, closing) = (
        if head_start > 0 { "…" } else { "" },
        if tail_end < after.len() { "…" } else { "" },
    );

    let marked = tail
        .char_indices()
        .take_while(|(at, _)| start + at < end)
        .count()
        .max(1);
    let quote: String = [opening, head, tail, closing]
        .concat()
        .chars()
        .map(|character| match character {
            '\t' => ' ',
            other => printable_char(other),
        })
        .collect();
    let indent = opening.chars().count() + head.chars().count();
    out.push_str(&format!("   | {}\n", quote.trim_end()));
    out.push_str(&format!(
        "   | {}{}\n",
        " ".repeat(indent),
        "^".repeat(marked)
    ));
}
