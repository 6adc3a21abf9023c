//! Lowered programs give the bits the kernel means: interpreted TileIR against interpreted XIR, at every mapping, width and partial count.

use numerics::{ElementType, Scalar, TreeShape};
use planner::{Pins, Request, Rule, Rules, plan_for};
use reference::{Argument, Arguments, Memory, Options, Place, interpret};
use simd_mapping::realize;
use tests::case::RunCase;
use tests::lowered::interpret_lowered;
use tile_ir::{ParamKind, Verified};

/// A number for element `i` of parameter `seed`: small, signed, with zeros of both signs, and exact in every element type.
fn number(seed: u64, i: u64) -> f32 {
    let mut s = (seed * 1_000_003 + i)
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    s ^= s >> 29;
    match s % 23 {
        0 => 0.0,
        1 => -0.0,
        _ => (((s >> 40) % 4096) as f32 - 2048.0) / 512.0,
    }
}

fn bytes_of(element: ElementType, seed: u64, count: u64) -> Vec<u8> {
    (0..count)
        .flat_map(|i| {
            let x = number(seed, i);
            match element {
                ElementType::F32 => x.to_le_bytes().to_vec(),
                ElementType::F64 => f64::from(x).to_le_bytes().to_vec(),
                ElementType::I32 => ((x * 4.0) as i32).to_le_bytes().to_vec(),
                ElementType::Bool => vec![u8::from(x > 0.0)],
                ElementType::F16 => numerics::half_types::f16_from_f32(x).to_le_bytes().to_vec(),
                ElementType::BF16 => numerics::half_types::bf16_from_f32(x)
                    .to_le_bytes()
                    .to_vec(),
            }
        })
        .collect()
}

fn scalar_of(element: ElementType) -> Scalar {
    match element {
        ElementType::F64 => Scalar::F64(1e-3),
        ElementType::I32 => Scalar::I32(2),
        ElementType::Bool => Scalar::Bool(true),
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => Scalar::F32(1e-3),
    }
}

fn set_up(kernel: &Verified, roots: u32) -> RunCase {
    let extent = |axis| kernel.axis(axis).extent.unwrap_or(roots);
    let mut run = RunCase {
        kernel: kernel.clone(),
        memory: Memory::new(),
        arguments: Arguments {
            params: Vec::new(),
            extents: kernel.axes().map(|axis| (axis, extent(axis))).collect(),
        },
        elements: Vec::new(),
        near: Vec::new(),
        fusions: Vec::new(),
        refusal: None,
        interpreter_only: false,
    };
    for param in kernel.params() {
        let argument = match &kernel.param(param).kind {
            ParamKind::View(view) => {
                let shape: Vec<u32> = view.dims.iter().map(|&axis| extent(axis)).collect();
                let count = shape.iter().map(|&n| u64::from(n)).product();
                let bytes = bytes_of(view.element, param.index() as u64 + 1, count);
                run.elements.push(view.element);
                Argument::View(Place::dense(run.memory.add(bytes), &shape))
            }
            ParamKind::Scalar(element) => Argument::Scalar(scalar_of(*element)),
        };
        run.arguments.params.push(argument);
    }
    run
}

/// Compares one kernel at one plan, unoptimised and optimised.
fn agree(kernel: &Verified, request: &Request, roots: u32) {
    let admission = fusion_legality::admit(kernel);
    let plan = plan_for(&admission, request).expect("the pins fit");
    let realization = match realize(admission, &plan) {
        Ok(realization) => realization,
        Err(simd_mapping::Refusal::DivergentLoop { .. }) => return,
        Err(refusal) => panic!("{}: {plan}: {refusal}", kernel.name),
    };
    let trees = realization.trees.clone();
    let one = TreeShape::new(1, None).expect("1 is a power of two");
    let tree_of = |op| trees.get(&op).copied().unwrap_or(one);

    let run = set_up(kernel, roots);
    let mut memory = run.memory.clone();
    interpret(
        kernel,
        &mut memory,
        &run.arguments,
        &Options {
            tree_of: &tree_of,
            ..Options::default()
        },
    )
    .unwrap_or_else(|error| panic!("{}: {error}", kernel.name));

    let program = lowering::lower(&realization);
    let mut optimised = program.clone();
    xir_opt::optimise(&mut optimised, None);
    for (stage, program) in [("lowered", program), ("optimised", optimised)] {
        let text = program.to_string();
        let lowered = interpret_lowered(&run, program)
            .unwrap_or_else(|error| panic!("{}: {plan}: {stage}: {error}\n{text}", kernel.name));
        for (index, element) in run.elements.iter().enumerate() {
            let expected = memory.scalars(index, *element);
            let found = lowered.scalars(index, *element);
            for (i, (a, b)) in expected.iter().zip(&found).enumerate() {
                let where_ = || {
                    format!(
                        "{}: {plan}: {stage}: buffer {index} element {i}: {a} is meant, {b} found",
                        kernel.name
                    )
                };
                assert!(a.same_bits(*b), "{}\n{realization}\n{text}", where_());
            }
        }
    }
}

fn everywhere(text: &str, extents: &[(&str, u32)], roots: &[u32]) {
    let kernel = tile_ir::parse_verified(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let given: Vec<_> = extents
        .iter()
        .filter_map(|&(name, n)| Some((kernel.find_axis(name)?, n)))
        .collect();
    let kernel = kernel.specialize(&given).expect("the extents fit");
    let rules = Rules::resolve(&Rule::ALL, &[]);
    let variants = [
        "partials=1,unroll=1",
        "partials=4,unroll=2,reload=guarded",
        "partials=16,unroll=4,full=shared",
        "full=outlined",
    ];
    // Every width meets every mapping; the other axes take turns, so that a run stays short.
    for (turn, width) in ["2", "4", "8", "16"].into_iter().enumerate() {
        for (half, local) in ["1", width].into_iter().enumerate() {
            for (turn, rest) in [variants[(turn + half) % 4], variants[(turn + 2 + half) % 4]]
                .into_iter()
                .enumerate()
            {
                let pins: Pins = format!("width={width},local={local},{rest}")
                    .parse()
                    .expect("these are pins");
                let roots = roots[turn % roots.len()];
                agree(
                    &kernel,
                    &Request {
                        pins,
                        rules: Rules::default(),
                    },
                    roots,
                );
                agree(&kernel, &Request { pins, rules }, roots);
            }
        }
    }
}

#[test]
fn library_kernels_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/kernels/tile");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the kernels lie there")
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 20);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a kernel is text");
        let sizes: &[u32] = if file.to_string_lossy().contains("softmax") {
            &[1, 7, 33]
        } else {
            &[1, 5, 16, 70]
        };
        for &n in sizes {
            let rotary = file.to_string_lossy().contains("rope");
            let extents = if rotary {
                [("dim", 2 * n), ("half", n)]
            } else {
                [("col", n), ("chunk", 3)]
            };
            let rows = if file.to_string_lossy().contains("mean_squared") {
                vec![("row", 3u32)]
            } else {
                Vec::new()
            };
            let extents: Vec<_> = extents.into_iter().chain(rows).collect();
            everywhere(&text, &extents, &[1, 5]);
        }
    }
}
