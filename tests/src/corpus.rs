//! Corpus files: several small cases to a file, and expectations that can be rewritten.
//!
//! A case begins with a heading `// ---- name` and runs to the next. Within it, lines that begin with `//:` say how the
//! case is run, lines that begin with `//>` hold what is expected, one line of output a line, and everything else is
//! the input. In a kernel both are comments, so an input is a file for the compiler as it stands.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const HEADING: &str = "// ---- ";
const DIRECTIVE: &str = "//:";
const EXPECTED: &str = "//>";

/// One case of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What stands in the heading.
    pub name: String,
    /// How it is run, a directive a row, without the marker.
    pub directives: Vec<String>,
    /// The input: the case's text with directives and expectations blanked, so that its lines keep their places.
    pub input: String,
    /// What is expected, without the markers.
    pub expected: Vec<String>,
    /// The line of the heading, from 1.
    pub line: usize,
    /// The case as it stands in the file, without heading and expectations.
    source: String,
}

/// A file of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What stands before the first heading.
    preamble: String,
    /// The cases, in order.
    pub cases: Vec<Case>,
}

/// Takes a file apart.
#[must_use]
pub fn split(text: &str) -> File {
    let mut file = File {
        preamble: String::new(),
        cases: Vec::new(),
    };
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix(HEADING) {
            file.cases.push(Case {
                name: name.trim().to_owned(),
                directives: Vec::new(),
                input: String::new(),
                expected: Vec::new(),
                line: number + 1,
                source: String::new(),
            });
            continue;
        }
        let Some(case) = file.cases.last_mut() else {
            file.preamble.push_str(line);
            file.preamble.push('\n');
            continue;
        };
        if let Some(expected) = line.strip_prefix(EXPECTED) {
            case.expected
                .push(expected.strip_prefix(' ').unwrap_or(expected).to_owned());
            case.input.push('\n');
            continue;
        }
        case.source.push_str(line);
        case.source.push('\n');
        if let Some(directive) = line.strip_prefix(DIRECTIVE) {
            case.directives.push(directive.trim().to_owned());
            case.input.push('\n');
        } else {
            case.input.push_str(line);
            case.input.push('\n');
        }
    }
    file
}

impl File {
    /// The file as text; the inverse of [`split`] for a file whose expectations stand at the ends of its cases.
    #[must_use]
    pub fn join(&self) -> String {
        let mut text = self.preamble.clone();
        for (index, case) in self.cases.iter().enumerate() {
            let _ = writeln!(text, "{HEADING}{}", case.name);
            let source = case.source.trim_end();
            if !source.is_empty() {
                let _ = writeln!(text, "{source}");
            }
            for line in &case.expected {
                let _ = writeln!(text, "{}", format!("{EXPECTED} {line}").trim_end());
            }
            if index + 1 < self.cases.len() {
                text.push('\n');
            }
        }
        text
    }
}

/// Whether expectations are rewritten rather than compared.
#[must_use]
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Whether a case is asked for: `CASES=text` keeps those whose place (`run/norms.tile:3: rmsnorm`) holds the text.
fn wanted(place: &str) -> bool {
    std::env::var("CASES").map_or(true, |text| place.contains(&text))
}

/// The folder of a part of the corpus.
#[must_use]
pub fn folder(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("files")
        .join(part)
}

/// Runs every case of every file with extension `extension` in a part of the corpus, on all processors. `run` gives the
/// lines of output, or says what is wrong with the case; outputs are compared with the expectations, or replace them.
///
/// # Panics
/// With a list of all cases that fail, and if there is no case at all.
pub fn run_part(
    part: &str,
    extension: &str,
    run: impl Fn(&Case) -> Result<Vec<String>, String> + Sync,
) {
    let mut failures = String::new();
    let mut count = 0;
    for (path, text) in files(part, extension) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut file = split(&text);
        let place = |case: &Case| format!("{part}/{name}:{}: {}", case.line, case.name);
        let outputs = in_parallel(&file.cases, |case| wanted(&place(case)).then(|| run(case)));
        for (case, output) in file.cases.iter_mut().zip(outputs) {
            let Some(output) = output else { continue };
            count += 1;
            match output {
                Err(wrong) => {
                    let _ = writeln!(failures, "{}: {wrong}", place(case));
                }
                Ok(output) if output == case.expected => {}
                Ok(output) if blessing() => case.expected = output,
                Ok(output) => {
                    let _ = writeln!(
                        failures,
                        "{}: unexpected output; BLESS=1 accepts it",
                        place(case)
                    );
                    for difference in differences(&case.expected, &output) {
                        let _ = writeln!(failures, "    {difference}");
                    }
                }
            }
        }
        let written = file.join();
        if blessing() && written != text {
            std::fs::write(&path, written).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    assert!(count > 0, "{part} holds no cases");
    assert!(failures.is_empty(), "\n{failures}");
}

/// The files of a part of the corpus with their texts, in order of name.
fn files(part: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let folder = folder(part);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| {
            entry
                .unwrap_or_else(|error| panic!("{part}: {error}"))
                .path()
        })
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// What `work` makes of each item, in order, with as many items at work as there are processors.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            match items.get(index) {
                Some(item) => done.push((index, work(item))),
                None => return done,
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        handles
            .into_iter()
            .flat_map(|handle| {
                handle
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The lines in which two outputs differ, at most twenty.
fn differences(expected: &[String], found: &[String]) -> Vec<String> {
    let length = expected.len().max(found.len());
    let line = |lines: &[String], index: usize| lines.get(index).cloned();
    let mut rows = Vec::new();
    for index in 0..length {
        let (expected, found) = (line(expected, index), line(found, index));
        if expected != found {
            rows.extend(expected.map(|text| format!("- {text}")));
            rows.extend(found.map(|text| format!("+ {text}")));
        }
    }
    if rows.len() > 20 {
        let left_out = rows.len() - 20;
        rows.truncate(20);
        rows.push(format!("... and {left_out} lines more"));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// A file.
// ---- one
kernel a() {
}
//: x = [1]
//> y 1
//>
//> z

// ---- two
kernel b() {
}
";

    #[test]
    fn files_come_apart_and_together() {
        let file = split(TEXT);
        assert_eq!(file.cases.len(), 2);
        let one = &file.cases[0];
        assert_eq!((one.name.as_str(), one.line), ("one", 2));
        assert_eq!(one.directives, ["x = [1]"]);
        assert_eq!(one.expected, ["y 1", "", "z"]);
        assert_eq!(one.input, "kernel a() {\n}\n\n\n\n\n\n");
        assert!(file.cases[1].expected.is_empty());
        assert_eq!(file.join(), TEXT);
    }

    #[test]
    fn new_expectations_stand_at_the_end() {
        let mut file = split(TEXT);
        file.cases[1].expected = vec!["w 2".to_owned()];
        assert!(
            file.join()
                .ends_with("// ---- two\nkernel b() {\n}\n//> w 2\n")
        );
    }

    #[test]
    fn differences_are_shown() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            differences(&lines("a\nb"), &lines("a\nc\nd")),
            ["- b", "+ c", "+ d"]
        );
    }
}
