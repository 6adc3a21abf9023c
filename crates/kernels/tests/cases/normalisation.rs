//! E: normalisation.
//!
//! Any `eps` is taken (C5); with 0 a row of zeros is 0 / 0, NaN. Intermediates overflow as IEEE arithmetic does (C7): a row whose
//! sum of squares is beyond the largest f32 (rms above about 1.8e19) is outside the domain of the RMS and L2 norms and comes out as
//! zeros; `docs/kernels.md` says so.

use super::tails::layer_norm;
use crate::support::{Arguments, Array, close, exactly, library, near, refusal, run, text};

fn normal(rows: usize, x: &[f32], eps: f32) -> Vec<f32> {
    let n = x.len() / rows;
    let kernel = library("layer_norm", &[("col", n as u32)]);
    run(&kernel, &layer_norm(&[rows, n], x, eps)).values("y")
}

fn rms(name: &str, x: &[f32], eps: f32) -> Vec<f32> {
    let n = x.len();
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, n], x))
        .array("w", Array::f32(&[n], &vec![1.0; n]))
        .array("y", Array::out(&[1, n]))
        .number("eps", eps);
    run(&library(name, &[("col", n as u32)]), &arguments).values("y")
}

#[test]
fn p24_a_constant_row_is_zero_or_the_bias() {
    exactly(&normal(1, &[1234.0; 256], 1e-5), &[0.0; 256]);
    let bias: Vec<f32> = (0..256).map(|i| i as f32 - 100.0).collect();
    let mut arguments = layer_norm(&[1, 256], &[1234.0; 256], 1e-5);
    arguments.arrays[2].1 = Array::f32(&[256], &bias);
    exactly(
        &run(&library("layer_norm", &[("col", 256)]), &arguments).values("y"),
        &bias,
    );
}

#[test]
fn p25_a_large_mean_with_a_small_spread() {
    let x = [
        40000.0, 40001.0, 40002.0, 40003.0, 80000.0, 80001.0, 80002.0, 80003.0,
    ];
    let row = [-1.34163542, -0.44721181, 0.44721181, 1.34163542];
    // T2: 2e-6 of the largest and the rounding of the mean; here every intermediate is exact.
    close(&normal(2, &x, 1e-5), &[row, row].concat(), 2e-6 * 1.35);
}

#[test]
fn p26_equal_elements_are_zero() {
    for eps in [1e-6, 1e-12] {
        exactly(
            &normal(3, &[2.0, 2.0, 14.0, 14.0, 1e6, 1e6], eps),
            &[0.0; 6],
        );
        for value in [2.0, 14.0, 1e6] {
            for n in [5, 9, 17] {
                exactly(&normal(1, &vec![value; n], eps), &vec![0.0; n]);
            }
        }
    }
}

#[test]
fn p27_eps_is_added_to_the_mean_of_squares() {
    let mut x = vec![0.01; 4096];
    x[0] = 1000.0;
    for name in ["rms_norm", "rms_norm_rsqrt"] {
        let y = rms(name, &x, 1e-5);
        near(&y[..2], &[63.99998559, 6.3999984e-4], 1e-6);
        exactly(&rms(name, &[0.0; 9], 1e-5), &[0.0; 9]);
    }
    exactly(&rms("rms_norm", &[0.0; 9], 0.0), &[f32::NAN; 9]);
    exactly(&rms("rms_norm_rsqrt", &[0.0; 9], 0.0), &[f32::NAN; 9]);
    // The L2 norm has a floor instead of a sum.
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, 9], &[0.0; 9]))
        .array("y", Array::out(&[1, 9]))
        .number("eps", 1e-12);
    exactly(
        &run(&library("l2_normalize", &[("col", 9)]), &arguments).values("y"),
        &[0.0; 9],
    );
}

#[test]
fn p28_the_domain_ends_where_squares_overflow() {
    // Right up to the limit of the domain, the sum of squares below 3.4e38.
    near(&rms("rms_norm", &[1e19, 1e19], 1e-6), &[1.0, 1.0], 1e-6);
    // Beyond it: finite numbers over an infinite norm, as documented, in every mapping.
    exactly(&rms("rms_norm", &[3e19, 4e19], 1e-6), &[0.0, 0.0]);
    exactly(&rms("rms_norm_rsqrt", &[3e19, 4e19], 1e-6), &[0.0, 0.0]);
    // Half types are squared as f32: no overflow at 30000.
    let library = kernels::find("rms_norm").expect("it is there").text;
    let half = library.replacen("x: view f32", "x: view f16", 1);
    let x: Vec<f32> = (0..256)
        .map(|i| if i % 2 == 0 { 3e4 } else { -3e4 })
        .collect();
    let arguments = Arguments::new()
        .array("x", Array::f16(&[1, 256], &x))
        .array("w", Array::f32(&[256], &[1.0; 256]))
        .array("y", Array::out(&[1, 256]))
        .number("eps", 1e-6);
    let y = run(&text(&half, &[("col", 256)]), &arguments).values("y");
    near(
        &y,
        &x.iter().map(|x| f64::from(x.signum())).collect::<Vec<_>>(),
        1e-6,
    );
}

#[test]
fn p29_weights_have_the_length_of_the_row() {
    // Rows of 3 x 2 elements, and weights and bias of 2: refused, not read past their end.
    let mut arguments = layer_norm(&[1, 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1e-5);
    arguments.arrays[1].1 = Array::f32(&[2], &[1.0, 2.0]);
    arguments.arrays[2].1 = Array::f32(&[2], &[3.0, 4.0]);
    let message = refusal(&library("layer_norm", &[("col", 6)]), &arguments);
    let names = message.contains("`w`") && message.contains("[2]") && message.contains('6');
    assert!(names, "{message}");
    // Where the row's length isn't fixed, view and view disagree.
    let message = refusal(&library("layer_norm", &[("col", 2)]), &arguments);
    let names = message.contains("`x`") && message.contains("[1, 6]") && message.contains('2');
    assert!(names, "{message}");
}
