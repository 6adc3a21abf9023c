//! Why there is no code.

use std::fmt::Display;

/// Why there is no such target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The machine lacks what generated code needs.
    #[error(transparent)]
    Machine(#[from] machine::MachineError),
    /// The code generator doesn't know the target or one of its settings.
    #[error("the code generator refuses the target {triple}: {reason}")]
    Refused {
        /// The target triple.
        triple: String,
        /// What it said.
        reason: String,
    },
}

impl TargetError {
    pub(crate) fn refused(triple: &str, reason: impl Display) -> TargetError {
        TargetError::Refused {
            triple: triple.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Why a program has no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The code generator refuses a function.
    #[error("no code for function `{function}` of kernel `{kernel}`: {reason}")]
    Codegen {
        /// The kernel.
        kernel: String,
        /// The function.
        function: String,
        /// What the code generator said.
        reason: String,
    },
    /// The code generator gave up with a panic; it was caught.
    #[error("the code generator panicked on function `{function}` of kernel `{kernel}`: {reason}")]
    Panicked {
        /// The kernel.
        kernel: String,
        /// The function.
        function: String,
        /// The panic's message.
        reason: String,
    },
    /// The code would call something outside itself.
    #[error(
        "function `{function}` of kernel `{kernel}` would need the symbol {symbol}, and code may call nothing outside itself"
    )]
    ForeignSymbol {
        /// The kernel.
        kernel: String,
        /// The function.
        function: String,
        /// What it would call.
        symbol: String,
    },
    /// Private arrays on the stack take more room than a thread can be expected to have.
    #[error(
        "private arrays of function `{function}` of kernel `{kernel}` take {bytes} bytes of stack, more than {limit}; \
         place them in the worker's workspace"
    )]
    FrameTooLarge {
        /// The kernel.
        kernel: String,
        /// The function.
        function: String,
        /// What they take.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
}

/// Why code can't be loaded into this process.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The code is for another architecture.
    #[error("code for {code} can't run on this {host} processor")]
    OtherArchitecture {
        /// What the code is for.
        code: machine::Architecture,
        /// What this process runs on.
        host: &'static str,
    },
    /// The code is for another operating system.
    #[error("code for {code:?} follows another calling convention than this system")]
    OtherSystem {
        /// What the code is for.
        code: machine::System,
    },
    /// The code uses instructions that this processor lacks.
    #[error("the code uses {missing}, which this processor lacks; compile for `host` instead")]
    MissingFeatures {
        /// What is missing.
        missing: machine::Features,
    },
    /// The system gives no memory for code.
    #[error("no memory for {bytes} bytes of code: {source}")]
    NoMemory {
        /// How many bytes were asked for.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system doesn't let memory become executable.
    #[error(
        "the system refuses to make memory executable ({source}); a hardened kernel or container can forbid it: build an \
         object file instead"
    )]
    NotExecutable {
        /// What the system said.
        source: std::io::Error,
    },
    /// The code could not be linked: a mistake of this crate.
    #[error("the code could not be linked: {reason}")]
    Link {
        /// What the linker said.
        reason: String,
    },
}

/// Why there is no object file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Two entry points would have one symbol.
    #[error(
        "two entry points would have the symbol `{symbol}`; give kernels in one object different names"
    )]
    DuplicateSymbol {
        /// The symbol.
        symbol: String,
    },
    /// A name can't be part of a C symbol.
    #[error(
        "`{name}` can't be part of a symbol; use letters, digits and underscores, and no digit first"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// Code in one object is for two targets.
    #[error("one object holds code for one target, not for `{first}` and `{second}`")]
    MixedTargets {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// The object writer refuses.
    #[error("the object could not be written: {reason}")]
    Writer {
        /// What it said.
        reason: String,
    },
}
