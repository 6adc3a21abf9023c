//! Every dependency's licence, held against the list in deny.toml.
//!
//! `deny.toml` is written for `cargo deny`, which not every machine has. The part of it that must never lapse is checked
//! here with what `cargo metadata` says, so that a dependency under an unexpected licence can't land unnoticed.

use std::process::Command;

use serde_json::Value;

use crate::workspace::Workspace;

/// Each package that may be built, against the licences deny.toml allows.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>, String> {
    let path = workspace.root.join("deny.toml");
    let deny: toml::Table = std::fs::read_to_string(&path)
        .map_err(|error| format!("deny.toml: {error}"))?
        .parse()
        .map_err(|error| format!("deny.toml: {error}"))?;
    let allowed = deny
        .get("licenses")
        .and_then(|table| table.get("allow"))
        .and_then(toml::Value::as_array)
        .ok_or("deny.toml: `licenses.allow` is missing")?;
    let allowed: Vec<&str> = allowed.iter().filter_map(toml::Value::as_str).collect();

    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(&workspace.root)
        .output()
        .map_err(|error| format!("cargo metadata does not start: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {}", message.trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    Ok(packages
        .iter()
        .filter_map(|package| {
            let name = package["name"].as_str().unwrap_or("?");
            let version = package["version"].as_str().unwrap_or("?");
            check_package(name, version, package["license"].as_str(), &allowed)
        })
        .collect())
}

fn check_package(
    name: &str,
    version: &str,
    licence: Option<&str>,
    allowed: &[&str],
) -> Option<String> {
    let Some(licence) = licence else {
        return Some(format!("{name} {version}: names no licence"));
    };
    match is_allowed(licence, allowed) {
        Some(true) => None,
        Some(false) => Some(format!(
            "{name} {version}: `{licence}` is not in deny.toml's list"
        )),
        None => Some(format!(
            "{name} {version}: `{licence}` is no SPDX expression"
        )),
    }
}

/// Whether an SPDX expression can be met with `allowed` licences; `None` when it is no expression. The old `A/B` means
/// `A OR B`. `AND` binds tighter than `OR`.
fn is_allowed(expression: &str, allowed: &[&str]) -> Option<bool> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let value = any_of(&tokens, &mut at, allowed)?;
    (at == tokens.len()).then_some(value)
}

fn any_of(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> Option<bool> {
    let mut value = all_of(tokens, at, allowed)?;
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        value |= all_of(tokens, at, allowed)?;
    }
    Some(value)
}

fn all_of(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> Option<bool> {
    let mut value = one(tokens, at, allowed)?;
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        value &= one(tokens, at, allowed)?;
    }
    Some(value)
}

fn one(tokens: &[&str], at: &mut usize, allowed: &[&str]) -> Option<bool> {
    let token = *tokens.get(*at)?;
    *at += 1;
    match token {
        "(" => {
            let value = any_of(tokens, at, allowed)?;
            (tokens.get(*at) == Some(&")")).then(|| *at += 1)?;
            Some(value)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        name if tokens.get(*at) == Some(&"WITH") => {
            let exception = tokens.get(*at + 1)?;
            *at += 2;
            Some(allowed.contains(&format!("{name} WITH {exception}").as_str()))
        }
        name => Some(allowed.contains(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: [&str; 3] = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn one_allowed_choice_is_enough_and_every_part_of_a_whole_is_needed() {
        assert_eq!(is_allowed("GPL-3.0 OR MIT", &ALLOWED), Some(true));
        assert_eq!(is_allowed("MIT/GPL-3.0", &ALLOWED), Some(true));
        assert_eq!(is_allowed("MIT AND GPL-3.0", &ALLOWED), Some(false));
        assert_eq!(
            is_allowed("MIT AND (GPL-3.0 OR Apache-2.0)", &ALLOWED),
            Some(true)
        );
        assert_eq!(
            is_allowed("Apache-2.0 WITH LLVM-exception", &ALLOWED),
            Some(true)
        );
        assert_eq!(
            is_allowed("GPL-3.0 WITH LLVM-exception", &ALLOWED),
            Some(false)
        );
    }

    #[test]
    fn what_is_no_expression_is_not_allowed() {
        for broken in [
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "OR",
            "MIT Apache-2.0",
            "MIT WITH",
        ] {
            assert_eq!(is_allowed(broken, &ALLOWED), None, "{broken}");
        }
    }

    #[test]
    fn a_package_is_refused_by_name() {
        assert_eq!(check_package("a", "1.0.0", Some("MIT"), &ALLOWED), None);
        assert_eq!(
            check_package("unicorn", "2.1.5", Some("GPL-2.0"), &ALLOWED).as_deref(),
            Some("unicorn 2.1.5: `GPL-2.0` is not in deny.toml's list")
        );
        assert_eq!(
            check_package("b", "1.0.0", None, &ALLOWED).as_deref(),
            Some("b 1.0.0: names no licence")
        );
    }
}
