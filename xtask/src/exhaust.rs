//! `cargo xtask exhaust`: every small kernel, fused and unfused, in every aliasing, bit for bit.
//!
//! Whether a fusion can be observed is a question about all programs, and tests ask about some. Mistakes of such a rule show
//! in small programs, though: a store too many, a loop, a second reader. So all programs up to a size are written down
//! ([`vocabulary`]), the rule decides each, and what it admits is carried out in the interpreter's fused mode beside the
//! plain meaning, for every way in which two buffers can overlap ([`compare`]).
//!
//! A search that finds nothing proves little until it is seen to find something. `--mutants` leaves out one condition of
//! the rule at a time and demands a counterexample for each.

mod build;
mod compare;
mod vocabulary;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

use fusion_legality::{
    Admission, Candidate, Certificate, Condition, Outcome, Subject, admit, admit_without, check,
};
use tile_ir::Verified;

use compare::{Alias, Bench, Difference, fusion_of};
use reference::Fusion;
use vocabulary::{Statement, every_program};

/// The size of a full run: more than a million kernels.
const FULL: usize = 5;

/// The size at which every mutant must be noticed.
const MUTANTS: usize = 4;

const USAGE: &str = "usage: cargo xtask exhaust [--size N] [--mutants]

  --size N    kernels of up to N statements (default: 5; with --mutants: 4)
  --mutants   leave out one condition of the rule at a time, and demand a counterexample for each";

/// Runs the command; findings are differences that should not be, or mutants that nobody noticed.
pub(crate) fn run(arguments: &[String]) -> Result<Vec<String>, String> {
    let mut size = None;
    let mut mutants = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--size" => {
                let number = rest.next().and_then(|number| number.parse().ok());
                size = Some(
                    number
                        .filter(|size| (1..=9).contains(size))
                        .ok_or("--size wants a number from 1 to 9")?,
                );
            }
            "--mutants" => mutants = true,
            unknown => return Err(format!("`{unknown}` is unknown\n{USAGE}")),
        }
    }
    if mutants {
        kill_mutants(size.unwrap_or(MUTANTS))
    } else {
        compare_all(size.unwrap_or(FULL))
    }
}

/// What a run covered.
#[derive(Default)]
struct Coverage {
    kernels: u64,
    loads: u64,
    expressions: u64,
    admitted_loads: u64,
    admitted_expressions: u64,
    kernels_with_admissions: u64,
    subsets: u64,
    runs: u64,
    refusals: BTreeMap<&'static str, u64>,
}

/// Every kernel by the whole rule.
fn compare_all(size: usize) -> Result<Vec<String>, String> {
    let start = Instant::now();
    let mut findings = Vec::new();
    let mut coverage = Coverage::default();
    for size in 1..=size {
        let end = every_program(size, &mut |program| {
            match compare_one(program, &mut coverage) {
                Ok(()) => {}
                Err(finding) => findings.push(finding),
            }
            if findings.len() < 5 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        println!(
            "size {size}: {} kernels so far, {} admissions, {:.1} s",
            coverage.kernels,
            coverage.admitted_loads + coverage.admitted_expressions,
            start.elapsed().as_secs_f64()
        );
        if end.is_break() {
            break;
        }
    }
    print_coverage(size, &coverage);
    Ok(findings)
}

fn print_coverage(size: usize, coverage: &Coverage) {
    println!("kernels of up to {size} statements: {}", coverage.kernels);
    println!(
        "  loads: {}, admitted: {}",
        coverage.loads, coverage.admitted_loads
    );
    println!(
        "  expressions: {}, admitted: {}",
        coverage.expressions, coverage.admitted_expressions
    );
    println!(
        "  kernels with an admission: {}",
        coverage.kernels_with_admissions
    );
    println!("  alias maps of two buffers: {}", Alias::ALL.len());
    println!("  subsets of admissions carried out: {}", coverage.subsets);
    println!("  interpretations: {}", coverage.runs);
    for (code, count) in &coverage.refusals {
        println!("  refused as {code}: {count}");
    }
}

fn compare_one(program: &[Statement], coverage: &mut Coverage) -> Result<(), String> {
    let kernel = build::kernel(program)?;
    let admission = admit(&kernel);
    coverage.kernels += 1;
    for candidate in admission.candidates() {
        count(candidate, coverage);
    }
    let certificates = certificates(&admission);
    if certificates.is_empty() {
        return Ok(());
    }
    coverage.kernels_with_admissions += 1;
    for certificate in &certificates {
        check(&kernel, certificate).map_err(|objection| {
            format!(
                "the checker objects: {objection}\n{}",
                tile_ir::print(&kernel)
            )
        })?;
    }
    let mut bench = Bench::new(&kernel, program);
    let result = first_difference(&mut bench, &certificates, |_| true);
    coverage.subsets += subsets(certificates.len()).count() as u64;
    coverage.runs += bench.runs;
    match result {
        None => Ok(()),
        Some((difference, alias)) => Err(describe(&kernel, &difference, alias)),
    }
}

fn count(candidate: &Candidate, coverage: &mut Coverage) {
    let admitted = u64::from(candidate.certificate().is_some());
    match candidate.subject {
        Subject::Load(_) => {
            coverage.loads += 1;
            coverage.admitted_loads += admitted;
        }
        Subject::Expression(_) => {
            coverage.expressions += 1;
            coverage.admitted_expressions += admitted;
        }
    }
    if let Outcome::Refused(refusals) = &candidate.outcome {
        for refusal in refusals {
            *coverage.refusals.entry(refusal.code.name()).or_insert(0) += 1;
        }
    }
}

fn certificates(admission: &Admission) -> Vec<&Certificate> {
    admission
        .candidates()
        .iter()
        .filter_map(Candidate::certificate)
        .collect()
}

/// Every choice of at least one out of `count`, as bits.
fn subsets(count: usize) -> impl Iterator<Item = usize> {
    1..1usize << count
}

/// The first aliasing and subset of fusions, among those wanted, that can be told from the plain meaning.
fn first_difference(
    bench: &mut Bench<'_>,
    certificates: &[&Certificate],
    wanted: impl Fn(usize) -> bool,
) -> Option<(Difference, Alias)> {
    for alias in Alias::ALL {
        let plain = bench.plain(alias);
        for subset in subsets(certificates.len()).filter(|&subset| wanted(subset)) {
            let chosen = certificates
                .iter()
                .enumerate()
                .filter(|(index, _)| subset >> index & 1 == 1);
            let fused: Vec<Fusion> = chosen
                .map(|(_, certificate)| fusion_of(certificate))
                .collect();
            if let Some(difference) = bench.difference(alias, &plain, &fused) {
                return Some((difference, alias));
            }
        }
    }
    None
}

fn describe(kernel: &Verified, difference: &Difference, alias: Alias) -> String {
    format!(
        "{}{}; {difference}",
        tile_ir::print(kernel),
        alias.sentence()
    )
}

/// The rule without each of its conditions in turn: each must be missed somewhere.
fn kill_mutants(size: usize) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    let mut killed = 0;
    for &condition in Condition::ALL {
        match smallest_counterexample(condition, size)? {
            Some((statements, text)) => {
                killed += 1;
                println!("without {condition:?}: noticed at {statements} statements\n{text}\n");
            }
            None => findings.push(format!(
                "without {condition:?}: not noticed by any kernel of up to {size} statements"
            )),
        }
    }
    println!("mutants: {killed} of {} killed", Condition::ALL.len());
    Ok(findings)
}

fn smallest_counterexample(
    condition: Condition,
    size: usize,
) -> Result<Option<(usize, String)>, String> {
    let mut found = None;
    let mut failure = None;
    for size in 1..=size {
        let end = every_program(size, &mut |program| match noticed(program, condition) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(text)) => {
                found = Some((size, text));
                ControlFlow::Break(())
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        });
        if end.is_break() {
            break;
        }
    }
    failure.map_or(Ok(found), Err)
}

/// Whether fusing what only the weakened rule admits can be told from not fusing it.
fn noticed(program: &[Statement], condition: Condition) -> Result<Option<String>, String> {
    let kernel = build::kernel(program)?;
    let weak = admit_without(&kernel, condition);
    let weak_certificates = certificates(&weak);
    if weak_certificates.is_empty() {
        return Ok(None);
    }
    let whole = admit(&kernel);
    let sound = certificates(&whole);
    let mut extra = 0usize;
    for (index, certificate) in weak_certificates.iter().enumerate() {
        if !sound.contains(certificate) {
            extra |= 1 << index;
        }
    }
    if extra == 0 {
        return Ok(None);
    }
    // The checker is told what the weakened rule says, and must not believe it.
    for (index, certificate) in weak_certificates.iter().enumerate() {
        if extra >> index & 1 == 1 && check(&kernel, certificate).is_ok() {
            return Err(format!(
                "the checker accepts what only the rule without {condition:?} admits\n{}",
                tile_ir::print(&kernel)
            ));
        }
    }
    let mut bench = Bench::new(&kernel, program);
    let difference = first_difference(&mut bench, &weak_certificates, |subset| subset & extra != 0);
    Ok(difference.map(|(difference, alias)| describe(&kernel, &difference, alias)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_kernels_show_no_difference() {
        let findings = compare_all(3);
        assert_eq!(findings, Ok(Vec::new()));
    }

    #[test]
    fn every_mutant_is_noticed() {
        assert_eq!(kill_mutants(MUTANTS), Ok(Vec::new()));
    }

    #[test]
    fn too_small_a_scope_does_not_notice() {
        let findings = kill_mutants(1).unwrap_or_default();
        assert_eq!(findings.len(), Condition::ALL.len());
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for wrong in [
            &["--size"][..],
            &["--size", "0"],
            &["--size", "x"],
            &["--fast"],
        ] {
            let arguments: Vec<String> =
                wrong.iter().map(|&argument| argument.to_owned()).collect();
            assert!(run(&arguments).is_err(), "{wrong:?}");
        }
    }
}
