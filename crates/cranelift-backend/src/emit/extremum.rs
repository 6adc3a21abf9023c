//! Minimum and maximum of IEEE 754-2019: NaN propagates, -0 is below +0.
//!
//! NEON's `fmin` and `fmax` are exactly that. The x86 instructions give their second operand for a NaN and for two zeros,
//! so both orders are computed and combined. With `m = min(a, b)` and `n = min(b, a)`:
//!
//! - without NaN and with different values, `m` and `n` are the same number; so are `m | n` and `m & n`;
//! - for two zeros they are the two operands: or gives the minimum (-0 if there is one), and gives the maximum;
//! - with a NaN they are the two operands again. Or keeps every bit of the NaN's exponent and a bit of its fraction, so it
//!   is a NaN; and doesn't, so the maximum sets all bits where the operands are unordered.
//!
//! Three instructions for the minimum and five for the maximum. Which NaN comes out is nobody's promise.
//!
//! Against a constant one instruction is enough: with the constant first, a NaN and a zero of the other side come second and
//! pass, which is right but for the zero that should win, `+0` in a maximum and `-0` in a minimum.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{self, InstBuilder};
use machine::Architecture;
use xir::Constant;

use super::Emitter;

impl Emitter<'_> {
    pub(super) fn minimum(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        if !self.two_orders(a) {
            return self.b.ins().fmin(a, b);
        }
        let m = self.less_or_second(a, b);
        let n = self.less_or_second(b, a);
        self.b.ins().bor(m, n)
    }

    pub(super) fn maximum(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        if !self.two_orders(a) {
            return self.b.ins().fmax(a, b);
        }
        let ty = self.b.func.dfg.value_type(a);
        let m = self.greater_or_second(a, b);
        let n = self.greater_or_second(b, a);
        let both = self.b.ins().band(m, n);
        let unordered = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        let unordered = self.as_type(ty, unordered);
        self.b.ins().bor(both, unordered)
    }

    /// [`Self::minimum`] where [`is_plain_bound`] holds for the first operand.
    pub(super) fn minimum_with_bound(&mut self, bound: ir::Value, a: ir::Value) -> ir::Value {
        if !self.two_orders(a) {
            return self.b.ins().fmin(a, bound);
        }
        self.less_or_second(bound, a)
    }

    /// [`Self::maximum`] where [`is_plain_bound`] holds for the first operand.
    pub(super) fn maximum_with_bound(&mut self, bound: ir::Value, a: ir::Value) -> ir::Value {
        if !self.two_orders(a) {
            return self.b.ins().fmax(a, bound);
        }
        self.greater_or_second(bound, a)
    }

    fn two_orders(&self, a: ir::Value) -> bool {
        match self.target.architecture() {
            Architecture::Aarch64 => false,
            Architecture::X86_64 => self.b.func.dfg.value_type(a).is_vector(),
        }
    }

    /// `a < b ? a : b`, which x86 has as `minps`.
    pub(super) fn less_or_second(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
        let less = self.as_type(ty, less);
        self.b.ins().bitselect(less, a, b)
    }

    /// `b < a ? a : b`, which x86 has as `maxps`.
    pub(super) fn greater_or_second(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        let less = self.b.ins().fcmp(FloatCC::LessThan, b, a);
        let less = self.as_type(ty, less);
        self.b.ins().bitselect(less, a, b)
    }
}

/// Whether the other operand is the result whenever it is a NaN, or a zero beside a zero bound.
pub(super) fn is_plain_bound(bound: Constant, smaller: bool) -> bool {
    let winning_zero = if smaller { -0.0f64 } else { 0.0 };
    let plain = |bound: f64| !bound.is_nan() && bound.to_bits() != winning_zero.to_bits();
    match bound {
        Constant::F32(bits) => plain(f64::from(f32::from_bits(bits))),
        Constant::F64(bits) => plain(f64::from_bits(bits)),
        Constant::I32(_) | Constant::I64(_) | Constant::Bool(_) => false,
    }
}
