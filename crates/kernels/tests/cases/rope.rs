//! H: rotary embeddings.
//!
//! The library's kernels take tables of cosines and sines, so the precision of an angle is the caller's. A kernel that computes
//! `position * frequency` in f32 and takes its cosine has the f32 angle: exact for pair 0, half an ulp of the angle for the others.

use crate::support::{Arguments, Array, close, library, run, text};

#[test]
fn p40_angles_at_long_positions() {
    let kernel = text(
        "kernel rope_positions(
           x: view f32[row, dim], position: view i32[row], frequency: view f32[half], y: mut view f32[row, dim]
         ) {
           parallel r: row {
             let a = load x[r, : half]
             let b = load x[r, extent(half) : half]
             let p = load position[r]
             let angle = f32(p) * load frequency[:]
             let c = cos(angle)
             let s = sin(angle)
             store y[r, : half] = a * c - b * s
             store y[r, extent(half) : half] = b * c + a * s
           }
         }",
        &[("half", 32)],
    );
    let positions = [40, 2000, 16000, 131071, 1000003];
    let frequency: Vec<f32> = (0..32)
        .map(|i| 10000f64.powf(-f64::from(i) / 32.0) as f32)
        .collect();
    let x: Vec<f32> = (0..64).map(|i| if i < 2 { 1.0 } else { 0.0 }).collect();
    let arguments = Arguments::new()
        .array("x", Array::f32(&[5, 64], &x.repeat(5)))
        .array("position", Array::i32(&[5], &positions))
        .array("frequency", Array::f32(&[32], &frequency))
        .array("y", Array::out(&[5, 64]));
    let y = run(&kernel, &arguments).values("y");
    let expected = [
        (-0.666938062, 0.745113160),
        (-0.367459549, 0.930039504),
        (-0.991381434, 0.131007066),
        (-0.817983499, -0.575241684),
        (-0.877986492, 0.478685409),
    ];
    for (row, (cosine, sine)) in y.chunks(64).zip(expected) {
        close(&[row[0], row[32]], &[cosine, sine], 2e-7);
    }
    // Pair 1 at 131071 has the cosine of the f32 angle, 0.0011 from that of the exact one.
    let angle = f64::from(131071.0f32 * frequency[1]);
    let row = &y[3 * 64..4 * 64];
    close(&[row[1], row[33]], &[angle.cos(), angle.sin()], 2e-7);
    close(&[row[1]], &[0.05571517], 2e-7);
}

/// Cosines and sines of position 3 for a rotary part of `2 * half` elements, base 10000.
fn tables(half: usize) -> (Array, Array) {
    let angle = |i: usize| 3.0 * 10000f64.powf(-(i as f64) / half as f64);
    let table = |f: fn(f64) -> f64| -> Vec<f32> { (0..half).map(|i| f(angle(i)) as f32).collect() };
    (
        Array::f32(&[1, half], &table(f64::cos)),
        Array::f32(&[1, half], &table(f64::sin)),
    )
}

#[test]
fn p41_part_of_a_head_is_rotated() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let rotated = |name: &str, half: usize, y: &[f32; 8]| {
        let (cosine, sine) = tables(half);
        let arguments = Arguments::new()
            .array("x", Array::f32(&[1, 8], &x))
            .array("cosine", cosine)
            .array("sine", sine)
            .array("y", Array::f32(&[1, 8], y));
        run(&library(name, &[("half", half as u32)]), &arguments).values("y")
    };
    // Only the rotary part is stored: the rest of `y` stays what it is, so an output that starts as `x` keeps `x` there.
    let halves = rotated("rope_half", 2, &x);
    close(
        &halves[..4],
        &[-1.41335252, 1.87911807, -2.82885748, 4.05819114],
        1e-6,
    );
    assert_eq!(halves[4..], x[4..]);
    let pairs = rotated("rope_interleaved", 2, &x);
    close(
        &pairs[..4],
        &[-1.27223251, -1.83886499, 2.87866810, 4.08818664],
        1e-6,
    );
    assert_eq!(pairs[4..], x[4..]);
    // All 8: the norm of each pair stays.
    for name in ["rope_half", "rope_interleaved"] {
        let y = rotated(name, 4, &[9.0; 8]);
        let squares = |x: &[f32]| -> f64 { x.iter().map(|&x| f64::from(x).powi(2)).sum() };
        assert!((squares(&y) - squares(&x)).abs() < 1e-4, "{y:?}");
        // 10 of 8: windows end at the row, tables at theirs; nothing else is touched.
        rotated(name, 5, &x);
        // 0 is no tile; an odd part has no half.
        let message = kernels::find(name)
            .expect("it is there")
            .specialized(&[("half", 0)]);
        assert!(
            message
                .expect_err("a tile has elements")
                .to_string()
                .contains("half")
        );
    }
}
