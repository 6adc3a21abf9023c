//! Prints what may be fused in a kernel, and why the rest may not: the rule reused by a program of somebody else.
//!
//! ```text
//! cargo run -p print-admissions -- examples/rmsnorm.tile col=256
//! ```
//!
//! Axes the kernel leaves open are given as `name=extent`; with an open axis nothing along it can be fused yet.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use fusion_legality::{Candidate, Later, Outcome, Subject, admit, check};
use tile_ir::{Axis, Kernel, Op, Value};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: print-admissions KERNEL.tile [AXIS=EXTENT]...");
        return ExitCode::from(2);
    };
    let extents: Vec<String> = arguments.collect();
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
    match text.and_then(|text| report(&text, &extents)) {
        // A reader that closes the pipe early has read enough.
        Ok(report) => match std::io::stdout().write_all(report.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One paragraph a candidate.
fn report(text: &str, extents: &[String]) -> Result<String, String> {
    let kernel = tile_ir::parse_verified(text).map_err(|mistake| mistake.to_string())?;
    let extents: Result<Vec<(Axis, u32)>, String> = extents
        .iter()
        .map(|argument| extent(&kernel, argument))
        .collect();
    let kernel = kernel
        .specialize(&extents?)
        .map_err(|error| error.to_string())?;
    let admission = admit(&kernel);
    let mut report = String::new();
    for candidate in admission.candidates() {
        describe(&mut report, &kernel, candidate);
        if let Some(certificate) = candidate.certificate() {
            // Whoever builds on a certificate can ask for a second opinion that shares no code with the first.
            check(&kernel, certificate).map_err(|objection| objection.to_string())?;
        }
    }
    if report.is_empty() {
        report.push_str("nothing is loaded, and no expression has several consumers\n");
    }
    Ok(report)
}

/// What `name=extent` says.
fn extent(kernel: &Kernel, argument: &str) -> Result<(Axis, u32), String> {
    let (name, number) = argument
        .split_once('=')
        .ok_or_else(|| format!("`{argument}` is not of the form name=extent"))?;
    let axis = kernel
        .find_axis(name)
        .ok_or_else(|| format!("no axis is called `{name}`"))?;
    let extent = number
        .parse()
        .map_err(|_| format!("`{number}` is no extent"))?;
    Ok((axis, extent))
}

fn describe(report: &mut String, kernel: &Kernel, candidate: &Candidate) {
    let what = match candidate.subject {
        Subject::Load(load) => format!("the load {}", made_by(kernel, load)),
        Subject::Expression(value) => format!("the expression {}", name(kernel, value)),
    };
    match &candidate.outcome {
        Outcome::Admitted(certificate) => {
            let reduction = made_by(kernel, certificate.reduction);
            let _ = write!(
                report,
                "{what} may be read inside the reduction {reduction}"
            );
            let _ = match &certificate.later {
                Later::SaveSnapshot(consumers) => writeln!(
                    report,
                    ", and is kept for {} later",
                    plural(consumers.len())
                ),
                Later::Elide => writeln!(report, ", and need not be kept"),
            };
        }
        Outcome::Refused(refusals) => {
            let _ = writeln!(report, "{what} is read where it stands:");
            for refusal in refusals {
                let _ = writeln!(report, "  {}: {}", refusal.code, refusal.code.sentence());
            }
        }
    }
}

fn plural(consumers: usize) -> String {
    match consumers {
        1 => "a consumer".to_owned(),
        many => format!("{many} consumers"),
    }
}

fn made_by(kernel: &Kernel, op: Op) -> String {
    let results: Vec<String> = kernel
        .op(op)
        .results
        .iter()
        .map(|&value| name(kernel, value))
        .collect();
    results.join(" ")
}

fn name(kernel: &Kernel, value: Value) -> String {
    match &kernel.value(value).name {
        Some(name) => format!("`{name}`"),
        None => format!("`{value}`"),
    }
}

#[cfg(test)]
mod tests {
    const RMSNORM: &str = include_str!("../../rmsnorm.tile");

    fn report(text: &str, extents: &[&str]) -> Result<String, String> {
        let extents: Vec<String> = extents.iter().map(|&extent| extent.to_owned()).collect();
        super::report(text, &extents)
    }

    #[test]
    fn rmsnorm_keeps_its_row_and_reads_its_weights_in_place() {
        let report = report(RMSNORM, &["col=256"]).unwrap_or_else(|error| panic!("{error}"));
        let expected = "\
the load `xs` may be read inside the reduction `squares`, and is kept for a consumer later
the load `ws` is read where it stands:
  not-a-reduction: The first consumer is a store, a lone element read or another operation that is no reduction.
";
        assert_eq!(report, expected);
    }

    #[test]
    fn an_open_axis_is_told() {
        let report = report(RMSNORM, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.contains("dynamic-extent: "), "{report}");
    }

    #[test]
    fn mistakes_are_errors() {
        assert!(report("kernel k() {", &[]).is_err());
        for wrong in ["col", "col=x", "depth=3", "col=0"] {
            assert!(report(RMSNORM, &[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_kernel_without_candidates_says_so() {
        let text = "kernel k(y: mut view f32[n]) { parallel i: n { store y[i] = 1.0 } }";
        let expected = "nothing is loaded, and no expression has several consumers\n";
        assert_eq!(report(text, &[]), Ok(expected.to_owned()));
    }
}
