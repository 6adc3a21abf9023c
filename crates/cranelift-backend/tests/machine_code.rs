//! What hot loops look like: no moves, no spills, one branch, operands folded.

#![allow(unsafe_code, reason = "the shared support calls generated code")]

mod support;

use cranelift_backend::disassemble;
use support::{code, kernels, named};
use xir::Verified;

/// The instructions of the only loop of a program, its branch included.
fn hot_loop(program: &Verified, machine: &str) -> Vec<String> {
    let text = disassemble(&code(program, &named(machine)));
    let mut inside = false;
    let mut list = Vec::new();
    for line in text.lines() {
        if line.ends_with("; loop") {
            assert!(list.is_empty(), "one loop\n{text}");
            inside = true;
        } else if inside && line.starts_with('L') {
            inside = false;
        } else if inside {
            let instruction = line.trim_start().split_once("  ").expect("an offset").1;
            list.push(instruction.to_owned());
        }
    }
    assert!(!list.is_empty(), "a loop\n{text}");
    list
}

/// How many instructions begin with one of these words.
fn count(list: &[String], words: &[&str]) -> usize {
    list.iter()
        .filter(|line| {
            let name = line.split(' ').next().expect("a name");
            words.contains(&name)
        })
        .count()
}

#[test]
fn a_copy_is_loads_and_stores() {
    let x86 = hot_loop(&kernels::copy(8, 2), "x86_64-linux");
    assert_eq!(count(&x86, &["vmovups"]), 8, "{x86:#?}");
    assert_eq!(x86.len(), 8 + 3, "{x86:#?}");
    let arm = hot_loop(&kernels::copy(8, 2), "aarch64-linux");
    assert_eq!(
        (count(&arm, &["ldr"]), count(&arm, &["str"])),
        (4, 4),
        "{arm:#?}"
    );
    // Two addresses, the counter, the comparison, the branch.
    assert_eq!(arm.len(), 8 + 5, "{arm:#?}");
}

#[test]
fn an_unrolled_sum_of_squares_moves_nothing() {
    let x86 = hot_loop(&kernels::sum_of_squares(8, 2, 2), "x86_64-linux");
    assert_eq!(count(&x86, &["vfmadd213ps"]), 8, "{x86:#?}");
    assert_eq!(x86.len(), 8 + 8 + 3, "{x86:#?}");
    let arm = hot_loop(&kernels::sum_of_squares(8, 2, 2), "aarch64-linux");
    assert_eq!(count(&arm, &["fmla"]), 8, "{arm:#?}");
    assert_eq!(arm.len(), 8 + 8 + 4, "{arm:#?}");
}

#[test]
fn a_maximum_takes_five_instructions_on_x86_and_one_on_aarch64() {
    let x86 = hot_loop(&kernels::maximum(8, 2), "x86_64-linux");
    assert_eq!(count(&x86, &["vmaxps"]), 8, "{x86:#?}");
    assert_eq!(x86.len(), 4 + 4 * 5 + 3, "{x86:#?}");
    let arm = hot_loop(&kernels::maximum(8, 2), "aarch64-linux");
    assert_eq!(count(&arm, &["fmax"]), 4, "{arm:#?}");
    assert_eq!(arm.len(), 4 + 4 + 4, "{arm:#?}");
}

#[test]
fn masks_of_signs_are_made_outside() {
    let x86 = hot_loop(&kernels::scale(8, 2), "x86_64-linux");
    // Load and magnitude, sign, quotient, store.
    assert_eq!(x86.len(), 4 * 4 + 3, "{x86:#?}");
    let arm = hot_loop(&kernels::scale(8, 2), "aarch64-linux");
    assert_eq!(arm.len(), 4 * 5 + 5, "{arm:#?}");
}
