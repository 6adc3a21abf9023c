//! Integer products, quotients and shifts, total on every input.
//!
//! Neither target divides vectors of integers, and x86 traps on what `numerics` defines: `x / 0 = 0`, `x % 0 = x`,
//! `MIN / -1 = MIN`, `MIN % -1 = 0`. So lanes are divided one at a time, by 1 where the quotient would trap.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use xir::{Constant, Elem, OpKind, Value};

use super::Emitter;
use super::chunks::{Chunks, held_as};
use super::survey::{constant_of, defining_kind};

/// Which half of a division.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// `a / b`.
    Quotient,
    /// `a % b`.
    Remainder,
}

/// What is known of a divisor.
#[derive(Clone, Copy)]
enum Divisor {
    /// A constant other than 0 and -1.
    Tame,
    /// Anything.
    Wild,
}

impl Emitter<'_> {
    /// A product; of a uniform i64 by a power of two a shift, which folds into addresses.
    pub(super) fn multiply_integers(&mut self, a: Value, b: Value) -> Chunks {
        if self.program.ty(a) == xir::Type::uniform(Elem::I64) {
            for (variable, constant) in [(a, b), (b, a)] {
                if let Some(Constant::I64(number)) = constant_of(self.program, constant)
                    && number > 0
                    && number.count_ones() == 1
                {
                    return Chunks::one(self.shifted(variable, number.trailing_zeros()));
                }
            }
        }
        let (a, b) = (self.chunks(a), self.chunks(b));
        (0..a.len())
            .map(|i| self.b.ins().imul(a[i], b[i]))
            .collect()
    }

    pub(super) fn divide_integers(&mut self, a: Value, b: Value, part: Part) -> Chunks {
        let ty = self.program.ty(a);
        let divisor = match constant_of(self.program, b) {
            Some(Constant::I32(number)) if number != 0 && number != -1 => Divisor::Tame,
            Some(Constant::I64(number)) if number != 0 && number != -1 => Divisor::Tame,
            _ => Divisor::Wild,
        };
        if !ty.is_varying() || ty.elem == Elem::I64 {
            let (a, b) = (self.chunks(a), self.chunks(b));
            return (0..a.len())
                .map(|i| self.divide(a[i], b[i], part, divisor))
                .collect();
        }
        self.lane_by_lane(a, b, |e, a, b| e.divide(a, b, part, divisor))
    }

    /// Applies a scalar operation to each lane of two varying i32.
    fn lane_by_lane(
        &mut self,
        a: Value,
        b: Value,
        mut f: impl FnMut(&mut Self, ir::Value, ir::Value) -> ir::Value,
    ) -> Chunks {
        let lanes: Vec<ir::Value> = (0..self.lanes())
            .map(|lane| {
                let (a, b) = (self.lane(a, lane), self.lane(b, lane));
                f(self, a, b)
            })
            .collect();
        self.assemble(Elem::I32, &lanes)
    }

    fn divide(&mut self, a: ir::Value, b: ir::Value, part: Part, divisor: Divisor) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        let safe = match divisor {
            Divisor::Tame => b,
            Divisor::Wild => {
                let one = self.int(ty, 1);
                let minus_one = self.int(ty, -1);
                let minimum = self.int(
                    ty,
                    if ty == types::I64 {
                        i64::MIN
                    } else {
                        i64::from(i32::MIN)
                    },
                );
                let zero = self.int(ty, 0);
                let by_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
                let by_minus_one = self.b.ins().icmp(IntCC::Equal, b, minus_one);
                let of_minimum = self.b.ins().icmp(IntCC::Equal, a, minimum);
                let overflows = self.b.ins().band(by_minus_one, of_minimum);
                let traps = self.b.ins().bor(by_zero, overflows);
                self.b.ins().select(traps, one, b)
            }
        };
        let result = match part {
            Part::Quotient => self.b.ins().sdiv(a, safe),
            Part::Remainder => self.b.ins().srem(a, safe),
        };
        match divisor {
            Divisor::Tame => result,
            Divisor::Wild => {
                let zero = self.int(ty, 0);
                let by_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
                let otherwise = match part {
                    Part::Quotient => zero,
                    Part::Remainder => a,
                };
                self.b.ins().select(by_zero, otherwise, result)
            }
        }
    }

    /// A shift; the amount counts modulo the width, as Cranelift's does. Both targets shift vectors by one amount only, so
    /// amounts that differ between lanes go lane by lane.
    pub(super) fn shift(
        &mut self,
        a: Value,
        b: Value,
        mut f: impl FnMut(&mut Self, ir::Value, ir::Value) -> ir::Value,
    ) -> Chunks {
        let ty = self.program.ty(a);
        let (_, count) = held_as(ty, self.program.lanes);
        if !ty.is_varying() || ty.elem == Elem::I64 {
            let (a, b) = (self.chunks(a), self.chunks(b));
            return (0..count).map(|i| f(self, a[i], b[i])).collect();
        }
        if let Some(amount) = self.common_amount(b) {
            let a = self.chunks(a);
            return (0..count).map(|i| f(self, a[i], amount)).collect();
        }
        self.lane_by_lane(a, b, f)
    }

    /// The amount, if all lanes shift by one.
    fn common_amount(&mut self, b: Value) -> Option<ir::Value> {
        if let Some(Constant::I32(amount)) = constant_of(self.program, b) {
            return Some(self.int(types::I32, i64::from(amount & 31)));
        }
        match defining_kind(self.program, b) {
            Some(OpKind::Splat(amount)) => Some(self.scalar(*amount)),
            _ => None,
        }
    }
}
