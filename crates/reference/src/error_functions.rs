//! `erf` and `erfc` in binary64, for the oracle.
//!
//! Up to 2 the series `erf(x) = 2/sqrt(pi) exp(-x^2) (x + 2 x^3/3 + 4 x^5/15 + ..)` has positive terms only, so nothing
//! cancels (Abramowitz and Stegun, 7.1.6). Beyond, the continued fraction of `erfc` converges fast (7.1.14). `exp(-x^2)`
//! takes the rounding error of `x^2` along, or the tails would lose digits. Relative error: a few units in the last place
//! of binary64, and below `2^-43` for `erfc` between 0.5 and 2, where it is one minus the series.

use std::f64::consts::PI;

/// Where the series ends and the continued fraction begins.
const SERIES_END: f64 = 2.0;

/// The error function.
#[must_use]
pub fn erf(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x.abs() <= SERIES_END {
        series(x)
    } else {
        (1.0 - tail(x.abs())).copysign(x)
    }
}

/// One minus the error function.
#[must_use]
pub fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x.abs() <= SERIES_END {
        1.0 - series(x)
    } else if x > 0.0 {
        tail(x)
    } else {
        2.0 - tail(-x)
    }
}

/// `exp(-x^2)` with the square's rounding error taken along.
fn gaussian(x: f64) -> f64 {
    let square = x * x;
    let error = x.mul_add(x, -square);
    (-square).exp() * (1.0 - error)
}

fn series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut n = 0.0;
    while term.abs() > sum.abs() * 1e-18 {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    2.0 / PI.sqrt() * gaussian(x) * sum
}

/// `erfc(x)` for x beyond [`SERIES_END`], by the continued fraction from its far end.
fn tail(x: f64) -> f64 {
    if x > 28.0 {
        return 0.0;
    }
    // 200 / x^2 levels are plenty: at 2 the error after n levels falls like exp(-4 sqrt(2 n) * 2).
    let mut fraction = x;
    for level in (1..=120).rev() {
        fraction = x + f64::from(level) / 2.0 / fraction;
    }
    gaussian(x) / (PI.sqrt() * fraction)
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc};

    /// Values computed with 50 digits.
    #[test]
    #[expect(
        clippy::excessive_precision,
        reason = "the values stand as they were computed"
    )]
    fn values() {
        for (x, expected) in [
            (0.1, 0.1124629160182848922),
            (0.5, 0.5204998778130465377),
            (1.0, 0.8427007929497148693),
            (2.0, 0.9953222650189527342),
            (2.5, 0.9995930479825550411),
            (3.5, 0.9999992569016276586),
        ] {
            assert!(
                (erf(x) / expected - 1.0).abs() < 1e-15,
                "erf({x}) = {}",
                erf(x)
            );
            assert!((erf(-x) / -expected - 1.0).abs() < 1e-15);
        }
        for (x, expected) in [
            (0.5, 0.4795001221869534623),
            (1.0, 0.1572992070502851307),
            (2.0, 0.004677734981047265838),
            (2.5, 4.069520174449589396e-4),
            (5.0, 1.537459794428034851e-12),
            (10.0, 2.088487583762544757e-45),
            (20.0, 5.395865611607900928e-176),
        ] {
            assert!(
                (erfc(x) / expected - 1.0).abs() < 1e-13,
                "erfc({x}) = {}",
                erfc(x)
            );
            assert!((erfc(-x) - (2.0 - expected)).abs() < 1e-15);
        }
    }

    #[test]
    fn ends() {
        assert_eq!(erf(f64::INFINITY), 1.0);
        assert_eq!(erf(f64::NEG_INFINITY), -1.0);
        assert_eq!(erfc(f64::INFINITY), 0.0);
        assert_eq!(erfc(f64::NEG_INFINITY), 2.0);
        assert!(erf(f64::NAN).is_nan() && erfc(f64::NAN).is_nan());
        assert_eq!(erf(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(erfc(0.0), 1.0);
    }

    #[test]
    fn the_two_halves_meet() {
        let below = erfc(2.0);
        let above = erfc(f64::from_bits(2.0f64.to_bits() + 1));
        assert!((below - above) / below < 1e-13 && below >= above * (1.0 - 1e-13));
    }
}
