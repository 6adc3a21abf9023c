//! `e^x`, `2^x` and `e^x - 1`.
//!
//! `x = n ln 2 + r` with an integer `n` and `|r| <= ln 2 / 2`, so `e^x = 2^n e^r`. Adding a magic number rounds `x / ln 2` to
//! `n` and leaves `n`, already biased, in the low bits of the sum. `n` reaches from -150 to 128, more than one exponent
//! field holds, so the scale is a product of two powers; only the last multiplication can round, to a subnormal, or
//! overflow. Outside `[-104, 89]` the result is 0 or infinity whatever `x` is, so a clamp at each end makes the whole
//! line total, and NaN passes it.

use std::f32::consts::{LN_2, LOG2_E};

use super::{ROUND_TO_INTEGER, polynomial, power_of_two};
use crate::arithmetic::Arithmetic;

/// `ln 2 - LN_2`, where `LN_2` is ln 2 rounded to `f32`.
pub(super) const LN_2_REST: f32 = -1.904_654_2e-9;

/// `e^r = 1 + r + r^2 (c_0 + c_1 r + ...)`, relative error 3.1e-9 for `|r| <= ln 2 / 2`.
pub(super) const EXP: [f32; 5] = [
    0.499_999_94,
    0.166_665_21,
    0.041_668_26,
    0.008_368_67,
    0.001_382_132_2,
];

/// `e^r - 1 = r + r^2 (c_0 + c_1 r + ...)`, relative error 1.4e-8 for `|r| <= ln 2 / 2`.
pub(super) const EXPM1: [f32; 5] = [
    0.499_999_97,
    0.166_665_46,
    0.041_667_443,
    0.008_366_253,
    0.001_386_994_6,
];

/// `2^r = 1 + c_1 r + ...`, relative error 3.0e-9 for `|r| <= 1/2`.
const EXP2: [f32; 7] = [
    1.0,
    LN_2,
    0.240_226_48,
    0.055_503_596,
    0.009_618_499,
    0.001_339_097_7,
    0.000_153_293_64,
];

/// `e^x`. Degree 6; see the module for the method. `e^-inf` is 0, subnormal results are rounded once more.
pub fn exp<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let x = a.at_most(x, 89.0);
    let (shifted, power_less_one) = split(a, x, 254.0);
    let (first, second) = scales(a, shifted);
    let scaled = a.fma(power_less_one, first, first);
    a.mul(scaled, second)
}

/// `e^x` for an `x` that is not above 0, or NaN: the bits of [`exp`], in 14 operations instead of 18.
///
/// `n` is at most 0, so one exponent field holds `n + 25`, and the last multiplication is by a constant. Above 0 the result means
/// nothing.
pub fn exp_never_positive<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let (shifted, power_less_one) = split(a, x, 127.0 + 25.0);
    let exponent = a.bits(shifted);
    let first = power_of_two(a, exponent);
    let scaled = a.fma(power_less_one, first, first);
    let second = a.constant(1.0 / 33_554_432.0);
    a.mul(scaled, second)
}

/// With `x = n ln 2 + r`: a number whose low bits hold `n + bias`, and `e^r - 1`. Below -104 `x` counts as that.
fn split<A: Arithmetic>(a: &mut A, x: A::F, bias: f32) -> (A::F, A::F) {
    let x = a.at_least(x, -104.0);
    let log2_e = a.constant(LOG2_E);
    let magic = a.constant(ROUND_TO_INTEGER + bias);
    let shifted = a.fma(x, log2_e, magic);
    let n = a.sub(shifted, magic);
    let r = reduce(a, x, n);
    (shifted, less_one(a, r, EXP))
}

/// `2^x`. Degree 6; the reduction `x - n` is exact.
pub fn exp2<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let x = a.at_most(x, 129.0);
    let x = a.at_least(x, -151.0);
    let magic = a.constant(ROUND_TO_INTEGER + 254.0);
    let shifted = a.add(x, magic);
    let n = a.sub(shifted, magic);
    let r = a.sub(x, n);
    let power = polynomial(a, r, EXP2);
    let (first, second) = scales(a, shifted);
    let scaled = a.mul(power, first);
    a.mul(scaled, second)
}

/// `e^x - 1`. With `q = e^r - 1` to full relative precision, `e^x - 1 = 2^n q + (2^n - 1)`.
///
/// `n` may be 128, so the sum is taken at half its size and doubled. Halving would cost a subnormal its last bit and the
/// sum loses the sign of zero, so below 2^-25 the result is `x` itself.
pub fn expm1<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let clamped = a.at_most(x, 89.0);
    let clamped = a.at_least(clamped, -20.0);
    let log2_e = a.constant(LOG2_E);
    let magic = a.constant(ROUND_TO_INTEGER + 126.0);
    let shifted = a.fma(clamped, log2_e, magic);
    let n = a.sub(shifted, magic);
    let r = reduce(a, clamped, n);
    let q = less_one(a, r, EXPM1);
    let exponent = a.bits(shifted);
    let half_scale = power_of_two(a, exponent);
    let half = a.constant(0.5);
    let offset = a.sub(half_scale, half);
    let halved = a.fma(q, half_scale, offset);
    let result = a.add(halved, halved);
    let magnitude = a.abs(x);
    let threshold = a.constant(1.0 / 33_554_432.0);
    let tiny = a.lt(magnitude, threshold);
    a.select(tiny, x, result)
}

/// `x - n ln 2` with ln 2 in two parts; the first step is exact.
fn reduce<A: Arithmetic>(a: &mut A, x: A::F, n: A::F) -> A::F {
    let high = a.constant(-LN_2);
    let r = a.fma(n, high, x);
    let low = a.constant(-LN_2_REST);
    a.fma(n, low, r)
}

/// `r + r^2 (c_0 + c_1 r + ...)`, which is `e^r - 1` with the right coefficients.
///
/// Coefficients go in pairs, joined by the powers of `r^2` (Estrin's scheme). Since `r^2` is needed anyway this costs no more
/// operations than Horner's rule and half its latency; and every second sum is added to a value that dies, which
/// NEON's multiply-add does in place, where adding to a constant takes a copy of it first.
pub(super) fn less_one<A: Arithmetic>(a: &mut A, r: A::F, coefficients: [f32; 5]) -> A::F {
    let square = a.mul(r, r);
    let tail = curvature(a, r, square, coefficients);
    a.fma(tail, square, r)
}

/// `c_0 + c_1 r + ...` by Estrin's scheme, for the `square` of `r`.
pub(super) fn curvature<A: Arithmetic>(
    a: &mut A,
    r: A::F,
    square: A::F,
    [c0, c1, c2, c3, c4]: [f32; 5],
) -> A::F {
    let upper = polynomial(a, r, [c2, c3]);
    let lower = polynomial(a, r, [c0, c1]);
    let c4 = a.constant(c4);
    let upper = a.fma(c4, square, upper);
    a.fma(upper, square, lower)
}

/// Two powers of two whose product is `2^n`, where the low bits of `shifted` hold `n + 254`: each half of them is a biased
/// exponent.
fn scales<A: Arithmetic>(a: &mut A, shifted: A::F) -> (A::F, A::F) {
    let exponent = a.bits(shifted);
    let lower_half = a.shr_arithmetic_i32(exponent, 1);
    let upper_half = a.sub_i32(exponent, lower_half);
    (power_of_two(a, lower_half), power_of_two(a, upper_half))
}
