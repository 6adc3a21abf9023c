//! The plain C rivals: benches/c/kernels.c by the compilers that are here.

use std::path::{Path, PathBuf};
use std::process::Command;

use native_entry::Library;

use super::PeerError;
use super::arm::Arm;
use super::workbench::Workbench;
use crate::RivalError;
use crate::rival::output;

/// A C compiler and what it is told.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The column.
    pub name: &'static str,
    program: &'static str,
    flags: &'static [&'static str],
    /// Whether it is of interest only where elements go through exp, tanh or erf.
    for_functions: bool,
    /// Its version and flags.
    pub description: String,
}

const FAST: [&str; 3] = ["-O3", "-march=native", "-ffast-math"];

const ROWS: [(&str, &str, &[&str], bool); 4] = [
    ("gcc", "gcc", &[], false),
    ("clang", "clang-19", &["-fveclib=libmvec"], false),
    ("gcc poly", "gcc", &["-DPOLYNOMIAL"], true),
    ("clang poly", "clang-19", &["-DPOLYNOMIAL"], true),
];

/// The compilers that start; gcc has to be among them.
///
/// # Errors
/// [`RivalError`] where gcc does not start.
pub fn compilers() -> Result<Vec<Compiler>, RivalError> {
    let mut found = Vec::new();
    for (name, program, flags, for_functions) in ROWS {
        let version = match output(Command::new(program).arg("--version")) {
            Ok(version) => version,
            Err(error) if program == "gcc" => return Err(error),
            Err(_) => continue,
        };
        let version = version.lines().next().unwrap_or(program).trim();
        found.push(Compiler {
            name,
            program,
            flags,
            for_functions,
            description: format!("{version}, {} {}", FAST.join(" "), flags.join(" ")),
        });
    }
    Ok(found)
}

impl Compiler {
    /// Its arm on a case; none where the compiler has nothing to add to another one of its kind.
    ///
    /// # Errors
    /// Where it refuses the program.
    pub fn arm<'b>(
        &self,
        bench: &'b Workbench,
        directory: &Path,
    ) -> Result<Option<Arm<'b>>, PeerError> {
        let kernel = bench.case.kernel;
        if self.for_functions && !kernel.calls_functions() {
            return Ok(None);
        }
        let shape = [
            format!("-DROWS={}", bench.case.rows),
            format!("-DCOLS={}", bench.case.cols),
        ];
        let library = self.build("kernels.c", &shape, directory)?;
        let mut pointers: Vec<*mut u8> = bench.inputs.iter().map(|one| one.pointer()).collect();
        pointers.push(bench.output.pointer());
        // SAFETY: the library was just built from our own source, where the kernel takes its inputs and its output in this
        // order and keeps to arrays of the shape it was built for.
        let mut entry = unsafe { Library::open(&library)?.entry(kernel.name(), &pointers)? };
        Ok(Some(bench.arm(
            self.name,
            self.description.clone(),
            Box::new(move || entry.call()),
        )))
    }

    fn build(
        &self,
        source: &str,
        shape: &[String],
        directory: &Path,
    ) -> Result<PathBuf, RivalError> {
        let name = format!("{}{}", self.name, shape.concat()).replace([' ', '='], "_");
        let flags: Vec<&str> = FAST.iter().chain(self.flags).copied().collect();
        let flags = flags.into_iter().chain(shape.iter().map(String::as_str));
        build(
            self.program,
            flags,
            source,
            &directory.join(format!("{name}.so")),
        )
    }
}

/// Builds a file of benches/c as a shared library, unless it is there already.
pub(super) fn build<'f>(
    program: &str,
    flags: impl IntoIterator<Item = &'f str>,
    source: &str,
    library: &Path,
) -> Result<PathBuf, RivalError> {
    if !library.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c").join(source);
        let mut command = Command::new(program);
        command
            .args(flags)
            .args(["-std=gnu11", "-shared", "-fPIC", "-o"]);
        output(command.arg(library).arg(source).arg("-lm"))?;
    }
    Ok(library.to_owned())
}
