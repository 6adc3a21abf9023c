//! Our arm: the fastest of a declared list of plans.

use std::hint::black_box;

use native_entry::Memory;
use tilewright::prelude::*;

use super::PeerError;
use super::arm::{Arm, pause_after};
use super::case::{EPS, Kernel};
use super::workbench::Workbench;
use crate::{Protocol, visit_briefly};

/// Pins that are tried, a row an axis of the plan; every combination is compiled, and those that give the same program as
/// an earlier one are left out.
const PINS: [&[&str]; 4] = [
    &["width=4", "width=8", "width=16"],
    &["partials=1", "partials=2", "partials=4", "partials=8"],
    &["unroll=1", "unroll=2", "unroll=4"],
    &["reload=guarded", "reload=never"],
];

/// Programs that lie across lanes: worth a try where rows are short.
const ACROSS: [&str; 2] = ["width=4,local=1", "width=8,local=1"];

/// How a vector that is summed is cut into chunks, or how a table is: rows and columns.
pub type Shape = (usize, usize);

/// One way to compile a case's kernel.
pub struct Candidate {
    /// The plan as pins, and what is fused.
    pub plan: String,
    shape: Shape,
    /// The code.
    pub executable: Executable,
}

/// Every candidate of a case. With `quick`, only the planner's own choice and a few around it.
///
/// # Errors
/// Where one can't be compiled.
pub fn candidates(bench: &Workbench, quick: bool) -> Result<Vec<Candidate>, PeerError> {
    let mut list: Vec<(Candidate, String)> = Vec::new();
    for shape in shapes(bench) {
        let kernel = kernel(bench, shape)?;
        for (pins, rules) in requests(quick) {
            let request = Request { pins, rules };
            let translation = tilewright::translate(&kernel, &request, None)?;
            let program = translation.program.to_string();
            if list
                .iter()
                .any(|(other, text)| other.shape == shape && *text == program)
            {
                continue;
            }
            let executable = tilewright::compile(&kernel, &CompileOptions { request })?;
            let fused = Rule::ALL.iter().any(|&rule| rules.allows(rule));
            let mut plan = executable.realization().plan.to_string();
            if bench.case.kernel == Kernel::Dot || bench.case.kernel == Kernel::SumOfSquares {
                plan = format!("{} chunks of {}: {plan}", shape.0, shape.1);
            }
            if fused && !plan.contains("fuse=") {
                // Nothing was there to fuse: the unfused plan is in the list already, but for its name.
                continue;
            }
            list.push((
                Candidate {
                    plan,
                    shape,
                    executable,
                },
                program,
            ));
        }
    }
    Ok(list.into_iter().map(|(candidate, _)| candidate).collect())
}

fn requests(quick: bool) -> Vec<(Pins, Rules)> {
    let mut texts = vec![String::new()];
    if quick {
        texts.extend(
            [
                "width=8,partials=4,unroll=2",
                "width=16,partials=2,unroll=1",
            ]
            .map(String::from),
        );
    } else {
        let mut products = vec![String::new()];
        for axis in PINS {
            products = products
                .iter()
                .flat_map(|so_far| {
                    axis.iter().map(move |pin| {
                        if so_far.is_empty() {
                            (*pin).to_owned()
                        } else {
                            format!("{so_far},{pin}")
                        }
                    })
                })
                .collect();
        }
        texts.extend(products);
        texts.extend(ACROSS.map(String::from));
    }
    let fused = Rules::resolve(&Rule::ALL, &[]);
    texts
        .iter()
        .filter_map(|text| text.parse::<Pins>().ok())
        .flat_map(|pins| [(pins, Rules::default()), (pins, fused)])
        .collect()
}

/// How a case's array may be cut. One sum over a long vector is cut into chunks that are programs of their own.
fn shapes(bench: &Workbench) -> Vec<Shape> {
    let count = bench.case.elements();
    match bench.case.kernel {
        Kernel::Dot | Kernel::SumOfSquares => [4096, 16384, 65536]
            .into_iter()
            .filter(|&chunk| count.is_multiple_of(chunk))
            .map(|chunk| (count / chunk, chunk))
            .collect(),
        _ => vec![(bench.case.rows, bench.case.cols)],
    }
}

fn kernel(bench: &Workbench, (rows, cols): Shape) -> Result<Verified, PeerError> {
    let (rows, cols) = (rows as u32, cols as u32);
    let kernel = bench.case.kernel;
    let library = match kernel {
        Kernel::CrossEntropy => {
            let text = include_str!("../../tile/cross_entropy_mean.tile");
            tilewright::parse(text).map_err(tilewright::Error::Kernel)?
        }
        _ => kernels::find(kernel.name())
            .unwrap_or_else(|| panic!("the library holds every compared kernel: {}", kernel.name()))
            .kernel(),
    };
    let extents: &[(&str, u32)] = match kernel {
        Kernel::Dot | Kernel::SumOfSquares => &[("chunk", rows), ("col", cols)],
        Kernel::MeanSquaredError | Kernel::CrossEntropy => &[("row", rows), ("col", cols)],
        Kernel::RopeHalf => &[("dim", cols), ("half", cols / 2)],
        _ => &[("col", cols)],
    };
    Ok(tilewright::specialize(&library, extents)?)
}

/// Our arm on a case with one candidate.
///
/// # Errors
/// Where its arguments don't fit.
pub fn ours<'b>(bench: &'b Workbench, candidate: &Candidate) -> Result<Arm<'b>, PeerError> {
    let (rows, cols) = candidate.shape;
    let table: &[usize] = &[rows, cols];
    let row: &[usize] = &[cols];
    let half: &[usize] = &[rows, cols / 2];
    let inputs: Vec<(&str, ElementType, &[usize])> = match bench.case.kernel {
        Kernel::RmsNorm | Kernel::RmsNormRsqrt => vec![("x", F32, table), ("w", F32, row)],
        Kernel::LayerNorm => vec![("x", F32, table), ("w", F32, row), ("b", F32, row)],
        Kernel::SoftmaxAdditiveMask => vec![("x", F32, table), ("mask", F32, table)],
        Kernel::SoftmaxMasked => vec![("x", F32, table), ("live", ElementType::Bool, table)],
        Kernel::Swiglu => vec![("g", F32, table), ("u", F32, table)],
        Kernel::GeluTanhResidual | Kernel::GeluErfResidual => {
            vec![("x", F32, table), ("residual", F32, table)]
        }
        Kernel::RopeHalf => vec![
            ("x", F32, table),
            ("cosine", F32, half),
            ("sine", F32, half),
        ],
        Kernel::Dot | Kernel::MeanSquaredError => vec![("x", F32, table), ("y", F32, table)],
        Kernel::SumOfSquares => vec![("x", F32, table)],
        Kernel::CrossEntropy => vec![("x", F32, table), ("target", ElementType::I32, &table[..1])],
    };
    let mut arguments: Vec<(String, Argument<'b>)> = Vec::new();
    for (memory, (name, element, shape)) in bench.inputs.iter().zip(inputs) {
        // SAFETY: the memory holds an array of this shape, lives as long as the bench, and no arm writes it.
        let view = unsafe { View::from_raw(memory.pointer(), element, shape, &row_major(shape))? };
        arguments.push((name.to_owned(), view.into()));
    }
    let is_total = bench.case.kernel.is_total();
    let part = is_total.then(|| Memory::zeroed(4 * rows, 7));
    if let Some(part) = &part {
        // SAFETY: the memory holds this many numbers, and the work below keeps it.
        let view = unsafe { View::from_raw_mut(part.pointer(), F32, &[rows], &[1])? };
        arguments.push(("part".to_owned(), view.into()));
    }
    let (name, shape): (&str, &[usize]) = if is_total {
        ("total", &[])
    } else {
        ("y", table)
    };
    // SAFETY: the memory holds an array of this shape and lives as long as the bench; arms run one after the other.
    let view =
        unsafe { View::from_raw_mut(bench.output.pointer(), F32, shape, &row_major(shape))? };
    arguments.push((name.to_owned(), view.into()));
    if matches!(
        bench.case.kernel,
        Kernel::RmsNorm | Kernel::RmsNormRsqrt | Kernel::LayerNorm
    ) {
        arguments.push(("eps".to_owned(), f64::from(EPS).into()));
    }
    let mut bound = candidate.executable.bind(arguments)?;
    let work = Box::new(move || {
        black_box(&part);
        bound.launch();
    });
    Ok(bench.arm("ours", candidate.plan.clone(), work))
}

const F32: ElementType = ElementType::F32;

fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim] as i64;
    }
    strides
}

/// The fastest candidate: all are visited once for a moment, then the best few are compared by the protocol.
///
/// # Errors
/// Where the arguments of one don't fit.
pub fn fastest<'c>(
    bench: &Workbench,
    candidates: &'c [Candidate],
    protocol: &Protocol,
) -> Result<Option<&'c Candidate>, PeerError> {
    let glance = Protocol {
        warm_up: protocol.sample / 4,
        samples: 3,
        sample: protocol.sample / 4,
        rounds: 1,
    };
    let mut seen = Vec::new();
    for candidate in candidates {
        let mut arm = ours(bench, candidate)?;
        let start = std::time::Instant::now();
        seen.push((visit_briefly(&glance, &mut arm.work).least(), candidate));
        pause_after(start.elapsed());
    }
    seen.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    seen.truncate(4);
    let mut arms = Vec::new();
    for (_, candidate) in &seen {
        arms.push(ours(bench, candidate)?);
    }
    let contest = Protocol {
        rounds: 4,
        ..*protocol
    };
    let timed = bench.time(&contest, &mut arms);
    let best = timed
        .iter()
        .zip(&seen)
        .min_by(|(one, _), (other, _)| one.median().total_cmp(&other.median()));
    Ok(best.map(|(_, (_, candidate))| *candidate))
}
