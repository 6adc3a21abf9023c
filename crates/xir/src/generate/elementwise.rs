//! Elementwise statements of a random program, many of the kind that algebra has rules for.

use super::draw::Draw;
use super::{I64, random_type};
use crate::keys::Value;
use crate::ops::{
    Access, BinaryOp, CompareOp, Constant, ConvertOp, Elem, MemElem, OpKind, Type, UnaryOp,
};

/// Neutral elements, powers of two and what is nearly one of them.
const TELLING: [f32; 9] = [0.0, -0.0, 1.0, -1.0, 2.0, -0.25, 256.0, 1.5, 1e-38];
const TELLING_INTEGERS: [i32; 9] = [0, 1, -1, 2, 4, 64, 3, i32::MIN, 31];

/// The operations of two operands that an element has.
fn operations(elem: Elem) -> &'static [BinaryOp] {
    match elem {
        Elem::F32 | Elem::F64 => &[
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::CopySign,
        ],
        Elem::I32 | Elem::I64 => &[
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
            BinaryOp::Shl,
            BinaryOp::ShrS,
            BinaryOp::ShrU,
        ],
        Elem::Bool => &[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor],
    }
}

impl Draw<'_, '_> {
    pub(super) fn elementwise(&mut self) {
        let ty = random_type(self.random);
        let mask = Type {
            elem: Elem::Bool,
            shape: ty.shape,
        };
        match self.random.below(12) {
            0..5 => {
                let op = self.random.pick(operations(ty.elem));
                let a = self.operand(ty);
                let b = if op == BinaryOp::CopySign {
                    self.tame(ty)
                } else {
                    self.operand(ty)
                };
                self.one(OpKind::Binary(op, a, b), ty);
            }
            5 | 6 => {
                let op = UnaryOp::NAMED[self.random.below(UnaryOp::NAMED.len() as u32) as usize].0;
                let fits = match ty.elem {
                    Elem::F32 | Elem::F64 => op != UnaryOp::Not,
                    Elem::I32 | Elem::I64 => {
                        matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not)
                    }
                    Elem::Bool => op == UnaryOp::Not,
                };
                if fits {
                    let a = self.value(ty);
                    self.one(OpKind::Unary(op, a), ty);
                }
            }
            7 => {
                let op = CompareOp::NAMED[self.random.below(6) as usize].0;
                if ty.elem != Elem::Bool || matches!(op, CompareOp::Eq | CompareOp::Ne) {
                    let (a, b) = (self.value(ty), self.value(ty));
                    self.one(OpKind::Compare(op, a, b), mask);
                }
            }
            8 => {
                let condition = if self.random.once_in(3) {
                    Type::uniform(Elem::Bool)
                } else {
                    mask
                };
                let condition = self.value(condition);
                let (then, otherwise) = (self.value(ty), self.value(ty));
                self.one(
                    OpKind::Select {
                        condition,
                        then,
                        otherwise,
                    },
                    ty,
                );
            }
            9 => {
                if matches!(ty.elem, Elem::F32 | Elem::F64) {
                    let (a, b, c) = (self.value(ty), self.value(ty), self.value(ty));
                    self.one(OpKind::Fma(a, b, c), ty);
                }
            }
            _ => {
                let op = self.random.pick(&ConvertOp::ALL);
                let (from, to) = op.types();
                let from = Type {
                    elem: from,
                    shape: ty.shape,
                };
                let a = if op == ConvertOp::F32ToBits {
                    self.tame(from)
                } else {
                    self.value(from)
                };
                let shape = ty.shape;
                self.one(OpKind::Convert(op, a), Type { elem: to, shape });
            }
        }
    }

    /// Numbers from memory meet a constant that algebra has a rule for, and go back to memory.
    pub(super) fn algebra(&mut self) {
        let (mem, word) = self.random.pick(&[
            (MemElem::F32, 1),
            (MemElem::F32, 1),
            (MemElem::I32, 2),
            (MemElem::F64, 3),
        ]);
        let ty = Type::varying(mem.elem());
        let address = self.one(
            OpKind::Record {
                word,
                elem: Elem::I64,
            },
            I64,
        );
        let lanes = self.builder.lanes();
        let access = Access::Contiguous { live: lanes };
        let displacement = (64 * self.random.below(16)).cast_signed();
        let (mask, invariant) = (None, false);
        let load = OpKind::Load {
            mem,
            access,
            address,
            displacement,
            mask,
            invariant,
        };
        let mut value = self.one(load, ty);
        if self.random.once_in(4) {
            // A product and a sum, which must not become one operation.
            let other = self.value(ty);
            let product = self.one(OpKind::Binary(BinaryOp::Mul, value, value), ty);
            value = self.one(OpKind::Binary(BinaryOp::Add, product, other), ty);
        }
        for _ in 0..1 + self.random.below(2) {
            let op = self.random.pick(operations(ty.elem));
            let constant = self.telling(ty);
            // The sign of a NaN means nothing, so the sign comes from the constant.
            let (a, b) = if self.random.once_in(3) && op != BinaryOp::CopySign {
                (constant, value)
            } else {
                (value, constant)
            };
            value = self.one(OpKind::Binary(op, a, b), ty);
        }
        let store = OpKind::Store {
            mem,
            access,
            address,
            displacement,
            mask,
            value,
        };
        self.builder.push(store, &[]);
    }

    /// A value of a type, often a constant that algebra has a rule for.
    fn operand(&mut self, ty: Type) -> Value {
        if self.random.once_in(4) {
            self.telling(ty)
        } else {
            self.value(ty)
        }
    }

    /// A constant that algebra has a rule for, or one that looks like it.
    fn telling(&mut self, ty: Type) -> Value {
        let constant = match ty.elem {
            Elem::F32 => Constant::f32(self.random.pick(&TELLING)),
            Elem::F64 => Constant::f64(self.random.pick(&TELLING).into()),
            Elem::I32 => Constant::I32(self.random.pick(&TELLING_INTEGERS)),
            Elem::I64 => Constant::I64(self.random.pick(&TELLING_INTEGERS).into()),
            Elem::Bool => Constant::Bool(self.random.once_in(2)),
        };
        self.one(OpKind::Const(constant, ty.shape), ty)
    }
}
