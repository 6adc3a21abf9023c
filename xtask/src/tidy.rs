//! House rules that no compiler knows, held against every file.
//!
//! Long files hide a second subject, a `todo` hides a hole, a path of somebody's machine breaks everybody else's build.
//! Each rule here is one function from a file's text to findings; exceptions carry their reason.

use std::fs;
use std::path::Path;

use crate::layers::UNSAFE_CRATES;
use crate::workspace::Workspace;

/// More lines than this in a Rust file, and there is a second noun in it.
const LONGEST_FILE: usize = 800;

/// Files that may be longer, each with the reason.
const LONGER_FILES: [(&str, &str); 0] = [];

/// Directories that hold no source of ours.
const SKIPPED_DIRECTORIES: [&str; 4] = ["target", ".git", "node_modules", "__pycache__"];

/// The kinds of files that are read.
const READ_EXTENSIONS: [&str; 14] = [
    "rs", "toml", "lock", "md", "tile", "xir", "sh", "py", "c", "h", "txt", "yml", "json", "clif",
];

/// A list of rules or refusals, each with its failing example in the corpus.
struct NamedRefusals {
    /// The file that gives the codes, as `Rule::One => "one"` or as rows `One, "one", "sentence";`.
    source: &'static str,
    /// The directory of the examples, one file a code.
    directory: &'static str,
    /// What the examples' names end with.
    extension: &'static str,
    /// Codes that no text can show, each with the reason.
    exceptions: &'static [(&'static str, &'static str)],
}

const NAMED_REFUSALS: [NamedRefusals; 3] = [
    NamedRefusals {
        source: "crates/tile-ir/src/verifier/rule.rs",
        directory: "tests/files/verify",
        extension: "tile",
        exceptions: &[
            ("broken-tables", "the parser makes the tables"),
            ("scope", "the parser finds no such name"),
            ("bad-name", "the parser reads no such name"),
            ("nesting-limit", "the parser has the same limit"),
            ("operation-limit", "it takes megabytes"),
        ],
    },
    NamedRefusals {
        source: "crates/fusion-legality/src/code.rs",
        directory: "tests/files/admit",
        extension: "tile",
        exceptions: &[],
    },
    NamedRefusals {
        source: "crates/xir/src/verifier/rule.rs",
        directory: "tests/files/verify-xir",
        extension: "xir",
        exceptions: &[
            ("foreign-key", "the parser makes the tables"),
            ("one-home", "the parser makes the tables"),
        ],
    },
];

/// Every file of the workspace against every rule.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    collect(&workspace.root, &workspace.root, &mut files)?;
    files.sort();
    let mut findings = Vec::new();
    for path in &files {
        let bytes =
            fs::read(workspace.root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        match String::from_utf8(bytes) {
            Ok(text) => findings.extend(check_file(path, &text)),
            Err(_) => findings.push(format!("{path}: is not UTF-8")),
        }
    }
    for list in &NAMED_REFUSALS {
        let path = workspace.root.join(list.source);
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", list.source))?;
        let examples = example_names(&workspace.root.join(list.directory), list.extension);
        findings.extend(missing_examples(list, &codes_of(&text), &examples));
    }
    Ok(findings)
}

/// The Markdown files below `root`, relative to it and in order.
pub(crate) fn markdown_files(root: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    collect(root, root, &mut files)?;
    files.retain(|path| path.ends_with(".md"));
    files.sort();
    Ok(files)
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<String>) -> Result<(), String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", directory.display()))?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry
            .file_type()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if kind.is_dir() {
            let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
            let build = name.starts_with("target-") || SKIPPED_DIRECTORIES.contains(&name.as_str());
            if !hidden && !build {
                collect(root, &path, files)?;
            }
        // In a linked worktree `.git` is a file of git's own.
        } else if kind.is_file() && name != ".git" && is_read(&name) {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            files.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

/// Files of a known kind, and those without an extension: licences, `.ci/run`, `.gitignore`.
fn is_read(name: &str) -> bool {
    match name.trim_start_matches('.').rsplit_once('.') {
        Some((_, extension)) => READ_EXTENSIONS.contains(&extension),
        None => true,
    }
}

fn check_file(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check_whitespace(path, text, &mut findings);
    check_places(path, text, &mut findings);
    if path.ends_with(".rs") {
        check_length(path, text, &LONGER_FILES, &mut findings);
        check_head(path, text, &mut findings);
        check_words(path, text, &mut findings);
        check_unsafe(path, text, &mut findings);
    }
    if ["Cargo.toml", "Cargo.lock", "config.toml"]
        .iter()
        .any(|name| path.ends_with(name))
    {
        check_registries(path, text, &mut findings);
    }
    findings
}

fn check_whitespace(path: &str, text: &str, findings: &mut Vec<String>) {
    for (number, line) in lines(text) {
        if line.trim_end() != line {
            findings.push(format!(
                "{path}:{number}: whitespace at the end of the line"
            ));
        }
        if path.ends_with(".rs") && line.starts_with('\t') {
            findings.push(format!(
                "{path}:{number}: a tab; rustfmt indents with spaces"
            ));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(format!("{path}: no line break at the end"));
    }
    if text.ends_with("\n\n") {
        findings.push(format!("{path}: an empty line at the end"));
    }
}

/// Directories that exist on one machine only. They are put together here so that this file does not find itself.
fn check_places(path: &str, text: &str, findings: &mut Vec<String>) {
    let places = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
    ];
    for (number, line) in lines(text) {
        for place in places {
            if line.contains(place) {
                findings.push(format!(
                    "{path}:{number}: names a directory of one machine, {place}"
                ));
            }
        }
        for option in [concat!("--index", "-url"), concat!("--extra-index", "-url")] {
            if line.contains(option) {
                findings.push(format!(
                    "{path}:{number}: names a package index; use the one set up"
                ));
            }
        }
    }
}

fn check_length(path: &str, text: &str, exceptions: &[(&str, &str)], findings: &mut Vec<String>) {
    let count = text.lines().count();
    let excepted = exceptions.iter().any(|(file, _)| *file == path);
    if count > LONGEST_FILE && !excepted {
        findings.push(format!(
            "{path}: {count} lines; over {LONGEST_FILE} there is a second subject in it"
        ));
    }
}

/// A source file opens with a sentence that says what it is for.
fn check_head(path: &str, text: &str, findings: &mut Vec<String>) {
    let first = text
        .lines()
        .find(|line| !line.starts_with("#!"))
        .unwrap_or("");
    let documented = first
        .strip_prefix("//! ")
        .is_some_and(|rest| rest.len() > 8);
    if !documented {
        findings.push(format!("{path}: does not open with `//!` and a sentence"));
    }
}

/// Words that stand for work that was not done.
fn check_words(path: &str, text: &str, findings: &mut Vec<String>) {
    let words = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    for (number, line) in lines(text) {
        for word in words {
            if line.contains(word) {
                findings.push(format!(
                    "{path}:{number}: `{word}` stands for work that was not done"
                ));
            }
        }
        if line.trim_start().starts_with(concat!("#[ign", "ore]")) {
            findings.push(format!(
                "{path}:{number}: a test is ignored without a reason"
            ));
        }
    }
}

/// `unsafe` is allowed in few crates, and each use says who upholds what.
fn check_unsafe(path: &str, text: &str, findings: &mut Vec<String>) {
    let allowed = UNSAFE_CRATES
        .iter()
        .any(|name| path.starts_with(&format!("{name}/")));
    let mut previous: Vec<&str> = Vec::new();
    for (number, line) in lines(text) {
        let code = line.trim_start();
        let comment = code.starts_with("//");
        let lint = concat!("unsafe", "_code");
        if !allowed && !comment && code.contains(lint) && !code.contains('"') && code.contains("#")
        {
            findings.push(format!(
                "{path}:{number}: `{lint}` may be allowed in {} only",
                UNSAFE_CRATES.join(", ")
            ));
        }
        let opens = [concat!("unsafe", " {"), concat!("unsafe", " impl")];
        if !comment && opens.iter().any(|open| code.contains(open)) {
            let explained = line.contains("// SAFETY:")
                || previous
                    .iter()
                    .rev()
                    .take_while(|above| is_lead_in(above))
                    .any(|above| above.contains("SAFETY:"));
            if !explained {
                findings.push(format!(
                    "{path}:{number}: no `// SAFETY:` says who upholds what"
                ));
            }
        }
        previous.push(line);
    }
}

/// What may stand between a safety comment and its block: more comment, attributes, the start of the statement.
fn is_lead_in(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("//") || line.starts_with("#[") || line.ends_with('=') || line.ends_with('(')
}

/// Dependencies come from crates.io, by name.
fn check_registries(path: &str, text: &str, findings: &mut Vec<String>) {
    for (number, line) in lines(text) {
        let line = line.trim();
        let elsewhere = match line.strip_prefix("source = ") {
            Some(source) => source != "\"registry+https://github.com/rust-lang/crates.io-index\"",
            None => [
                "registry = ",
                "[source.",
                "[registries",
                "registry-index = ",
                "git = \"",
            ]
            .iter()
            .any(|word| line.contains(word)),
        };
        if elsewhere {
            findings.push(format!(
                "{path}:{number}: a dependency that is not from crates.io"
            ));
        }
    }
}

/// The codes a file gives in one of the two forms of [`NamedRefusals::source`].
fn codes_of(text: &str) -> Vec<String> {
    let arm = |line: &str| {
        let (left, right) = line.split_once("=> \"")?;
        left.contains("::").then(|| right.to_owned())
    };
    let row = |line: &str| {
        let (left, right) = line.split_once(", \"")?;
        let named = left.chars().all(char::is_alphanumeric) && right.contains("\", \"");
        named.then(|| right.to_owned())
    };
    let mut codes: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter_map(|line| arm(line).or_else(|| row(line)))
        .filter_map(|rest| rest.split('"').next().map(str::to_owned))
        .filter(|code| {
            let kebab = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
            !code.is_empty() && code.chars().all(kebab)
        })
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

/// The names of the files in `directory` that end with `extension`, without it.
fn example_names(directory: &Path, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect()
}

fn missing_examples(list: &NamedRefusals, codes: &[String], examples: &[String]) -> Vec<String> {
    let NamedRefusals {
        source,
        directory,
        extension,
        exceptions,
    } = list;
    if codes.is_empty() {
        return vec![format!(
            "{source}: gives no codes in a form that is known here"
        )];
    }
    let excepted = |code: &str| exceptions.iter().any(|(except, _)| *except == code);
    codes
        .iter()
        .filter(|code| !excepted(code) && !examples.contains(code))
        .map(|code| {
            format!("{source}: `{code}` has no failing example {directory}/{code}.{extension}")
        })
        .collect()
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "//! A sentence that says what this is for.\n";

    fn refuses(path: &str, text: &str, what: &str) {
        let findings = check_file(path, text);
        assert!(
            findings.len() == 1 && findings[0].contains(what) && findings[0].starts_with(path),
            "{findings:?} should be one finding with {what:?}"
        );
    }

    fn accepts(path: &str, text: &str) {
        assert_eq!(check_file(path, text), [""; 0]);
    }

    #[test]
    fn a_clean_file_passes() {
        accepts(
            "crates/xir/src/lib.rs",
            &format!("{HEAD}\npub fn one() {{}}\n"),
        );
        accepts("docs/laws.md", "# Laws\n\nText.\n");
    }

    #[test]
    fn whitespace_at_the_end_is_refused() {
        refuses("docs/laws.md", "# Laws \n", ":1: whitespace");
        refuses("docs/laws.md", "# Laws\r\n", ":1: whitespace");
        refuses("docs/laws.md", "# Laws", "no line break");
        refuses("docs/laws.md", "# Laws\n\n", "an empty line at the end");
        refuses("a.rs", &format!("{HEAD}\tfn x() {{}}\n"), "a tab");
    }

    #[test]
    fn a_long_file_is_refused_unless_it_is_listed_with_a_reason() {
        let long = format!("{HEAD}{}", "fn x() {}\n".repeat(800));
        refuses("crates/xir/src/long.rs", &long, "801 lines");
        let mut findings = Vec::new();
        check_length(
            "a.rs",
            &long,
            &[("a.rs", "one table of operations")],
            &mut findings,
        );
        assert_eq!(findings, [""; 0]);
    }

    #[test]
    fn a_file_without_a_sentence_is_refused() {
        refuses(
            "crates/xir/src/lib.rs",
            "pub fn one() {}\n",
            "does not open with",
        );
        refuses("crates/xir/src/lib.rs", "//! Hm.\n", "does not open with");
    }

    #[test]
    fn undone_work_is_refused() {
        for word in [
            concat!("todo", "!()"),
            concat!("unimplemented", "!()"),
            concat!("dbg", "!(1)"),
        ] {
            refuses("a.rs", &format!("{HEAD}fn x() {{ {word} }}\n"), "not done");
        }
        refuses(
            "a.rs",
            &format!("{HEAD}// {}: later\n", concat!("TO", "DO")),
            "not done",
        );
        refuses(
            "a.rs",
            &format!("{HEAD}{}\n", concat!("#[ign", "ore]")),
            "ignored without",
        );
    }

    #[test]
    fn places_of_one_machine_are_refused() {
        refuses(
            "docs/a.md",
            &format!("see {}main\n", concat!("/wo", "rk/")),
            ":1: names a directory",
        );
        refuses(
            "a.sh",
            &format!("pip {} x\n", concat!("--index", "-url")),
            "package index",
        );
    }

    #[test]
    fn unsafe_code_is_refused_outside_its_crates_and_without_a_reason() {
        let allow = format!(
            "{HEAD}#![allow({}, reason = x)]\n",
            concat!("unsafe", "_code")
        );
        refuses("crates/xir/src/lib.rs", &allow, "benches only");
        accepts("crates/runtime/src/lib.rs", &allow);

        let bare = format!("{HEAD}fn x() {{ {} call() }} }}\n", concat!("unsafe", " {"));
        refuses("crates/runtime/src/lib.rs", &bare, "SAFETY");
        let explained = format!(
            "{HEAD}// SAFETY: the caller says so,\n// in two lines.\nlet x =\n    {} call() }};\n",
            concat!("unsafe", " {")
        );
        accepts("crates/runtime/src/lib.rs", &explained);
        let far = format!(
            "{HEAD}// SAFETY: of another block.\nlet y = 1;\n{} call() }};\n",
            concat!("unsafe", " {")
        );
        refuses("crates/runtime/src/lib.rs", &far, "SAFETY");
    }

    #[test]
    fn a_dependency_from_elsewhere_is_refused() {
        accepts(
            "Cargo.lock",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
        );
        refuses(
            "Cargo.lock",
            "source = \"registry+https://example.org/index\"\n",
            "crates.io",
        );
        refuses(
            "Cargo.toml",
            "a = { git = \"https://example.org/a\" }\n",
            "crates.io",
        );
        refuses(".cargo/config.toml", "[source.crates-io]\n", "crates.io");
    }

    #[test]
    fn a_rule_without_a_failing_example_is_refused() {
        let source = "match self {\n Rule::ReadsAbove => \"reads-above\",\n Self::OpenBody => \"open-body\",\n}\n\
                      match text {\n \"a\" => \"b\",\n}\n\
                      rules! {\n Scope, \"scope\", \"A value is used in its region.\";\n}\n";
        let codes = codes_of(source);
        assert_eq!(codes, ["open-body", "reads-above", "scope"]);
        let list = NamedRefusals {
            source: "rule.rs",
            directory: "tests/files/verify",
            extension: "tile",
            exceptions: &[("scope", "for this test")],
        };
        assert_eq!(
            missing_examples(&list, &codes, &["open-body".to_owned()]),
            ["rule.rs: `reads-above` has no failing example tests/files/verify/reads-above.tile"]
        );
        assert_eq!(
            missing_examples(&list, &[], &[]),
            ["rule.rs: gives no codes in a form that is known here"]
        );
    }

    #[test]
    fn files_without_an_extension_are_read_and_pictures_are_not() {
        assert!(is_read("run") && is_read(".gitignore") && is_read("lib.rs"));
        assert!(!is_read("x.npy") && !is_read("plan.png"));
    }
}
