//! The element types a tensor may have.

use std::fmt;

/// The type of one element in memory, and of one value in a kernel.
///
/// The two half types exist in memory only ([`ElementType::storage_only`]): a load widens them to `f32`, which is
/// exact, and a store rounds once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two's complement, 32 bits, wrapping.
    I32,
    /// One byte in memory: 0 is false, anything else is true; true is written as 1.
    Bool,
    /// IEEE 754 binary16, in memory only.
    F16,
    /// bfloat16 (the upper half of a binary32), in memory only.
    BF16,
}

impl ElementType {
    /// Every element type, in declaration order.
    pub const ALL: [ElementType; 6] = [
        ElementType::F32,
        ElementType::F64,
        ElementType::I32,
        ElementType::Bool,
        ElementType::F16,
        ElementType::BF16,
    ];

    /// Bytes of one element in memory; also its natural alignment.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            ElementType::F64 => 8,
            ElementType::F32 | ElementType::I32 => 4,
            ElementType::F16 | ElementType::BF16 => 2,
            ElementType::Bool => 1,
        }
    }

    /// The name in kernel text, such as `f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
            ElementType::I32 => "i32",
            ElementType::Bool => "bool",
            ElementType::F16 => "f16",
            ElementType::BF16 => "bf16",
        }
    }

    /// The type with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ElementType> {
        ElementType::ALL
            .into_iter()
            .find(|element| element.name() == name)
    }

    /// Whether values of this type are floating-point numbers.
    #[must_use]
    pub const fn is_float(self) -> bool {
        match self {
            ElementType::F32 | ElementType::F64 | ElementType::F16 | ElementType::BF16 => true,
            ElementType::I32 | ElementType::Bool => false,
        }
    }

    /// Whether the type exists in memory only, so that values loaded from it have another type.
    #[must_use]
    pub const fn storage_only(self) -> bool {
        match self {
            ElementType::F16 | ElementType::BF16 => true,
            ElementType::F32 | ElementType::F64 | ElementType::I32 | ElementType::Bool => false,
        }
    }

    /// The type a value has once it was loaded: `f32` for the half types, otherwise the type itself.
    #[must_use]
    pub const fn compute_type(self) -> ElementType {
        match self {
            ElementType::F16 | ElementType::BF16 | ElementType::F32 => ElementType::F32,
            ElementType::F64 => ElementType::F64,
            ElementType::I32 => ElementType::I32,
            ElementType::Bool => ElementType::Bool,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn names_lead_back_to_their_types() {
        for element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
            assert_eq!(element.to_string(), element.name());
            assert!(!element.compute_type().storage_only());
        }
        assert_eq!(ElementType::from_name("i64"), None);
        assert_eq!(ElementType::from_name("F32"), None);
    }
}
