//! Which loads and expressions of a kernel may join their first consumer, with a certificate, or why not.
//!
//! RMSNorm loads a row, sums its squares, and uses the row once more. A `load` is a snapshot: it copies the row, because a
//! store may change memory before the last use. Often the copy can be had for free: the first thing that happens to the row
//! is a sum that visits every element once, so each element can be read there, and kept in passing if it is needed again.
//! That is *fusion* of a load into its first consumer. It is right exactly if nobody can tell, and this crate decides
//! whether somebody could.
//!
//! ```
//! let kernel = tile_ir::parse_verified(
//!     "kernel rmsnorm(x: view f32[row, col], y: mut view f32[row, col]) where col = 256 {
//!        parallel r: row {
//!          let xs = load x[r, :]
//!          let total = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
//!          store y[r, :] = xs / sqrt(total)
//!        }
//!      }",
//! )
//! .unwrap();
//! let admission = fusion_legality::admit(&kernel);
//! let certificate = admission.candidates()[0].certificate().expect("nothing stands in the way");
//! assert!(fusion_legality::check(&kernel, certificate).is_ok());
//! assert!(matches!(certificate.later, fusion_legality::Later::SaveSnapshot(_)));
//! ```
//!
//! # The rule
//!
//! The *first consumer* of a tile is the first operation in program order that really reads elements of it. Elementwise
//! math, casts, broadcasts, reshapes, permutations and `map`s of scalar math read nothing as long as they have one consumer:
//! they are recipes, and the search goes on to that consumer. A load joins its first consumer if
//!
//! 1. that is a closed `unordered` or `tree` reduction with one carry, in the scope of the load; `map`s of one point may
//!    stand around it;
//! 2. the non-unit dimensions of tile and reduction correspond one to one by axis and extent, in any order, and each element
//!    is read at the reduction's own coordinates; dimensions of extent one may be inserted and dropped;
//! 3. no store, stage or unknown effect lies in between, through whatever argument;
//! 4. so each element is read once, and is kept in that same read if anybody reads it later.
//!
//! An *expression*, a pure tile with several consumers, joins its first consumer by the same rule; condition 3 is void for it,
//! as its operands are values. Nothing asks for names, sizes or promises of the user.
//!
//! [`admit`] is total, and finds a [`Certificate`] or [`Refusal`]s for every candidate. [`check`] holds a certificate against
//! the kernel without sharing a line with `admit`. `docs/fusion.md` has the whole story.
//!
//! This crate knows no backend, no machine and no cost: whether a fusion pays is another question.

mod admission;
mod admit;
mod certificate;
mod check;
mod code;
mod conditions;
mod facts;
mod print;
mod readers;

pub use admission::{Admission, Candidate, Outcome, Refusal, Subject};
pub use admit::admit;
#[doc(hidden)]
pub use admit::admit_without;
pub use certificate::{
    AxisMatch, Certificate, Coordinate, ExtractMap, Interval, Later, OnceProof, Units,
};
pub use check::{Objection, check};
pub use code::Code;
#[doc(hidden)]
pub use conditions::Condition;
pub use print::print;

/// The most recipes and consumers the search for a first consumer meets, and the most effects between it and the candidate.
/// Real kernels have a handful; the bound keeps `admit` linear.
pub const MAX_VISITS: usize = 256;

/// The longest chain of recipes the search follows.
pub const MAX_DEPTH: usize = 32;
