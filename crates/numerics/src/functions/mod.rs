//! The elementary functions of `f32`, each written once over [`Arithmetic`].
//!
//! Every function is a straight line: reduce the argument, evaluate a polynomial (Horner's rule, or pairs where `r^2` is at hand), put the
//! result back together. All are total: subnormal arguments and results, overflow, infinities, NaN and the sign of zero are right,
//! and no clamp or blend is spent where the arithmetic itself saturates. Errors are bounded in units in the last place
//! (ulp) of the exact result; `docs/numerics.md` lists the maximum measured over all 2^32 arguments.
//!
//! Of the factors of an fma the one that is not needed any more stands first: x86 code overwrites it, and copies a factor that lives.
//!
//! Coefficients come from our own fits: a weighted minimax fit of the relative error on Chebyshev nodes (Lawson's
//! iteration), after which one coefficient after the other, lowest order first, is rounded to one of its three nearest
//! `f32` and the remaining ones are fitted again.

pub mod error_function;
pub mod exponential;
pub mod logarithm;
pub mod root;
pub mod sigmoid;
pub mod tanh;
pub mod trigonometric;

use std::fmt;

use crate::arithmetic::{Arithmetic, Plain};

pub use error_function::{erf, erfc, normal_cdf};
pub use exponential::{exp, exp_never_positive, exp2, expm1};
pub use logarithm::{log, log1p};
pub use root::rsqrt;
pub use sigmoid::sigmoid;
pub use tanh::tanh;
pub use trigonometric::{cos, sin};

/// An elementary function a kernel can apply to `f32` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MathFunction {
    /// `e^x`.
    Exp,
    /// `2^x`.
    Exp2,
    /// The natural logarithm.
    Log,
    /// `log(1 + x)` without cancellation.
    Log1p,
    /// `e^x - 1` without cancellation.
    Expm1,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// `1 - erf(x)` with small relative error in the upper tail.
    Erfc,
    /// The normal distribution function `erfc(-x / sqrt 2) / 2` with small relative error in the lower tail.
    NormalCdf,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
}

impl MathFunction {
    /// Every function, in declaration order.
    pub const ALL: [MathFunction; 12] = [
        MathFunction::Exp,
        MathFunction::Exp2,
        MathFunction::Log,
        MathFunction::Log1p,
        MathFunction::Expm1,
        MathFunction::Sigmoid,
        MathFunction::Tanh,
        MathFunction::Erf,
        MathFunction::Erfc,
        MathFunction::NormalCdf,
        MathFunction::Sin,
        MathFunction::Cos,
    ];

    /// The name in kernel text, such as `exp`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MathFunction::Exp => "exp",
            MathFunction::Exp2 => "exp2",
            MathFunction::Log => "log",
            MathFunction::Log1p => "log1p",
            MathFunction::Expm1 => "expm1",
            MathFunction::Sigmoid => "sigmoid",
            MathFunction::Tanh => "tanh",
            MathFunction::Erf => "erf",
            MathFunction::Erfc => "erfc",
            MathFunction::NormalCdf => "normal_cdf",
            MathFunction::Sin => "sin",
            MathFunction::Cos => "cos",
        }
    }

    /// The function with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<MathFunction> {
        MathFunction::ALL
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// The function's value at `x` in any arithmetic: emitted, traced or computed.
    pub fn apply<A: Arithmetic>(self, a: &mut A, x: A::F) -> A::F {
        match self {
            MathFunction::Exp => exp(a, x),
            MathFunction::Exp2 => exp2(a, x),
            MathFunction::Log => log(a, x),
            MathFunction::Log1p => log1p(a, x),
            MathFunction::Expm1 => expm1(a, x),
            MathFunction::Sigmoid => sigmoid(a, x),
            MathFunction::Tanh => tanh(a, x),
            MathFunction::Erf => erf(a, x),
            MathFunction::Erfc => erfc(a, x),
            MathFunction::NormalCdf => normal_cdf(a, x),
            MathFunction::Sin => sin(a, x),
            MathFunction::Cos => cos(a, x),
        }
    }

    /// The function's value at one number.
    #[must_use]
    pub fn evaluate(self, x: f32) -> f32 {
        self.apply(&mut Plain, x)
    }
}

impl fmt::Display for MathFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The sign bit of a binary32.
const SIGN: i32 = i32::MIN;

/// 1.5 * 2^23: adding it to a number below 2^22 in magnitude rounds to an integer, which then stands in the lowest bits
/// of the sum. An integer added to this constant is added to those bits, so that an exponent bias costs nothing.
const ROUND_TO_INTEGER: f32 = 12_582_912.0;

/// `c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule, one fma a coefficient: the fewest operations there are, and latency
/// hides behind the other vectors in flight.
fn polynomial<A: Arithmetic, const N: usize>(a: &mut A, x: A::F, coefficients: [f32; N]) -> A::F {
    let mut descending = coefficients.into_iter().rev();
    let leading = descending.next().unwrap_or(0.0);
    let mut sum = a.constant(leading);
    for coefficient in descending {
        let coefficient = a.constant(coefficient);
        sum = a.fma(sum, x, coefficient);
    }
    sum
}

/// `2^(e - 127)`, where the lowest nine bits of `exponent` hold `e` in 1..=254 and higher bits do not matter.
fn power_of_two<A: Arithmetic>(a: &mut A, exponent: A::I) -> A::F {
    let bits = a.shl_i32(exponent, 23);
    a.float_from_bits(bits)
}
