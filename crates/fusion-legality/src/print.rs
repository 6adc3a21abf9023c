//! An admission as text, a line a fact: what people read in tests and diffs.

use std::fmt::Write as _;

use tile_ir::{Kernel, Op, Value};

use crate::admission::{Admission, Candidate, Outcome, Subject};
use crate::certificate::{Certificate, Coordinate, Later};

/// Every candidate with its certificate or its refusals.
pub fn print(admission: &Admission) -> String {
    let mut text = String::new();
    for candidate in admission.candidates() {
        print_candidate(&mut text, admission.kernel(), candidate);
    }
    text
}

fn print_candidate(text: &mut String, kernel: &Kernel, candidate: &Candidate) {
    let subject = match candidate.subject {
        Subject::Load(op) => {
            let values: Vec<String> = kernel
                .op(op)
                .results
                .iter()
                .map(|&value| value_name(kernel, value))
                .collect();
            format!("load {op} {}", values.join(" "))
        }
        Subject::Expression(value) => format!("expression {}", value_name(kernel, value)),
    };
    match &candidate.outcome {
        Outcome::Admitted(certificate) => {
            line(text, 0, &format!("{subject}: admitted"));
            print_certificate(text, kernel, certificate);
        }
        Outcome::Refused(refusals) => {
            line(text, 0, &format!("{subject}: refused"));
            for refusal in refusals {
                line(
                    text,
                    1,
                    &format!("{} at {}", refusal.code, op_name(kernel, refusal.at)),
                );
            }
        }
    }
}

fn print_certificate(text: &mut String, kernel: &Kernel, certificate: &Certificate) {
    line(
        text,
        1,
        &format!("joins {}", op_name(kernel, certificate.reduction)),
    );
    let lists = [
        ("through", &certificate.chain),
        ("puts off", &certificate.deferred),
        ("within", &certificate.wrappers),
    ];
    for (word, ops) in lists {
        if !ops.is_empty() {
            line(text, 1, &format!("{word} {}", op_names(kernel, ops)));
        }
    }
    for row in &certificate.axes {
        let name = &kernel.axis(row.axis).name;
        let pair = format!(
            "axis {name} of {}: dimension {} = dimension {}",
            row.extent, row.tile_dim, row.reduction_dim
        );
        line(text, 1, &pair);
    }
    for (word, dims) in [
        ("tile", &certificate.units.tile),
        ("reduction", &certificate.units.reduction),
    ] {
        if !dims.is_empty() {
            line(text, 1, &format!("units of the {word}: {}", list(dims)));
        }
    }
    for map in &certificate.extracts {
        let coordinates: Vec<String> = map.coordinates.iter().map(coordinate_name).collect();
        let tile = value_name(kernel, map.tile);
        line(
            text,
            1,
            &format!("{} reads {tile}[{}]", map.extract, coordinates.join(", ")),
        );
    }
    let interval = &certificate.interval;
    let effects = match interval.effects.as_slice() {
        [] => "nothing".to_owned(),
        effects => op_names(kernel, effects),
    };
    line(
        text,
        1,
        &format!("from {} to {}: {effects}", interval.from, interval.to),
    );
    line(
        text,
        1,
        &format!(
            "{} points, {} elements",
            certificate.once.points, certificate.once.elements
        ),
    );
    match &certificate.later {
        Later::SaveSnapshot(consumers) => line(
            text,
            1,
            &format!("saved for {}", op_names(kernel, consumers)),
        ),
        Later::Elide => line(text, 1, "not kept"),
    }
}

fn line(text: &mut String, indent: usize, content: &str) {
    let _ = writeln!(text, "{:indent$}{content}", "", indent = 2 * indent);
}

fn list(numbers: &[usize]) -> String {
    numbers
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn coordinate_name(coordinate: &Coordinate) -> String {
    match coordinate {
        Coordinate::Nest(index) => format!("#{index}"),
        Coordinate::Zero => "0".to_owned(),
    }
}

fn value_name(kernel: &Kernel, value: Value) -> String {
    kernel
        .value(value)
        .name
        .clone()
        .unwrap_or_else(|| value.to_string())
}

/// The operation's key, and the names of what it makes.
fn op_name(kernel: &Kernel, op: Op) -> String {
    let names = kernel
        .op(op)
        .results
        .iter()
        .filter_map(|&result| kernel.value(result).name.as_deref());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        op.to_string()
    } else {
        format!("{op} {}", names.join(" "))
    }
}

fn op_names(kernel: &Kernel, ops: &[Op]) -> String {
    ops.iter()
        .map(|&op| op_name(kernel, op))
        .collect::<Vec<_>>()
        .join(", ")
}
