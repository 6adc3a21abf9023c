//! A CPU as data: what a plan has to know about the machine it is made for.
//!
//! A compiler that asks the CPU questions while it plans gives a different plan on every machine, and nobody can look
//! at the plan for another one. So everything a plan may depend on is a field of [`Machine`]: registers, instruction
//! sets, what an operation costs, caches, workers. [`Machine::host`] fills it in for the CPU that runs this program,
//! [`Machine::named`] for one that need not be here. Law: two equal machines give equal plans.
//!
//! Costs are cycles of one core for one 128-bit vector of f32, from the sources each table names. They are for
//! comparing plans; no time is ever computed from them and reported as measured.
//!
//! This crate knows no kernel and no plan.
//!
//! ```
//! use machine::{Architecture, Machine};
//! use numerics::ElementType;
//!
//! let machine = Machine::named("neoverse-n1")?;
//! assert_eq!(machine.architecture, Architecture::Aarch64);
//! assert_eq!(machine.lanes(ElementType::F32), 4);
//! # Ok::<(), machine::MachineError>(())
//! ```

mod costs;
mod features;
mod host;
mod named;

pub use costs::{Cost, OperationCosts};
pub use features::{Feature, Features};
pub use named::KNOWN_MACHINES;

use numerics::ElementType;

/// An instruction set architecture this project generates code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// 64-bit x86 with 128-bit AVX and FMA instructions.
    X86_64,
    /// 64-bit Arm with NEON.
    Aarch64,
}

impl Architecture {
    /// The name in a target triple: `x86_64`, `aarch64`.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86_64",
            Architecture::Aarch64 => "aarch64",
        }
    }

    /// The features without which no code is generated for this architecture.
    ///
    /// `fma` has one rounding everywhere, so an x86-64 CPU without FMA would call a library function for each lane:
    /// it is refused instead, by name.
    pub const fn required(self) -> Features {
        match self {
            Architecture::X86_64 => Features::of(&[Feature::Avx, Feature::Fma]),
            Architecture::Aarch64 => Features::of(&[Feature::Neon]),
        }
    }
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An operating system whose calling convention and object format generated code follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum System {
    /// Linux with ELF objects.
    Linux,
    /// macOS with Mach-O objects.
    Darwin,
}

/// The sizes of one core's data caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caches {
    /// Bytes of the first-level data cache of one core.
    pub level1_data: u64,
    /// Bytes of the second-level cache; shared by a few cores on some machines.
    pub level2: u64,
    /// Bytes of the last-level cache, shared by many cores; 0 where there is none.
    pub level3: u64,
    /// Bytes of a cache line.
    pub line: u64,
}

/// A CPU, as far as a plan depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// What to call it: a name of [`KNOWN_MACHINES`], or `host`.
    pub name: String,
    /// What the maker calls the CPU, for reports; empty when that is not known.
    pub model: String,
    /// The instruction set architecture.
    pub architecture: Architecture,
    /// The operating system that code is generated for.
    pub system: System,
    /// Bits of a vector register as generated code uses it: 128 on every machine here.
    pub vector_bits: u32,
    /// How many vector registers an instruction can name.
    pub vector_registers: u32,
    /// How many general registers code can use freely (without stack, frame and platform registers).
    pub general_registers: u32,
    /// The instruction sets generated code may use.
    pub features: Features,
    /// What operations cost, in cycles.
    pub costs: OperationCosts,
    /// The data caches.
    pub caches: Caches,
    /// How many threads can run at once; on the host this respects affinity and CPU quotas, elsewhere it is 1.
    pub workers: usize,
    /// The highest clock frequency of a core in hertz, where it is known.
    pub frequency: Option<u64>,
}

impl Machine {
    /// The CPU and system that run this program.
    ///
    /// Instruction sets are detected at run time. Cache sizes and the CPU's model come from the operating system where
    /// it tells, and from the nearest machine of [`KNOWN_MACHINES`] where it does not; costs always come from there.
    ///
    /// # Errors
    ///
    /// [`MachineError::UnsupportedHost`] on another architecture or system, [`MachineError::MissingFeatures`] when the
    /// CPU lacks what [`Architecture::required`] asks for.
    pub fn host() -> Result<Machine, MachineError> {
        host::detect()
    }

    /// A machine of [`KNOWN_MACHINES`], the same on whatever machine asks.
    ///
    /// # Errors
    ///
    /// [`MachineError::UnknownName`], with the names there are.
    pub fn named(name: &str) -> Result<Machine, MachineError> {
        named::named(name)
    }

    /// The same machine with `workers` threads (at least 1).
    pub fn with_workers(self, workers: usize) -> Machine {
        Machine {
            workers: workers.max(1),
            ..self
        }
    }

    /// The target triple of the code generated for this machine: `aarch64-unknown-linux-gnu`.
    pub const fn triple(&self) -> &'static str {
        match (self.architecture, self.system) {
            (Architecture::X86_64, System::Linux) => "x86_64-unknown-linux-gnu",
            (Architecture::X86_64, System::Darwin) => "x86_64-apple-darwin",
            (Architecture::Aarch64, System::Linux) => "aarch64-unknown-linux-gnu",
            (Architecture::Aarch64, System::Darwin) => "aarch64-apple-darwin",
        }
    }

    /// How many elements of `element` one vector register holds while computing; a storage-only type computes as f32,
    /// and a bool as a mask over f32 lanes.
    pub const fn lanes(&self, element: ElementType) -> u32 {
        let bits = match element {
            ElementType::F64 => 64,
            ElementType::F32
            | ElementType::I32
            | ElementType::Bool
            | ElementType::F16
            | ElementType::BF16 => 32,
        };
        self.vector_bits / bits
    }

    /// Whether code can be generated for this machine.
    ///
    /// # Errors
    ///
    /// [`MachineError::MissingFeatures`], with the names of what is missing.
    pub fn check(&self) -> Result<(), MachineError> {
        let missing = self.architecture.required().without(self.features);
        if missing.is_empty() {
            Ok(())
        } else {
            Err(MachineError::MissingFeatures {
                machine: self.name.clone(),
                missing,
            })
        }
    }
}

/// Why there is no such machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// No machine has this name.
    #[error("no machine is called `{name}`; the known ones are {}", KNOWN_MACHINES.join(", "))]
    UnknownName {
        /// The name asked for.
        name: String,
    },
    /// This program runs on an architecture or system that no code is generated for.
    #[error(
        "no code is generated for {architecture} on {system}; name a known machine to compile for another one"
    )]
    UnsupportedHost {
        /// The architecture, as Rust calls it.
        architecture: &'static str,
        /// The operating system, as Rust calls it.
        system: &'static str,
    },
    /// The CPU lacks instructions that generated code needs.
    #[error("machine `{machine}` lacks {missing}, which generated code needs")]
    MissingFeatures {
        /// The machine's name.
        machine: String,
        /// What it lacks.
        missing: Features,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_without_fma_is_refused_by_name() {
        let mut old = Machine::named("x86_64-linux").expect("a known name");
        old.features = old.features.without(Features::of(&[Feature::Fma]));
        let error = old.check().expect_err("fma is missing");
        assert_eq!(
            error.to_string(),
            "machine `x86_64-linux` lacks fma, which generated code needs"
        );
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Machine::named("z80").expect_err("no such machine");
        assert_eq!(
            error.to_string(),
            "no machine is called `z80`; the known ones are x86_64-linux, aarch64-linux, aarch64-apple-darwin, \
             neoverse-n1, neoverse-v2, apple-m1, zen3"
        );
    }

    #[test]
    fn lanes_follow_the_type_that_computes() {
        let machine = Machine::named("zen3").expect("a known name");
        assert_eq!(machine.lanes(ElementType::F64), 2);
        assert_eq!(machine.lanes(ElementType::F16), 4);
        assert_eq!(machine.lanes(ElementType::Bool), 4);
    }
}
