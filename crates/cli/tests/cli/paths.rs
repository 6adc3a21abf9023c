//! P65: names of files that programs stumble over.

use std::ffi::{OsStr, OsString};

use super::sandbox::{COPY, Sandbox, npy_f32, same};

fn odd_names() -> Vec<OsString> {
    let mut names: Vec<OsString> = vec![
        "a b.npy".into(),
        "ünïcode.npy".into(),
        "-x.npy".into(),
        "a=b.npy".into(),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        names.push(OsString::from_vec(b"f\xffo.npy".to_vec()));
    }
    names
}

fn binding(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(value);
    word
}

#[test]
fn p65_odd_names_work_as_inputs_and_outputs() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let file = npy_f32(&[1, 2], &[1.0, 2.0]);
    for name in odd_names() {
        sandbox.write(&name, &file);
        let arguments = [
            "run".into(),
            "k.tile".into(),
            binding("x", &name),
            "-o".into(),
            binding("y", "y.npy".as_ref()),
        ];
        sandbox.run(arguments).succeeds();
        same(sandbox.read("y.npy"), &file);
        std::fs::remove_file(sandbox.path(&name)).unwrap();
        let arguments = [
            "run".into(),
            "k.tile".into(),
            binding("x", "y.npy".as_ref()),
            "-o".into(),
            binding("y", &name),
        ];
        sandbox.run(arguments).succeeds();
        same(sandbox.read(&name), &file);
    }
}

#[test]
fn p65_odd_names_work_for_kernels() {
    let sandbox = Sandbox::new();
    for name in odd_names() {
        sandbox.write(&name, COPY);
        sandbox
            .run(["check".as_ref(), "--".as_ref(), name.as_os_str()])
            .succeeds();
    }
}

/// One line on stderr, exit code 1, the path shown.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&OsStr], shown: &str) {
    let said = sandbox.run(arguments).fails(1);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.starts_with("error[cannot-") && said.contains(shown),
        "{said}"
    );
}

#[test]
fn p65_directories_missing_files_and_endless_names_get_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    sandbox.write("x.npy", npy_f32(&[1, 1], &[1.0]));
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let long = "n".repeat(300);
    for (value, shown) in [
        ("folder", "`folder`"),
        ("missing.npy", "`missing.npy`"),
        (long.as_str(), long.as_str()),
        ("nowhere/x.npy", "`nowhere/x.npy`"),
    ] {
        let (x, y) = (binding("x", value.as_ref()), binding("y", "y.npy".as_ref()));
        refused(
            &sandbox,
            &["run".as_ref(), "k.tile".as_ref(), &x, "-o".as_ref(), &y],
            shown,
        );
        refused(&sandbox, &["check".as_ref(), value.as_ref()], shown);
        if value != "missing.npy" {
            let (x, y) = (binding("x", "x.npy".as_ref()), binding("y", value.as_ref()));
            refused(
                &sandbox,
                &["run".as_ref(), "k.tile".as_ref(), &x, "-o".as_ref(), &y],
                shown,
            );
        }
    }
    assert_eq!(sandbox.names(), ["folder", "k.tile", "x.npy"]);
}

#[cfg(unix)]
#[test]
fn p65_a_name_that_is_not_utf8_is_shown_when_it_fails() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    refused(
        &sandbox,
        &["check".as_ref(), OsStr::from_bytes(b"f\xffo.tile")],
        "`f\u{fffd}o.tile`",
    );
}
