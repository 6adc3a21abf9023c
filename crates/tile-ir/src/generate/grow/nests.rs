//! Nests: the root, loops, maps, reductions.

use numerics::ElementType;

use super::Grower;
use crate::kernel::{Dim, TileType};
use crate::keys::Value;
use crate::ops::{BinaryOp, OpKind, Policy, ReduceForm, ReduceOp, UnaryOp};

impl Grower<'_> {
    pub(super) fn root_nest(&mut self) {
        let frame = self.enter();
        self.coordinates = (0..self.root_axes.len())
            .map(|_| self.coordinate())
            .collect();
        let stages = if self.flavour.stages && self.choices.chance(25) {
            2
        } else {
            1
        };
        for stage in 0..stages {
            if stage > 0 {
                self.push(OpKind::Stage);
            }
            for index in 0..self.written.len() {
                self.written[index].now = index == 0 || self.choices.chance(60);
            }
            self.fuel = 2 + self.choices.below(self.flavour.size);
            while self.fuel > 0 {
                self.fuel -= 1;
                self.statement(2);
            }
            for index in 0..self.written.len() {
                if self.written[index].now {
                    self.store(index);
                }
            }
        }
        let axes = self.root_axes.clone();
        let body = self.exit(frame, Vec::new());
        self.push(OpKind::Parallel { axes, body });
    }

    /// One statement of a program; nests go this deep.
    fn statement(&mut self, depth: usize) {
        match self.choices.below(12) {
            0..=2 => {
                self.load();
            }
            3 => {
                let index = self.choices.below(self.written.len());
                if self.written[index].now {
                    self.store(index);
                }
            }
            4 if self.flavour.loops && depth > 0 => self.for_loop(depth),
            5 if self.flavour.opaque && self.choices.chance(30) => {
                let id = self.choices.below(3) as u32;
                self.push(OpKind::Opaque { id });
            }
            _ => {
                self.pure(depth);
            }
        }
    }

    /// A domain: the dimensions of some tile in any order, or some axes, perhaps with a unit dimension.
    fn domain(&mut self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = match self.choose(|ty| !ty.is_scalar()) {
            Some(tile) if self.choices.chance(80) => self.ty(tile).dims.clone(),
            _ => self.some_axes(2).into_iter().map(Dim::Axis).collect(),
        };
        if self.choices.chance(20) {
            dims.reverse();
        }
        if dims.is_empty() || dims.len() < 3 && self.choices.chance(10) {
            dims.push(Dim::Unit);
        }
        dims
    }

    /// A scalar at a point: an element at the nest's coordinates mostly, then a few operations on it.
    fn point(
        &mut self,
        dims: &[Dim],
        coordinates: &[Value],
        depth: usize,
        element: ElementType,
    ) -> Value {
        let wanted: Vec<Dim> = dims.to_vec();
        let tile = self.choose(|ty| {
            !ty.is_scalar()
                && ty.element == element
                && ty
                    .dims
                    .iter()
                    .all(|dim| wanted.contains(dim) || *dim == Dim::Unit)
        });
        let mut value = match tile {
            Some(tile) if !self.choices.chance(10) => {
                let mut at = Vec::new();
                for dim in self.ty(tile).dims.clone() {
                    let place = match wanted.iter().position(|&other| other == dim) {
                        Some(index) if !self.choices.chance(5) => coordinates[index],
                        _ if dim == Dim::Unit => self.i32(0),
                        _ => self.place(),
                    };
                    at.push(place);
                }
                self.make(OpKind::Extract { tile, at })
            }
            _ => match self.choose(|ty| !ty.is_scalar() && ty.element == element) {
                Some(tile) if self.choices.chance(50) => {
                    let rank = self.ty(tile).dims.len();
                    let at = (0..rank).map(|_| self.place()).collect();
                    self.make(OpKind::Extract { tile, at })
                }
                _ => self.scalar_of(element),
            },
        };
        for _ in 0..self.choices.below(3) {
            let other = self.scalar_of(element);
            let ops: Vec<BinaryOp> = BinaryOp::ALL
                .into_iter()
                .filter(|op| op.accepts(element))
                .collect();
            let op = self.choices.pick(&ops);
            let other = if self.choices.chance(30) {
                value
            } else {
                other
            };
            value = self.make(OpKind::Binary(op, value, other));
            if element == ElementType::F32 && self.choices.chance(20) {
                let ops: Vec<UnaryOp> = UnaryOp::all().filter(|op| op.accepts(element)).collect();
                let op = self.choices.pick(&ops);
                value = self.make(OpKind::Unary(op, value));
            }
        }
        if depth > 1 && self.fuel > 0 && self.choices.chance(15) {
            self.fuel -= 1;
            let inner = self.reduce(depth - 1);
            if self.ty(inner).element == element && element != ElementType::Bool {
                value = self.make(OpKind::Binary(BinaryOp::Add, value, inner));
            }
        }
        value
    }

    pub(super) fn map(&mut self, depth: usize) -> Value {
        let dims = self.domain();
        let frame = self.enter();
        let coordinates: Vec<Value> = dims.iter().map(|_| self.coordinate()).collect();
        let mut yields = Vec::new();
        for _ in 0..if self.choices.chance(15) { 2 } else { 1 } {
            let element = self.element();
            yields.push(self.point(&dims, &coordinates, depth, element));
        }
        let body = self.exit(frame, yields);
        self.make(OpKind::Map { dims, body })
    }

    pub(super) fn reduce(&mut self, depth: usize) -> Value {
        let dims = self.domain();
        let policy = self.choices.pick(&Policy::ALL);
        let open = policy == Policy::Fold && self.choices.chance(60);
        let count = if self.choices.chance(20) { 2 } else { 1 };
        let elements: Vec<ElementType> = (0..count)
            .map(|_| match self.element() {
                ElementType::Bool => ElementType::I32,
                other => other,
            })
            .collect();
        let mut ops = Vec::new();
        let mut inits = Vec::new();
        for &element in &elements {
            let op = self.choices.pick(&ReduceOp::ALL);
            ops.push(op);
            let init = match op.neutral(element) {
                Some(neutral) if self.choices.chance(60) => self.make(OpKind::Const(neutral)),
                _ => self.scalar_of(element),
            };
            inits.push(init);
        }
        let frame = self.enter();
        let coordinates: Vec<Value> = dims.iter().map(|_| self.coordinate()).collect();
        let mut carries = Vec::new();
        if open {
            for &element in &elements {
                carries.push(self.argument(TileType::scalar(element)));
            }
        }
        let mut yields = Vec::new();
        for (index, &element) in elements.iter().enumerate() {
            let mut value = self.point(&dims, &coordinates, depth, element);
            if open {
                let op = self.choices.pick(&[
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Max,
                    BinaryOp::Mul,
                ]);
                value = self.make(OpKind::Binary(op, carries[index], value));
            }
            yields.push(value);
        }
        let body = self.exit(frame, yields);
        let form = if open {
            ReduceForm::Open
        } else {
            ReduceForm::Closed(ops)
        };
        self.make(OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body,
        })
    }

    fn for_loop(&mut self, depth: usize) {
        let lower = self.choices.pick(&[0, 0, 1, -2]);
        let trips = self.choices.pick(&[0, 1, 3]);
        let lower_value = self.i32(lower);
        let upper_value = self.i32(lower + trips);
        let mut inits = Vec::new();
        for _ in 0..self.choices.below(3) {
            let element = self.element();
            inits.push(self.any_of(element));
        }
        let frame = self.enter();
        self.coordinate();
        for &init in &inits {
            let ty = self.ty(init).clone();
            self.argument(ty);
        }
        for _ in 0..1 + self.choices.below(4) {
            if self.fuel > 0 {
                self.fuel -= 1;
                self.statement(depth - 1);
            }
        }
        let mut yields = Vec::new();
        for &init in &inits {
            let ty = self.ty(init).clone();
            // The carry itself has the type, so there is one.
            let value = self.choose(|other| *other == ty).unwrap_or(init);
            yields.push(value);
        }
        let body = self.exit(frame, yields);
        let op = self.push(OpKind::For {
            lower: lower_value,
            upper: upper_value,
            inits,
            body,
        });
        let results = self.kernel.op(op).results.clone();
        self.scope.extend(results);
    }
}
