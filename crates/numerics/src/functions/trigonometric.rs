//! Sine and cosine of an angle in radians, for every finite angle.
//!
//! `x = n pi/2 + r` with an integer `n` and `|r|` about pi/4 at most. Up to 2^18, three fmas subtract `n pi/2` with pi/2 in three
//! parts (Cody and Waite): the first is exact and 72 bits of pi/2 remain. Beyond, the bits of 2/pi that matter depend on the
//! exponent of `x`, and the far reduction takes them from a table of words (Payne and Hanek), in `f32` throughout.
//!
//! Both functions evaluate the same two polynomials and differ in the quadrant alone, so that a kernel that takes
//! the sine and the cosine of one angle shares nearly all of the work once common values are shared.

use super::{ROUND_TO_INTEGER, SIGN, polynomial};
use crate::arithmetic::Arithmetic;

/// Where the three-part reduction ends. The last two steps round, and both roundings count once `n` times the last part of pi/2
/// reaches half an ulp of a typical remainder: 2.06 ulp up to here, 2.36 up to 2^19, 2.62 up to 2^20.
const NEAR_LIMIT: f32 = 262_144.0;

/// pi/2, cut to 24 bits, and the next two runs of 24 bits, all positive so that an angle of `-0` stays `-0`.
const HALF_PI: [f32; 3] = [
    f32::from_bits(0x3fc9_0fda),
    f32::from_bits(0x33a2_2168),
    f32::from_bits(0x27c2_34c4),
];

/// `sin r = r (1 + r^2 (c_0 + c_1 r^2 + c_2 r^4))`, relative error 6.1e-9 for `|r| <= 0.8285`.
///
/// The interval is wider than pi/4, since 2/pi in one `f32` leaves the rounding of `n` off by up to 0.007 near [`NEAR_LIMIT`].
const SIN: [f32; 4] = [1.0, -0.166_666_51, 0.008_331_911, -0.000_194_814_33];

/// `cos r = 1 + r^2 (-1/2 + c_0 r^2 + c_1 r^4 + c_2 r^6)`, relative error 2.1e-10 for `|r| <= 0.8285`.
const COS: [f32; 5] = [1.0, -0.5, 0.041_666_638, -0.001_388_695_4, 2.439_283_3e-5];

/// `sin x`: keeps `-0` and subnormals, NaN at infinity.
pub fn sin<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let (r, quadrant) = reduce(a, x);
    by_quadrant(a, r, quadrant)
}

/// `cos x`: NaN at infinity.
pub fn cos<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let (r, quadrant) = reduce(a, x);
    let one = a.constant_i32(1);
    let quadrant = a.add_i32(quadrant, one);
    by_quadrant(a, r, quadrant)
}

/// The remainder `r`, and an integer whose two lowest bits are those of `n`.
fn reduce<A: Arithmetic>(a: &mut A, x: A::F) -> (A::F, A::I) {
    let two_over_pi = a.constant(std::f32::consts::FRAC_2_PI);
    let magic = a.constant(ROUND_TO_INTEGER);
    let shifted = a.fma(x, two_over_pi, magic);
    let n = a.sub(shifted, magic);
    let mut r = x;
    for part in HALF_PI {
        let negative = a.constant(-part);
        r = a.fma(n, negative, r);
    }
    let quadrant = a.bits(shifted);
    let magnitude = a.abs(x);
    let limit = a.constant(NEAR_LIMIT);
    let far = a.lt(limit, magnitude);
    a.rarely(far, (r, quadrant), |a| far_reduction(a, x))
}

/// `sin (r + quadrant pi/2)`.
fn by_quadrant<A: Arithmetic>(a: &mut A, r: A::F, quadrant: A::I) -> A::F {
    let square = a.mul(r, r);
    let factor = polynomial(a, square, SIN);
    let sine = a.mul(r, factor);
    let cosine = polynomial(a, square, COS);
    let one = a.constant_i32(1);
    let zero = a.constant_i32(0);
    let odd = a.and_i32(quadrant, one);
    let even = a.eq_i32(odd, zero);
    let value = a.select(even, sine, cosine);
    let sign = a.shl_i32(quadrant, 30);
    let sign_mask = a.constant_i32(SIGN);
    let sign = a.and_i32(sign, sign_mask);
    let bits = a.bits(value);
    let bits = a.xor_i32(bits, sign);
    a.float_from_bits(bits)
}

/// The binary digits of 2/pi, 24 to a word; the leading zero word serves the smallest of the large angles.
const TWO_OVER_PI: [u32; 10] = [
    0, 0xa2_f983, 0x6e_4e44, 0x15_29fc, 0x27_57d1, 0xf5_34dd, 0xc0_db62, 0x95_993c, 0x43_9041,
    0xfe_5163,
];

/// How many consecutive words a product needs: 24 bits above the point, 24 at it, and 3 words of fraction for the angle
/// that comes nearest to a multiple of pi/2 (1.6e-9, near 2^96).
const WINDOW: usize = 5;

/// A word of 2/pi at a position of the window: `TWO_OVER_PI[word] 2^(-24 (position + 1))`, exact.
const fn word(index: usize, position: usize) -> f32 {
    let mut value = TWO_OVER_PI[index] as f32;
    let mut step = 0;
    while step <= position {
        value *= 1.0 / 16_777_216.0;
        step += 1;
    }
    value
}

/// `r` and `n` for `|x| >= 2^17`.
///
/// With `|x|` scaled by a power of 2^24 into `[2^25, 2^49)`, the same five positions always hold the words that matter: words above
/// contribute multiples of 4 to `x 2/pi`, words below less than 2^-70. Each product is split exactly by an fma. Parts of at least
/// 2^-22 are added modulo 4 on the grid of 2^-22, where every sum is exact; smaller ones with their rounding errors kept.
fn far_reduction<A: Arithmetic>(a: &mut A, x: A::F) -> (A::F, A::I) {
    let magnitude = a.abs(x);
    let mut factor = a.constant(16_777_216.0);
    let mut words: [A::F; WINDOW] =
        std::array::from_fn(|position| a.constant(word(position, position)));
    let (mut threshold, mut down) = (33_554_432.0f32, 1.0f32);
    for shift in 1..=TWO_OVER_PI.len() - WINDOW {
        let limit = a.constant(threshold);
        let applies = a.le(limit, magnitude);
        let scaled = a.constant(down);
        factor = a.select(applies, scaled, factor);
        for (position, slot) in words.iter_mut().enumerate() {
            let moved = a.constant(word(position + shift, position));
            *slot = a.select(applies, moved, *slot);
        }
        threshold *= 16_777_216.0;
        down *= 1.0 / 16_777_216.0;
    }
    let x = a.mul(x, factor);

    let (high0, low0) = exact_product(a, x, words[0]);
    let (high1, low1) = exact_product(a, x, words[1]);
    let (high2, low2) = exact_product(a, x, words[2]);
    let (high3, low3) = exact_product(a, x, words[3]);
    let high4 = a.mul(x, words[4]);

    let high1 = modulo_four(a, high1);
    let (coarse1, fine1) = split_at_grid(a, high1);
    let (coarse2, fine2) = split_at_grid(a, low1);
    let (coarse3, fine3) = split_at_grid(a, high2);
    let mut coarse = modulo_four(a, high0);
    let low0 = modulo_four(a, low0);
    for part in [low0, coarse1, coarse2, coarse3] {
        coarse = a.add(coarse, part);
        coarse = modulo_four(a, coarse);
    }
    let magic = a.constant(ROUND_TO_INTEGER);
    let shifted = a.add(coarse, magic);
    let n = a.sub(shifted, magic);
    let coarse = a.sub(coarse, n);

    let mut fine = fine1;
    let mut rest = a.add(low3, high4);
    for part in [fine2, fine3, low2, high3, coarse] {
        let (sum, error) = exact_sum(a, fine, part);
        fine = sum;
        rest = a.add(rest, error);
    }
    let turn = a.add(fine, rest);
    let used = a.sub(turn, fine);
    let rest = a.sub(rest, used);

    let half_pi = a.constant(std::f32::consts::FRAC_PI_2);
    let half_pi_rest = a.constant(-4.371_139e-8);
    let correction = a.mul(rest, half_pi);
    let correction = a.fma(turn, half_pi_rest, correction);
    let r = a.fma(turn, half_pi, correction);
    (r, a.bits(shifted))
}

/// `a b` as an unevaluated sum of two numbers.
fn exact_product<A: Arithmetic>(a: &mut A, left: A::F, right: A::F) -> (A::F, A::F) {
    let high = a.mul(left, right);
    let negative = a.neg(high);
    let low = a.fma(left, right, negative);
    (high, low)
}

/// `a + b` as an unevaluated sum of two numbers (Knuth's two-sum).
fn exact_sum<A: Arithmetic>(a: &mut A, left: A::F, right: A::F) -> (A::F, A::F) {
    let sum = a.add(left, right);
    let from_right = a.sub(sum, left);
    let from_left = a.sub(sum, from_right);
    let left_error = a.sub(left, from_left);
    let right_error = a.sub(right, from_right);
    (sum, a.add(left_error, right_error))
}

/// `x` less a multiple of 4, exactly: at most 2 in magnitude if `x` is below 2^26, a multiple of 4 if it is not.
fn modulo_four<A: Arithmetic>(a: &mut A, x: A::F) -> A::F {
    let mut x = x;
    // Adding 1.5 * 2^27 rounds to a multiple of 16, adding 1.5 * 2^25 to a multiple of 4.
    for magic in [201_326_592.0, 50_331_648.0] {
        let magic = a.constant(magic);
        let shifted = a.add(x, magic);
        let multiple = a.sub(shifted, magic);
        x = a.sub(x, multiple);
    }
    x
}

/// `x`, at most 2 in magnitude, as a multiple of 2^-21 and a remainder of at most 2^-22.
fn split_at_grid<A: Arithmetic>(a: &mut A, x: A::F) -> (A::F, A::F) {
    let magic = a.constant(6.0);
    let shifted = a.add(x, magic);
    let coarse = a.sub(shifted, magic);
    (coarse, a.sub(x, coarse))
}
