//! Reductions: the tree of `numerics::tree`, laid over packets, over partials of one lane, or over memory first.
//!
//! Every partial is seeded by real contributions: no identity is invented, so an all-negative row has a negative maximum and a sum of -0
//! stays -0. The tree decides which operations are applied to what; the strategies below differ in who carries them out.

use numerics::TreeShape;
use tile_ir::{Dim, Op, OpKind, Policy, ReduceForm, Region as TileRegion, Value as TileValue};
use xir::{Access, BinaryOp, Elem, MemElem, Shape, Value};

use crate::coordinate::Coord;
use crate::evaluate::xir_binary;
use crate::lowerer::Lowerer;

/// The contributions, one a carry, of elements `base + add ..` of the sequence.
pub(crate) type Contribution<'a, 'r> =
    dyn FnMut(&mut Lowerer<'r>, Option<Value>, i64) -> Vec<Value> + 'a;

/// One element of accumulators per carry.
pub(crate) type Carries = Vec<Value>;

impl<'r> Lowerer<'r> {
    /// Writes a reduction where it stands; gives one value a carry.
    pub(crate) fn reduce(&mut self, op: Op) -> Vec<Value> {
        let kernel = self.kernel;
        let OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body,
        } = &kernel.op(op).kind
        else {
            unreachable!("{op} is a reduction");
        };
        let inits: Carries = inits.iter().map(|&init| self.scalar(init)).collect();
        // Inside a nest a reduction is no traversal of its own: each point walks its elements by itself.
        let serial = self.serial;
        self.serial |= simd_mapping::in_nest(kernel, op);
        self.active.push(op);
        let results = match (policy, form) {
            (Policy::Fold, _) => self.fold(op, dims, form, *body, inits),
            (Policy::Unordered | Policy::Tree, ReduceForm::Closed(ops)) => {
                let ops: Vec<BinaryOp> = ops.iter().map(|op| xir_binary(op.binary())).collect();
                let total = self.tree(op, dims, &ops, *body);
                let pairs = ops.iter().zip(inits.into_iter().zip(total));
                pairs
                    .map(|(&op, (init, total))| self.emit.binary(op, init, total))
                    .collect()
            }
            (Policy::Unordered | Policy::Tree, ReduceForm::Open) => {
                unreachable!("the verifier asks for a closed body")
            }
        };
        self.active.pop();
        self.serial = serial;
        results
    }

    fn contributions(&mut self, body: TileRegion, index: &[Coord]) -> Carries {
        let kernel = self.kernel;
        let yields = &kernel.region(body).yields;
        self.bound(body, index, |this| {
            yields.iter().map(|&value| this.scalar(value)).collect()
        })
    }

    /// Strict, left to right: one element after the other, whatever the mapping.
    fn fold(
        &mut self,
        op: Op,
        dims: &[Dim],
        form: &ReduceForm,
        body: TileRegion,
        inits: Carries,
    ) -> Carries {
        let kernel = self.kernel;
        let results = &kernel.op(op).results;
        let inits = inits
            .into_iter()
            .zip(results)
            .map(|(init, &result)| {
                if self.in_local || self.realization.varies(result) {
                    self.emit.splat(init)
                } else {
                    init
                }
            })
            .collect();
        let mut index = vec![Coord::fixed(0); dims.len()];
        self.fold_dims(
            dims,
            0,
            &mut index,
            inits,
            &mut |this, index, carries| match form {
                ReduceForm::Closed(ops) => {
                    let new = this.contributions(body, index);
                    let pairs = ops.iter().zip(carries.into_iter().zip(new));
                    pairs
                        .map(|(op, (acc, e))| this.emit.binary(xir_binary(op.binary()), acc, e))
                        .collect()
                }
                ReduceForm::Open => {
                    let region = kernel.region(body);
                    let args: Vec<TileValue> = region.args[dims.len()..].to_vec();
                    let before: Vec<Option<Value>> = args
                        .iter()
                        .zip(carries)
                        .map(|(&arg, value)| this.scalars.insert(arg, value))
                        .collect();
                    let next = this.contributions(body, index);
                    for (arg, old) in args.into_iter().zip(before) {
                        match old {
                            Some(value) => this.scalars.insert(arg, value),
                            None => this.scalars.remove(&arg),
                        };
                    }
                    next
                }
            },
        )
    }

    fn fold_dims(
        &mut self,
        dims: &[Dim],
        at: usize,
        index: &mut Vec<Coord>,
        carries: Carries,
        step: &mut dyn FnMut(&mut Lowerer<'r>, &[Coord], Carries) -> Carries,
    ) -> Carries {
        if at == dims.len() {
            return step(self, index, carries);
        }
        let extent = self.extent(dims[at]);
        if extent == 1 {
            index[at] = Coord::fixed(0);
            return self.fold_dims(dims, at + 1, index, carries, step);
        }
        self.repeat(0, i64::from(extent), 1, carries, &mut |this, i, carries| {
            index[at] = Coord::uniform(i);
            let shapes: Vec<Shape> = carries.iter().map(|&v| this.emit.ty(v).shape).collect();
            let next = this.fold_dims(dims, at + 1, index, carries, step);
            next.into_iter()
                .zip(shapes)
                .map(|(v, shape)| this.emit.with_shape(v, shape))
                .collect()
        })
    }

    /// The total of all contributions by the reduction's tree, without the initial value.
    fn tree(&mut self, op: Op, dims: &[Dim], ops: &[BinaryOp], body: TileRegion) -> Carries {
        let shape = self.realization.trees[&op];
        let long: Vec<usize> = (0..dims.len())
            .filter(|&i| self.extent(dims[i]) > 1)
            .collect();
        let count: u32 = dims.iter().map(|&dim| self.extent(dim)).product();
        let mut index = vec![Coord::fixed(0); dims.len()];
        match long[..] {
            [] => self.contributions(body, &index),
            [only] if self.is_local(dims[only]) => {
                self.in_local = true;
                let total = self.over_packets(op, 0, count, shape, ops, &mut |this, slot, add| {
                    index[only] = Coord::Local { slot, add };
                    this.contributions(body, &index)
                });
                self.in_local = false;
                total
            }
            [only] => self.over_partials(op, 0, count, shape, ops, &mut |this, base, add| {
                index[only] = Coord::Uniform { base, add };
                this.contributions(body, &index)
            }),
            _ => self.staged(op, dims, count, shape, ops, body),
        }
    }

    /// Several dimensions: the contributions are laid out in their row-major order first.
    fn staged(
        &mut self,
        op: Op,
        dims: &[Dim],
        count: u32,
        shape: TreeShape,
        ops: &[BinaryOp],
        body: TileRegion,
    ) -> Carries {
        let lanes = self.emit.lanes();
        let local = dims
            .iter()
            .any(|&dim| self.is_local(dim) && self.extent(dim) > 1);
        let mut steps = vec![0i64; dims.len()];
        let mut step = 1;
        for (slot, &dim) in steps.iter_mut().zip(dims).rev() {
            *slot = step;
            step *= i64::from(self.extent(dim));
        }
        let mut arrays: Vec<(xir::Array, Elem)> = Vec::new();
        self.traverse(dims, &mut |this, index| {
            let values = this.contributions(body, index);
            let mut position = Coord::fixed(0);
            for (&coord, &step) in index.iter().zip(&steps) {
                let part = this.scale_coord(coord, step);
                position = this.add_coords(position, part);
            }
            for (which, value) in values.into_iter().enumerate() {
                if arrays.len() == which {
                    let ty = this.emit.ty(value);
                    let (spread, slots) = if local {
                        (Shape::Varying, count.div_ceil(lanes))
                    } else {
                        (ty.shape, count)
                    };
                    arrays.push((
                        this.scratch(op, which as u32, ty.elem, spread, slots),
                        ty.elem,
                    ));
                }
                let (array, elem) = arrays[which];
                if local {
                    this.write_position(array, elem, position, value);
                } else {
                    let slot = this
                        .uniform_i64(position)
                        .expect("positions are uniform off the local axis");
                    this.emit.private_store(array, slot, 0, value);
                }
            }
        });
        let first = ops.len() as u32;
        if local {
            self.in_local = true;
            let total = self.over_packets(op, first, count, shape, ops, &mut |this, slot, add| {
                let read = |this: &mut Self, &(array, elem): &(xir::Array, Elem)| {
                    this.read_position(array, elem, Coord::Local { slot, add })
                };
                arrays.iter().map(|array| read(this, array)).collect()
            });
            self.in_local = false;
            total
        } else {
            self.over_partials(op, first, count, shape, ops, &mut |this, base, add| {
                let slot = this
                    .uniform_i64(Coord::Uniform { base, add })
                    .expect("the coordinate is uniform");
                arrays
                    .iter()
                    .map(|&(array, _)| this.emit.private_load(array, slot, 0))
                    .collect()
            })
        }
    }

    fn mem(elem: Elem) -> MemElem {
        match elem {
            Elem::F32 => MemElem::F32,
            Elem::F64 => MemElem::F64,
            Elem::I32 => MemElem::I32,
            Elem::I64 | Elem::Bool => unreachable!("reductions combine f32, f64 and i32"),
        }
    }

    fn position_operands(
        &mut self,
        array: xir::Array,
        elem: Elem,
        position: Coord,
    ) -> (Access, Value, i64) {
        let size = i64::from(Self::mem(elem).bytes());
        let start = self.emit.private_address(array);
        let (base, add, step) = self.affine(position).expect("positions are affine");
        let address = match base {
            Some(base) => {
                let bytes = self.emit.mul_i64(base, size);
                self.emit.add(start, bytes)
            }
            None => start,
        };
        let live = self.live.unwrap_or(self.emit.lanes());
        let access = match step {
            0 => Access::Scalar,
            1 => Access::Contiguous { live },
            _ => Access::Strided {
                stride: self.emit.i64(step * size),
            },
        };
        (access, address, add * size)
    }

    fn write_position(&mut self, array: xir::Array, elem: Elem, position: Coord, value: Value) {
        let (access, address, displacement) = self.position_operands(array, elem, position);
        let address = self.emit.add_i64(address, displacement);
        let mask = match access {
            Access::Strided { .. } => self.with_live(None),
            Access::Scalar | Access::Contiguous { .. } | Access::Gather { .. } => None,
        };
        let value = if matches!(access, Access::Scalar) {
            value
        } else {
            self.emit.splat(value)
        };
        self.emit
            .store(Self::mem(elem), access, address, 0, mask, value);
    }

    pub(crate) fn read_position(
        &mut self,
        array: xir::Array,
        elem: Elem,
        position: Coord,
    ) -> Value {
        let (access, address, displacement) = self.position_operands(array, elem, position);
        let address = self.emit.add_i64(address, displacement);
        self.emit.load(Self::mem(elem), access, address, 0, None)
    }

    pub(crate) fn combine(&mut self, ops: &[BinaryOp], a: &[Value], b: &[Value]) -> Carries {
        ops.iter()
            .zip(a.iter().zip(b))
            .map(|(&op, (&a, &b))| self.emit.binary(op, a, b))
            .collect()
    }

    pub(crate) fn splat_all(&mut self, values: Carries) -> Carries {
        values.into_iter().map(|v| self.emit.splat(v)).collect()
    }

    /// `combine(a, b)` in the first `live` lanes, `a` in the others.
    pub(crate) fn combine_first(
        &mut self,
        ops: &[BinaryOp],
        a: &[Value],
        b: &[Value],
        live: u32,
    ) -> Carries {
        let both = self.combine(ops, a, b);
        if live == self.emit.lanes() {
            return both;
        }
        let mask = self.emit.first_lanes(live);
        both.into_iter()
            .zip(a)
            .map(|(both, &a)| self.emit.select(mask, both, a))
            .collect()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a block's place is three of them, and they have no meaning together"
    )]
    pub(crate) fn save_block(
        &mut self,
        op: Op,
        scratch: u32,
        blocks: u32,
        arrays: &mut Vec<(xir::Array, Elem)>,
        base: Option<Value>,
        add: i64,
        total: Carries,
    ) {
        for (which, value) in total.into_iter().enumerate() {
            let ty = self.emit.ty(value);
            if arrays.len() == which {
                let array = self.scratch(op, scratch + which as u32, ty.elem, ty.shape, blocks);
                arrays.push((array, ty.elem));
            }
            let slot = self
                .uniform_i64(Coord::Uniform { base, add })
                .expect("the coordinate is uniform");
            self.emit.private_store(arrays[which].0, slot, 0, value);
        }
    }
}
