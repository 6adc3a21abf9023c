//! Lanes and memory in the builder.

use super::Builder;
use crate::keys::{Array, Value};
use crate::ops::{Access, Elem, MemElem, OpKind, Shape, Type};

/// Lanes and their exchange.
impl Builder<'_> {
    /// Lane `l` holds `l`, as varying i32.
    pub fn lane_index(&mut self) -> Value {
        self.push_one(OpKind::LaneIndex, Type::varying(Elem::I32))
    }

    /// One lane of a value; a uniform value is its own lane.
    pub fn lane(&mut self, of: Value, lane: u32) -> Value {
        let ty = self.ty(of);
        if !ty.is_varying() {
            return of;
        }
        match self.kind_of(of) {
            Some(&OpKind::Splat(source)) => source,
            Some(&OpKind::Const(constant, _)) => self.constant(constant, Shape::Uniform),
            _ => self.push_one(OpKind::Lane { of, lane }, Type::uniform(ty.elem)),
        }
    }

    /// Whether a truth value holds in some lane; a uniform one is its own answer.
    pub fn any(&mut self, mask: Value) -> Value {
        if !self.ty(mask).is_varying() {
            return mask;
        }
        match self.kind_of(mask) {
            Some(&OpKind::Splat(source)) => source,
            Some(&OpKind::Const(constant, _)) => self.constant(constant, Shape::Uniform),
            _ => self.push_one(OpKind::Any(mask), Type::uniform(Elem::Bool)),
        }
    }

    /// Whether a truth value holds in every lane.
    pub fn all(&mut self, mask: Value) -> Value {
        let not = self.not(mask);
        let any = self.any(not);
        self.not(any)
    }

    /// One uniform value a lane.
    pub fn build(&mut self, values: Vec<Value>) -> Value {
        let elem = self.ty(values[0]).elem;
        self.push_one(OpKind::Build(values), Type::varying(elem))
    }

    /// Lane `l` of the result is lane `pattern[l]` of `a` followed by `b`.
    pub fn shuffle(&mut self, a: Value, b: Value, pattern: Vec<u8>) -> Value {
        let ty = self.ty(a);
        self.push_one(OpKind::Shuffle { a, b, pattern }, ty)
    }
}

/// Memory.
impl Builder<'_> {
    /// Reads memory; the result is uniform for [`Access::Scalar`], else varying.
    pub fn load(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
        invariant: bool,
    ) -> Value {
        let shape = access.shape();
        let mask = mask.map(|mask| self.in_shape(mask, shape));
        let ty = Type {
            elem: mem.elem(),
            shape,
        };
        self.push_one(
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            },
            ty,
        )
    }

    /// Writes memory.
    pub fn store(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
        value: Value,
    ) {
        let shape = access.shape();
        let mask = mask.map(|mask| self.in_shape(mask, shape));
        let value = self.in_shape(value, shape);
        self.push_none(OpKind::Store {
            mem,
            access,
            address,
            displacement,
            mask,
            value,
        });
    }

    /// Reads slot `slot + offset`.
    pub fn private_load(&mut self, array: Array, slot: Value, offset: u32) -> Value {
        let data = self.program.array(array);
        let ty = Type {
            elem: data.elem,
            shape: data.shape,
        };
        self.push_one(
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            },
            ty,
        )
    }

    /// Sets slot `slot + offset`.
    pub fn private_store(&mut self, array: Array, slot: Value, offset: u32, value: Value) {
        let value = self.in_shape(value, self.program.array(array).shape);
        self.push_none(OpKind::PrivateStore {
            array,
            slot,
            offset,
            value,
        });
    }

    /// The address of slot 0.
    pub fn private_address(&mut self, array: Array) -> Value {
        self.push_one(OpKind::PrivateAddress(array), Type::uniform(Elem::I64))
    }
}
