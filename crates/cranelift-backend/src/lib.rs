//! XIR to machine code by Cranelift, for aarch64 and x86-64; the only crate that says `cranelift`.
//!
//! XIR says what each lane of a packet computes and in which order; a processor has 128-bit registers, a calling
//! convention and its own ideas of minimum, division and masks. This crate maps one to the other, chunk by chunk, and
//! decides nothing else: no operation is moved, contracted, reassociated or widened beyond the bytes it names. Laws: the
//! same program and target give the same bytes (**determinism**), generated code touches only the elements its accesses
//! name (**no stray access**), and every operation gives the bits that `numerics` defines (**same bits**).
//!
//! [`compile`] makes [`Code`] for any target on any host; [`load`] puts it into this process as a
//! [`kernel_abi::Executable`]; [`emit_object`] writes it into an object file; [`disassemble`] and [`clif_text`] show it.
//!
//! It knows no tile, no plan and no cost.

#![allow(
    unsafe_code,
    reason = "code is written into memory and turned into function pointers here: `load` and `mapping` make the promise \
              that kernel-abi states"
)]

mod code;
mod compile;
mod disassemble;
mod emit;
mod error;
mod load;
mod mapping;
mod object;
mod target;

pub use code::{Code, FunctionCode};
pub use compile::{STACK_LIMIT, clif_text, compile};
pub use disassemble::disassemble;
pub use error::{CompileError, LoadError, ObjectError, TargetError};
pub use load::load;
pub use object::{Constant, emit_object, emit_object_with, entry_symbol};
pub use target::{SelfCheck, Target};
