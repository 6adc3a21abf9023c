//! Rounding to an integral value, in the same type.
//!
//! All keep infinities, NaN and the sign of zero (`ceil(-0.5)` is `-0`), as IEEE 754 has it.

/// The largest integral value not above `a`.
#[must_use]
pub fn floor_f32(a: f32) -> f32 {
    a.floor()
}

/// The smallest integral value not below `a`.
#[must_use]
pub fn ceil_f32(a: f32) -> f32 {
    a.ceil()
}

/// `a` without its fraction.
#[must_use]
pub fn trunc_f32(a: f32) -> f32 {
    a.trunc()
}

/// The nearest integral value; of two equally near, the even one.
#[must_use]
pub fn round_f32(a: f32) -> f32 {
    a.round_ties_even()
}

/// [`floor_f32`] for binary64.
#[must_use]
pub fn floor_f64(a: f64) -> f64 {
    a.floor()
}

/// [`ceil_f32`] for binary64.
#[must_use]
pub fn ceil_f64(a: f64) -> f64 {
    a.ceil()
}

/// [`trunc_f32`] for binary64.
#[must_use]
pub fn trunc_f64(a: f64) -> f64 {
    a.trunc()
}

/// [`round_f32`] for binary64.
#[must_use]
pub fn round_f64(a: f64) -> f64 {
    a.round_ties_even()
}

#[cfg(test)]
mod tests {
    use super::{ceil_f32, floor_f32, round_f32, round_f64, trunc_f32};

    #[test]
    fn ties_and_signs() {
        assert_eq!([0.5, 1.5, 2.5, -2.5].map(round_f32), [0.0, 2.0, 2.0, -2.0]);
        assert_eq!([0.5, 1.5, 2.5, -2.5].map(round_f64), [0.0, 2.0, 2.0, -2.0]);
        for value in [
            ceil_f32(-0.5),
            round_f32(-0.25),
            trunc_f32(-0.75),
            floor_f32(-0.0),
        ] {
            assert_eq!(value.to_bits(), (-0.0f32).to_bits());
        }
        assert_eq!((floor_f32(-0.5), ceil_f32(0.25)), (-1.0, 1.0));
        assert_eq!(round_f32(8_388_609.0), 8_388_609.0);
        assert!(floor_f32(f32::NAN).is_nan() && ceil_f32(f32::INFINITY).is_infinite());
    }
}
