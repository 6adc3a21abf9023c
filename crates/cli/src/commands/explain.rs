//! `tilewright explain`: why loads may or may not join their first consumer.

use std::path::Path;

use diagnostics::{Location, line_column};
use serde_json::{Value, json};
use tilewright::explain::{Change, Explained, Verdict, explain as find, in_sentences};

use super::{read_kernel, told};
use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use crate::files::{cannot_write, write_stdout};

/// Finds the reasons and prints them.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let (source, kernel) = read_kernel(&arguments.kernel, &arguments.compilation)?;
    let found = find(&kernel, &arguments.compilation.options().request)
        .map_err(|error| Failure::in_kernel(told(error), &source))?;
    let place = |location: &Location| match location {
        Location::Text(span) => format!("line {}", line_column(&source.text, span.start).line),
        Location::Caller { file, line, .. } => format!("{file}:{line}"),
        Location::None => "somewhere".to_owned(),
    };
    let text = if arguments.json {
        let records: Vec<Value> = found
            .iter()
            .map(|item| record(item, &source.text))
            .collect();
        format!("{:#}\n", Value::Array(records))
    } else {
        in_sentences(&found, &place)
    };
    write_stdout(|out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::without_source(cannot_write(Path::new("-"), &error)))
}

/// One subject as a record. Keys are stable; new ones may be added.
fn record(item: &Explained, text: &str) -> Value {
    let mut record = json!({
        "kind": item.kind,
        "name": item.name,
        "place": place(&item.location, text),
    });
    let rest = match &item.verdict {
        Verdict::Admitted {
            reduction,
            consumer,
            saves,
            change,
        } => json!({
            "admitted": true,
            "consumer": { "what": consumer, "place": place(reduction, text) },
            "saves_snapshot": saves,
            "change": change_record(change),
        }),
        Verdict::Refused(reasons) => {
            let reasons: Vec<Value> = reasons
                .iter()
                .map(|reason| {
                    json!({
                        "code": reason.code,
                        "sentence": reason.sentence,
                        "at": { "what": reason.at, "place": place(&reason.location, text) },
                    })
                })
                .collect();
            json!({ "admitted": false, "refusals": reasons })
        }
    };
    if let (Value::Object(record), Value::Object(rest)) = (&mut record, rest) {
        record.extend(rest);
    }
    record
}

/// What fusion would change, for one packet of programs.
fn change_record(change: &Change) -> Value {
    let pair = |(unfused, fused): (u64, u64)| json!({ "unfused": unfused, "fused": fused });
    json!({
        "private_reads": pair(change.private_reads),
        "private_writes": pair(change.private_writes),
        "view_reads": pair(change.view_reads),
        "snapshot_bytes": pair(change.snapshot_bytes),
    })
}

/// A location as line, column and bytes of the text.
fn place(location: &Location, text: &str) -> Value {
    match location {
        Location::Text(span) => {
            let at = line_column(text, span.start);
            json!({ "line": at.line, "column": at.column, "start": span.start, "end": span.end })
        }
        Location::Caller { file, line, column } => {
            json!({ "file": file, "line": line, "column": column })
        }
        Location::None => Value::Null,
    }
}
