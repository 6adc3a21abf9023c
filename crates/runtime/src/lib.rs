//! Tensors of the caller, bound to a kernel and launched; the only caller of generated code.
//!
//! Generated code believes what it is told: a wrong extent is a stray write. So everything is checked here, before a byte is
//! written: names, element types, ranks, extents, strides, overlap. What passes is a [`Bound`], and only that can be
//! launched.
//!
//! It starts no thread and keeps no global state.

#![allow(
    unsafe_code,
    reason = "views turn slices into pointers and launches call generated code: this crate relies on the promise kernel-abi states"
)]

mod bind;
mod launch;
mod signature;
mod view;

pub use bind::{Argument, BindError, Disagreement, bind};
pub use launch::Bound;
pub use signature::{AxisSignature, ParamSignature, Signature, ViewSignature};
pub use view::{Element, View, ViewError};
