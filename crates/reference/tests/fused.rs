//! The fused mode: legal fusions change nothing, and each way to be illegal shows.

use reference::{
    Argument, Arguments, Fusion, InterpretError, Memory, Options, Place, Traversal, interpret,
};
use tile_ir::{Op, Value, Verified};

fn kernel(text: &str) -> Verified {
    let kernel = tile_ir::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    tile_ir::verify(kernel).unwrap_or_else(|rejected| panic!("{rejected}"))
}

fn named(kernel: &Verified, name: &str) -> Value {
    kernel
        .values()
        .find(|&value| kernel.value(value).name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("no value named {name}"))
}

fn defining(kernel: &Verified, name: &str) -> Op {
    kernel
        .defining_op(named(kernel, name))
        .unwrap_or_else(|| panic!("{name} is an argument"))
}

/// Runs the body of a kernel over `x`, which is four numbers, `a` (the same memory, mutable), `y` and `z` (four numbers
/// each), with and without `xs` fused into the reduction that gives `s`.
fn outcomes(
    body: &str,
    save: bool,
) -> (
    Result<Memory, InterpretError>,
    Vec<Result<Memory, InterpretError>>,
) {
    let text = format!(
        "kernel k(x: view f32[n], a: mut view f32[n], y: mut view f32[n], z: mut view f32[n]) where n = 4, m = 4, two = 2 {{
  parallel {{
{body}
  }}
}}"
    );
    let kernel = kernel(&text);
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0, 2.0, 3.0, 4.0]);
    let y = memory.add_f32(&[0.0; 4]);
    let z = memory.add_f32(&[0.0; 4]);
    let view = |buffer| Argument::View(Place::dense(buffer, &[4]));
    let arguments = Arguments {
        params: vec![view(x), view(x), view(y), view(z)],
        extents: Vec::new(),
    };
    let fusions = [Fusion {
        subject: named(&kernel, "xs"),
        reduction: defining(&kernel, "s"),
        save,
    }];
    let run = |options: &Options<'_>| {
        let mut memory = memory.clone();
        interpret(&kernel, &mut memory, &arguments, options).map(|()| memory)
    };
    let plain = run(&Options::default());
    let fused = [Traversal::RowMajor, Traversal::Reversed].map(|traversal| {
        run(&Options {
            fusions: &fusions,
            traversal,
            ..Options::default()
        })
    });
    (plain, fused.to_vec())
}

#[track_caller]
fn same(body: &str, save: bool) {
    let (plain, fused) = outcomes(body, save);
    let plain = plain.expect("runs");
    for outcome in fused {
        assert_eq!(outcome.as_ref(), Ok(&plain), "{body}");
    }
}

#[track_caller]
fn fails(body: &str, save: bool, matches: fn(&InterpretError) -> bool) {
    let (plain, fused) = outcomes(body, save);
    assert!(plain.is_ok());
    for outcome in fused {
        assert!(
            matches!(&outcome, Err(error) if matches(error)),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_sum_reads_what_the_load_would_have_read() {
    same("let xs = load x[:]\nlet s = sum(xs)\nstore y[:] = s", false);
    same(
        "let xs = load x[:]\nlet s = sum(xs)\nstore y[:] = xs / s",
        true,
    );
    same(
        "let xs = load x[1 : n]\nlet s = sum(xs, tree)\nstore a[:] = 0.0\nstore y[:] = xs / s",
        true,
    );
}

#[test]
fn recipes_and_unit_maps_are_transparent() {
    same(
        "let xs = load x[:]\nlet q = xs * xs\nlet s = sum(q)\nstore y[:] = s",
        false,
    );
    same(
        "let xs = load x[:]\nlet q = reshape(xs + 1.0, [1, n])\nlet s = sum(q)\nstore y[:] = s",
        false,
    );
    same(
        "let xs = load x[:]\nlet q = map i: n { yield xs[i] * 2.0 }\nlet s = sum(q)\nstore y[:] = xs + s",
        true,
    );
    same(
        "let xs = load x[:]\nlet w = map u: 1 { let s = reduce c: n unordered add from 0.0 { yield xs[c] * xs[c] }\nyield s }\nstore y[:] = w[0]",
        false,
    );
}

#[test]
fn later_recipes_read_the_snapshot() {
    same(
        "let xs = load x[:]\nlet later = xs * 2.0\nlet s = sum(xs)\nstore a[:] = s\nstore y[:] = later",
        true,
    );
}

#[test]
fn a_write_between_is_visible() {
    let (plain, fused) = outcomes(
        "let xs = load x[:]\nstore a[:] = 9.0\nlet s = sum(xs)\nstore y[:] = s",
        false,
    );
    for outcome in fused {
        assert_ne!(outcome, plain);
        assert!(outcome.is_ok());
    }
}

#[test]
fn what_is_not_kept_is_not_there() {
    fails(
        "let xs = load x[:]\nlet s = sum(xs)\nstore y[:] = xs / s",
        false,
        |error| matches!(error, InterpretError::NotKept { element: 0, .. }),
    );
}

#[test]
fn a_reader_before_the_reduction_finds_nothing() {
    fails(
        "let xs = load x[:]\nstore y[:] = xs\nlet s = sum(xs)\nstore z[:] = s",
        true,
        |error| matches!(error, InterpretError::ReadOutsideFusion { .. }),
    );
    // The recipe has two consumers, so making it is the first reader.
    fails(
        "let xs = load x[:]\nlet q = xs * xs\nlet s = sum(q)\nstore y[:] = q / s",
        true,
        |error| matches!(error, InterpretError::ReadOutsideFusion { .. }),
    );
}

#[test]
fn elements_the_reduction_leaves_out_are_missed() {
    fails(
        "let xs = load x[:]\nlet s = reduce c: two unordered add from 0.0 { yield xs[c] }\nstore y[:] = xs / s",
        true,
        |error| matches!(error, InterpretError::ReadOutsideFusion { element: 2, .. }),
    );
}

#[test]
fn an_element_is_read_by_one_contribution() {
    let twice = |error: &InterpretError| matches!(error, InterpretError::ReadTwice { .. });
    fails(
        "let xs = load x[:]\nlet s = reduce c: n unordered add from 0.0 { yield xs[0] }\nstore y[:] = s",
        true,
        twice,
    );
    fails(
        "let xs = load x[:]\nlet s = reduce c: n, d: two unordered add from 0.0 { yield xs[c] }\nstore y[:] = s",
        true,
        twice,
    );
    // A wrapper that runs more than once, a loop, and a reduction of two carries.
    fails(
        "let xs = load x[:]\nlet w = map i: two { let s = reduce c: n unordered add from 0.0 { yield xs[c] }\nyield s }\nstore y[:] = w[0]",
        true,
        twice,
    );
    fails(
        "let xs = load x[:]\nlet t = for i in 0 .. 2 carry (p = 0.0) { let s = sum(xs)\nyield p + s }\nstore y[:] = t",
        true,
        twice,
    );
    fails(
        "let xs = load x[:]\nlet s, t = reduce c: n tree (add from 0.0, max from -inf) { yield xs[c], xs[c] }\nstore y[:] = s + t",
        true,
        twice,
    );
}

#[test]
fn a_fold_shows_the_order_of_its_traversal() {
    let body = "let xs = load x[:]\nlet s = reduce c: n fold add from 0.0 { yield xs[c] * 16777216.0 + 0.1 }\nstore y[:] = s";
    let (plain, fused) = outcomes(body, false);
    assert_eq!(fused[0], plain);
    let open = "let xs = load x[:]\nlet s = reduce c: n fold carry (p = 0.0) { yield p * 0.5 + xs[c] }\nstore y[:] = s";
    let (plain, fused) = outcomes(open, false);
    assert_eq!(fused[0], plain);
    assert_ne!(fused[1], plain);
}

#[test]
fn an_expression_is_saved_while_it_is_summed() {
    // The subject here is the expression: its operand is a snapshot, so a write between changes nothing.
    same(
        "let ys = load x[:]\nlet xs = exp(ys)\nstore a[:] = 5.0\nlet s = sum(xs)\nstore y[:] = xs / s",
        true,
    );
    fails(
        "let ys = load x[:]\nlet xs = exp(ys)\nstore y[:] = xs\nlet s = sum(xs)\nstore z[:] = xs / s",
        true,
        |error| matches!(error, InterpretError::ReadOutsideFusion { .. }),
    );
}
