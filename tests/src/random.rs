//! Random kernels on random arguments, for the laws.
//!
//! Everything comes from one seed, so a failure is repeated by its seed alone.

use numerics::{ElementType, Scalar};
use reference::{Argument, Arguments, Memory, Place};
use tile_ir::generate::{Choices, Flavour, extents, kernel, shrink};
use tile_ir::{ParamKind, Stride, Verified};

use crate::case::{RunCase, elements};
use crate::corpus::in_parallel;
use crate::inputs::Values;

/// A random kernel with random arguments.
#[must_use]
pub fn random_case(seed: u64, flavour: Flavour) -> RunCase {
    case_of(kernel(&mut Choices::from_seed(seed), flavour), seed)
}

/// A kernel with random arguments: views in buffers of their own, some with rows apart, on plain or special numbers.
#[must_use]
pub fn case_of(kernel: Verified, seed: u64) -> RunCase {
    let mut choices = Choices::from_seed(!seed);
    let extents = extents(&mut choices, &kernel);
    let open = kernel.open_axes();
    let fixed: Vec<_> = extents
        .iter()
        .copied()
        .filter(|(axis, _)| open.contains(axis))
        .collect();
    let kernel = match kernel.specialize(&fixed) {
        Ok(kernel) => kernel,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let mut memory = Memory::new();
    let mut params = Vec::new();
    let mut types = Vec::new();
    for param in kernel.params() {
        params.push(match &kernel.param(param).kind {
            ParamKind::Scalar(element) => Argument::Scalar(scalar(&mut choices, *element)),
            ParamKind::View(view) => {
                let extent = |axis| {
                    let given = extents.iter().find(|(other, _)| *other == axis);
                    kernel
                        .axis(axis)
                        .extent
                        .or(given.map(|&(_, extent)| extent))
                        .unwrap_or(1)
                };
                let shape: Vec<u32> = view.dims.iter().map(|&axis| extent(axis)).collect();
                let place = place(&mut choices, memory.len(), &shape, &view.strides);
                memory.add(filled(&mut choices, &place, view.element));
                types.push(view.element);
                Argument::View(place)
            }
        });
    }
    RunCase {
        kernel,
        memory,
        arguments: Arguments { params, extents },
        elements: types,
        near: Vec::new(),
        fusions: Vec::new(),
        refusal: None,
        interpreter_only: false,
    }
}

fn scalar(choices: &mut Choices, element: ElementType) -> Scalar {
    let small = choices.below(9) as i32 - 2;
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => Scalar::F32(small as f32 * 0.75),
        ElementType::F64 => Scalar::F64(f64::from(small) * 0.75),
        ElementType::I32 => Scalar::I32(small),
        ElementType::Bool => Scalar::Bool(small > 0),
    }
}

/// A dense view, or one with rows apart where the kernel leaves strides open.
fn place(choices: &mut Choices, buffer: usize, shape: &[u32], strides: &[Stride]) -> Place {
    let mut place = Place::dense(buffer, shape);
    let apart = choices.chance(40);
    let mut step = 1;
    for dim in (0..shape.len()).rev() {
        let gap = if apart { choices.below(3) as i64 } else { 0 };
        place.strides[dim] = match strides[dim] {
            Stride::Fixed(fixed) => fixed,
            Stride::Any => step + gap,
        };
        step = place.strides[dim].abs().max(step) * i64::from(shape[dim].max(1));
    }
    place
}

/// The bytes of a buffer whose view is `place`.
fn filled(choices: &mut Choices, place: &Place, element: ElementType) -> Vec<u8> {
    let reach = elements(place).max().map_or(0, |last| last + 1) as usize;
    let mut memory = Memory::new();
    memory.add(vec![0xa5; reach * element.size()]);
    let count = elements(place).count();
    let values = match (choices.below(4), element) {
        (0, _) => Values::Special {
            from: choices.below(26),
        },
        (_, ElementType::I32) => Values::Random {
            seed: choices.below(1 << 20) as u64,
            scale: 12.0,
            offset: 4.0,
        },
        (1, _) => Values::Random {
            seed: choices.below(1 << 20) as u64,
            scale: 20.0,
            offset: 0.0,
        },
        (_, _) => Values::Random {
            seed: choices.below(1 << 20) as u64,
            scale: 1.0,
            offset: 0.0,
        },
    };
    let values = values.take(element, count).unwrap_or_default();
    for (index, value) in elements(place).zip(values) {
        let written = memory.write(0, index, element, value);
        debug_assert!(written.is_some(), "the buffer reaches as far as the view");
    }
    memory.bytes(0).to_vec()
}

/// How many cases a law is held against: `LAWS=10000` says how many, 300 otherwise.
#[must_use]
pub fn law_cases() -> u64 {
    std::env::var("LAWS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300)
}

/// Holds a law against random cases, on all processors; panics inside it count as failures.
///
/// # Panics
/// With the smallest failing kernel that shrinking finds, its seed, and what is wrong.
pub fn hold(flavour: Flavour, law: impl Fn(&RunCase, u64) -> Result<(), String> + Sync) {
    let seeds: Vec<u64> = (0..law_cases()).collect();
    let failures = in_parallel(&seeds, |&seed| {
        let case = random_case(seed, flavour);
        contained(|| law(&case, seed))
            .err()
            .map(|wrong| (seed, case, wrong))
    });
    let Some((seed, mut case, mut wrong)) = failures.into_iter().flatten().next() else {
        return;
    };
    'smaller: loop {
        for kernel in shrink(&case.kernel) {
            let candidate = case_of(kernel, seed);
            if let Err(still) = contained(|| law(&candidate, seed)) {
                (case, wrong) = (candidate, still);
                continue 'smaller;
            }
        }
        break;
    }
    panic!(
        "seed {seed}: {wrong}\n{}\n{:?}",
        tile_ir::print(&case.kernel),
        case.arguments
    );
}

/// Runs a deed and makes an error of a panic.
fn contained(deed: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(deed)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a message")))
    })
}
