//! Each pass against its cases in `tests/files/opt/<pass>.xir`: a program, and what the pass makes of it.
//!
//! A case stands under `// ---- name`; what the pass makes stands after `// ==>`. `BLESS=1` rewrites that part.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use xir::{parse, verify};
use xir_opt::{PASSES, Pass};

const HEADING: &str = "// ---- ";
const ARROW: &str = "// ==>\n";

fn file_of(pass: Pass) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/files/opt")
        .join(pass.name)
        .with_extension("xir")
}

/// What the pass makes of a program in text, with dead operations shown as the pass leaves them.
fn apply(pass: Pass, before: &str) -> Result<String, String> {
    let program = parse(before).map_err(|found| found.to_string())?;
    let mut program = verify(program)
        .map_err(|rejected| rejected.to_string())?
        .into_program();
    (pass.run)(&mut program);
    let after = verify(program.compact()).map_err(|rejected| rejected.to_string())?;
    Ok(after.to_string())
}

#[test]
fn passes_make_what_their_cases_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for pass in PASSES {
        let path = file_of(pass);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut blessed = String::new();
        for case in text.split(HEADING).skip(1) {
            let (name, rest) = case.split_once('\n').unwrap_or((case, ""));
            let (before, expected) = rest.split_once(ARROW).unwrap_or((rest, ""));
            let after = apply(pass, before)
                .unwrap_or_else(|error| panic!("{}, {name}: {error}", path.display()));
            if after.trim_end() != expected.trim_end() {
                let _ = write!(
                    wrong,
                    "{}, {name}: made\n{after}\nnot\n{expected}",
                    path.display()
                );
            }
            if !blessed.is_empty() {
                blessed.push('\n');
            }
            let _ = write!(
                blessed,
                "{HEADING}{name}\n{}\n{ARROW}{after}",
                before.trim_end()
            );
        }
        assert!(!blessed.is_empty(), "{} has no case", path.display());
        if bless {
            std::fs::write(&path, blessed)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    assert!(
        bless || wrong.is_empty(),
        "{wrong}\nBLESS=1 writes what the passes make"
    );
}

#[test]
fn every_file_belongs_to_a_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/opt");
    for file in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = file.expect("a file").path();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("");
        assert!(
            PASSES.iter().any(|pass| pass.name == stem),
            "{}",
            path.display()
        );
    }
}
