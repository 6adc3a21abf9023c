//! Wrong input of every kind: where it is, what is wrong, what to do; nothing written, no panic.
//!
//! Each case is one mistake in an otherwise good command. The expected texts are what people read; `cargo xtask bless`
//! rewrites them.

mod arguments;
mod files;
mod kernels;
mod usage;

use expect_test::Expect;

use super::sandbox::{RMSNORM, Sandbox, npy_f32, safetensors};

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
