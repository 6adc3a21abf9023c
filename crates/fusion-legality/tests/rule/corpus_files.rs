//! Reads the files of `tests/files/admit`: cases under headings, expectations behind `//>`.

use std::path::{Path, PathBuf};

use tile_ir::Verified;

/// A kernel and the admission that is expected.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) expected: Vec<String>,
    pub(crate) kernel: Verified,
}

/// A file of cases.
pub(crate) struct File {
    pub(crate) name: String,
    path: PathBuf,
    preamble: String,
    pub(crate) cases: Vec<Case>,
}

/// Every file, in order of name.
pub(crate) fn cases() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/admit");
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "tile")
    });
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> File {
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = text.split("// ---- ");
    let preamble = parts.next().unwrap_or_default().to_owned();
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let cases = parts.map(|part| case(&name, part)).collect();
    File {
        name,
        path,
        preamble,
        cases,
    }
}

fn case(file: &str, text: &str) -> Case {
    let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (expected, source): (Vec<&str>, Vec<&str>) =
        rest.lines().partition(|line| line.starts_with("//>"));
    let source = source.join("\n").trim_end().to_owned();
    let kernel = tile_ir::parse_verified(&source)
        .unwrap_or_else(|mistake| panic!("{file}: {name}: {mistake}"));
    let expected = expected
        .into_iter()
        .map(|line| {
            line["//>".len()..]
                .strip_prefix(' ')
                .unwrap_or("")
                .to_owned()
        })
        .collect();
    Case {
        name: name.trim().to_owned(),
        source,
        expected,
        kernel,
    }
}

/// Whether expectations are rewritten rather than compared.
pub(crate) fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Writes a file with these outputs as its expectations.
pub(crate) fn rewrite(file: &File, outputs: &[Vec<String>]) {
    let cases = file.cases.iter().zip(outputs).map(|(case, output)| {
        let lines: String = output.iter().map(|line| format!("//> {line}\n")).collect();
        format!("// ---- {}\n{}\n{lines}", case.name, case.source)
    });
    let text = file.preamble.clone() + &cases.collect::<Vec<_>>().join("\n");
    std::fs::write(&file.path, text)
        .unwrap_or_else(|error| panic!("{}: {error}", file.path.display()));
}
