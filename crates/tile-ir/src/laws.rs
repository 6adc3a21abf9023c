//! The laws of this crate as properties of random kernels.

use std::collections::BTreeSet;

use quickcheck::{Gen, QuickCheck, TestResult};

use crate::access::{accesses, may_share, program_private};
use crate::generate::{AnyKernel, Choices, Flavour, extents, kernel, shrink};
use crate::kernel::{Dim, Kernel};
use crate::ops::{OpKind, Policy, ReduceForm, Subscript};
use crate::{format_text, parse, parse_verified, print, verify};

/// Cases of each property; more with `TILE_IR_CASES`.
fn cases() -> u64 {
    std::env::var("TILE_IR_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300)
}

fn check(property: fn(AnyKernel) -> TestResult) {
    QuickCheck::new()
        .rng(Gen::new(20))
        .tests(cases())
        .quickcheck(property);
}

/// Law **text**.
#[test]
fn text() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        let printed = print(&kernel);
        let again = parse(&printed).unwrap_or_else(|found| panic!("{found}\n{printed}"));
        assert_eq!(again, *kernel, "{printed}");
        assert_eq!(print(&again), printed);
        TestResult::passed()
    }
    check(holds);
}

#[test]
fn formatting_settles_and_changes_no_meaning() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        let printed = print(&kernel);
        let formatted = format_text(&printed).unwrap_or_else(|found| panic!("{found}\n{printed}"));
        assert_eq!(formatted, printed, "the printer's style is the formatter's");
        let one_line = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        let formatted =
            format_text(&one_line).unwrap_or_else(|found| panic!("{found}\n{one_line}"));
        assert_eq!(format_text(&formatted).as_ref(), Ok(&formatted));
        assert_eq!(parse(&formatted).as_ref(), Ok(&*kernel));
        TestResult::passed()
    }
    check(holds);
}

/// Law **generator**: what it makes, and what shrinking makes of that, is verified; shrinking ends.
#[test]
fn generator() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        for smaller in shrink(&kernel) {
            assert!(verify((*smaller).clone()).is_ok());
        }
        TestResult::passed()
    }
    check(holds);
    let mut choices = Choices::from_seed(3);
    let mut small = kernel(&mut choices, Flavour::default());
    let mut steps = 0;
    while let Some(next) = shrink(&small).into_iter().next() {
        small = next;
        steps += 1;
        assert!(steps < 10_000);
    }
    assert!(small.ops().len() <= 1, "{}", print(&small));
}

/// Bytes of a fuzzer make kernels too, however few there are.
#[test]
fn bytes_make_kernels() {
    for length in 0..200u32 {
        let bytes: Vec<u8> = (0..length)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let made = kernel(&mut Choices::from_bytes(&bytes), Flavour::default());
        assert_eq!(
            made,
            kernel(&mut Choices::from_bytes(&bytes), Flavour::default())
        );
    }
}

/// A generator that misses an operation proves nothing about it.
#[test]
fn the_generator_reaches_everything() {
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let flavour = Flavour {
            opaque: true,
            size: 16,
            ..Flavour::default()
        };
        let kernel = kernel(&mut Choices::from_seed(seed), flavour);
        for op in kernel.ops() {
            seen.extend(features(&kernel, &kernel.op(op).kind));
        }
        if kernel
            .params()
            .any(|a| kernel.params().any(|b| a != b && may_share(&kernel, a, b)))
        {
            seen.insert("shareable views");
        }
    }
    let wanted = [
        "at",
        "binary",
        "broadcast",
        "cast",
        "closed",
        "compare",
        "const",
        "extent",
        "extract",
        "fma",
        "fold",
        "for",
        "iota",
        "loop without rounds",
        "map",
        "multi-axis",
        "offset window",
        "opaque",
        "open",
        "parallel",
        "permute",
        "reduce",
        "reshape",
        "scalar param",
        "select",
        "several carries",
        "shareable views",
        "stage",
        "step",
        "store",
        "tree",
        "unary",
        "unit domain",
        "unordered",
        "whole",
    ];
    let missing: Vec<&str> = wanted
        .into_iter()
        .filter(|feature| !seen.contains(feature))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn features(kernel: &Kernel, kind: &OpKind) -> Vec<&'static str> {
    let subscripts = |at: &[Subscript]| {
        at.iter()
            .flat_map(|subscript| match subscript {
                Subscript::At(_) => vec!["at"],
                Subscript::Window {
                    origin: Some(_),
                    step,
                    ..
                } => {
                    vec!["offset window", if *step > 1 { "step" } else { "whole" }]
                }
                Subscript::Window { origin: None, .. } => vec!["whole"],
            })
            .collect::<Vec<_>>()
    };
    match kind {
        OpKind::Const(_) => vec!["const"],
        OpKind::Extent(_) => vec!["extent"],
        OpKind::ScalarParam(_) => vec!["scalar param"],
        OpKind::Iota(_) => vec!["iota"],
        OpKind::Unary(..) => vec!["unary"],
        OpKind::Binary(..) => vec!["binary"],
        OpKind::Compare(..) => vec!["compare"],
        OpKind::Select { .. } => vec!["select"],
        OpKind::Fma(..) => vec!["fma"],
        OpKind::Cast(..) => vec!["cast"],
        OpKind::Broadcast(..) => vec!["broadcast"],
        OpKind::Reshape(..) => vec!["reshape"],
        OpKind::Permute(..) => vec!["permute"],
        OpKind::Map { .. } => vec!["map"],
        OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            ..
        } => {
            let mut list = vec!["reduce"];
            list.push(match policy {
                Policy::Unordered => "unordered",
                Policy::Tree => "tree",
                Policy::Fold => "fold",
            });
            list.push(match form {
                ReduceForm::Closed(_) => "closed",
                ReduceForm::Open => "open",
            });
            if dims.contains(&Dim::Unit) {
                list.push("unit domain");
            }
            if dims.len() > 1 {
                list.push("multi-axis");
            }
            if inits.len() > 1 {
                list.push("several carries");
            }
            list
        }
        OpKind::Extract { .. } => vec!["extract"],
        OpKind::For { lower, upper, .. } => {
            let constant = |value| {
                kernel
                    .defining_op(value)
                    .map(|op| kernel.op(op).kind.clone())
            };
            if constant(*lower) == constant(*upper) {
                vec!["for", "loop without rounds"]
            } else {
                vec!["for"]
            }
        }
        OpKind::Parallel { .. } => vec!["parallel"],
        OpKind::Load { at, .. } => subscripts(at),
        OpKind::Store { at, .. } => [vec!["store"], subscripts(at)].concat(),
        OpKind::Stage => vec!["stage"],
        OpKind::Opaque { .. } => vec!["opaque"],
    }
}

/// Knowing more extents never breaks a rule, and a kernel whose open axes are fixed has none left.
#[test]
fn specialising_keeps_every_rule() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        let mut choices = Choices::from_seed(kernel.ops().len() as u64);
        let fixed: Vec<_> = extents(&mut choices, &kernel)
            .into_iter()
            .filter(|&(_, extent)| extent > 0)
            .collect();
        let special = kernel.specialize(&fixed).expect("the extents are in range");
        assert!(special.open_axes().is_empty());
        assert!(verify((*special).clone()).is_ok());
        assert_eq!(
            print(&special),
            print(&verify((*special).clone()).expect("it is verified"))
        );
        TestResult::passed()
    }
    check(holds);
}

/// A parameter that is private shares with itself; what is written is private where the generator wrote it.
#[test]
fn privacy_is_symmetric() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        for a in kernel.params() {
            for b in kernel.params() {
                assert_eq!(may_share(&kernel, a, b), may_share(&kernel, b, a));
            }
            let touched = accesses(&kernel).iter().any(|access| access.view == a);
            if let Some(privacy) = program_private(&kernel, a) {
                assert_eq!(privacy.stages.is_empty(), !touched);
            }
        }
        TestResult::passed()
    }
    check(holds);
}

/// Texts of random kernels with a few words changed: refused or accepted, never anything else.
#[test]
fn mutated_kernels_are_judged() {
    fn holds(AnyKernel(kernel): AnyKernel) -> TestResult {
        let printed = print(&kernel);
        let mut choices = Choices::from_seed(printed.len() as u64);
        let words: Vec<&str> = printed.split(' ').collect();
        for _ in 0..8 {
            let mut changed = words.clone();
            let (from, to) = (choices.below(words.len()), choices.below(words.len()));
            match choices.below(3) {
                0 => changed[to] = words[from],
                1 => changed.swap(from, to),
                _ => {
                    changed.remove(to);
                }
            }
            let text = changed.join(" ");
            if let Ok(accepted) = parse_verified(&text) {
                assert_eq!(parse(&print(&accepted)).as_ref(), Ok(&*accepted), "{text}");
            }
        }
        TestResult::passed()
    }
    check(holds);
}
