//! `log x` and `log(1 + x)`.
//!
//! A positive `x` is `2^k m` with `sqrt(1/2) < m <= sqrt 2`, and `log x = k ln 2 + log m`. Subtracting the bits of `x` from those
//! of `sqrt 2` and keeping the exponent field yields `-k 2^23`: added to the bits of `x` it leaves `m`, added to those of 1 it gives
//! `2^-k`, and converted to a float it is `-k` with a factor that the constant `-ln 2 / 2^23` takes back. `f = m - 1` is exact, and
//! `log(1 + f) = f + f^2 P(f)` with one rounding that matters. ln 2 in one part is enough, since an fma leaves only the
//! error of the constant, 0.03 ulp.

use std::f32::consts::{LN_2, SQRT_2};

use super::polynomial;
use crate::arithmetic::Arithmetic;

/// `log(1 + f) = f + f^2 (c_0 + c_1 f + ...)`, relative error 4.2e-9 for `sqrt(1/2) <= 1 + f <= sqrt 2`.
const LOG: [f32; 9] = [
    -0.499_999_88,
    0.333_333_25,
    -0.250_016_03,
    0.200_019_85,
    -0.166_086_58,
    0.141_815_89,
    -0.132_460_49,
    0.129_062_04,
    -0.076_163_05,
];

/// The lowest exponent step of a binary32, as a difference of bit patterns.
const EXPONENT_STEP: f32 = 8_388_608.0;
/// The sign and exponent fields of a binary32.
const EXPONENT_FIELD: i32 = 0xff80_0000_u32.cast_signed();

/// The natural logarithm: `-inf` at either zero, NaN below, `inf` at `inf`; subnormal arguments are scaled up first.
pub fn log<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let smallest_normal = a.constant(f32::MIN_POSITIVE);
    let subnormal = a.lt(x, smallest_normal);
    let up = a.constant(16_777_216.0);
    let scaled = a.mul(x, up);
    let normal = a.select(subnormal, scaled, x);
    let (negative_k, bits) = split(a, normal);
    let mantissa_bits = a.add_i32(bits, negative_k);
    let mantissa = a.float_from_bits(mantissa_bits);
    let one = a.constant(1.0);
    let f = a.sub(mantissa, one);

    let exponent = a.i32_to_f32(negative_k);
    let zero = a.constant(0.0);
    let scaled_exponent = a.constant(24.0 * EXPONENT_STEP);
    let correction = a.select(subnormal, scaled_exponent, zero);
    let exponent = a.add(exponent, correction);
    let result = assemble(a, f, exponent);
    at_the_edges(a, x, 0.0, result)
}

/// `log(1 + x)`: `-inf` at -1, NaN below, keeps `-0` and subnormals.
///
/// `k` comes from the rounded `1 + x`, but `f = 2^-k x + (2^-k - 1)` from `x` itself, by one fma. `2^-k` is no normal number for the
/// largest arguments; from 2^25 on `1 + x` has no more to say than `x`, and `f` comes from the mantissa as in `log`.
pub fn log1p<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let one = a.constant(1.0);
    let sum = a.add(x, one);
    let (negative_k, bits) = split(a, sum);
    let one_bits = a.constant_i32(1.0f32.to_bits().cast_signed());
    let scale_bits = a.add_i32(negative_k, one_bits);
    let scale = a.float_from_bits(scale_bits);
    // Written as -(1 - s), so that x = -0 gives f = -0.
    let offset = a.sub(one, scale);
    let offset = a.neg(offset);
    let f = a.fma(x, scale, offset);

    let mantissa_bits = a.add_i32(bits, negative_k);
    let mantissa = a.float_from_bits(mantissa_bits);
    let large_f = a.sub(mantissa, one);
    let threshold = a.constant(33_554_432.0);
    let large = a.lt(threshold, x);
    let f = a.select(large, large_f, f);

    let exponent = a.i32_to_f32(negative_k);
    let result = assemble(a, f, exponent);
    at_the_edges(a, x, -1.0, result)
}

/// `-k 2^23` and the bits of `x`, for a positive normal `x`.
fn split<A: Arithmetic>(a: &mut A, x: A::F) -> (A::I, A::I) {
    let bits = a.bits(x);
    let middle = a.constant_i32(SQRT_2.to_bits().cast_signed());
    let difference = a.sub_i32(middle, bits);
    let field = a.constant_i32(EXPONENT_FIELD);
    let negative_k = a.and_i32(difference, field);
    (negative_k, bits)
}

/// `log(1 + f) + k ln 2`, given `-k 2^23`.
fn assemble<A: Arithmetic>(a: &mut A, f: A::F, negative_exponent: A::F) -> A::F {
    let tail = polynomial(a, f, LOG);
    let square = a.mul(f, f);
    let mantissa_part = a.fma(tail, square, f);
    let unit = a.constant(-LN_2 / EXPONENT_STEP);
    a.fma(negative_exponent, unit, mantissa_part)
}

/// `result`, but `-inf` where `x` equals the pole, NaN where it is less, and `x` where it is infinite or NaN.
fn at_the_edges<A: Arithmetic>(a: &mut A, x: A::F, pole: f32, result: A::F) -> A::F {
    let infinity = a.constant(f32::INFINITY);
    let finite = a.lt(x, infinity);
    let result = a.select(finite, result, x);
    let pole = a.constant(pole);
    let at_pole = a.eq(x, pole);
    let negative_infinity = a.constant(f32::NEG_INFINITY);
    let nan = a.constant(f32::NAN);
    let edge = a.select(at_pole, negative_infinity, nan);
    let outside = a.le(x, pole);
    a.select(outside, edge, result)
}
