//! `bound_integers`: comparisons that bounds decide are decided while compiling.
//!
//! A window into a view is guarded on both sides, and one guard often follows from the counter's bounds: an index that
//! counts from 0 is never below it. So each integer gets an interval that holds it in every lane and iteration, from constants,
//! lane numbers, loop bounds and arithmetic on those. A comparison whose intervals don't overlap is a constant, and a minimum
//! or maximum whose intervals don't overlap is one of its operands.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: nothing; leaves operations that nothing uses.

use xir::{
    BinaryOp, CompareOp, Constant, ConvertOp, Elem, MemElem, Op, OpKind, Program, Region, UnaryOp,
    Value,
};

use crate::rewrite::{Cursor, Fate, Rewrite, rewrite};

/// Bounds the integers of every function.
pub fn bound_integers(program: &mut Program) {
    let mut pass = BoundIntegers {
        intervals: vec![None; program.value_count()],
    };
    rewrite(program, &mut pass);
}

/// All numbers from `least` to `most`, of which there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    least: i64,
    most: i64,
}

impl Interval {
    /// Every number of an element.
    fn every(elem: Elem) -> Interval {
        match elem {
            Elem::I32 => Interval {
                least: i32::MIN.into(),
                most: i32::MAX.into(),
            },
            Elem::I64 | Elem::F32 | Elem::F64 | Elem::Bool => Interval {
                least: i64::MIN,
                most: i64::MAX,
            },
        }
    }

    /// From the least to the most of some numbers, or every number if one of them doesn't fit: then the operation wraps.
    fn spanning(elem: Elem, numbers: &[i128]) -> Interval {
        let every = Interval::every(elem);
        let fits = |&number: &i128| number >= every.least.into() && number <= every.most.into();
        if !numbers.iter().all(fits) {
            return every;
        }
        let least = numbers
            .iter()
            .min()
            .map_or(every.least, |&number| number as i64);
        let most = numbers
            .iter()
            .max()
            .map_or(every.most, |&number| number as i64);
        Interval { least, most }
    }

    fn union(self, other: Interval) -> Interval {
        Interval {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn ends(self) -> [i128; 2] {
        [self.least.into(), self.most.into()]
    }

    /// The number, if there is one only.
    fn single(self) -> Option<i64> {
        (self.least == self.most).then_some(self.least)
    }
}

struct BoundIntegers {
    /// `None` if nothing is known.
    intervals: Vec<Option<Interval>>,
}

impl BoundIntegers {
    fn of(&self, cursor: &Cursor<'_>, value: Value) -> Interval {
        match self.intervals.get(value.index()) {
            Some(&Some(interval)) => interval,
            _ => Interval::every(cursor.ty(value).elem),
        }
    }

    fn set(&mut self, value: Value, interval: Interval) {
        if let Some(entry) = self.intervals.get_mut(value.index()) {
            *entry = Some(interval);
        }
    }

    /// What the operation makes.
    fn interval(&self, cursor: &Cursor<'_>, kind: &OpKind) -> Option<Interval> {
        let of = |value: Value| self.of(cursor, value);
        let elem = |value: Value| cursor.ty(value).elem;
        let is_integer = |value: Value| matches!(elem(value), Elem::I32 | Elem::I64);
        match *kind {
            OpKind::Const(Constant::I32(number), _) => Some(Interval {
                least: number.into(),
                most: number.into(),
            }),
            OpKind::Const(Constant::I64(number), _) => Some(Interval {
                least: number,
                most: number,
            }),
            OpKind::LaneIndex => Some(Interval {
                least: 0,
                most: i64::from(cursor.program.lanes.get()) - 1,
            }),
            OpKind::Splat(a) | OpKind::Lane { of: a, .. } if is_integer(a) => Some(of(a)),
            OpKind::Build(ref values) if is_integer(values[0]) => values
                .iter()
                .map(|&value| of(value))
                .reduce(Interval::union),
            OpKind::Shuffle { a, b, .. } if is_integer(a) => Some(of(a).union(of(b))),
            OpKind::Select {
                then, otherwise, ..
            } if is_integer(then) => Some(of(then).union(of(otherwise))),
            OpKind::Unary(UnaryOp::Neg, a) if is_integer(a) => {
                Some(Interval::spanning(elem(a), &of(a).ends().map(|end| -end)))
            }
            OpKind::Binary(op, a, b) if is_integer(a) => Some(binary(op, elem(a), of(a), of(b))),
            OpKind::Convert(ConvertOp::I32ToI64, a) => Some(of(a)),
            OpKind::Convert(ConvertOp::I64ToI32, a) => {
                Some(Interval::spanning(Elem::I32, &of(a).ends()))
            }
            OpKind::Convert(ConvertOp::BoolToI32, _) => Some(Interval { least: 0, most: 1 }),
            OpKind::Load {
                mem: MemElem::U8, ..
            } => Some(Interval {
                least: 0,
                most: 255,
            }),
            OpKind::Load {
                mem: MemElem::U16, ..
            } => Some(Interval {
                least: 0,
                most: 65_535,
            }),
            _ => None,
        }
    }
}

impl Rewrite for BoundIntegers {
    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate {
        let kind = &cursor.program.op(op).kind;
        match *kind {
            OpKind::Compare(deed, a, b) if matches!(cursor.ty(a).elem, Elem::I32 | Elem::I64) => {
                // compare-bounded.
                let shape = cursor.ty(a).shape;
                return match decide(deed, self.of(cursor, a), self.of(cursor, b)) {
                    Some(holds) => {
                        cursor.become_kind(op, OpKind::Const(Constant::Bool(holds), shape))
                    }
                    None => Fate::Keep,
                };
            }
            OpKind::Binary(deed @ (BinaryOp::Min | BinaryOp::Max), a, b) => {
                // least-bounded, greatest-bounded.
                let elem = cursor.ty(a).elem;
                if let Elem::I32 | Elem::I64 = elem {
                    let below = decide(CompareOp::Le, self.of(cursor, a), self.of(cursor, b));
                    if let Some(below) = below {
                        let first = below == (deed == BinaryOp::Min);
                        return cursor.become_value(op, if first { a } else { b });
                    }
                }
            }
            _ => {}
        }
        if let Some(interval) = self.interval(cursor, kind) {
            let result = cursor.program.op(op).results[0];
            self.set(result, interval);
        }
        Fate::Keep
    }

    fn enter(&mut self, cursor: &Cursor<'_>, owner: Op, region: Region) {
        if let OpKind::Loop { lower, upper, .. } = cursor.program.op(owner).kind {
            let least = self.of(cursor, lower).least;
            let most = self.of(cursor, upper).most.saturating_sub(1);
            if least <= most {
                let counter = cursor.program.region(region).args[0];
                self.set(counter, Interval { least, most });
            }
        }
    }
}

/// What an operation of two integers makes.
fn binary(op: BinaryOp, elem: Elem, a: Interval, b: Interval) -> Interval {
    let [a_least, a_most] = a.ends();
    let [b_least, b_most] = b.ends();
    let every = Interval::every(elem);
    match op {
        BinaryOp::Add => Interval::spanning(elem, &[a_least + b_least, a_most + b_most]),
        BinaryOp::Sub => Interval::spanning(elem, &[a_least - b_most, a_most - b_least]),
        BinaryOp::Mul => Interval::spanning(
            elem,
            &[
                a_least * b_least,
                a_least * b_most,
                a_most * b_least,
                a_most * b_most,
            ],
        ),
        BinaryOp::Min => Interval {
            least: a.least.min(b.least),
            most: a.most.min(b.most),
        },
        BinaryOp::Max => Interval {
            least: a.least.max(b.least),
            most: a.most.max(b.most),
        },
        BinaryOp::Div => match b.single() {
            Some(divisor) if divisor > 0 => Interval {
                least: a.least / divisor,
                most: a.most / divisor,
            },
            _ => every,
        },
        BinaryOp::Rem => match b.single() {
            Some(divisor) if divisor > 0 && a.least >= 0 => Interval {
                least: 0,
                most: a.most.min(divisor - 1),
            },
            _ => every,
        },
        BinaryOp::And if a.least >= 0 && b.least >= 0 => Interval {
            least: 0,
            most: a.most.min(b.most),
        },
        BinaryOp::And if a.least >= 0 => Interval {
            least: 0,
            most: a.most,
        },
        BinaryOp::And if b.least >= 0 => Interval {
            least: 0,
            most: b.most,
        },
        BinaryOp::Shl => match b.single() {
            Some(bits @ 0..32) => Interval::spanning(elem, &[a_least << bits, a_most << bits]),
            _ => every,
        },
        BinaryOp::ShrS => match b.single() {
            Some(bits @ 0..32) => Interval {
                least: a.least >> bits,
                most: a.most >> bits,
            },
            _ => every,
        },
        BinaryOp::ShrU => match b.single() {
            Some(bits @ 0..32) if a.least >= 0 => Interval {
                least: a.least >> bits,
                most: a.most >> bits,
            },
            _ => every,
        },
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::CopySign => every,
    }
}

/// Whether a comparison holds for all numbers of two intervals, or for none.
fn decide(op: CompareOp, a: Interval, b: Interval) -> Option<bool> {
    let less = || {
        if a.most < b.least {
            Some(true)
        } else if a.least >= b.most {
            Some(false)
        } else {
            None
        }
    };
    let at_most = || {
        if a.most <= b.least {
            Some(true)
        } else if a.least > b.most {
            Some(false)
        } else {
            None
        }
    };
    let equal = || {
        if a.most < b.least || b.most < a.least {
            Some(false)
        } else if a.single().is_some() && a == b {
            Some(true)
        } else {
            None
        }
    };
    match op {
        CompareOp::Lt => less(),
        CompareOp::Le => at_most(),
        CompareOp::Gt => at_most().map(|holds| !holds),
        CompareOp::Ge => less().map(|holds| !holds),
        CompareOp::Eq => equal(),
        CompareOp::Ne => equal().map(|holds| !holds),
    }
}
