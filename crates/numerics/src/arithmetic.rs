//! The few operations from which every elementary function is built.
//!
//! A function written over [`Arithmetic`] is a straight line of correctly rounded operations. [`Plain`] carries them out
//! on one number; an emitter answers with the name of an instruction's result. The line has no branches and reads no
//! tables, so one text serves every lane of a packet.
//!
//! Law **same bits**: an implementation carries out each method as the single IEEE 754 operation it names, keeps
//! subnormals and contracts nothing. Then equal inputs give equal bits, except for sign and payload of NaNs; a function
//! must not let those bits reach a result that is not NaN.

/// Arithmetic over `f32`, 32-bit integers and truth values, one operation a call.
pub trait Arithmetic {
    /// A binary32 number, or one for each lane.
    type F: Copy;
    /// A 32-bit integer, or one for each lane.
    type I: Copy;
    /// A truth value, or one for each lane.
    type M: Copy;

    /// A floating-point constant.
    fn constant(&mut self, value: f32) -> Self::F;
    /// An integer constant.
    fn constant_i32(&mut self, value: i32) -> Self::I;

    /// `a + b`.
    fn add(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`.
    fn mul(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`.
    fn div(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c` with one rounding.
    fn fma(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a` with its sign bit flipped.
    fn neg(&mut self, a: Self::F) -> Self::F;
    /// `a` with its sign bit cleared.
    fn abs(&mut self, a: Self::F) -> Self::F;
    /// The square root of `a`.
    fn sqrt(&mut self, a: Self::F) -> Self::F;

    /// The bit pattern of `a`.
    fn bits(&mut self, a: Self::F) -> Self::I;
    /// The number with bit pattern `a`.
    fn float_from_bits(&mut self, a: Self::I) -> Self::F;
    /// `a` as a float, rounded to nearest even.
    fn i32_to_f32(&mut self, a: Self::I) -> Self::F;

    /// `a + b`, wrapping.
    fn add_i32(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`, wrapping.
    fn sub_i32(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise and.
    fn and_i32(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise or.
    fn or_i32(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise exclusive or.
    fn xor_i32(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a` shifted left by a constant of 0 to 31 bits.
    fn shl_i32(&mut self, a: Self::I, bits: u32) -> Self::I;
    /// `a` shifted right by a constant of 0 to 31 bits, filled with zeros.
    fn shr_logical_i32(&mut self, a: Self::I, bits: u32) -> Self::I;
    /// `a` shifted right by a constant of 0 to 31 bits, filled with the sign.
    fn shr_arithmetic_i32(&mut self, a: Self::I, bits: u32) -> Self::I;

    /// `a < b`; false if either is NaN.
    fn lt(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a <= b`; false if either is NaN.
    fn le(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a == b`; false if either is NaN, and `-0 == +0`.
    fn eq(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a != b`; true if either is NaN.
    fn ne(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a == b` for integers.
    fn eq_i32(&mut self, a: Self::I, b: Self::I) -> Self::M;
    /// `a < b` for signed integers.
    fn lt_i32(&mut self, a: Self::I, b: Self::I) -> Self::M;

    /// Both.
    fn mask_and(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Either.
    fn mask_or(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Not.
    fn mask_not(&mut self, a: Self::M) -> Self::M;
    /// `a` where the mask is true, otherwise `b`; the bits of a NaN pass unchanged.
    fn select(&mut self, mask: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// `a` where the mask is true, otherwise `b`.
    fn select_i32(&mut self, mask: Self::M, a: Self::I, b: Self::I) -> Self::I;

    /// `a`, but `bound` where `a > bound`; a NaN stays. The bound is neither zero nor NaN.
    ///
    /// With such a bound this is one instruction nearly everywhere: x86's `minps(bound, a)`, aarch64's `fmin`.
    fn at_most(&mut self, a: Self::F, bound: f32) -> Self::F {
        let bound = self.constant(bound);
        let above = self.lt(bound, a);
        self.select(above, bound, a)
    }

    /// `a`, but `bound` where `a < bound`; a NaN stays. The bound is neither zero nor NaN.
    ///
    /// With such a bound this is one instruction nearly everywhere: x86's `maxps(bound, a)`, aarch64's `fmax`.
    fn at_least(&mut self, a: Self::F, bound: f32) -> Self::F {
        let bound = self.constant(bound);
        let below = self.lt(a, bound);
        self.select(below, bound, a)
    }

    /// `rare(..)` where the mask is true, otherwise `common`.
    ///
    /// For a mask that is false nearly always. The default computes both and selects; an emitter may skip `rare` when no
    /// lane of a packet needs it. Either way each lane's result depends on that lane alone.
    fn rarely(
        &mut self,
        mask: Self::M,
        common: (Self::F, Self::I),
        rare: impl FnOnce(&mut Self) -> (Self::F, Self::I),
    ) -> (Self::F, Self::I)
    where
        Self: Sized,
    {
        let (value, integer) = rare(self);
        (
            self.select(mask, value, common.0),
            self.select_i32(mask, integer, common.1),
        )
    }
}

/// Arithmetic on one number: what an interpreter runs, and what an emitter is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Arithmetic for Plain {
    type F = f32;
    type I = i32;
    type M = bool;

    #[inline(always)]
    fn constant(&mut self, value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn constant_i32(&mut self, value: i32) -> i32 {
        value
    }
    #[inline(always)]
    fn add(&mut self, a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn sub(&mut self, a: f32, b: f32) -> f32 {
        a - b
    }
    #[inline(always)]
    fn mul(&mut self, a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn div(&mut self, a: f32, b: f32) -> f32 {
        a / b
    }
    #[inline(always)]
    fn fma(&mut self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn neg(&mut self, a: f32) -> f32 {
        -a
    }
    #[inline(always)]
    fn abs(&mut self, a: f32) -> f32 {
        a.abs()
    }
    #[inline(always)]
    fn sqrt(&mut self, a: f32) -> f32 {
        a.sqrt()
    }
    #[inline(always)]
    fn bits(&mut self, a: f32) -> i32 {
        a.to_bits().cast_signed()
    }
    #[inline(always)]
    fn float_from_bits(&mut self, a: i32) -> f32 {
        f32::from_bits(a.cast_unsigned())
    }
    #[inline(always)]
    fn i32_to_f32(&mut self, a: i32) -> f32 {
        a as f32
    }
    #[inline(always)]
    fn add_i32(&mut self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub_i32(&mut self, a: i32, b: i32) -> i32 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn and_i32(&mut self, a: i32, b: i32) -> i32 {
        a & b
    }
    #[inline(always)]
    fn or_i32(&mut self, a: i32, b: i32) -> i32 {
        a | b
    }
    #[inline(always)]
    fn xor_i32(&mut self, a: i32, b: i32) -> i32 {
        a ^ b
    }
    #[inline(always)]
    fn shl_i32(&mut self, a: i32, bits: u32) -> i32 {
        a.wrapping_shl(bits)
    }
    #[inline(always)]
    fn shr_logical_i32(&mut self, a: i32, bits: u32) -> i32 {
        a.cast_unsigned().wrapping_shr(bits).cast_signed()
    }
    #[inline(always)]
    fn shr_arithmetic_i32(&mut self, a: i32, bits: u32) -> i32 {
        a.wrapping_shr(bits)
    }
    #[inline(always)]
    fn lt(&mut self, a: f32, b: f32) -> bool {
        a < b
    }
    #[inline(always)]
    fn le(&mut self, a: f32, b: f32) -> bool {
        a <= b
    }
    #[inline(always)]
    fn eq(&mut self, a: f32, b: f32) -> bool {
        a == b
    }
    #[inline(always)]
    fn ne(&mut self, a: f32, b: f32) -> bool {
        a != b
    }
    #[inline(always)]
    fn eq_i32(&mut self, a: i32, b: i32) -> bool {
        a == b
    }
    #[inline(always)]
    fn lt_i32(&mut self, a: i32, b: i32) -> bool {
        a < b
    }
    #[inline(always)]
    fn mask_and(&mut self, a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn mask_or(&mut self, a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn mask_not(&mut self, a: bool) -> bool {
        !a
    }
    #[inline(always)]
    fn select(&mut self, mask: bool, a: f32, b: f32) -> f32 {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn select_i32(&mut self, mask: bool, a: i32, b: i32) -> i32 {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn rarely(
        &mut self,
        mask: bool,
        common: (f32, i32),
        rare: impl FnOnce(&mut Plain) -> (f32, i32),
    ) -> (f32, i32) {
        if mask { rare(self) } else { common }
    }
}
