//! The house's caretaker: `cargo xtask COMMAND` builds, tests and checks the whole workspace.
//!
//! Rust's own tools check a crate; nothing of theirs knows which crate may use which, or that a promise needs a failing
//! example. Those checks live here, each with a test that feeds it something wrong and sees it say no.

mod exhaust;
mod layers;
mod licences;
mod papers;
mod steps;
mod tidy;
mod ulp;
mod workspace;

use std::process::ExitCode;

use steps::{Run, cargo};
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  build             build every crate and test
  test [ARGS]       run all tests and doctests; ARGS go to `cargo test` (for example: -p numerics)
  ci                everything a change must pass, a summary at the end
  layers            hold every manifest against the floors of docs/design.md
  tidy              hold every file against the house rules
  papers            hold every page's links and kernels against the workspace
  licences          hold every dependency's licence against deny.toml
  exhaust [ARGS]    every small kernel fused and unfused, bit for bit (--size N, --mutants)
  laws [N]          the laws on N random kernels each (100000 if not said), library kernels at every size; hours
  bless [ARGS]      rewrite the expectations of the corpus; review the change as text
  bench [ARGS]      compile time and RMSNorm against plain C
  bench peers       every case against gcc, clang and Inductor, in one run (--help for how)
  ulp [NAMES]       measure elementary functions over all f32 arguments; minutes for each
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let workspace = match Workspace::open() {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut run = Run::new(workspace.root.clone());
    match command.as_str() {
        "build" => run.command("build", &cargo(&["build", "--workspace", "--all-targets"])),
        "test" => test(&mut run, &rest),
        "ci" => ci(&mut run, &workspace),
        "layers" => run.check("layers", || layers::check(&workspace)),
        "tidy" => run.check("tidy", || tidy::check(&workspace)),
        "papers" => run.check("papers", || papers::check(&workspace)),
        "licences" => run.check("licences", || licences::check(&workspace)),
        "laws" => laws(&mut run, rest.first().map_or("100000", String::as_str)),
        "exhaust" => run.check("exhaust", || exhaust::run(&rest)),
        "bless" => bless(&mut run, &rest),
        "bench" => bench(&mut run, &rest),
        "ulp" => {
            if let Err(error) = ulp::measure(&rest) {
                eprintln!("xtask: {error}");
                return ExitCode::from(2);
            }
            return ExitCode::SUCCESS;
        }
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        unknown => {
            if !unknown.is_empty() {
                eprintln!("xtask: no command is called `{unknown}`");
            }
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    run.finish()
}

/// The programs of `benches` that `cargo xtask bench` knows by name.
const BENCHES: [&str; 1] = ["peers"];

/// One of the named comparisons, or what cargo finds below benches/benches.
fn bench(run: &mut Run, rest: &[String]) {
    let (first, arguments) = match rest.split_first() {
        Some((name, arguments)) if BENCHES.contains(&name.as_str()) => (
            vec!["run", "--release", "-p", "benches", "--bin", name, "--"],
            arguments,
        ),
        _ => (vec!["bench", "-p", "benches"], rest),
    };
    let arguments = arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = first.into_iter().chain(arguments).collect();
    run.command("bench", &cargo(&arguments));
}

/// Unit tests, integration tests, programs and examples; then the examples in the docs.
fn test(run: &mut Run, rest: &[String]) {
    if rest.is_empty() {
        unit_tests(run);
        doctests(run);
    } else {
        let arguments: Vec<&str> = ["test", "--locked"]
            .into_iter()
            .chain(rest.iter().map(String::as_str))
            .collect();
        run.command("tests", &cargo(&arguments));
    }
}

fn unit_tests(run: &mut Run) {
    let targets = ["--lib", "--bins", "--tests", "--examples", "--no-fail-fast"];
    let arguments = [&["test", "--locked", "--workspace"], targets.as_slice()].concat();
    run.command("tests", &cargo(&arguments));
}

fn doctests(run: &mut Run) {
    run.command(
        "doctests",
        &cargo(&["test", "--locked", "--workspace", "--doc"]),
    );
}

/// The whole truth: the quick checks first, so that a slip in a comment does not cost a build.
fn ci(run: &mut Run, workspace: &Workspace) {
    run.command("fmt", &cargo(&["fmt", "--all", "--check"]));
    run.check("layers", || layers::check(workspace));
    run.check("tidy", || tidy::check(workspace));
    run.check("papers", || papers::check(workspace));
    run.check("licences", || licences::check(workspace));
    let everything = ["--locked", "--workspace", "--all-targets"];
    let clippy = [
        &["clippy"],
        everything.as_slice(),
        &["--", "-D", "warnings"],
    ]
    .concat();
    run.command("clippy", &cargo(&clippy));
    let doc = ["doc", "--locked", "--workspace", "--no-deps"];
    run.command(
        "doc",
        &cargo(&doc).with_environment("RUSTDOCFLAGS", "-D warnings"),
    );
    unit_tests(run);
    doctests(run);
    let small = ["--size".to_owned(), "4".to_owned()];
    run.check("exhaust", || exhaust::run(&small));
}

/// The property tests and the library's tests at their full size, in release mode.
fn laws(run: &mut Run, kernels: &str) {
    // An environment's values live as long as this program, which ends with the run.
    let kernels: &'static str = Box::leak(kernels.to_owned().into_boxed_str());
    let fused = cargo(&["test", "--release", "--locked", "-p", "fusion-legality"]);
    run.command("fusion-legality", &fused.with_environment("LAWS", kernels));
    let laws = cargo(&[
        "test",
        "--release",
        "--locked",
        "-p",
        "tests",
        "--test",
        "laws",
    ]);
    run.command("laws", &laws.with_environment("LAWS", kernels));
    let library = cargo(&["test", "--release", "--locked", "-p", "kernels"]);
    run.command(
        "kernels",
        &library.with_environment("KERNELS_ALL_SIZES", "1"),
    );
}

/// Runs the tests that hold expectations with leave to rewrite them.
fn bless(run: &mut Run, rest: &[String]) {
    let what: Vec<&str> = if rest.is_empty() {
        vec!["-p", "tests", "-p", "cli"]
    } else {
        rest.iter().map(String::as_str).collect()
    };
    let command = cargo(&[&["test"], what.as_slice(), &["--no-fail-fast"]].concat());
    let command = command.with_environment("BLESS", "1");
    run.command("bless", &command.with_environment("UPDATE_EXPECT", "1"));
}
