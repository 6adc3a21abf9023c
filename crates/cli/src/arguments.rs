//! The command line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use machine::{KNOWN_MACHINES, Machine};
use planner::{Pins, Request, Rule, Rules};
use tilewright::{CompileOptions, Stage};

use crate::failure::Failure;

/// Compiles small tensor programs into SIMD machine code, and runs them on files.
#[derive(Debug, Parser)]
#[command(
    name = "tilewright",
    version,
    after_help = "Exit codes: 0, done; 1, the input is wrong; 2, the command line is wrong.\n\
                  A file named `-` is stdin or stdout. NO_COLOR switches colours off."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile a kernel, run it on files, save what it computes
    Run(RunArguments),
    /// Look for mistakes in kernels; say nothing if there are none
    Check(CheckArguments),
    /// Lay kernels out in house style, comments kept
    Fmt(FmtArguments),
    /// Show a kernel at one stage of its compilation
    Emit(Box<EmitArguments>),
    /// Compile kernels into an object file or a static library, with a C header
    Build(Box<BuildArguments>),
    /// Say which loads may join their first consumer, what that would change, or why they may not
    Explain(ExplainArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tilewright run rmsnorm.tile x=x.npy w=model.safetensors:norm.weight eps=1e-6 -o y=y.npy\n\n\
                        Outputs are `mut` views. They take their shape from the axes, begin as zeros unless a file is given \
                        for them too, and appear whole or not at all."
)]
pub(crate) struct RunArguments {
    /// The kernel's text
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: PathBuf,
    /// An argument: an .npy file, a tensor as FILE.safetensors:NAME, or a number
    #[arg(value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(Binding::parse))]
    pub(crate) bindings: Vec<Binding>,
    /// Save a `mut` view as an .npy file
    #[arg(short, long = "output", value_name = "NAME=FILE",
          value_parser = OsStringValueParser::new().try_map(Binding::parse))]
    pub(crate) outputs: Vec<Binding>,
    #[command(flatten)]
    pub(crate) compilation: CompilationArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Kernels' texts
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArguments {
    /// Kernels' texts
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<PathBuf>,
    /// Rewrite the files instead of printing
    #[arg(long)]
    pub(crate) write: bool,
    /// Print nothing; exit with 1 if a file would change
    #[arg(long, conflicts_with = "write")]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EmitArguments {
    /// The kernel's text
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: PathBuf,
    /// What to show: tile (the kernel, one operation a line), plan, xir (the program over packets), clif, asm
    #[arg(long, value_name = "STAGE",
          value_parser = PossibleValuesParser::new(Stage::ALL.map(Stage::name)).map(stage_of))]
    pub(crate) stage: Stage,
    /// The machine to compile for
    #[arg(long, value_name = "MACHINE", value_parser = machine_of)]
    pub(crate) target: Option<Machine>,
    /// Where to save it
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) compilation: CompilationArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tilewright build rmsnorm.tile --target aarch64-linux --prefix model -o k.o --header k.h"
)]
pub(crate) struct BuildArguments {
    /// Kernels' texts
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<PathBuf>,
    /// The machine to compile for
    #[arg(long, value_name = "MACHINE", value_parser = machine_of)]
    pub(crate) target: Option<Machine>,
    /// What every name in the library begins with, before an underscore
    #[arg(long, value_name = "NAME", default_value = "tilewright")]
    pub(crate) prefix: String,
    /// Where to save the code: a static library if the name ends in .a, else an object file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Where to save the C header
    #[arg(long, value_name = "FILE")]
    pub(crate) header: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) compilation: CompilationArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The kernel's text
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: PathBuf,
    /// Print records with stable keys instead of sentences
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) compilation: CompilationArguments,
}

/// How to compile; every command that compiles takes these.
#[derive(Debug, Args)]
pub(crate) struct CompilationArguments {
    /// The extent of an axis that no input tells
    #[arg(long = "axis", value_name = "NAME=EXTENT", value_parser = axis_extent)]
    axes: Vec<(String, u32)>,
    /// What to fix about the plan, such as width=8,local=8,partials=4
    #[arg(long, value_name = "PINS")]
    plan: Option<Pins>,
    /// Let a fusion happen where it is legal
    #[arg(long, value_name = "RULE")]
    enable: Vec<Rule>,
    /// Keep a fusion from happening; wins over --enable
    #[arg(long, value_name = "RULE")]
    disable: Vec<Rule>,
}

impl CompilationArguments {
    /// The extents given, each axis once.
    pub(crate) fn axes(&self) -> Result<&[(String, u32)], Failure> {
        let names = self.axes.iter().map(|(name, _)| name.as_str());
        match repeated(names) {
            Some(name) => Err(Failure::Usage(format!("--axis gives axis `{name}` twice"))),
            None => Ok(&self.axes),
        }
    }

    /// The options for the compiler.
    pub(crate) fn options(&self) -> CompileOptions {
        let rules = Rules::resolve(&self.enable, &self.disable);
        CompileOptions {
            request: Request {
                pins: self.plan.unwrap_or_default(),
                rules,
            },
        }
    }
}

/// The first name that comes a second time.
pub(crate) fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// `NAME=VALUE`, where the value may be a path that is no UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: String,
    pub(crate) value: OsString,
}

/// Why a word of the command line is no binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BindingError {
    #[error("write NAME=VALUE")]
    NoEquals,
    #[error("the name before `=` is empty")]
    NoName,
    #[error("the value after `=` is empty")]
    NoValue,
    #[error("the name before `=` is not UTF-8")]
    Encoding,
}

impl Binding {
    fn parse(word: OsString) -> Result<Binding, BindingError> {
        let (name, value) = split_at_byte(&word, b"=").ok_or(BindingError::NoEquals)?;
        let name = name.to_str().ok_or(BindingError::Encoding)?;
        if name.is_empty() {
            return Err(BindingError::NoName);
        }
        if value.is_empty() {
            return Err(BindingError::NoValue);
        }
        Ok(Binding {
            name: name.to_owned(),
            value,
        })
    }
}

/// What stands before and after the first `separator` (which is ASCII).
#[cfg(unix)]
pub(crate) fn split_at_byte(word: &OsStr, separator: &[u8]) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let bytes = word.as_bytes();
    let at = bytes
        .windows(separator.len())
        .position(|window| window == separator)?;
    let own = |part: &[u8]| OsString::from_vec(part.to_vec());
    Some((own(&bytes[..at]), own(&bytes[at + separator.len()..])))
}

/// What stands before and after the first `separator` (which is ASCII).
#[cfg(not(unix))]
pub(crate) fn split_at_byte(word: &OsStr, separator: &[u8]) -> Option<(OsString, OsString)> {
    let (before, after) = word.to_str()?.split_once(str::from_utf8(separator).ok()?)?;
    Some((before.into(), after.into()))
}

fn axis_extent(word: &str) -> Result<(String, u32), String> {
    let (name, extent) = word
        .split_once('=')
        .ok_or("write NAME=EXTENT, such as col=64")?;
    let extent = extent
        .parse()
        .map_err(|_| format!("`{extent}` is no extent; write a number up to {}", i32::MAX))?;
    Ok((name.to_owned(), extent))
}

fn machine_of(name: &str) -> Result<Machine, String> {
    if name == "host" {
        return Machine::host().map_err(|error| error.to_string());
    }
    Machine::named(name).map_err(|_| format!("write host or one of {}", KNOWN_MACHINES.join(", ")))
}

fn stage_of(name: String) -> Stage {
    let found = Stage::ALL.into_iter().find(|stage| stage.name() == name);
    found.expect("the parser lets only stages' names through")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn bindings_split_at_the_first_equals_sign() {
        let parse = |word: &str| Binding::parse(word.into());
        assert_eq!(
            parse("x=a=b.npy"),
            Ok(Binding {
                name: "x".to_owned(),
                value: "a=b.npy".into()
            })
        );
        assert_eq!(parse("x"), Err(BindingError::NoEquals));
        assert_eq!(parse("=x"), Err(BindingError::NoName));
        assert_eq!(parse("x="), Err(BindingError::NoValue));
    }

    #[test]
    fn extents_are_numbers() {
        assert_eq!(axis_extent("col=64"), Ok(("col".to_owned(), 64)));
        assert!(axis_extent("col").is_err());
        assert!(axis_extent("col=-1").is_err());
        assert!(axis_extent("col=4294967296").is_err());
    }
}
