//! Sums that are better than the sums they judge: compensated in binary64, and exact for f32.

/// The sum of binary64 numbers with the rounding errors summed beside it (Neumaier 1974); the error is about one rounding
/// of the result unless the terms cancel beyond 2^53. Infinities and NaNs give what plain addition gives.
pub fn compensated_sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = 0.0f64;
    let mut error = 0.0f64;
    let mut negative_zero = true;
    for term in terms {
        negative_zero &= term == 0.0 && term.is_sign_negative();
        let next = sum + term;
        error += if sum.abs() >= term.abs() {
            (sum - next) + term
        } else {
            (term - next) + sum
        };
        sum = next;
    }
    if negative_zero {
        // Only a sum of nothing but -0 is -0; the empty sum is +0 for a caller who adds an initial value anyway.
        return -0.0;
    }
    if sum.is_finite() && error.is_finite() {
        sum + error
    } else {
        sum
    }
}

/// Limbs of the accumulator, 32 value bits each, least significant first, from 2^-149 up.
const LIMBS: usize = 12;

/// The exact sum of f32 numbers, rounded once.
///
/// A superaccumulator: every finite f32 is an integer multiple of 2^-149 below 2^277 of them, so a fixed-point number of
/// 384 bits holds any sum of up to 2^100 of them exactly. (Kulisch 1971; limbs with room for carries.)
#[derive(Clone, Debug)]
pub struct ExactSum {
    limbs: [i64; LIMBS],
    /// Additions since carries were last propagated; limbs have room for 2^30 of them.
    pending: u32,
    nan: bool,
    positive_infinity: bool,
    negative_infinity: bool,
    only_negative_zeros: bool,
    empty: bool,
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum {
            limbs: [0; LIMBS],
            pending: 0,
            nan: false,
            positive_infinity: false,
            negative_infinity: false,
            only_negative_zeros: true,
            empty: true,
        }
    }
}

impl ExactSum {
    /// The empty sum.
    #[must_use]
    pub fn new() -> ExactSum {
        ExactSum::default()
    }

    /// Adds one number.
    pub fn add(&mut self, value: f32) {
        self.empty = false;
        self.only_negative_zeros &= value == 0.0 && value.is_sign_negative();
        if value.is_nan() {
            self.nan = true;
            return;
        }
        if value.is_infinite() {
            self.positive_infinity |= value > 0.0;
            self.negative_infinity |= value < 0.0;
            return;
        }
        let bits = value.abs().to_bits();
        let exponent = bits >> 23;
        let (significand, shift) = match exponent {
            0 => (bits, 0),
            _ => (bits & 0x007f_ffff | 0x0080_0000, exponent - 1),
        };
        let (limb, offset) = ((shift / 32) as usize, shift % 32);
        let wide = u64::from(significand) << offset;
        let (low, high) = ((wide & 0xffff_ffff) as i64, (wide >> 32) as i64);
        if value < 0.0 {
            self.limbs[limb] -= low;
            self.limbs[limb + 1] -= high;
        } else {
            self.limbs[limb] += low;
            self.limbs[limb + 1] += high;
        }
        self.pending += 1;
        if self.pending == 1 << 30 {
            self.propagate();
        }
    }

    /// Brings every limb but the last into 0 .. 2^32.
    fn propagate(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let total = *limb + carry;
            *limb = total & 0xffff_ffff;
            carry = total >> 32;
        }
        self.limbs[LIMBS - 1] += carry;
        self.pending = 0;
    }

    /// What infinities, NaNs and zeros make of the sum, if they decide it.
    fn special(&self) -> Option<f64> {
        if self.nan || self.positive_infinity && self.negative_infinity {
            Some(f64::NAN)
        } else if self.positive_infinity {
            Some(f64::INFINITY)
        } else if self.negative_infinity {
            Some(f64::NEG_INFINITY)
        } else if self.only_negative_zeros && !self.empty {
            Some(-0.0)
        } else {
            None
        }
    }

    /// The sum rounded once to `bits` significant bits with ties to even, no digit below 2^`lowest`; as a binary64, which
    /// holds every such number.
    fn round(&self, bits: u32, lowest: i32) -> f64 {
        let mut sum = self.clone();
        sum.propagate();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            for limb in &mut sum.limbs {
                *limb = -*limb;
            }
            sum.propagate();
        }
        let bit = |index: i32| -> bool {
            index >= 0 && sum.limbs[(index / 32) as usize] >> (index % 32) & 1 == 1
        };
        let Some(top) = (0..(LIMBS as i32) * 32).rev().find(|&index| bit(index)) else {
            return 0.0;
        };
        // Positions count from 2^-149.
        let last = (top + 1 - bits as i32).max(lowest + 149).max(0);
        let mut significand = (last..=top)
            .rev()
            .fold(0u64, |value, index| value << 1 | u64::from(bit(index)));
        let half = bit(last - 1);
        let rest = (0..(last - 1).max(0)).any(bit);
        if half && (rest || significand & 1 == 1) {
            significand += 1;
        }
        let magnitude = significand as f64 * 2f64.powi(last - 149);
        if negative { -magnitude } else { magnitude }
    }

    /// The sum rounded once to f32; infinite beyond the range.
    #[must_use]
    pub fn to_f32(&self) -> f32 {
        // The value has at most 24 significant bits and none below 2^-149, so the conversion only meets overflow.
        self.special().unwrap_or_else(|| self.round(24, -149)) as f32
    }

    /// The sum rounded once to binary64.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.special().unwrap_or_else(|| self.round(53, -149))
    }
}

/// The exact sum of f32 numbers, rounded once to f32.
#[must_use]
pub fn exact_sum(values: &[f32]) -> f32 {
    let mut sum = ExactSum::new();
    for &value in values {
        sum.add(value);
    }
    sum.to_f32()
}

#[cfg(test)]
mod tests {
    use super::{ExactSum, compensated_sum, exact_sum};

    #[test]
    fn nothing_is_lost() {
        assert_eq!(exact_sum(&[1e30, 1.0, -1e30]), 1.0);
        assert_eq!(
            exact_sum(&[f32::MAX, f32::MAX, -f32::MAX, 1.5, -f32::MAX]),
            1.5
        );
        assert_eq!(
            exact_sum(&[f32::from_bits(1), f32::from_bits(1)]),
            f32::from_bits(2)
        );
        assert_eq!(
            exact_sum(&[1.0, f32::from_bits(1), -1.0]),
            f32::from_bits(1)
        );
        assert_eq!(exact_sum(&[f32::MAX, f32::MAX]), f32::INFINITY);
        assert_eq!(
            exact_sum(&vec![0.1; 1 << 20]),
            (f64::from(0.1f32) * f64::from(1 << 20)) as f32
        );
        assert_eq!(compensated_sum([1e100, 1.0, -1e100]), 1.0);
    }

    #[test]
    fn ties_go_to_even() {
        assert_eq!(exact_sum(&[16_777_216.0, 1.0]), 16_777_216.0);
        assert_eq!(exact_sum(&[16_777_216.0, 2.0, 1.0]), 16_777_220.0);
        assert_eq!(
            exact_sum(&[-16_777_216.0, -1.0, f32::from_bits(1)]),
            -16_777_216.0
        );
        assert_eq!(
            exact_sum(&[-16_777_216.0, -1.0, -f32::from_bits(1)]),
            -16_777_218.0
        );
    }

    #[test]
    fn specials() {
        assert!(exact_sum(&[f32::INFINITY, f32::NEG_INFINITY]).is_nan());
        assert!(exact_sum(&[f32::NAN, 1.0]).is_nan());
        assert_eq!(exact_sum(&[f32::NEG_INFINITY, 1.0]), f32::NEG_INFINITY);
        assert_eq!(exact_sum(&[-0.0, -0.0]).to_bits(), (-0.0f32).to_bits());
        assert_eq!(exact_sum(&[-0.0, 0.0]).to_bits(), 0);
        assert_eq!(exact_sum(&[]).to_bits(), 0);
        assert_eq!(compensated_sum([-0.0, -0.0]).to_bits(), (-0.0f64).to_bits());
        assert_eq!(compensated_sum([f64::INFINITY, 1.0]), f64::INFINITY);
    }

    /// Sums of small integers times powers of two are exact in i128, whatever the order.
    #[test]
    fn agrees_with_integers() {
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut exact = 0i128;
            let mut sum = ExactSum::new();
            for _ in 0..20 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let significand = (state >> 40) as i32 - (1 << 23);
                let power = (state >> 8 & 63) as u32;
                exact += i128::from(significand) << power;
                sum.add(significand as f32 * 2f32.powi(power as i32));
            }
            assert_eq!(sum.to_f64(), exact as f64);
            assert_eq!(sum.to_f32(), exact as f32);
        }
    }
}
