//! What TileIR and XIR mean: plain interpreters, and an oracle in binary64.
//!
//! Generated code can only be called right if something says what right is. This crate says it, slowly and plainly: the
//! interpreter of TileIR ([`interpret`]) gives the bits a kernel means, given the trees of a plan; the interpreter of XIR
//! gives the bits a lowered program means; and the oracle ([`oracle()`]) says what the kernel would give with exact enough
//! arithmetic, which bounds how far bits may be from the truth.
//!
//! A kernel runs on a [`Memory`] of byte buffers. [`Arguments`] put each view somewhere into it, and views may alias in any
//! way. The fused mode ([`fused`]) carries out a fusion operation by operation, so that an illegal one shows.
//!
//! This crate knows no plan, no machine and no generated code.

pub mod arguments;
pub mod bits;
pub mod compare;
pub mod error_functions;
pub mod fused;
pub mod interpreter;
pub mod memory;
pub mod oracle;
pub mod sums;
pub mod xir_interpreter;

mod meaning;
mod walker;

pub use arguments::{Argument, ArgumentError, Arguments, Place};
pub use compare::{Report, Tolerance, compare};
pub use fused::{Fusion, Traversal};
pub use interpreter::{Hook, InterpretError, Options, interpret, interpret_with_hook};
pub use memory::Memory;
pub use oracle::oracle;
pub use sums::exact_sum;
