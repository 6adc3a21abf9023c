//! Compiled code before it has a place: bytes, and which function calls which.

use cranelift_codegen::binemit::Reloc;
use kernel_abi::{DomainExtent, EntryDomain, Workspaces};
use xir::Program;

use crate::target::Target;

/// A call of one function of a program by another, to be patched once both have addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallSite {
    pub(crate) offset: u32,
    pub(crate) kind: Reloc,
    pub(crate) addend: i64,
    /// Index of the function that is called.
    pub(crate) callee: usize,
}

/// The machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCode {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) alignment: u64,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) stack_bytes: u64,
}

impl FunctionCode {
    /// The function's name in the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Instructions, then constants. Calls of other functions are not patched yet.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of stack that private arrays take.
    pub fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }
}

/// The machine code of a program: relocatable, and calling nothing outside itself.
///
/// Invariant **self-contained**: every call site names a function in it.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) functions: Vec<FunctionCode>,
    /// Function and domain of each entry, in the order in which they run.
    pub(crate) entries: Vec<(usize, EntryDomain)>,
    pub(crate) workspaces: Workspaces,
}

impl Code {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was compiled for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its functions.
    pub fn functions(&self) -> &[FunctionCode] {
        &self.functions
    }

    /// Domains of the entries, in the order in which they run.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &EntryDomain> + '_ {
        self.entries.iter().map(|(_, domain)| domain)
    }

    /// What a launch lends to the code.
    pub fn workspaces(&self) -> Workspaces {
        self.workspaces
    }

    /// Bytes of instructions and constants.
    pub fn size(&self) -> usize {
        self.functions.iter().map(|f| f.bytes.len()).sum()
    }
}

/// The entries' domains in the words of `kernel-abi`.
pub(crate) fn entries_of(program: &Program) -> Vec<(usize, EntryDomain)> {
    program
        .entries
        .iter()
        .map(|entry| {
            let extents = entry
                .extents
                .iter()
                .map(|&extent| match extent {
                    xir::Extent::Fixed(extent) => DomainExtent::Fixed(extent),
                    xir::Extent::Word(word) => DomainExtent::Word(word),
                })
                .collect();
            let domain = EntryDomain {
                extents,
                programs_per_packet: entry.programs_per_packet,
            };
            (entry.function.index(), domain)
        })
        .collect()
}
