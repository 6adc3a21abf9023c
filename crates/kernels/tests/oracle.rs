//! Each kernel of the library against the oracle in binary64 within its derived bound, and against itself: one answer at every
//! width and mapping, fused and not, in the interpreter too.
//!
//! By default a sample of sizes is run. `KERNELS_ALL_SIZES=1` runs all of them.

mod support;

use planner::Rules;
use runtime::guarded::Side;
use support::library::{check, interpreted, sized};
use support::{CANARY, PINS, compiled, fused, launch, run, same};

/// Every length up to five registers and a tail, then primes, powers of two, and lengths of several blocks of the tree.
fn all_sizes() -> Vec<usize> {
    (1..=70)
        .chain([127, 128, 1009, 1031, 4096, 16384])
        .collect()
}

/// A few lengths, other ones for each kernel: together they are many.
fn sample(kernel: usize) -> Vec<usize> {
    let odd = [
        1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 23, 31, 33, 37, 47, 63, 65, 67, 70,
    ];
    let large = [127, 128, 1009, 1031, 4096];
    vec![odd[kernel % odd.len()], large[kernel % large.len()]]
}

fn everything() -> bool {
    std::env::var_os("KERNELS_ALL_SIZES").is_some()
}

#[test]
fn results_are_within_their_bounds() {
    for (number, library) in kernels::ALL.iter().enumerate() {
        let sizes = if everything() {
            all_sizes()
        } else {
            sample(number)
        };
        let mut worst = 0.0f64;
        for (turn, &n) in sizes.iter().enumerate() {
            let rows = if n > 1031 { 2 } else { 3 };
            let sized = sized(library.name, rows, n);
            for (index, pins) in PINS.iter().enumerate() {
                // One mapping a size in the sample; they agree to the bit anyway.
                if !everything() && index != (number + turn) % PINS.len() {
                    continue;
                }
                let executable = compiled(&sized.kernel, pins, Rules::default());
                for side in Side::ALL {
                    let found = launch(&executable, &sized.arguments, side)
                        .unwrap_or_else(|error| panic!("{}: {error}", library.name));
                    worst = worst.max(check(library.name, &sized, &found));
                }
            }
        }
        println!("{}: at most {worst:.3} of the bound", library.name);
    }
}

#[test]
fn same_bits() {
    for (number, library) in kernels::ALL.iter().enumerate() {
        let n = [37, 33, 21, 70, 19][number % 5];
        let sized = sized(library.name, 3, n);
        // Every mapping, between forbidden pages; the interpreter; in a larger buffer, full of canaries and of numbers.
        let found = run(&sized.kernel, &sized.arguments);
        let expected = interpreted(&sized.kernel, &sized.arguments);
        same(library.name, "the interpreter", &found, &expected);
        for pins in [PINS[0], PINS[3]] {
            let executable = compiled(&sized.kernel, pins, Rules::default());
            for around in [CANARY, 1e30f32.to_bits()] {
                let dirty = sized.arguments.embedded(around);
                let inside = launch(&executable, &dirty, Side::End)
                    .unwrap_or_else(|error| panic!("{}: {error}", library.name));
                same(library.name, "a larger buffer", &found, &inside);
            }
        }
    }
}

#[test]
fn fusion_does_not_change_bits_of_long_rows() {
    // Two blocks of the tree and a tail.
    for name in ["rms_norm", "layer_norm", "softmax", "residual_rms_norm"] {
        let sized = sized(name, 2, 4099);
        let mut first = None;
        for pins in [PINS[1], PINS[3]] {
            for rules in [Rules::default(), fused()] {
                let executable = compiled(&sized.kernel, pins, rules);
                let found = launch(&executable, &sized.arguments, Side::End)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let first = first.get_or_insert_with(|| found.clone());
                same(name, pins, first, &found);
            }
        }
    }
}

#[test]
fn a_wrong_result_is_found() {
    let sized = sized("rms_norm", 1, 8);
    let right = run(&sized.kernel, &sized.arguments);
    let mut wrong = right.clone();
    let slot = wrong.arrays.iter_mut().find(|(name, _)| *name == "y");
    let array = &mut slot.expect("an output").1;
    let mut values = array.values();
    values[5] *= 1.00001;
    *array = support::Array::f32(&[1, 8], &values);
    check("rms_norm", &sized, &right);
    let found = std::panic::catch_unwind(|| check("rms_norm", &sized, &wrong));
    assert!(found.is_err(), "an error of 84 ulp is within no bound");
    let found = std::panic::catch_unwind(|| same("rms_norm", "", &right, &wrong));
    assert!(found.is_err(), "other bits are the same bits");
}
