//! A: tail lanes and memory bounds.

use planner::Rules;
use runtime::guarded::Side;

use crate::support::library::{check, sized};
use crate::support::{
    Arguments, Array, CANARY, PINS, close, compiled, generated, launch, library, near, run, same,
    text, within_ulps,
};

#[test]
fn p01_no_access_beside_any_buffer() {
    for (number, kernel) in kernels::ALL.iter().enumerate() {
        for rows in [1, 3] {
            // Widths are 4, 8 and 16: each kernel meets another neighbour of them.
            let n = [7, 9, 15, 17, 31, 33, 3, 5, 19][(2 * number + rows) % 9];
            let sized = sized(kernel.name, rows, n);
            let dirty = sized.arguments.embedded(CANARY);
            for pins in [PINS[number % 3], PINS[3]] {
                let executable = compiled(&sized.kernel, pins, Rules::default());
                let inside = launch(&executable, &dirty, Side::End).expect("it fits");
                for side in Side::ALL {
                    let found = launch(&executable, &sized.arguments, side).expect("it fits");
                    same(kernel.name, pins, &inside, &found);
                }
            }
        }
    }
}

#[test]
fn p02_a_producer_inside_a_guarded_consumer_is_guarded() {
    let fused = "kernel scaled_gelu(
      x: view f32[row, col], a: view f32[col], b: view f32[col], w: view f32[col], z: mut view f32[row, col]
    ) {
      parallel r: row {
        let y = load a[:] * load x[r, :] + load b[:]
        store z[r, :] = y * normal_cdf(y) * load w[:]
      }
    }";
    let staged = "kernel scaled_gelu_staged(
      x: view f32[row, col], a: view f32[col], b: view f32[col], w: view f32[col],
      y: mut view f32[row, col], z: mut view f32[row, col]
    ) {
      parallel r: row {
        let v = load a[:] * load x[r, :] + load b[:]
        store y[r, :] = v * normal_cdf(v)
      }
      parallel s: row {
        let ys = load y[s, :]
        store z[s, :] = ys * load w[:]
      }
    }";
    // A tile with two readers, one of which is a sum that comes first.
    let summed = "kernel scaled_gelu_summed(
      x: view f32[row, col], a: view f32[col], b: view f32[col], w: view f32[col],
      total: mut view f32[row], z: mut view f32[row, col]
    ) {
      parallel r: row {
        let v = load a[:] * load x[r, :] + load b[:]
        let y = v * normal_cdf(v)
        let all = reduce c: col tree add from 0.0 { yield y[c] }
        store total[r] = all
        store z[r, :] = y * load w[:]
      }
    }";
    for n in [7, 15] {
        let (x, a) = (generated(1, n), generated(2, n));
        let (b, w) = (generated(3, n), generated(4, n));
        let row = |values: &[f32]| Array::f32(&[n], values);
        let arguments = || {
            Arguments::new()
                .array("x", Array::f32(&[1, n], &x))
                .array("a", row(&a))
                .array("b", row(&b))
                .array("w", row(&w))
                .array("z", Array::out(&[1, n]))
        };
        let col = [("col", n as u32)];
        let z = run(&text(fused, &col), &arguments()).values("z");
        let expected: Vec<f64> = (0..n)
            .map(|i| {
                let y = f64::from(a[i] * x[i] + b[i]);
                let gelu = y * reference::oracle::math(numerics::MathFunction::NormalCdf, y);
                gelu * f64::from(w[i])
            })
            .collect();
        within_ulps(&z, &expected, 4.0);
        let with_tile = arguments().array("y", Array::out(&[1, n]));
        let with_total = arguments().array("total", Array::out(&[1]));
        assert_eq!(run(&text(staged, &col), &with_tile).values("z"), z);
        assert_eq!(run(&text(summed, &col), &with_total).values("z"), z);
    }
}

#[test]
fn p03_remainder_lanes_stay_out_of_the_reduction() {
    let x = [0.25, -1.5, 3.0, 0.75, -0.5, 2.0, -3.25, 1.0, -8.0, -9.0];
    let expected = [
        -3.28988031,
        -5.03988031,
        -0.53988031,
        -2.78988031,
        -4.03988031,
        -1.53988031,
        -6.78988031,
        -2.53988031,
        -11.53988031,
        -12.53988031,
    ];
    let kernel = library("log_softmax", &[("col", 10)]);
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, 10], &x))
        .array("y", Array::out(&[1, 10]));
    let alone = run(&kernel, &arguments);
    near(&alone.values("y"), &expected, 1e-6);
    let inside = run(&kernel, &arguments.embedded(1e30f32.to_bits()));
    same("log_softmax", "a larger buffer", &alone, &inside);
}

#[test]
fn p04_padding_stays_out_of_the_variance() {
    let x: Vec<f32> = (0..9).map(|i| 100.0 + 0.5 * i as f32).collect();
    let y = run(
        &library("layer_norm", &[("col", 9)]),
        &layer_norm(&[1, 9], &x, 1e-5),
    )
    .values("y");
    // T2: 2e-6 of the largest, and the rounding of the mean.
    let allowed = 2e-6 * 1.55 + 7.6e-6 / 1.29;
    close(
        &[y[0], y[4], y[8]],
        &[-1.54918869, 0.0, 1.54918869],
        allowed,
    );
}

/// Layer normalisation without weights and bias: ones and zeros.
pub(crate) fn layer_norm(shape: &[usize; 2], x: &[f32], eps: f32) -> Arguments {
    Arguments::new()
        .array("x", Array::f32(shape, x))
        .array("w", Array::f32(&[shape[1]], &vec![1.0; shape[1]]))
        .array("b", Array::f32(&[shape[1]], &vec![0.0; shape[1]]))
        .array("y", Array::out(shape))
        .number("eps", eps)
}

#[test]
fn p05_the_maximum_of_negative_numbers_is_negative() {
    let x: Vec<f32> = (0..1178).map(|i| -1000.0 - (i % 7) as f32).collect();
    let arguments = Arguments::new()
        .array("x", Array::f32(&[1, 1178], &x))
        .array("y", Array::out(&[1, 1178]));
    let p = run(&library("softmax", &[("col", 1178)]), &arguments).values("y");
    let expected = [3.74675512e-3, 1.37835418e-3, 9.28727741e-6, 1.37835418e-3];
    near(&[p[0], p[1], p[6], p[1177]], &expected, 4e-6);
    let sum: f64 = p.iter().map(|&p| f64::from(p)).sum();
    assert!((sum - 1.0).abs() <= 2e-6, "the sum is {sum}");
}

#[test]
fn p06_tiny_shapes_compile_and_are_right() {
    for (number, kernel) in kernels::ALL.iter().enumerate() {
        let width = [3, 5, 7, 9, 15, 17][number % 6];
        for (turn, (rows, n)) in [(1, 1), (1, 2), (1, 10), (5, 1), (1, width)]
            .into_iter()
            .enumerate()
        {
            let sized = sized(kernel.name, rows, n);
            let executable = compiled(&sized.kernel, PINS[(number + turn) % 4], Rules::default());
            let found = launch(&executable, &sized.arguments, Side::End).expect("it fits");
            check(kernel.name, &sized, &found);
        }
    }
    // Ranks 1, 2 and 4, with dimensions of one element.
    let body = "let peak = reduce c: col tree max from -inf { yield xs[c] }
        let es = exp(xs - peak)
        let total = reduce c: col tree add from 0.0 { yield es[c] }";
    let rank_1 = format!(
        "kernel softmax_1(x: view f32[col], y: mut view f32[col]) {{
           parallel {{ let xs = load x[:] {body} store y[:] = es * (1.0 / total) }}
         }}"
    );
    let rank_4 = format!(
        "kernel softmax_4(x: view f32[a, row, b, col], y: mut view f32[a, row, b, col]) {{
           parallel i: a, r: row, j: b {{
             let xs = load x[i, r, j, :] {body} store y[i, r, j, :] = es * (1.0 / total)
           }}
         }}"
    );
    let values = [0.5, -1.0, 2.0, 0.25, 3.0];
    let softmax = |kernel: &_, shape: &[usize]| {
        let arguments = Arguments::new()
            .array("x", Array::f32(shape, &values))
            .array("y", Array::out(shape));
        run(kernel, &arguments).values("y")
    };
    let rank_2 = softmax(&library("softmax", &[("col", 5)]), &[1, 5]);
    assert_eq!(softmax(&text(&rank_1, &[("col", 5)]), &[5]), rank_2);
    assert_eq!(
        softmax(&text(&rank_4, &[("col", 5)]), &[1, 1, 1, 5]),
        rank_2
    );
    assert_eq!(
        softmax(&text(&rank_4, &[("col", 1)]), &[1, 5, 1, 1]),
        [1.0; 5]
    );
    assert_eq!(
        softmax(&library("softmax", &[("col", 1)]), &[5, 1]),
        [1.0; 5]
    );
}
