//! B: aliasing and mutation.
//!
//! What may overlap (C6): an output may be the very same elements as another view if every program keeps to its own. Every other
//! overlap with an output is refused before anything is written. Within one view, a kernel may read and write as it likes.

use numerics::ElementType;
use planner::Rules;
use runtime::guarded::{Guarded, Placement, Side};
use tilewright::prelude::*;

use crate::support::{
    Arguments, Array, PINS, close, compiled, near, refusal, run, text, within_ulps,
};

/// Binds views of one buffer of f32, each a name, an origin, a shape and whether it is written; the buffer afterwards.
fn in_one_buffer(
    kernel: &Verified,
    data: &[f32],
    views: &[(&str, usize, &[usize], bool)],
    numbers: &[(&str, f32)],
) -> Vec<Result<Vec<f32>, String>> {
    let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
    PINS.iter()
        .map(|pins| {
            let executable = compiled(kernel, pins, Rules::default());
            let mut buffer = Guarded::copy_of(&bytes, Side::End).expect("memory");
            let strides: Vec<Vec<i64>> = views
                .iter()
                .map(|(_, _, shape, _)| match shape.len() {
                    2 => vec![shape[1] as i64, 1],
                    _ => vec![1],
                })
                .collect();
            let places: Vec<Placement<'_>> = views
                .iter()
                .zip(&strides)
                .map(|(&(_, origin, shape, mutable), strides)| Placement {
                    origin: 4 * origin,
                    element: ElementType::F32,
                    shape,
                    strides,
                    mutable,
                })
                .collect();
            let made = buffer.views(&places).expect("they lie in the buffer");
            let named = views.iter().zip(made);
            let mut arguments: Vec<(String, Argument<'_>)> = named
                .map(|(&(name, ..), view)| (name.to_string(), view.into()))
                .collect();
            for &(name, value) in numbers {
                arguments.push((name.to_string(), value.into()));
            }
            let outcome = executable.run(arguments).map_err(|error| error.to_string());
            let after: Vec<f32> = buffer
                .bytes()
                .chunks_exact(4)
                .map(|word| f32::from_le_bytes(word.try_into().expect("four bytes")))
                .collect();
            if outcome.is_err() {
                assert_eq!(after, data, "a refused launch wrote");
            }
            outcome.map(|()| after)
        })
        .collect()
}

#[test]
fn p07_backward_norm_in_place() {
    let kernel = text(
        "kernel rms_norm_backward(
           x: view f32[row, col], dz: view f32[row, col], dx: mut view f32[row, col], eps: f32
         ) {
           parallel r: row {
             let xs = load x[r, :]
             let gs = load dz[r, :]
             let squares = reduce c: col tree add from 0.0 { yield xs[c] * xs[c] }
             let products = reduce c: col tree add from 0.0 { yield xs[c] * gs[c] }
             let n = f32(extent(col))
             let share = products / (squares + n * eps)
             store dx[r, :] = (gs - xs * share) * rsqrt(squares / n + eps)
           }
         }",
        &[("col", 4)],
    );
    let row: &[usize] = &[1, 4];
    // x and dz are both [1, 0, 0, 0]; the output is dz, x, or neither.
    let data = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0];
    for output in [4, 0, 8] {
        let views = [
            ("x", 0, row, false),
            ("dz", 4, row, false),
            ("dx", output, row, true),
        ];
        for after in in_one_buffer(&kernel, &data, &views, &[("eps", 1e-4)]) {
            let after = after.expect("the same elements may be shared");
            // 1 - 1 / 1.0004 cancels to 4e-4 with an error of an ulp of 1, times 2.
            close(
                &after[output..output + 4],
                &[7.9952e-4, 0.0, 0.0, 0.0],
                2.5e-7,
            );
        }
    }
}

#[test]
fn p08_rows_move_down_by_one() {
    let data: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let copy = text(
        "kernel copy(above: view f32[row, col], below: mut view f32[row, col]) {
           parallel r: row { store below[r, :] = load above[r, :] }
         }",
        &[("col", 2)],
    );
    let five: &[usize] = &[5, 2];
    let views = [("above", 0, five, false), ("below", 2, five, true)];
    for outcome in in_one_buffer(&copy, &data, &views, &[]) {
        let message = outcome.expect_err("programs would see each other's rows");
        assert!(
            message.contains("`below`") && message.contains("overlaps"),
            "{message}"
        );
    }
    // As one view, read whole before it is written.
    let shift = text(
        "kernel shift(x: mut view f32[row, col]) where moved = 5 {
           parallel {
             let kept = load x[0 : moved, :]
             store x[1 : moved, :] = kept
           }
         }",
        &[("row", 6), ("col", 2)],
    );
    let moved = [0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let x = Arguments::new().array("x", Array::f32(&[6, 2], &data));
    assert_eq!(run(&shift, &x).values("x"), moved);
}

#[test]
fn p09_a_later_store_does_not_change_an_earlier_value() {
    let once = "kernel log_twice(x: mut view f32[row, col], y: mut view f32[row, col]) {
      parallel r: row {
        let xs = load x[r, :]
        store y[r, :] = log(xs)
        store x[r, :] = log(xs)
      }
    }";
    let swapped = "kernel log_of_log(x: mut view f32[row, col], y: mut view f32[row, col]) {
      parallel r: row {
        store x[r, :] = log(load x[r, :])
        store y[r, :] = log(load x[r, :])
      }
    }";
    for n in [1, 7, 8, 9, 33] {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, n], &vec![3.0; n]))
            .array("y", Array::out(&[1, n]));
        let col = [("col", n as u32)];
        let after = run(&text(once, &col), &arguments);
        near(&after.values("x"), &vec![1.0986123; n], 1e-7);
        near(&after.values("y"), &vec![1.0986123; n], 1e-7);
        let after = run(&text(swapped, &col), &arguments);
        near(&after.values("x"), &vec![1.0986123; n], 1e-7);
        // log near 1: half an ulp of its argument is 6e-7 of the result.
        near(&after.values("y"), &vec![0.0940478; n], 1e-6);
    }
}

#[test]
fn p10_an_output_that_overlaps_itself_is_refused() {
    let cosine = text(
        "kernel cosine(x: view f32[n], y: mut view f32[n] strides [*]) {
           parallel { store y[:] = cos(load x[:]) }
         }",
        &[("n", 3)],
    );
    let arguments = Arguments::new()
        .array("x", Array::f32(&[3], &[std::f32::consts::FRAC_PI_4; 3]))
        .array("y", Array::out(&[1]).seen(&[3], &[0]));
    let message = refusal(&cosine, &arguments);
    assert!(
        message.contains("`y`") && message.contains("distinct"),
        "{message}"
    );
    let rows = text(
        "kernel ones(y: mut view f32[row, col]) { parallel r: row { store y[r, :] = broadcast(1.0, [col]) } }",
        &[("col", 8)],
    );
    let arguments = Arguments::new().array("y", Array::out(&[8]).seen(&[2, 8], &[0, 1]));
    let message = refusal(&rows, &arguments);
    assert!(
        message.contains("`y`") && message.contains("distinct"),
        "{message}"
    );
}

#[test]
fn p11_the_norm_is_the_factor_that_is_written_so() {
    let norm = |product: &str| {
        format!(
            "kernel weighted(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32) {{
               parallel r: row {{
                 let xs = load x[r, :]
                 let ws = load w[:]
                 let squares = reduce c: col tree add from 0.0 {{ yield xs[c] * xs[c] }}
                 let weights = reduce c: col tree add from 0.0 {{ yield ws[c] * ws[c] }}
                 let normal = xs / sqrt(squares / f32(extent(col)) + eps)
                 let other = ws / sqrt(weights / f32(extent(col)) + eps)
                 store y[r, :] = {product}
               }}
             }}"
        )
    };
    let x = [3.0, -4.0, 0.0, 12.0];
    let expected = [0.92307691, -0.30769230, 0.0, 5.53846147];
    let weighted = |product: &str, rows: usize| {
        let arguments = Arguments::new()
            .array("x", Array::f32(&[rows, 4], &x.repeat(rows)))
            .array("w", Array::f32(&[4], &[2.0, 0.5, -1.0, 3.0]))
            .array("y", Array::out(&[rows, 4]))
            .number("eps", 1e-6);
        run(&text(&norm(product), &[("col", 4)]), &arguments).values("y")
    };
    for product in ["normal * ws", "ws * normal"] {
        within_ulps(&weighted(product, 1), &expected, 4.0);
        within_ulps(&weighted(product, 2), &expected.repeat(2), 4.0);
    }
    // Both factors are norms: each by its own sum.
    let root = (14.25f64 / 4.0 + 1e-6).sqrt();
    let both = expected.map(|y| y / root);
    within_ulps(&weighted("normal * other", 1), &both, 4.0);
    within_ulps(&weighted("other * normal", 1), &both, 4.0);
}

#[test]
fn p12_a_ring_buffer_shifts() {
    let kernel = text(
        "kernel push(q: mut view f32[slot], k: f32) where rest = 3 {
           parallel {
             let kept = load q[0 : rest]
             store q[1 : rest] = kept
             store q[0] = k
           }
         }",
        &[("slot", 4)],
    );
    let mut q = Arguments::new().array("q", Array::f32(&[4], &[0.0; 4]));
    for k in 1..=4 {
        q.numbers = vec![("k", k as f32)];
        q = run(&kernel, &q);
    }
    assert_eq!(q.values("q"), [4.0, 3.0, 2.0, 1.0]);
}
