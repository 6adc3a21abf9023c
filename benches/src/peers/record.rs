//! What is kept of a run: every sample, and what it takes to judge them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::PeerError;
use super::arm::Timed;
use super::case::Case;

/// Where and with what a run was made.
#[derive(Clone, Debug, Serialize)]
pub struct Environment {
    /// UTC, to the second.
    pub date: String,
    /// The processor's name, family and model.
    pub processor: String,
    /// Its vector extensions that matter here.
    pub vectors: String,
    /// The operating system's kernel.
    pub system: String,
    /// What was done to keep the processor quiet.
    pub quiet: String,
}

impl Environment {
    /// This machine, now; `quiet` says how it was kept quiet.
    pub fn here(quiet: &native_entry::priority::Quiet) -> Environment {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpu
                .lines()
                .find(|line| line.split(':').next().map(str::trim) == Some(name));
            line.and_then(|line| line.split(':').nth(1))
                .unwrap_or("?")
                .trim()
                .to_owned()
        };
        let flags = field("flags");
        let vectors = ["avx2", "fma", "avx512f"].into_iter();
        let vectors: Vec<&str> = vectors
            .filter(|&one| flags.split(' ').any(|flag| flag == one))
            .collect();
        let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let place = quiet
            .processor
            .map_or("any processor".to_owned(), |one| format!("processor {one}"));
        let class = match &quiet.refused {
            None => "real-time priority".to_owned(),
            Some(error) => format!("ordinary priority ({error})"),
        };
        Environment {
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            processor: format!(
                "{}, family {} model {}",
                field("model name"),
                field("cpu family"),
                field("model")
            ),
            vectors: vectors.join(" "),
            system: format!("{} {}", std::env::consts::OS, system.trim()),
            quiet: format!("one thread on {place}, {class}"),
        }
    }
}

/// One case with its arms.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The case's name.
    pub case: String,
    #[serde(skip)]
    pub(super) of: Case,
    /// Bytes of our machine code.
    pub code_bytes: usize,
    /// How many plans were tried.
    pub plans_tried: usize,
    /// The arms, ours first.
    pub arms: Vec<Timed>,
}

impl Row {
    /// A case with its arms, ours first.
    pub fn new(case: Case, code_bytes: usize, plans_tried: usize, arms: Vec<Timed>) -> Row {
        Row {
            case: case.name(),
            of: case,
            code_bytes,
            plans_tried,
            arms,
        }
    }

    /// The arm of a column.
    pub fn arm(&self, name: &str) -> Option<&Timed> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// Median same-round ratio of our time to an arm's.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        Some(self.arm("ours")?.ratio(self.arm(name)?))
    }
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Where and with what.
    pub environment: Environment,
    /// Rounds, samples a visit, and the lengths of warm-up and sample.
    pub protocol: String,
    /// The cases.
    pub rows: Vec<Row>,
}

impl Record {
    /// Writes it to `directory/DATE.json` and says where.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn save(&self, directory: &Path) -> Result<PathBuf, PeerError> {
        fs::create_dir_all(directory).map_err(PeerError::file(directory))?;
        let path = directory.join(format!("{}.json", self.environment.date.replace(':', "")));
        let text = serde_json::to_string(self).map_err(|error| PeerError::Content {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
        fs::write(&path, text).map_err(PeerError::file(&path))?;
        Ok(path)
    }
}
