//! What `docs/kernels.md` says of corners beyond the bank's cases: infinities, NaN, zeros, and results that replace inputs.

mod support;

use numerics::ElementType;
use planner::Rules;
use runtime::guarded::{Guarded, Placement, Side};
use support::library::{interpreted, sized};
use support::{Arguments, Array, PINS, compiled, exactly, library, run, same};
use tilewright::prelude::*;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// A kernel of one row: `x`, other tables of one number, `y`.
fn of_row(name: &str, x: &[f32], others: &[(&'static str, f32)], eps: Option<f32>) -> Vec<f32> {
    let n = x.len();
    let kernel = library(name, &[("col", n as u32)]);
    let first = if name == "swiglu" { "g" } else { "x" };
    let mut arguments = Arguments::new().array(first, Array::f32(&[1, n], x));
    for &(other, value) in others {
        let rank = kernel
            .params()
            .find(|&param| kernel.param(param).name == other)
            .and_then(|param| kernel.view(param))
            .map_or(0, |view| view.dims.len());
        let shape = &[1, n][2 - rank..];
        arguments = arguments.array(other, Array::f32(shape, &vec![value; n]));
    }
    arguments = arguments.array("y", Array::out(&[1, n]));
    arguments.numbers = eps.map(|eps| ("eps", eps)).into_iter().collect();
    run(&kernel, &arguments).values("y")
}

#[test]
fn norms_of_infinities_and_nan() {
    for name in ["rms_norm", "rms_norm_rsqrt"] {
        let norm = |x: &[f32]| of_row(name, x, &[("w", 1.0)], Some(1e-6));
        let at_infinity = norm(&[1.0, INF, -2.0, 0.0, 3.0]);
        exactly(&at_infinity, &[0.0, NAN, -0.0, 0.0, 0.0]);
        exactly(&norm(&[1.0, NAN, -2.0]), &[NAN; 3]);
    }
    let layer = |x: &[f32], eps| of_row("layer_norm", x, &[("w", 1.0), ("b", 0.5)], Some(eps));
    exactly(&layer(&[1.0, INF, 2.0], 1e-5), &[NAN; 3]);
    exactly(&layer(&[1.0, NAN, 2.0], 1e-5), &[NAN; 3]);
    exactly(&layer(&[7.0; 5], 0.0), &[NAN; 5]);
    let length = |x: &[f32], eps| of_row("l2_normalize", x, &[], Some(eps));
    exactly(&length(&[0.0; 5], 0.0), &[NAN; 5]);
    exactly(&length(&[3.0, NAN, 4.0], 1e-6), &[NAN; 3]);
    exactly(&length(&[3.0, 0.0, 4.0], NAN), &[NAN; 3]);
    exactly(&length(&[3.0, 0.0, 4.0], 1e-6), &[0.6, 0.0, 0.8]);
}

#[test]
fn logarithms_of_softmax_at_infinities() {
    let log_softmax = |x: &[f32]| of_row("log_softmax", x, &[], None);
    exactly(&log_softmax(&[-INF, 0.0, -INF]), &[-INF, 0.0, -INF]);
    exactly(&log_softmax(&[-INF; 3]), &[NAN; 3]);
    exactly(&log_softmax(&[0.0, NAN, 1.0]), &[NAN; 3]);
    let loss = |x: &[f32], target: i32| {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, x.len()], x))
            .array("target", Array::i32(&[1], &[target]))
            .array("loss", Array::out(&[1]));
        run(
            &library("cross_entropy", &[("col", x.len() as u32)]),
            &arguments,
        )
        .values("loss")
    };
    exactly(&loss(&[-INF, 0.0, -INF], 0), &[INF]);
    exactly(&loss(&[-INF, 0.0, -INF], 1), &[0.0]);
    exactly(&loss(&[INF, 0.0, 1.0], 1), &[NAN]);
    exactly(&loss(&[NAN, 0.0, 1.0], 1), &[NAN]);
    exactly(&loss(&[-INF; 3], 1), &[NAN]);
}

#[test]
fn activations_at_infinities() {
    for name in ["gelu_erf_residual", "gelu_tanh_residual"] {
        let x = [-INF, INF, NAN, -f32::MAX, f32::MAX, 0.0, -0.0];
        let y = of_row(name, &x, &[("residual", -0.0)], None);
        exactly(&y, &[NAN, INF, NAN, -0.0, f32::MAX, 0.0, -0.0]);
    }
    let x = [-INF, INF, -f32::MAX, f32::MAX, -0.0];
    let limits = [-0.0, INF, -0.0, f32::MAX, -0.0];
    exactly(&of_row("swiglu", &x, &[("u", 1.0)], None), &limits);
    exactly(&of_row("bias_silu", &x, &[("b", -0.0)], None), &limits);
}

#[test]
fn results_may_replace_inputs() {
    // Row kernels with one table in and one out of its shape, run on one table.
    for name in [
        "softmax",
        "log_softmax",
        "rms_norm",
        "layer_norm",
        "l2_normalize",
        "bias_silu",
    ] {
        let sized = sized(name, 3, 21);
        let expected = interpreted(&sized.kernel, &sized.arguments);
        for pins in PINS {
            let executable = compiled(&sized.kernel, pins, Rules::default());
            let x = sized.arguments.values("x");
            let bytes: Vec<u8> = x.iter().flat_map(|value| value.to_le_bytes()).collect();
            let mut table = Guarded::copy_of(&bytes, Side::End).expect("memory");
            let place = |mutable| Placement {
                origin: 0,
                element: ElementType::F32,
                shape: &[3, 21],
                strides: &[21, 1],
                mutable,
            };
            let vectors: Vec<(&str, Vec<f32>)> = ["w", "b"]
                .into_iter()
                .filter(|name| {
                    sized
                        .arguments
                        .arrays
                        .iter()
                        .any(|(known, _)| known == name)
                })
                .map(|name| (name, sized.arguments.values(name)))
                .collect();
            let mut views = table.views(&[place(false), place(true)]).expect("inside");
            let y = views.pop().expect("two views");
            let x = views.pop().expect("two views");
            let mut arguments: Vec<(String, Argument<'_>)> =
                vec![("x".to_string(), x.into()), ("y".to_string(), y.into())];
            for (name, values) in &vectors {
                let view = View::new(values, &[21]).expect("a vector");
                arguments.push((name.to_string(), view.into()));
            }
            for &(name, value) in &sized.arguments.numbers {
                arguments.push((name.to_string(), value.into()));
            }
            executable
                .run(arguments)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let after: Vec<f32> = table
                .bytes()
                .chunks_exact(4)
                .map(|word| f32::from_le_bytes(word.try_into().expect("four bytes")))
                .collect();
            let found = Arguments::new().array("y", Array::f32(&[3, 21], &after));
            let right = Arguments::new().array("y", expected.get("y").clone());
            same(name, pins, &right, &found);
        }
    }
}
