//! Conversions between `f32` and the two half types, to nearest even.
//!
//! The half types live in memory only. Widening is exact; narrowing is one rounding, overflows to infinity from half an
//! ulp above the largest finite number on, keeps subnormals, and turns NaN into some NaN. The generic versions below need
//! nothing but [`Arithmetic`], so an emitter can produce them on machines without conversion instructions; their bit
//! patterns travel in the lower 16 bits of an integer.

use half::{bf16, f16};

use crate::arithmetic::Arithmetic;

/// The number with this binary16 pattern.
#[must_use]
pub fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32_const()
}

/// The binary16 pattern nearest to a number, ties to even.
#[must_use]
pub fn f16_from_f32(value: f32) -> u16 {
    f16::from_f32_const(value).to_bits()
}

/// The number with this bfloat16 pattern.
#[must_use]
pub fn bf16_to_f32(bits: u16) -> f32 {
    bf16::from_bits(bits).to_f32_const()
}

/// The bfloat16 pattern nearest to a number, ties to even.
#[must_use]
pub fn bf16_from_f32(value: f32) -> u16 {
    bf16::from_f32_const(value).to_bits()
}

/// `value` as binary16 would keep it.
#[must_use]
pub fn f16_round(value: f32) -> f32 {
    f16_to_f32(f16_from_f32(value))
}

/// `value` as bfloat16 would keep it.
#[must_use]
pub fn bf16_round(value: f32) -> f32 {
    bf16_to_f32(bf16_from_f32(value))
}

/// The sign bit of a binary32.
const SIGN: i32 = i32::MIN;
/// The bits of binary32 infinity; larger magnitudes are NaNs.
const INFINITY: i32 = 0x7f80_0000;

/// [`f16_to_f32`] by arithmetic: `bits` holds the pattern in its lower half, its upper half is zero or the sign.
///
/// Exponent and fraction, shifted into place, are a binary32 whose exponent is too small by 127 - 15 = 112. One
/// multiplication by 2^112 repairs that exactly, and normalises subnormals on the way.
pub fn widen_f16<A: Arithmetic>(a: &mut A, bits: A::I) -> A::F {
    let sign_mask = a.constant_i32(0x8000);
    let sign = a.and_i32(bits, sign_mask);
    let sign = a.shl_i32(sign, 16);
    let magnitude_mask = a.constant_i32(0x7fff);
    let magnitude = a.and_i32(bits, magnitude_mask);
    let largest_finite = a.constant_i32(0x7bff);
    let special = a.lt_i32(largest_finite, magnitude);
    let shifted = a.shl_i32(magnitude, 13);
    let unscaled = a.float_from_bits(shifted);
    let scale = a.constant(f32::from_bits((127 + 112) << 23));
    let scaled = a.mul(unscaled, scale);
    let finite = a.bits(scaled);
    let infinity = a.constant_i32(INFINITY);
    let not_finite = a.or_i32(shifted, infinity);
    let result = a.select_i32(special, not_finite, finite);
    let result = a.or_i32(result, sign);
    a.float_from_bits(result)
}

/// [`f16_from_f32`] by arithmetic; the pattern comes in the lower half, the upper half is zero.
///
/// A normal result rounds the bit pattern: adding half an ulp less one, and one more if the kept part is odd, carries
/// into the exponent exactly when rounding does. Below 2^-14, adding 0.5 aligns the binary point: an ulp of 0.5 is 2^-24,
/// the spacing of binary16 subnormals, so the addition's own rounding is the one wanted.
pub fn narrow_f16<A: Arithmetic>(a: &mut A, value: A::F) -> A::I {
    let bits = a.bits(value);
    let sign = a.shr_logical_i32(bits, 16);
    let sign_mask = a.constant_i32(0x8000);
    let sign = a.and_i32(sign, sign_mask);
    let magnitude_mask = a.constant_i32(!SIGN);
    let magnitude = a.and_i32(bits, magnitude_mask);

    let one = a.constant_i32(1);
    let kept = a.shr_logical_i32(magnitude, 13);
    let odd = a.and_i32(kept, one);
    let bias = a.constant_i32(0xfff - (112 << 23));
    let biased = a.add_i32(magnitude, bias);
    let biased = a.add_i32(biased, odd);
    let normal = a.shr_logical_i32(biased, 13);

    let half = a.constant(0.5);
    let absolute = a.float_from_bits(magnitude);
    let aligned = a.add(absolute, half);
    let aligned = a.bits(aligned);
    let half_bits = a.constant_i32(0.5f32.to_bits().cast_signed());
    let subnormal = a.sub_i32(aligned, half_bits);

    let smallest_normal = a.constant_i32((127 - 14) << 23);
    let is_subnormal = a.lt_i32(magnitude, smallest_normal);
    let result = a.select_i32(is_subnormal, subnormal, normal);
    // 65520 is half-way between the largest finite number, 65504, and 65536.
    let below_overflow = a.constant_i32(65_520.0f32.to_bits().cast_signed() - 1);
    let overflows = a.lt_i32(below_overflow, magnitude);
    let infinite = a.constant_i32(0x7c00);
    let result = a.select_i32(overflows, infinite, result);
    let infinity = a.constant_i32(INFINITY);
    let is_nan = a.lt_i32(infinity, magnitude);
    let nan = a.constant_i32(0x7e00);
    let result = a.select_i32(is_nan, nan, result);
    a.or_i32(result, sign)
}

/// [`bf16_to_f32`] by arithmetic: `bits` holds the pattern in its lower half, its upper half is ignored.
pub fn widen_bf16<A: Arithmetic>(a: &mut A, bits: A::I) -> A::F {
    let shifted = a.shl_i32(bits, 16);
    a.float_from_bits(shifted)
}

/// [`bf16_from_f32`] by arithmetic; the pattern comes in the lower half, the upper half is zero.
///
/// Rounds the bit pattern, as [`narrow_f16`] does; a NaN is made quiet first, lest rounding carry it into infinity or zero.
pub fn narrow_bf16<A: Arithmetic>(a: &mut A, value: A::F) -> A::I {
    let bits = a.bits(value);
    let kept = a.shr_logical_i32(bits, 16);
    let one = a.constant_i32(1);
    let odd = a.and_i32(kept, one);
    let below_half = a.constant_i32(0x7fff);
    let rounded = a.add_i32(bits, below_half);
    let rounded = a.add_i32(rounded, odd);
    let rounded = a.shr_logical_i32(rounded, 16);
    let quiet_bit = a.constant_i32(0x40);
    let quiet = a.or_i32(kept, quiet_bit);
    let is_nan = a.ne(value, value);
    a.select_i32(is_nan, quiet, rounded)
}

#[cfg(test)]
mod tests {
    use super::{
        bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32, narrow_bf16, narrow_f16, widen_bf16,
        widen_f16,
    };
    use crate::arithmetic::Plain;

    fn same(a: f32, b: f32) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    #[test]
    fn widening_agrees_on_every_pattern() {
        for bits in 0..=u16::MAX {
            let zero_extended = i32::from(bits);
            let sign_extended = i32::from(bits.cast_signed());
            for extended in [zero_extended, sign_extended] {
                assert!(
                    same(widen_f16(&mut Plain, extended), f16_to_f32(bits)),
                    "{bits:04x}"
                );
                assert!(
                    same(widen_bf16(&mut Plain, extended), bf16_to_f32(bits)),
                    "{bits:04x}"
                );
            }
        }
    }

    fn check_narrowing(value: f32) {
        let expected = f16_from_f32(value);
        let actual = narrow_f16(&mut Plain, value);
        assert_eq!(actual >> 16, 0);
        let nan_alike = same(f16_to_f32(actual as u16), f16_to_f32(expected)) && value.is_nan();
        assert!(
            actual == i32::from(expected) || nan_alike,
            "f16 {:08x}",
            value.to_bits()
        );
        let expected = bf16_from_f32(value);
        let actual = narrow_bf16(&mut Plain, value);
        assert_eq!(actual >> 16, 0);
        let nan_alike = same(bf16_to_f32(actual as u16), bf16_to_f32(expected)) && value.is_nan();
        assert!(
            actual == i32::from(expected) || nan_alike,
            "bf16 {:08x}",
            value.to_bits()
        );
    }

    #[test]
    fn narrowing_agrees_around_every_half_and_on_a_sample() {
        for pattern in 0..=u16::MAX {
            // Each representable number, its neighbours, and both sides of the tie above it.
            for base in [f16_to_f32(pattern).to_bits(), u32::from(pattern) << 16] {
                for offset in [
                    0,
                    1,
                    0xfff,
                    0x1000,
                    0x1001,
                    0x7fff,
                    0x8000,
                    0x8001,
                    u32::MAX,
                ] {
                    check_narrowing(f32::from_bits(base.wrapping_add(offset)));
                }
            }
        }
        for bits in (0..=u32::MAX).step_by(4_093) {
            check_narrowing(f32::from_bits(bits));
        }
        for bits in (0x3300_0000..0x3880_0000u32).step_by(61) {
            check_narrowing(f32::from_bits(bits));
        }
    }

    #[test]
    fn narrowing_is_to_nearest_even() {
        for (value, pattern) in [
            (2049.0, 0x6800),
            (2051.0, 0x6802),
            (65_519.996, 0x7bff),
            (65_520.0, 0x7c00),
            (2.0f32.powi(-25), 0),
        ] {
            assert_eq!(f16_from_f32(value), pattern, "{value}");
        }
        assert_eq!(
            f16_from_f32(f32::from_bits(2.0f32.powi(-25).to_bits() + 1)),
            1
        );
        assert_eq!(bf16_from_f32(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(bf16_from_f32(f32::from_bits(0x3f81_8000)), 0x3f82);
        assert_eq!(bf16_from_f32(f32::MAX), 0x7f80);
    }
}
