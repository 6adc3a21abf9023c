//! One kernel, run plainly and fused, on memory that its two views share in every way there is.

use std::fmt;

use fusion_legality::{Certificate, Later};
use reference::{
    Argument, Arguments, Fusion, InterpretError, Memory, Options, Place, Traversal,
    interpret_with_hook,
};
use tile_ir::Verified;

use super::build::{HALF_ULP, WIDTH, count_results};
use super::vocabulary::Statement;

/// Where the second view lies, seen from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alias {
    /// Elsewhere.
    Disjoint,
    /// At the same place.
    Same,
    /// One element further.
    Above,
    /// One element before.
    Below,
}

impl Alias {
    pub(crate) const ALL: [Alias; 4] = [Alias::Disjoint, Alias::Same, Alias::Above, Alias::Below];

    /// The element at which each view begins. Two rows of two programs lie from there on.
    fn offsets(self) -> [i64; 2] {
        match self {
            Alias::Disjoint => [1, 6],
            Alias::Same => [1, 1],
            Alias::Above => [1, 2],
            Alias::Below => [2, 1],
        }
    }

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Alias::Disjoint => "b lies elsewhere",
            Alias::Same => "b is a",
            Alias::Above => "b begins at the second element of a",
            Alias::Below => "a begins at the second element of b",
        }
    }
}

/// What both views look at. Powers of two and halves of their last places, so that a sum tells the order of its operands.
const DATA: [f32; 11] = [
    0.5,
    1.0,
    HALF_ULP,
    3.0,
    5.0 * HALF_ULP,
    0.125,
    7.0,
    9.0 * HALF_ULP,
    11.0,
    13.0 * HALF_ULP,
    2.0,
];

/// How a certificate is carried out.
pub(crate) fn fusion_of(certificate: &Certificate) -> Fusion {
    Fusion {
        subject: certificate.value,
        reduction: certificate.reduction,
        save: matches!(certificate.later, Later::SaveSnapshot(_)),
    }
}

/// How a fused run differs from the plain one.
pub(crate) enum Difference {
    /// The buffers hold other bits.
    Bits {
        traversal: Traversal,
        plain: Vec<Vec<f32>>,
        fused: Vec<Vec<f32>>,
    },
    /// The fusion could not be carried out.
    Error(InterpretError),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Bits {
                traversal,
                plain,
                fused,
            } => {
                write!(
                    f,
                    "unfused the buffers end as {plain:?}, fused ({traversal:?}) as {fused:?}"
                )
            }
            Difference::Error(error) => write!(f, "fused, {error}"),
        }
    }
}

/// A kernel with what it is run on.
pub(crate) struct Bench<'k> {
    kernel: &'k Verified,
    programs: u32,
    results: u32,
    /// How many interpretations there were.
    pub(crate) runs: u64,
}

impl<'k> Bench<'k> {
    /// Two programs if there is a stage, for then one may see what the other wrote; else one.
    pub(crate) fn new(kernel: &'k Verified, program: &[Statement]) -> Bench<'k> {
        let programs = if program.contains(&Statement::Stage) {
            2
        } else {
            1
        };
        Bench {
            kernel,
            programs,
            results: count_results(program).max(1),
            runs: 0,
        }
    }

    fn run(
        &mut self,
        alias: Alias,
        fusions: &[Fusion],
        traversal: Traversal,
    ) -> Result<Memory, InterpretError> {
        self.runs += 1;
        let mut memory = Memory::new();
        let shared = memory.add_f32(&DATA);
        let results = memory.add_f32(&vec![0.0; (self.programs * self.results) as usize]);
        let place = |offset| {
            Argument::View(Place {
                buffer: shared,
                offset,
                shape: vec![self.programs, WIDTH],
                strides: vec![i64::from(WIDTH), 1],
            })
        };
        let [a, b] = alias.offsets();
        let out = Argument::View(Place::dense(results, &[self.programs, self.results]));
        let arguments = Arguments {
            params: vec![place(a), place(b), out],
            extents: Vec::new(),
        };
        let options = Options {
            fusions,
            traversal,
            ..Options::default()
        };
        interpret_with_hook(self.kernel, &mut memory, &arguments, &options, &mut disturb)?;
        Ok(memory)
    }

    /// The kernel's meaning; an error can't be, as the kernel is verified and the views lie within their buffer.
    pub(crate) fn plain(&mut self, alias: Alias) -> Result<Memory, InterpretError> {
        self.run(alias, &[], Traversal::RowMajor)
    }

    /// How fusing these can be told from the plain meaning, in whatever order the reduction is traversed.
    pub(crate) fn difference(
        &mut self,
        alias: Alias,
        plain: &Result<Memory, InterpretError>,
        fusions: &[Fusion],
    ) -> Option<Difference> {
        let plain = match plain {
            Ok(plain) => plain,
            Err(error) => return Some(Difference::Error(error.clone())),
        };
        for traversal in [Traversal::RowMajor, Traversal::Reversed] {
            match self.run(alias, fusions, traversal) {
                Err(error) => return Some(Difference::Error(error)),
                Ok(fused) if fused == *plain => {}
                Ok(fused) => {
                    let (plain, fused) = (buffers(plain), buffers(&fused));
                    return Some(Difference::Bits {
                        traversal,
                        plain,
                        fused,
                    });
                }
            }
        }
        None
    }
}

fn buffers(memory: &Memory) -> Vec<Vec<f32>> {
    (0..memory.len())
        .map(|buffer| memory.f32s(buffer))
        .collect()
}

/// What an opaque effect does: every element of the shared buffer becomes another.
fn disturb(_: u32, _: u64, memory: &mut Memory) {
    let changed: Vec<u8> = memory
        .f32s(0)
        .iter()
        .flat_map(|element| (element + 16.0).to_le_bytes())
        .collect();
    if let Some(bytes) = memory.bytes_mut(0) {
        *bytes = changed;
    }
}
