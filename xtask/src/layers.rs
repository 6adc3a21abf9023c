//! The floors: which crate may use which.
//!
//! A crate uses crates of lower floors only, and crates of one floor never use each other. Tests may look at anything
//! below, and at `reference`, which says what the answer is. What a crate must not know is as much architecture as what
//! it does: the legality rule knows no machine, and one crate alone says `cranelift`.

use std::process::Command;

use crate::workspace::{DependencyKind, Member, Workspace};

/// The table of docs/design.md, section 2.
const FLOORS: [(u32, &str); 20] = [
    (0, "numerics"),
    (0, "diagnostics"),
    (0, "native-entry"),
    (1, "tile-ir"),
    (1, "xir"),
    (1, "machine"),
    (1, "kernel-abi"),
    (2, "fusion-legality"),
    (2, "xir-opt"),
    (2, "cranelift-backend"),
    (2, "runtime"),
    (2, "reference"),
    (3, "simd-mapping"),
    (4, "cost-model"),
    (4, "lowering"),
    (5, "planner"),
    (6, "tilewright"),
    (7, "kernels"),
    (8, "cli"),
    (8, "measure"),
];

/// Members that stand beside the house: they may use any floor, and no floor uses them.
const BESIDE: [&str; 4] = ["xtask", "tests", "benches", "print-admissions"];

/// Names that say nothing, and so end up holding everything.
const EMPTY_NAMES: [&str; 8] = [
    "common", "utils", "util", "base", "core", "shared", "misc", "helpers",
];

/// The directories of the crates that may allow `unsafe_code`: one states the promise, one makes it, one relies on it; and
/// two that load foreign code and call it on shared memory, to measure it.
pub(crate) const UNSAFE_CRATES: [&str; 5] = [
    "crates/kernel-abi",
    "crates/cranelift-backend",
    "crates/runtime",
    "crates/native-entry",
    "benches",
];

/// Whatever `cargo tree` may not show under `fusion-legality`.
const UNKNOWN_TO_LEGALITY: [&str; 9] = [
    "machine",
    "cost-model",
    "cranelift-backend",
    "runtime",
    "xir",
    "xir-opt",
    "lowering",
    "simd-mapping",
    "planner",
];

/// Every manifest against the floors, and what `cargo` itself says of `fusion-legality`.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        findings.extend(check_member(
            member,
            &member.dependencies(&workspace.manifest),
        ));
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "tree",
            "-p",
            "fusion-legality",
            "-e",
            "normal",
            "--prefix",
            "none",
        ])
        .current_dir(&workspace.root)
        .output()
        .map_err(|error| format!("cargo tree does not start: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree -p fusion-legality: {}", message.trim()));
    }
    findings.extend(check_legality_tree(&String::from_utf8_lossy(
        &output.stdout,
    )));
    Ok(findings)
}

fn floor(name: &str) -> Option<u32> {
    FLOORS
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(floor, _)| *floor)
}

fn check_member(member: &Member, dependencies: &[(DependencyKind, String)]) -> Vec<String> {
    let place = format!("{}/Cargo.toml", member.directory);
    let name = member.name();
    let mut findings = Vec::new();
    let mut say = |sentence: String| findings.push(format!("{place}: {sentence}"));

    if EMPTY_NAMES.contains(&name) {
        say(format!(
            "`{name}` names nothing; call the crate after what it holds"
        ));
    }
    let inherits_lints = member
        .manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"));
    if inherits_lints.and_then(toml::Value::as_bool) != Some(true) {
        say("the workspace's lints are not inherited; add `[lints] workspace = true`".to_owned());
    }
    let own_floor = floor(name);
    if own_floor.is_none() && !BESIDE.contains(&name) {
        say(format!(
            "`{name}` stands on no floor; add it to FLOORS and to docs/design.md"
        ));
    }
    for (kind, dependency) in dependencies {
        let dependency = dependency.as_str();
        if dependency.starts_with("cranelift-")
            && dependency != "cranelift-backend"
            && name != "cranelift-backend"
        {
            say(format!(
                "uses {dependency}; only cranelift-backend may say `cranelift`"
            ));
        }
        if BESIDE.contains(&dependency) && !BESIDE.contains(&name) {
            say(format!("uses {dependency}, which stands beside the house"));
            continue;
        }
        let (Some(own), Some(other)) = (own_floor, floor(dependency)) else {
            continue;
        };
        let allowed = match kind {
            DependencyKind::Normal | DependencyKind::Build => other < own,
            DependencyKind::Development => {
                other < own || dependency == name || dependency == "reference"
            }
        };
        if !allowed {
            say(format!(
                "floor {own} uses {dependency} of floor {other}; only lower floors may be used"
            ));
        }
    }
    findings
}

/// What `cargo tree -p fusion-legality -e normal --prefix none` must not list.
fn check_legality_tree(tree: &str) -> Vec<String> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| UNKNOWN_TO_LEGALITY.contains(name) || name.starts_with("cranelift"))
        .map(|name| {
            format!(
                "crates/fusion-legality: reaches {name}; the rule knows no machine, cost or backend"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, rest: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{rest}");
        let member = Member {
            directory: format!("crates/{name}"),
            manifest: manifest.parse().expect("valid TOML"),
        };
        check_member(&member, &member.dependencies(&toml::Table::new()))
    }

    fn refuses(name: &str, rest: &str, what: &str) {
        let findings = check(name, rest);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(what), "{findings:?}");
        assert!(
            findings[0].starts_with(&format!("crates/{name}/Cargo.toml: ")),
            "{findings:?}"
        );
    }

    #[test]
    fn a_lower_floor_may_be_used() {
        assert_eq!(
            check("xir-opt", "[dependencies]\nxir = \"0\"\nhashbrown = \"0\""),
            [""; 0]
        );
    }

    #[test]
    fn the_same_floor_or_a_higher_one_may_not() {
        refuses(
            "xir",
            "[dependencies]\ntile-ir = \"0\"",
            "floor 1 uses tile-ir of floor 1",
        );
        refuses(
            "tile-ir",
            "[build-dependencies]\nplanner = \"0\"",
            "floor 1 uses planner of floor 5",
        );
        refuses(
            "xir",
            "[target.'cfg(unix)'.dependencies]\nhidden = { package = \"lowering\", version = \"0\" }",
            "floor 1 uses lowering of floor 4",
        );
    }

    #[test]
    fn tests_may_ask_the_reference_and_nothing_else_above() {
        assert_eq!(
            check("tile-ir", "[dev-dependencies]\nreference = \"0\""),
            [""; 0]
        );
        refuses("tile-ir", "[dev-dependencies]\nplanner = \"0\"", "floor 5");
    }

    #[test]
    fn only_the_backend_says_cranelift() {
        assert_eq!(
            check("cranelift-backend", "[dependencies]\ncranelift-jit = \"0\""),
            [""; 0]
        );
        refuses(
            "tilewright",
            "[dependencies]\ncranelift-jit = \"0\"",
            "only cranelift-backend",
        );
        refuses(
            "tilewright",
            "[dev-dependencies]\ncranelift-jit = \"0\"",
            "only cranelift-backend",
        );
    }

    #[test]
    fn a_name_that_says_nothing_and_a_crate_without_a_floor_are_refused() {
        let findings = check("utils", "");
        assert!(
            findings.iter().any(|one| one.contains("names nothing")),
            "{findings:?}"
        );
        refuses("loose", "", "stands on no floor");
    }

    #[test]
    fn lints_must_be_inherited() {
        let member = Member {
            directory: "crates/xir".to_owned(),
            manifest: "[package]\nname = \"xir\"".parse().expect("valid TOML"),
        };
        let findings = check_member(&member, &[]);
        assert!(
            findings[0].contains("lints are not inherited"),
            "{findings:?}"
        );
    }

    #[test]
    fn no_crate_uses_what_stands_beside_the_house() {
        refuses(
            "cli",
            "[dependencies]\nbenches = \"0\"",
            "stands beside the house",
        );
    }

    #[test]
    fn legality_may_not_reach_a_machine() {
        assert_eq!(
            check_legality_tree("fusion-legality v0.1.0\ntile-ir v0.1.0\n"),
            [""; 0]
        );
        let findings = check_legality_tree("fusion-legality v0.1.0\nmachine v0.1.0 (x)\n");
        assert!(findings[0].contains("reaches machine"), "{findings:?}");
        assert_eq!(check_legality_tree("cranelift-entity v0.135.8\n").len(), 1);
    }
}
