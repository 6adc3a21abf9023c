//! Files exchanged with numpy itself.

use std::path::PathBuf;
use std::process::Command;

use super::sandbox::{COPY, Sandbox};

/// A Python that has these modules: the repository's own, or the system's. Without one the test is skipped, loudly; in CI
/// that is a failure.
pub(crate) fn python_with(modules: &[&str]) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let candidates = [
        root.join("target/venv/bin/python"),
        PathBuf::from("python3"),
    ];
    let import = format!(
        "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, {modules:?})))"
    );
    let works = |python: &PathBuf| {
        let output = Command::new(python).args(["-c", &import]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = candidates.into_iter().find(works);
    if found.is_none() {
        eprintln!(
            "SKIPPED: there is no Python with {}; run ./.ci/setup",
            modules.join(" and ")
        );
        let in_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(
            !in_ci,
            "CI needs a Python with {}: run ./.ci/setup",
            modules.join(" and ")
        );
    }
    found
}

#[test]
fn p58_numpy_writes_what_is_read_and_reads_what_is_written() {
    let Some(python) = python_with(&["numpy"]) else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let script = |text: &str| {
        let output = Command::new(&python)
            .args(["-c", text])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    for array in [
        "numpy.arange(12, dtype='<f4').reshape(3, 4)",
        "numpy.asfortranarray(numpy.arange(12, dtype='<f4').reshape(3, 4))",
        "numpy.arange(12, dtype='>f4').reshape(3, 4)",
        "numpy.arange(24, dtype='<f4').reshape(3, 8)[:, ::2]",
        "numpy.zeros((0, 4), '<f4')",
        "numpy.array([[numpy.nan, -0.0, numpy.inf, 1e-45]], '<f4')",
    ] {
        for version in ["(1, 0)", "(2, 0)", "(3, 0)"] {
            script(&format!(
                "import numpy
with open('x.npy', 'wb') as file: numpy.lib.format.write_array(file, {array}, version={version})"
            ));
            sandbox.line("run k.tile x=x.npy -o y=y.npy").succeeds();
            script(
                "import numpy
x, y = numpy.load('x.npy'), numpy.load('y.npy')
assert y.dtype == '<f4' and x.shape == y.shape, (x.shape, y.shape)
assert x.astype('<f4').tobytes() == y.tobytes(), (x, y)
numpy.save('z.npy', y)
assert open('y.npy', 'rb').read() == open('z.npy', 'rb').read()",
            );
        }
    }
}
