//! The workspace on disk: its root, its members and their manifests.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A workspace: its root manifest and those of its members, in the order of their paths.
pub(crate) struct Workspace {
    /// The directory of the root manifest.
    pub(crate) root: PathBuf,
    /// The root manifest.
    pub(crate) manifest: Table,
    /// The members.
    pub(crate) members: Vec<Member>,
}

/// One crate of the workspace.
pub(crate) struct Member {
    /// Its directory, relative to the root, with `/` between parts.
    pub(crate) directory: String,
    /// Its manifest.
    pub(crate) manifest: Table,
}

/// Which table of a manifest a dependency stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// Needed to use the crate.
    Normal,
    /// Needed by its build script.
    Build,
    /// Needed by its tests, examples and benchmarks.
    Development,
}

impl Workspace {
    /// The workspace this program was built from.
    pub(crate) fn open() -> Result<Workspace, String> {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = xtask
            .parent()
            .ok_or_else(|| format!("{} has no parent", xtask.display()))?;
        let manifest = read_manifest(&root.join("Cargo.toml"))?;
        let patterns = manifest
            .get("workspace")
            .and_then(|table| table.get("members"))
            .and_then(Value::as_array)
            .ok_or("Cargo.toml: `workspace.members` is missing")?;
        let mut directories = Vec::new();
        for pattern in patterns.iter().filter_map(Value::as_str) {
            directories.extend(expand(root, pattern)?);
        }
        directories.sort();
        let mut members = Vec::new();
        directories.dedup();
        for directory in directories {
            let manifest = read_manifest(&root.join(&directory).join("Cargo.toml"))?;
            members.push(Member {
                directory,
                manifest,
            });
        }
        Ok(Workspace {
            root: root.to_owned(),
            manifest,
            members,
        })
    }
}

impl Member {
    /// The package's name.
    pub(crate) fn name(&self) -> &str {
        self.manifest
            .get("package")
            .and_then(|package| package.get("name"))
            .and_then(Value::as_str)
            .unwrap_or("")
    }

    /// Every dependency with its real package name: a renamed one counts as what it is, whether it is renamed here or
    /// in the workspace's table, and one for some targets counts like one for all.
    pub(crate) fn dependencies(&self, workspace: &Table) -> Vec<(DependencyKind, String)> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let targets = targets.into_iter().flat_map(|table| table.values());
        let tables = std::iter::once(&self.manifest).chain(targets.filter_map(Value::as_table));
        let shared = workspace
            .get("workspace")
            .and_then(|table| table.get("dependencies"));
        let mut found = Vec::new();
        for table in tables {
            for (kind, key) in [
                (DependencyKind::Normal, "dependencies"),
                (DependencyKind::Build, "build-dependencies"),
                (DependencyKind::Development, "dev-dependencies"),
            ] {
                let Some(dependencies) = table.get(key).and_then(Value::as_table) else {
                    continue;
                };
                for (name, value) in dependencies {
                    let package = package_of(value)
                        .or_else(|| package_of(shared?.get(name)?))
                        .unwrap_or(name);
                    found.push((kind, package.to_owned()));
                }
            }
        }
        found
    }
}

/// The directories a row of `workspace.members` means: itself, or with `/*` at its end all below that hold a manifest.
fn expand(root: &Path, pattern: &str) -> Result<Vec<String>, String> {
    let Some(parent) = pattern.strip_suffix("/*") else {
        return Ok(vec![pattern.to_owned()]);
    };
    let entries = fs::read_dir(root.join(parent)).map_err(|error| format!("{parent}: {error}"))?;
    let mut directories = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("{parent}: {error}"))?;
        if entry.path().join("Cargo.toml").is_file() {
            directories.push(format!("{parent}/{}", entry.file_name().to_string_lossy()));
        }
    }
    Ok(directories)
}

fn package_of(dependency: &Value) -> Option<&str> {
    dependency.get("package")?.as_str()
}

fn read_manifest(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.parse()
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_dependency_is_seen_under_its_own_name() {
        let root: Table =
            "[workspace.dependencies]\nhidden = { package = \"cranelift-jit\", version = \"1\" }"
                .parse()
                .expect("valid TOML");
        let member = Member {
            directory: "crates/tile-ir".to_owned(),
            manifest: "[package]\nname = \"tile-ir\"\n[dependencies]\nhidden.workspace = true\n\
                       other = { package = \"machine\", path = \"../machine\" }\n\
                       [target.'cfg(unix)'.dev-dependencies]\nlibc = \"0.2\""
                .parse()
                .expect("valid TOML"),
        };
        let mut found = member.dependencies(&root);
        found.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(
            found,
            [
                (DependencyKind::Normal, "cranelift-jit".to_owned()),
                (DependencyKind::Development, "libc".to_owned()),
                (DependencyKind::Normal, "machine".to_owned()),
            ]
        );
    }

    #[test]
    fn this_workspace_opens_and_knows_itself() {
        let workspace = Workspace::open().expect("the workspace of this test");
        assert!(
            workspace
                .members
                .iter()
                .any(|member| member.name() == "xtask")
        );
        assert!(
            workspace
                .members
                .iter()
                .any(|member| member.name() == "numerics")
        );
    }
}
