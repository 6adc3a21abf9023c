//! What may go wrong between a kernel's text and its results, as one type.

use diagnostics::Diagnostics;

/// Why a kernel could not be compiled or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel's text or its rules.
    #[error("{0}")]
    Kernel(Diagnostics),
    /// An axis a tile runs along has no extent yet.
    #[error(
        "axis `{axis}` has no extent; bind it with an input, or give it with `--axis {axis}=N` or in `where`"
    )]
    OpenAxis {
        /// The axis' name.
        axis: String,
    },
    /// An extent contradicts the kernel.
    #[error(transparent)]
    Specialize(#[from] tile_ir::SpecializeError),
    /// A pin can't be kept.
    #[error(transparent)]
    Pin(#[from] planner::PinError),
    /// The plan can't be realised.
    #[error(transparent)]
    Refused(#[from] simd_mapping::Refusal),
    /// No such axis.
    #[error("the kernel has no axis `{axis}`")]
    UnknownAxis {
        /// The name asked for.
        axis: String,
    },
    /// The extents of a launch make an i32 coordinate wrap, so programs might meet.
    #[error(
        "the extents of this launch make a coordinate of `{kernel}` leave i32; run it in smaller parts"
    )]
    CoordinatesWrap {
        /// The kernel.
        kernel: String,
    },
    /// No such machine, or this one can't be compiled for.
    #[error(transparent)]
    Machine(#[from] machine::MachineError),
    /// The target can't run what the kernel needs.
    #[error(transparent)]
    Target(#[from] cranelift_backend::TargetError),
    /// No code could be made.
    #[error(transparent)]
    Compile(#[from] cranelift_backend::CompileError),
    /// The code could not be put in memory.
    #[error(transparent)]
    Load(#[from] cranelift_backend::LoadError),
    /// No object file could be made.
    #[error(transparent)]
    Object(#[from] cranelift_backend::ObjectError),
    /// The kernels can't be one library.
    #[error(transparent)]
    Library(#[from] crate::aot::LibraryError),
    /// The arguments don't fit the kernel.
    #[error(transparent)]
    Bind(#[from] runtime::BindError),
}
