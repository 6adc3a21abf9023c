//! Loads and stores by which programs keep to their own elements.

use numerics::ElementType;

use super::{Grower, Keeping, Written};
use crate::kernel::{Dim, TileType};
use crate::keys::{Axis, Param, Value};
use crate::ops::{BinaryOp, OpKind, Subscript};

impl Grower<'_> {
    fn dims_of(&self, view: Param) -> Vec<Axis> {
        self.kernel
            .view(view)
            .map(|view| view.dims.clone())
            .unwrap_or_default()
    }

    /// Subscripts for a dimension that no program owns: all of it, a window that may lie outside, or a coordinate.
    fn free_subscript(&mut self, own: Axis, used: &mut Vec<Axis>) -> Subscript {
        let window = match self.choices.below(10) {
            0..=5 => Some(own),
            6..=7 => Some(self.choices.pick(&self.tile_axes.clone())),
            _ => None,
        };
        match window {
            Some(axis) if self.kernel.axis(axis).extent.is_some() && !used.contains(&axis) => {
                used.push(axis);
                let (origin, step) = if axis == own && !self.choices.chance(15) {
                    (None, 1)
                } else {
                    let step = self.choices.pick(&[1, 1, 2, 3]);
                    (self.choices.chance(60).then(|| self.place()), step)
                };
                Subscript::Window { origin, axis, step }
            }
            _ => {
                let coordinate = match self.root_axes.iter().position(|&axis| axis == own) {
                    Some(index) if !self.choices.chance(15) => self.coordinates[index],
                    _ => self.place(),
                };
                Subscript::At(coordinate)
            }
        }
    }

    /// Subscripts by which a program stays in its own part of a view that is written.
    fn own_subscripts(&mut self, written: &Written) -> Vec<Subscript> {
        if let Keeping::Blocks(block) = written.keeping {
            let distance = self.i32(block as i32);
            let origin = self.make(OpKind::Binary(BinaryOp::Mul, self.coordinates[0], distance));
            let fitting: Vec<Axis> = self
                .tile_axes
                .iter()
                .copied()
                .filter(|&axis| {
                    self.kernel
                        .axis(axis)
                        .extent
                        .is_some_and(|extent| extent <= block)
                })
                .collect();
            if fitting.is_empty() || self.choices.chance(20) {
                let offset = self.choices.below(block as usize) as i32;
                let offset = self.i32(offset);
                return vec![Subscript::At(self.make(OpKind::Binary(
                    BinaryOp::Add,
                    origin,
                    offset,
                )))];
            }
            let axis = self.choices.pick(&fitting);
            return vec![Subscript::Window {
                origin: Some(origin),
                axis,
                step: 1,
            }];
        }
        let dims = self.dims_of(written.view);
        let mut used = Vec::new();
        let mut at: Vec<Subscript> = self.coordinates.iter().map(|&c| Subscript::At(c)).collect();
        for &axis in &dims[at.len()..] {
            let subscript = self.free_subscript(axis, &mut used);
            at.push(subscript);
        }
        at
    }

    pub(super) fn load(&mut self) -> Value {
        let choice = self.choices.below(self.inputs.len() + self.written.len());
        let (view, at) = match choice
            .checked_sub(self.inputs.len())
            .map(|index| self.written[index].clone())
        {
            Some(written) if written.now => {
                let at = self.own_subscripts(&written);
                (written.view, at)
            }
            other => {
                let view = other.map_or_else(
                    || self.inputs[choice.min(self.inputs.len() - 1)],
                    |w| w.view,
                );
                let mut used = Vec::new();
                let dims = self.dims_of(view);
                let at = dims
                    .into_iter()
                    .map(|axis| self.free_subscript(axis, &mut used))
                    .collect();
                (view, at)
            }
        };
        self.make(OpKind::Load { view, at })
    }

    pub(super) fn store(&mut self, index: usize) {
        let written = self.written[index].clone();
        let at = self.own_subscripts(&written);
        let dims: Vec<Dim> = at
            .iter()
            .filter_map(|subscript| match *subscript {
                Subscript::At(_) => None,
                Subscript::Window { axis, .. } => Some(Dim::Axis(axis)),
            })
            .collect();
        let element = match self.kernel.view(written.view) {
            Some(view) => view.element.compute_type(),
            None => return,
        };
        let value = self.fitted(element, &dims);
        self.push(OpKind::Store {
            view: written.view,
            at,
            value,
        });
    }

    /// A value that can be stored as these dimensions: a tile made to fit, or a scalar.
    fn fitted(&mut self, element: ElementType, dims: &[Dim]) -> Value {
        let wanted = dims.to_vec();
        if let Some(value) =
            self.choose(|ty| ty.element == element && (ty.dims == wanted || ty.is_scalar()))
            && !self.choices.chance(30)
        {
            return value;
        }
        let inside = |ty: &TileType| {
            ty.dims
                .iter()
                .all(|dim| *dim == Dim::Unit || wanted.contains(dim))
        };
        let Some(mut value) = self.choose(|ty| !ty.is_scalar() && inside(ty)) else {
            let value = self.any_of(element);
            if self.ty(value).is_scalar() {
                return value;
            } else {
                return self.make_constant(element);
            }
        };
        if self.ty(value).element != element {
            value = self.make(OpKind::Cast(element, value));
        }
        let mut own = self.ty(value).dims.clone();
        if own.contains(&Dim::Unit) {
            own.retain(|&dim| dim != Dim::Unit);
            value = self.make(OpKind::Reshape(value, own.clone()));
        }
        let ordered: Vec<Dim> = wanted
            .iter()
            .copied()
            .filter(|dim| own.contains(dim))
            .collect();
        if ordered != own {
            let place = |dim: &Dim| own.iter().position(|other| other == dim).unwrap_or(0) as u32;
            value = self.make(OpKind::Permute(value, ordered.iter().map(place).collect()));
        }
        if ordered.len() < wanted.len() && !ordered.is_empty() {
            value = self.make(OpKind::Broadcast(value, wanted));
        }
        value
    }
}
