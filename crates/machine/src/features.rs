//! Instruction sets a CPU may have.

use std::fmt;

/// One instruction set extension that code generation asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Feature {
    /// x86: SSE3.
    Sse3,
    /// x86: SSSE3, the byte shuffle.
    Ssse3,
    /// x86: SSE4.1, blends and rounding.
    Sse41,
    /// x86: SSE4.2.
    Sse42,
    /// x86: population count.
    Popcnt,
    /// x86: three-operand vector instructions.
    Avx,
    /// x86: 256-bit integers, broadcasts from registers.
    Avx2,
    /// x86: fused multiply-add.
    Fma,
    /// x86: conversions between f16 and f32.
    F16c,
    /// x86: bit manipulation, first set.
    Bmi1,
    /// x86: bit manipulation, second set.
    Bmi2,
    /// x86: leading zero count.
    Lzcnt,
    /// Arm: 128-bit vectors with fused multiply-add.
    Neon,
    /// Arm: arithmetic on f16.
    Fp16,
    /// Arm: atomic read-modify-write instructions.
    Lse,
    /// Arm: integer dot products.
    Dotprod,
    /// Arm: bf16 dot products and conversions.
    Bf16,
    /// Arm: scalable vectors; recorded, not used.
    Sve,
}

impl Feature {
    /// Every feature, in the order of their names here.
    pub const ALL: [Feature; 18] = [
        Feature::Sse3,
        Feature::Ssse3,
        Feature::Sse41,
        Feature::Sse42,
        Feature::Popcnt,
        Feature::Avx,
        Feature::Avx2,
        Feature::Fma,
        Feature::F16c,
        Feature::Bmi1,
        Feature::Bmi2,
        Feature::Lzcnt,
        Feature::Neon,
        Feature::Fp16,
        Feature::Lse,
        Feature::Dotprod,
        Feature::Bf16,
        Feature::Sve,
    ];

    /// The name the maker's manuals and compilers' flags use, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Sse3 => "sse3",
            Feature::Ssse3 => "ssse3",
            Feature::Sse41 => "sse4.1",
            Feature::Sse42 => "sse4.2",
            Feature::Popcnt => "popcnt",
            Feature::Avx => "avx",
            Feature::Avx2 => "avx2",
            Feature::Fma => "fma",
            Feature::F16c => "f16c",
            Feature::Bmi1 => "bmi1",
            Feature::Bmi2 => "bmi2",
            Feature::Lzcnt => "lzcnt",
            Feature::Neon => "neon",
            Feature::Fp16 => "fp16",
            Feature::Lse => "lse",
            Feature::Dotprod => "dotprod",
            Feature::Bf16 => "bf16",
            Feature::Sve => "sve",
        }
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Features(u32);

impl Features {
    /// No feature.
    pub const NONE: Features = Features(0);

    /// The set of `list`.
    pub const fn of(list: &[Feature]) -> Features {
        let mut bits = 0;
        let mut index = 0;
        while index < list.len() {
            bits |= 1 << list[index] as u32;
            index += 1;
        }
        Features(bits)
    }

    /// The set as a number: bit `n` is feature `n` of [`Feature::ALL`]. Objects carry it, so the order of that list is
    /// part of their contract.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether `feature` is in the set.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// The set with `feature` in it.
    pub const fn with(self, feature: Feature) -> Features {
        Features(self.0 | 1 << feature as u32)
    }

    /// What is in either set.
    pub const fn and(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// What is in this set and not in `other`.
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// Whether the set holds nothing.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The features in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL
            .into_iter()
            .filter(move |&feature| self.has(feature))
    }
}

impl fmt::Display for Features {
    /// `avx, fma`; `none` for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, feature) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(feature.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_bit_and_a_name_of_its_own() {
        let all = Features::of(&Feature::ALL);
        assert_eq!(all.iter().count(), Feature::ALL.len());
        let names: std::collections::BTreeSet<_> = all.iter().map(Feature::name).collect();
        assert_eq!(names.len(), Feature::ALL.len());
    }

    #[test]
    fn sets_do_what_sets_do() {
        let some = Features::of(&[Feature::Fma]).with(Feature::Avx);
        assert_eq!(some.to_string(), "avx, fma");
        assert!(some.has(Feature::Fma) && !some.has(Feature::Neon));
        assert_eq!(some.without(some), Features::NONE);
        assert_eq!(some.and(Features::of(&[Feature::Neon])).iter().count(), 3);
        assert_eq!(Features::NONE.to_string(), "none");
    }
}
