//! From a verified kernel to verified XIR: the front half of the flow, every step on one screen.

use planner::{Request, plan_for};
use simd_mapping::Realization;
use tile_ir::Verified;

use crate::error::Error;

/// Sees the program after lowering and after each pass that changed it, under the pass' name.
pub type Trace<'t> = &'t mut dyn FnMut(&str, &xir::Program);

/// A kernel with its plan laid out, and its code over packets.
#[derive(Clone, Debug)]
pub struct Translation {
    /// What was decided.
    pub realization: Realization,
    /// What came of it.
    pub program: xir::Verified,
}

/// Admits, plans, lays out, lowers and optimises a kernel.
///
/// # Errors
/// An axis without extent, a pin that can't be kept, a plan that can't be realised.
pub fn translate(
    kernel: &Verified,
    request: &Request,
    trace: Option<Trace<'_>>,
) -> Result<Translation, Error> {
    if let Some(&axis) = kernel.open_axes().first() {
        return Err(Error::OpenAxis {
            axis: kernel.axis(axis).name.clone(),
        });
    }
    let admission = fusion_legality::admit(kernel);
    let plan = plan_for(&admission, request)?;
    let realization = simd_mapping::realize(admission, &plan)?;
    let mut program = lowering::lower(&realization);
    match trace {
        Some(trace) => {
            trace("lower", &program);
            xir_opt::optimise(&mut program, Some(trace));
        }
        None => xir_opt::optimise(&mut program, None),
    }
    let program = xir::verify(program)
        .unwrap_or_else(|rejected| panic!("lowering broke a rule of XIR: {rejected}"));
    Ok(Translation {
        realization,
        program,
    })
}
