//! Kernels on the caller's memory: views, binding, launching; the only caller of generated code.
//!
//! Generated code believes every number in its launch record. One extent too large, one stride that wraps, one output laid
//! over an input, and it writes where nobody expects. So everything is checked here, before a byte is written: [`bind`]
//! compares named [`Argument`]s with the [`Signature`] of a kernel and gives a [`Bound`] call, which can be launched any
//! number of times, or a [`BindError`] that names the argument and says what would fit. Laws: a refused call writes nothing;
//! a launched call touches only elements of its views (**no stray access**).
//!
//! A [`View`] borrows memory and owns none: a slice, bytes of a file, or a pointer for which the caller vouches. Shapes and
//! strides are in elements; strides may be zero or negative; data need not be aligned.
//!
//! A launch runs on the caller's thread and starts no other. This crate knows no tile, no plan and no compiler.

#![allow(
    unsafe_code,
    reason = "this crate calls generated code: the contract of kernel-abi is checked in `bind` and relied on in `launch`"
)]

mod argument;
mod axes;
mod bind;
mod element;
mod error;
mod launch;
mod overlap;
mod signature;
mod view;
mod workspace;

#[cfg(feature = "guarded")]
pub mod guarded;

pub use argument::Argument;
pub use bind::bind;
pub use element::Element;
pub use error::{BindError, ViewError, ViewText};
pub use launch::{Bound, Hook};
pub use signature::{AxisSignature, ParamSignature, Signature, ViewSignature};
pub use view::View;
