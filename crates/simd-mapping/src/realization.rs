//! What a plan makes of a kernel, as data: who holds which value, which arrays exist, which tree a sum takes.
//!
//! The planner prices this and the lowerer emits it; neither decides anything the other could miss (law **one admission**).

use std::collections::BTreeMap;

use fusion_legality::Subject;
use numerics::{ElementType, TreeShape};
use tile_ir::{Axis, Op, Value, Verified};

use crate::plan::{Materialization, Plan};

/// Where a value's elements are when somebody reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// In a register, computed where the value is defined. Every scalar outside nests.
    Scalar,
    /// Evaluated where it is read.
    Recipe,
    /// In a private array, written where the value is defined.
    Private(ArrayKey),
    /// Read by a reduction as it goes; later consumers read the array, if there are any.
    Fused {
        /// The reduction.
        reduction: Op,
        /// Where the reduction saves each element it reads.
        save: Option<ArrayKey>,
    },
    /// In the view it was loaded from.
    Reload,
}

/// A private array of a realization.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ArrayKey(pub u32);

/// How the elements of a value spread over lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// Every lane would hold the same: one copy a packet.
    Uniform,
    /// A lane holds the element of its own program, slot by slot.
    PerLane,
    /// Element `e` of the local axis sits at slot `e / lanes`, lane `e % lanes`; the other axes are counted in slots outside.
    Distributed,
}

/// Where an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// The stack frame.
    Stack,
    /// The worker's workspace, at an offset in bytes.
    Worker(u64),
    /// The launch's shared workspace, at an offset in bytes from the packet's part: it outlives a stage.
    Shared(u64),
}

/// One private array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateArray {
    /// Whose elements it holds.
    pub value: Value,
    /// The element type.
    pub element: ElementType,
    /// How elements spread over lanes.
    pub spread: Spread,
    /// Number of slots.
    pub slots: u32,
    /// Where it lives.
    pub home: Home,
}

/// Bytes of one private element; a bool takes a whole word, as masks do.
pub fn private_bytes(element: ElementType) -> u64 {
    match element {
        ElementType::F64 => 8,
        ElementType::F32 | ElementType::I32 | ElementType::Bool => 4,
        ElementType::F16 | ElementType::BF16 => 4,
    }
}

/// One read that a reduction does in the place of a load or of the definition of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedRead {
    /// What was fused.
    pub subject: Subject,
    /// The value that is read.
    pub value: Value,
    /// Where each element is saved for later consumers.
    pub save: Option<ArrayKey>,
}

/// One root nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// The `parallel` operation.
    pub op: Op,
    /// The operations of its body, cut at each stage.
    pub segments: Vec<Vec<Op>>,
    /// Scalars defined in one segment and needed in a later one, with their offset in the packet's shared workspace.
    pub carried_scalars: BTreeMap<Value, u64>,
}

/// A kernel with a plan, and what follows from the two.
#[derive(Clone, Debug)]
pub struct Realization {
    /// The kernel.
    pub kernel: Verified,
    /// The plan.
    pub plan: Plan,
    /// The axis along which packets lie in the packet-local distribution.
    pub local_axis: Option<Axis>,
    /// For each value (by index) where its elements are; `None` inside nests, where everything is evaluated on demand.
    pub values: Vec<Option<Representation>>,
    /// For each value (by index) whether lanes may hold different values of it, taken as a scalar or an element at one place.
    pub varies: Vec<bool>,
    /// The private arrays of values.
    pub arrays: Vec<PrivateArray>,
    /// The tree of each reduction that isn't a fold.
    pub trees: BTreeMap<Op, TreeShape>,
    /// What each reduction reads in place of others.
    pub fused: BTreeMap<Op, Vec<FusedRead>>,
    /// The root nests.
    pub nests: Vec<Nest>,
    /// What runs instead when a written view overlaps another: the same plan without guarded reloads. Present if this realization reads some
    /// view again on the strength of the guard.
    pub fallback: Option<Box<Realization>>,
    /// Bytes of stack the arrays take, those of the fallback included.
    pub stack_bytes: u64,
    /// Bytes of a worker's workspace the arrays take.
    pub worker_bytes: u64,
    /// Bytes of shared workspace a packet takes.
    pub shared_bytes_per_packet: u64,
}

impl Realization {
    /// One array.
    pub fn array(&self, key: ArrayKey) -> &PrivateArray {
        &self.arrays[key.0 as usize]
    }

    /// The representation of a value outside nests.
    pub fn representation(&self, value: Value) -> Option<Representation> {
        self.values[value.index()]
    }

    /// Whether lanes may hold different values.
    pub fn varies(&self, value: Value) -> bool {
        self.varies[value.index()]
    }
}

/// Bytes of private arrays that may lie on the stack; the rest lies in the worker's workspace.
pub const STACK_LIMIT: u64 = 64 * 1024;

/// Bytes of private arrays and workspace a worker may need at most.
pub const WORKSPACE_LIMIT: u64 = 1 << 30;

/// Hands out places for arrays: the stack up to [`STACK_LIMIT`], then the worker's workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Bytes of stack handed out.
    pub stack_bytes: u64,
    /// Bytes of worker's workspace handed out.
    pub worker_bytes: u64,
}

impl Placement {
    /// A place for an array of this many bytes, aligned to 64.
    pub fn place(&mut self, bytes: u64) -> Home {
        let bytes = bytes.next_multiple_of(64);
        if self.stack_bytes + bytes <= STACK_LIMIT {
            self.stack_bytes += bytes;
            Home::Stack
        } else {
            let offset = self.worker_bytes;
            self.worker_bytes += bytes;
            Home::Worker(offset)
        }
    }
}

/// Why a plan can't be realised for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A load or expression is to be fused that was not admitted.
    #[error("{subject} is not admitted to join its first consumer; `explain` says why")]
    NotAdmitted {
        /// What was to be fused.
        subject: Subject,
    },
    /// Loop bounds differ between programs that share a packet.
    #[error(
        "the bounds of {op} differ between programs that share a packet; use the packet-local distribution (local = width)"
    )]
    DivergentLoop {
        /// The loop.
        op: Op,
    },
    /// An axis has no extent yet.
    #[error("axis `{name}` has no extent; give it one in `where`, or specialise the kernel")]
    OpenAxis {
        /// The axis' name.
        name: String,
    },
    /// The number of partials is not one of [`PARTIALS`](crate::PARTIALS).
    #[error("partials = {partials} is not realised; use 1, 2, 4, 8 or 16")]
    Partials {
        /// What was asked.
        partials: u32,
    },
    /// The unroll factor is not one of [`UNROLLS`](crate::UNROLLS).
    #[error("unroll = {unroll} is not realised; use 1, 2, 4, 8 or 16")]
    Unroll {
        /// What was asked.
        unroll: u32,
    },
    /// A value can't be re-read from its view.
    #[error("{value} can't be read again from its view: {reason}")]
    NoReload {
        /// The value.
        value: Value,
        /// What stands in the way.
        reason: &'static str,
    },
    /// A fusion settles where a value is, and the plan says otherwise.
    #[error("a fusion of the plan needs {value} as a {required}")]
    FusionNeeds {
        /// The value.
        value: Value,
        /// What the certificate requires.
        required: Materialization,
    },
    /// A value can't be a recipe.
    #[error("{value} is not pure, so it can't be evaluated where it is read")]
    NoRecipe {
        /// The value.
        value: Value,
    },
    /// The private arrays are too large.
    #[error("the plan needs {bytes} bytes of private memory a worker; the limit is {limit}", limit = WORKSPACE_LIMIT)]
    TooLarge {
        /// Bytes needed.
        bytes: u64,
    },
}
