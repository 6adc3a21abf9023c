//! Failures that other systems had, each as a small input with its right answer: every case of parts A to I of the bank, by id.
//!
//! `docs/cases.md` lists all 68 ids. [`support::run`] runs a kernel at three packet widths and both mappings, fused and not, with
//! every buffer against a forbidden page on either side, and wants the same bits everywhere.

#[path = "cases/aliasing.rs"]
mod aliasing;
#[path = "cases/functions.rs"]
mod functions;
#[path = "cases/masks.rs"]
mod masks;
#[path = "cases/normalisation.rs"]
mod normalisation;
#[path = "cases/rope.rs"]
mod rope;
#[path = "cases/shapes.rs"]
mod shapes;
#[path = "cases/sums.rs"]
mod sums;
mod support;
#[path = "cases/tails.rs"]
mod tails;

/// Sources that hold tests named after cases.
const TESTED: [&str; 6] = [
    "cli",
    "cranelift-backend",
    "kernels",
    "numerics",
    "runtime",
    "tile-ir",
];

#[test]
fn the_page_has_every_case_and_every_test_it_names_exists() {
    let crates = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let page = std::fs::read_to_string(crates.join("../docs/cases.md")).expect("the page is there");
    let mut sources = String::new();
    let mut folders: Vec<_> = TESTED.iter().map(|name| crates.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&std::fs::read_to_string(path).expect("a source"));
            }
        }
    }
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| P"))
        .collect();
    for id in 1..=68 {
        let start = format!("| P{id:02} |");
        assert_eq!(
            rows.iter().filter(|row| row.starts_with(&start)).count(),
            1,
            "P{id:02}"
        );
    }
    for row in rows {
        let id = row[2..5].to_lowercase();
        let named = row
            .split('`')
            .filter(|part| part.starts_with(&format!("{id}_")));
        let mut tests = 0;
        for name in named {
            assert!(
                sources.contains(&format!("fn {name}()")),
                "no test is called {name}"
            );
            tests += 1;
        }
        let excused = row.contains("not yet: ") || row.contains("doesn't apply yet: ");
        assert!((tests > 0) != excused, "{row}");
    }
}
