//! `tests/files/parse` and `tests/files/verify`: for each mistake and each rule a file of texts that break it, with what is
//! said. A case whose heading begins with `fine:` is accepted, and what is expected is the printed kernel.
//!
//! The files have the form of the corpus: headings `// ---- name`, expectations in lines that begin with `//>`. `BLESS=1`
//! rewrites expectations.

use std::fs;
use std::path::{Path, PathBuf};

use tile_ir::{Mistake, Rule, parse, parse_verified, print};

const HEADING: &str = "// ---- ";
const EXPECTED: &str = "//>";

struct Case {
    name: String,
    /// With expectations blanked, so that lines keep their places.
    input: String,
    source: String,
    expected: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/files")
        .join(name)
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(HEADING) {
            let name = name.trim().to_owned();
            cases.push(Case {
                name,
                input: String::new(),
                source: String::new(),
                expected: String::new(),
            });
        } else if let Some(case) = cases.last_mut() {
            match line.strip_prefix(EXPECTED) {
                Some(expected) => {
                    case.expected += expected.strip_prefix(' ').unwrap_or(expected);
                    case.expected.push('\n');
                    case.input.push('\n');
                }
                None => {
                    for text in [&mut case.source, &mut case.input] {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
            }
        }
    }
    cases
}

/// What is said about a text, and the codes in it; nothing but the printed kernel if it is fine.
fn told(text: &str) -> (String, Vec<&'static str>) {
    match parse_verified(text) {
        Ok(kernel) => {
            assert_eq!(parse(&print(&kernel)).expect("it was printed"), *kernel);
            (print(&kernel), Vec::new())
        }
        Err(found) => {
            let codes = found.iter().map(|one| one.code).collect();
            (
                diagnostics::render(&found, "kernel.tile", text, false),
                codes,
            )
        }
    }
}

/// Checks one file; the message says which case fails.
fn check_file(path: &Path, code: &str) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut blessed = String::new();
    let mut wrong = Vec::new();
    let cases = cases(&text);
    if cases.is_empty() {
        return Err(format!("{}: no cases", path.display()));
    }
    for case in cases {
        let (said, codes) = told(&case.input);
        let said: String = said
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect();
        let expects_mistake = !case.name.starts_with("fine:");
        if expects_mistake && !codes.contains(&code) || !expects_mistake && !codes.is_empty() {
            wrong.push(format!("{}: `{}`: said\n{said}", path.display(), case.name));
        } else if said != case.expected {
            wrong.push(format!(
                "{}: `{}`: expected\n{}\nsaid\n{said}",
                path.display(),
                case.name,
                case.expected
            ));
        }
        blessed += &format!("{HEADING}{}\n{}\n", case.name, case.source.trim_end());
        for line in said.lines() {
            blessed += format!("{EXPECTED} {line}").trim_end();
            blessed.push('\n');
        }
        blessed.push('\n');
    }
    if std::env::var_os("BLESS").is_some() {
        let blessed = format!("{}\n", blessed.trim_end());
        fs::write(path, blessed).map_err(|error| format!("{}: {error}", path.display()))?;
        wrong.retain(|one| !one.contains("expected\n"));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// Checks the file of every code, and that there are no others.
fn check_folder(name: &str, codes: &[&str]) {
    let mut wrong: Vec<String> = Vec::new();
    for code in codes {
        wrong.extend(check_file(&folder(name).join(format!("{code}.tile")), code).err());
    }
    for entry in fs::read_dir(folder(name)).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        if path.extension().is_some_and(|end| end == "tile")
            && !stem.is_some_and(|stem| codes.contains(&stem.as_str()))
        {
            wrong.push(format!("{} belongs to no code", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_its_failing_example() {
    let codes: Vec<&str> = Rule::ALL
        .iter()
        .filter(|rule| rule.breakable_in_text())
        .map(|rule| rule.code())
        .collect();
    check_folder("verify", &codes);
}

#[test]
fn every_mistake_has_its_failing_example() {
    // These need large texts, and are shown in `total.rs`.
    let large = [
        Mistake::SourceTooLarge,
        Mistake::TooManyOperations,
        Mistake::ListTooLong,
    ];
    let codes: Vec<&str> = Mistake::ALL
        .iter()
        .filter(|mistake| !large.contains(mistake))
        .map(|mistake| mistake.code())
        .collect();
    check_folder("parse", &codes);
}

#[test]
fn codes_are_kebab_case_and_distinct() {
    let rules = Rule::ALL.iter().map(|rule| (rule.code(), rule.sentence()));
    let mistakes = Mistake::ALL
        .iter()
        .map(|mistake| (mistake.code(), mistake.sentence()));
    let mut seen = Vec::new();
    for (code, sentence) in rules.chain(mistakes) {
        assert!(
            code.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{code}"
        );
        assert!(sentence.ends_with('.'), "{code}");
        assert!(!seen.contains(&code), "{code} twice");
        seen.push(code);
    }
}
