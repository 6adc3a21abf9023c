//! Failures that other systems had with numbers, each with its right answer. P20 and P21 stand beside `extremum`.

use numerics::functions::{MathFunction, rsqrt};
use numerics::{Plain, Scalar};

fn apply(function: MathFunction, x: f32) -> f32 {
    function.evaluate(x)
}

/// `|actual - expected| <= relative |expected|`, and the same sign.
fn near(actual: f32, expected: f64, relative: f64) {
    let error = (f64::from(actual) - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{actual:e} is not {expected:e}, off by {:e}",
        error / expected.abs()
    );
}

/// x sigmoid(2 u) with u = sqrt(2/pi) (x + 0.044715 x^3), which is the tanh form of GELU without its cancellation.
fn gelu_tanh(x: f32) -> f32 {
    let twice_u = x * (0.071_354_814 * x * x + 1.595_769);
    x * apply(MathFunction::Sigmoid, twice_u)
}

fn gelu_erf(x: f32) -> f32 {
    x * apply(MathFunction::NormalCdf, x)
}

/// Clamped below, so that minus infinity does not meet the zero it is multiplied with.
fn silu(x: f32) -> f32 {
    numerics::extremum::maximum_f32(x, -200.0) * apply(MathFunction::Sigmoid, x)
}

#[test]
fn p22_nan_has_no_sign_in_results_or_text() {
    let zero = std::hint::black_box(0.0f32);
    let infinity = std::hint::black_box(f32::INFINITY);
    for nan in [zero / zero, (zero - 1.0).sqrt(), infinity - infinity] {
        for nan in [nan, -nan] {
            assert!(nan.is_nan());
            assert_eq!(Scalar::F32(nan).to_string(), "nan");
            assert!(Scalar::F32(nan).same_bits(Scalar::F32(f32::NAN)));
            for function in MathFunction::ALL {
                assert!(apply(function, nan).is_nan(), "{function}");
            }
        }
    }
}

#[test]
fn p23_subnormal_arguments_are_read() {
    for (x, root, log, reciprocal) in [
        (1e-40f32, 9.99997e-21, -92.103_409_1, 1.000_002_69e20),
        (
            1.175_494_2e-38,
            1.084_202_11e-19,
            -87.336_544_9,
            9.223_372_59e18,
        ),
        (1.4e-45, 3.743_392_13e-23, -103.278_93, 2.671_373_89e22),
    ] {
        near(x.sqrt(), root, 1e-6);
        near(apply(MathFunction::Log, x), log, 1e-7);
        near(rsqrt(&mut Plain, x), reciprocal, 2e-7);
    }
}

#[test]
fn p30_gelu_tanh_does_not_overflow() {
    for x in [
        10.0, 10.5, 11.0, 13.24, 15.0, 20.0, 21.657_723, 40.0, 1e4, 1e10,
    ] {
        assert_eq!(gelu_tanh(x), x);
        let negative = gelu_tanh(-x);
        assert!(negative <= 0.0 && negative > -1e-10, "{x}: {negative:e}");
        // sigmoid(2 u) still is a subnormal at -13.24, where tanh would have rounded to -1.
        assert!(
            x <= 13.24 || negative == 0.0 || negative > -1e-35,
            "{x}: {negative:e}"
        );
        assert_eq!(apply(MathFunction::Tanh, x), 1.0);
        assert_eq!(apply(MathFunction::Tanh, -x), -1.0);
    }
}

#[test]
fn p31_gelu_erf_keeps_its_negative_tail() {
    for (x, expected) in [
        (-3.0, -0.004_049_694_09),
        (-4.0, -1.266_849_67e-4),
        (-5.0, -1.433_257_86e-6),
        (-5.5, -1.044_425_94e-7),
        (-6.0, -5.919_525_87e-9),
        (-8.0, -4.976_768_46e-15),
        (-10.0, -7.619_853_02e-23),
        (-13.0, -7.952_313_72e-38),
    ] {
        near(gelu_erf(x), expected, 5e-7);
    }
}

#[test]
fn p32_silu_of_minus_infinity_is_zero() {
    assert_eq!(silu(f32::NEG_INFINITY), 0.0);
    assert_eq!(silu(f32::INFINITY), f32::INFINITY);
    assert!(silu(f32::NAN).is_nan());
    near(silu(-1.0), -0.268_941_421, 3e-7);
    near(silu(-20.0), -4.122_307_24e-8, 3e-7);
    near(silu(-50.0), -9.643_749_24e-21, 3e-7);
}

#[test]
fn p33_exp_goes_through_subnormals_to_zero() {
    for (x, expected) in [
        (-87.0, 1.645_811_43e-38),
        (-87.5, 9.982_350_93e-39),
        (-88.0, 6.054_601_9e-39),
        (-88.5, 3.672_301_68e-39),
        (-90.0, 8.194_012_62e-40),
        (-95.0, 5.521_115_95e-42),
        (-100.0, 3.783_51e-44),
    ] {
        let nearest = expected as f32;
        let actual = apply(MathFunction::Exp, x);
        assert!(
            actual.to_bits().abs_diff(nearest.to_bits()) <= 1,
            "exp({x}) = {actual:e}, not {nearest:e}"
        );
    }
    for x in [-104.0, -1000.0, -1e30, f32::NEG_INFINITY] {
        assert_eq!(apply(MathFunction::Exp, x).to_bits(), 0);
    }
}

#[test]
fn p40_angles_at_long_positions() {
    for (position, cosine, sine) in [
        (40.0, -0.666_938_062f64, 0.745_113_160f64),
        (2000.0, -0.367_459_549, 0.930_039_504),
        (16_000.0, -0.991_381_434, 0.131_007_066),
        (131_071.0, -0.817_983_499, -0.575_241_684),
        (1_000_003.0, -0.877_986_492, 0.478_685_409),
    ] {
        assert!((f64::from(apply(MathFunction::Cos, position)) - cosine).abs() <= 2e-7);
        assert!((f64::from(apply(MathFunction::Sin, position)) - sine).abs() <= 2e-7);
    }
}

#[test]
fn p40_the_angle_nearest_to_a_multiple_of_half_pi() {
    let angle = 16_367_173.0 * 2.0f32.powi(72);
    near(apply(MathFunction::Cos, angle).abs(), 1.614_769_8e-9, 1e-7);
    assert_eq!(apply(MathFunction::Sin, angle).abs(), 1.0);
}
