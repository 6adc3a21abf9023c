//! Conversions between element types.
//!
//! Every cast is total. To a narrower float: one rounding to nearest even, overflow gives infinity, NaN stays NaN. Float to
//! integer: towards zero, saturating, NaN gives 0. Anything to bool: true unless it equals zero, so NaN is true. From
//! bool: 0 or 1.

use crate::element::ElementType;
use crate::half_types::{bf16_round, f16_round};
use crate::scalar::Scalar;

/// `value` as an integer: towards zero, saturating at the ends of the range, 0 for NaN.
#[must_use]
pub const fn f32_to_i32(value: f32) -> i32 {
    value as i32
}

/// `value` as an integer: towards zero, saturating at the ends of the range, 0 for NaN.
#[must_use]
pub const fn f64_to_i32(value: f64) -> i32 {
    value as i32
}

/// `value` as a float, rounded to nearest even (exact up to 2^24 in magnitude).
#[must_use]
pub const fn i32_to_f32(value: i32) -> f32 {
    value as f32
}

/// `value` as a float, exactly.
#[must_use]
pub const fn i32_to_f64(value: i32) -> f64 {
    value as f64
}

/// `value` rounded once to nearest even; infinite beyond the range.
#[must_use]
pub const fn f64_to_f32(value: f64) -> f32 {
    value as f32
}

/// `value` as a number of another type.
///
/// A half type gives the `f32` that a store to it and a load from it would give. A cast of `f64` or `i32` to a half type
/// goes through `f32`, as generated code does, and so may round twice.
#[must_use]
pub fn cast(value: Scalar, to: ElementType) -> Scalar {
    match to {
        ElementType::F32 => Scalar::F32(to_f32(value)),
        ElementType::F64 => Scalar::F64(match value {
            Scalar::F32(value) => f64::from(value),
            Scalar::F64(value) => value,
            Scalar::I32(value) => i32_to_f64(value),
            Scalar::Bool(value) => f64::from(u8::from(value)),
        }),
        ElementType::I32 => Scalar::I32(match value {
            Scalar::F32(value) => f32_to_i32(value),
            Scalar::F64(value) => f64_to_i32(value),
            Scalar::I32(value) => value,
            Scalar::Bool(value) => i32::from(value),
        }),
        ElementType::Bool => Scalar::Bool(match value {
            Scalar::F32(value) => value != 0.0,
            Scalar::F64(value) => value != 0.0,
            Scalar::I32(value) => value != 0,
            Scalar::Bool(value) => value,
        }),
        ElementType::F16 => Scalar::F32(f16_round(to_f32(value))),
        ElementType::BF16 => Scalar::F32(bf16_round(to_f32(value))),
    }
}

fn to_f32(value: Scalar) -> f32 {
    match value {
        Scalar::F32(value) => value,
        Scalar::F64(value) => f64_to_f32(value),
        Scalar::I32(value) => i32_to_f32(value),
        Scalar::Bool(value) => f32::from(u8::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::cast;
    use crate::element::ElementType;
    use crate::scalar::Scalar;

    #[test]
    fn floats_saturate_to_integers() {
        for (from, to) in [
            (2.9, 2),
            (-2.9, -2),
            (f32::NAN, 0),
            (f32::INFINITY, i32::MAX),
            (f32::NEG_INFINITY, i32::MIN),
            (2_147_483_648.0, i32::MAX),
            (-2_147_483_648.0, i32::MIN),
            (-0.5, 0),
        ] {
            assert_eq!(cast(Scalar::F32(from), ElementType::I32), Scalar::I32(to));
            assert_eq!(
                cast(Scalar::F64(f64::from(from)), ElementType::I32),
                Scalar::I32(to)
            );
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        assert_eq!(
            cast(Scalar::I32(16_777_217), ElementType::F32),
            Scalar::F32(16_777_216.0)
        );
        assert_eq!(
            cast(Scalar::I32(16_777_219), ElementType::F32),
            Scalar::F32(16_777_220.0)
        );
        assert_eq!(
            cast(Scalar::F64(1e39), ElementType::F32),
            Scalar::F32(f32::INFINITY)
        );
        assert_eq!(
            cast(Scalar::F32(65_519.0), ElementType::F16),
            Scalar::F32(65_504.0)
        );
        assert_eq!(
            cast(Scalar::F32(65_520.0), ElementType::F16),
            Scalar::F32(f32::INFINITY)
        );
        assert_eq!(
            cast(Scalar::F32(1.0 + 1.0 / 256.0), ElementType::BF16),
            Scalar::F32(1.0)
        );
    }

    #[test]
    fn truth_is_not_zero() {
        assert_eq!(
            cast(Scalar::F32(-0.0), ElementType::Bool),
            Scalar::Bool(false)
        );
        assert_eq!(
            cast(Scalar::F32(f32::NAN), ElementType::Bool),
            Scalar::Bool(true)
        );
        assert_eq!(cast(Scalar::Bool(true), ElementType::F64), Scalar::F64(1.0));
        assert_eq!(cast(Scalar::Bool(true), ElementType::I32), Scalar::I32(1));
    }
}
