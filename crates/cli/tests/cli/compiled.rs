//! Kernels checked, laid out, shown and explained.

use expect_test::expect;

use super::sandbox::{RMSNORM, Sandbox, same};

#[test]
fn check_says_nothing_about_good_kernels() {
    let sandbox = Sandbox::new();
    sandbox.write("a.tile", RMSNORM);
    sandbox.write("b.tile", RMSNORM);
    assert!(sandbox.line("check a.tile b.tile").succeeds().is_empty());
}

#[test]
fn check_tells_every_mistake_of_every_file() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.tile",
        RMSNORM.replace("ws = load w[:]", "ws = load v[:]"),
    );
    sandbox.write("b.tile", RMSNORM.replace("sqrt(", "sqare_root("));
    let said = sandbox.line("check a.tile b.tile missing.tile").fails(1);
    assert!(
        said.contains("a.tile:7:") && said.contains("b.tile:6:"),
        "{said}"
    );
    assert!(said.contains("cannot read `missing.tile`"), "{said}");
}

#[test]
fn fmt_prints_compares_and_rewrites() {
    let sandbox = Sandbox::new();
    let crooked = RMSNORM
        .replace("    let", "  let")
        .replace("load w[:]", "load  w[ : ]");
    sandbox.write("k.tile", &crooked);
    assert_eq!(sandbox.line("fmt k.tile").succeeds(), RMSNORM.as_bytes());
    assert_eq!(sandbox.line("fmt --check k.tile").fails(1), "");
    same(sandbox.read("k.tile"), crooked.as_bytes());
    assert!(sandbox.line("fmt --write k.tile").succeeds().is_empty());
    same(sandbox.read("k.tile"), RMSNORM.as_bytes());
    sandbox.line("fmt --check k.tile").succeeds();
    assert_eq!(sandbox.names(), ["k.tile"]);
}

#[test]
fn every_stage_is_shown_and_twice_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    for (stage, word) in [
        ("tile", "kernel rmsnorm"),
        ("plan", "width="),
        ("xir", ""),
        ("clif", "function"),
        ("asm", ""),
    ] {
        for target in ["host", "aarch64-linux"] {
            let line = format!("emit --stage {stage} k.tile --axis col=64 --target {target}");
            let text = String::from_utf8(sandbox.line(&line).succeeds()).unwrap();
            assert!(text.len() > 40 && text.contains(word), "{stage}: {text}");
            let again = sandbox.line(&line).succeeds();
            assert_eq!(text.as_bytes(), again, "{stage}");
            sandbox.line(&format!("{line} -o out.txt")).succeeds();
            same(sandbox.read("out.txt"), &again);
        }
    }
}

#[test]
fn explain_names_each_load() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    let text = String::from_utf8(sandbox.line("explain k.tile --axis col=64").succeeds()).unwrap();
    assert!(text.contains("load `xs` (line 4): admitted."), "{text}");
    assert!(text.contains("load `ws` (line 7): refused."), "{text}");
}

#[test]
fn an_axis_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    expect![[r#"
        error[extent-unknown]: axis `col` has no extent; bind it with an input, or give it with `--axis col=N` or in `where`
    "#]].assert_eq(&sandbox.line("emit --stage plan k.tile").fails(1));
    expect![[r#"
        error[unknown-axis]: kernel `rmsnorm` has no axis `cal`
          = help: did you mean `col`?
    "#]]
    .assert_eq(
        &sandbox
            .line("emit --stage plan k.tile --axis cal=3")
            .fails(1),
    );
    expect![[r#"
        error[extent]: axis `col` is given extent 0; a tile has at least one coordinate along each axis
    "#]].assert_eq(&sandbox.line("explain k.tile --axis col=0").fails(1));
}
