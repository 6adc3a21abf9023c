//! How far results are from an oracle.

use numerics::ElementType;

/// What is still right. A result passes if it meets any one of the three bounds; NaN must meet NaN, and an infinity the
/// same infinity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Largest absolute difference.
    pub absolute: f64,
    /// Largest difference relative to the oracle's value.
    pub relative: f64,
    /// Largest difference in units in the last place of the element type at the oracle's value (for f32 not below
    /// 2^-149).
    pub ulp: f64,
}

/// One result held against the oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Which result, counted from 0.
    pub index: usize,
    /// The result.
    pub actual: f64,
    /// The oracle's value.
    pub expected: f64,
}

/// What a comparison found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How many results were compared.
    pub count: usize,
    /// How many miss every bound.
    pub wrong: usize,
    /// Largest absolute difference; infinite if a NaN or an infinity is wrong.
    pub max_abs: f64,
    /// Largest relative difference, over oracle values that aren't zero.
    pub max_rel: f64,
    /// Largest difference in units in the last place.
    pub max_ulp: f64,
    /// The result with the largest difference in units in the last place (the first, of several).
    pub worst: Option<Worst>,
    /// The first result that misses every bound.
    pub first_wrong: Option<Worst>,
    /// Whether there are as many results as oracle values.
    pub lengths_agree: bool,
}

impl Report {
    /// Whether every result is there and within the tolerance.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.wrong == 0 && self.lengths_agree
    }
}

/// One unit in the last place of `element` at `value`, which is finite; 1 for integers and truth values.
#[must_use]
pub fn ulp(element: ElementType, value: f64) -> f64 {
    let (digits, lowest) = match element {
        ElementType::F32 => (24, -149),
        ElementType::F64 => (53, -1074),
        ElementType::F16 => (11, -24),
        ElementType::BF16 => (8, -133),
        ElementType::I32 | ElementType::Bool => return 1.0,
    };
    if value == 0.0 {
        return power_of_two(lowest);
    }
    let bits = value.abs().to_bits();
    let exponent = match bits >> 52 {
        // A subnormal of binary64 lies below the smallest digit of every narrower type.
        0 => lowest,
        biased => biased as i32 - 1023 + 1 - digits,
    };
    power_of_two(exponent.max(lowest))
}

fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074))
    }
}

/// Compares results of type `element` with an oracle's values.
#[must_use]
pub fn compare(
    element: ElementType,
    actual: &[f64],
    oracle: &[f64],
    tolerance: Tolerance,
) -> Report {
    let mut report = Report {
        lengths_agree: actual.len() == oracle.len(),
        ..Report::default()
    };
    for (index, (&actual, &expected)) in actual.iter().zip(oracle).enumerate() {
        report.count += 1;
        let same = actual == expected || actual.is_nan() && expected.is_nan();
        let absolute = if same {
            0.0
        } else {
            finite_or_infinity((actual - expected).abs())
        };
        let relative = if same || expected == 0.0 {
            0.0
        } else {
            finite_or_infinity(absolute / expected.abs())
        };
        let ulps = match (same, expected.is_finite()) {
            (true, _) => 0.0,
            (false, true) => finite_or_infinity(absolute / ulp(element, expected)),
            (false, false) => f64::INFINITY,
        };
        // A result just beyond the largest number is infinite where the oracle isn't yet.
        let overflows = actual.is_infinite()
            && actual.is_sign_negative() == expected.is_sign_negative()
            && expected.abs() >= largest(element);
        let here = Worst {
            index,
            actual,
            expected,
        };
        if overflows {
            continue;
        }
        if ulps > report.max_ulp {
            report.worst = Some(here);
        }
        report.max_abs = report.max_abs.max(absolute);
        report.max_rel = report.max_rel.max(relative);
        report.max_ulp = report.max_ulp.max(ulps);
        let near = absolute <= tolerance.absolute
            || expected != 0.0 && relative <= tolerance.relative
            || ulps <= tolerance.ulp;
        if !near {
            report.wrong += 1;
            report.first_wrong.get_or_insert(here);
        }
    }
    report
}

fn largest(element: ElementType) -> f64 {
    match element {
        ElementType::F32 => f64::from(f32::MAX),
        ElementType::F16 => 65504.0,
        ElementType::BF16 => f64::from(f32::from_bits(0x7f7f_0000)),
        ElementType::F64 | ElementType::I32 | ElementType::Bool => f64::INFINITY,
    }
}

/// Differences with a NaN or an infinity in them are as large as can be.
fn finite_or_infinity(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} wrong, largest difference {:e} absolute, {:e} relative, {:.3} ulp",
            self.wrong, self.count, self.max_abs, self.max_rel, self.max_ulp
        )?;
        if let Some(worst) = self.first_wrong.or(self.worst) {
            write!(
                f,
                "; number {} is {:e}, the oracle says {:e}",
                worst.index, worst.actual, worst.expected
            )?;
        }
        if !self.lengths_agree {
            f.write_str("; the lengths differ")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ElementType = ElementType::F32;

    #[test]
    fn units_in_the_last_place() {
        assert_eq!(ulp(F32, 1.0), f64::from(f32::EPSILON));
        assert_eq!(ulp(F32, 1.999), f64::from(f32::EPSILON));
        assert_eq!(ulp(F32, 0.999), f64::from(f32::EPSILON) / 2.0);
        assert_eq!(ulp(F32, 1e-45), f64::from(f32::from_bits(1)));
        assert_eq!(ulp(F32, 1e-310), f64::from(f32::from_bits(1)));
        assert_eq!(ulp(ElementType::F64, 1.0), f64::EPSILON);
        assert_eq!(ulp(ElementType::F64, 0.0), f64::from_bits(1));
        assert_eq!(ulp(ElementType::F16, 1.0), 2f64.powi(-10));
        assert_eq!(ulp(ElementType::BF16, 1.0), 2f64.powi(-7));
    }

    #[test]
    fn wrong_results_are_found() {
        let tolerance = Tolerance {
            ulp: 1.0,
            ..Tolerance::default()
        };
        let passes =
            |actual: f64, expected: f64| compare(F32, &[actual], &[expected], tolerance).passes();
        assert!(
            passes(1.0, 1.0) && passes(f64::NAN, f64::NAN) && passes(f64::INFINITY, f64::INFINITY)
        );
        assert!(passes(f64::INFINITY, 1e39) && passes(1.0, 1.0 + 1e-8));
        assert!(!passes(1.0, 1.0 + 3e-7));
        assert!(!passes(f64::NAN, 1.0) && !passes(1.0, f64::NAN));
        assert!(!passes(f64::INFINITY, 1.0) && !passes(1.0, f64::INFINITY));
        assert!(!passes(f64::NEG_INFINITY, f64::INFINITY) && !passes(f64::NEG_INFINITY, 1e39));
        assert!(!compare(F32, &[1.0], &[1.0, 1.0], tolerance).passes());
    }

    #[test]
    fn the_worst_is_named() {
        let tolerance = Tolerance {
            absolute: 0.1,
            ..Tolerance::default()
        };
        let report = compare(F32, &[1.0, 2.05, 3.5], &[1.0, 2.0, 3.0], tolerance);
        assert_eq!((report.count, report.wrong, report.max_abs), (3, 1, 0.5));
        assert_eq!(report.first_wrong.map(|worst| worst.index), Some(2));
        assert!(
            report
                .to_string()
                .contains("number 2 is 3.5e0, the oracle says 3e0")
        );
    }
}
