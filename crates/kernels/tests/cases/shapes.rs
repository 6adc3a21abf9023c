//! I: shapes, strides, index width.

use planner::Rules;
use runtime::guarded::{Guarded, Side};
use tilewright::prelude::*;

use super::tails::layer_norm;
use crate::support::{
    Arguments, Array, PINS, close, compiled, exactly, generated, launch, library, near, refusal,
    run, text, within_ulps,
};

/// A library kernel whose input `x` (or `g`) may have any strides.
fn strided(name: &str, param: &str, col: u32) -> Verified {
    let library = kernels::find(name).expect("it is there");
    let plain = format!("{param}: view f32[row, col]");
    assert!(library.text.contains(&plain), "{name} has no `{plain}`");
    let any = format!("{plain} strides [*, *]");
    text(&library.text.replacen(&plain, &any, 1), &[("col", col)])
}

#[test]
fn p42_a_transposed_view_is_not_contiguous() {
    let base: Vec<f32> = (0..24).map(|k| f64::from(k).powf(1.5) as f32).collect();
    let kernel = text(
        "kernel layer_norm_3(x: view f32[a, row, col] strides [*, *, *], y: mut view f32[a, row, col], eps: f32) {
           parallel i: a, r: row {
             let xs = load x[i, r, :]
             let total = reduce c: col tree add from 0.0 { yield xs[c] }
             let mean = total / f32(extent(col))
             let squares = reduce c: col tree add from 0.0 {
               let d = xs[c] - mean
               yield d * d
             }
             store y[i, r, :] = (xs - mean) / sqrt(squares / f32(extent(col)) + eps)
           }
         }",
        &[("col", 3)],
    );
    let arguments = Arguments::new()
        .array("x", Array::f32(&[24], &base).seen(&[2, 4, 3], &[12, 1, 4]))
        .array("y", Array::out(&[2, 4, 3]))
        .number("eps", 1e-5);
    let y = run(&kernel, &arguments).values("y");
    close(&y[..3], &[-1.08970121, -0.23579866, 1.32549987], 4e-6);
    close(&y[21..], &[-1.20259727, -0.04315448, 1.24575175], 6e-6);
    // The library's kernel says that its rows are contiguous, and refuses what isn't.
    let mut arguments = layer_norm(&[4, 3], &base[..12], 1e-5);
    arguments.arrays[0].1 = Array::f32(&[24], &base).seen(&[4, 3], &[1, 4]);
    let message = refusal(&library("layer_norm", &[("col", 3)]), &arguments);
    assert!(
        message.contains("`x`") && message.contains("stride 4"),
        "{message}"
    );
}

#[test]
fn p43_one_element_seen_as_a_table() {
    let one = || Array::f32(&[1], &[2.5]).seen(&[4, 8], &[0, 0]);
    let sum = text(
        "kernel sum(x: view f32[row, col] strides [*, *], y: mut view f32[]) {
           parallel {
             let xs = load x[:, :]
             store y[] = reduce r: row, c: col tree add from 0.0 { yield xs[r, c] }
           }
         }",
        &[("row", 4), ("col", 8)],
    );
    let arguments = Arguments::new()
        .array("x", one())
        .array("y", Array::out(&[]));
    exactly(&run(&sum, &arguments).values("y"), &[80.0]);

    let arguments = Arguments::new()
        .array("x", one())
        .array("w", Array::f32(&[8], &[1.0; 8]))
        .array("y", Array::out(&[4, 8]))
        .number("eps", 1e-6);
    let y = run(&strided("rms_norm", "x", 8), &arguments).values("y");
    near(&y, &[2.5 / (6.25f64 + 1e-6).sqrt(); 32], 2e-6);

    let arguments = Arguments::new()
        .array("g", one())
        .array("u", Array::f32(&[4, 8], &generated(1, 32)))
        .array("y", Array::out(&[4, 8]));
    let y = run(&strided("swiglu", "g", 8), &arguments).values("y");
    let silu = 2.5 / (1.0 + (-2.5f64).exp());
    let expected: Vec<f64> = generated(1, 32)
        .iter()
        .map(|&u| silu * f64::from(u))
        .collect();
    within_ulps(&y, &expected, 4.0);
}

#[test]
fn p44_offsets_beyond_32_bits() {
    // Rows 2^30 elements apart: the last begins at byte 2^33. Pages that nobody touches take no memory.
    let stride = 1usize << 30;
    let length = (2 * stride + 8) * 4;
    let mut buffer = Guarded::new(length, Side::End).expect("8 GiB of addresses");
    let row: Vec<u8> = (1..=8)
        .flat_map(|value| (value as f32).to_le_bytes())
        .collect();
    buffer.bytes_mut()[8 * stride..].copy_from_slice(&row);
    let small = Arguments::new()
        .array(
            "x",
            Array::f32(&[1, 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        )
        .array("w", Array::f32(&[8], &[1.0; 8]))
        .array("y", Array::out(&[1, 8]))
        .number("eps", 1e-6);
    let kernel = library("rms_norm", &[("col", 8)]);
    let expected = run(&kernel, &small).values("y");
    for pins in PINS {
        let executable = compiled(&kernel, pins, Rules::default());
        let mut y = [0.0f32; 24];
        let x = View::strided_bytes(buffer.bytes(), 0, ElementType::F32, &[3, 8], &[1 << 30, 1]);
        let arguments = vec![
            ("x".to_string(), x.expect("it lies inside").into()),
            (
                "w".to_string(),
                View::new(&[1.0f32; 8], &[8]).expect("eight").into(),
            ),
            (
                "y".to_string(),
                View::new_mut(&mut y, &[3, 8]).expect("twenty-four").into(),
            ),
            ("eps".to_string(), 1e-6f32.into()),
        ];
        executable.run(arguments).expect("it fits");
        exactly(&y[16..], &expected);
        exactly(&y[..16], &[0.0; 16]);
    }
    // A shape whose size leaves 32 bits is counted in more, and found larger than the data.
    let message = View::new(&[0.0f32; 4], &[46342, 46341])
        .expect_err("it is larger")
        .to_string();
    assert!(message.contains("2147534622"), "{message}");
}

#[test]
fn p45_rank_0() {
    let scalar = |body: &str| {
        let kernel = text(
            &format!(
                "kernel of_one(x: view f32[], y: mut view f32[]) {{
                   parallel {{ let v = load x[] store y[] = {body} }}
                 }}"
            ),
            &[],
        );
        let arguments = Arguments::new()
            .array("x", Array::f32(&[], &[2.5]))
            .array("y", Array::out(&[]));
        run(&kernel, &arguments).values("y")
    };
    within_ulps(&scalar("v * normal_cdf(v)"), &[2.4844758], 4.0);
    // A row of one element, made of the scalar.
    let row = "broadcast(v, [1])";
    exactly(&scalar(&format!("sum({row}, tree)")), &[2.5]);
    exactly(
        &scalar("exp(v - maximum(broadcast(v, [1]))) / sum(exp(broadcast(v, [1]) - v), tree)"),
        &[1.0],
    );
    exactly(
        &scalar("v - v - log(sum(exp(broadcast(v, [1]) - v), tree))"),
        &[0.0],
    );
    // The library's kernels run along rows, and say so.
    let arguments = Arguments::new()
        .array("x", Array::f32(&[], &[2.5]))
        .array("y", Array::out(&[]));
    let message = refusal(&library("softmax", &[("col", 1)]), &arguments);
    assert!(
        message.contains("0 dimensions") && message.contains("row, col"),
        "{message}"
    );
}

#[test]
fn p46_the_length_of_a_row_is_never_padded() {
    // One kernel, specialised when it is launched: each length has its own code, and code meets no other length.
    let softmax = kernels::find("softmax").expect("it is there").kernel();
    let equal = |n: usize| {
        Arguments::new()
            .array("x", Array::f32(&[2, n], &vec![0.75; 2 * n]))
            .array("y", Array::out(&[2, n]))
    };
    for n in [1, 10, 31, 32, 33] {
        let kernel = tilewright::specialize(&softmax, &[("col", n as u32)]).expect("a length");
        let y = run(&kernel, &equal(n)).values("y");
        exactly(&y, &vec![1.0 / n as f32; 2 * n]);
    }
    let for_32 = tilewright::specialize(&softmax, &[("col", 32)]).expect("a length");
    for n in [1, 10, 31, 33] {
        let message = refusal(&for_32, &equal(n));
        assert!(
            message.contains("`col`") && message.contains("32"),
            "{message}"
        );
    }
    // The number of rows is a launch's: one code for all.
    let executable = compiled(&for_32, PINS[3], Rules::default());
    for rows in [1, 7, 8, 9, 31] {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[rows, 32], &vec![0.75; 32 * rows]))
            .array("y", Array::out(&[rows, 32]));
        let found = launch(&executable, &arguments, Side::End).expect("it fits");
        exactly(&found.values("y"), &vec![1.0 / 32.0; 32 * rows]);
    }
    // Axes have names, so there is no axis -3 and no axis 2 to ask for.
    let message = tilewright::specialize(&softmax, &[("depth", 3)]).expect_err("no such axis");
    assert!(message.to_string().contains("`depth`"), "{message}");
}
