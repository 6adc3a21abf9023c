//! One function drawn statement by statement.

use super::{I64, MOST, Random, random_type};
use crate::builder::Builder;
use crate::keys::{Array, Function, Value};
use crate::ops::{
    Access, BinaryOp, CompareOp, Constant, ConvertOp, Elem, MemElem, OpKind, Shape, Type, Workspace,
};
use crate::program::{ArrayData, Space};

pub(super) struct Draw<'r, 'p> {
    pub(super) random: &'r mut Random,
    pub(super) builder: Builder<'p>,
    helpers: Vec<Function>,
    arrays: Vec<Array>,
    /// Values in scope.
    pub(super) pool: Vec<Value>,
    /// Uniform i64 in scope that are from 0 to below a bound.
    pub(super) indices: Vec<(Value, u32)>,
}

impl<'r, 'p> Draw<'r, 'p> {
    pub(super) fn new(
        random: &'r mut Random,
        mut builder: Builder<'p>,
        helpers: &[Function],
        number: u32,
    ) -> Draw<'r, 'p> {
        let mut arrays = Vec::new();
        for index in 0..random.below(3) {
            let ty = random_type(random);
            let space = if random.once_in(4) {
                // Each function and array has a kilobyte of its own.
                let place = if number < 10 { number } else { number - 7 };
                Space::Worker {
                    offset: u64::from(place * 2 + index % 2) * 1024,
                }
            } else {
                Space::Stack
            };
            let worker_arrays = arrays.len();
            let space = if worker_arrays >= 2 {
                Space::Stack
            } else {
                space
            };
            arrays.push(builder.program_mut().add_array(ArrayData {
                name: format!("array{number}_{index}"),
                elem: ty.elem,
                shape: ty.shape,
                slots: 1 + random.below(8),
                space,
            }));
        }
        Draw {
            random,
            builder,
            helpers: helpers.to_vec(),
            arrays,
            pool: Vec::new(),
            indices: Vec::new(),
        }
    }

    pub(super) fn one(&mut self, kind: OpKind, ty: Type) -> Value {
        let value = self.builder.push(kind, &[ty])[0];
        self.pool.push(value);
        value
    }

    pub(super) fn enter(&mut self) -> (usize, usize) {
        self.builder.enter();
        (self.pool.len(), self.indices.len())
    }

    pub(super) fn leave(
        &mut self,
        kept: (usize, usize),
        yields: Vec<Value>,
    ) -> crate::keys::Region {
        self.pool.truncate(kept.0);
        self.indices.truncate(kept.1);
        self.builder.leave(yields)
    }

    /// Sets every slot of every array, so that no later read meets poison.
    pub(super) fn fill_arrays(&mut self) {
        for array in self.arrays.clone() {
            let data = self.builder.program().array(array).clone();
            let lower = self.number(0);
            let upper = self.number(data.slots.into());
            let kept = self.enter();
            let region = self.builder.region();
            let slot = self.builder.program_mut().add_arg(region, I64);
            let value = self.value(Type {
                elem: data.elem,
                shape: data.shape,
            });
            self.builder.push(
                OpKind::PrivateStore {
                    array,
                    slot,
                    offset: 0,
                    value,
                },
                &[],
            );
            let body = self.leave(kept, Vec::new());
            self.builder.push(
                OpKind::Loop {
                    lower,
                    upper,
                    step: 1,
                    inits: Vec::new(),
                    body,
                },
                &[],
            );
        }
    }

    fn number(&mut self, value: i64) -> Value {
        self.builder
            .push(OpKind::Const(Constant::I64(value), Shape::Uniform), &[I64])[0]
    }

    fn constant(&mut self, ty: Type) -> Value {
        let constant = match ty.elem {
            Elem::F32 => Constant::f32(self.random.float()),
            Elem::F64 => Constant::f64(f64::from(self.random.float()) * 1.000_000_3),
            Elem::I32 => Constant::I32(self.random.integer()),
            Elem::I64 => Constant::I64(self.random.integer().into()),
            Elem::Bool => Constant::Bool(self.random.once_in(2)),
        };
        self.one(OpKind::Const(constant, ty.shape), ty)
    }

    /// A value of a type: one in scope mostly.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        let program = self.builder.program();
        let fits: Vec<Value> = self
            .pool
            .iter()
            .copied()
            .filter(|&v| program.ty(v) == ty)
            .collect();
        if fits.is_empty() || self.random.once_in(6) {
            return self.constant(ty);
        }
        // Recent values more often, so that programs have depth.
        let at = self
            .random
            .below(fits.len() as u32)
            .max(self.random.below(fits.len() as u32));
        fits[at as usize]
    }

    pub(super) fn any_value(&mut self) -> Value {
        if self.pool.is_empty() {
            let ty = random_type(self.random);
            return self.constant(ty);
        }
        self.random.pick(&self.pool)
    }

    /// A float without NaN: its sign and bits mean something.
    pub(super) fn tame(&mut self, ty: Type) -> Value {
        let value = self.value(ty);
        let mask = Type {
            elem: Elem::Bool,
            shape: ty.shape,
        };
        let condition = self.one(OpKind::Compare(CompareOp::Eq, value, value), mask);
        let otherwise = match ty.elem {
            Elem::F64 => Constant::f64(1.5),
            Elem::F32 | Elem::I32 | Elem::I64 | Elem::Bool => Constant::f32(1.5),
        };
        let otherwise = self.one(OpKind::Const(otherwise, ty.shape), ty);
        self.one(
            OpKind::Select {
                condition,
                then: value,
                otherwise,
            },
            ty,
        )
    }

    /// An index below `bound`.
    fn index(&mut self, bound: u32) -> Value {
        let fits: Vec<Value> = self
            .indices
            .iter()
            .filter(|i| i.1 <= bound)
            .map(|i| i.0)
            .collect();
        if fits.is_empty() || self.random.once_in(3) {
            let number = self.random.below(bound);
            return self.number(number.into());
        }
        self.random.pick(&fits)
    }

    pub(super) fn statements(&mut self, budget: u32, depth: u32) {
        for _ in 0..budget {
            self.statement(budget, depth);
        }
    }

    fn statement(&mut self, budget: u32, depth: u32) {
        match self.random.below(24) {
            0..6 => self.elementwise(),
            6..9 => self.algebra(),
            9..12 => self.lanes_op(),
            12..15 => self.load(),
            15..18 => self.store(),
            18..20 => self.private(),
            20 => self.source(),
            21 | 22 if depth < 3 => match self.random.below(3) {
                0 => self.branch(budget / 3, depth),
                _ => self.repeat(budget / 3, depth),
            },
            21 | 22 => self.elementwise(),
            _ => self.call(),
        }
    }

    fn lanes_op(&mut self) {
        let elem = random_type(self.random).elem;
        let (uniform, varying) = (Type::uniform(elem), Type::varying(elem));
        let lanes = self.builder.lanes();
        match self.random.below(6) {
            0 => {
                let a = self.value(uniform);
                self.one(OpKind::Splat(a), varying);
            }
            1 => {
                let of = self.value(varying);
                let lane = self.random.below(lanes);
                self.one(OpKind::Lane { of, lane }, uniform);
            }
            2 => {
                let a = self.value(Type::varying(Elem::Bool));
                self.one(OpKind::Any(a), Type::uniform(Elem::Bool));
            }
            3 => {
                let values = (0..lanes).map(|_| self.value(uniform)).collect();
                self.one(OpKind::Build(values), varying);
            }
            4 => {
                self.one(OpKind::LaneIndex, Type::varying(Elem::I32));
            }
            _ => {
                let (a, b) = (self.value(varying), self.value(varying));
                let pattern = (0..lanes)
                    .map(|_| self.random.below(2 * lanes) as u8)
                    .collect();
                self.one(OpKind::Shuffle { a, b, pattern }, varying);
            }
        }
    }

    /// An element in memory, the word of its buffer and whether that is read-only.
    fn place(&mut self, read: bool) -> (MemElem, u32) {
        let list = [
            (MemElem::F32, 1),
            (MemElem::I32, 2),
            (MemElem::F64, 3),
            (MemElem::U8, 2),
            (MemElem::U16, 2),
            (MemElem::F32, 0),
        ];
        self.random.pick(if read { &list } else { &list[..5] })
    }

    /// The parts of an access that stays inside a buffer.
    fn access(&mut self, mem: MemElem, word: u32) -> (Access, Value, i32, Option<Value>) {
        let size = i64::from(mem.bytes());
        let base = self.builder.push(
            OpKind::Record {
                word,
                elem: Elem::I64,
            },
            &[I64],
        )[0];
        let index = self.index(MOST);
        let times = i64::from(self.random.below(3).max(1));
        let scale = self.number(size * times);
        let offset = self
            .builder
            .push(OpKind::Binary(BinaryOp::Mul, index, scale), &[I64])[0];
        let address = self
            .builder
            .push(OpKind::Binary(BinaryOp::Add, base, offset), &[I64])[0];
        let displacement = (size as i32) * self.random.below(40) as i32;
        let lanes = self.builder.lanes();
        let access = match self.random.below(5) {
            0 => Access::Scalar,
            1 | 2 => Access::Contiguous {
                live: if self.random.once_in(3) {
                    1 + self.random.below(lanes)
                } else {
                    lanes
                },
            },
            3 => {
                let times = 1 + i64::from(self.random.below(3));
                Access::Strided {
                    stride: self.number(size * times),
                }
            }
            _ => {
                let lane = self.builder.lane_index();
                let wide = self.builder.convert(ConvertOp::I32ToI64, lane);
                let scale = self
                    .builder
                    .splat_i64(size * (1 + i64::from(self.random.below(3))));
                let offsets = self.builder.push(
                    OpKind::Binary(BinaryOp::Mul, wide, scale),
                    &[Type::varying(Elem::I64)],
                )[0];
                Access::Gather { offsets }
            }
        };
        let mask = self.random.once_in(3).then(|| {
            self.value(Type {
                elem: Elem::Bool,
                shape: access.shape(),
            })
        });
        (access, address, displacement, mask)
    }

    fn load(&mut self) {
        let (mem, word) = self.place(true);
        let (access, address, displacement, mask) = self.access(mem, word);
        let invariant = word == 0 && self.random.once_in(2);
        let ty = Type {
            elem: mem.elem(),
            shape: access.shape(),
        };
        self.one(
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            },
            ty,
        );
    }

    fn store(&mut self) {
        let (mem, word) = self.place(false);
        let (access, address, displacement, mask) = self.access(mem, word);
        let value = self.value(Type {
            elem: mem.elem(),
            shape: access.shape(),
        });
        self.builder.push(
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask,
                value,
            },
            &[],
        );
    }

    fn private(&mut self) {
        if self.arrays.is_empty() {
            return self.store();
        }
        let array = self.random.pick(&self.arrays);
        let data = self.builder.program().array(array).clone();
        let ty = Type {
            elem: data.elem,
            shape: data.shape,
        };
        let offset = self.random.below(data.slots);
        let slot = self.index(data.slots - offset);
        if self.random.once_in(2) {
            self.one(
                OpKind::PrivateLoad {
                    array,
                    slot,
                    offset,
                },
                ty,
            );
        } else {
            let value = self.value(ty);
            self.builder.push(
                OpKind::PrivateStore {
                    array,
                    slot,
                    offset,
                    value,
                },
                &[],
            );
        }
    }

    fn source(&mut self) {
        match self.random.below(4) {
            0 => {
                self.one(
                    OpKind::Record {
                        word: 5,
                        elem: Elem::F32,
                    },
                    Type::uniform(Elem::F32),
                );
            }
            1 => {
                self.one(
                    OpKind::Record {
                        word: 6,
                        elem: Elem::I32,
                    },
                    Type::uniform(Elem::I32),
                );
            }
            2 => {
                // Write and read back a workspace.
                let workspace = self.random.pick(&[Workspace::Worker, Workspace::Shared]);
                let address = self
                    .builder
                    .push(OpKind::WorkspaceAddress(workspace), &[I64])[0];
                // The arrays lie below.
                let displacement = if workspace == Workspace::Worker {
                    10240
                } else {
                    0
                } + 64 * self.random.below(8) as i32;
                let lanes = self.builder.lanes();
                let access = Access::Contiguous { live: lanes };
                let ty = Type::varying(Elem::I32);
                let (mem, mask) = (MemElem::I32, None);
                let value = self.value(ty);
                self.builder.push(
                    OpKind::Store {
                        mem,
                        access,
                        address,
                        displacement,
                        mask,
                        value,
                    },
                    &[],
                );
                self.one(
                    OpKind::Load {
                        mem,
                        access,
                        address,
                        displacement,
                        mask,
                        invariant: false,
                    },
                    ty,
                );
            }
            _ => {
                let first = self.index(MOST);
                let count = self.index(MOST);
                self.builder.push(
                    OpKind::Opaque {
                        id: self.random.below(3),
                        first,
                        count,
                    },
                    &[],
                );
            }
        }
    }

    /// Types that leave a region, often one of them twice.
    fn carried(&mut self) -> Vec<Type> {
        let mut list = Vec::new();
        for _ in 0..self.random.below(4) {
            let ty = match list.last() {
                Some(&last) if self.random.once_in(2) => last,
                _ => random_type(self.random),
            };
            list.push(ty);
        }
        list
    }

    /// Writes a value to memory, half of the time.
    pub(super) fn observe(&mut self, value: Value) {
        if self.random.once_in(2) {
            return;
        }
        let ty = self.builder.ty(value);
        let (mem, word, value) = match ty.elem {
            Elem::F32 => (MemElem::F32, 1, value),
            Elem::F64 => (MemElem::F64, 3, value),
            Elem::I32 => (MemElem::I32, 2, value),
            Elem::I64 => (
                MemElem::I32,
                2,
                self.builder.convert(ConvertOp::I64ToI32, value),
            ),
            Elem::Bool => (
                MemElem::I32,
                2,
                self.builder.convert(ConvertOp::BoolToI32, value),
            ),
        };
        let address = self.builder.record(word, Elem::I64);
        let live = self.builder.lanes();
        let access = match ty.shape {
            Shape::Uniform => Access::Scalar,
            Shape::Varying => Access::Contiguous { live },
        };
        let displacement = (1024 + 128 * self.random.below(20)).cast_signed();
        self.builder
            .store(mem, access, address, displacement, None, value);
    }

    fn branch(&mut self, budget: u32, depth: u32) {
        let condition = self.value(Type::uniform(Elem::Bool));
        let types: Vec<Type> = self.carried();
        let arm = |draw: &mut Self| {
            let kept = draw.enter();
            draw.statements(budget, depth + 1);
            let yields = types.iter().map(|&ty| draw.value(ty)).collect();
            draw.leave(kept, yields)
        };
        let (then, otherwise) = (arm(self), arm(self));
        let results = self.builder.push(
            OpKind::If {
                condition,
                then,
                otherwise,
            },
            &types,
        );
        self.pool.extend(&results);
        results.into_iter().for_each(|result| self.observe(result));
    }

    fn repeat(&mut self, budget: u32, depth: u32) {
        let first = self.random.below(3);
        let trips = self.random.pick(&[0, 1, 2, 3, 4, 5]);
        let step = 1 + self.random.below(2);
        let lower = self.number(first.into());
        // The last index is below MOST: 2 + 5 * 2 - 1 + 1.
        let (upper, bound) = if self.random.once_in(3) {
            (self.builder.record(4, Elem::I64), 6)
        } else {
            let end = first + trips * step;
            (self.number(end.into()), end.max(1))
        };
        let types: Vec<Type> = self.carried();
        let inits: Vec<Value> = types.iter().map(|&ty| self.value(ty)).collect();
        let kept = self.enter();
        let region = self.builder.region();
        let counter = self.builder.program_mut().add_arg(region, I64);
        self.indices.push((counter, bound));
        self.pool.push(counter);
        for &ty in &types {
            let carry = self.builder.program_mut().add_arg(region, ty);
            self.pool.push(carry);
        }
        self.statements(budget, depth + 1);
        let yields = types.iter().map(|&ty| self.value(ty)).collect();
        let body = self.leave(kept, yields);
        let kind = OpKind::Loop {
            lower,
            upper,
            step: step.into(),
            inits,
            body,
        };
        let results = self.builder.push(kind, &types);
        self.pool.extend(&results);
        results.into_iter().for_each(|result| self.observe(result));
    }

    fn call(&mut self) {
        if self.helpers.is_empty() {
            return self.load();
        }
        let function = self.random.pick(&self.helpers);
        let program = self.builder.program();
        let body = program.region(program.function(function).body);
        let params: Vec<Type> = body.args.iter().map(|&v| program.ty(v)).collect();
        let results: Vec<Type> = body.yields.iter().map(|&v| program.ty(v)).collect();
        let args = params.iter().map(|&ty| self.value(ty)).collect();
        let made = self.builder.push(OpKind::Call { function, args }, &results);
        self.pool.extend(made);
    }
}
