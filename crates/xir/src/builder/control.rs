//! Loops, branches and calls of the builder.

use super::Builder;
use crate::keys::{Function, Region, Value};
use crate::ops::{Constant, Elem, OpKind, Shape, Type};

/// Control.
impl Builder<'_> {
    /// `for (i = lower; i < upper; i += step)` with carries that begin as `inits`; `body` gets `i` and the carries and
    /// gives back the next ones. A loop known to run zero times or once leaves no loop behind.
    pub fn loop_(
        &mut self,
        lower: Value,
        upper: Value,
        step: i64,
        inits: Vec<Value>,
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        if let (Some(first), Some(bound)) = (self.i64_of(lower), self.i64_of(upper)) {
            if first >= bound {
                return inits;
            }
            if first.checked_add(step).is_none_or(|second| second >= bound) {
                let shapes: Vec<Shape> = inits.iter().map(|&v| self.ty(v).shape).collect();
                let last = body(self, lower, &inits);
                return last
                    .into_iter()
                    .zip(shapes)
                    .map(|(v, shape)| self.in_shape(v, shape))
                    .collect();
            }
        }
        let types: Vec<Type> = inits.iter().map(|&v| self.ty(v)).collect();
        let region = self.enter();
        let iv = self.program.add_arg(region, Type::uniform(Elem::I64));
        let carries: Vec<Value> = types
            .iter()
            .map(|&ty| self.program.add_arg(region, ty))
            .collect();
        let next = body(self, iv, &carries);
        let next = next
            .into_iter()
            .zip(&types)
            .map(|(v, ty)| self.in_shape(v, ty.shape))
            .collect();
        let body = self.leave(next);
        self.push(
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            },
            &types,
        )
    }

    /// What `then` yields if the condition holds, else what `otherwise` yields.
    pub fn if_(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        match self.constant_of(condition) {
            Some(Constant::Bool(true)) => return then(self),
            Some(Constant::Bool(false)) => return otherwise(self),
            _ => {}
        }
        self.enter();
        let yields = then(self);
        let then = self.leave(yields);
        self.enter();
        let yields = otherwise(self);
        let otherwise = self.leave(yields);
        self.branch(condition, then, otherwise)
    }

    /// Runs `then` if the condition holds.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        let _ = self.if_(
            condition,
            |b| {
                then(b);
                Vec::new()
            },
            |_| Vec::new(),
        );
    }

    /// An `If` over two regions that were entered and left; yields that differ in shape are splatted.
    pub fn branch(&mut self, condition: Value, then: Region, otherwise: Region) -> Vec<Value> {
        let count = self
            .program
            .region(then)
            .yields
            .len()
            .min(self.program.region(otherwise).yields.len());
        let mut types = Vec::with_capacity(count);
        for index in 0..count {
            let mut shape = Shape::Uniform;
            for region in [then, otherwise] {
                shape = shape.max(self.ty(self.program.region(region).yields[index]).shape);
            }
            for region in [then, otherwise] {
                let value = self.program.region(region).yields[index];
                self.open.push(region);
                let value = self.in_shape(value, shape);
                self.open.pop();
                self.program.region_mut(region).yields[index] = value;
            }
            types.push(Type {
                elem: self.ty(self.program.region(then).yields[index]).elem,
                shape,
            });
        }
        self.push(
            OpKind::If {
                condition,
                then,
                otherwise,
            },
            &types,
        )
    }

    /// Calls a function that is complete; uniform arguments for varying parameters are splatted.
    pub fn call(&mut self, function: Function, args: &[Value]) -> Vec<Value> {
        let body = self.program.function(function).body;
        let params: Vec<Type> = self
            .program
            .region(body)
            .args
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        let results: Vec<Type> = self
            .program
            .region(body)
            .yields
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        let args = args
            .iter()
            .zip(params)
            .map(|(&v, ty)| self.in_shape(v, ty.shape))
            .collect();
        self.push(OpKind::Call { function, args }, &results)
    }

    /// Runs the caller's hook for programs `first .. first + count`.
    pub fn opaque(&mut self, id: u32, first: Value, count: Value) {
        self.push_none(OpKind::Opaque { id, first, count });
    }
}
