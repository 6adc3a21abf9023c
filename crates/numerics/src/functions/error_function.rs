//! The error function, its complement, and the normal distribution function.
//!
//! In the tails these are tiny, and whoever multiplies them by `x` (GELU does) sees the relative error. `erfc(x)` for
//! `x >= 0` is `e^(-x^2)` times a function that varies slowly, from 1 to `1 / (x sqrt pi)`, and is rational to high accuracy: a
//! quotient of polynomials of degree 4 and 5 with positive coefficients only, so no cancellation anywhere. `e^(-x^2)` is the
//! delicate part: rounding `x^2` to `f32` would already cost 50 ulp at `x = 9`. The reduction needs `x^2 - n ln 2`, and an fma
//! takes that square exactly.

use std::f32::consts::LOG2_E;

use super::exponential::{EXP, curvature};
use super::sigmoid::alternate;
use super::tanh::with_sign_of;
use super::{ROUND_TO_INTEGER, polynomial, power_of_two};
use crate::arithmetic::Arithmetic;

/// The leading 16 bits of ln 2, so that a product with an integer of 8 bits is exact.
const LN_2_LEADING: f32 = 0.693_145_75;
/// `ln 2 - LN_2_LEADING`.
const LN_2_FOLLOWING: f32 = 1.428_606_8e-6;

/// How a Gaussian tail `T(y) = T(0) e^(-y^2 / d) P(y) / (P(y) + y (k P(y) + N(y)))` is made for `y >= 0`.
///
/// `P` occurs in numerator and denominator and `N` is small beside `k P`, so their rounding errors hardly reach the quotient:
/// what is left are the roundings of the last steps. How much those weigh depends on where in its binade an intermediate falls;
/// the common factor of all coefficients (the constant of `P`) is chosen, and the last bits of the coefficients are then
/// varied, for the smallest error measured.
struct Tail {
    /// The divisor `d`, 1 or 2.
    divisor: f32,
    /// `T(0)` times 2^-24, a power of two.
    unit: f32,
    /// Beyond this `T` is less than half the smallest subnormal.
    end: f32,
    /// `P`.
    numerator: [f32; 5],
    /// `k`, between the limits of `(1 / R - 1) / y` at zero and at infinity.
    share: f32,
    /// `N`.
    excess: [f32; 5],
}

/// `erfc(y)`; the quotient has relative error 1.2e-8 on `[0, 10.2]`.
const ERFC: Tail = Tail {
    divisor: 1.0,
    unit: 1.0 / 16_777_216.0,
    end: 10.1,
    numerator: [1.19, 1.474_71, 0.871_657_7, 0.273_270_67, 0.039_132_908],
    share: 1.5,
    excess: [
        -0.442_228_26,
        -0.222_888_11,
        -0.001_610_642_2,
        0.035_351_656,
        0.010_661_098,
    ],
};

/// `erfc(y / sqrt 2) / 2`; the quotient has relative error 1.5e-8 on `[0, 14.4]`.
const NORMAL: Tail = Tail {
    divisor: 2.0,
    unit: 1.0 / 33_554_432.0,
    end: 14.3,
    numerator: [1.76, 1.542_078_1, 0.644_453_94, 0.142_848_73, 0.014_462_611],
    share: 1.0,
    excess: [
        -0.355_722_6,
        -0.071_234_49,
        0.038_260_747,
        0.021_734_502,
        0.003_663_368_5,
    ],
};

/// `RECIPROCAL - bits(x)` are the bits of a number within 13 percent of `1 / x`, for a positive normal `x`.
const RECIPROCAL: i32 = 0x7ef3_11c7;

/// `erfc(x) = 1 - erf(x)`, with small relative error for every `x`; 2 at `-inf`, 0 at `inf`.
pub fn erfc<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let magnitude = a.abs(x);
    let tail = gaussian_tail(a, magnitude, &ERFC);
    let two = a.constant(2.0);
    let other = a.sub(two, tail);
    let zero = a.constant(0.0);
    let negative = a.lt(x, zero);
    a.select(negative, other, tail)
}

/// The probability that a standard normal variable is below `x`, which is `erfc(-x / sqrt 2) / 2`.
///
/// GELU is `x * normal_cdf(x)`. Going through `erfc` would round `x / sqrt 2` first, at up to 190 ulp in the lower tail.
pub fn normal_cdf<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let magnitude = a.abs(x);
    let tail = gaussian_tail(a, magnitude, &NORMAL);
    let one = a.constant(1.0);
    let other = a.sub(one, tail);
    let zero = a.constant(0.0);
    let negative = a.lt(x, zero);
    a.select(negative, tail, other)
}

/// The tail at `y >= 0`, to a subnormal result if need be.
fn gaussian_tail<A: Arithmetic>(a: &mut A, y: A::F, tail: &Tail) -> A::F {
    let y = a.at_most(y, tail.end);
    let square = a.mul(y, y);
    let per_square = a.constant(-LOG2_E / tail.divisor);
    let magic = a.constant(ROUND_TO_INTEGER + (127.0 + 24.0));
    let shifted = a.fma(square, per_square, magic);
    let n = a.sub(shifted, magic);
    // r = y^2 + d n ln 2, so that e^(-y^2 / d) = 2^n e^(-r / d); n is at most 0.
    let leading = a.constant(tail.divisor * LN_2_LEADING);
    let multiple = a.mul(n, leading);
    let r = a.fma(y, y, multiple);
    let following = a.constant(tail.divisor * LN_2_FOLLOWING);
    let r = a.fma(n, following, r);
    let r_square = a.mul(r, r);
    let curvature = curvature(a, r, r_square, stretched(alternate(EXP), tail.divisor));
    let exponent = a.bits(shifted);
    let scale = power_of_two(a, exponent);

    let numerator = even_and_odd(a, y, square, tail.numerator);
    let excess = even_and_odd(a, y, square, tail.excess);
    let share = a.constant(tail.share);
    let factor = a.fma(numerator, share, excess);
    let denominator = a.fma(y, factor, numerator);
    // What these two roundings added to the denominator, relative to it, goes into the exponential. A rough reciprocal will do.
    let negative_share = a.constant(-tail.share);
    let excess_again = a.fma(numerator, negative_share, factor);
    let added_to_factor = a.sub(excess_again, excess);
    let negative_y = a.neg(y);
    let numerator_again = a.fma(negative_y, factor, denominator);
    let added = a.sub(numerator_again, numerator);
    let added = a.fma(added_to_factor, y, added);
    let bits = a.bits(denominator);
    let reciprocal = a.constant_i32(RECIPROCAL);
    let reciprocal = a.sub_i32(reciprocal, bits);
    let reciprocal = a.float_from_bits(reciprocal);
    let correction = a.mul(added, reciprocal);
    // e^(-r / d) - 1, to which P adds itself: one rounding for the power and the product together.
    let beyond_linear = a.fma(curvature, r_square, correction);
    let linear = a.constant(-1.0 / tail.divisor);
    let power_less_one = a.fma(r, linear, beyond_linear);
    let numerator = a.fma(power_less_one, numerator, numerator);
    let quotient = a.div(numerator, denominator);
    // The scale is 2^24 too large, lest it be subnormal itself; so the last multiplication alone can round to a subnormal.
    let scaled = a.mul(quotient, scale);
    let unit = a.constant(tail.unit);
    a.mul(scaled, unit)
}

/// A polynomial of degree 4 as `even(y^2) + y odd(y^2)`. For large `y` each step of Horner's rule in `y` would pass its rounding
/// error on undiminished; this way there are half as many steps, and the error of `square` nearly cancels in the quotient.
fn even_and_odd<A: Arithmetic>(a: &mut A, y: A::F, square: A::F, coefficients: [f32; 5]) -> A::F {
    let [c0, c1, c2, c3, c4] = coefficients;
    let even = polynomial(a, square, [c0, c2, c4]);
    let odd = polynomial(a, square, [c1, c3]);
    a.fma(odd, y, even)
}

/// The coefficients of `f(r / divisor)` from that of `r^2` on; exact for a power of two.
const fn stretched<const N: usize>(mut coefficients: [f32; N], divisor: f32) -> [f32; N] {
    let mut factor = 1.0 / (divisor * divisor);
    let mut index = 0;
    while index < N {
        coefficients[index] *= factor;
        factor /= divisor;
        index += 1;
    }
    coefficients
}

/// Where `erf` passes from one formula to the other.
const ERF_SPLIT: f32 = 0.92;

/// `erf(x) = x + x (c_0 + c_1 x^2 + ...)`, relative error 1.5e-8 for `|x| <= 0.92`.
const ERF_NEAR: [f32; 6] = [
    0.128_379_15,
    -0.376_125,
    0.112_818_78,
    -0.026_768_62,
    0.004_995_919,
    -0.000_600_414_93,
];

/// `log2 erfc(y) = c_0 + c_1 y + ...` on `[0.92, 3.95]`, as good as a relative error of 2.5e-8 of `erf`.
const LOG2_ERFC: [f32; 6] = [
    -0.002_826_372_9,
    -1.615_684_4,
    -0.939_398_3,
    -0.131_073_27,
    0.022_356_309,
    -0.001_790_554_8,
];

/// `-2^r`, relative error 9.3e-8 for `|r| <= 1/2`; it counts only times `erfc(0.92) = 0.19`.
#[expect(
    clippy::approx_constant,
    reason = "the best coefficient at this degree is near ln 2, not ln 2"
)]
const NEGATIVE_EXP2: [f32; 6] = [
    -1.0,
    -0.693_147,
    -0.240_222_47,
    -0.055_507_12,
    -0.009_671_301,
    -0.001_326_909_8,
];

/// `erf(x)`: odd to the bit, keeps `-0` and subnormals, exactly 1 in magnitude from 3.93 on.
///
/// Near zero an odd polynomial. Elsewhere `1 - erfc`, where only the absolute error of `erfc` counts: 2 to the power of a
/// polynomial is enough, and needs no division.
pub fn erf<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let magnitude = a.abs(x);
    let y = a.at_most(magnitude, 3.95);
    let logarithm = polynomial(a, y, LOG2_ERFC);
    let magic = a.constant(ROUND_TO_INTEGER + 127.0);
    let shifted = a.add(logarithm, magic);
    let n = a.sub(shifted, magic);
    let r = a.sub(logarithm, n);
    let negative_power = polynomial(a, r, NEGATIVE_EXP2);
    let exponent = a.bits(shifted);
    let scale = power_of_two(a, exponent);
    let one = a.constant(1.0);
    let far = a.fma(negative_power, scale, one);
    let far = with_sign_of(a, far, x);

    let square = a.mul(x, x);
    let factor = polynomial(a, square, ERF_NEAR);
    let near = a.fma(factor, x, x);
    let split = a.constant(ERF_SPLIT);
    let is_near = a.lt(magnitude, split);
    a.select(is_near, near, far)
}
