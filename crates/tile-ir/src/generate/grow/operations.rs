//! Pure operations on values that are visible.

use numerics::ElementType;

use super::{COMPUTED, Grower};
use crate::kernel::Dim;
use crate::keys::Value;
use crate::ops::{BinaryOp, CompareOp, OpKind, UnaryOp};
use crate::verifier::infer;

impl Grower<'_> {
    /// A pure operation.
    pub(super) fn pure(&mut self, depth: usize) -> Value {
        match self.choices.below(16) {
            0 => {
                let element = self.element();
                self.make_constant(element)
            }
            1 => self.leaf(),
            2 | 3 => self.unary(),
            4..=6 => self.binary(),
            7 => self.compare_or_select(),
            8 => {
                let element = if self.choices.chance(20) && self.flavour.doubles {
                    ElementType::F64
                } else {
                    ElementType::F32
                };
                let a = self.any_of(element);
                let (b, c) = (self.beside(a, element), self.beside(a, element));
                // Two scalars stand beside a tile; two tiles may differ.
                let dims = |value: Value| self.kernel.ty(value).dims.clone();
                let fits = dims(a) == dims(b) || dims(b).is_empty();
                let kind = if fits {
                    OpKind::Fma(a, b, c)
                } else {
                    OpKind::Binary(BinaryOp::Mul, a, b)
                };
                if self.agree(&kind) {
                    self.make(kind)
                } else {
                    a
                }
            }
            9 => {
                let from = self.element();
                let a = self.any_of(from);
                let to = self.element();
                self.make(OpKind::Cast(to, a))
            }
            10 => self.reshaped(),
            11 | 12 if depth > 0 => self.map(depth),
            13..=15 if depth > 0 => self.reduce(depth),
            _ => self.binary(),
        }
    }

    /// Whether the operands suit the operation.
    fn agree(&self, kind: &OpKind) -> bool {
        infer(&self.kernel, kind).1.is_empty()
    }

    fn leaf(&mut self) -> Value {
        let axis = self.choices.pick(&self.tile_axes.clone());
        match self.choices.below(3) {
            0 => self.make(OpKind::Iota(axis)),
            1 => self.make(OpKind::Extent(axis)),
            _ if self.scalars.is_empty() => self.make(OpKind::Iota(axis)),
            _ => {
                let param = self.choices.pick(&self.scalars.clone());
                self.make(OpKind::ScalarParam(param))
            }
        }
    }

    fn unary(&mut self) -> Value {
        let ops: Vec<UnaryOp> = UnaryOp::all().collect();
        let op = self.choices.pick(&ops);
        let accepted: Vec<ElementType> = COMPUTED
            .into_iter()
            .filter(|&e| op.accepts(e) && (self.flavour.doubles || e != ElementType::F64))
            .collect();
        let element = self.choices.pick(&accepted);
        let a = self.any_of(element);
        self.make(OpKind::Unary(op, a))
    }

    fn binary(&mut self) -> Value {
        let op = self.choices.pick(&BinaryOp::ALL);
        let accepted: Vec<ElementType> = COMPUTED
            .into_iter()
            .filter(|&e| op.accepts(e) && (self.flavour.doubles || e != ElementType::F64))
            .collect();
        let element = self.choices.pick(&accepted);
        let a = self.any_of(element);
        let b = self.beside(a, element);
        if self.choices.chance(50) {
            self.make(OpKind::Binary(op, a, b))
        } else {
            self.make(OpKind::Binary(op, b, a))
        }
    }

    fn compare_or_select(&mut self) -> Value {
        let element = self
            .choices
            .pick(&[ElementType::F32, ElementType::F32, ElementType::I32]);
        let a = self.any_of(element);
        let b = self.beside(a, element);
        if self.choices.chance(50) {
            let op = self.choices.pick(&CompareOp::ALL);
            return self.make(OpKind::Compare(op, a, b));
        }
        let condition = self.beside(a, ElementType::Bool);
        let kind = OpKind::Select {
            condition,
            then: a,
            otherwise: b,
        };
        if self.agree(&kind) {
            self.make(kind)
        } else {
            a
        }
    }

    fn reshaped(&mut self) -> Value {
        let Some(a) = self.choose(|ty| !ty.is_scalar()) else {
            return self.leaf();
        };
        let mut dims = self.ty(a).dims.clone();
        match self.choices.below(4) {
            0 if dims.len() < 4 => {
                let at = self.choices.below(dims.len() + 1);
                dims.insert(at, Dim::Unit);
                self.make(OpKind::Reshape(a, dims))
            }
            1 => {
                dims.retain(|&dim| dim != Dim::Unit);
                self.make(OpKind::Reshape(a, dims))
            }
            2 => {
                let missing = self
                    .tile_axes
                    .iter()
                    .copied()
                    .find(|&axis| !dims.contains(&Dim::Axis(axis)));
                match missing {
                    Some(axis) if dims.len() < 3 => {
                        let at = self.choices.below(dims.len() + 1);
                        dims.insert(at, Dim::Axis(axis));
                        self.make(OpKind::Broadcast(a, dims))
                    }
                    _ => a,
                }
            }
            _ => {
                let mut rest: Vec<u32> = (0..dims.len() as u32).collect();
                let mut order = Vec::new();
                while !rest.is_empty() {
                    order.push(rest.swap_remove(self.choices.below(rest.len())));
                }
                self.make(OpKind::Permute(a, order))
            }
        }
    }
}
