//! What code is generated for: an instruction set, a calling convention and the settings of the code generator.

use std::fmt;
use std::sync::Arc;

use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable, Flags};
use machine::{Architecture, Feature, Features, Machine, System};
use target_lexicon::Triple;

use crate::error::TargetError;

/// Whether Cranelift checks the code it is given. It costs about a third of the compile time and finds only mistakes of
/// this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelfCheck {
    /// Check.
    On,
    /// Trust.
    Off,
}

/// A target, ready to compile for. Cloning shares it.
///
/// Invariant **identity**: two targets with one [`Target::identity`] give the same bytes for the same program.
#[derive(Clone)]
pub struct Target {
    isa: OwnedTargetIsa,
    architecture: Architecture,
    system: System,
    features: Features,
    identity: Arc<str>,
}

impl Target {
    /// The target that code for `machine` is compiled for.
    ///
    /// # Errors
    ///
    /// [`TargetError::Machine`] names the features that the machine lacks; no code is generated for x86-64 without AVX and
    /// FMA. [`TargetError::Refused`] when the code generator doesn't know the target.
    pub fn new(machine: &Machine) -> Result<Target, TargetError> {
        let check = if cfg!(debug_assertions) {
            SelfCheck::On
        } else {
            SelfCheck::Off
        };
        Target::with_self_check(machine, check)
    }

    /// [`Target::new`], with Cranelift's verifier as asked for.
    ///
    /// # Errors
    ///
    /// As [`Target::new`].
    pub fn with_self_check(machine: &Machine, check: SelfCheck) -> Result<Target, TargetError> {
        machine.check()?;
        let triple: Triple = machine
            .triple()
            .parse()
            .map_err(|error| TargetError::refused(machine.triple(), error))?;
        let settings = shared_settings(check);
        let refused = |error: &dyn fmt::Display| TargetError::refused(machine.triple(), error);

        let mut shared = settings::builder();
        for (name, value) in &settings {
            shared.set(name, value).map_err(|e| refused(&e))?;
        }
        let mut builder = isa::lookup(triple).map_err(|e| refused(&e))?;
        for name in instruction_sets(machine.architecture, machine.features) {
            builder.enable(name).map_err(|e| refused(&e))?;
        }
        let isa = builder
            .finish(Flags::new(shared))
            .map_err(|e| refused(&e))?;
        let identity = identity(machine, &settings).into();
        Ok(Target {
            isa,
            architecture: machine.architecture,
            system: machine.system,
            features: machine.features,
            identity,
        })
    }

    /// The instruction set architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The operating system.
    pub fn system(&self) -> System {
        self.system
    }

    /// The instruction sets that code may use.
    pub fn features(&self) -> Features {
        self.features
    }

    /// The instruction sets that the code generator was told of: what a processor must have to run the code. On Arm it
    /// uses nothing beyond the base.
    pub fn code_features(&self) -> Features {
        use Feature::{Avx, Avx2, Bmi1, Bmi2, Fma, Lzcnt, Neon, Popcnt, Sse3, Sse41, Sse42, Ssse3};
        match self.architecture {
            Architecture::X86_64 => [Popcnt, Avx2, Bmi1, Bmi2, Lzcnt]
                .into_iter()
                .filter(|feature| self.features.has(*feature))
                .fold(
                    Features::of(&[Sse3, Ssse3, Sse41, Sse42, Avx, Fma]),
                    Features::with,
                ),
            Architecture::Aarch64 => Features::of(&[Neon]),
        }
    }

    /// Everything the bytes depend on beside the program: code generator and version, triple, instruction sets, settings.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub(crate) fn isa(&self) -> &dyn TargetIsa {
        &*self.isa
    }

    pub(crate) fn owned_isa(&self) -> OwnedTargetIsa {
        self.isa.clone()
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.identity).finish()
    }
}

/// Settings of the code generator; everything not named keeps Cranelift's default.
///
/// `opt_level` is `none` because the optimising levels reorder pure operations after the loads they wait for, which
/// spills in unrolled loops: XIR's order is the schedule. Code is called through pointers and contains no call to
/// anything outside, so it needs neither unwind tables nor position-independent references. Stack frames above a page
/// are probed, so that a deep stack meets the guard page and nothing else.
fn shared_settings(check: SelfCheck) -> Vec<(&'static str, &'static str)> {
    let verifier = match check {
        SelfCheck::On => "true",
        SelfCheck::Off => "false",
    };
    vec![
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", verifier),
        ("is_pic", "false"),
        ("unwind_info", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_heap_access_spectre_mitigation", "false"),
        ("enable_table_access_spectre_mitigation", "false"),
    ]
}

/// Cranelift's names of the instruction sets code may use.
///
/// AVX brings the SSE family with it, so a machine that lists only the required features gets those too.
fn instruction_sets(architecture: Architecture, features: Features) -> Vec<&'static str> {
    match architecture {
        Architecture::X86_64 => {
            let mut names = vec![
                "has_sse3",
                "has_ssse3",
                "has_sse41",
                "has_sse42",
                "has_avx",
                "has_fma",
            ];
            for (feature, name) in [
                (Feature::Popcnt, "has_popcnt"),
                (Feature::Avx2, "has_avx2"),
                (Feature::Bmi1, "has_bmi1"),
                (Feature::Bmi2, "has_bmi2"),
                (Feature::Lzcnt, "has_lzcnt"),
            ] {
                if features.has(feature) {
                    names.push(name);
                }
            }
            names
        }
        Architecture::Aarch64 => Vec::new(),
    }
}

fn identity(machine: &Machine, settings: &[(&str, &str)]) -> String {
    let settings: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!(
        "cranelift {}; abi {}; {}; {}; {}",
        cranelift_codegen::VERSION,
        kernel_abi::ABI_VERSION,
        machine.triple(),
        instruction_sets(machine.architecture, machine.features).join(","),
        settings.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::{SelfCheck, Target};
    use machine::{Feature, Features, KNOWN_MACHINES, Machine};

    #[test]
    fn every_known_machine_is_a_target() {
        for name in KNOWN_MACHINES {
            let machine = Machine::named(name).expect("a known name");
            let target = Target::new(&machine).expect("a target");
            assert!(target.identity().contains(machine.triple()));
        }
    }

    #[test]
    fn p50_feature_combinations_are_refused_by_name() {
        let base = Machine::named("x86_64-linux").expect("a known name");
        let features = |list: &[Feature]| Machine {
            features: Features::of(list),
            ..base.clone()
        };
        for (list, missing) in [
            (&[][..], "avx, fma"),
            (&[Feature::Fma], "avx"),
            (&[Feature::Avx], "fma"),
        ] {
            let error = Target::new(&features(list)).expect_err("a feature is missing");
            assert!(
                error.to_string().contains(&format!("lacks {missing}")),
                "{error}"
            );
        }
        assert!(Target::new(&features(&[Feature::Avx, Feature::Avx2, Feature::Fma])).is_ok());
    }

    #[test]
    fn identity_names_what_bytes_depend_on() {
        let machine = Machine::named("x86_64-linux").expect("a known name");
        let off = Target::with_self_check(&machine, SelfCheck::Off).expect("a target");
        let mut wider = machine.clone();
        wider.features = wider.features.with(Feature::Avx2);
        let wider = Target::with_self_check(&wider, SelfCheck::Off).expect("a target");
        assert_ne!(off.identity(), wider.identity());
    }
}
