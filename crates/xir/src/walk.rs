//! What an operation takes, owns and does: the columns of the table that passes walk by.

use crate::keys::{Region, Value};
use crate::ops::{Effect, OpKind};

impl OpKind {
    /// The values it takes, in order (yields of regions not).
    pub fn operands(&self) -> Vec<Value> {
        let mut list = Vec::new();
        self.visit_operands(|value| list.push(value));
        list
    }

    /// Replaces each operand, in order.
    #[must_use]
    pub fn map_operands(mut self, mut f: impl FnMut(Value) -> Value) -> OpKind {
        self.visit_operands_mut(|value| *value = f(*value));
        self
    }

    /// Shows each operand, in order.
    pub fn visit_operands(&self, mut f: impl FnMut(Value)) {
        match self {
            OpKind::Const(..)
            | OpKind::Record { .. }
            | OpKind::WorkspaceAddress(_)
            | OpKind::LaneIndex
            | OpKind::PrivateAddress(_) => {}
            OpKind::Unary(_, a)
            | OpKind::Convert(_, a)
            | OpKind::Splat(a)
            | OpKind::Any(a)
            | OpKind::Lane { of: a, .. } => f(*a),
            OpKind::Binary(_, a, b) | OpKind::Compare(_, a, b) | OpKind::Shuffle { a, b, .. } => {
                f(*a);
                f(*b);
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                f(*condition);
                f(*then);
                f(*otherwise);
            }
            OpKind::Fma(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            OpKind::Build(values) => values.iter().for_each(|&v| f(v)),
            OpKind::Load {
                access,
                address,
                mask,
                ..
            } => {
                f(*address);
                access.operand().into_iter().for_each(&mut f);
                mask.iter().for_each(|&v| f(v));
            }
            OpKind::Store {
                access,
                address,
                mask,
                value,
                ..
            } => {
                f(*address);
                access.operand().into_iter().for_each(&mut f);
                mask.iter().for_each(|&v| f(v));
                f(*value);
            }
            OpKind::PrivateLoad { slot, .. } => f(*slot),
            OpKind::PrivateStore { slot, value, .. } => {
                f(*slot);
                f(*value);
            }
            OpKind::Loop {
                lower,
                upper,
                inits,
                ..
            } => {
                f(*lower);
                f(*upper);
                inits.iter().for_each(|&v| f(v));
            }
            OpKind::If { condition, .. } => f(*condition),
            OpKind::Call { args, .. } => args.iter().for_each(|&v| f(v)),
            OpKind::Opaque { first, count, .. } => {
                f(*first);
                f(*count);
            }
        }
    }

    /// Shows each operand, in order, to be changed where it stands.
    pub fn visit_operands_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            OpKind::Const(..)
            | OpKind::Record { .. }
            | OpKind::WorkspaceAddress(_)
            | OpKind::LaneIndex
            | OpKind::PrivateAddress(_) => {}
            OpKind::Unary(_, a)
            | OpKind::Convert(_, a)
            | OpKind::Splat(a)
            | OpKind::Any(a)
            | OpKind::Lane { of: a, .. } => f(a),
            OpKind::Binary(_, a, b) | OpKind::Compare(_, a, b) | OpKind::Shuffle { a, b, .. } => {
                f(a);
                f(b);
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                f(condition);
                f(then);
                f(otherwise);
            }
            OpKind::Fma(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            OpKind::Build(values) => values.iter_mut().for_each(f),
            OpKind::Load {
                access,
                address,
                mask,
                ..
            } => {
                f(address);
                access.operand_mut().into_iter().for_each(&mut f);
                mask.iter_mut().for_each(f);
            }
            OpKind::Store {
                access,
                address,
                mask,
                value,
                ..
            } => {
                f(address);
                access.operand_mut().into_iter().for_each(&mut f);
                mask.iter_mut().for_each(&mut f);
                f(value);
            }
            OpKind::PrivateLoad { slot, .. } => f(slot),
            OpKind::PrivateStore { slot, value, .. } => {
                f(slot);
                f(value);
            }
            OpKind::Loop {
                lower,
                upper,
                inits,
                ..
            } => {
                f(lower);
                f(upper);
                inits.iter_mut().for_each(f);
            }
            OpKind::If { condition, .. } => f(condition),
            OpKind::Call { args, .. } => args.iter_mut().for_each(f),
            OpKind::Opaque { first, count, .. } => {
                f(first);
                f(count);
            }
        }
    }

    /// The regions it owns.
    pub fn regions(&self) -> Vec<Region> {
        let mut list = Vec::new();
        self.visit_regions(|region| list.push(region));
        list
    }

    /// Shows each region it owns, in order.
    pub fn visit_regions(&self, mut f: impl FnMut(Region)) {
        match self {
            OpKind::Loop { body, .. } => f(*body),
            OpKind::If {
                then, otherwise, ..
            } => {
                f(*then);
                f(*otherwise);
            }
            OpKind::Const(..)
            | OpKind::Record { .. }
            | OpKind::WorkspaceAddress(_)
            | OpKind::Unary(..)
            | OpKind::Binary(..)
            | OpKind::Compare(..)
            | OpKind::Select { .. }
            | OpKind::Fma(..)
            | OpKind::Convert(..)
            | OpKind::Splat(_)
            | OpKind::LaneIndex
            | OpKind::Lane { .. }
            | OpKind::Any(_)
            | OpKind::Build(_)
            | OpKind::Shuffle { .. }
            | OpKind::Load { .. }
            | OpKind::Store { .. }
            | OpKind::PrivateLoad { .. }
            | OpKind::PrivateStore { .. }
            | OpKind::PrivateAddress(_)
            | OpKind::Call { .. }
            | OpKind::Opaque { .. } => {}
        }
    }

    /// Shows each region it owns, in order, to be changed where it stands.
    pub fn visit_regions_mut(&mut self, mut f: impl FnMut(&mut Region)) {
        if let OpKind::Loop { body, .. } = self {
            f(body);
        } else if let OpKind::If {
            then, otherwise, ..
        } = self
        {
            f(then);
            f(otherwise);
        }
    }

    /// What it does beyond its results.
    pub fn effect(&self) -> Effect {
        match self {
            OpKind::Load { .. } => Effect::Read,
            OpKind::Store { .. } => Effect::Write,
            OpKind::PrivateLoad { array, .. } => Effect::PrivateRead(*array),
            OpKind::PrivateStore { array, .. } => Effect::PrivateWrite(*array),
            OpKind::Loop { .. } | OpKind::If { .. } | OpKind::Call { .. } => Effect::Nested,
            OpKind::Opaque { .. } => Effect::Unknown,
            OpKind::Const(..)
            | OpKind::Record { .. }
            | OpKind::WorkspaceAddress(_)
            | OpKind::Unary(..)
            | OpKind::Binary(..)
            | OpKind::Compare(..)
            | OpKind::Select { .. }
            | OpKind::Fma(..)
            | OpKind::Convert(..)
            | OpKind::Splat(_)
            | OpKind::LaneIndex
            | OpKind::Lane { .. }
            | OpKind::Any(_)
            | OpKind::Build(_)
            | OpKind::Shuffle { .. }
            | OpKind::PrivateAddress(_) => Effect::Pure,
        }
    }
}
