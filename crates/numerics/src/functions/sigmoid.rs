//! The logistic function `1 / (1 + e^-x)`.
//!
//! Written so, it overflows for `x < -88.7`, where the result is still above the smallest subnormal. So numerator and
//! denominator carry a factor `c = 2^-24`: `c / (c + c e^-x)`. The factor stands in the bias of the exponent and costs
//! nothing; with it `c e^-x` is finite as long as the result is not zero, the sum is one fma, and the division rounds
//! once, also to a subnormal.

use std::f32::consts::{LN_2, LOG2_E};

use super::exponential::{EXP, LN_2_REST, less_one};
use super::{ROUND_TO_INTEGER, power_of_two};
use crate::arithmetic::Arithmetic;

/// `1 / (1 + e^-x)`: 0 at `-inf`, 1 at `inf`. 16 operations, one of them a division.
pub fn sigmoid<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    // From 60 on the result is 1; below -104.7 it is less than half the smallest subnormal.
    let x = a.at_most(x, 60.0);
    let x = a.at_least(x, -104.7);
    let negative_log2_e = a.constant(-LOG2_E);
    // 256 more than the exponent sets the sign bit: what comes out is -c 2^n.
    let magic = a.constant(ROUND_TO_INTEGER + (256.0 + 127.0 - 24.0));
    let shifted = a.fma(x, negative_log2_e, magic);
    let n = a.sub(shifted, magic);
    // -x = n ln 2 + r; what is reduced here is -r, so 1 - e^r is taken, whose even coefficients change sign.
    let high = a.constant(LN_2);
    let r = a.fma(n, high, x);
    let low = a.constant(LN_2_REST);
    let r = a.fma(n, low, r);
    let one_less_power = less_one(a, r, opposite(alternate(EXP)));
    let exponent = a.bits(shifted);
    let negative_scale = power_of_two(a, exponent);
    let c = a.constant(1.0 / 16_777_216.0);
    // A sum of two powers of two: exact unless one hardly counts.
    let sum = a.sub(c, negative_scale);
    let denominator = a.fma(one_less_power, negative_scale, sum);
    a.div(c, denominator)
}

/// The coefficients of `f(-r)`.
pub(super) const fn alternate<const N: usize>(mut coefficients: [f32; N]) -> [f32; N] {
    let mut index = 1;
    while index < N {
        coefficients[index] = -coefficients[index];
        index += 2;
    }
    coefficients
}

/// The coefficients of `-f(r)`.
const fn opposite<const N: usize>(mut coefficients: [f32; N]) -> [f32; N] {
    let mut index = 0;
    while index < N {
        coefficients[index] = -coefficients[index];
        index += 1;
    }
    coefficients
}
