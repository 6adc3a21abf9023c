//! Steps that are run one after the other, timed, and summed up at the end.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A program with its arguments and what is added to its environment.
pub(crate) struct Program {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

/// The cargo that runs this program, with `arguments`.
pub(crate) fn cargo(arguments: &[&str]) -> Program {
    Program {
        program: std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()),
        arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
        environment: Vec::new(),
    }
}

impl Program {
    /// The same with a variable in its environment.
    pub(crate) fn with_environment(mut self, name: &'static str, value: &'static str) -> Program {
        self.environment.push((name, value));
        self
    }

    fn display(&self) -> String {
        let variables = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={value:?} "));
        format!(
            "{}cargo {}",
            variables.collect::<String>(),
            self.arguments.join(" ")
        )
    }
}

struct Outcome {
    name: &'static str,
    duration: Duration,
    problem: Option<String>,
}

/// Steps taken so far. A step that fails does not keep the later ones from running.
pub(crate) struct Run {
    directory: PathBuf,
    outcomes: Vec<Outcome>,
}

impl Run {
    /// No steps yet; programs will run in `directory`.
    pub(crate) fn new(directory: PathBuf) -> Run {
        Run {
            directory,
            outcomes: Vec::new(),
        }
    }

    /// Runs a program and shows its output as it comes.
    pub(crate) fn command(&mut self, name: &'static str, program: &Program) {
        eprintln!("── {name}: {}", program.display());
        let directory = self.directory.clone();
        self.step(name, || {
            let status = Command::new(&program.program)
                .args(&program.arguments)
                .envs(program.environment.iter().copied())
                .current_dir(directory)
                .status();
            match status {
                Ok(status) if status.success() => None,
                Ok(status) => Some(status.to_string()),
                Err(error) => Some(format!("{} does not start: {error}", program.program)),
            }
        });
    }

    /// Runs a check of this crate: a list of findings, each with its place, or why the check could not be made.
    pub(crate) fn check(
        &mut self,
        name: &'static str,
        check: impl FnOnce() -> Result<Vec<String>, String>,
    ) {
        eprintln!("── {name}");
        self.step(name, || match check() {
            Ok(findings) if findings.is_empty() => None,
            Ok(findings) => {
                for finding in &findings {
                    eprintln!("{finding}");
                }
                Some(match findings.len() {
                    1 => "1 finding".to_owned(),
                    many => format!("{many} findings"),
                })
            }
            Err(error) => Some(error),
        });
    }

    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Option<String>) {
        let start = Instant::now();
        let problem = work();
        self.outcomes.push(Outcome {
            name,
            duration: start.elapsed(),
            problem,
        });
    }

    /// Prints what ran and how long it took, and says whether all of it passed.
    pub(crate) fn finish(self) -> ExitCode {
        let (summary, passed) = self.summary();
        eprint!("{summary}");
        if passed {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn summary(&self) -> (String, bool) {
        let mut text = String::from("──\n");
        for outcome in &self.outcomes {
            let seconds = outcome.duration.as_secs_f64();
            let verdict = match &outcome.problem {
                None => "passed".to_owned(),
                Some(problem) => format!("FAILED: {problem}"),
            };
            text.push_str(&format!("{:10} {seconds:7.1} s  {verdict}\n", outcome.name));
        }
        let failed = self.outcomes.iter().filter(|one| one.problem.is_some());
        let failed = failed.count();
        let passed = self.outcomes.len() - failed;
        text.push_str(&format!("steps: {passed} passed, {failed} failed\n"));
        (text, failed == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_finding_fails_the_run_and_later_steps_still_run() {
        let mut run = Run::new(PathBuf::from("."));
        run.check("first", || Ok(vec!["a.rs:1: wrong".to_owned()]));
        run.check("second", || Ok(Vec::new()));
        run.check("third", || Err("no such file".to_owned()));
        let (summary, passed) = run.summary();
        assert!(!passed);
        assert!(summary.contains("FAILED: 1 finding"), "{summary}");
        assert!(summary.contains("FAILED: no such file"), "{summary}");
        assert!(
            summary.ends_with("steps: 1 passed, 2 failed\n"),
            "{summary}"
        );
    }

    #[test]
    fn a_program_that_fails_or_does_not_start_fails_the_run() {
        let mut run = Run::new(std::env::temp_dir());
        run.command("unknown", &cargo(&["no-such-subcommand-of-cargo"]));
        run.command(
            "absent",
            &Program {
                program: "no-such-program-anywhere".to_owned(),
                arguments: Vec::new(),
                environment: Vec::new(),
            },
        );
        let (summary, passed) = run.summary();
        assert!(
            !passed && summary.contains("steps: 0 passed, 2 failed"),
            "{summary}"
        );
    }
}
