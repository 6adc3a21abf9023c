//! Minimum and maximum as IEEE 754-2019 defines them: a NaN operand gives NaN, and `-0 < +0`.
//!
//! The x86 instructions return their second operand for NaNs and for zeros of different sign, and C's `fmin` drops NaNs.
//! Neither is commutative in bits, so a reduction's result would depend on its order. These are commutative and
//! associative up to the bits of a NaN.

/// The smaller of two numbers; NaN if either is NaN; `-0` of `-0` and `+0`.
#[must_use]
pub fn minimum_f32(a: f32, b: f32) -> f32 {
    if a < b {
        a
    } else if b < a {
        b
    } else if a == b {
        f32::from_bits(a.to_bits() | b.to_bits())
    } else {
        a + b
    }
}

/// The larger of two numbers; NaN if either is NaN; `+0` of `-0` and `+0`.
#[must_use]
pub fn maximum_f32(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else if b > a {
        b
    } else if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else {
        a + b
    }
}

/// [`minimum_f32`] for binary64.
#[must_use]
pub fn minimum_f64(a: f64, b: f64) -> f64 {
    if a < b {
        a
    } else if b < a {
        b
    } else if a == b {
        f64::from_bits(a.to_bits() | b.to_bits())
    } else {
        a + b
    }
}

/// [`maximum_f32`] for binary64.
#[must_use]
pub fn maximum_f64(a: f64, b: f64) -> f64 {
    if a > b {
        a
    } else if b > a {
        b
    } else if a == b {
        f64::from_bits(a.to_bits() & b.to_bits())
    } else {
        a + b
    }
}

#[cfg(test)]
mod tests {
    use super::{maximum_f32, maximum_f64, minimum_f32, minimum_f64};

    const NAN: f32 = f32::NAN;

    #[test]
    fn p20_maximum_propagates_nan_from_either_side() {
        let a = [NAN, 1.0, NAN, 0.0, -0.0];
        let b = [NAN, NAN, 1.0, NAN, 0.0];
        for (a, b) in a.into_iter().zip(b) {
            for (a, b) in [(a, b), (b, a)] {
                let expect_nan = a.is_nan() || b.is_nan();
                assert_eq!(maximum_f32(a, b).is_nan(), expect_nan);
                assert_eq!(minimum_f32(a, b).is_nan(), expect_nan);
                assert_eq!(maximum_f64(f64::from(a), f64::from(b)).is_nan(), expect_nan);
                assert_eq!(minimum_f64(f64::from(a), f64::from(b)).is_nan(), expect_nan);
            }
        }
        let clip = |x: f32| minimum_f32(maximum_f32(x, -1.0), 1.0);
        assert!(maximum_f32(NAN, 0.0).is_nan() && clip(NAN).is_nan());
        assert_eq!((clip(2.0), clip(-2.0)), (1.0, -1.0));
    }

    #[test]
    fn p21_zeros_are_ordered() {
        for (a, b) in [(-0.0f32, 0.0f32), (0.0, -0.0)] {
            assert_eq!(minimum_f32(a, b).to_bits(), (-0.0f32).to_bits());
            assert_eq!(maximum_f32(a, b).to_bits(), 0.0f32.to_bits());
            assert_eq!(
                minimum_f64(f64::from(a), f64::from(b)).to_bits(),
                (-0.0f64).to_bits()
            );
            assert_eq!(
                maximum_f64(f64::from(a), f64::from(b)).to_bits(),
                0.0f64.to_bits()
            );
        }
        assert_eq!(
            maximum_f32(-0.0, 0.0).to_bits(),
            0.0f32.to_bits(),
            "relu(-0) is +0"
        );
    }

    #[test]
    fn infinities_and_equal_values_come_through() {
        assert_eq!(
            minimum_f32(f32::NEG_INFINITY, f32::INFINITY),
            f32::NEG_INFINITY
        );
        assert_eq!(maximum_f32(f32::NEG_INFINITY, f32::INFINITY), f32::INFINITY);
        assert_eq!(maximum_f32(-2.5, -2.5), -2.5);
        assert_eq!(minimum_f64(3.0, 3.0), 3.0);
    }
}
