//! How far an elementary function is from the truth, in units in the last place.
//!
//! The unit is the spacing of `f32` at the exact result: `2^(max(e, -126) - 23)` for a result in `[2^e, 2^(e+1))`, so that
//! subnormal results are measured in units of 2^-149. The exact result is replaced by a binary64 evaluation whose own
//! error is below 1e-4 of that unit. A NaN or a zero of the wrong sign counts as infinitely far.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::functions::MathFunction;

/// What a measurement found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UlpReport {
    /// The largest error, in ulp of the exact result.
    pub max_ulp: f64,
    /// An argument with the largest error; of several, the one with the smallest bit pattern.
    pub worst_input: f32,
    /// How many arguments were tried.
    pub count: u64,
}

impl UlpReport {
    /// The report of no arguments at all.
    pub const EMPTY: UlpReport = UlpReport {
        max_ulp: 0.0,
        worst_input: f32::NAN,
        count: 0,
    };

    /// Counts one more argument.
    fn observe(&mut self, function: MathFunction, x: f32) {
        self.count += 1;
        let error = ulp_error(function.evaluate(x), reference(function, x));
        if error > self.max_ulp {
            self.max_ulp = error;
            self.worst_input = x;
        }
    }

    /// The report of both sets of arguments.
    #[must_use]
    pub fn merge(self, other: UlpReport) -> UlpReport {
        let first = self.worst_input.to_bits() <= other.worst_input.to_bits();
        let mine = self.max_ulp > other.max_ulp || (self.max_ulp == other.max_ulp && first);
        let worse = if mine { self } else { other };
        UlpReport {
            count: self.count + other.count,
            ..worse
        }
    }
}

/// Measures a function on the arguments with the given bit patterns, every `step`-th of them (0 is taken as 1).
#[must_use]
pub fn measure_sample(
    function: MathFunction,
    patterns: RangeInclusive<u32>,
    step: usize,
) -> UlpReport {
    let mut report = UlpReport::EMPTY;
    for bits in patterns.step_by(step.max(1)) {
        report.observe(function, f32::from_bits(bits));
    }
    report
}

/// Measures a function on all arguments with the given bit patterns.
#[must_use]
pub fn measure(function: MathFunction, patterns: RangeInclusive<u32>) -> UlpReport {
    measure_sample(function, patterns, 1)
}

/// Measures a function on all 2^32 arguments with the given number of threads (at least one).
///
/// `progress` is told now and then, from any thread, how many arguments of 2^32 a part just finished adds.
pub fn measure_all(
    function: MathFunction,
    threads: usize,
    progress: impl Fn(u64) + Sync,
) -> UlpReport {
    const PART_BITS: u32 = 22;
    let next = AtomicU32::new(0);
    let total = Mutex::new(UlpReport::EMPTY);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= 1 << (32 - PART_BITS) {
                        break;
                    }
                    let first = part << PART_BITS;
                    let report = measure(function, first..=first | ((1 << PART_BITS) - 1));
                    if let Ok(mut total) = total.lock() {
                        *total = total.merge(report);
                    }
                    progress(report.count);
                }
            });
        }
    });
    total.into_inner().unwrap_or(UlpReport::EMPTY)
}

/// The distance between a result and the exact value, in ulp of the exact value.
#[must_use]
pub fn ulp_error(result: f32, exact: f64) -> f64 {
    if result.is_nan() || exact.is_nan() {
        return if result.is_nan() && exact.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if exact == 0.0 {
        let same_sign = result.is_sign_negative() == exact.is_sign_negative();
        return if result == 0.0 && same_sign {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // 2^128 stands for infinity: it is what would have been rounded to if exponents went on.
    let beyond = 2.0f64.powi(128);
    let result = f64::from(result).clamp(-beyond, beyond);
    let exact = exact.clamp(-beyond, beyond);
    (result - exact).abs() / unit(exact)
}

/// The spacing of `f32` at a number at most 2^128 in magnitude.
fn unit(exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    // 2^128 belongs to the binade below, whose upper end it is.
    let exponent = exponent.clamp(-126, 127) - 23;
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The function's value in binary64, accurate to better than 1e-11 of itself.
#[must_use]
pub fn reference(function: MathFunction, x: f32) -> f64 {
    let x = f64::from(x);
    match function {
        MathFunction::Exp => x.exp(),
        MathFunction::Exp2 => x.exp2(),
        MathFunction::Log => x.ln(),
        MathFunction::Log1p => x.ln_1p(),
        MathFunction::Expm1 => x.exp_m1(),
        MathFunction::Sigmoid => {
            let small = (-x.abs()).exp();
            (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
        }
        MathFunction::Tanh => x.tanh(),
        MathFunction::Erf => erf_f64(x),
        MathFunction::Erfc => erfc_f64(x),
        MathFunction::NormalCdf => 0.5 * erfc_f64(-x * std::f64::consts::FRAC_1_SQRT_2),
        MathFunction::Sin => x.sin(),
        MathFunction::Cos => x.cos(),
    }
}

/// `erf(x)`. Up to 2 by the series `2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!`, whose terms are all of one sign
/// (Abramowitz and Stegun 7.1.6).
fn erf_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() > 2.0 {
        return (1.0 - upper_tail(x.abs())).copysign(x);
    }
    let square = x * x;
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-18 {
        odd += 2.0;
        term *= 2.0 * square / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * sum
}

/// `erfc(x)`, accurate in the upper tail.
fn erfc_f64(x: f64) -> f64 {
    if x.abs() <= 2.0 || x.is_nan() {
        1.0 - erf_f64(x)
    } else if x > 0.0 {
        upper_tail(x)
    } else {
        2.0 - upper_tail(-x)
    }
}

/// `erfc(x)` for `x >= 2` by its continued fraction, `e^(-x^2)/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + ...))))`, from the
/// 60th term back (Abramowitz and Stegun 7.1.14).
fn upper_tail(x: f64) -> f64 {
    if x > 28.0 {
        return 0.0;
    }
    let mut denominator = x;
    for index in (1..=60).rev() {
        denominator = x + 0.5 * f64::from(index) / denominator;
    }
    (-x * x).exp() * 0.5 * std::f64::consts::FRAC_2_SQRT_PI / denominator
}

#[cfg(test)]
mod tests {
    use super::{UlpReport, erf_f64, erfc_f64, measure, ulp_error};
    use crate::functions::MathFunction;

    #[test]
    fn the_unit_is_the_spacing_of_f32() {
        assert_eq!(ulp_error(1.0, 1.0), 0.0);
        assert_eq!(ulp_error(1.0, 1.0 + f64::from(f32::EPSILON)), 1.0);
        assert_eq!(ulp_error(1.0, 1.0 - f64::from(f32::EPSILON) / 2.0), 1.0);
        assert_eq!(ulp_error(0.0, 2.0f64.powi(-149)), 1.0);
        assert_eq!(ulp_error(f32::INFINITY, 1e300), 0.0);
        assert_eq!(ulp_error(f32::MAX, 1e300), 1.0);
        assert_eq!(ulp_error(f32::INFINITY, f64::from(f32::MAX)), 1.0);
    }

    #[test]
    fn wrong_kinds_are_infinitely_far() {
        assert_eq!(ulp_error(f32::NAN, 1.0), f64::INFINITY);
        assert_eq!(ulp_error(1.0, f64::NAN), f64::INFINITY);
        assert_eq!(ulp_error(f32::NAN, f64::NAN), 0.0);
        assert_eq!(ulp_error(0.0, -0.0), f64::INFINITY);
        assert_eq!(ulp_error(f32::from_bits(1), 0.0), f64::INFINITY);
    }

    #[test]
    fn the_references_agree_with_tables() {
        for (x, erf, erfc) in [
            (0.5, 0.520_499_877_813_046_5, 0.479_500_122_186_953_5),
            (1.0, 0.842_700_792_949_714_9, 0.157_299_207_050_285_13),
            (2.0, 0.995_322_265_018_952_7, 0.004_677_734_981_047_266),
            (3.0, 0.999_977_909_503_001_4, 2.209_049_699_858_544e-5),
            (10.0, 1.0, 2.088_487_583_762_545e-45),
        ] {
            assert!(
                (erf_f64(x) / erf - 1.0).abs() < 1e-14 && (erf_f64(-x) / erf + 1.0).abs() < 1e-14
            );
            assert!((erfc_f64(x) / erfc - 1.0).abs() < 1e-12, "{x}");
            assert!((erfc_f64(-x) / (2.0 - erfc) - 1.0).abs() < 1e-14);
        }
        // Both formulas meet at 2.
        let (below, above) = (erfc_f64(2.0), erfc_f64(2.0f64.next_up()));
        assert!((below / above - 1.0).abs() < 1e-11, "{below} {above}");
    }

    #[test]
    fn merging_keeps_the_worse_and_counts_both() {
        let function = MathFunction::Exp;
        let whole = measure(function, 0x3f00_0000..=0x3f00_ffff);
        let parts = measure(function, 0x3f00_8000..=0x3f00_ffff)
            .merge(measure(function, 0x3f00_0000..=0x3f00_7fff));
        assert_eq!(whole, parts);
        assert!(whole.max_ulp > 0.4 && whole.count == 0x1_0000);
        assert_eq!(UlpReport::EMPTY.merge(whole), whole);
    }
}
