//! Code in memory that can be called, and what a launch of it needs.
//!
//! A function pointer into generated code is a dangling pointer once its pages are unmapped. So an [`Executable`] holds
//! the pages together with the pointers: whoever has one can call it, and the last handle frees the code.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::{EntryDomain, EntryPoint};

/// Memory that the runtime lends to generated code, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Workspaces {
    /// One a worker; its contents mean nothing when an entry begins.
    pub worker_bytes: u64,
    /// One a launch, this much for each packet, kept from one entry to the next.
    pub shared_bytes_per_packet: u64,
}

struct Contents {
    entries: Vec<(EntryPoint, EntryDomain)>,
    workspaces: Workspaces,
    /// Keeps the code mapped.
    _owner: Box<dyn Any + Send + Sync>,
}

/// The entry points of one kernel, run in order, and the code behind them.
///
/// Cloning shares the code. Invariant **alive**: the code stays mapped, readable and executable, as long as a handle exists.
#[derive(Clone)]
pub struct Executable {
    contents: Arc<Contents>,
}

impl Executable {
    /// Entry points that `owner` keeps mapped.
    ///
    /// # Safety
    /// Each entry point obeys the contract of [`EntryPoint`] for its domain and these workspaces, may be called from any
    /// thread, and stays valid until `owner` is dropped.
    pub unsafe fn new(
        entries: Vec<(EntryPoint, EntryDomain)>,
        workspaces: Workspaces,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Executable {
        Executable {
            contents: Arc::new(Contents {
                entries,
                workspaces,
                _owner: owner,
            }),
        }
    }

    /// Entry points in the order in which they run, each after all packets of the one before.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (EntryPoint, &EntryDomain)> + '_ {
        self.contents
            .entries
            .iter()
            .map(|(entry, domain)| (*entry, domain))
    }

    /// What a launch lends to the code.
    pub fn workspaces(&self) -> Workspaces {
        self.contents.workspaces
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable")
            .field("entries", &self.contents.entries.len())
            .field("workspaces", &self.contents.workspaces)
            .finish_non_exhaustive()
    }
}
