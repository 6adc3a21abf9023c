//! Small tensor programs compiled to SIMD machine code in milliseconds, and run on your own memory.
//!
//! A kernel is text (or built by [`tile_ir::KernelBuilder`](prelude)): whole tiles, named axes, sums with a stated order. [`parse`] checks it,
//! [`compile`] makes code for this machine, [`Executable::run`] runs it on slices.
//!
//! ```
//! use tilewright::prelude::*;
//!
//! let kernel = tilewright::parse(
//!     "kernel scale(x: view f32[row, col], y: mut view f32[row, col], by: f32) where col = 3 {
//!        parallel r: row { store y[r, :] = load x[r, :] * by }
//!      }",
//! )?;
//! let executable = tilewright::compile(&kernel, &CompileOptions::default())?;
//! let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let mut y = [0.0f32; 6];
//! executable.run(vec![
//!     ("x".into(), View::new(&x, &[2, 3])?.into()),
//!     ("y".into(), View::new_mut(&mut y, &[2, 3])?.into()),
//!     ("by".into(), 10.0.into()),
//! ])?;
//! assert_eq!(y, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No type of Cranelift is in this API, nothing is printed and no thread is started.

pub mod aot;
mod error;
mod executable;
pub mod explain;
mod options;
mod stages;
mod translate;

pub use error::Error;
pub use executable::{Executable, compile, compile_traced, signature};
pub use options::CompileOptions;
pub use stages::{Stage, emit};
pub use translate::{Trace, Translation, translate};

use diagnostics::Diagnostics;
use tile_ir::Verified;

/// Reads and checks a kernel. An axis may stay without extent; [`specialize`] gives it one.
///
/// # Errors
/// Every mistake of the text and every rule it breaks, at once.
pub fn parse(text: &str) -> Result<Verified, Diagnostics> {
    tile_ir::parse_verified(text)
}

/// A kernel with the extents of some axes fixed, by name.
///
/// # Errors
/// A name the kernel doesn't have, an extent of 0, an extent that contradicts the kernel.
pub fn specialize(kernel: &Verified, extents: &[(&str, u32)]) -> Result<Verified, Error> {
    let mut fixed = Vec::new();
    for &(name, extent) in extents {
        let axis = kernel.find_axis(name).ok_or_else(|| Error::UnknownAxis {
            axis: name.to_string(),
        })?;
        fixed.push((axis, extent));
    }
    Ok(kernel.specialize(&fixed)?)
}

/// What most programs need.
pub mod prelude {
    pub use crate::{CompileOptions, Error, Executable};
    pub use numerics::{ElementType, Scalar};
    pub use planner::{Pins, Request, Rule, Rules};
    pub use runtime::{Argument, View, ViewError};
    pub use tile_ir::Verified;
}
