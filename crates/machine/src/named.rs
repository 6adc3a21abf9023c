//! The machines that can be named.

use crate::costs::{APPLE_M1, NEOVERSE_N1, NEOVERSE_V2, ZEN3};
use crate::{
    Architecture, Caches, Feature, Features, Machine, MachineError, OperationCosts, System,
};

/// The names [`Machine::named`] knows: three targets that code is shipped for, then four cores that plans are made for.
pub const KNOWN_MACHINES: [&str; 7] = [
    "x86_64-linux",
    "aarch64-linux",
    "aarch64-apple-darwin",
    "neoverse-n1",
    "neoverse-v2",
    "apple-m1",
    "zen3",
];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// What every x86-64 CPU with FMA has (those made since 2013, AMD's since 2012).
const X86_64_WITH_FMA: Features = Features::of(&[
    Feature::Sse3,
    Feature::Ssse3,
    Feature::Sse41,
    Feature::Sse42,
    Feature::Popcnt,
    Feature::Avx,
    Feature::Fma,
]);

/// What the psABI's level x86-64-v3 adds.
const X86_64_V3: Features = X86_64_WITH_FMA.and(Features::of(&[
    Feature::Avx2,
    Feature::F16c,
    Feature::Bmi1,
    Feature::Bmi2,
    Feature::Lzcnt,
]));

/// Armv8.0.
const ARMV8: Features = Features::of(&[Feature::Neon]);

/// Armv8.2 as the Neoverse N1 and the Apple M1 have it.
const ARMV8_2: Features = ARMV8.and(Features::of(&[
    Feature::Fp16,
    Feature::Lse,
    Feature::Dotprod,
]));

const NEOVERSE_V2_FEATURES: Features = ARMV8_2.and(Features::of(&[Feature::Bf16, Feature::Sve]));

/// Cache sizes are those of a common part with the core: AMD's EPYC 7003 for Zen 3 (the third level of one complex), Ampere
/// Altra for the N1, AWS Graviton4 for the V2, Apple's M1 with its system cache as the third level. The two Linux targets
/// are for code that is shipped, so they take what nearly every machine has.
pub(crate) fn named(name: &str) -> Result<Machine, MachineError> {
    use System::{Darwin, Linux};
    let machine = match name {
        "x86_64-linux" => x86_64(
            name,
            X86_64_WITH_FMA,
            ZEN3,
            caches(32 * KIB, 256 * KIB, 2 * MIB),
        ),
        "zen3" => x86_64(name, X86_64_V3, ZEN3, caches(32 * KIB, 512 * KIB, 32 * MIB)),
        "aarch64-linux" => aarch64(
            name,
            Linux,
            ARMV8,
            NEOVERSE_N1,
            caches(32 * KIB, 512 * KIB, 2 * MIB),
        ),
        "neoverse-n1" => aarch64(
            name,
            Linux,
            ARMV8_2,
            NEOVERSE_N1,
            caches(64 * KIB, MIB, 32 * MIB),
        ),
        "neoverse-v2" => {
            let caches = caches(64 * KIB, 2 * MIB, 36 * MIB);
            aarch64(name, Linux, NEOVERSE_V2_FEATURES, NEOVERSE_V2, caches)
        }
        "aarch64-apple-darwin" | "apple-m1" => {
            let caches = Caches {
                line: 128,
                ..caches(128 * KIB, 12 * MIB, 8 * MIB)
            };
            aarch64(name, Darwin, ARMV8_2, APPLE_M1, caches)
        }
        unknown => {
            return Err(MachineError::UnknownName {
                name: unknown.to_owned(),
            });
        }
    };
    Ok(machine)
}

const fn caches(level1_data: u64, level2: u64, level3: u64) -> Caches {
    Caches {
        level1_data,
        level2,
        level3,
        line: 64,
    }
}

fn x86_64(name: &str, features: Features, costs: OperationCosts, caches: Caches) -> Machine {
    Machine {
        name: name.to_owned(),
        model: String::new(),
        architecture: Architecture::X86_64,
        system: System::Linux,
        vector_bits: 128,
        vector_registers: 16,
        // Sixteen without the stack and frame pointers.
        general_registers: 14,
        features,
        costs,
        caches,
        workers: 1,
        frequency: None,
    }
}

fn aarch64(
    name: &str,
    system: System,
    features: Features,
    costs: OperationCosts,
    caches: Caches,
) -> Machine {
    Machine {
        name: name.to_owned(),
        model: String::new(),
        architecture: Architecture::Aarch64,
        system,
        vector_bits: 128,
        vector_registers: 32,
        // Thirty-one without the two that linkers may overwrite (x16, x17), the platform's (x18), frame and link.
        general_registers: 26,
        features,
        costs,
        caches,
        workers: 1,
        frequency: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_is_a_machine_that_code_can_be_generated_for() {
        for name in KNOWN_MACHINES {
            let machine = Machine::named(name).expect("a known name");
            assert_eq!(machine.name, name);
            machine
                .check()
                .expect("it has what its architecture requires");
            assert_eq!(
                machine.workers, 1,
                "a named machine does not depend on the host"
            );
            assert!(
                machine.caches.level1_data <= machine.caches.level2,
                "{name}"
            );
        }
    }

    #[test]
    fn costs_are_positive_and_no_operation_is_issued_slower_than_it_finishes() {
        for name in KNOWN_MACHINES {
            let costs = Machine::named(name).expect("a known name").costs;
            for cost in [
                costs.add,
                costs.mul,
                costs.fma,
                costs.div,
                costs.sqrt,
                costs.load,
                costs.store,
                costs.shuffle,
            ] {
                assert!(
                    0.0 < cost.interval && cost.interval <= cost.latency,
                    "{name}: {cost:?}"
                );
            }
            assert!(costs.fma.latency >= costs.mul.latency, "{name}");
            assert!(!costs.source.is_empty());
        }
    }
}
