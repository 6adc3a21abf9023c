//! Mistakes in the text of a kernel.

use expect_test::expect;

use super::{sandbox, says};
use crate::sandbox::RMSNORM;

#[test]
fn unknown_name_in_the_kernel() {
    let sandbox = sandbox();
    sandbox.write("k.tile", RMSNORM.replace("xs / rms", "xz / rms"));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[unknown-name]: nothing visible here is called `xz`
               ╭─[ k.tile:8:21 ]
               │
             8 │     store y[r, :] = xz / rms * ws
               │                     ─┬
               │                      ╰── no such value
               │
               │ Help: did you mean `x`?
            ───╯
        "#]],
    );
}

#[test]
fn several_mistakes_at_once_in_the_kernel() {
    let sandbox = sandbox();
    sandbox.write(
        "k.tile",
        RMSNORM
            .replace("xs / rms", "xz / rms")
            .replace("sqrt(", "sqr(")
            .replace("x[r, :]", "x[r]"),
    );
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[subscript-count]: view `x` has 2 dimensions [row, col], and 1 subscript is given
               ╭─[ k.tile:4:14 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                ┬
               │                ╰── declared here
               │
             4 │     let xs = load x[r] // a snapshot: later stores never change it
               │              ────┬────
               │                  ╰────── here
               │
               │ Help: a `:` takes a whole dimension
            ───╯

            error[unknown-function]: no function is called `sqr`
               ╭─[ k.tile:6:15 ]
               │
             6 │     let rms = sqr(squares / f32(extent(col)) + eps)
               │               ─┬─
               │                ╰─── here
               │
               │ Help: did you mean `sqrt`?
            ───╯

            error[unknown-name]: nothing visible here is called `xz`
               ╭─[ k.tile:8:21 ]
               │
             8 │     store y[r, :] = xz / rms * ws
               │                     ─┬
               │                      ╰── no such value
               │
               │ Help: did you mean `x`?
            ───╯
        "#]],
    );
}

#[test]
fn store_to_a_view_that_is_not_mut() {
    let sandbox = sandbox();
    sandbox.write("k.tile", RMSNORM.replace("y: mut view", "y: view"));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[read-only-view]: view `y` is read-only
               ╭─[ k.tile:8:5 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: view f32[row, col], eps: f32) {
               │                                                         ┬
               │                                                         ╰── declared here
               │
             8 │     store y[r, :] = xs / rms * ws
               │     ──────────────┬──────────────
               │                   ╰──────────────── here
               │
               │ Help: declare it `y: mut view ...`
            ───╯
        "#]],
    );
}

#[test]
fn axis_out_of_scope() {
    let sandbox = sandbox();
    sandbox.write("k.tile", RMSNORM.replace("sqrt(squares", "sqrt(xs[c]"));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[unknown-name]: nothing visible here is called `c`
               ╭─[ k.tile:6:23 ]
               │
             5 │     let squares = reduce c: col tree add from 0.0 { yield xs[c] * xs[c] }
               │                          ┬
               │                          ╰── this one is visible in its own nest only
             6 │     let rms = sqrt(xs[c] / f32(extent(col)) + eps)
               │                       ┬
               │                       ╰── no such value
               │
               │ Help: `yield` it from the nest, or move the use into it
            ───╯
        "#]],
    );
}

#[test]
fn zero_extent_in_the_kernel() {
    let sandbox = sandbox();
    sandbox.write(
        "k.tile",
        RMSNORM.replace("eps: f32)", "eps: f32)\nwhere col = 0"),
    );
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[extent-zero]: axis `col` has extent 0
               ╭─[ k.tile:3:7 ]
               │
             3 │ where col = 0 {
               │       ─┬─
               │        ╰─── here
               │
               │ Help: a tile has at least one coordinate along each axis; leave the extent out to give it at launch
            ───╯
        "#]],
    );
}

#[test]
fn programs_that_write_the_same_place() {
    let sandbox = sandbox();
    sandbox.write("k.tile", RMSNORM.replace("store y[r, :]", "store y[0, :]"));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[programs-collide]: several programs may store to the same element of `y`
               ╭─[ k.tile:8:5 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                                         ┬
               │                                                         ╰── the view
               │
             8 │     store y[0, :] = xs / rms * ws
               │     ──────────────┬──────────────
               │                   ╰──────────────── here
               │
               │ Help: use `r` as a subscript, or as the origin of a window that is no longer than its distance: `r * 64 : lane` with an extent of at most 64
               │
               │ Note: programs that differ in `r` only are not kept apart by the subscripts
            ───╯
        "#]],
    );
}

#[test]
fn kernel_is_not_utf8() {
    let sandbox = sandbox();
    sandbox.write("k.tile", b"kernel k() {\n  // \xff\n}");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[not-utf8]: `k.tile` is not UTF-8 from byte 18 on, in line 2
        "#]],
    );
}

#[test]
fn kernel_is_empty() {
    let sandbox = sandbox();
    sandbox.write("k.tile", "");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[syntax]: expected `kernel`, found the end of the text
               ╭─[ k.tile:1:1 ]
               │
             1 │
               │ ┬
               │ ╰── expected `kernel`
            ───╯
        "#]],
    );
}
