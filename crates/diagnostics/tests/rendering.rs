//! Every shape of source a person may hand over, and what they see.

use diagnostics::{Diagnostic, Diagnostics, Location, Span, line_column, render};

fn error_at(start: u32, end: u32) -> Diagnostic {
    Diagnostic::error("unknown-name", "nothing here is called `zs`")
        .at(Span::new(start, end))
        .with_label("not defined")
}

fn drawn(one: Diagnostic, source: &str) -> String {
    render(&one.into(), "norm.tile", source, false)
}

#[test]
fn a_diagnostic_shows_everything_it_holds() {
    let source = "let xs = load x\nlet y = xs + zs\n";
    let one = error_at(29, 31)
        .with_secondary(Span::new(4, 6), "this is in scope")
        .with_note("names are found in the order of the text")
        .with_help("did you mean `xs`?");
    assert_eq!(
        drawn(one, source),
        "\
error[unknown-name]: nothing here is called `zs`
   ╭─[ norm.tile:2:14 ]
   │
 1 │ let xs = load x
   │     ─┬
   │      ╰── this is in scope
 2 │ let y = xs + zs
   │              ─┬
   │               ╰── not defined
   │
   │ Help: did you mean `xs`?
   │
   │ Note: names are found in the order of the text
───╯
"
    );
}

#[test]
fn a_builders_mistake_names_the_line_of_rust() {
    let place = Location::Caller {
        file: "src/main.rs",
        line: 12,
        column: 5,
    };
    let one = Diagnostic::error("shape", "`w` has 3 axes and 2 are named")
        .at(place)
        .with_label("this load")
        .with_note("`w` is declared f32[a, b, c]")
        .with_help("name one more axis");
    assert_eq!(
        drawn(one, ""),
        "\
error[shape]: `w` has 3 axes and 2 are named
  --> src/main.rs:12:5: this load
  = note: `w` is declared f32[a, b, c]
  = help: name one more axis
"
    );
}

#[test]
fn the_header_agrees_with_line_column_in_every_kind_of_text() {
    let sources = [
        "",
        "a",
        "a\n",
        "\n\n",
        "let y = é + zs\r\nlet\tz = ∑\r\n",
        "\u{feff}let y\n",
        "\u{feff}",
        "a\rb\u{c}c\u{2028}d\u{85}e\n\u{1b}[31m",
        "日本語\tx",
    ];
    for source in sources {
        for start in 0..=source.len() as u32 + 2 {
            for end in start..=source.len() as u32 + 2 {
                let at = line_column(source, start);
                let text = drawn(error_at(start, end), source);
                let header = format!("[ norm.tile:{}:{} ]", at.line, at.column);
                assert!(
                    text.contains(&header),
                    "{header} in\n{text}\n{source:?} {start}..{end}"
                );
                assert!(
                    text.contains("not defined"),
                    "{text}\n{source:?} {start}..{end}"
                );
                assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
            }
        }
    }
}

#[test]
fn a_span_over_several_lines_is_drawn_with_both_ends() {
    let text = drawn(error_at(4, 20), "let a = 1\r\nlet b = 2\r\nlet c = 3\r\n");
    assert!(
        text.contains("let a = 1") && text.contains("let b = 2"),
        "{text}"
    );
    assert!(text.contains("not defined"), "{text}");
}

#[test]
fn a_ten_megabyte_line_is_quoted_in_a_window() {
    let mut source = "x + ".repeat(2_500_000);
    source.push_str("zs");
    let end = source.len() as u32;
    for start in [0, end / 2, end - 2] {
        let text = drawn(error_at(start, end), &source);
        assert!(text.len() < 1000, "{} bytes printed", text.len());
        assert!(
            text.contains(&format!("norm.tile:1:{}", start + 1)),
            "{text}"
        );
        assert!(text.contains('^'), "{text}");
    }
}

#[test]
fn a_long_line_beside_short_ones_is_cut_and_they_are_drawn_whole() {
    let source = format!(
        "let a = 1\nlet b = {}\n\n\nlet c = zs\n",
        "x + ".repeat(1000)
    );
    let end = source.len() as u32;
    let near = drawn(error_at(10, 13), &source);
    assert!(
        near.len() < 1000 && near.contains("  --> norm.tile:2:1"),
        "{near}"
    );
    let far = drawn(error_at(end - 3, end - 1), &source);
    assert!(
        far.contains("[ norm.tile:5:9 ]") && far.len() < 1000,
        "{far}"
    );
}

#[test]
fn the_window_marks_what_the_span_covers() {
    let source = format!("{}\tzs é{}", "é".repeat(500), " + x".repeat(500));
    let start = 1001;
    let text = drawn(error_at(start, start + 2), &source);
    let lines: Vec<&str> = text.lines().collect();
    let column = |line: &str, what: char| line.chars().position(|one| one == what);
    assert_eq!(column(lines[2], 'z'), column(lines[3], '^'), "{text}");
    assert_eq!(lines[3].matches('^').count(), 2, "{text}");
}

#[test]
fn many_lines_and_many_diagnostics_stay_in_order() {
    let source = "zs\n".repeat(2000);
    let found: Diagnostics = (0..2000)
        .map(|line| error_at(line * 3, line * 3 + 2))
        .collect();
    let text = render(&found, "norm.tile", &source, false);
    assert!(text.contains("[ norm.tile:1:1 ]") && text.contains("[ norm.tile:2000:1 ]"));
    assert_eq!(text.matches("error[unknown-name]").count(), 2000);
}

#[test]
fn colour_is_there_when_asked_for_and_only_then() {
    let found: Diagnostics = error_at(0, 2).into();
    assert!(render(&found, "norm.tile", "zs", true).contains('\u{1b}'));
    assert!(!render(&found, "norm.tile", "zs", false).contains('\u{1b}'));
}

#[test]
fn a_hostile_name_or_message_does_not_steer_the_terminal() {
    let one = Diagnostic::error("file", "cannot read `\u{1b}[2J`\nsecond line").at(Span::new(0, 1));
    let text = render(&one.into(), "\u{1b}[2J.tile", "x", false);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.contains("second line"), "{text}");
}

#[test]
fn nothing_said_prints_nothing() {
    assert_eq!(render(&Diagnostics::new(), "norm.tile", "x", false), "");
}
