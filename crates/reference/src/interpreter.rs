//! Runs a kernel on bytes and gives the bits it means.

use numerics::TreeShape;
use tile_ir::{Op, Value, Verified};

use crate::arguments::{ArgumentError, Arguments, bind};
use crate::bits::Bits;
use crate::fused::{FusedMode, Fusion, Traversal};
use crate::memory::Memory;
use crate::walker::Walker;

/// What runs at an `opaque` operation: its number, the program's number in its nest, and all of memory.
pub type Hook<'h> = dyn FnMut(u32, u64, &mut Memory) + 'h;

/// How a kernel is interpreted.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// The tree of each `unordered` reduction, as the plan records it.
    pub tree_of: &'o dyn Fn(Op) -> TreeShape,
    /// How many operations may run, where each element of a tile counts as one.
    pub fuel: u64,
    /// Values that are read inside a reduction. Empty: every operation runs where it stands.
    pub fusions: &'o [Fusion],
    /// In what order a reduction that reads them visits its contributions.
    pub traversal: Traversal,
}

/// One accumulator: what `unordered` means while no plan says otherwise.
const ONE_PARTIAL: TreeShape = match TreeShape::new(1, None) {
    Some(shape) => shape,
    None => panic!("1 is a power of two"),
};

/// Four thousand million operations: a minute or so. A kernel that runs longer is a loop without end, for a reference.
const FUEL: u64 = 1 << 32;

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            tree_of: &|_| ONE_PARTIAL,
            fuel: FUEL,
            fusions: &[],
            traversal: Traversal::RowMajor,
        }
    }
}

/// Why a kernel can't be interpreted to its end. What it stored before stays stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpretError {
    /// The arguments don't fit; nothing was run.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// A view reaches beyond its buffer.
    #[error("{op} touches element {element} of the buffer of `{param}`, which lies outside of it")]
    StrayAccess {
        /// The load or store.
        op: Op,
        /// The view.
        param: String,
        /// The element, in units of the view's element size from the start of the buffer.
        element: i64,
    },
    /// More operations than [`Options::fuel`] allows.
    #[error("the kernel ran more operations than allowed")]
    OutOfFuel,
    /// Fused mode: an element is wanted that the reduction has not read.
    #[error(
        "element {element} of {value} is wanted outside the reduction that reads it, and was not read there"
    )]
    ReadOutsideFusion {
        /// The subject of the fusion.
        value: Value,
        /// The element, row-major.
        element: usize,
    },
    /// Fused mode: two contributions read one element.
    #[error("element {element} of {value} is read by more than one contribution")]
    ReadTwice {
        /// The subject of the fusion.
        value: Value,
        /// The element, row-major.
        element: usize,
    },
    /// Fused mode: an element is wanted after a reduction that doesn't keep it.
    #[error(
        "element {element} of {value} is wanted after the reduction that read it, which didn't keep it"
    )]
    NotKept {
        /// The subject of the fusion.
        value: Value,
        /// The element, row-major.
        element: usize,
    },
}

/// Runs a kernel on a memory; `opaque` operations do nothing.
///
/// # Errors
/// [`InterpretError`]. Arguments that don't fit are found before anything is run; every other error leaves in `memory`
/// what was stored up to then.
pub fn interpret(
    kernel: &Verified,
    memory: &mut Memory,
    arguments: &Arguments,
    options: &Options<'_>,
) -> Result<(), InterpretError> {
    run(kernel, memory, arguments, options, None)
}

/// Runs a kernel on a memory with a hook for its `opaque` operations.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_with_hook(
    kernel: &Verified,
    memory: &mut Memory,
    arguments: &Arguments,
    options: &Options<'_>,
    hook: &mut Hook<'_>,
) -> Result<(), InterpretError> {
    run(kernel, memory, arguments, options, Some(hook))
}

fn run<'h>(
    kernel: &Verified,
    memory: &mut Memory,
    arguments: &Arguments,
    options: &Options<'_>,
    hook: Option<&'h mut Hook<'h>>,
) -> Result<(), InterpretError> {
    let bound = bind(kernel, arguments)?;
    let fused = (!options.fusions.is_empty())
        .then(|| FusedMode::new(kernel, options.fusions, options.traversal));
    let meaning = Bits { memory, hook };
    let trees = options.tree_of;
    Walker {
        kernel,
        bound,
        meaning,
        trees,
        fuel: options.fuel,
        fused,
        program: 0,
    }
    .run()
    .map_err(|error| *error)
}
