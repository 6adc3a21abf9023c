//! C: softmax with masks and infinities.
//!
//! What a row without a live element gives (C1): `softmax_masked` gives zeros, as nothing is attended to; `softmax` and
//! `softmax_additive_mask` are IEEE arithmetic and give NaN, for `-inf - -inf` is.

use crate::support::{Arguments, Array, exactly, library, near, run, text, within_ulps};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// A kernel from one table to another of its shape.
fn softmax(name: &str, rows: usize, x: &[f32]) -> Vec<f32> {
    let n = x.len() / rows;
    let arguments = Arguments::new()
        .array("x", Array::f32(&[rows, n], x))
        .array("y", Array::out(&[rows, n]));
    run(&library(name, &[("col", n as u32)]), &arguments).values("y")
}

fn masked(rows: usize, x: &[f32], live: &[bool]) -> Vec<f32> {
    let n = x.len() / rows;
    let arguments = Arguments::new()
        .array("x", Array::f32(&[rows, n], x))
        .array("live", Array::bool(&[rows, n], live))
        .array("y", Array::out(&[rows, n]));
    run(&library("softmax_masked", &[("col", n as u32)]), &arguments).values("y")
}

fn with_additive_mask(rows: usize, x: &[f32], mask: &[f32]) -> Vec<f32> {
    let n = x.len() / rows;
    let arguments = Arguments::new()
        .array("x", Array::f32(&[rows, n], x))
        .array("mask", Array::f32(&[rows, n], mask))
        .array("y", Array::out(&[rows, n]));
    let kernel = library("softmax_additive_mask", &[("col", n as u32)]);
    run(&kernel, &arguments).values("y")
}

#[test]
fn p13_two_masks_leave_a_row_without_a_key() {
    let x = [1.0, 2.0, 0.5, -1.0, 3.0].repeat(3);
    let live: Vec<bool> = (0..15).map(|at| at % 5 <= at / 5 && at % 5 > 1).collect();
    let zeros_then_one = [
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
    ];
    exactly(&masked(3, &x, &live), &zeros_then_one);

    let mask: Vec<f32> = live
        .iter()
        .map(|&live| if live { 0.0 } else { -INF })
        .collect();
    let nans_then_one = [
        NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.0, 0.0, 1.0, 0.0, 0.0,
    ];
    exactly(&with_additive_mask(3, &x, &mask), &nans_then_one);

    let causal = text(
        "kernel softmax_causal(x: view f32[row, col], shown: view bool[col], y: mut view f32[row, col]) {
           parallel r: row {
             let xs = load x[r, :]
             let ls = (iota(col) <= r) & load shown[:]
             let peak = reduce c: col tree max from -inf { yield select(ls[c], xs[c], -inf) }
             let shift = select(peak == -inf, 0.0, peak)
             let es = select(ls, exp(xs - shift), 0.0)
             let total = reduce c: col tree add from 0.0 { yield es[c] }
             let scale = 1.0 / select(total == 0.0, 1.0, total)
             store y[r, :] = es * scale
           }
         }",
        &[("col", 5)],
    );
    let arguments = Arguments::new()
        .array("x", Array::f32(&[3, 5], &x))
        .array(
            "shown",
            Array::bool(&[5], &[false, false, true, true, true]),
        )
        .array("y", Array::out(&[3, 5]));
    exactly(&run(&causal, &arguments).values("y"), &zeros_then_one);

    let expected = [0.26894142, 0.73105858, 0.0, 0.0, 0.0];
    let live = [true, true, false, false, false];
    within_ulps(&masked(1, &x[..5], &live), &expected, 4.0);
    let mask = [0.0, 0.0, -INF, -INF, -INF];
    within_ulps(&with_additive_mask(1, &x[..5], &mask), &expected, 4.0);
}

#[test]
fn p14_a_row_with_nan_is_not_a_masked_row() {
    let x = [
        NAN, -INF, -INF, -INF, -INF, //
        -INF, -INF, NAN, -INF, -INF, //
        -INF, -INF, -INF, -INF, -INF,
    ];
    exactly(&softmax("softmax", 3, &x), &[NAN; 15]);
    exactly(&with_additive_mask(3, &[0.0; 15], &x), &[NAN; 15]);
    let rows = [[NAN; 5], [NAN; 5], [0.0; 5]].concat();
    exactly(&masked(3, &x, &[true; 15]), &rows);
    // A NaN in a dead element is not seen; in a live one it reaches all live elements, and no dead one.
    let live = [
        false, true, true, true, true, //
        true, false, true, true, true, //
        false, false, false, false, false,
    ];
    let rows = [[0.0; 5], [NAN, 0.0, NAN, NAN, NAN], [0.0; 5]].concat();
    exactly(&masked(3, &x, &live), &rows);
}

#[test]
fn p15_log_sum_exp_of_nothing_finite() {
    let log_sum_exp = |x: &[f32]| {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, x.len()], x))
            .array("y", Array::out(&[1]));
        run(
            &library("log_sum_exp", &[("col", x.len() as u32)]),
            &arguments,
        )
        .values("y")[0]
    };
    for n in [1, 3, 7, 8, 9, 17, 33, 128] {
        exactly(&[log_sum_exp(&vec![-INF; n])], &[-INF]);
    }
    assert_eq!(log_sum_exp(&[-INF, 0.5]), 0.5);
    near(&[log_sum_exp(&[1000.0, 1000.0])], &[1000.6931472], 1e-7);
    near(&[log_sum_exp(&[-1000.0, -1001.0])], &[-999.6867383], 1e-7);
    exactly(&[log_sum_exp(&[INF, 1.0])], &[INF]);
    exactly(&[log_sum_exp(&[NAN, 1.0])], &[NAN]);
    exactly(&[log_sum_exp(&[1.0, -INF, NAN])], &[NAN]);
}

#[test]
fn p16_infinity_in_a_row_makes_it_nan() {
    // exp(inf - inf) is NaN and in the total, so in every element: at each place, in packets and in tails.
    let five = [2.5, 7.0, INF, -1.0, 0.5];
    exactly(&softmax("softmax", 1, &five), &[NAN; 5]);
    exactly(&softmax("log_softmax", 1, &five), &[NAN; 5]);
    let mut rows = Vec::new();
    for place in [0, 6, 15, 16, 18] {
        let mut row = five.map(|x| x.min(9.0)).repeat(4);
        row.truncate(19);
        row[place] = INF;
        rows.extend(row);
    }
    exactly(&softmax("softmax", 5, &rows), &[NAN; 95]);
    exactly(&masked(5, &rows, &[true; 95]), &[NAN; 95]);
}

#[test]
fn p17_equal_logits_of_any_size() {
    let cross_entropy = library("cross_entropy", &[("col", 5)]);
    for v in [-168.0, -1000.0, -3e38, 3e38] {
        let p = softmax("softmax", 1, &[v; 5]);
        within_ulps(&p, &[0.2; 5], 1.0);
        exactly(&p, &[p[0]; 5]);
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, 5], &[v; 5]))
            .array("target", Array::i32(&[1], &[3]))
            .array("loss", Array::out(&[1]));
        near(
            &run(&cross_entropy, &arguments).values("loss"),
            &[1.6094379],
            1e-7,
        );
    }
}

#[test]
fn p18_the_largest_exponent_is_zero() {
    let kernel = |n| {
        text(
            "kernel softmax_scaled(x: view f32[row, col], y: mut view f32[row, col], s: f32) {
               parallel r: row {
                 let xs = load x[r, :] * s
                 let peak = reduce c: col tree max from -inf { yield xs[c] }
                 let es = exp(xs - peak)
                 let total = reduce c: col tree add from 0.0 { yield es[c] }
                 store y[r, :] = es * (1.0 / total)
               }
             }",
            &[("col", n)],
        )
    };
    let scaled = |x: &[f32], s: f32| {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, x.len()], x))
            .array("y", Array::out(&[1, x.len()]))
            .number("s", s);
        run(&kernel(x.len() as u32), &arguments).values("y")
    };
    exactly(&scaled(&[0.3], -1.7197e14), &[1.0]);
    exactly(&scaled(&[0.7], 3e12), &[1.0]);
    exactly(&scaled(&[0.7, 0.1], 3e12), &[1.0, 0.0]);
}

#[test]
fn p19_masked_weights_are_zero() {
    let p = softmax("softmax", 1, &[0.3, -0.2, -1e30, -1e30, -1e30]);
    within_ulps(&p, &[0.62245933, 0.37754067, 0.0, 0.0, 0.0], 4.0);
    let row: Vec<f32> = (0..4096)
        .map(|i| if i < 1096 { 0.5 } else { -1e30 })
        .collect();
    let p = softmax("softmax", 1, &row);
    near(&p[..1096], &[1.0 / 1096.0; 1096], 1e-6);
    exactly(&p[1096..], &[0.0; 3000]);
}
