//! `tilewright build`: objects that stand alone, and headers that C and C++ compilers take.

use std::path::Path;
use std::process::Command;

use object::{Object as _, ObjectSymbol as _};

use super::sandbox::{COPY, Sandbox};

const RMS_NORM: &str = include_str!("../../../kernels/tile/rms_norm.tile");
const SOFTMAX: &str = include_str!("../../../kernels/tile/softmax_masked.tile");
const PROGRAM: &str = include_str!("../../../../examples/c/main.c");

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMS_NORM);
    sandbox.write("s.tile", SOFTMAX);
    sandbox.write("main.c", PROGRAM);
    sandbox
}

/// Whether a tool is there; where CI=true, it has to be.
fn works(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output();
    let works = found.is_ok_and(|output| output.status.success());
    assert!(
        works || std::env::var("CI").as_deref() != Ok("true"),
        "{tool} has to be installed where CI=true"
    );
    if !works {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    works
}

fn must_succeed(directory: &Path, words: &str) {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = command.args(words).current_dir(directory).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{said}",
        output.status
    );
}

#[test]
fn objects_need_nothing_on_any_target() {
    let sandbox = sandbox();
    for target in machine::KNOWN_MACHINES {
        let line = format!(
            "build k.tile s.tile --axis col=65 --target {target} --prefix p -o k.o --header k.h"
        );
        sandbox.line(&line).succeeds();
        let bytes = sandbox.read("k.o");
        let file = object::File::parse(&*bytes).unwrap();
        let undefined = file
            .symbols()
            .filter(|s| s.is_undefined() && s.name() != Ok(""))
            .count();
        assert_eq!(undefined, 0, "{target}");
        for name in [
            "p_abi_version",
            "p_required_features",
            "p_target",
            "p_rms_norm_entry0",
        ] {
            let found = file
                .symbols()
                .any(|s| s.name().unwrap().trim_start_matches('_') == name && s.is_global());
            assert!(found, "{target}: {name}");
        }
    }
}

/// Two libraries with the same kernels in one program, for a compiler and what runs its programs.
fn two_libraries(target: &str, compiler: &str, runner: &str) {
    if !works(compiler) || (!runner.is_empty() && !works(runner)) {
        return;
    }
    let sandbox = sandbox();
    for (prefix, ending) in [("one", "o"), ("two", "a")] {
        sandbox
            .line(&format!(
                "build k.tile s.tile --axis col=65 --target {target} --prefix {prefix} -o {prefix}.{ending} --header {prefix}.h"
            ))
            .succeeds();
    }
    let directory = sandbox.path("");
    let strict = "-Wall -Wextra -pedantic -Werror";
    must_succeed(
        &directory,
        &format!("{compiler} -std=c99 {strict} -static -o main main.c one.o two.a -lm"),
    );
    must_succeed(&directory, &format!("{runner} ./main"));
    let plus = compiler.replace("gcc", "g++");
    if works(&plus) {
        sandbox.write(
            "main.cpp",
            "#include \"one.h\"\n#include \"two.h\"\nint main() { return 0; }\n",
        );
        must_succeed(
            &directory,
            &format!("{plus} -std=c++17 {strict} -fsyntax-only main.cpp"),
        );
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn two_libraries_in_one_program() {
    two_libraries("x86_64-linux", "gcc", "");
}

#[test]
fn two_libraries_in_one_emulated_program() {
    two_libraries("aarch64-linux", "aarch64-linux-gnu-gcc", "qemu-aarch64");
}

#[test]
fn mistakes_leave_no_file() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let before = sandbox.names();
    for (line, code, sentence) in [
        (
            "build k.tile --target vax -o k.o",
            2,
            "write host or one of x86_64-linux",
        ),
        (
            "build k.tile k.tile -o k.o --header k.h",
            1,
            "which is taken",
        ),
        ("build k.tile --prefix 1x -o k.o", 1, "can't be a prefix"),
        ("build k.tile -o none/k.o --header k.h", 1, "cannot write"),
        ("build k.tile -o k.o --header none/k.h", 1, "cannot write"),
        ("build k.tile -o k.o --header k.o", 2, "one file"),
        ("build k.tile -o -", 2, "not to stdout"),
    ] {
        let said = sandbox.line(line).fails(code);
        assert!(said.contains(sentence), "{line}: {said}");
        assert_eq!(sandbox.names(), before, "{line}");
    }
}
