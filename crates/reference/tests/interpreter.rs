//! The interpreter on kernels small enough to be done by hand.

use numerics::{ElementType, Scalar, TreeShape};
use reference::{
    Argument, ArgumentError, Arguments, InterpretError, Memory, Options, Place, interpret,
    interpret_with_hook, oracle,
};
use tile_ir::Verified;

fn kernel(text: &str) -> Verified {
    let kernel = tile_ir::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    tile_ir::verify(kernel).unwrap_or_else(|rejected| panic!("{rejected}"))
}

fn view(buffer: usize, shape: &[u32]) -> Argument {
    Argument::View(Place::dense(buffer, shape))
}

fn arguments(params: Vec<Argument>) -> Arguments {
    Arguments {
        params,
        extents: Vec::new(),
    }
}

/// Runs a kernel on views that lie densely in buffers of their own; gives the last buffer.
fn run(text: &str, views: &[(&[f32], &[u32])]) -> Vec<f32> {
    let mut memory = Memory::new();
    let params = views
        .iter()
        .map(|(values, shape)| view(memory.add_f32(values), shape))
        .collect();
    interpret(
        &kernel(text),
        &mut memory,
        &arguments(params),
        &Options::default(),
    )
    .expect("runs");
    memory.f32s(views.len() - 1)
}

const RMSNORM: &str = "
kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
where col = 4 {
  parallel r: row {
    let xs = load x[r, :]
    let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let rms = sqrt(sum / 4.0 + eps)
    let ws = load w[:]
    store y[r, :] = xs / rms * ws
  }
}";

#[test]
fn rmsnorm_by_hand() {
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0, -1.0, 1.0, -1.0, 2.0, 2.0, 2.0, 2.0]);
    let w = memory.add_f32(&[1.0, 2.0, 3.0, 4.0]);
    let y = memory.add_f32(&[9.0; 8]);
    let params = vec![
        view(x, &[2, 4]),
        view(w, &[4]),
        view(y, &[2, 4]),
        Argument::Scalar(Scalar::F32(0.0)),
    ];
    interpret(
        &kernel(RMSNORM),
        &mut memory,
        &arguments(params),
        &Options::default(),
    )
    .expect("runs");
    assert_eq!(memory.f32s(y), [1.0, -2.0, 3.0, -4.0, 1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn the_plan_chooses_the_tree_of_an_unordered_sum() {
    let text = "
kernel sums(x: view f32[n], y: mut view f32[]) where n = 4 {
  parallel {
    let xs = load x[:]
    store y[] = sum(xs)
  }
}";
    let sum = |width: u32| {
        let mut memory = Memory::new();
        let x = memory.add_f32(&[1e8, 1.0, -1e8, 1.0]);
        let y = memory.add_f32(&[0.0]);
        let tree_of = |_| TreeShape::new(width, None).expect("a power of two");
        let options = Options {
            tree_of: &tree_of,
            ..Options::default()
        };
        interpret(
            &kernel(text),
            &mut memory,
            &arguments(vec![view(x, &[4]), view(y, &[])]),
            &options,
        )
        .expect("runs");
        memory.f32s(y)[0]
    };
    assert_eq!(sum(1), 1.0);
    assert_eq!(sum(2), 2.0);
}

#[test]
fn a_load_is_a_snapshot() {
    let text = "
kernel snapshot(x: view f32[n], a: mut view f32[n], y: mut view f32[n]) where n = 3 {
  parallel {
    let xs = load x[:]
    store a[:] = 7.0
    store y[:] = xs
  }
}";
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0, 2.0, 3.0]);
    let y = memory.add_f32(&[0.0; 3]);
    let params = vec![view(x, &[3]), view(x, &[3]), view(y, &[3])];
    interpret(
        &kernel(text),
        &mut memory,
        &arguments(params),
        &Options::default(),
    )
    .expect("runs");
    assert_eq!(memory.f32s(x), [7.0; 3]);
    assert_eq!(memory.f32s(y), [1.0, 2.0, 3.0]);
}

#[test]
fn every_program_reaches_a_stage_before_any_goes_on() {
    let text = "
kernel rotate(x: view f32[n], t: mut view f32[n], u: view f32[n], y: mut view f32[n]) where n = 3 {
  parallel i: n {
    let a = load x[i]
    store t[i] = a + 10.0
    stage
    let b = load u[2 - i]
    store y[i] = b - a
  }
}";
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0, 2.0, 3.0]);
    let t = memory.add_f32(&[0.0; 3]);
    let y = memory.add_f32(&[0.0; 3]);
    let params = vec![view(x, &[3]), view(t, &[3]), view(t, &[3]), view(y, &[3])];
    interpret(
        &kernel(text),
        &mut memory,
        &arguments(params),
        &Options::default(),
    )
    .expect("runs");
    assert_eq!(memory.f32s(y), [12.0, 10.0, 8.0]);
}

#[test]
fn windows_fill_outside_and_stores_stay_inside() {
    let text = "
kernel windows(x: view f32[n] fill -1.0, y: mut view f32[w]) where n = 3, w = 5 {
  parallel {
    let xs = load x[-1 : w]
    store y[2 : w] = xs
  }
}";
    assert_eq!(
        run(text, &[(&[1.0, 2.0, 3.0], &[3]), (&[0.0; 5], &[5])]),
        [0.0, 0.0, -1.0, 1.0, 2.0]
    );
}

#[test]
fn loops_carry_values_and_may_have_no_trips() {
    let text = "
kernel loops(n: i32, y: mut view f32[k]) where k = 2 {
  parallel {
    let last = for i in 0 .. n carry (p = 1.0) { yield p * 3.0 }
    store y[:] = last
  }
}";
    for (trips, expected) in [(-3, 1.0), (0, 1.0), (1, 3.0), (4, 81.0)] {
        let mut memory = Memory::new();
        let y = memory.add_f32(&[0.0; 2]);
        let params = vec![Argument::Scalar(Scalar::I32(trips)), view(y, &[2])];
        interpret(
            &kernel(text),
            &mut memory,
            &arguments(params),
            &Options::default(),
        )
        .expect("runs");
        assert_eq!(memory.f32s(y), [expected; 2]);
    }
}

#[test]
fn endless_loops_run_out_of_fuel() {
    let text = "
kernel endless(y: mut view f32[]) {
  parallel {
    let last = for i in 0 .. 2147483647 carry (p = 1.0) { yield p + 1.0 }
    store y[] = last
  }
}";
    let mut memory = Memory::new();
    let y = memory.add_f32(&[0.0]);
    let options = Options {
        fuel: 10_000,
        ..Options::default()
    };
    let outcome = interpret(
        &kernel(text),
        &mut memory,
        &arguments(vec![view(y, &[])]),
        &options,
    );
    assert_eq!(outcome, Err(InterpretError::OutOfFuel));
}

#[test]
fn hooks_see_and_change_memory() {
    let text = "
kernel hooked(x: view f32[n], y: mut view f32[n]) {
  parallel i: n {
    let a = load x[i]
    opaque 3
    let b = load x[i]
    store y[i] = b - a
  }
}";
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0, 2.0]);
    let y = memory.add_f32(&[0.0; 2]);
    let mut calls = Vec::new();
    let mut hook = |id: u32, program: u64, memory: &mut Memory| {
        calls.push((id, program));
        memory.write(x, program as i64, ElementType::F32, Scalar::F32(50.0));
    };
    let arguments = arguments(vec![view(x, &[2]), view(y, &[2])]);
    interpret_with_hook(
        &kernel(text),
        &mut memory,
        &arguments,
        &Options::default(),
        &mut hook,
    )
    .expect("runs");
    assert_eq!(calls, [(3, 0), (3, 1)]);
    assert_eq!(memory.f32s(y), [49.0, 48.0]);
}

#[test]
fn strides_and_offsets_place_a_view() {
    let text = "
kernel copies(x: view f32[row, col] strides [*, *], y: mut view f32[row, col]) where col = 2 {
  parallel r: row {
    let xs = load x[r, :]
    store y[r, :] = xs
  }
}";
    let mut memory = Memory::new();
    let x = memory.add_f32(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let y = memory.add_f32(&[0.0; 4]);
    let place = Place {
        buffer: x,
        offset: 7,
        shape: vec![2, 2],
        strides: vec![-1, -3],
    };
    interpret(
        &kernel(text),
        &mut memory,
        &arguments(vec![Argument::View(place), view(y, &[2, 2])]),
        &Options::default(),
    )
    .expect("runs");
    assert_eq!(memory.f32s(y), [7.0, 4.0, 6.0, 3.0]);
}

#[test]
fn a_view_beyond_its_buffer_is_a_stray_access() {
    let mut memory = Memory::new();
    let x = memory.add_f32(&[1.0; 7]);
    let w = memory.add_f32(&[1.0; 4]);
    let y = memory.add_f32(&[0.0; 8]);
    let params = vec![
        view(x, &[2, 4]),
        view(w, &[4]),
        view(y, &[2, 4]),
        Argument::Scalar(Scalar::F32(0.0)),
    ];
    let outcome = interpret(
        &kernel(RMSNORM),
        &mut memory,
        &arguments(params),
        &Options::default(),
    );
    assert!(
        matches!(outcome, Err(InterpretError::StrayAccess { param, element: 7, .. }) if param == "x")
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_anything_runs() {
    let kernel = kernel(RMSNORM);
    let mut memory = Memory::new();
    let b = memory.add_f32(&[1.0; 8]);
    let eps = Argument::Scalar(Scalar::F32(0.0));
    let good = vec![
        view(b, &[2, 4]),
        view(b, &[4]),
        view(b, &[2, 4]),
        eps.clone(),
    ];
    let mut with = |index: usize, argument: Argument| {
        let mut params = good.clone();
        params[index] = argument;
        match interpret(
            &kernel,
            &mut memory,
            &arguments(params),
            &Options::default(),
        ) {
            Err(InterpretError::Arguments(error)) => error,
            other => panic!("not refused: {other:?}"),
        }
    };
    assert!(matches!(with(0, eps.clone()), ArgumentError::Kind { .. }));
    assert!(matches!(
        with(3, Argument::Scalar(Scalar::I32(1))),
        ArgumentError::Kind { .. }
    ));
    assert!(matches!(
        with(2, view(b, &[3, 4])),
        ArgumentError::Extent {
            before: 2,
            found: 3,
            ..
        }
    ));
    assert!(matches!(
        with(1, view(b, &[8])),
        ArgumentError::Extent {
            before: 4,
            found: 8,
            ..
        }
    ));
    assert!(matches!(
        with(1, view(b, &[2, 4])),
        ArgumentError::Rank {
            expected: 1,
            shape: 2,
            ..
        }
    ));
    let strided = Place {
        buffer: b,
        offset: 0,
        shape: vec![4],
        strides: vec![2],
    };
    assert!(matches!(
        with(1, Argument::View(strided)),
        ArgumentError::FixedStride {
            expected: 1,
            found: 2,
            ..
        }
    ));
    assert!(memory.f32s(b).iter().all(|&value| value == 1.0));
    let outcome = interpret(
        &kernel,
        &mut memory,
        &arguments(good[..3].to_vec()),
        &Options::default(),
    );
    assert_eq!(
        outcome,
        Err(InterpretError::Arguments(ArgumentError::Count {
            expected: 4,
            found: 3
        }))
    );
}

#[test]
fn the_oracle_does_not_round_to_f32() {
    let text = "
kernel third(x: view f32[n], y: mut view f32[n]) where n = 2 {
  parallel {
    let xs = load x[:]
    store y[:] = (xs + 1.0) - xs
  }
}";
    let values = [1e9, 3.0];
    assert_eq!(run(text, &[(&values, &[2]), (&[0.0; 2], &[2])]), [0.0, 1.0]);
    let mut buffers = [values.map(f64::from).to_vec(), vec![0.0; 2]];
    oracle(
        &kernel(text),
        &mut buffers,
        &arguments(vec![view(0, &[2]), view(1, &[2])]),
    )
    .expect("runs");
    assert_eq!(buffers[1], [1.0, 1.0]);
}
