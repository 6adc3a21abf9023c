//! Wrong input of every kind: where it is, what is wrong, what to do; nothing written, no panic.
//!
//! Each case is one mistake in an otherwise good command. The expected texts are what people read; `cargo xtask bless`
//! rewrites them.

use expect_test::{Expect, expect};

use super::sandbox::{RMSNORM, Sandbox, npy, npy_f32, safetensors};

/// A good kernel, good inputs, and a model file.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    sandbox.write("x.npy", npy_f32(&[2, 3], &[1.0; 6]));
    sandbox.write("w.npy", npy_f32(&[3], &[1.0; 3]));
    let header = r#"{"norm.weight":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"ids":{"dtype":"I64","shape":[1],"data_offsets":[12,20]}}"#;
    sandbox.write("m.safetensors", safetensors(header, &[0; 20]));
    sandbox
}

/// Runs a line, and asserts what it says, that it ends with `code` and that no file came or went.
#[track_caller]
fn says(sandbox: &Sandbox, line: &str, code: i32, expected: Expect) {
    let before = sandbox.names();
    let said = sandbox.line(line).fails(code);
    assert_eq!(sandbox.names(), before, "nothing is written");
    expected.assert_eq(&said);
}

#[test]
fn the_base_is_good() {
    sandbox()
        .line("run k.tile x=x.npy w=m.safetensors:norm.weight eps=1e-6 -o y=y.npy")
        .succeeds();
}

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
fn an_element_type_kernels_do_not_have() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy("<i8", &[2, 3], &[0; 48]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its elements are `<i8` (int64); kernels have f32, f64, i32, bool and f16
              = help: save it as `a.astype('int32')`
        "#]],
    );
}

#[test]
fn pickled_objects() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy("|O", &[1], &[0; 8]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its elements are `|O` (pickled Python objects); kernels have f32, f64, i32, bool and f16
              = help: save it as numbers, for example `a.astype('float32')`; pickles are never opened
        "#]],
    );
}

#[test]
fn raw_bytes_for_bf16() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy("|V2", &[2, 3], &[0; 12]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its elements are `|V2` (raw bytes); kernels have f32, f64, i32, bool and f16
              = help: numpy has no bf16: save bf16 tensors as .safetensors, or as `a.astype('float32')`
        "#]],
    );
}

#[test]
fn a_file_that_is_short() {
    let sandbox = sandbox();
    sandbox.write("x.npy", &npy_f32(&[2, 3], &[1.0; 6])[..148]);
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its shape [2, 3] takes 24 bytes; the file has 20 bytes of data
              = help: the file may have been cut short while it was written or copied; write it anew
        "#]],
    );
}

#[test]
fn a_file_that_is_long() {
    let sandbox = sandbox();
    sandbox.write("x.npy", npy("<f4", &[2, 3], &[0; 25]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its shape [2, 3] takes 24 bytes; the file has 25 bytes of data
              = help: a file holds one array; write it anew with `numpy.save(path, array)`
        "#]],
    );
}

#[test]
fn a_header_that_lies_about_its_length() {
    let sandbox = sandbox();
    sandbox.write("x.npy", b"\x93NUMPY\x02\x00\xf0\xff\xff\xff");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: its header says it is 4294967280 bytes long; the file has 0 bytes after that
              = help: the file may have been cut short while it was written or copied; write it anew
        "#]],
    );
}

#[test]
fn a_header_that_is_broken() {
    let sandbox = sandbox();
    sandbox.write("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4', ");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: the header is not a dictionary numpy writes: byte 16 should begin a quoted key or `}`
        "#]],
    );
}

#[test]
fn a_file_that_is_no_npy() {
    let sandbox = sandbox();
    sandbox.write("x.npy", "1.0,2.0\n");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: it is not an .npy file: it does not begin with the bytes \x93NUMPY
              = help: write it with `numpy.save(path, array)`
        "#]],
    );
}

#[test]
fn an_empty_file() {
    let sandbox = sandbox();
    sandbox.write("x.npy", "");
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[npy]: `x.npy`: it is empty; an .npy file begins with the bytes \x93NUMPY
              = help: write it with `numpy.save(path, array)`
        "#]],
    );
}

#[test]
fn a_file_that_is_missing() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=nowhere.npy w=w.npy eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[cannot-read]: cannot read `nowhere.npy`: No such file or directory (os error 2)
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
fn a_result_too_large_for_memory() {
    let sandbox = sandbox();
    sandbox.write("k.tile", "kernel ones(y: mut view f32[row, col]) { parallel r: row, c: col { store y[r, c] = 1.0 } }");
    says(
        &sandbox,
        "run k.tile --axis row=2000000000 --axis col=2000000000 -o y=y.npy",
        1,
        expect![[r#"
            error[memory]: `y` of shape [2000000000, 2000000000]: there is not enough memory for 4000000000000000000 elements of f32
               ╭─[ k.tile:1:13 ]
               │
             1 │ kernel ones(y: mut view f32[row, col]) { parallel r: row, c: col { store y[r, c] = 1.0 } }
               │             ┬
               │             ╰── takes its shape from the axes
            ───╯
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
fn no_tensor_of_that_name() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=m.safetensors:norm.wieght eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[safetensors]: `m.safetensors`: it has no tensor `norm.wieght`
              = help: a similar name: `norm.weight`
        "#]],
    );
}

#[test]
fn no_tensor_named() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=m.safetensors eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[safetensors]: `m.safetensors` holds several tensors, and none is named
               ╭─[ k.tile:2:39 ]
               │
             2 │ kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {
               │                                       ┬
               │                                       ╰── w: view f32[col]
               │
               │ Help: name one: `m.safetensors:NAME`
            ───╯
        "#]],
    );
}

#[test]
fn a_tensor_of_a_type_kernels_do_not_have() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=m.safetensors:ids eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[safetensors]: `m.safetensors`: tensor `ids` has elements of type I64; kernels have F32, F64, I32, BOOL, F16 and BF16
              = help: convert it where the file is made, for example `tensor.to(torch.float32)`
        "#]],
    );
}

#[test]
fn a_tensor_larger_than_its_bytes() {
    let sandbox = sandbox();
    sandbox.write(
        "m.safetensors",
        safetensors(
            r#"{"t":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]}}"#,
            &[0; 4],
        ),
    );
    says(
        &sandbox,
        "run k.tile x=x.npy w=m.safetensors:t eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[safetensors]: `m.safetensors`: tensor `t` of type F32 and shape [1000, 1000] has data offsets [0, 4]: 4 bytes, but it takes 4000000 bytes
        "#]],
    );
}

#[test]
fn a_safetensors_file_that_is_none() {
    let sandbox = sandbox();
    sandbox.write("k.safetensors", npy_f32(&[3], &[1.0; 3]));
    says(
        &sandbox,
        "run k.tile x=x.npy w=k.safetensors:t eps=1e-6 -o y=y.npy",
        1,
        expect![[r#"
            error[safetensors]: `k.safetensors`: its header says it is 379676406402707 bytes long; the file has 132 bytes after that
              = help: the file may have been cut short, or be no .safetensors file
        "#]],
    );
}

#[test]
fn an_output_in_no_directory() {
    let sandbox = sandbox();
    says(
        &sandbox,
        "run k.tile x=x.npy w=w.npy eps=1e-6 -o y=nowhere/y.npy",
        1,
        expect![[r#"
            error[cannot-write]: cannot write `nowhere/y.npy`: No such file or directory (os error 2)
        "#]],
    );
}

#[test]
fn an_output_numpy_can_not_hold() {
    let sandbox = sandbox();
    sandbox.write("k.tile", "kernel narrow(x: view f32[row, col], y: mut view bf16[row, col]) { parallel r: row, c: col { store y[r, c] = load x[r, c] } }");
    says(
        &sandbox,
        "run k.tile x=x.npy -o y=y.npy",
        1,
        expect![[r#"
        error[element-type]: `y` can't be saved: an .npy file can't hold bf16; numpy has no such type
           ╭─[ k.tile:1:38 ]
           │
         1 │ kernel narrow(x: view f32[row, col], y: mut view bf16[row, col]) { parallel r: row, c: col { store y[r, c] = load x[r, c] } }
           │                                      ┬
           │                                      ╰── y: mut view bf16[row, col]
           │
           │ Help: declare the view f32 or f16: a store rounds once
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
fn usage_no_equals_sign() {
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
fn usage_given_twice() {
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
fn usage_output_twice() {
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
fn usage_two_outputs_to_one_file() {
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
fn usage_stdin_twice() {
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
fn usage_unknown_pin() {
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
fn usage_unknown_rule() {
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
fn usage_bad_extent() {
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
fn usage_axis_twice() {
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
fn usage_unknown_stage() {
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
fn usage_unknown_machine() {
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
fn usage_no_command() {
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
