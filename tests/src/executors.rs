//! Every way to run a kernel, held against one another.
//!
//! The interpreter of TileIR says which bits are right. With no plan an `unordered` reduction keeps one partial, and those
//! bits are the ones a case expects in writing.

use fusion_legality::{Candidate, Later};
use numerics::{ElementType, Scalar, TreeShape};
use reference::{Fusion, Memory, Options, Traversal, compare, interpret, oracle};
use runtime::guarded::Side;
use simd_mapping::{Distribution, Plan, Realization};
use tile_ir::{Value, Verified};
use xir::{Lanes, Program};

use crate::case::{FusionCase, RunCase, contents};
use crate::corpus::Case;
use crate::lowered::interpret_lowered;
use crate::native::{self, Stopped};
use crate::plans::{admitted, plans, realized};

/// Elements that are written out one by one; of longer views the first eight and a hash.
const WRITTEN_OUT: usize = 64;

/// Widths at which the program is run after every pass; at the others before and after all of them.
const PASS_BY_PASS: [u32; 1] = [4];

/// Bytes of memory beyond which a case is run in the interpreter of XIR after all passes only, at one width: interpreting
/// costs a thousand times what generated code does.
const LARGE: usize = 8 << 10;

/// The width at which large cases are interpreted.
const LARGE_WIDTH: u32 = 8;

/// Runs a `run` case through every executor; gives what the kernel stored.
///
/// # Errors
/// The first executor that differs, with the first element in which it does.
pub fn run_case(case: &Case) -> Result<Vec<String>, String> {
    let run = RunCase::read(case)?;
    let mut memory = run.memory.clone();
    interpret(
        &run.kernel,
        &mut memory,
        &run.arguments,
        &Options::default(),
    )
    .map_err(|error| error.to_string())?;
    check_oracle(&run, &memory)?;
    for fusion in &run.fusions {
        check_fusion(&run, &memory, fusion)?;
    }
    check_admissions(&run, &memory)?;
    if !run.interpreter_only {
        match &run.refusal {
            Some(text) => check_refusal(&run, text)?,
            None => check_plans(&run)?,
        }
    }
    Ok(stored(&run, &memory))
}

/// Every fusion that is admitted, carried out by the interpreter, changes nothing.
fn check_admissions(run: &RunCase, expected: &Memory) -> Result<(), String> {
    let admission = fusion_legality::admit(&run.kernel);
    for certificate in admitted(&admission).filter_map(Candidate::certificate) {
        let save = match certificate.later {
            Later::SaveSnapshot(_) => true,
            Later::Elide => false,
        };
        let fusion = Fusion {
            subject: certificate.value,
            reduction: certificate.reduction,
            save,
        };
        fused_outcome(run, expected, fusion).map_err(|difference| {
            format!(
                "the admitted fusion of {}: {difference}",
                certificate.subject
            )
        })?;
    }
    Ok(())
}

/// The arguments are refused with a message that holds `text`.
fn check_refusal(run: &RunCase, text: &str) -> Result<(), String> {
    let plan = Plan::new(Lanes::ALL[1], Distribution::PacketLocal);
    let compiled = compile(&run.kernel, &plan)?.ok_or("the plan fits every kernel")?;
    match native::run(run, &compiled.code, &run.kernel, Side::End) {
        Err(Stopped::Refused(message)) if message.contains(text) => Ok(()),
        Err(stopped) => Err(format!("`{text}` is not what is said: {stopped}")),
        Ok(_) => Err("the launch accepts what it should refuse".to_owned()),
    }
}

/// Every plan: the lowered program after each pass, and generated code at both ends of its pages.
fn check_plans(run: &RunCase) -> Result<(), String> {
    for plan in plans(&run.kernel) {
        check_plan(run, &plan)?;
    }
    Ok(())
}

/// A kernel compiled at a plan.
pub struct Compiled {
    /// What was decided.
    pub realization: Realization,
    /// The optimised program.
    pub program: xir::Verified,
    /// Its code.
    pub code: kernel_abi::Executable,
}

/// Compiles a kernel at a plan; `None` if a loop's bounds differ within the plan's packets.
///
/// # Errors
/// Why the plan, the program or the machine doesn't fit.
pub fn compile(kernel: &Verified, plan: &Plan) -> Result<Option<Compiled>, String> {
    let Some(realization) = realized(kernel, plan)? else {
        return Ok(None);
    };
    let mut program = lowering::lower(&realization);
    xir_opt::optimise(&mut program, None);
    let program = xir::verify(program).map_err(|rejected| rejected.to_string())?;
    let code = native::compile(&program).map_err(|stopped| stopped.to_string())?;
    Ok(Some(Compiled {
        realization,
        program,
        code,
    }))
}

/// The memory after a case as the interpreter runs it, with the trees of a realization.
///
/// # Errors
/// What the interpreter says.
pub fn expected(run: &RunCase, realization: &Realization) -> Result<Memory, String> {
    let one = TreeShape::new(1, None).ok_or("1 is a power of two")?;
    let tree_of = |op| realization.trees.get(&op).copied().unwrap_or(one);
    let options = Options {
        tree_of: &tree_of,
        ..Options::default()
    };
    let mut memory = run.memory.clone();
    interpret(&run.kernel, &mut memory, &run.arguments, &options)
        .map_err(|error| error.to_string())?;
    Ok(memory)
}

/// One plan through every executor.
///
/// # Errors
/// The first executor that differs from the interpreter of TileIR.
pub fn check_plan(run: &RunCase, plan: &Plan) -> Result<(), String> {
    let differs =
        |executor: &str, difference: String| format!("plan {plan}: {executor}: {difference}");
    let large = (0..run.memory.len())
        .map(|buffer| run.memory.bytes(buffer).len())
        .sum::<usize>()
        > LARGE;
    let Some(realization) = realized(&run.kernel, plan)? else {
        return Ok(());
    };
    let expected = expected(run, &realization)?;
    let lowered = lowering::lower(&realization);
    let mut optimised = lowered.clone();
    let mut programs = Vec::new();
    if large {
        xir_opt::optimise(&mut optimised, None);
    } else if PASS_BY_PASS.contains(&plan.lanes.get()) {
        programs.push(("lowered XIR".to_owned(), lowered));
        let mut trace = |pass: &str, program: &Program| {
            if programs.last().is_none_or(|(_, before)| before != program) {
                let name = format!("XIR after pass {}, {pass}", programs.len());
                programs.push((name, program.clone()));
            }
        };
        xir_opt::optimise(&mut optimised, Some(&mut trace));
    } else {
        programs.push(("lowered XIR".to_owned(), lowered));
        xir_opt::optimise(&mut optimised, None);
    }
    if !large || plan.lanes.get() == LARGE_WIDTH {
        programs.push(("optimised XIR".to_owned(), optimised.clone()));
    }
    for (executor, program) in programs {
        interpret_lowered(run, program)
            .and_then(|found| same_memory(&run.elements, &expected, &found))
            .map_err(|difference| differs(&executor, difference))?;
    }
    let program = xir::verify(optimised).map_err(|rejected| rejected.to_string())?;
    let code =
        native::compile(&program).map_err(|stopped| differs("backend", stopped.to_string()))?;
    for side in Side::ALL {
        native::run(run, &code, &run.kernel, side)
            .map_err(|stopped| stopped.to_string())
            .and_then(|found| same_memory(&run.elements, &expected, &found))
            .map_err(|difference| differs("generated code", difference))?;
    }
    Ok(())
}

/// One line for each mutable view.
fn stored(run: &RunCase, memory: &Memory) -> Vec<String> {
    let mut lines = Vec::new();
    for param in run.kernel.params() {
        let (Some(view), Some(place)) = (run.kernel.view(param), run.place(param)) else {
            continue;
        };
        if !view.mutable {
            continue;
        }
        let values = contents(memory, place, view.element);
        let written = if values.len() <= WRITTEN_OUT {
            values.len()
        } else {
            8
        };
        let mut line = run.kernel.param(param).name.clone();
        for value in &values[..written] {
            line.push_str(&format!(" {value}"));
        }
        if written < values.len() {
            line.push_str(&format!(
                " .. {} elements, hash {:016x}",
                values.len(),
                hash(&values)
            ));
        }
        lines.push(line);
    }
    lines
}

/// FNV-1a over the bits of all values, where every NaN is one.
fn hash(values: &[Scalar]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for value in values {
        let bits = if value.is_nan() {
            u64::MAX
        } else {
            value.to_bits()
        };
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

/// Holds two memories against each other, each buffer as numbers of its type: any NaN equals any NaN.
///
/// # Errors
/// The first element that differs.
pub fn same_memory(
    elements: &[ElementType],
    expected: &Memory,
    found: &Memory,
) -> Result<(), String> {
    for (buffer, &element) in elements.iter().enumerate() {
        if expected.bytes(buffer) == found.bytes(buffer) {
            continue;
        }
        let pairs = expected
            .scalars(buffer, element)
            .into_iter()
            .zip(found.scalars(buffer, element));
        for (index, (expected, found)) in pairs.enumerate() {
            if !expected.same_bits(found) {
                return Err(format!(
                    "buffer {buffer}, element {index}: expected {expected}, found {found}"
                ));
            }
        }
    }
    Ok(())
}

fn check_oracle(run: &RunCase, memory: &Memory) -> Result<(), String> {
    if run.near.is_empty() {
        return Ok(());
    }
    let mut buffers: Vec<Vec<f64>> = run
        .elements
        .iter()
        .enumerate()
        .map(|(buffer, &element)| {
            run.memory
                .scalars(buffer, element)
                .into_iter()
                .map(wide)
                .collect()
        })
        .collect();
    oracle(&run.kernel, &mut buffers, &run.arguments)
        .map_err(|error| format!("oracle: {error}"))?;
    for &(param, tolerance) in &run.near {
        let (Some(view), Some(place)) = (run.kernel.view(param), run.place(param)) else {
            return Err("`near` wants a view".to_owned());
        };
        let actual: Vec<f64> = contents(memory, place, view.element)
            .into_iter()
            .map(wide)
            .collect();
        let expected: Vec<f64> = crate::case::elements(place)
            .map(|index| buffers[place.buffer][index as usize])
            .collect();
        let report = compare(view.element, &actual, &expected, tolerance);
        if !report.passes() {
            return Err(format!(
                "`{}` is not near the oracle: {report}",
                run.kernel.param(param).name
            ));
        }
    }
    Ok(())
}

fn wide(value: Scalar) -> f64 {
    match value {
        Scalar::F32(value) => f64::from(value),
        Scalar::F64(value) => value,
        Scalar::I32(value) => f64::from(value),
        Scalar::Bool(value) => f64::from(u8::from(value)),
    }
}

/// The value people named so.
fn named(run: &RunCase, name: &str) -> Result<Value, String> {
    let found = run
        .kernel
        .values()
        .find(|&value| run.kernel.value(value).name.as_deref() == Some(name));
    found.ok_or_else(|| format!("the kernel has no value named `{name}`"))
}

fn check_fusion(run: &RunCase, expected: &Memory, case: &FusionCase) -> Result<(), String> {
    let subject = named(run, &case.subject)?;
    let reduction = named(run, &case.reduction)?;
    let reduction = run
        .kernel
        .defining_op(reduction)
        .ok_or_else(|| format!("`{}` is no reduction", case.reduction))?;
    let outcome = fused_outcome(
        run,
        expected,
        Fusion {
            subject,
            reduction,
            save: case.save,
        },
    );
    let name = format!("fusion of `{}` into `{}`", case.subject, case.reduction);
    match outcome {
        Err(difference) if case.same => Err(format!("{name}: {difference}")),
        Ok(()) if !case.same => Err(format!("{name} changes nothing, though it should")),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Runs a case with one fusion, in both traversals.
fn fused_outcome(run: &RunCase, expected: &Memory, fusion: Fusion) -> Result<(), String> {
    for traversal in [Traversal::RowMajor, Traversal::Reversed] {
        let mut memory = run.memory.clone();
        let options = Options {
            fusions: &[fusion],
            traversal,
            ..Options::default()
        };
        interpret(&run.kernel, &mut memory, &run.arguments, &options)
            .map_err(|error| error.to_string())?;
        same_memory(&run.elements, expected, &memory)?;
    }
    Ok(())
}
