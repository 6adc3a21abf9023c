//! The Markdown pages, held against the house they describe.
//!
//! A page rots quietly: a link loses its target, an example its syntax, a law its test. So each relative link must lead
//! to a file, each fenced block that begins like a kernel, `kernel name(`, must be one that parses and verifies, and each
//! row of docs/laws.md must name a test of tests/tests/laws.rs. The README's Rust stands word for word in the docs of the
//! crate `tilewright`, where it is run.

use std::fs;
use std::path::Path;

use crate::tidy::markdown_files;
use crate::workspace::Workspace;

/// Every page of the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for path in markdown_files(&workspace.root)? {
        let file = workspace.root.join(&path);
        let text = fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
        let directory = file.parent().unwrap_or(&workspace.root);
        findings.extend(broken_links(&path, &text, |target| {
            directory.join(target).exists()
        }));
        findings.extend(broken_kernels(&path, &text));
    }
    let read = |path: &str| {
        fs::read_to_string(workspace.root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    findings.extend(untested_laws(
        &read("docs/laws.md")?,
        &read("tests/tests/laws.rs")?,
    ));
    let run = read("crates/tilewright/src/lib.rs")?;
    findings.extend(unrun_rust("README.md", &read("README.md")?, &run));
    Ok(findings)
}

/// The Rust of a page that is no part of the docs of a source file.
fn unrun_rust(path: &str, text: &str, source: &str) -> Vec<String> {
    let docs: String = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    fenced_blocks(text)
        .into_iter()
        .filter(|(line, block)| {
            let fence = text.lines().nth(line - 2).unwrap_or("").trim();
            fence == "```rust" && !docs.contains(block.as_str())
        })
        .map(|(line, _)| format!("{path}:{line}: this Rust is not part of the docs that are run"))
        .collect()
}

fn broken_links(path: &str, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or("");
            let file = target.split('#').next().unwrap_or("");
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !elsewhere && !file.is_empty() && !exists(Path::new(file)) {
                findings.push(format!(
                    "{path}:{}: the link to {target} leads nowhere",
                    index + 1
                ));
            }
        }
    }
    findings
}

fn broken_kernels(path: &str, text: &str) -> Vec<String> {
    fenced_blocks(text)
        .into_iter()
        .filter(|(_, block)| begins_like_a_kernel(block))
        .filter_map(|(line, block)| {
            let found = tile_ir::parse_verified(&block).err()?;
            Some(format!(
                "{path}:{line}: the kernel is refused:\n{}",
                found.to_string().trim_end()
            ))
        })
        .collect()
}

/// The rows `| **law** | sentence | `test` |` whose test is not there.
fn untested_laws(page: &str, tests: &str) -> Vec<String> {
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| **")?.split_once("**"))
        .filter_map(|(law, rest)| Some((law, rest.rsplit('`').nth(1)?)))
        .collect();
    if rows.is_empty() {
        return vec!["docs/laws.md: holds no row of a law with its test".to_owned()];
    }
    rows.into_iter()
        .filter(|(_, test)| !tests.contains(&format!("#[test]\nfn {test}()")))
        .map(|(law, test)| {
            format!("docs/laws.md: the law **{law}** has no test `{test}` in tests/tests/laws.rs")
        })
        .collect()
}

fn begins_like_a_kernel(block: &str) -> bool {
    let name = block
        .strip_prefix("kernel ")
        .and_then(|rest| rest.split_once('('));
    name.is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_')
    })
}

/// The contents of fenced blocks, each with the line its contents begin on.
fn fenced_blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().starts_with("```")) {
            (None, true) => open = Some((index + 2, String::new())),
            (Some(_), true) => blocks.extend(open.take()),
            (Some((_, block)), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_refused() {
        let text = "[a](docs/a.md#part), [b](b.md)\n[web](https://example.org) [here](#part)\n```\n[c](c.md)\n```\n";
        let findings = broken_links("README.md", text, |target| target == Path::new("docs/a.md"));
        assert_eq!(findings, ["README.md:1: the link to b.md leads nowhere"]);
    }

    #[test]
    fn a_kernel_that_does_not_parse_is_refused() {
        let good = "kernel copy(x: view f32[row], y: mut view f32[row]) {\n  parallel r: row { store y[r] = load x[r] }\n}\n";
        let page = |kernel: &str| format!("Text.\n\n```text\n{kernel}```\n");
        assert_eq!(broken_kernels("README.md", &page(good)), [""; 0]);
        let findings = broken_kernels("README.md", &page(&good.replace("load x", "load z")));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].starts_with("README.md:4: the kernel is refused"),
            "{findings:?}"
        );
        assert_eq!(
            broken_kernels("README.md", &page("kernel truth(\n")).len(),
            1
        );
        for other in [
            "cargo test\n",
            "kernel = \"kernel\" name\n",
            "kernel of truth (a)\n",
        ] {
            assert_eq!(broken_kernels("README.md", &page(other)), [""; 0]);
        }
    }
    #[test]
    fn a_law_without_its_test_is_refused() {
        let page = "| law | sentence | test |\n| **once** | Each is evaluated once. | `once` |\n\
                    | **same bits** | `a` equals `b`. | `same_bits` |\n";
        let tests = "#[test]\nfn once() {}\n\nfn same_bits() {}\n";
        assert_eq!(
            untested_laws(page, tests),
            ["docs/laws.md: the law **same bits** has no test `same_bits` in tests/tests/laws.rs"]
        );
        assert_eq!(untested_laws("nothing", tests).len(), 1);
    }
    #[test]
    fn rust_that_is_run_nowhere_is_refused() {
        let page = "```rust\nlet a = 1;\n```\n\n```sh\ncargo test\n```\n";
        let source = "//! Docs.\n//!\n//! ```\n//! let a = 1;\n//! assert_eq!(a, 1);\n//! ```\n";
        assert_eq!(unrun_rust("README.md", page, source), [""; 0]);
        let findings = unrun_rust("README.md", &page.replace("= 1", "= 2"), source);
        assert_eq!(
            findings,
            ["README.md:2: this Rust is not part of the docs that are run"]
        );
    }
}
