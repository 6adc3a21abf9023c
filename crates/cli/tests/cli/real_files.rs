//! Kernels run on files, and what they give.

use super::sandbox::{COPY, RMSNORM, Sandbox, f32s, npy, npy_f32, safetensors, same};

#[test]
fn rmsnorm_runs_end_to_end() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    sandbox.write("x.npy", npy_f32(&[2, 3], &[3.0, 0.0, 4.0, 1.0, 1.0, 1.0]));
    sandbox.write("w.npy", npy_f32(&[3], &[1.0, 2.0, 0.5]));
    sandbox
        .line("run k.tile x=x.npy w=w.npy eps=0 -o y=y.npy")
        .succeeds();
    let rms = (25.0f32 / 3.0).sqrt();
    let expected = [3.0 / rms, 0.0, 4.0 / rms * 0.5, 1.0, 2.0, 0.5];
    same(sandbox.read("y.npy"), npy_f32(&[2, 3], &expected));
}

#[test]
fn p58_basics_go_through_and_come_back_the_same() {
    let sandbox = Sandbox::new();
    let scalar =
        "kernel copy(x: view f32[], y: mut view f32[]) { parallel { store y[] = load x[] } }";
    sandbox.write("scalar.tile", scalar);
    let vector = "kernel copy(x: view f32[n], y: mut view f32[n]) { parallel i: n { store y[i] = load x[i] } }";
    sandbox.write("vector.tile", vector);
    sandbox.write("matrix.tile", COPY);
    for (kernel, file) in [
        ("scalar", npy_f32(&[], &[2.5])),
        ("matrix", npy_f32(&[0, 4], &[])),
        ("vector", npy_f32(&[3], &[1.0, 2.0, 3.0])),
    ] {
        sandbox.write("x.npy", &file);
        sandbox
            .line(&format!("run {kernel}.tile x=x.npy -o y=y.npy"))
            .succeeds();
        same(sandbox.read("y.npy"), &file);
    }
}

#[test]
fn p59_row_sums_of_a_fortran_array() {
    let sandbox = Sandbox::new();
    let sums = "kernel sums(x: view f32[row, col], y: mut view f32[row]) {
      parallel r: row {
        let xs = load x[r, :]
        store y[r] = sum(xs)
      }
    }";
    sandbox.write("k.tile", sums);
    let mut fortran = npy_f32(&[2, 3], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let at = fortran
        .windows(5)
        .position(|window| window == b"False")
        .unwrap();
    fortran[at..at + 5].copy_from_slice(b"True ");
    sandbox.write("x.npy", fortran);
    sandbox.line("run k.tile x=x.npy -o y=y.npy").succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [6.0, 15.0]);
}

#[test]
fn p60_big_endian_is_turned_round() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let words = [0x3fc0_0000u32, 0xc010_0000, 0x7f61_b1e6];
    let data: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    sandbox.write("x.npy", npy(">f4", &[1, 3], &data));
    sandbox.line("run k.tile x=x.npy -o y=y.npy").succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [1.5, -2.25, 3e38]);
}

#[test]
fn p63_tensors_at_odd_addresses_give_the_same_bits() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", RMSNORM);
    let data: Vec<u8> = [1.0f32, -2.0]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    sandbox.write("x.npy", npy_f32(&[1, 2], &[0.25, 7.5]));
    sandbox.write("w.npy", npy_f32(&[2], &[1.0, -2.0]));
    sandbox
        .line("run k.tile x=x.npy w=w.npy eps=1e-6 -o y=aligned.npy")
        .succeeds();
    for name in ["t", "tt"] {
        let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}}}"#);
        sandbox.write("m.safetensors", safetensors(&header, &data));
        sandbox
            .line(&format!(
                "run k.tile x=x.npy w=m.safetensors:{name} eps=1e-6 -o y=odd.npy"
            ))
            .succeeds();
        same(sandbox.read("odd.npy"), sandbox.read("aligned.npy"));
    }
}

#[test]
fn every_element_type_goes_through() {
    let sandbox = Sandbox::new();
    for (element, descr, data) in [
        ("f64", "<f8", 2.5f64.to_le_bytes().to_vec()),
        ("i32", "<i4", (-7i32).to_le_bytes().to_vec()),
        ("bool", "|b1", vec![1]),
        ("f16", "<f2", vec![0x01, 0x3c]),
    ] {
        let kernel = format!(
            "kernel copy(x: view {element}[n], y: mut view {element}[n]) {{ parallel i: n {{ store y[i] = load x[i] }} }}"
        );
        sandbox.write("k.tile", kernel);
        let file = npy(descr, &[1], &data);
        sandbox.write("x.npy", &file);
        sandbox.line("run k.tile x=x.npy -o y=y.npy").succeeds();
        same(sandbox.read("y.npy"), &file);
    }
    let widen = "kernel widen(x: view bf16[n], y: mut view f32[n]) { parallel i: n { store y[i] = load x[i] } }";
    sandbox.write("k.tile", widen);
    let header = r#"{"t":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}"#;
    sandbox.write(
        "m.safetensors",
        safetensors(header, &[0x80, 0x3f, 0x20, 0xc0]),
    );
    sandbox
        .line("run k.tile x=m.safetensors:t -o y=y.npy")
        .succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [1.0, -2.5]);
}

#[test]
fn numbers_are_read_by_the_parameters_type() {
    let sandbox = Sandbox::new();
    let kernel = "kernel choose(y: mut view f32[n], a: f32, k: i32, on: bool) where n = 2 {
      parallel i: n { store y[i] = select(on, a, f32(k)) }
    }";
    sandbox.write("k.tile", kernel);
    sandbox
        .line("run k.tile a=-1.5e-3 k=-4 on=true -o y=y.npy")
        .succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [-1.5e-3; 2]);
    sandbox
        .line("run k.tile a=nan k=-4 on=false -o y=y.npy")
        .succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [-4.0; 2]);
}

#[test]
fn an_output_begins_as_zeros_or_as_what_is_given() {
    let sandbox = Sandbox::new();
    let first_only = "kernel first(y: mut view f32[n]) { parallel { store y[0] = 9.0 } }";
    sandbox.write("k.tile", first_only);
    sandbox.line("run k.tile --axis n=3 -o y=y.npy").succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [9.0, 0.0, 0.0]);
    sandbox.write("y0.npy", npy_f32(&[2], &[1.0, 2.0]));
    sandbox.line("run k.tile y=y0.npy -o y=y.npy").succeeds();
    assert_eq!(f32s(&sandbox.read("y.npy")), [9.0, 2.0]);
    assert_eq!(f32s(&sandbox.read("y0.npy")), [1.0, 2.0]);
    // The input is read before the output is written, so both may be one file.
    sandbox.line("run k.tile y=y0.npy -o y=y0.npy").succeeds();
    assert_eq!(f32s(&sandbox.read("y0.npy")), [9.0, 2.0]);
}

#[test]
fn several_outputs_and_plans() {
    let sandbox = Sandbox::new();
    let kernel =
        "kernel both(x: view f32[row, col], a: mut view f32[row, col], b: mut view f32[row]) {
      parallel r: row {
        let xs = load x[r, :]
        store a[r, :] = xs * 2.0
        store b[r] = sum(xs, tree)
      }
    }";
    sandbox.write("k.tile", kernel);
    let values: Vec<f32> = (0..14).map(|n| n as f32).collect();
    sandbox.write("x.npy", npy_f32(&[2, 7], &values));
    let doubled: Vec<f32> = values.iter().map(|value| value * 2.0).collect();
    for plan in [
        "",
        "--plan width=4,local=1",
        "--plan width=8,local=8,partials=4",
        "--enable load-reduction",
        "--enable load-reduction --disable load-reduction",
    ] {
        sandbox
            .line(&format!("run k.tile x=x.npy -o a=a.npy -o b=b.npy {plan}"))
            .succeeds();
        assert_eq!(f32s(&sandbox.read("a.npy")), doubled, "{plan}");
        assert_eq!(f32s(&sandbox.read("b.npy")), [21.0, 70.0], "{plan}");
    }
}
