//! Random kernels: what `admit` certifies `check` accepts, and the fusion can't be told from the plain meaning, whatever
//! views share memory in whatever way.
//!
//! `LAWS=100000 cargo test -p fusion-legality --release random` runs as many kernels as it says; 2000 by default.

use fusion_legality::{Certificate, Later, admit, check};
use reference::{
    Argument, Arguments, Fusion, InterpretError, Memory, Options, Place, Traversal,
    interpret_with_hook,
};
use tile_ir::generate::{Choices, Flavour, extents, kernel};
use tile_ir::{Kernel, ParamKind, Stride, Verified};

/// Programs run away when loop bounds come out of memory; those are left out.
const FUEL: u64 = 1 << 19;

fn count() -> u64 {
    std::env::var("LAWS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(2000)
}

fn random_kernel(seed: u64) -> Verified {
    let mut choices = Choices::from_seed(seed);
    let flavour = Flavour {
        size: 4 + choices.below(40),
        opaque: choices.chance(20),
        stages: choices.chance(50),
        ..Flavour::default()
    };
    let kernel = kernel(&mut choices, flavour);
    let needed = kernel.open_axes();
    let mut fixed = extents(&mut choices, &kernel);
    fixed.retain(|(axis, _)| needed.contains(axis));
    kernel
        .specialize(&fixed)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// Arguments that put every view somewhere into one buffer: overlaps are the rule, not the exception.
fn arguments(kernel: &Kernel, choices: &mut Choices) -> Arguments {
    let extents: Vec<_> = kernel
        .axes()
        .map(|axis| {
            (
                axis,
                kernel
                    .axis(axis)
                    .extent
                    .unwrap_or_else(|| 1 + choices.below(3) as u32),
            )
        })
        .collect();
    let params = kernel
        .params()
        .map(|param| match &kernel.param(param).kind {
            ParamKind::Scalar(element) => {
                Argument::Scalar(numerics::casts::cast(numerics::Scalar::F32(0.75), *element))
            }
            ParamKind::View(view) => {
                let shape: Vec<u32> = view
                    .dims
                    .iter()
                    .map(|axis| extents[axis.index()].1)
                    .collect();
                let mut place = Place::dense(0, &shape);
                place.offset = 64 + choices.below(6) as i64;
                for (stride, kind) in place.strides.iter_mut().zip(&view.strides) {
                    if let Stride::Fixed(fixed) = kind {
                        *stride = *fixed;
                    }
                }
                Argument::View(place)
            }
        });
    Arguments {
        params: params.collect(),
        extents: extents.clone(),
    }
}

/// How many f32 the longest view reaches over, and a few more; f64 takes two.
fn elements_needed(kernel: &Kernel, arguments: &Arguments) -> usize {
    let reach = |argument: &Argument| match argument {
        Argument::Scalar(_) => 0,
        Argument::View(place) => {
            let last = place.shape.iter().zip(&place.strides);
            let last: i64 = last
                .map(|(&extent, &stride)| (i64::from(extent) - 1).max(0) * stride)
                .sum();
            2 * (place.offset + last + 1)
        }
    };
    debug_assert_eq!(kernel.params().len(), arguments.params.len());
    arguments
        .params
        .iter()
        .map(reach)
        .max()
        .unwrap_or(0)
        .max(64) as usize
}

fn run(
    kernel: &Verified,
    arguments: &Arguments,
    fusions: &[Fusion],
    traversal: Traversal,
    fuel: u64,
) -> Result<Memory, InterpretError> {
    let mut memory = Memory::new();
    memory.add_f32(
        &(0..elements_needed(kernel, arguments))
            .map(|index| 0.25 * (index * 7 % 41) as f32 - 3.0)
            .collect::<Vec<_>>(),
    );
    let options = Options {
        fusions,
        traversal,
        fuel,
        ..Options::default()
    };
    let mut disturb = |_: u32, _: u64, memory: &mut Memory| {
        let changed: Vec<u8> = memory
            .f32s(0)
            .iter()
            .flat_map(|element| (element * 0.5 + 1.0).to_le_bytes())
            .collect();
        if let Some(bytes) = memory.bytes_mut(0) {
            *bytes = changed;
        }
    };
    interpret_with_hook(kernel, &mut memory, arguments, &options, &mut disturb)?;
    Ok(memory)
}

fn fusion_of(certificate: &Certificate) -> Fusion {
    Fusion {
        subject: certificate.value,
        reduction: certificate.reduction,
        save: matches!(certificate.later, Later::SaveSnapshot(_)),
    }
}

#[test]
fn random_kernels_hide_their_fusions() {
    let (mut admitted, mut compared) = (0u64, 0u64);
    for seed in 0..count() {
        let kernel = random_kernel(seed);
        let admission = admit(&kernel);
        let certificates: Vec<&Certificate> = admission
            .candidates()
            .iter()
            .filter_map(|candidate| candidate.certificate())
            .collect();
        for certificate in &certificates {
            check(&kernel, certificate).unwrap_or_else(|objection| {
                panic!("seed {seed}: {objection}\n{}", tile_ir::print(&kernel))
            });
        }
        admitted += certificates.len() as u64;
        if certificates.is_empty() {
            continue;
        }
        let arguments = arguments(&kernel, &mut Choices::from_seed(!seed));
        let plain = match run(&kernel, &arguments, &[], Traversal::RowMajor, FUEL) {
            Ok(plain) => plain,
            Err(InterpretError::OutOfFuel) => continue,
            Err(error) => panic!("seed {seed}: {error}\n{}", tile_ir::print(&kernel)),
        };
        let all: Vec<Fusion> = certificates
            .iter()
            .map(|certificate| fusion_of(certificate))
            .collect();
        let each = all.iter().map(std::slice::from_ref);
        for fusions in each.chain([all.as_slice()]) {
            for traversal in [Traversal::RowMajor, Traversal::Reversed] {
                // A recipe may be evaluated more than once where it is read, so a fused run may take more steps.
                let fused = run(&kernel, &arguments, fusions, traversal, 64 * FUEL);
                let fused = fused.unwrap_or_else(|error| {
                    panic!(
                        "seed {seed}, {fusions:?}: {error}\n{}",
                        tile_ir::print(&kernel)
                    )
                });
                assert!(
                    fused == plain,
                    "seed {seed}: {fusions:?} shows\n{}",
                    tile_ir::print(&kernel)
                );
                compared += 1;
            }
        }
    }
    // About nine candidates in a hundred kernels are admitted.
    assert!(
        admitted * 20 > count() && compared > admitted,
        "{admitted} admitted, {compared} compared"
    );
}
