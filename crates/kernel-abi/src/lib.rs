//! The contract between generated code and its caller: the launch record, the entry point, the workspaces.
//!
//! A caller hands over memory it owns and numbers it has checked; generated code believes every word of it. So the
//! layout stands here once, and both sides read it.
//!
//! The record is an array of 8-byte words in this order: the hook and the hook's context, then for each parameter its
//! words (a view: base address, then for each dimension extent and stride in *bytes*; a scalar: its bits in the low end
//! of one word, bool as 0 or 1), then the extent of each axis.

#![allow(
    unsafe_code,
    reason = "the entry point's type is an unsafe function pointer; this crate states its promise"
)]

mod domain;
mod executable;
mod record;

pub use domain::{DomainExtent, EntryDomain};
pub use executable::{Executable, Workspaces};
pub use record::{HOOK_CONTEXT_WORD, HOOK_WORD, ParamShape, RecordLayout};

use std::ffi::c_void;

/// Version of this contract; an object built for another one is refused.
pub const ABI_VERSION: u32 = 1;

/// Alignment of both workspaces, in bytes.
pub const WORKSPACE_ALIGN: usize = 64;

/// An entry point of generated code.
///
/// Runs packets `begin .. end` of the entry's domain. Arguments: the launch record, `begin`, `end`, the worker's workspace, the shared
/// workspace.
///
/// # Safety
/// The record has the layout the code was compiled for, and every view in it covers memory that stays valid for the whole call (writable
/// for mutable views) and is written by nobody else; `begin <= end <=` the number of packets; the workspaces have the size the code asks
/// for and [`WORKSPACE_ALIGN`], the worker's is used by no other call at the same time.
pub type EntryPoint = unsafe extern "C" fn(
    record: *const u64,
    begin: u64,
    end: u64,
    worker: *mut u8,
    shared: *mut u8,
);

/// The caller's hook for `opaque` operations: context, number, first program, count of programs.
pub type Hook = unsafe extern "C" fn(context: *mut c_void, id: u32, first: u64, count: u64);
