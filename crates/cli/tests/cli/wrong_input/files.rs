//! Files that are not what they seem, and results that have nowhere to go.

use expect_test::expect;

use super::{sandbox, says};
use crate::sandbox::{npy, npy_f32, safetensors};

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
