//! A kernel at each stage of its way, as text: what `emit` shows.

use machine::Machine;
use tile_ir::Verified;

use crate::error::Error;
use crate::options::CompileOptions;
use crate::translate::translate;

/// A stage that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The kernel, one operation a line.
    Tile,
    /// The plan and what follows from it.
    Plan,
    /// The program over packets, optimised.
    Xir,
    /// Cranelift's functions.
    Clif,
    /// Machine code.
    Asm,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 5] = [
        Stage::Tile,
        Stage::Plan,
        Stage::Xir,
        Stage::Clif,
        Stage::Asm,
    ];

    /// The name the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Tile => "tile",
            Stage::Plan => "plan",
            Stage::Xir => "xir",
            Stage::Clif => "clif",
            Stage::Asm => "asm",
        }
    }
}

/// A kernel at a stage, for a machine.
///
/// # Errors
/// As [`compile`](crate::compile).
pub fn emit(
    kernel: &Verified,
    options: &CompileOptions,
    machine: &Machine,
    stage: Stage,
) -> Result<String, Error> {
    if stage == Stage::Tile {
        return Ok(tile_ir::print(kernel));
    }
    let translation = translate(kernel, &options.request, None)?;
    match stage {
        Stage::Tile | Stage::Plan => Ok(translation.realization.to_string()),
        Stage::Xir => Ok(translation.program.to_string()),
        Stage::Clif => {
            let target = cranelift_backend::Target::new(machine)?;
            Ok(cranelift_backend::clif_text(&translation.program, &target)?)
        }
        Stage::Asm => {
            let target = cranelift_backend::Target::new(machine)?;
            let code = cranelift_backend::compile(&translation.program, &target)?;
            Ok(cranelift_backend::disassemble(&code))
        }
    }
}
