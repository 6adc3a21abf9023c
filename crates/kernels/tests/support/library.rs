//! The library's kernels with inputs of any size, and how far their results may be from the oracle's.
//!
//! A bound is derived in `docs/kernels.md` and stated here in the same words: `u` is the unit roundoff 2^-24, `depth(n)` the
//! additions on the way of an element through the tree, and the functions' bounds are those of `docs/numerics.md`.

use numerics::Scalar;
use reference::{Memory, Place};
use tilewright::prelude::*;

use super::{Arguments, Array, generated, library};

/// The unit roundoff of f32.
pub(crate) const U: f64 = 1.0 / (1 << 24) as f64;
/// 1.1 ulp, relative.
const EXP: f64 = 2.2;
/// 2.5 ulp, relative.
const FUNCTION: f64 = 5.0;
/// Half of the smallest subnormal for each of several roundings below the normal range.
const TINY: f64 = 1e-44;

/// A kernel with its extents and inputs.
pub(crate) struct Sized {
    pub(crate) kernel: Verified,
    pub(crate) arguments: Arguments,
}

/// Additions on the way of an element to the root, the initial value's included.
pub(crate) fn depth(n: usize) -> f64 {
    fn inner(n: usize) -> usize {
        if n <= 4096 {
            n.div_ceil(32) - 1 + 5
        } else {
            inner(4096) + inner(n.div_ceil(4096))
        }
    }
    (inner(n.max(1)) + 1) as f64
}

/// The kernel of this name for `rows` programs of `n` elements, with generated inputs and canaries in its outputs.
pub(crate) fn sized(name: &str, rows: usize, n: usize) -> Sized {
    let table = [rows, n];
    let seed = (rows * 100_003 + n) as u64;
    let scaled = |seed: u64, count: usize, by: f32| -> Vec<f32> {
        generated(seed, count).iter().map(|x| x * by).collect()
    };
    let matrix = |salt: u64, by: f32| Array::f32(&table, &scaled(seed + salt, rows * n, by));
    let vector = |salt: u64| Array::f32(&[n], &scaled(seed + salt, n, 2.0));
    let x = |by: f32| Arguments::new().array("x", matrix(1, by));
    let y = |arguments: Arguments| arguments.array("y", Array::out(&table));
    let cols = [("col", n as u32)];
    let chunks = [("chunk", rows as u32), ("col", n as u32)];
    let rows_and_cols = [("row", rows as u32), ("col", n as u32)];
    let partial = |arguments: Arguments| {
        arguments
            .array("part", Array::out(&[rows]))
            .array("total", Array::out(&[]))
    };
    let (arguments, extents): (Arguments, &[(&str, u32)]) = match name {
        "bias_silu" => (y(x(8.0).array("b", vector(2))), &cols),
        "cross_entropy" => {
            let targets: Vec<i32> = (0..rows).map(|row| ((row * 7 + 3) % n) as i32).collect();
            let arguments = x(8.0).array("target", Array::i32(&[rows], &targets));
            (arguments.array("loss", Array::out(&[rows])), &cols)
        }
        "dot" => (partial(x(2.0).array("y", matrix(2, 2.0))), &chunks),
        "gelu_erf_residual" | "gelu_tanh_residual" => {
            (y(x(8.0).array("residual", matrix(2, 2.0))), &cols)
        }
        "l2_normalize" => (y(x(4.0)).number("eps", 1e-6), &cols),
        "layer_norm" => {
            let arguments = x(4.0).array("w", vector(2)).array("b", vector(3));
            (y(arguments).number("eps", 1e-5), &cols)
        }
        "log_softmax" | "softmax" => (y(x(8.0)), &cols),
        "log_sum_exp" => (x(8.0).array("y", Array::out(&[rows])), &cols),
        "mean_squared_error" => (partial(x(2.0).array("y", matrix(2, 2.0))), &rows_and_cols),
        "residual_rms_norm" => {
            let arguments = x(4.0)
                .array("residual", matrix(2, 4.0))
                .array("w", vector(3));
            let arguments = arguments.array("h", Array::out(&table));
            (y(arguments).number("eps", 1e-6), &cols)
        }
        "rms_norm" | "rms_norm_rsqrt" => {
            (y(x(4.0).array("w", vector(2))).number("eps", 1e-6), &cols)
        }
        "rope_half" | "rope_interleaved" => {
            let whole = [rows, 2 * n];
            let arguments = Arguments::new()
                .array("x", Array::f32(&whole, &scaled(seed, rows * 2 * n, 4.0)))
                .array("cosine", matrix(2, 1.0))
                .array("sine", matrix(3, 1.0))
                .array("y", Array::out(&whole));
            return Sized {
                kernel: library(name, &[("half", n as u32)]),
                arguments,
            };
        }
        "softmax_additive_mask" => {
            let mask: Vec<f32> = (0..rows * n)
                .map(|at| {
                    if at % 5 == 3 && n > 4 {
                        f32::NEG_INFINITY
                    } else {
                        (at % 3) as f32 * 0.3
                    }
                })
                .collect();
            (y(x(8.0).array("mask", Array::f32(&table, &mask))), &cols)
        }
        "softmax_masked" => {
            let live: Vec<bool> = (0..rows * n).map(|at| at % 5 != 3).collect();
            (y(x(8.0).array("live", Array::bool(&table, &live))), &cols)
        }
        "sum_of_squares" => (partial(x(2.0)), &chunks),
        "swiglu" => {
            let arguments = Arguments::new().array("g", matrix(1, 8.0));
            (y(arguments.array("u", matrix(2, 2.0))), &cols)
        }
        other => panic!("the kernel `{other}` has no inputs here; add them"),
    };
    Sized {
        kernel: library(name, extents),
        arguments,
    }
}

/// The arrays as the oracle computes them, by name.
pub(crate) fn oracle(kernel: &Verified, arguments: &Arguments) -> Vec<(&'static str, Vec<f64>)> {
    let mut buffers = Vec::new();
    let mut params = Vec::new();
    for param in kernel.params() {
        let name = &kernel.param(param).name;
        if let Some((_, array)) = arguments.arrays.iter().find(|(known, _)| known == name) {
            let shape: Vec<u32> = array.shape.iter().map(|&extent| extent as u32).collect();
            params.push(reference::Argument::View(Place::dense(
                buffers.len(),
                &shape,
            )));
            buffers.push(array.values().into_iter().map(f64::from).collect());
        } else {
            let found = arguments.numbers.iter().find(|(known, _)| known == name);
            let value = found.unwrap_or_else(|| panic!("`{name}` is not given")).1;
            params.push(reference::Argument::Scalar(Scalar::F32(value)));
        }
    }
    let places = reference::Arguments {
        params,
        extents: Vec::new(),
    };
    reference::oracle(kernel, &mut buffers, &places).unwrap_or_else(|error| panic!("{error}"));
    let views = kernel
        .params()
        .filter(|&param| kernel.view(param).is_some());
    views
        .zip(buffers)
        .map(|(param, buffer)| {
            let name = &kernel.param(param).name;
            let known = arguments.arrays.iter().find(|(known, _)| known == name);
            (known.expect("found above").0, buffer)
        })
        .collect()
}

/// The arrays as the interpreter of TileIR computes them, by name. Every reduction of the library is a `tree`.
pub(crate) fn interpreted(kernel: &Verified, arguments: &Arguments) -> Arguments {
    let mut memory = Memory::new();
    let mut params = Vec::new();
    for param in kernel.params() {
        let name = &kernel.param(param).name;
        if let Some((_, array)) = arguments.arrays.iter().find(|(known, _)| known == name) {
            let shape: Vec<u32> = array.shape.iter().map(|&extent| extent as u32).collect();
            params.push(reference::Argument::View(Place::dense(
                memory.len(),
                &shape,
            )));
            memory.add(array.bytes.clone());
        } else {
            let found = arguments.numbers.iter().find(|(known, _)| known == name);
            let value = found.unwrap_or_else(|| panic!("`{name}` is not given")).1;
            params.push(reference::Argument::Scalar(Scalar::F32(value)));
        }
    }
    let places = reference::Arguments {
        params,
        extents: Vec::new(),
    };
    reference::interpret(kernel, &mut memory, &places, &reference::Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut after = arguments.clone();
    let views = kernel
        .params()
        .filter(|&param| kernel.view(param).is_some());
    for (buffer, param) in views.enumerate() {
        let name = &kernel.param(param).name;
        let slot = after.arrays.iter_mut().find(|(known, _)| known == name);
        slot.expect("found above").1.bytes = memory.bytes(buffer).to_vec();
    }
    after
}

/// Holds results against the oracle: every output element within its bound. Gives the largest part of its bound that an
/// error takes.
pub(crate) fn check(name: &str, sized: &Sized, found: &Arguments) -> f64 {
    let expected = oracle(&sized.kernel, &sized.arguments);
    let mut worst = 0.0f64;
    for (output, bounds) in bounds(name, &sized.arguments, &expected) {
        let right = &expected
            .iter()
            .find(|(known, _)| *known == output)
            .expect("an output")
            .1;
        let actual = found.values(output);
        assert_eq!(
            (actual.len(), right.len()),
            (bounds.len(), bounds.len()),
            "{name}"
        );
        for (index, ((&actual, &right), &bound)) in
            actual.iter().zip(right).zip(&bounds).enumerate()
        {
            let actual = f64::from(actual);
            if actual == right || actual.is_nan() && right.is_nan() {
                continue;
            }
            // Terms of second order: every factor of u is below 700.
            let part = (actual - right).abs() / (bound * 1.001 + TINY);
            assert!(
                part <= 1.0,
                "{name}: `{output}`[{index}] of {:?} is {actual:e}, the oracle says {right:e}: {part:.2} of its bound",
                sized.arguments.get(output).shape
            );
            worst = worst.max(part);
        }
    }
    worst
}

fn row(values: &[f64], index: usize, n: usize) -> &[f64] {
    &values[index * n..(index + 1) * n]
}

/// What a softmax is made of, for one row of arguments: distance from the peak of each element, and its mean by weight.
struct Weights {
    peak: f64,
    distances: Vec<f64>,
    mean_distance: f64,
    log_total: f64,
}

fn weights(xs: &[f64]) -> Weights {
    let peak = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = xs.iter().map(|x| (x - peak).exp()).collect();
    let total: f64 = powers.iter().sum();
    // exp(-inf) is exact: such an element has no distance that could be wrong.
    let distances: Vec<f64> = xs
        .iter()
        .map(|x| if x.is_finite() { (x - peak).abs() } else { 0.0 })
        .collect();
    let mean_distance = powers
        .iter()
        .zip(&distances)
        .map(|(e, t)| e / total * t)
        .sum();
    Weights {
        peak,
        distances,
        mean_distance,
        log_total: total.ln(),
    }
}

/// The largest error of each element of each output.
fn bounds(
    name: &str,
    arguments: &Arguments,
    expected: &[(&'static str, Vec<f64>)],
) -> Vec<(&'static str, Vec<f64>)> {
    let wide = |name: &str| -> Vec<f64> {
        arguments
            .values(name)
            .iter()
            .map(|&v| f64::from(v))
            .collect()
    };
    let result = |name: &str| -> &[f64] {
        &expected
            .iter()
            .find(|(known, _)| *known == name)
            .expect("an output")
            .1
    };
    let shape = &arguments.arrays[0].1.shape;
    let (rows, n) = (shape[0], shape[1]);
    let m = depth(n);
    let relative = |name: &'static str, factor: f64| {
        let bound = result(name).iter().map(|y| factor * U * y.abs()).collect();
        (name, bound)
    };
    let per_element = |f: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..rows * n).map(|at| f(at / n, at % n)).collect()
    };
    let per_row = |f: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..rows).map(f).collect() };
    match name {
        "rms_norm" => vec![relative("y", (m + 3.0) / 2.0 + 3.0)],
        "rms_norm_rsqrt" => vec![relative("y", (m + 3.0) / 2.0 + 4.0)],
        "residual_rms_norm" => vec![relative("h", 1.0), relative("y", (m + 5.0) / 2.0 + 4.0)],
        "l2_normalize" => vec![relative("y", (m + 1.0) / 2.0 + 2.0)],
        "swiglu" => vec![relative("y", FUNCTION + 2.0)],
        "sum_of_squares" => {
            vec![
                relative("part", m + 1.0),
                relative("total", m + 1.0 + depth(rows)),
            ]
        }
        "mean_squared_error" => {
            vec![
                relative("part", m + 3.0),
                relative("total", m + 3.0 + depth(rows) + 2.0),
            ]
        }
        "dot" => {
            let (x, y) = (wide("x"), wide("y"));
            let magnitude = |r: usize| -> f64 {
                row(&x, r, n)
                    .iter()
                    .zip(row(&y, r, n))
                    .map(|(a, b)| (a * b).abs())
                    .sum()
            };
            let total = (m + 1.0 + depth(rows)) * U * (0..rows).map(magnitude).sum::<f64>();
            vec![
                ("part", per_row(&|r| (m + 1.0) * U * magnitude(r))),
                ("total", vec![total]),
            ]
        }
        "layer_norm" => {
            let (x, w, b) = (wide("x"), wide("w"), wide("b"));
            let eps = f64::from(arguments.numbers[0].1);
            let y = result("y");
            let bound = per_element(&|r, c| {
                let xs = row(&x, r, n);
                let mean = xs.iter().sum::<f64>() / n as f64;
                let magnitude = xs.iter().map(|x| x.abs()).sum::<f64>() / n as f64;
                let variance = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64 + eps;
                let shift = (m + 1.0) * U * magnitude;
                let scale = (m + 5.0) / 2.0 * U + U + shift * shift / (2.0 * variance);
                let z = (xs[c] - mean).abs() / variance.sqrt();
                let normal = shift / variance.sqrt() + z * (scale + 2.0 * U);
                let product = (y[r * n + c] - b[c]).abs();
                w[c].abs() * normal + U * product + U * y[r * n + c].abs()
            });
            vec![("y", bound)]
        }
        "bias_silu" => {
            let (x, b, y) = (wide("x"), wide("b"), result("y"));
            let bound = per_element(&|r, c| {
                let z = (x[r * n + c] + b[c]).abs();
                U * (1.0 + z + FUNCTION + 1.0) * y[r * n + c].abs()
            });
            vec![("y", bound)]
        }
        "gelu_erf_residual" => {
            let (residual, y) = (wide("residual"), result("y"));
            let bound = (0..rows * n)
                .map(|at| U * ((FUNCTION + 1.0) * (y[at] - residual[at]).abs() + y[at].abs()))
                .collect();
            vec![("y", bound)]
        }
        "gelu_tanh_residual" => {
            let (x, residual, y) = (wide("x"), wide("residual"), result("y"));
            let bound = (0..rows * n)
                .map(|at| {
                    let u = (x[at] * (x[at] * x[at] * 0.071_354_81 + 1.595_769_1)).abs();
                    let gelu = (y[at] - residual[at]).abs();
                    U * ((3.0 * u + FUNCTION + 1.0) * gelu + y[at].abs())
                })
                .collect();
            vec![("y", bound)]
        }
        "rope_half" | "rope_interleaved" => {
            let half = n / 2;
            let (x, c, s, y) = (wide("x"), wide("cosine"), wide("sine"), result("y"));
            let bound = per_element(&|r, at| {
                let (pair, other) = if name == "rope_half" {
                    (at % half, (at + half) % n)
                } else {
                    (at / 2, at ^ 1)
                };
                let (xs, c, s) = (row(&x, r, n), c[r * half + pair], s[r * half + pair]);
                let (own, turned) = (xs[at] * c, xs[other] * s);
                U * (own.abs() + turned.abs() + y[r * n + at].abs())
            });
            vec![("y", bound)]
        }
        "softmax"
        | "softmax_additive_mask"
        | "softmax_masked"
        | "log_softmax"
        | "log_sum_exp"
        | "cross_entropy" => softmax_bounds(name, arguments, expected, (rows, n)),
        other => panic!("the kernel `{other}` has no bound here; derive one"),
    }
}

fn softmax_bounds(
    name: &str,
    arguments: &Arguments,
    expected: &[(&'static str, Vec<f64>)],
    (rows, n): (usize, usize),
) -> Vec<(&'static str, Vec<f64>)> {
    let wide = |name: &str| -> Vec<f64> {
        arguments
            .values(name)
            .iter()
            .map(|&v| f64::from(v))
            .collect()
    };
    let m = depth(n);
    let x = wide("x");
    // What takes the exponential's place of an argument: x, x + mask, or -inf where dead.
    let argument: Vec<f64> = match name {
        "softmax_additive_mask" => x
            .iter()
            .zip(wide("mask"))
            .map(|(x, mask)| x + mask)
            .collect(),
        "softmax_masked" => x
            .iter()
            .zip(wide("live"))
            .map(|(&x, live)| if live != 0.0 { x } else { f64::NEG_INFINITY })
            .collect(),
        _ => x,
    };
    let output = if name == "cross_entropy" { "loss" } else { "y" };
    let right = &expected
        .iter()
        .find(|(known, _)| *known == output)
        .expect("an output")
        .1;
    let mut bound = Vec::new();
    for r in 0..rows {
        let xs = row(&argument, r, n);
        let w = weights(xs);
        // Error of the logarithm of the total, before its own rounding.
        let total = w.mean_distance + EXP + m;
        match name {
            "softmax" | "softmax_masked" | "softmax_additive_mask" => {
                for c in 0..n {
                    let mut factor = w.distances[c] + EXP + total + 2.0;
                    if name == "softmax_additive_mask" && xs[c].is_finite() {
                        let largest = xs
                            .iter()
                            .filter(|x| x.is_finite())
                            .fold(0.0f64, |a, b| a.max(b.abs()));
                        factor += xs[c].abs() + largest + 2.0 * w.peak.abs();
                    }
                    bound.push(U * factor * right[r * n + c].abs());
                }
            }
            "log_softmax" => {
                for c in 0..n {
                    let y = right[r * n + c].abs();
                    bound.push(U * (w.distances[c] + total + EXP * w.log_total + y));
                }
            }
            "log_sum_exp" => bound.push(U * (total + EXP * w.log_total + right[r].abs())),
            "cross_entropy" => {
                let target = arguments.values("target")[r] as usize;
                let distance = w.distances[target];
                bound.push(U * (total + EXP * w.log_total + distance + right[r].abs()));
            }
            other => panic!("`{other}` is no softmax"),
        }
    }
    vec![(output, bound)]
}
