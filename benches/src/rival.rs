//! A C program built on this machine, that times itself by the same protocol.
//!
//! It runs in a process of its own, so that nothing foreign is loaded here, and its compiler may do what C programmers
//! let it do: `-O3 -march=native -ffast-math`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Protocol, Visit};

/// The flags a rival is built with.
const FLAGS: [&str; 3] = ["-O3", "-march=native", "-ffast-math"];

/// A program built from `benches/c`.
pub struct Rival {
    program: PathBuf,
    /// The compiler's name and version, and the flags.
    pub description: String,
}

/// Why a rival has no time.
#[derive(Debug, thiserror::Error)]
pub enum RivalError {
    /// The compiler or the program did not start.
    #[error("`{program}` does not start: {source}")]
    Start {
        /// What was started.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The compiler or the program failed.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// What was run.
        program: String,
        /// What it wrote to its standard error.
        message: String,
    },
    /// The program printed something that is no time.
    #[error("`{program}` printed `{line}`, which is no time")]
    Output {
        /// What was run.
        program: String,
        /// What it printed.
        line: String,
    },
}

impl Rival {
    /// Builds `benches/c/NAME.c` with gcc into `directory`.
    ///
    /// # Errors
    ///
    /// [`RivalError::Start`] where there is no gcc, [`RivalError::Failed`] where it refuses the program.
    pub fn build(name: &str, directory: &Path) -> Result<Rival, RivalError> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("c/{name}.c"));
        let program = directory.join(name);
        let version = output(Command::new("gcc").arg("--version"))?;
        let mut build = Command::new("gcc");
        build
            .args(FLAGS)
            .arg("-o")
            .arg(&program)
            .arg(source)
            .arg("-lm");
        output(&mut build)?;
        Ok(Rival {
            program,
            description: format!(
                "{} {}",
                version.lines().next().unwrap_or("gcc"),
                FLAGS.join(" ")
            ),
        })
    }

    /// Runs it on a `rows` by `columns` input: the samples, and its largest error against double precision.
    ///
    /// # Errors
    ///
    /// As the variants of [`RivalError`] say.
    pub fn visit(
        &self,
        protocol: &Protocol,
        rows: usize,
        columns: usize,
    ) -> Result<(Visit, f64), RivalError> {
        let arguments = [
            rows.to_string(),
            columns.to_string(),
            (protocol.warm_up.as_secs_f64() * 1e3).to_string(),
            protocol.samples.to_string(),
            (protocol.sample.as_secs_f64() * 1e3).to_string(),
        ];
        let printed = output(Command::new(&self.program).args(arguments))?;
        let wrong = |line: &str| RivalError::Output {
            program: self.program.display().to_string(),
            line: line.to_owned(),
        };
        let mut samples = Vec::new();
        let mut error = f64::NAN;
        for line in printed.lines() {
            match line.strip_prefix("error ") {
                Some(figure) => error = figure.parse().map_err(|_| wrong(line))?,
                None => samples.push(line.parse().map_err(|_| wrong(line))?),
            }
        }
        if samples.len() != protocol.samples || error.is_nan() {
            return Err(wrong(&printed));
        }
        Ok((Visit { samples }, error))
    }
}

pub(crate) fn output(command: &mut Command) -> Result<String, RivalError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| RivalError::Start {
        program: program.clone(),
        source,
    })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(RivalError::Failed {
            program,
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_c_program_is_right_and_prints_every_sample() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let rival = match Rival::build("rmsnorm", directory.path()) {
            Ok(rival) => rival,
            Err(RivalError::Start { .. }) if std::env::var_os("CI").is_none() => {
                eprintln!("SKIPPED: no gcc to build the C program with");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let protocol = Protocol {
            warm_up: Duration::ZERO,
            samples: 3,
            sample: Duration::from_millis(1),
            rounds: 2,
        };
        let (visit, error) = rival.visit(&protocol, 3, 65).expect("it runs");
        assert_eq!(visit.samples.len(), 3);
        assert!(visit.median() > 0.0 && error < 1e-5, "{visit:?} {error}");
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_what_it_said() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let error = Rival::build("no-such-program", directory.path()).err();
        let error = error.expect("there is no such source").to_string();
        assert!(error.contains("gcc"), "{error}");
    }
}
