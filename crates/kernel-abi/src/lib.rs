//! The contract between generated code and its caller: the launch record, the entry point, the workspaces.
//!
//! A caller hands over memory it owns and numbers it has checked; generated code believes every word of it. So the
//! layout stands here once, and both sides read it.
//!
//! The record is an array of 8-byte words in this order: for each parameter its words (a view: base address, then for
//! each dimension extent and stride in *bytes*; a scalar: its bits in the low end of one word, bool as 0 or 1), then
//! the extent of each axis, then the hook and the hook's context.

#![allow(unsafe_code, reason = "the entry point's type is an unsafe function pointer; this crate states its promise")]

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
pub type EntryPoint =
    unsafe extern "C" fn(record: *const u64, begin: u64, end: u64, worker: *mut u8, shared: *mut u8);

/// The caller's hook for `opaque` operations: context, number, first program, count of programs.
pub type Hook = unsafe extern "C" fn(context: *mut c_void, id: u32, first: u64, count: u64);

/// Shape of one parameter in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamShape {
    /// A view of this rank.
    View {
        /// Number of dimensions.
        rank: u32,
    },
    /// A scalar.
    Scalar,
}

/// Where everything stands in a launch record; positions are in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    params: Vec<(u32, ParamShape)>,
    axes_at: u32,
    axes: u32,
}

impl RecordLayout {
    /// The layout for parameters in order and a number of axes.
    pub fn new(params: &[ParamShape], axes: u32) -> RecordLayout {
        let mut at = 0;
        let params = params
            .iter()
            .map(|&shape| {
                let word = at;
                at += match shape {
                    ParamShape::View { rank } => 1 + 2 * rank,
                    ParamShape::Scalar => 1,
                };
                (word, shape)
            })
            .collect();
        RecordLayout { params, axes_at: at, axes }
    }

    /// The parameters' shapes, in order.
    pub fn params(&self) -> impl ExactSizeIterator<Item = ParamShape> + '_ {
        self.params.iter().map(|&(_, shape)| shape)
    }

    /// The base address of view parameter `param`, or the bits of scalar parameter `param`.
    pub fn param(&self, param: usize) -> u32 {
        self.params[param].0
    }

    /// The extent of dimension `dim` of view parameter `param`.
    pub fn extent(&self, param: usize, dim: usize) -> u32 {
        self.params[param].0 + 1 + 2 * dim as u32
    }

    /// The stride, in bytes, of dimension `dim` of view parameter `param`.
    pub fn stride(&self, param: usize, dim: usize) -> u32 {
        self.params[param].0 + 2 + 2 * dim as u32
    }

    /// The extent of axis `axis`.
    pub fn axis(&self, axis: usize) -> u32 {
        self.axes_at + axis as u32
    }

    /// The address of the hook; 0 for none.
    pub fn hook(&self) -> u32 {
        self.axes_at + self.axes
    }

    /// The hook's context.
    pub fn hook_context(&self) -> u32 {
        self.hook() + 1
    }

    /// Length of the record, in words.
    pub fn words(&self) -> u32 {
        self.hook() + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_overlap() {
        let layout = RecordLayout::new(&[ParamShape::View { rank: 2 }, ParamShape::Scalar, ParamShape::View { rank: 0 }], 3);
        let mut words = vec![layout.param(0), layout.extent(0, 0), layout.stride(0, 0), layout.extent(0, 1), layout.stride(0, 1)];
        words.extend([layout.param(1), layout.param(2), layout.axis(0), layout.axis(1), layout.axis(2)]);
        words.extend([layout.hook(), layout.hook_context()]);
        assert_eq!(words, (0..layout.words()).collect::<Vec<_>>());
    }
}
