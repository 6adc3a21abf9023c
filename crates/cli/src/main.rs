//! `tilewright`: kernels from files, run on files.
//!
//! The program is a thin edge. It reads what people hand over with distrust, gives it to the compiler, and writes results
//! whole or not at all. Exit codes: 0, it is done; 1, the input is wrong (diagnostics on stderr say where and what to do);
//! 2, the command line is wrong. A reader that closes the pipe ends the program quietly.

mod arguments;
mod bindings;
mod commands;
mod failure;
mod files;
mod host_tensor;
mod kernel_source;
mod nearest;
mod npy;
mod safetensors;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser as _;
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(usage) => {
            // Help goes to stdout, whose reader may have gone; there is nobody to tell.
            let _ = usage.print();
            return ExitCode::from(if usage.use_stderr() { 2 } else { 0 });
        }
    };
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Check(arguments) => commands::check::check(&arguments),
        Command::Fmt(arguments) => commands::fmt::fmt(&arguments),
        Command::Emit(arguments) => commands::emit::emit(&arguments),
        Command::Build(arguments) => commands::build::build(&arguments),
        Command::Explain(arguments) => commands::explain::explain(&arguments),
    }
}
