//! The laws of docs/laws.md that span the whole compiler, each a property by its name.
//!
//! `LAWS=10000` holds them against more cases than the 300 of an ordinary run. Every failure names its seed.

use numerics::{ElementType, Scalar, TREE, reduce_with_shape};
use reference::{Argument, Arguments, Memory, Place};
use runtime::guarded::Side;
use simd_mapping::{Distribution, Plan};
use tests::case::{RunCase, contents};
use tests::executors::{Compiled, check_plan, compile, expected, same_memory};
use tests::inputs::{Generator, Values};
use tests::native;
use tests::plans::plans;
use tests::random::{hold, law_cases, random_case};
use tile_ir::generate::{Choices, Flavour};
use tile_ir::{Param, Verified};
use xir::Lanes;

/// A case of a kernel text on f32 views and scalars.
struct Setup {
    kernel: Verified,
    memory: Memory,
    params: Vec<Argument>,
}

impl Setup {
    fn new(text: &str) -> Setup {
        let kernel =
            tile_ir::parse_verified(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"));
        Setup {
            kernel,
            memory: Memory::new(),
            params: Vec::new(),
        }
    }

    /// A dense view of its own.
    fn view(mut self, shape: &[u32], values: &Values) -> Setup {
        let count = shape.iter().map(|&extent| extent as usize).product();
        let values = values
            .take(ElementType::F32, count)
            .expect("a generator has enough values");
        let buffer = self.memory.add_scalars(ElementType::F32, values);
        self.params
            .push(Argument::View(Place::dense(buffer, shape)));
        self
    }

    /// A dense view of the first buffer.
    fn again(mut self, shape: &[u32]) -> Setup {
        self.params.push(Argument::View(Place::dense(0, shape)));
        self
    }

    fn scalar(mut self, value: f32) -> Setup {
        self.params.push(Argument::Scalar(Scalar::F32(value)));
        self
    }

    fn case(self) -> RunCase {
        RunCase {
            kernel: self.kernel,
            elements: vec![ElementType::F32; self.memory.len()],
            memory: self.memory,
            arguments: Arguments {
                params: self.params,
                extents: Vec::new(),
            },
            near: Vec::new(),
            fusions: Vec::new(),
            refusal: None,
            interpreter_only: false,
        }
    }
}

fn random(seed: u64) -> Values {
    Values::Random {
        seed,
        scale: 2.0,
        offset: 0.0,
    }
}

fn some_plan(kernel: &Verified, choices: &mut Choices) -> Plan {
    let plans = plans(kernel);
    plans[choices.below(plans.len())].clone()
}

fn run(case: &RunCase, compiled: &Compiled, side: Side) -> Memory {
    native::run(case, &compiled.code, &case.kernel, side)
        .unwrap_or_else(|stopped| panic!("{stopped}"))
}

fn compiled(kernel: &Verified, plan: &Plan) -> Compiled {
    compile(kernel, plan)
        .unwrap_or_else(|error| panic!("{error}"))
        .expect("the kernel has no loops")
}

fn output(case: &RunCase, memory: &Memory, name: &str) -> Vec<f32> {
    let param: Param = case.kernel.find_param(name).expect("a parameter");
    let place = case.place(param).expect("a view");
    contents(memory, place, ElementType::F32)
        .into_iter()
        .map(|value| match value {
            Scalar::F32(value) => value,
            other => panic!("{other:?} is no f32"),
        })
        .collect()
}

/// Interpreted TileIR, interpreted XIR before and after optimisation, and generated code agree on random kernels.
#[test]
fn same_bits() {
    hold(Flavour::default(), |case, seed| {
        let mut choices = Choices::from_seed(seed ^ 0x5a5a);
        for _ in 0..2 {
            check_plan(case, &some_plan(&case.kernel, &mut choices))?;
        }
        Ok(())
    });
}

/// Random statements over two views that may be one: what a load made is what every later use sees.
#[test]
fn snapshot() {
    for seed in 0..law_cases() {
        let mut choices = Choices::from_seed(seed);
        let mut body = String::new();
        let mut tiles = 0;
        let mut sums = 0;
        for _ in 0..4 + choices.below(6) {
            let view = choices.pick(&["a", "b"]);
            match choices.below(4) {
                0 | 1 => {
                    body += &format!("    let t{tiles} = load {view}[r, :]\n");
                    tiles += 1;
                }
                2 if tiles > 0 => {
                    let tile = choices.below(tiles);
                    let policy = choices.pick(&["unordered", "tree", "fold"]);
                    body += &format!(
                        "    let s{sums} = reduce c{sums}: col {policy} add from 0.0 {{ yield t{tile}[c{sums}] }}\n"
                    );
                    sums += 1;
                }
                _ if tiles > 0 => {
                    let tile = choices.below(tiles);
                    let by = if sums > 0 {
                        format!("s{}", choices.below(sums))
                    } else {
                        "0.5".to_owned()
                    };
                    body += &format!("    store {view}[r, :] = t{tile} + {by}\n");
                }
                _ => {}
            }
        }
        for tile in 0..tiles {
            body += &format!("    store z{tile}[r, :] = t{tile}\n");
        }
        let outputs: String = (0..tiles)
            .map(|tile| format!(", z{tile}: mut view f32[row, col]"))
            .collect();
        let col = 1 + choices.below(40) as u32;
        let rows = 1 + choices.below(9) as u32;
        let text = format!(
            "kernel snapshot(a: mut view f32[row, col], b: mut view f32[row, col]{outputs})\nwhere col = {col} {{\n  \
             parallel r: row {{\n{body}  }}\n}}"
        );
        let shape = [rows, col];
        let mut setup = Setup::new(&text).view(&shape, &random(seed));
        setup = if choices.chance(70) {
            setup.again(&shape)
        } else {
            setup.view(&shape, &random(!seed))
        };
        for _ in 0..tiles {
            setup = setup.view(&shape, &Values::Fill(Scalar::F32(0.0)));
        }
        let case = setup.case();
        let plan = some_plan(&case.kernel, &mut choices);
        check_plan(&case, &plan).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{text}"));
    }
}

/// A value with several consumers is one value: the maximum of a tile is an element of it to the bit, and a tile less its
/// own maximum is nowhere above zero. A second evaluation with other roundings would show.
#[test]
fn once() {
    for seed in 0..law_cases() {
        let mut choices = Choices::from_seed(seed);
        let mut expression = "xs".to_owned();
        for _ in 0..1 + choices.below(4) {
            expression = match choices.below(5) {
                0 => format!("({expression} * 1.7 + ws)"),
                1 => format!("({expression} * ws - xs)"),
                2 => format!("exp({expression})"),
                3 => format!("({expression} / 3.3)"),
                _ => format!("fma({expression}, ws, xs)"),
            };
        }
        let policy = choices.pick(&["unordered", "tree"]);
        let col = 1 + choices.below(50) as u32;
        let text = format!(
            "kernel once(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], z: mut view f32[row, col], m: mut view f32[row])
where col = {col} {{
  parallel r: row {{
    let xs = load x[r, :]
    let ws = load w[:]
    let e = {expression}
    let peak = reduce c: col {policy} max from -inf {{ yield e[c] }}
    store m[r] = peak
    store y[r, :] = e
    store z[r, :] = e - peak
  }}
}}"
        );
        let rows = 1 + choices.below(9) as u32;
        let nothing = Values::Fill(Scalar::F32(0.0));
        let case = Setup::new(&text)
            .view(&[rows, col], &random(seed))
            .view(&[col], &random(!seed))
            .view(&[rows, col], &nothing)
            .view(&[rows, col], &nothing)
            .view(&[rows], &nothing)
            .case();
        let plan = some_plan(&case.kernel, &mut choices);
        let memory = run(&case, &compiled(&case.kernel, &plan), Side::End);
        let (y, z, m) = (
            output(&case, &memory, "y"),
            output(&case, &memory, "z"),
            output(&case, &memory, "m"),
        );
        let rows = y.chunks(col as usize).zip(z.chunks(col as usize));
        for (row, ((y, z), &peak)) in rows.zip(&m).enumerate() {
            let place = format!("seed {seed}, row {row}, plan {plan}\n{text}");
            assert!(
                y.iter().any(|value| value.to_bits() == peak.to_bits()),
                "{place}"
            );
            assert!(peak.is_infinite() || z.contains(&0.0), "{place}");
            assert!(
                peak.is_infinite() || z.iter().all(|&value| value <= 0.0),
                "{place}"
            );
            for (value, less) in y.iter().zip(z) {
                assert_eq!((value - peak).to_bits(), less.to_bits(), "{place}");
            }
        }
    }
}

/// `x * y + z` rounds twice and `fma(x, y, z)` once, at every plan; a division is a division.
#[test]
fn no_silent_arithmetic() {
    let text = "kernel roundings(x: view f32[n], y: view f32[n], z: view f32[n], a: mut view f32[n], b: mut view f32[n], c: mut view f32[n])
where n = 203 {
  parallel {
    let xs = load x[:]
    let ys = load y[:]
    let zs = load z[:]
    store a[:] = xs * ys + zs
    store b[:] = fma(xs, ys, zs)
    store c[:] = xs / 3.0 + zs / ys
  }
}";
    let nothing = Values::Fill(Scalar::F32(0.0));
    let mut setup = Setup::new(text);
    for seed in 1..4 {
        setup = setup.view(&[203], &random(seed));
    }
    let case = setup
        .view(&[203], &nothing)
        .view(&[203], &nothing)
        .view(&[203], &nothing)
        .case();
    let input = |name| output(&case, &case.memory, name);
    let (x, y, z) = (input("x"), input("y"), input("z"));
    for plan in plans(&case.kernel) {
        let memory = run(&case, &compiled(&case.kernel, &plan), Side::End);
        let found = |name| output(&case, &memory, name);
        let (a, b, c) = (found("a"), found("b"), found("c"));
        let mut contraction_matters = 0;
        for i in 0..x.len() {
            assert_eq!(a[i].to_bits(), (x[i] * y[i] + z[i]).to_bits(), "{plan}");
            assert_eq!(b[i].to_bits(), x[i].mul_add(y[i], z[i]).to_bits(), "{plan}");
            assert_eq!(
                c[i].to_bits(),
                (x[i] / 3.0 + z[i] / y[i]).to_bits(),
                "{plan}"
            );
            contraction_matters += u32::from(a[i].to_bits() != b[i].to_bits());
        }
        assert!(
            contraction_matters > 20,
            "the inputs can't tell a contraction"
        );
    }
}

/// A `tree` reduction gives the bits of the one tree, at every width, mapping, partial count and fusion.
#[test]
fn tree() {
    let lengths = [
        1u32, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 65, 127, 128, 200, 1009, 4096, 4097, 9001,
    ];
    for (seed, length) in lengths.into_iter().enumerate() {
        let text = format!(
            "kernel trees(x: view f32[row, col], s: mut view f32[row], p: mut view f32[row], m: mut view f32[row])
where col = {length} {{
  parallel r: row {{
    let xs = load x[r, :]
    store s[r] = sum(xs, tree)
    store p[r] = reduce c: col tree add from 0.5 {{ yield xs[c] * xs[c] }}
    store m[r] = minimum(xs, tree)
  }}
}}"
        );
        let rows = 3;
        let nothing = Values::Fill(Scalar::F32(0.0));
        let case = Setup::new(&text)
            .view(&[rows, length], &random(seed as u64))
            .view(&[rows], &nothing)
            .view(&[rows], &nothing)
            .view(&[rows], &nothing)
            .case();
        let x = output(&case, &case.memory, "x");
        for plan in plans(&case.kernel) {
            let memory = run(&case, &compiled(&case.kernel, &plan), Side::End);
            let found = |name| output(&case, &memory, name);
            let (s, p, m) = (found("s"), found("p"), found("m"));
            for (row, items) in x.chunks(length as usize).enumerate() {
                let sum = reduce_with_shape(TREE, items, 0.0, |a, b| a + b);
                let squares: Vec<f32> = items.iter().map(|item| item * item).collect();
                let square = reduce_with_shape(TREE, &squares, 0.5, |a, b| a + b);
                let least = items.iter().copied().fold(f32::INFINITY, f32::min);
                let place = format!("length {length}, plan {plan}");
                assert_eq!(s[row].to_bits(), sum.to_bits(), "{place}");
                assert_eq!(p[row].to_bits(), square.to_bits(), "{place}");
                assert_eq!(m[row].to_bits(), least.to_bits(), "{place}");
            }
        }
    }
}

const RMSNORM: &str =
    "kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
where col = COL {
  parallel r: row {
    let xs = load x[r, :]
    let total = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let ws = load w[:]
    store y[r, :] = xs / sqrt(total / f32(extent(col)) + eps) * ws
  }
}";

const SOFTMAX: &str =
    "kernel softmax(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], scale: f32)
where col = COL {
  parallel r: row {
    let xs = load x[r, :]
    let ws = load w[:]
    let zs = xs * scale + ws
    let peak = maximum(zs)
    let es = exp(zs - peak)
    store y[r, :] = es / sum(es)
  }
}";

const GELU: &str =
    "kernel gelu(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], scale: f32)
where col = COL {
  parallel r: row {
    let xs = load x[r, :]
    let ws = load w[:]
    let a = xs * scale + ws
    store y[r, :] = a * normal_cdf(a)
  }
}";

/// One of the kernels above at a size, on random rows; `rows` and `first` choose which of an endless sheet of rows.
fn sheet(text: &str, first: u32, rows: u32, col: u32) -> RunCase {
    let mut generator = Generator::new(7);
    let whole: Vec<Scalar> = (0..(first + rows) * col)
        .map(|_| Scalar::F32(generator.next_number() as f32 * 3.0))
        .collect();
    Setup::new(&text.replace("COL", &col.to_string()))
        .view(
            &[rows, col],
            &Values::List(whole[(first * col) as usize..].to_vec()),
        )
        .view(&[col], &random(8))
        .view(&[rows, col], &Values::Fill(Scalar::F32(0.0)))
        .scalar(0.25)
        .case()
}

/// A row's bits don't depend on how many rows there are, on its place among them, or on where memory begins.
#[test]
fn row_independence() {
    for text in [RMSNORM, SOFTMAX, GELU] {
        for col in [1, 5, 16, 37] {
            let whole = sheet(text, 0, 21, col);
            for plan in plans(&whole.kernel) {
                let code = compiled(&whole.kernel, &plan);
                let memory = run(&whole, &code, Side::End);
                let together = output(&whole, &memory, "y");
                for (first, rows) in [(0, 1), (3, 1), (20, 1), (2, 7), (0, 8), (4, 17)] {
                    let part = sheet(text, first, rows, col);
                    for side in Side::ALL {
                        let alone = output(&part, &run(&part, &code, side), "y");
                        let expected =
                            &together[(first * col) as usize..((first + rows) * col) as usize];
                        let bits = |values: &[f32]| {
                            values
                                .iter()
                                .map(|value| value.to_bits())
                                .collect::<Vec<_>>()
                        };
                        assert_eq!(
                            bits(&alone),
                            bits(expected),
                            "{plan}, {col} columns, rows {first} + {rows}"
                        );
                    }
                }
            }
        }
    }
}

/// No byte beside a view is read or written, at every length from 1 to four packets and three, at both ends of pages.
#[test]
fn no_stray_access() {
    for lanes in Lanes::ALL {
        for distribution in [Distribution::PacketLocal, Distribution::WholeProgram] {
            for text in [RMSNORM, SOFTMAX, GELU] {
                for col in 1..=4 * lanes.get() + 3 {
                    // In the whole-program mapping it is the rows that fill packets.
                    let (rows, col) = match distribution {
                        Distribution::PacketLocal => (2, col),
                        Distribution::WholeProgram => (col, 5),
                    };
                    let case = sheet(text, 0, rows, col);
                    for plan in plans(&case.kernel) {
                        if plan.lanes != lanes || plan.distribution != distribution {
                            continue;
                        }
                        let code = compiled(&case.kernel, &plan);
                        let meant = expected(&case, &code.realization).expect("runs");
                        for side in Side::ALL {
                            same_memory(&case.elements, &meant, &run(&case, &code, side))
                                .unwrap_or_else(|wrong| panic!("{plan}, {rows} by {col}: {wrong}"));
                        }
                    }
                }
            }
        }
    }
}

/// Compiled twice, a random kernel is the same program in text and the same code in bytes.
#[test]
fn determinism() {
    let target = native::host().unwrap_or_else(|stopped| panic!("{stopped}"));
    hold(
        Flavour {
            opaque: true,
            ..Flavour::default()
        },
        |case, seed| {
            let plan = some_plan(&case.kernel, &mut Choices::from_seed(seed));
            let make = || -> Result<_, String> {
                let Some(compiled) = compile(&case.kernel, &plan)? else {
                    return Ok(None);
                };
                let code = cranelift_backend::compile(&compiled.program, target)
                    .map_err(|error| error.to_string())?;
                let bytes: Vec<Vec<u8>> = code
                    .functions()
                    .iter()
                    .map(|function| function.bytes().to_vec())
                    .collect();
                Ok(Some((
                    compiled.realization.to_string(),
                    compiled.program.to_string(),
                    bytes,
                )))
            };
            let chosen = || {
                let request = planner::Request::default();
                planner::plan_for(&fusion_legality::admit(&case.kernel), &request)
                    .map_err(|error| error.to_string())
            };
            if make()? != make()? {
                return Err(format!("plan {plan}: two compilations differ"));
            }
            if chosen()? != chosen()? {
                return Err("two choices of a plan differ".to_owned());
            }
            Ok(())
        },
    );
}

/// What a plan fuses is what its realization reads in reductions, neither more nor less, and the kernel is the admitted one.
#[test]
fn one_admission() {
    let mut fusions = 0;
    for seed in 0..law_cases() {
        let case = random_case(seed, Flavour::default());
        for plan in plans(&case.kernel) {
            let realized = tests::plans::realized(&case.kernel, &plan)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let Some(realization) = realized else {
                continue;
            };
            let read: std::collections::BTreeSet<_> = realization
                .fused
                .values()
                .flatten()
                .map(|read| read.subject)
                .collect();
            assert_eq!(read, plan.fused, "seed {seed}, plan {plan}");
            assert_eq!(realization.kernel, case.kernel);
            fusions += read.len();
        }
    }
    assert!(fusions > 100, "random kernels fuse nothing: {fusions}");
}
