//! The reciprocal square root: two correctly rounded operations, at most 1.5 ulp.

use crate::arithmetic::Arithmetic;

/// `1 / sqrt(x)`: infinity for zero (with its sign), NaN below zero, 0 for infinity; subnormal arguments are kept.
pub fn rsqrt<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let root = a.sqrt(x);
    let one = a.constant(1.0);
    a.div(one, root)
}
