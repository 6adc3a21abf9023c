//! The logistic function `1 / (1 + e^-x)`.
//!
//! Written so, it overflows for `x < -88.7`, where the result is still above the smallest subnormal. So numerator and
//! denominator carry a factor `c = 2^-24`: `c / (c + c e^-x)`. The factor stands in the bias of the exponent and costs
//! nothing; with it `c e^-x` is finite as long as the result is not zero, the sum is one fma, and the division rounds
//! once, also to a subnormal.

use std::f32::consts::{LN_2, LOG2_E};

use super::exponential::{EXP, LN_2_REST};
use super::{ROUND_TO_INTEGER, polynomial, power_of_two};
use crate::arithmetic::Arithmetic;

/// `1 / (1 + e^-x)`: 0 at `-inf`, 1 at `inf`. 15 operations, one of them a division.
pub fn sigmoid<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    // From 60 on the result is 1; below -104.7 it is less than half the smallest subnormal.
    let x = a.at_most(x, 60.0);
    let x = a.at_least(x, -104.7);
    let negative_log2_e = a.constant(-LOG2_E);
    let magic = a.constant(ROUND_TO_INTEGER + (127.0 - 24.0));
    let shifted = a.fma(x, negative_log2_e, magic);
    let n = a.sub(shifted, magic);
    // -x = n ln 2 + r; what is reduced here is -r, and the odd coefficients change sign instead.
    let high = a.constant(LN_2);
    let r = a.fma(n, high, x);
    let low = a.constant(LN_2_REST);
    let r = a.fma(n, low, r);
    let power = polynomial(a, r, alternate(EXP));
    let exponent = a.bits(shifted);
    let scale = power_of_two(a, exponent);
    let c = a.constant(1.0 / 16_777_216.0);
    let denominator = a.fma(power, scale, c);
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
