//! Arguments that do not fit the kernel.

use expect_test::expect;

use super::{sandbox, says};
use crate::sandbox::{RMSNORM, npy, npy_f32};

#[test]
fn unknown_parameter() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy ep=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[missing-argument]: nothing is given for `eps`
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
               │
               │ Help: add `eps=1e-6`
            ───╯

            error[unknown-parameter]: kernel `rmsnorm` has no parameter `ep`
              = help: did you mean `eps`?
        "#]],
    );
}

#[test]
fn unknown_output() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o z=y.npy",
        1,
        expect![[r#"
            error[unknown-parameter]: kernel `rmsnorm` has no parameter `z`
              = help: its parameters: x, w, y, eps
        "#]],
    );
}

#[test]
fn missing_arguments() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy -o y=y.npy",
        1,
        expect![[r#"
        error[missing-argument]: nothing is given for `w`
           ╭─[ k.tile:2:39 ]
           │
         2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
           │                                       ┬
           │                                       ╰── w: view f32[col]
           │
           │ Help: add `w=FILE.npy` or `w=FILE.safetensors:TENSOR`
        ───╯

        error[missing-argument]: nothing is given for `eps`
           ╭─[ k.tile:2:84 ]
           │
         2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
           │                                                                                    ─┬─
           │                                                                                     ╰─── eps: f32
           │
           │ Help: add `eps=1e-6`
        ───╯
    "#]],
    );
}

#[test]
fn nothing_saved() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6",
        1,
        expect![[r#"
            error[nothing-saved]: nothing would be saved
              = help: add `-o y=FILE.npy`
        "#]],
    );
}

#[test]
fn output_that_is_an_input() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy -o x=z.npy",
        1,
        expect![[r#"
            error[not-an-output]: `x` is not `mut`: the kernel stores nothing there
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── x: view f32[row, col]
               │
               │ Help: outputs of `rmsnorm`: y
            ───╯
        "#]],
    );
}

#[test]
fn output_that_is_a_number() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy -o eps=z.npy",
        1,
        expect![[r#"
            error[not-an-output]: `eps` is a number, so there is nothing to save
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
            ───╯
        "#]],
    );
}

#[test]
fn two_arrays_disagree_about_an_axis() {
    let sandbox = sandbox();
    sandbox.write("w.npy", npy_f32(&[4], &[1.0; 4]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[extent-mismatch]: axis `col` is 3 in `x` of shape [2, 3] and 4 in `w` of shape [4]
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬                      ┬
               │                ╰───────────────────────── x: view f32[row, col]
               │                                       │
               │                                       ╰── w: view f32[col]
               │
               │ Help: give arrays that agree along `col`
            ───╯
        "#]],
    );
}

#[test]
fn an_array_disagrees_with_the_kernel() {
    let sandbox = sandbox();
    sandbox.write(
        "k.tile",
        RMSNORM.replace("eps: f32)", "eps: f32)\nwhere col = 256"),
    );
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[extent-mismatch]: axis `col` is 256 in the kernel and 3 in `x` of shape [2, 3]
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
               │                ┬
               │                ╰── x: view f32[row, col]
             3 │ where col = 256 {
               │       ─┬─
               │        ╰─── `col` is fixed here
               │
               │ Help: give 256 along `col`, or change the kernel
            ───╯

            error[extent-mismatch]: axis `col` is 256 in the kernel and 3 in `w` of shape [3]
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
               │                                       ┬
               │                                       ╰── w: view f32[col]
             3 │ where col = 256 {
               │       ─┬─
               │        ╰─── `col` is fixed here
               │
               │ Help: give 256 along `col`, or change the kernel
            ───╯
        "#]],
    );
}

#[test]
fn an_array_disagrees_with_an_option() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --axis col=5",
        1,
        expect![[r#"
            error[extent-mismatch]: axis `col` is 5 by `--axis` and 3 in `x` of shape [2, 3]
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── x: view f32[row, col]
               │
               │ Help: leave `--axis col=5` out, or give another array
            ───╯

            error[extent-mismatch]: axis `col` is 5 by `--axis` and 3 in `w` of shape [3]
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                       ┬
               │                                       ╰── w: view f32[col]
               │
               │ Help: leave `--axis col=5` out, or give another array
            ───╯
        "#]],
    );
}

#[test]
fn an_option_disagrees_with_the_kernel() {
    let sandbox = sandbox();
    sandbox.write(
        "k.tile",
        RMSNORM.replace("eps: f32)", "eps: f32)\nwhere col = 3"),
    );
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --axis col=5",
        1,
        expect![[r#"
            error[extent-mismatch]: axis `col` is 3 in the kernel and 5 by `--axis`
               ╭─[ k.tile:3:7 ]
               │
             3 │ where col = 3 {
               │       ─┬─
               │        ╰─── `col` is fixed here
               │
               │ Help: give 3 along `col`, or change the kernel
            ───╯
        "#]],
    );
}

#[test]
fn another_rank() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy_f32(&[1, 2, 3], &[1.0; 6]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[rank]: `x` is a view f32[row, col] with 2 dimensions, but `x.npy` has shape [1, 2, 3] with 3 dimensions
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── x: view f32[row, col]
               │
               │ Help: save it with 2 dimensions (`a.reshape(...)`), or declare the view with 3 dimensions
            ───╯
        "#]],
    );
}

#[test]
fn another_element_type() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy("<f8", &[2, 3], &[0; 48]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[element-type]: `x` is a view f32[row, col], but `x.npy` holds f64
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── x: view f32[row, col]
               │
               │ Help: save it as `a.astype('float32')`, or declare the view f64
            ───╯
        "#]],
    );
}

#[test]
fn an_empty_axis_of_tiles() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy_f32(&[2, 0], &[]));
    sandbox.write("w.npy", npy_f32(&[0], &[]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[zero-extent]: axis `col` is 0 in `x` of shape [2, 0], but tiles run along it and have at least one coordinate
               ╭─[ k.tile:2:16 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── x: view f32[row, col]
               │
               │ Help: an axis may be empty if `parallel` nests alone run along it
            ───╯
        "#]],
    );
}

#[test]
fn an_axis_nobody_tells() {
    let sandbox = sandbox();
    sandbox.write("k.tile", "kernel ones(y: mut view f32[row, col]) { parallel r: row, c: col { store y[r, c] = 1.0 } }");
    says(
        &sandbox,
        "run k.tile -o y=y.npy",
        1,
        expect![[r#"
            error[extent-unknown]: nothing tells the extent of axis `row`
               ╭─[ k.tile:1:29 ]
               │
             1 │ kernel ones(y: mut view f32[row, col]) { parallel r: row, c: col { store y[r, c] = 1.0 } }
               │                             ─┬─
               │                              ╰─── here
               │
               │ Help: give `--axis row=N`, or an array for `y`, which is f32[row, col]
            ───╯

            error[extent-unknown]: nothing tells the extent of axis `col`
               ╭─[ k.tile:1:34 ]
               │
             1 │ kernel ones(y: mut view f32[row, col]) { parallel r: row, c: col { store y[r, c] = 1.0 } }
               │                                  ─┬─
               │                                   ╰─── here
               │
               │ Help: give `--axis col=N`, or an array for `y`, which is f32[row, col]
            ───╯
        "#]],
    );
}

#[test]
fn an_axis_the_kernel_does_not_have() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --axis rows=4",
        1,
        expect![[r#"
            error[unknown-axis]: kernel `rmsnorm` has no axis `rows`
              = help: did you mean `row`?
        "#]],
    );
}

#[test]
fn a_number_that_is_none() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=tiny -o y=y.npy",
        1,
        expect![[r#"
            error[not-a-number]: `eps=tiny`: `tiny` is no f32 constant
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
               │
               │ Help: write a number such as `eps=1e-6`
            ───╯
        "#]],
    );
}

#[test]
fn a_number_out_of_range() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e99 -o y=y.npy",
        1,
        expect![[r#"
            error[not-a-number]: `eps=1e99`: `1e99` is outside the range of f32
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
               │
               │ Help: write a number such as `eps=1e-6`
            ───╯
        "#]],
    );
}

#[test]
fn a_file_for_a_number() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=x.npy -o y=y.npy",
        1,
        expect![[r#"
            error[not-a-number]: `eps=x.npy`: `x.npy` is no f32 constant
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
               │
               │ Help: write a number such as `eps=1e-6`
            ───╯
        "#]],
    );
}

#[test]
fn a_number_for_a_file() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=1.0 eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[cannot-read]: cannot read `1.0`: No such file or directory (os error 2)
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                       ┬
               │                                       ╰── w: view f32[col]
               │
               │ Help: a view takes a file
            ───╯
        "#]],
    );
}

#[test]
fn a_plan_that_can_not_be() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy --plan width=8,local=4",
        1,
        expect![[r#"
            error[plan]: local = 4 is not realised at width = 8; use 1 (a lane runs a program) or 8 (a packet does)
        "#]],
    );
}

#[test]
fn everything_at_once() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=nowhere.npy w=x.npy eps=tiny b=x.npy --axis rows=4",
        1,
        expect![[r#"
            error[rank]: `w` is a view f32[col] with 1 dimension, but `x.npy` has shape [2, 3] with 2 dimensions
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                       ┬
               │                                       ╰── w: view f32[col]
               │
               │ Help: save it with 1 dimension (`a.reshape(...)`), or declare the view with 2 dimensions
            ───╯

            error[not-a-number]: `eps=tiny`: `tiny` is no f32 constant
               ╭─[ k.tile:2:84 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                                                    ─┬─
               │                                                                                     ╰─── eps: f32
               │
               │ Help: write a number such as `eps=1e-6`
            ───╯

            error[unknown-parameter]: kernel `rmsnorm` has no parameter `b`
              = help: its parameters: x, w, y, eps

            error[cannot-read]: cannot read `nowhere.npy`: No such file or directory (os error 2)

            error[nothing-saved]: nothing would be saved
              = help: add `-o y=FILE.npy`

            error[unknown-axis]: kernel `rmsnorm` has no axis `rows`
              = help: did you mean `row`?
        "#]],
    );
}

#[test]
fn two_outputs_to_one_file_by_two_names() {
    let sandbox = sandbox();
    sandbox.write(
        "k.tile",
        "kernel two(a: mut view f32[n], b: mut view f32[n]) { parallel i: n { store a[i] = 1.0 } }",
    );
    let line = "run k.tile --axis n=2 -o a=y.npy -o b=./y.npy";
    says(
        &sandbox,
        line,
        1,
        expect![[r#"
        error[one-file]: outputs `y.npy` and `./y.npy` are one file
          = help: give each its own
    "#]],
    );
}
