//! One number together with its type, compared by bits.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::element::ElementType;

/// A number a kernel computes with.
///
/// Constants are compared and hashed by bits: `-0.0` differs from `0.0`, and a NaN equals itself. Results of two
/// executors are compared by [`Scalar::same_bits`], where any NaN equals any NaN.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A binary32 number.
    F32(f32),
    /// A binary64 number.
    F64(f64),
    /// A 32-bit integer.
    I32(i32),
    /// A truth value.
    Bool(bool),
}

/// Why a text is no scalar of the type asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseScalarError {
    /// The text is not written like a number of this type.
    #[error("`{text}` is no {element} constant")]
    Malformed {
        /// What was read.
        text: String,
        /// The type asked for.
        element: ElementType,
    },
    /// The number is written well but is too large for the type; infinity is written `inf`.
    #[error("`{text}` is outside the range of {element}")]
    OutOfRange {
        /// What was read.
        text: String,
        /// The type asked for.
        element: ElementType,
    },
    /// The type exists in memory only, so there are no constants of it.
    #[error("{element} exists in memory only; write the constant as f32")]
    StorageOnly {
        /// The type asked for.
        element: ElementType,
    },
}

impl Scalar {
    /// The type of this number; never a storage-only type.
    #[must_use]
    pub const fn element(self) -> ElementType {
        match self {
            Scalar::F32(_) => ElementType::F32,
            Scalar::F64(_) => ElementType::F64,
            Scalar::I32(_) => ElementType::I32,
            Scalar::Bool(_) => ElementType::Bool,
        }
    }

    /// The zero of a type: `+0`, 0 or false; for a half type the zero of `f32`.
    #[must_use]
    pub const fn zero(element: ElementType) -> Scalar {
        match element {
            ElementType::F32 | ElementType::F16 | ElementType::BF16 => Scalar::F32(0.0),
            ElementType::F64 => Scalar::F64(0.0),
            ElementType::I32 => Scalar::I32(0),
            ElementType::Bool => Scalar::Bool(false),
        }
    }

    /// The bit pattern, zero-extended to 64 bits.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        match self {
            Scalar::F32(value) => value.to_bits() as u64,
            Scalar::F64(value) => value.to_bits(),
            Scalar::I32(value) => value.cast_unsigned() as u64,
            Scalar::Bool(value) => value as u64,
        }
    }

    /// Whether this is a floating-point NaN.
    #[must_use]
    pub const fn is_nan(self) -> bool {
        match self {
            Scalar::F32(value) => value.is_nan(),
            Scalar::F64(value) => value.is_nan(),
            Scalar::I32(_) | Scalar::Bool(_) => false,
        }
    }

    /// Whether two results agree: the same type and the same bits, where any NaN equals any NaN.
    ///
    /// Sign and payload of a NaN differ between instruction sets (0/0 is negative on x86-64 and positive on aarch64),
    /// so they are no part of a result.
    #[must_use]
    pub fn same_bits(self, other: Scalar) -> bool {
        self == other || (self.element() == other.element() && self.is_nan() && other.is_nan())
    }

    /// Reads a scalar of the given type; the inverse of `Display` for everything but the payload of a NaN.
    ///
    /// Floats: decimal digits with optional sign, point and exponent, rounded to nearest even; `inf`, `-inf`, `nan`.
    /// Integers: decimal digits with an optional minus. Truth values: `true`, `false`.
    ///
    /// # Errors
    /// [`ParseScalarError`] says whether the text is malformed, out of range, or the type has no constants.
    pub fn parse(text: &str, element: ElementType) -> Result<Scalar, ParseScalarError> {
        let malformed = || ParseScalarError::Malformed {
            text: text.to_owned(),
            element,
        };
        let out_of_range = || ParseScalarError::OutOfRange {
            text: text.to_owned(),
            element,
        };
        match element {
            ElementType::F32 => {
                let value: f32 = decimal(text)
                    .ok_or_else(malformed)?
                    .parse()
                    .map_err(|_| malformed())?;
                if value.is_infinite() && !text.ends_with("inf") {
                    return Err(out_of_range());
                }
                Ok(Scalar::F32(value))
            }
            ElementType::F64 => {
                let value: f64 = decimal(text)
                    .ok_or_else(malformed)?
                    .parse()
                    .map_err(|_| malformed())?;
                if value.is_infinite() && !text.ends_with("inf") {
                    return Err(out_of_range());
                }
                Ok(Scalar::F64(value))
            }
            ElementType::I32 => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(malformed());
                }
                text.parse().map(Scalar::I32).map_err(|_| out_of_range())
            }
            ElementType::Bool => match text {
                "true" => Ok(Scalar::Bool(true)),
                "false" => Ok(Scalar::Bool(false)),
                _ => Err(malformed()),
            },
            ElementType::F16 | ElementType::BF16 => Err(ParseScalarError::StorageOnly { element }),
        }
    }
}

/// The text itself if it is a decimal number, `inf`, `-inf` or `nan`: the standard parser also takes `+1`, `infinity`
/// and any case, which the text format does not.
fn decimal(text: &str) -> Option<&str> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let numeric = unsigned.starts_with(|first: char| first.is_ascii_digit());
    (numeric || unsigned == "inf" || text == "nan").then_some(text)
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.element() == other.element() && self.to_bits() == other.to_bits()
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.element().hash(state);
        self.to_bits().hash(state);
    }
}

impl fmt::Display for Scalar {
    /// The shortest decimal that reads back to the same bits; a float always has a point or an exponent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::F32(value) if value.is_nan() => formatter.write_str("nan"),
            Scalar::F64(value) if value.is_nan() => formatter.write_str("nan"),
            Scalar::F32(value) => write!(formatter, "{value:?}"),
            Scalar::F64(value) => write!(formatter, "{value:?}"),
            Scalar::I32(value) => write!(formatter, "{value}"),
            Scalar::Bool(value) => write!(formatter, "{value}"),
        }
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Scalar {
        Scalar::F32(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::F64(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Scalar {
        Scalar::I32(value)
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseScalarError, Scalar};
    use crate::element::ElementType;

    fn round_trips(scalar: Scalar) {
        let text = scalar.to_string();
        let back = Scalar::parse(&text, scalar.element());
        assert!(
            back.as_ref().is_ok_and(|back| back.same_bits(scalar)),
            "{scalar:?} -> {text} -> {back:?}"
        );
    }

    #[test]
    fn text_round_trips_every_kind_of_number() {
        for bits in (0..=u32::MAX).step_by(40_009) {
            round_trips(Scalar::F32(f32::from_bits(bits)));
            round_trips(Scalar::F64(f64::from_bits(
                (u64::from(bits) << 32) | u64::from(bits.rotate_left(7)),
            )));
            round_trips(Scalar::I32(bits.cast_signed()));
        }
        for value in [
            0.0,
            -0.0,
            1.0,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::from_bits(1),
            f32::INFINITY,
            f32::NAN,
        ] {
            round_trips(Scalar::F32(value));
            round_trips(Scalar::F32(-value));
        }
        round_trips(Scalar::I32(i32::MIN));
        round_trips(Scalar::Bool(true));
        assert_eq!(Scalar::F32(-0.0).to_string(), "-0.0");
        assert_eq!(Scalar::F32(f32::from_bits(0xffc0_0001)).to_string(), "nan");
        assert_eq!(Scalar::F32(f32::NEG_INFINITY).to_string(), "-inf");
    }

    #[test]
    fn refuses_what_is_no_constant() {
        for text in [
            "", "-", "+1.0", "infinity", "NaN", "-nan", "Inf", "1.0f", "0x10", "1.0 ", "e5",
        ] {
            assert!(
                matches!(
                    Scalar::parse(text, ElementType::F32),
                    Err(ParseScalarError::Malformed { .. })
                ),
                "{text}"
            );
        }
        for (text, element) in [
            ("1e39", ElementType::F32),
            ("-1e400", ElementType::F64),
            ("2147483648", ElementType::I32),
        ] {
            assert!(
                matches!(
                    Scalar::parse(text, element),
                    Err(ParseScalarError::OutOfRange { .. })
                ),
                "{text}"
            );
        }
        assert!(matches!(
            Scalar::parse("1.0", ElementType::F16),
            Err(ParseScalarError::StorageOnly { .. })
        ));
        assert!(matches!(
            Scalar::parse("1", ElementType::Bool),
            Err(ParseScalarError::Malformed { .. })
        ));
    }

    #[test]
    fn equality_is_by_bits_and_results_forgive_nans() {
        assert_ne!(Scalar::F32(0.0), Scalar::F32(-0.0));
        assert_eq!(Scalar::F32(f32::NAN), Scalar::F32(f32::NAN));
        assert_ne!(Scalar::F32(f32::NAN), Scalar::F32(-f32::NAN));
        assert!(Scalar::F32(f32::NAN).same_bits(Scalar::F32(-f32::NAN)));
        assert!(!Scalar::F32(f32::NAN).same_bits(Scalar::F64(f64::NAN)));
        assert!(!Scalar::F32(0.0).same_bits(Scalar::F32(-0.0)));
        assert_ne!(Scalar::I32(0), Scalar::Bool(false));
    }
}
