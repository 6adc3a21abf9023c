//! The same kernel by several compilers, called in turn on the same memory.
//!
//! Times from two runs can't be divided: the machine was another one an hour ago. So all arms of a case are called in one
//! process, in rounds, each round in another order; every arm reads the same inputs and writes the same output, and what it
//! wrote is held against double precision before it is timed.

#![allow(
    unsafe_code,
    reason = "foreign code is called on shared memory; the cases say which memory it may touch"
)]

mod arm;
mod c;
mod case;
mod exact;
mod inductor;
mod ours;
mod record;
mod stream;
mod table;
mod workbench;

pub use arm::{Arm, Timed};
pub use c::{Compiler, compilers};
pub use case::{Case, Kernel, TOLERANCE, all_cases};
pub use inductor::{Flavour, prepare};
pub use ours::{Candidate, Shape, candidates, fastest, ours};
pub use record::{Environment, Record, Row};
pub use stream::{Streams, stream_arm};
pub use table::{markdown, replace_between};
pub use workbench::Workbench;

/// Why a comparison could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// A rival's code can't be called.
    #[error(transparent)]
    Entry(#[from] native_entry::EntryError),
    /// A rival can't be built.
    #[error(transparent)]
    Build(#[from] crate::RivalError),
    /// Our kernel can't be compiled or bound.
    #[error(transparent)]
    Kernel(#[from] tilewright::Error),
    /// A view of the case's memory can't be made.
    #[error(transparent)]
    View(#[from] tilewright::prelude::ViewError),
    /// A file can't be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file holds something else than it should.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl PeerError {
    fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> PeerError {
        let path = path.display().to_string();
        move |source| PeerError::File { path, source }
    }
}
