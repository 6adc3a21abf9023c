//! Command lines that can't be meant: exit code 2.

use expect_test::expect;

use super::{sandbox, says};

#[test]
fn no_equals_sign() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x.npy",
        2,
        expect![[r#"
        error: invalid value 'x.npy' for '[NAME=VALUE]...': write NAME=VALUE

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn given_twice() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy x=w.npy",
        2,
        expect![[r#"
            error: `x=` is given twice

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn output_twice() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy -o y=z.npy",
        2,
        expect![[r#"
            error: `-o y=` is given twice

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn two_outputs_to_one_file() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy -o x=y.npy",
        2,
        expect![[r#"
            error: two outputs go to `y.npy`

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn stdin_twice() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run - x=- w=w.npy eps=1e-6 -o y=y.npy",
        2,
        expect![[r#"
            error: stdin (`-`) can be read once only

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn unknown_pin() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --plan speed=8",
        2,
        expect![[r#"
            error: invalid value 'speed=8' for '--plan <PINS>': a plan has no `speed`; it has width, local, partials, unroll, full, reload and grain

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn unknown_rule() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --enable speed",
        2,
        expect![[r#"
            error: invalid value 'speed' for '--enable <RULE>': there is no rule `speed`; there are load-reduction and expression-reduction

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn bad_extent() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --axis col=many",
        2,
        expect![[r#"
            error: invalid value 'col=many' for '--axis <NAME=EXTENT>': `many` is no extent; write a number up to 2147483647

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn axis_twice() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --axis col=3 --axis col=3",
        2,
        expect![[r#"
            error: --axis gives axis `col` twice

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn unknown_stage() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "emit --stage soup k.tile",
        2,
        expect![[r#"
        error: invalid value 'soup' for '--stage <STAGE>'
          [possible values: tile, plan, xir, clif, asm]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn unknown_machine() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "emit --stage asm --target pdp11 k.tile",
        2,
        expect![[r#"
            error: invalid value 'pdp11' for '--target <MACHINE>': write host or one of x86_64-linux, aarch64-linux, aarch64-apple-darwin, neoverse-n1, neoverse-v2, apple-m1, zen3

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn no_command() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "",
        2,
        expect![[r#"
            Compiles small tensor programs into SIMD machine code, and runs them on files

            Usage: tilewright <COMMAND>

            Commands:
              run      Compile a kernel, run it on files, save what it computes
              check    Look for mistakes in kernels; say nothing if there are none
              fmt      Lay kernels out in house style, comments kept
              emit     Show a kernel at one stage of its compilation
              build    Compile kernels into an object file or a static library, with a C header
              explain  Say which loads may join their first consumer, what that would change, or why they may not
              help     Print this message or the help of the given subcommand(s)

            Options:
              -h, --help     Print help
              -V, --version  Print version

            Exit codes: 0, done; 1, the input is wrong; 2, the command line is wrong.
            A file named `-` is stdin or stdout. NO_COLOR switches colours off.
        "#]],
    );
}
