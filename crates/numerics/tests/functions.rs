//! The elementary functions against their bounds, at their special values, and in arithmetics other than the plain one.

use numerics::Plain;
use numerics::functions::{MathFunction, exp_never_positive};
use numerics::ulp::{UlpReport, measure_sample};

/// The bound each function promises, in ulp; the maxima over all arguments stand in `docs/numerics.md`.
const fn bound(function: MathFunction) -> f64 {
    match function {
        MathFunction::Exp | MathFunction::Log => 1.1,
        MathFunction::Exp2
        | MathFunction::Log1p
        | MathFunction::Expm1
        | MathFunction::Sigmoid
        | MathFunction::Tanh
        | MathFunction::Erf
        | MathFunction::Erfc
        | MathFunction::NormalCdf
        | MathFunction::Sin
        | MathFunction::Cos => 2.5,
    }
}

#[test]
fn bounds_hold_on_a_dense_sample() {
    for function in MathFunction::ALL {
        let mut report = measure_sample(function, 0..=u32::MAX, 20_011);
        // Most floats are far from where things happen: [2^-9, 2^7) of both signs is sampled more densely.
        for sign in [0, 0x8000_0000] {
            report = report.merge(measure_sample(
                function,
                sign | 0x3b00_0000..=sign | 0x42ff_ffff,
                1_013,
            ));
        }
        assert!(report.max_ulp <= bound(function), "{function}: {report:?}");
        assert!(
            report.max_ulp > 0.4,
            "{function}: too good to be true, {report:?}"
        );
    }
}

#[test]
fn bounds_hold_at_thresholds() {
    // Around every power of two, and where formulas, clamps and result ranges change.
    let thresholds = [
        0.5 * std::f32::consts::LN_2,
        88.376,
        88.722_84,
        -87.336_54,
        -103.278_93,
        -103.972_08,
        89.0,
        -104.0,
        -104.7,
        60.0,
        127.0,
        128.0,
        -126.0,
        -149.0,
        -150.0,
        -151.0,
        9.02,
        10.0,
        0.92,
        3.93,
        3.95,
        10.054,
        10.1,
        13.2,
        14.17,
        14.3,
        std::f32::consts::SQRT_2,
        std::f32::consts::FRAC_1_SQRT_2,
        262_144.0,
        33_554_432.0,
        -1.0,
        -20.0,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::FRAC_PI_4,
        std::f32::consts::PI,
    ];
    let powers = (0..=254).map(|exponent| f32::from_bits(exponent << 23));
    for function in MathFunction::ALL {
        let mut report = UlpReport::EMPTY;
        for center in powers.clone().chain(thresholds) {
            for sign in [0, 0x8000_0000] {
                let bits = center.to_bits() ^ sign;
                let last = if bits & 0x7fff_ffff == 0 {
                    bits + 50
                } else {
                    bits.saturating_add(50)
                };
                let first = if bits & 0x7fff_ffff < 50 {
                    bits
                } else {
                    bits - 50
                };
                report = report.merge(measure_sample(function, first..=last, 1));
            }
        }
        assert!(report.max_ulp <= bound(function), "{function}: {report:?}");
    }
}

/// Asserts equal bits, or NaN on both sides.
fn check(function: MathFunction, x: f32, expected: f32) {
    let actual = function.evaluate(x);
    assert!(
        actual.to_bits() == expected.to_bits() || (actual.is_nan() && expected.is_nan()),
        "{function}({x:?}) is {actual:?}, not {expected:?}"
    );
}

#[test]
fn special_values() {
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;
    let tiny = f32::from_bits(1);
    for function in MathFunction::ALL {
        check(function, NAN, NAN);
        check(function, -NAN, NAN);
        check(function, f32::from_bits(0x7f80_0001), NAN);
        let [at_minus_infinity, at_minus_zero, at_zero, at_infinity] = match function {
            MathFunction::Exp | MathFunction::Exp2 => [0.0, 1.0, 1.0, INF],
            MathFunction::Log => [NAN, -INF, -INF, INF],
            MathFunction::Log1p => [NAN, -0.0, 0.0, INF],
            MathFunction::Expm1 => [-1.0, -0.0, 0.0, INF],
            MathFunction::Sigmoid | MathFunction::NormalCdf => [0.0, 0.5, 0.5, 1.0],
            MathFunction::Tanh | MathFunction::Erf => [-1.0, -0.0, 0.0, 1.0],
            MathFunction::Erfc => [2.0, 1.0, 1.0, 0.0],
            MathFunction::Sin => [NAN, -0.0, 0.0, NAN],
            MathFunction::Cos => [NAN, 1.0, 1.0, NAN],
        };
        check(function, -INF, at_minus_infinity);
        check(function, -0.0, at_minus_zero);
        check(function, 0.0, at_zero);
        check(function, INF, at_infinity);
    }
    for function in [
        MathFunction::Log1p,
        MathFunction::Expm1,
        MathFunction::Tanh,
        MathFunction::Sin,
    ] {
        for x in [
            tiny,
            -tiny,
            f32::from_bits(0x0040_0003),
            -f32::from_bits(0x007f_ffff),
        ] {
            check(function, x, x);
        }
    }
    check(MathFunction::Log, -tiny, NAN);
    check(MathFunction::Log, tiny, -103.278_93);
    check(MathFunction::Log, 1.0, 0.0);
    check(MathFunction::Log1p, -1.0, -INF);
    check(MathFunction::Log1p, -1.000_000_1, NAN);
    check(MathFunction::Log1p, f32::MAX, 88.722_84);
    check(MathFunction::Exp2, -149.0, tiny);
    check(MathFunction::Exp2, -150.0, 0.0);
    check(MathFunction::Exp2, 128.0, INF);
    for exponent in -126..=127i32 {
        check(MathFunction::Exp2, exponent as f32, 2.0f32.powi(exponent));
    }
}

#[test]
fn odd_functions_are_odd_to_the_bit() {
    for function in [MathFunction::Tanh, MathFunction::Erf, MathFunction::Sin] {
        for bits in (0..0x7f80_0000u32).step_by(50_021) {
            let x = f32::from_bits(bits);
            assert_eq!(
                function.evaluate(-x).to_bits(),
                (-function.evaluate(x)).to_bits(),
                "{function}({x:?})"
            );
        }
    }
}

#[test]
fn cosine_is_even_to_the_bit() {
    for bits in (0..0x7f80_0000u32).step_by(50_021) {
        let x = f32::from_bits(bits);
        let (left, right) = (
            MathFunction::Cos.evaluate(-x),
            MathFunction::Cos.evaluate(x),
        );
        assert_eq!(left.to_bits(), right.to_bits(), "{x:?}");
    }
}

/// A bound can fail at a handful of arguments that a thin sample misses; here is where each function comes nearest to its own.
#[test]
fn bounds_hold_where_errors_are_largest() {
    for (function, x) in [
        (MathFunction::Sigmoid, -16.635_704),
        (MathFunction::Tanh, 4.505_090_7),
        (MathFunction::Tanh, 0.062_023_256),
        (MathFunction::Erf, 0.971_019_45),
        (MathFunction::Erfc, 3.275_257_3),
        (MathFunction::NormalCdf, -4.626_184_5),
        (MathFunction::Sin, 755_546.7),
        (MathFunction::Cos, 990_241.06),
    ] {
        let bits = f32::to_bits(x);
        let report = measure_sample(function, bits - 20_000..=bits + 20_000, 1);
        assert!(report.max_ulp <= bound(function), "{function}: {report:?}");
    }
}

#[test]
fn ranges_are_kept() {
    for bits in (0..=u32::MAX).step_by(20_021) {
        let x = f32::from_bits(bits);
        if x.is_nan() {
            continue;
        }
        let within = |function: MathFunction, low: f32, high: f32| {
            let y = function.evaluate(x);
            assert!(low <= y && y <= high, "{function}({x:?}) = {y:?}");
        };
        within(MathFunction::Exp, 0.0, f32::INFINITY);
        within(MathFunction::Exp2, 0.0, f32::INFINITY);
        within(MathFunction::Expm1, -1.0, f32::INFINITY);
        within(MathFunction::Sigmoid, 0.0, 1.0);
        within(MathFunction::Tanh, -1.0, 1.0);
        within(MathFunction::Erf, -1.0, 1.0);
        within(MathFunction::Erfc, 0.0, 2.0);
        within(MathFunction::NormalCdf, 0.0, 1.0);
        if x.is_finite() {
            within(MathFunction::Sin, -1.0, 1.0);
            within(MathFunction::Cos, -1.0, 1.0);
        }
    }
}

#[test]
fn names_lead_back_to_their_functions() {
    for function in MathFunction::ALL {
        assert_eq!(MathFunction::from_name(function.name()), Some(function));
        assert_eq!(function.to_string(), function.name());
    }
    assert_eq!(MathFunction::from_name("sinh"), None);
}

/// [`exp_never_positive`] stands in for `exp` where an argument is known not to be positive, so its bits are the same.
#[test]
fn the_exponential_of_what_is_never_positive_is_exp() {
    let same = |x: f32| {
        let any = MathFunction::Exp.evaluate(x);
        let known = exp_never_positive(&mut Plain, x);
        assert!(
            any.to_bits() == known.to_bits() || (any.is_nan() && known.is_nan()),
            "{x:?}: {any:?}, {known:?}"
        );
    };
    for x in [0.0, -0.0, -104.0, f32::NEG_INFINITY, f32::NAN, f32::MIN] {
        same(x);
    }
    let patterns = |from: f32, to: f32, step| (from.to_bits()..to.to_bits()).step_by(step);
    let sample = patterns(-0.0, f32::NEG_INFINITY, 4099);
    let subnormal_results = patterns(-86.0, -105.0, 7);
    sample
        .chain(subnormal_results)
        .for_each(|bits| same(f32::from_bits(bits)));
}
