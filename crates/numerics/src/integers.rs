//! 32-bit integer operations, total on every input.
//!
//! Machines disagree about division by zero (x86 traps, aarch64 gives 0) and about shifts by 32 and more, so both are
//! defined here, as aarch64 has them and at no cost there.

/// `a + b` modulo 2^32.
#[must_use]
pub const fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

/// `a - b` modulo 2^32.
#[must_use]
pub const fn subtract(a: i32, b: i32) -> i32 {
    a.wrapping_sub(b)
}

/// `a * b` modulo 2^32.
#[must_use]
pub const fn multiply(a: i32, b: i32) -> i32 {
    a.wrapping_mul(b)
}

/// `-a` modulo 2^32, so `-MIN` is `MIN`.
#[must_use]
pub const fn negate(a: i32) -> i32 {
    a.wrapping_neg()
}

/// `|a|` modulo 2^32, so `|MIN|` is `MIN`.
#[must_use]
pub const fn absolute(a: i32) -> i32 {
    a.wrapping_abs()
}

/// The quotient towards zero; `a / 0` is 0 and `MIN / -1` is `MIN`.
#[must_use]
pub const fn divide(a: i32, b: i32) -> i32 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

/// `a - divide(a, b) * b`, with the sign of `a`; `a % 0` is `a` and `MIN % -1` is 0.
#[must_use]
pub const fn remainder(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

/// `a` shifted left by `b` modulo 32 bits.
#[must_use]
pub const fn shift_left(a: i32, b: i32) -> i32 {
    a.wrapping_shl(b.cast_unsigned())
}

/// `a` shifted right by `b` modulo 32 bits, filled with the sign.
#[must_use]
pub const fn shift_right_arithmetic(a: i32, b: i32) -> i32 {
    a.wrapping_shr(b.cast_unsigned())
}

/// `a` shifted right by `b` modulo 32 bits, filled with zeros.
#[must_use]
pub const fn shift_right_logical(a: i32, b: i32) -> i32 {
    a.cast_unsigned()
        .wrapping_shr(b.cast_unsigned())
        .cast_signed()
}

#[cfg(test)]
mod tests {
    use super::{
        absolute, divide, multiply, negate, remainder, shift_left, shift_right_arithmetic,
    };
    use super::{add, shift_right_logical, subtract};

    #[test]
    fn ends_of_the_range() {
        assert_eq!(add(i32::MAX, 1), i32::MIN);
        assert_eq!(subtract(i32::MIN, 1), i32::MAX);
        assert_eq!(multiply(0x1_0001, 0x1_0001), 0x2_0001);
        assert_eq!((negate(i32::MIN), absolute(i32::MIN)), (i32::MIN, i32::MIN));
    }

    #[test]
    fn division_is_total() {
        assert_eq!((divide(7, -2), remainder(7, -2)), (-3, 1));
        assert_eq!((divide(-7, 2), remainder(-7, 2)), (-3, -1));
        assert_eq!((divide(5, 0), remainder(5, 0)), (0, 5));
        assert_eq!(
            (divide(i32::MIN, -1), remainder(i32::MIN, -1)),
            (i32::MIN, 0)
        );
    }

    #[test]
    fn shift_counts_wrap_at_32() {
        assert_eq!((shift_left(1, 33), shift_left(1, -1)), (2, i32::MIN));
        assert_eq!(
            (shift_right_arithmetic(-8, 33), shift_right_logical(-8, 33)),
            (-4, 0x7fff_fffc)
        );
    }
}
