//! D and F: NaN, signed zero, subnormals; activations and the exponential.
//!
//! Minimum and maximum are those of IEEE 754-2019 (C2, C3): a NaN operand gives NaN, -0 is below +0. Subnormals are kept (C4).

use crate::support::{Arguments, Array, close, exactly, library, run, text, within_ulps};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// An expression of `a`, elementwise, over a row.
fn map(expression: &str, a: &[f32]) -> Vec<f32> {
    zip(expression, a, a)
}

/// An expression of `a` and `b`, elementwise, over a row.
fn zip(expression: &str, a: &[f32], b: &[f32]) -> Vec<f32> {
    let kernel = text(
        &format!(
            "kernel elementwise(x: view f32[row, col], z: view f32[row, col], y: mut view f32[row, col]) {{
               parallel r: row {{
                 let a = load x[r, :]
                 let b = load z[r, :]
                 store y[r, :] = {expression}
               }}
             }}"
        ),
        &[("col", a.len() as u32)],
    );
    let shape = [1, a.len()];
    let arguments = Arguments::new()
        .array("x", Array::f32(&shape, a))
        .array("z", Array::f32(&shape, b))
        .array("y", Array::out(&shape));
    run(&kernel, &arguments).values("y")
}

/// A library kernel of `x` and a second table.
fn activation(name: &str, second: (&'static str, f32), x: &[f32]) -> Vec<f32> {
    let shape = [1, x.len()];
    let first = if name == "swiglu" { "g" } else { "x" };
    let constant = vec![second.1; x.len()];
    let arguments = Arguments::new()
        .array(first, Array::f32(&shape, x))
        .array(
            second.0,
            Array::f32(
                if name == "bias_silu" {
                    &shape[1..]
                } else {
                    &shape
                },
                &constant,
            ),
        )
        .array("y", Array::out(&shape));
    run(&library(name, &[("col", x.len() as u32)]), &arguments).values("y")
}

#[test]
fn p20_nan_propagates_through_minimum_and_maximum() {
    // Five values cycled: packets and tails both meet each of them.
    for n in [5, 8, 9, 17] {
        let a: Vec<f32> = [NAN, 1.0, NAN, 0.0, -0.0]
            .iter()
            .copied()
            .cycle()
            .take(n)
            .collect();
        let b: Vec<f32> = [1.0, NAN, NAN, NAN, 0.0]
            .iter()
            .copied()
            .cycle()
            .take(n)
            .collect();
        let low: Vec<f32> = [NAN, NAN, NAN, NAN, -0.0]
            .iter()
            .copied()
            .cycle()
            .take(n)
            .collect();
        let high: Vec<f32> = [NAN, NAN, NAN, NAN, 0.0]
            .iter()
            .copied()
            .cycle()
            .take(n)
            .collect();
        exactly(&zip("min(a, b)", &a, &b), &low);
        exactly(&zip("min(b, a)", &a, &b), &low);
        exactly(&zip("max(a, b)", &a, &b), &high);
        exactly(&zip("max(b, a)", &a, &b), &high);
    }
    for n in [3, 8, 9] {
        let x: Vec<f32> = [NAN, 2.0, -2.0].iter().copied().cycle().take(n).collect();
        let relu: Vec<f32> = [NAN, 2.0, 0.0].iter().copied().cycle().take(n).collect();
        let clip: Vec<f32> = [NAN, 1.0, -1.0].iter().copied().cycle().take(n).collect();
        exactly(&map("max(a, 0.0)", &x), &relu);
        exactly(&map("max(0.0, a)", &x), &relu);
        exactly(&map("min(max(a, -1.0), 1.0)", &x), &clip);
    }
    // A reduction keeps a NaN wherever it stands.
    let kernel = text(
        "kernel extremes(x: view f32[row, col], low: mut view f32[row], high: mut view f32[row]) {
           parallel r: row {
             let xs = load x[r, :]
             store low[r] = reduce c: col tree min from inf { yield xs[c] }
             store high[r] = reduce d: col tree max from -inf { yield xs[d] }
           }
         }",
        &[("col", 19)],
    );
    for place in [0, 7, 8, 16, 18] {
        let mut x: Vec<f32> = (0..19).map(|i| i as f32).collect();
        x[place] = NAN;
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, 19], &x))
            .array("low", Array::out(&[1]))
            .array("high", Array::out(&[1]));
        let after = run(&kernel, &arguments);
        exactly(&after.values("low"), &[NAN]);
        exactly(&after.values("high"), &[NAN]);
    }
}

#[test]
fn p21_zeros_keep_their_order_in_packets_and_tails() {
    let (a, b) = ([-0.0; 17], [0.0; 17]);
    exactly(&zip("min(a, b)", &a, &b), &[-0.0; 17]);
    exactly(&zip("min(b, a)", &a, &b), &[-0.0; 17]);
    exactly(&zip("max(a, b)", &a, &b), &[0.0; 17]);
    exactly(&zip("max(b, a)", &a, &b), &[0.0; 17]);
    exactly(&map("max(a, 0.0)", &a), &[0.0; 17]);
    exactly(&map("max(0.0, a)", &a), &[0.0; 17]);
}

#[test]
fn p22_invalid_operations_give_nan_folded_or_not() {
    for n in [1, 9] {
        let nan = vec![NAN; n];
        exactly(&map("a / a", &vec![0.0; n]), &nan);
        exactly(&map("sqrt(a)", &vec![-1.0; n]), &nan);
        exactly(&map("a - a", &vec![INF; n]), &nan);
        // The same with constants, which the compiler may compute.
        exactly(&map("a + 0.0 / 0.0", &vec![1.0; n]), &nan);
        exactly(&map("a + sqrt(-1.0)", &vec![1.0; n]), &nan);
        exactly(&map("a + (inf - inf)", &vec![1.0; n]), &nan);
    }
}

#[test]
fn p23_subnormal_arguments_are_read() {
    let x = [1e-40, 1.175_494_2e-38, 1.4e-45];
    within_ulps(
        &map("sqrt(a)", &x),
        &[9.99997e-21, 1.08420211e-19, 3.74339213e-23],
        6.0,
    );
    within_ulps(
        &map("log(a)", &x),
        &[-92.1034091, -87.3365449, -103.27893],
        4.0,
    );
    within_ulps(
        &map("rsqrt(a)", &x),
        &[1.00000269e20, 9.22337259e18, 2.67137389e22],
        4.0,
    );
    // They come out of arithmetic, too.
    exactly(&map("a * 0.5", &[2e-38, 1e-44]), &[1e-38, 1e-44 * 0.5]);
}

#[test]
fn p30_gelu_tanh_does_not_overflow() {
    let positive = [
        10.0, 10.5, 11.0, 13.24, 15.0, 20.0, 21.657723, 40.0, 1e4, 1e10,
    ];
    // Each in a packet of any width, and each in a tail.
    let mut x: Vec<f32> = positive.iter().flat_map(|&x| [x; 17]).collect();
    let gelu = |x: &[f32]| activation("gelu_tanh_residual", ("residual", 0.0), x);
    exactly(&gelu(&x), &x);
    for value in positive {
        exactly(&gelu(&[value; 3]), &[value; 3]);
    }
    x.iter_mut().for_each(|x| *x = -*x);
    let y = gelu(&x);
    for (x, y) in x.iter().zip(&y) {
        assert!(
            *y <= 0.0 && (*x > -13.24 || *y >= -1e-30),
            "gelu({x}) is {y:e}"
        );
    }
    for row in y.chunks(17) {
        exactly(row, &[row[0]; 17]);
    }
    exactly(&gelu(&[-15.0, -40.0, -1e4, -1e10]), &[0.0; 4]);
}

#[test]
fn p31_gelu_erf_keeps_its_negative_tail() {
    let x = [-3.0, -4.0, -5.0, -5.5, -6.0, -8.0, -10.0, -13.0];
    let expected = [
        -0.00404969409,
        -1.26684967e-4,
        -1.43325786e-6,
        -1.04442594e-7,
        -5.91952587e-9,
        -4.97676846e-15,
        -7.61985302e-23,
        -7.95231372e-38,
    ];
    // The residual is zero, so the relative error is that of x * Phi(x): 3 ulp and the bank's digits.
    let y = activation("gelu_erf_residual", ("residual", 0.0), &x);
    within_ulps(&y, &expected, 3.0);
}

#[test]
fn p32_silu_of_minus_infinity_is_zero() {
    let x = [-INF, INF, NAN, -1.0, -20.0, -50.0, -104.0];
    let y = [
        activation("swiglu", ("u", 1.0), &x),
        activation("bias_silu", ("b", -0.0), &x),
    ];
    for y in y {
        exactly(&y[..3], &[-0.0, INF, NAN]);
        let expected = [-0.268941421, -4.12230724e-8, -9.64374924e-21];
        within_ulps(&y[3..6], &expected, 4.0);
        within_ulps(&y[6..], &[-104.0 * (-104.0f64).exp()], 4.0 * 104.0);
    }
}

#[test]
fn p33_exp_goes_through_subnormals_to_zero() {
    let x = [
        -87.0, -87.5, -88.0, -88.5, -90.0, -95.0, -100.0, -104.0, -1000.0, -1e30, -INF,
    ];
    let y = map("exp(a)", &x);
    let expected = [
        1.64581143e-38,
        9.98235093e-39,
        6.0546019e-39,
        3.67230168e-39,
        8.19401262e-40,
        5.52111595e-42,
        3.78351e-44,
    ];
    within_ulps(&y[..7], &expected, 2.0);
    exactly(&y[7..], &[0.0; 4]);
    close(&map("exp(a)", &[0.0, -0.0]), &[1.0, 1.0], 0.0);
}
