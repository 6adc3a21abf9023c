//! Kernels at each stage of their way, as text.
//!
//! Directives, one a line after `//:`:
//!
//! - `plan width=4,local=4`: what is fixed about the plan.
//! - `enable load-reduction`: a fusion that may happen.
//! - `target aarch64-linux`: the machine, by name, where one matters.

use machine::Machine;
use planner::{Request, Rule, Rules};
use tile_ir::Verified;
use tilewright::{CompileOptions, Stage};

use crate::corpus::Case;

struct Asked {
    kernel: Verified,
    options: CompileOptions,
    machine: Machine,
}

fn read(case: &Case) -> Result<Asked, String> {
    let kernel = tile_ir::parse_verified(&case.input)
        .map_err(|mistakes| diagnostics::render(&mistakes, &case.name, &case.input, false))?;
    let mut request = Request::default();
    let mut enable = Vec::new();
    let mut target = "x86_64-linux";
    for directive in &case.directives {
        match directive.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["plan", pins] => request.pins = pins.parse().map_err(|error| format!("{error}"))?,
            ["enable", rule] => {
                let found = Rule::ALL.into_iter().find(|known| known.name() == *rule);
                enable.push(found.ok_or_else(|| format!("`{rule}` is no rule"))?);
            }
            ["target", name] => target = name,
            _ => return Err(format!("`{directive}` is no directive")),
        }
    }
    request.rules = Rules::resolve(&enable, &[]);
    let machine = Machine::named(target).map_err(|error| error.to_string())?;
    Ok(Asked {
        kernel,
        options: CompileOptions { request },
        machine,
    })
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// A kernel laid out over packets: its plan and what follows from it.
///
/// # Errors
/// Mistakes of the case.
pub fn map(case: &Case) -> Result<Vec<String>, String> {
    stage(case, Stage::Plan)
}

/// A kernel as XIR, as it is lowered, before any pass.
///
/// # Errors
/// Mistakes of the case, and XIR that breaks a rule.
pub fn lower(case: &Case) -> Result<Vec<String>, String> {
    let Asked {
        kernel, options, ..
    } = read(case)?;
    let admission = fusion_legality::admit(&kernel);
    let plan =
        planner::plan_for(&admission, &options.request).map_err(|error| error.to_string())?;
    let realization = simd_mapping::realize(admission, &plan).map_err(|error| error.to_string())?;
    let program = xir::verify(lowering::lower(&realization)).map_err(|error| error.to_string())?;
    Ok(lines(&program.to_string()))
}

/// A kernel as machine code of the target the case names.
///
/// # Errors
/// Mistakes of the case.
pub fn emit(case: &Case) -> Result<Vec<String>, String> {
    stage(case, Stage::Asm)
}

/// What is said of a kernel's loads and expressions.
///
/// # Errors
/// Mistakes of the case.
pub fn explain(case: &Case) -> Result<Vec<String>, String> {
    let Asked {
        kernel, options, ..
    } = read(case)?;
    let list = tilewright::explain::explain(&kernel, &options.request)
        .map_err(|error| error.to_string())?;
    let place = |location: &diagnostics::Location| match location {
        diagnostics::Location::Text(span) => {
            let place = diagnostics::line_column(&case.input, span.start);
            format!("{}:{}", place.line, place.column)
        }
        other => format!("{other:?}"),
    };
    Ok(lines(&tilewright::explain::in_sentences(&list, &place)))
}

fn stage(case: &Case, stage: Stage) -> Result<Vec<String>, String> {
    let Asked {
        kernel,
        options,
        machine,
    } = read(case)?;
    let text =
        tilewright::emit(&kernel, &options, &machine, stage).map_err(|error| error.to_string())?;
    Ok(lines(&text))
}
