//! The hyperbolic tangent.
//!
//! `tanh y = (1 - e^-2y) / (1 + e^-2y)` keeps its relative precision down to zero if the numerator is computed as `expm1` is, and
//! needs no second formula and no blend: with `2y = -n ln 2 + 2r`, `g = (1 - e^-2r) / 2` and `s = 2^n`, half the numerator is
//! `g s + (1 - s) / 2`, and half the denominator is one less that. The exponent is negative so that the denominator is below
//! one, where floats lie twice as dense. Taking `y = |x|` and putting the sign on the result keeps `-0` and makes the function odd to
//! the bit.

use std::f32::consts::{LN_2, LOG2_E};

use super::exponential::{EXPM1, less_one};
use super::sigmoid::alternate;
use super::{ROUND_TO_INTEGER, SIGN, power_of_two};
use crate::arithmetic::Arithmetic;

/// `(1 - e^-2r) / 2 = r + r^2 (c_0 + c_1 r + ...)`: the coefficients of `expm1` times -2, 4, -8, ..., which is exact.
const HALF_ONE_LESS_EXP: [f32; 5] = {
    let mut coefficients = alternate(EXPM1);
    let mut index = 0;
    let mut factor = -2.0;
    while index < coefficients.len() {
        coefficients[index] *= factor;
        factor *= 2.0;
        index += 1;
    }
    coefficients
};

/// `tanh x`: `x` itself for tiny arguments, exactly 1 in magnitude from 9.02 on. 18 operations, one of them a division.
pub fn tanh<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let magnitude = a.abs(x);
    let y = a.at_most(magnitude, 10.0);
    let twice_log2_e = a.constant(-2.0 * LOG2_E);
    let magic = a.constant(ROUND_TO_INTEGER + 127.0);
    let shifted = a.fma(y, twice_log2_e, magic);
    let n = a.sub(shifted, magic);
    // One part of ln 2 is enough: n >= -29, and where n is large tanh hardly depends on its argument.
    let half_ln_2 = a.constant(0.5 * LN_2);
    let r = a.fma(n, half_ln_2, y);
    let g = less_one(a, r, HALF_ONE_LESS_EXP);
    let exponent = a.bits(shifted);
    let scale = power_of_two(a, exponent);
    let minus_half = a.constant(-0.5);
    let half = a.constant(0.5);
    let offset = a.fma(scale, minus_half, half);
    let numerator = a.fma(g, scale, offset);
    let one = a.constant(1.0);
    let denominator = a.sub(one, numerator);
    let quotient = a.div(numerator, denominator);
    with_sign_of(a, quotient, x)
}

/// A number that is not negative, with the sign of `x` put on it.
pub(super) fn with_sign_of<A: Arithmetic>(a: &mut A, magnitude: A::F, x: A::F) -> A::F {
    let bits = a.bits(x);
    let sign_mask = a.constant_i32(SIGN);
    let sign = a.and_i32(bits, sign_mask);
    let bits = a.bits(magnitude);
    let signed = a.or_i32(bits, sign);
    a.float_from_bits(signed)
}
