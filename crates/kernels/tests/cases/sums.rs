//! G: reductions and losses.

use planner::Rules;
use runtime::guarded::Side;

use crate::support::{
    Arguments, Array, PINS, compiled, exactly, generated, launch, library, near, refusal, run,
    same, text,
};

#[test]
fn p34_long_sums_keep_their_digits() {
    // 2^25 ones: 8192 programs read one row of 4096.
    let ones = Arguments::new()
        .array(
            "x",
            Array::f32(&[4096], &[1.0; 4096]).seen(&[8192, 4096], &[0, 1]),
        )
        .array("part", Array::out(&[8192]))
        .array("total", Array::out(&[]));
    let kernel = library("sum_of_squares", &[("chunk", 8192), ("col", 4096)]);
    for pins in PINS {
        let executable = compiled(&kernel, pins, Rules::default());
        let found = launch(&executable, &ones, Side::End).expect("it fits");
        exactly(&found.values("total"), &[33_554_432.0]);
    }
    // 10^7 times 0.1: 2500 programs of 4000.
    let sum = text(
        "kernel sum(x: view f32[chunk, col], part: mut view f32[chunk], total: mut view f32[]) {
           parallel k: chunk {
             let xs = load x[k, :]
             store part[k] = reduce c: col tree add from 0.0 { yield xs[c] }
           }
           parallel {
             let parts = load part[:]
             store total[] = reduce p: chunk tree add from 0.0 { yield parts[p] }
           }
         }",
        &[("chunk", 2500), ("col", 4000)],
    );
    let tenths = Arguments::new()
        .array(
            "x",
            Array::f32(&[4000], &[0.1; 4000]).seen(&[2500, 4000], &[0, 1]),
        )
        .array("part", Array::out(&[2500]))
        .array("total", Array::out(&[]));
    let mut first = None;
    for pins in PINS {
        let executable = compiled(&sum, pins, Rules::default());
        let found = launch(&executable, &tenths, Side::End).expect("it fits");
        near(&found.values("total"), &[1e6 + 0.0149], 1e-5);
        let first = first.get_or_insert_with(|| found.clone());
        same("sum", pins, first, &found);
    }
}

#[test]
fn p35_results_do_not_depend_on_the_run() {
    assert_eq!(generated(1, 2), [-0.153_581_74, 0.018_814_802]);
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, 4096], &generated(3, 4096)))
        .array("y", Array::f32(&[1, 4096], &generated(4, 4096)))
        .array("part", Array::out(&[1]))
        .array("total", Array::out(&[]));
    // T4 allows 64 * 2^-24 * 1030.0014; the tree has depth 134, and a good kernel is near 1e-5.
    let found = run(&library("dot", &[("chunk", 1), ("col", 4096)]), &arguments);
    crate::support::close(&found.values("total"), &[-32.56615425], 5e-5);
    // Programs are independent and sums are trees, so any number of threads that share them gives these bits: here the rows in
    // one launch, and each in a launch of its own, twenty times.
    let x = generated(5, 64 * 1031);
    for name in ["rms_norm", "softmax"] {
        let kernel = library(name, &[("col", 1031)]);
        let executable = compiled(&kernel, PINS[1], Rules::default());
        let rows = |rows: std::ops::Range<usize>| {
            let mut arguments = Arguments::new()
                .array(
                    "x",
                    Array::f32(&[rows.len(), 1031], &x[rows.start * 1031..rows.end * 1031]),
                )
                .array("y", Array::out(&[rows.len(), 1031]));
            if name == "rms_norm" {
                arguments = arguments
                    .array("w", Array::f32(&[1031], &generated(6, 1031)))
                    .number("eps", 1e-6);
            }
            launch(&executable, &arguments, Side::End)
                .expect("it fits")
                .values("y")
        };
        let whole = rows(0..64);
        for _ in 0..20 {
            exactly(&rows(0..64), &whole);
        }
        for part in [0..1, 1..3, 3..10, 10..26, 26..64] {
            exactly(
                &rows(part.clone()),
                &whole[part.start * 1031..part.end * 1031],
            );
        }
    }
}

#[test]
fn p36_empty_tables() {
    for kernel in kernels::ALL {
        let fixed = match kernel.name {
            "dot" | "sum_of_squares" => Some("chunk"),
            "mean_squared_error" => Some("row"),
            _ => None,
        };
        if let Some(axis) = fixed {
            // Their second nest sums chunks or rows: these are a tile, whose extent is at least 1.
            let refused = kernel
                .specialized(&[(axis, 0)])
                .expect_err("a tile has elements");
            let message = refused.to_string();
            assert!(message.contains(axis) && message.contains('0'), "{message}");
            continue;
        }
        // No rows: a launch that does nothing.
        let mut sized = crate::support::library::sized(kernel.name, 1, 10);
        for (_, array) in &mut sized.arguments.arrays {
            let rank = array.shape.len();
            if array.shape[0] == 1 {
                let mut shape = array.shape.clone();
                shape[0] = 0;
                *array = if *array.shape.last().expect("a rank") == 1 && rank == 1 {
                    array.clone().seen(&[0], &[1])
                } else {
                    array.clone().seen(&shape, &[shape[1] as i64, 1])
                };
            }
        }
        run(&sized.kernel, &sized.arguments);
        // No elements in a row: the extent of a tile is at least 1, and is refused by name.
        let axis = if kernel.name.starts_with("rope") {
            "half"
        } else {
            "col"
        };
        let message = kernel
            .specialized(&[(axis, 0)])
            .expect_err("a tile has elements")
            .to_string();
        assert!(
            message.contains(axis) && message.contains('0'),
            "{}: {message}",
            kernel.name
        );
    }
    // A table of no columns given to a kernel for ten.
    let arguments = Arguments::new()
        .array("x", Array::f32(&[10, 0], &[]))
        .array("y", Array::f32(&[10, 0], &[]));
    let message = refusal(&library("softmax", &[("col", 10)]), &arguments);
    assert!(
        message.contains("[10, 0]") && message.contains("`col`"),
        "{message}"
    );
}

/// The loss of each row.
fn cross_entropy(n: usize, x: &[f32], targets: &[i32]) -> Vec<f32> {
    let rows = targets.len();
    let arguments = Arguments::new()
        .array("x", Array::f32(&[rows, n], x))
        .array("target", Array::i32(&[rows], targets))
        .array("loss", Array::out(&[rows]));
    run(&library("cross_entropy", &[("col", n as u32)]), &arguments).values("loss")
}

#[test]
fn p37_large_equal_logits_keep_the_logarithm() {
    near(
        &cross_entropy(2, &[1e8; 4], &[0, 1]),
        &[std::f64::consts::LN_2; 2],
        1e-6,
    );
    let row = [1e8, 1e8, 1e8 - 8.0];
    let losses = cross_entropy(3, &row.repeat(3), &[0, 1, 2]);
    near(&losses, &[0.6933149, 0.6933149, 8.6933149], 1e-6);
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, 3], &row))
        .array("y", Array::out(&[1, 3]));
    let y = run(&library("log_softmax", &[("col", 3)]), &arguments).values("y");
    near(&y, &[-0.6933149, -0.6933149, -8.6933149], 1e-6);
}

#[test]
fn p38_ignored_and_wrong_targets() {
    // The library gives a loss a row; a target outside of the row is NaN, and nothing outside of the row is read.
    let x = [2.0, -1.0, 0.5, 1.0, 1.0, 1.0];
    for wrong in [7, 3, -1, i32::MAX, i32::MIN] {
        let losses = cross_entropy(3, &x, &[0, wrong]);
        near(&losses[..1], &[0.24131130], 1e-6);
        assert!(losses[1].is_nan(), "target {wrong} gives {}", losses[1]);
    }
    // Their mean over rows that are not ignored (-100): 0 / 0 if all are, NaN, as a mean of nothing.
    let kernel = text(
        "kernel mean_cross_entropy(
           x: view f32[row, col], target: view i32[row], part: mut view f32[row], loss: mut view f32[]
         ) {
           parallel r: row {
             let xs = load x[r, :]
             let peak = reduce c: col tree max from -inf { yield xs[c] }
             let total = reduce c: col tree add from 0.0 { yield exp(xs[c] - peak) }
             let t = load target[r]
             store part[r] = select(t == -100, 0.0, log(total) - (xs[t] - peak))
           }
           parallel {
             let parts = load part[:]
             let ts = load target[:]
             let sum = reduce p: row tree add from 0.0 { yield parts[p] }
             let counted = reduce p: row tree add from 0.0 { yield select(ts[p] == -100, 0.0, 1.0) }
             store loss[] = sum / counted
           }
         }",
        &[("row", 2), ("col", 3)],
    );
    let mean = |targets: &[i32; 2]| {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[2, 3], &x))
            .array("target", Array::i32(&[2], targets))
            .array("part", Array::out(&[2]))
            .array("loss", Array::out(&[]));
        run(&kernel, &arguments).values("loss")
    };
    near(&mean(&[0, 2]), &[0.66996179], 1e-6);
    near(&mean(&[0, -100]), &[0.24131130], 1e-6);
    exactly(&mean(&[-100, -100]), &[f32::NAN]);
    exactly(&mean(&[0, 7]), &[f32::NAN]);
}

#[test]
fn p39_half_types_are_summed_in_f32() {
    let softmax = text(
        "kernel softmax_bf16(x: view bf16[row, col], y: mut view f32[row, col]) {
           parallel r: row {
             let xs = load x[r, :]
             let peak = reduce c: col tree max from -inf { yield xs[c] }
             let es = exp(xs - peak)
             let total = reduce c: col tree add from 0.0 { yield es[c] }
             store y[r, :] = es * (1.0 / total)
           }
         }",
        &[("col", 512)],
    );
    let arguments = Arguments::new()
        .array("x", Array::bf16(&[1, 512], &[0.0; 512]))
        .array("y", Array::out(&[1, 512]));
    exactly(&run(&softmax, &arguments).values("y"), &[1.0 / 512.0; 512]);
    let mean = text(
        "kernel mean_bf16(x: view bf16[row, col], y: mut view f32[row]) {
           parallel r: row {
             let xs = load x[r, :]
             let sum = reduce c: col tree add from 0.0 { yield xs[c] }
             store y[r] = sum / f32(extent(col))
           }
         }",
        &[("col", 70000)],
    );
    let arguments = Arguments::new()
        .array("x", Array::bf16(&[1, 70000], &[1.0; 70000]))
        .array("y", Array::out(&[1]));
    exactly(&run(&mean, &arguments).values("y"), &[1.0]);
}
