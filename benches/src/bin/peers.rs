//! `cargo xtask bench peers`: every case by every compiler, in one process, in turn.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use benches::Protocol;
use benches::peers::{
    Case, Compiler, Environment, Flavour, Record, Row, Streams, TOLERANCE, Workbench, all_cases,
    candidates, compilers, fastest, markdown, ours, prepare, replace_between, stream_arm,
};
use clap::Parser;
use native_entry::priority;

/// Times every case by every compiler, in one process, in turn.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench peers")]
struct Arguments {
    /// Only cases whose name holds this text, such as rms_norm_64x256; may be given again
    #[arg(long = "case", value_name = "TEXT")]
    cases: Vec<String>,
    /// A Python that has torch, for Inductor's arms; its kernels are kept below target/bench
    #[arg(long, value_name = "PYTHON")]
    torch: Option<PathBuf>,
    /// Few plans, few rounds: a look, not a measurement
    #[arg(long)]
    quick: bool,
    /// Put the table into docs/performance.md
    #[arg(long, conflicts_with = "quick")]
    write: bool,
    /// List the cases and do nothing
    #[arg(long)]
    list: bool,
}

const PAGE: &str = "docs/performance.md";

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every result of ours was right.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let wanted = |case: &Case| {
        let name = case.name();
        arguments.cases.is_empty() || arguments.cases.iter().any(|text| name.contains(text))
    };
    let cases: Vec<Case> = all_cases().into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err("no case has such a name; --list shows them".into());
    }
    if arguments.list {
        cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(true);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = root.join("target/bench");
    // Everything that starts a compiler happens before the processor is asked for.
    let flavours = match &arguments.torch {
        Some(python) => prepare(python, &cases, &target.join("inductor"))?,
        None => Vec::new(),
    };
    let directory = tempfile::tempdir()?;
    let rivals = Rivals {
        flavours,
        compilers: compilers()?,
        streams: Streams::build(directory.path())?,
        directory: directory.path(),
    };
    let protocol = protocol(arguments.quick);
    let mut record = None;
    for case in &cases {
        let row = rivals.row(*case, &protocol, arguments.quick, &mut record)?;
        println!("{}", brief(&row));
        if let Some(record) = &mut record {
            record.rows.push(row);
        }
    }
    let Some(record) = record else {
        return Ok(true);
    };
    let saved = record.save(&target.join("peers"))?;
    let text = markdown(&record);
    println!("\n{text}");
    eprintln!("every sample: {}", saved.display());
    if arguments.write {
        let page = std::fs::read_to_string(root.join(PAGE))?;
        std::fs::write(root.join(PAGE), replace_between(&page, "peers", &text)?)?;
        eprintln!("written to {PAGE}");
    }
    let right = |row: &Row| row.arm("ours").is_some_and(|arm| arm.error <= TOLERANCE);
    Ok(record.rows.iter().all(right))
}

fn protocol(quick: bool) -> Protocol {
    let milliseconds = Duration::from_millis;
    if quick {
        Protocol {
            warm_up: milliseconds(1),
            samples: 2,
            sample: milliseconds(1),
            rounds: 2,
        }
    } else {
        Protocol {
            warm_up: milliseconds(4),
            samples: 3,
            sample: milliseconds(4),
            rounds: 8,
        }
    }
}

struct Rivals<'d> {
    flavours: Vec<Flavour>,
    compilers: Vec<Compiler>,
    streams: Streams,
    directory: &'d Path,
}

impl Rivals<'_> {
    /// One case, timed; the first one says where.
    fn row(
        &self,
        case: Case,
        protocol: &Protocol,
        quick: bool,
        record: &mut Option<Record>,
    ) -> Result<Row, Box<dyn Error>> {
        let bench = Workbench::new(case);
        let tried = candidates(&bench, quick)?;
        let mut arms = Vec::new();
        for flavour in &self.flavours {
            arms.push(flavour.arm(&bench)?);
        }
        for compiler in &self.compilers {
            arms.extend(compiler.arm(&bench, self.directory)?);
        }
        arms.push(stream_arm(&bench, &self.streams)?);
        let quiet = priority::one_processor();
        record.get_or_insert_with(|| Record {
            environment: Environment::here(&quiet),
            protocol: format!(
                "{} rounds, {} samples of {} ms a visit after {} ms of warm-up; medians, least times in brackets; ratios are \
                 medians of same-round ratios",
                protocol.rounds,
                protocol.samples,
                protocol.sample.as_millis(),
                protocol.warm_up.as_millis()
            ),
            rows: Vec::new(),
        });
        let best = fastest(&bench, &tried, protocol)?.ok_or("no plan was tried")?;
        arms.insert(0, ours(&bench, best)?);
        let timed = bench.time(protocol, &mut arms);
        Ok(Row::new(
            case,
            best.executable.code_bytes(),
            tried.len(),
            timed,
        ))
    }
}

/// One line as soon as a case is done.
fn brief(row: &Row) -> String {
    let mut text = format!("{:30}", row.case);
    for arm in &row.arms {
        text.push_str(&format!("  {} {:.3}", arm.name, arm.least() / 1e3));
    }
    text
}
