//! Kernels compiled ahead of time: an object file or a static library, and the C header that goes with it.
//!
//! A C caller has no borrow checker and no `bind`. So the header carries, as inline functions over the raw entry points,
//! every check that `bind` makes, each with a status code; the object itself stays free of undefined symbols, and tells its
//! ABI version and the instruction sets it needs in symbols of its own.
//!
//! Law **apart**: everything that a library defines begins with its prefix, so two libraries of different prefixes link
//! into one program, whatever kernels are in them.

mod archive;
mod header;
mod names;

use std::collections::BTreeSet;

use cranelift_backend::{Code, Constant, Target, emit_object_with, entry_symbol};
use machine::{Architecture, System};
use machine::{Features, Machine};
use runtime::Signature;
use simd_mapping::Realization;
use tile_ir::{OpKind, Verified, WrapCondition};

use crate::error::Error;
use crate::executable::signature;
use crate::options::CompileOptions;
use crate::translate::translate;

/// A kernel as machine code for some machine, not necessarily this one.
#[derive(Clone, Debug)]
pub struct AotKernel {
    realization: Realization,
    signature: Signature,
    conditions: Vec<WrapCondition>,
    has_hook: bool,
    description: String,
    triple: &'static str,
    code: Code,
}

/// Compiles a kernel for a machine.
///
/// # Errors
/// As [`compile`](crate::compile()).
pub fn compile_for(
    kernel: &Verified,
    options: &CompileOptions,
    machine: &Machine,
) -> Result<AotKernel, Error> {
    let target = Target::new(machine)?;
    let translation = translate(kernel, &options.request, None)?;
    let code = cranelift_backend::compile(&translation.program, &target)?;
    let has_hook = kernel
        .ops()
        .any(|op| matches!(kernel.op(op).kind, OpKind::Opaque { .. }));
    Ok(AotKernel {
        realization: translation.realization,
        signature: signature(kernel),
        conditions: tile_ir::wrap_conditions(kernel),
        has_hook,
        description: String::new(),
        triple: machine.triple(),
        code,
    })
}

impl AotKernel {
    /// With a sentence about it, for the header.
    #[must_use]
    pub fn with_description(mut self, description: &str) -> AotKernel {
        description.clone_into(&mut self.description);
        self
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        self.code.name()
    }

    /// What was decided: plan, representations, trees.
    pub fn realization(&self) -> &Realization {
        &self.realization
    }

    /// Bytes of machine code and constants.
    pub fn code_bytes(&self) -> usize {
        self.code.size()
    }

    /// The instruction sets that the code may use.
    pub fn features(&self) -> Features {
        self.code.target().code_features()
    }
}

/// Several kernels for one machine under one prefix.
#[derive(Clone, Debug)]
pub struct Library {
    prefix: String,
    kernels: Vec<AotKernel>,
}

impl Library {
    /// A library whose names all begin with `prefix` and an underscore.
    ///
    /// # Errors
    /// [`Error::Library`] without kernels, with kernels for different targets, with names that clash or that C doesn't have.
    pub fn new(prefix: &str, kernels: Vec<AotKernel>) -> Result<Library, Error> {
        let Some(first) = kernels.first() else {
            return Err(LibraryError::Empty.into());
        };
        let is_word = prefix.starts_with(|c: char| c.is_ascii_alphabetic())
            && prefix
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !prefix.ends_with('_');
        if !is_word {
            return Err(LibraryError::Prefix {
                prefix: prefix.to_owned(),
            }
            .into());
        }
        for kernel in &kernels {
            if kernel.code.target().identity() != first.code.target().identity() {
                return Err(LibraryError::MixedTargets.into());
            }
        }
        let mut names: BTreeSet<String> = names::LIBRARY_NAMES.map(str::to_owned).into();
        for kernel in &kernels {
            let name = kernel.name();
            let entries = (0..kernel.code.entries().len()).map(|n| entry_symbol("", name, n));
            let derived = ["", "_strided", "_workspace"].map(|suffix| format!("{name}{suffix}"));
            for taken in derived.into_iter().chain(entries) {
                if name.starts_with("internal_")
                    || name.starts_with("INTERNAL_")
                    || !names.insert(taken.clone())
                {
                    return Err(LibraryError::Clash {
                        kernel: name.to_owned(),
                        symbol: format!("{prefix}_{taken}"),
                    }
                    .into());
                }
            }
        }
        Ok(Library {
            prefix: prefix.to_owned(),
            kernels,
        })
    }

    /// The kernels.
    pub fn kernels(&self) -> &[AotKernel] {
        &self.kernels
    }

    /// Everything in one relocatable object: ELF for Linux, Mach-O for Darwin. The same kernels give the same bytes.
    ///
    /// # Errors
    /// [`Error::Object`] when the object writer refuses.
    pub fn object(&self) -> Result<Vec<u8>, Error> {
        let codes: Vec<&Code> = self.kernels.iter().map(|kernel| &kernel.code).collect();
        let prefix = format!("{}_", self.prefix);
        Ok(emit_object_with(
            self.target(),
            &codes,
            &prefix,
            &self.constants(),
        )?)
    }

    /// A static library with an object for each kernel, so that a program takes only what it calls.
    ///
    /// # Errors
    /// [`Error::Object`] when the object writer refuses, [`Error::Library`] when the archive writer does.
    pub fn archive(&self) -> Result<Vec<u8>, Error> {
        let prefix = format!("{}_", self.prefix);
        let mut members = vec![(
            format!("{}.o", self.prefix),
            emit_object_with(self.target(), &[], &prefix, &self.constants())?,
        )];
        for kernel in &self.kernels {
            let object = emit_object_with(self.target(), &[&kernel.code], &prefix, &[])?;
            members.push((format!("{prefix}{}.o", kernel.name()), object));
        }
        archive::write(members, self.target().system()).map_err(|error| {
            LibraryError::Archive {
                reason: error.to_string(),
            }
            .into()
        })
    }

    /// The C header: C99 and C++17.
    pub fn header(&self) -> String {
        header::header(self)
    }

    fn target(&self) -> &Target {
        self.kernels[0].code.target()
    }

    fn architecture(&self) -> Architecture {
        self.target().architecture()
    }

    fn system(&self) -> System {
        self.target().system()
    }

    fn features(&self) -> Features {
        self.target().code_features()
    }

    /// What the object says of itself; both architectures are little-endian.
    fn constants(&self) -> Vec<Constant> {
        let constant = |name: &str, bytes: Vec<u8>| Constant {
            symbol: format!("{}_{name}", self.prefix),
            bytes,
        };
        let text = format!("{}: {}\0", self.kernels[0].triple, self.features());
        vec![
            constant(
                "abi_version",
                kernel_abi::ABI_VERSION.to_le_bytes().to_vec(),
            ),
            constant(
                "required_features",
                u64::from(self.features().bits()).to_le_bytes().to_vec(),
            ),
            constant("target", text.into_bytes()),
        ]
    }
}

/// Why kernels can't be one library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// There is nothing in it.
    #[error("there is no kernel to write")]
    Empty,
    /// The prefix is no identifier of C.
    #[error(
        "`{prefix}` can't be a prefix; use letters, digits and underscores, a letter first and no underscore last"
    )]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// Code of one library is for two targets.
    #[error("the kernels of one library are compiled for one machine")]
    MixedTargets,
    /// Two things would have one name.
    #[error(
        "kernel `{kernel}` would define `{symbol}`, which is taken; rename the kernel, or build two libraries"
    )]
    Clash {
        /// The kernel that came second.
        kernel: String,
        /// The name.
        symbol: String,
    },
    /// The archive writer refuses.
    #[error("the static library could not be written: {reason}")]
    Archive {
        /// What it said.
        reason: String,
    },
}
