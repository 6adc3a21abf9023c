//! Generated code on this machine, with every buffer beside a page that nobody may touch.

use std::sync::OnceLock;

use cranelift_backend::Target;
use kernel_abi::Executable;
use machine::Machine;
use reference::{Argument, Memory};
use runtime::guarded::{Guarded, Placement, Side};
use tile_ir::Verified;

use crate::case::RunCase;

/// Why generated code did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The arguments were refused; nothing was written.
    Refused(String),
    /// It could not be compiled, or memory is missing.
    Failed(String),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Refused(why) => write!(f, "the launch refuses: {why}"),
            Stopped::Failed(why) => f.write_str(why),
        }
    }
}

fn failed(error: impl ToString) -> Stopped {
    Stopped::Failed(error.to_string())
}

/// This machine as a target.
///
/// # Errors
/// What the machine lacks.
pub fn host() -> Result<&'static Target, Stopped> {
    static HOST: OnceLock<Result<Target, String>> = OnceLock::new();
    let made = HOST.get_or_init(|| {
        let machine = Machine::host().map_err(|error| error.to_string())?;
        Target::new(&machine).map_err(|error| error.to_string())
    });
    made.as_ref().map_err(failed)
}

/// Compiles a program for this machine and makes it callable.
///
/// # Errors
/// What the code generator or the system says.
pub fn compile(program: &xir::Verified) -> Result<Executable, Stopped> {
    let code = cranelift_backend::compile(program, host()?).map_err(failed)?;
    cranelift_backend::load(&code).map_err(failed)
}

/// Runs code on copies of a case's buffers, each with forbidden pages at `side`; gives the memory afterwards.
///
/// # Errors
/// A launch that is refused, with its message, or memory that is missing.
pub fn run(
    run: &RunCase,
    code: &Executable,
    kernel: &Verified,
    side: Side,
) -> Result<Memory, Stopped> {
    let mut buffers = Vec::new();
    for buffer in 0..run.memory.len() {
        buffers.push(Guarded::copy_of(run.memory.bytes(buffer), side).map_err(failed)?);
    }
    launch(run, code, kernel, &mut buffers)?;
    let mut memory = Memory::new();
    for buffer in &buffers {
        memory.add(buffer.bytes().to_vec());
    }
    Ok(memory)
}

fn launch(
    run: &RunCase,
    code: &Executable,
    kernel: &Verified,
    buffers: &mut [Guarded],
) -> Result<(), Stopped> {
    let shapes: Vec<Vec<usize>> = run
        .arguments
        .params
        .iter()
        .map(|argument| match argument {
            Argument::View(place) => place.shape.iter().map(|&extent| extent as usize).collect(),
            Argument::Scalar(_) => Vec::new(),
        })
        .collect();
    // One row a parameter: its argument once made.
    let mut arguments: Vec<Option<runtime::Argument<'_>>> = Vec::new();
    for argument in &run.arguments.params {
        arguments.push(match argument {
            Argument::View(_) => None,
            Argument::Scalar(value) => Some((*value).into()),
        });
    }
    for (index, buffer) in buffers.iter_mut().enumerate() {
        let mut rows = Vec::new();
        let mut placements = Vec::new();
        for (row, (param, argument)) in kernel.params().zip(&run.arguments.params).enumerate() {
            if let (Argument::View(place), Some(view)) = (argument, kernel.view(param))
                && place.buffer == index
            {
                rows.push(row);
                placements.push(Placement {
                    origin: usize::try_from(place.offset).map_err(failed)? * view.element.size(),
                    element: view.element,
                    shape: &shapes[row],
                    strides: &place.strides,
                    mutable: view.mutable,
                });
            }
        }
        for (row, view) in rows
            .into_iter()
            .zip(buffer.views(&placements).map_err(failed)?)
        {
            arguments[row] = Some(view.into());
        }
    }
    let named = kernel
        .params()
        .zip(arguments)
        .filter_map(|(param, argument)| Some((kernel.param(param).name.clone(), argument?)))
        .collect();
    let extents: Vec<(usize, u32)> = run
        .arguments
        .extents
        .iter()
        .map(|&(axis, extent)| (axis.index(), extent))
        .collect();
    let signature = tilewright::signature(kernel);
    let mut bound = runtime::bind(code, &signature, named, &extents)
        .map_err(|error| Stopped::Refused(error.to_string()))?;
    bound.launch();
    Ok(())
}
