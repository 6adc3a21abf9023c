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
type Contribution<'a, 'r> = dyn FnMut(&mut Lowerer<'r>, Option<Value>, i64) -> Vec<Value> + 'a;

/// Above this many partials a lane's accumulators lie in memory, not in registers.
const PARTIALS_IN_REGISTERS: u32 = 8;

/// One element of accumulators per carry.
type Carries = Vec<Value>;

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

    fn read_position(&mut self, array: xir::Array, elem: Elem, position: Coord) -> Value {
        let (access, address, displacement) = self.position_operands(array, elem, position);
        let address = self.emit.add_i64(address, displacement);
        self.emit.load(Self::mem(elem), access, address, 0, None)
    }

    fn combine(&mut self, ops: &[BinaryOp], a: &[Value], b: &[Value]) -> Carries {
        ops.iter()
            .zip(a.iter().zip(b))
            .map(|(&op, (&a, &b))| self.emit.binary(op, a, b))
            .collect()
    }

    fn splat_all(&mut self, values: Carries) -> Carries {
        values.into_iter().map(|v| self.emit.splat(v)).collect()
    }

    /// `combine(a, b)` in the first `live` lanes, `a` in the others.
    fn combine_first(&mut self, ops: &[BinaryOp], a: &[Value], b: &[Value], live: u32) -> Carries {
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

    /// A sequence whose element `e` is lane `e % lanes` of packet `e / lanes`.
    fn over_packets(
        &mut self,
        op: Op,
        scratch: u32,
        count: u32,
        shape: TreeShape,
        ops: &[BinaryOp],
        packet: &mut Contribution<'_, 'r>,
    ) -> Carries {
        let lanes = self.emit.lanes();
        match shape.block() {
            Some(block) if count > block => {
                let blocks = count.div_ceil(block);
                let whole = count / block;
                let slots = i64::from(block / lanes);
                let mut arrays = Vec::new();
                self.repeat(0, i64::from(whole), 1, Vec::new(), &mut |this, b, _| {
                    let first = this.emit.mul_i64(b, slots);
                    let total = this.packets_of_block(block, Some(first), 0, shape, ops, packet);
                    this.save_block(op, scratch, blocks, &mut arrays, Some(b), 0, total);
                    Vec::new()
                });
                if !count.is_multiple_of(block) {
                    let first = i64::from(whole) * slots;
                    let total =
                        self.packets_of_block(count % block, None, first, shape, ops, packet);
                    self.save_block(
                        op,
                        scratch,
                        blocks,
                        &mut arrays,
                        None,
                        i64::from(whole),
                        total,
                    );
                }
                self.over_packets(
                    op,
                    scratch + ops.len() as u32,
                    blocks,
                    shape,
                    ops,
                    &mut |this, slot, add| {
                        let read = |this: &mut Self, &(array, elem): &(xir::Array, Elem)| {
                            this.read_position(array, elem, Coord::Local { slot, add })
                        };
                        arrays.iter().map(|array| read(this, array)).collect()
                    },
                )
            }
            _ => self.packets_of_block(count, None, 0, shape, ops, packet),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a block's place is three of them, and they have no meaning together"
    )]
    fn save_block(
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

    /// One block of at most `shape.block` elements, packets from slot `first + add` on; gives uniform totals.
    fn packets_of_block(
        &mut self,
        count: u32,
        first: Option<Value>,
        add: i64,
        shape: TreeShape,
        ops: &[BinaryOp],
        packet: &mut Contribution<'_, 'r>,
    ) -> Carries {
        let lanes = self.emit.lanes();
        let partials = (shape.width() / lanes).max(1);
        debug_assert!(
            shape.width() >= lanes,
            "the planner gives each lane a partial"
        );
        let (full, tail) = (count / lanes, count % lanes);
        let mut at = |this: &mut Self, slot: Option<Value>, k: i64| {
            let values = this.scoped(|this| packet(this, slot, k));
            this.splat_all(values)
        };
        // Seeds: the first packet of each partial.
        let seeded = partials.min(full);
        let mut partial: Vec<Carries> = (0..seeded)
            .map(|j| at(self, first, add + i64::from(j)))
            .collect();
        // The main loop: whole rounds of all partials.
        let rounds = full / partials;
        if rounds > 1 {
            let inits: Vec<Value> = partial.iter().flatten().copied().collect();
            let width = ops.len();
            let flat = self.repeat(
                i64::from(partials),
                i64::from(rounds * partials),
                i64::from(partials),
                inits,
                &mut |this, i, carries| {
                    let slot = match first {
                        Some(first) => this.emit.add(first, i),
                        None => i,
                    };
                    let mut next = Vec::with_capacity(carries.len());
                    for j in 0..partials as usize {
                        let new = at(this, Some(slot), add + j as i64);
                        next.extend(this.combine(ops, &carries[j * width..][..width], &new));
                    }
                    next
                },
            );
            partial = flat.chunks(width).map(<[Value]>::to_vec).collect();
        }
        // What does not fill a round.
        if full > partials {
            for k in rounds * partials..full {
                let new = at(self, first, add + i64::from(k));
                let j = (k % partials) as usize;
                partial[j] = self.combine(ops, &partial[j], &new);
            }
        }
        // The last, partial packet: lanes it lacks keep what they have, or don't exist.
        let mut short = None;
        if tail > 0 {
            self.live = Some(tail);
            let new = at(self, first, add + i64::from(full));
            self.live = None;
            if full < partials {
                short = Some(partial.len());
                partial.push(new);
            } else {
                let j = (full % partials) as usize;
                partial[j] = self.combine_first(ops, &partial[j], &new, tail);
            }
        }
        // Merge by halving: first whole packets, then lanes.
        let mut half = partials / 2;
        while half > 0 {
            for j in 0..half as usize {
                let other = j + half as usize;
                if other < partial.len() {
                    let live = if short == Some(other) { tail } else { lanes };
                    let (a, b) = (partial[j].clone(), partial[other].clone());
                    partial[j] = self.combine_first(ops, &a, &b, live);
                }
            }
            partial.truncate(half as usize);
            half /= 2;
        }
        let total = partial.swap_remove(0);
        self.merge_lanes(ops, total, count.min(lanes))
    }

    /// Merges the first `live` lanes by halving; gives uniform totals.
    fn merge_lanes(&mut self, ops: &[BinaryOp], mut total: Carries, mut live: u32) -> Carries {
        let lanes = self.emit.lanes();
        let mut half = lanes / 2;
        while half > 0 {
            if live > half {
                let pattern: Vec<u8> = (0..lanes)
                    .map(|l| if l < half { l + half } else { l } as u8)
                    .collect();
                let moved: Carries = total
                    .iter()
                    .map(|&v| self.emit.shuffle(v, v, pattern.clone()))
                    .collect();
                // Lanes from `half` on are dead from here: only the lower ones need their old value.
                let pairs = live - half;
                total = if pairs == half {
                    self.combine(ops, &total, &moved)
                } else {
                    self.combine_first(ops, &total, &moved, pairs)
                };
                live = half;
            }
            half /= 2;
        }
        total.into_iter().map(|v| self.emit.lane(v, 0)).collect()
    }

    /// A sequence that every lane walks by itself.
    fn over_partials(
        &mut self,
        op: Op,
        scratch: u32,
        count: u32,
        shape: TreeShape,
        ops: &[BinaryOp],
        element: &mut Contribution<'_, 'r>,
    ) -> Carries {
        match shape.block() {
            Some(block) if count > block => {
                let blocks = count.div_ceil(block);
                let whole = count / block;
                let mut arrays = Vec::new();
                let after = scratch + 2 * ops.len() as u32;
                self.repeat(0, i64::from(whole), 1, Vec::new(), &mut |this, b, _| {
                    let first = this.emit.mul_i64(b, i64::from(block));
                    let total = this.partials_of_block(
                        op,
                        after,
                        block,
                        Some(first),
                        0,
                        shape,
                        ops,
                        element,
                    );
                    this.save_block(op, scratch, blocks, &mut arrays, Some(b), 0, total);
                    Vec::new()
                });
                if !count.is_multiple_of(block) {
                    let first = i64::from(whole) * i64::from(block);
                    let total = self.partials_of_block(
                        op,
                        after,
                        count % block,
                        None,
                        first,
                        shape,
                        ops,
                        element,
                    );
                    self.save_block(
                        op,
                        scratch,
                        blocks,
                        &mut arrays,
                        None,
                        i64::from(whole),
                        total,
                    );
                }
                self.over_partials(
                    op,
                    scratch + ops.len() as u32,
                    blocks,
                    shape,
                    ops,
                    &mut |this, base, add| {
                        let slot = this
                            .uniform_i64(Coord::Uniform { base, add })
                            .expect("the coordinate is uniform");
                        arrays
                            .iter()
                            .map(|&(array, _)| this.emit.private_load(array, slot, 0))
                            .collect()
                    },
                )
            }
            _ => self.partials_of_block(
                op,
                scratch + 2 * ops.len() as u32,
                count,
                None,
                0,
                shape,
                ops,
                element,
            ),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a block's place is three of them, and they have no meaning together"
    )]
    fn partials_of_block(
        &mut self,
        op: Op,
        scratch: u32,
        count: u32,
        first: Option<Value>,
        add: i64,
        shape: TreeShape,
        ops: &[BinaryOp],
        element: &mut Contribution<'_, 'r>,
    ) -> Carries {
        let partials = shape.width().min(count);
        if partials <= PARTIALS_IN_REGISTERS {
            self.partials_in_registers(count, first, add, shape.width(), ops, element)
        } else {
            self.partials_in_memory(op, scratch, count, first, add, shape.width(), ops, element)
        }
    }

    fn partials_in_registers(
        &mut self,
        count: u32,
        first: Option<Value>,
        add: i64,
        width: u32,
        ops: &[BinaryOp],
        element: &mut Contribution<'_, 'r>,
    ) -> Carries {
        let mut at = |this: &mut Self, base: Option<Value>, k: i64| {
            this.scoped(|this| element(this, base, k))
        };
        let seeded = width.min(count);
        let mut partial: Vec<Carries> = (0..seeded)
            .map(|j| at(self, first, add + i64::from(j)))
            .collect();
        let rounds = count / width;
        if rounds > 1 {
            let inits: Vec<Value> = partial.iter().flatten().copied().collect();
            let carries = ops.len();
            let flat = self.repeat(
                i64::from(width),
                i64::from(rounds * width),
                i64::from(width),
                inits,
                &mut |this, i, values| {
                    let base = match first {
                        Some(first) => this.emit.add(first, i),
                        None => i,
                    };
                    let mut next = Vec::with_capacity(values.len());
                    for j in 0..width as usize {
                        let new = at(this, Some(base), add + j as i64);
                        next.extend(this.combine(ops, &values[j * carries..][..carries], &new));
                    }
                    next
                },
            );
            partial = flat.chunks(carries).map(<[Value]>::to_vec).collect();
        }
        if count > width {
            for k in rounds * width..count {
                let new = at(self, first, add + i64::from(k));
                let j = (k % width) as usize;
                partial[j] = self.combine(ops, &partial[j], &new);
            }
        }
        let mut half = width / 2;
        while half > 0 {
            for j in 0..half as usize {
                if let Some(other) = partial.get(j + half as usize).cloned() {
                    let own = partial[j].clone();
                    partial[j] = self.combine(ops, &own, &other);
                }
            }
            partial.truncate(half as usize);
            half /= 2;
        }
        partial.swap_remove(0)
    }

    /// More partials than registers: a few at a time walk the sequence, and leave their results in memory.
    #[expect(
        clippy::too_many_arguments,
        reason = "a block's place is three of them, and they have no meaning together"
    )]
    fn partials_in_memory(
        &mut self,
        op: Op,
        scratch: u32,
        count: u32,
        first: Option<Value>,
        add: i64,
        width: u32,
        ops: &[BinaryOp],
        element: &mut Contribution<'_, 'r>,
    ) -> Carries {
        let carries = ops.len();
        let partials = width.min(count);
        let rounds = count / width;
        let mut arrays: Vec<xir::Array> = Vec::new();
        let mut save = |this: &mut Self, slot: Value, offset: u32, values: &[Value]| {
            for (which, &value) in values.iter().enumerate() {
                if arrays.len() == which {
                    let ty = this.emit.ty(value);
                    arrays.push(this.scratch(
                        op,
                        scratch + which as u32,
                        ty.elem,
                        ty.shape,
                        partials,
                    ));
                }
                this.emit.private_store(arrays[which], slot, offset, value);
            }
        };
        let start = |this: &mut Self, j: Value| match first {
            Some(first) => this.emit.add(first, j),
            None => j,
        };
        // Partials side by side, each over all whole rounds.
        const SIDE_BY_SIDE: u32 = 4;
        let grouped = if rounds > 0 {
            width
        } else {
            partials - partials % SIDE_BY_SIDE
        };
        self.repeat(
            0,
            i64::from(grouped),
            i64::from(SIDE_BY_SIDE),
            Vec::new(),
            &mut |this, j, _| {
                let base = start(this, j);
                let seeds: Vec<Value> = (0..SIDE_BY_SIDE)
                    .flat_map(|g| this.scoped(|this| element(this, Some(base), add + i64::from(g))))
                    .collect();
                let totals = if rounds > 1 {
                    this.repeat(
                        i64::from(width),
                        i64::from(rounds * width),
                        i64::from(width),
                        seeds,
                        &mut |this, i, values| {
                            let at = this.emit.add(base, i);
                            let mut next = Vec::with_capacity(values.len());
                            for g in 0..SIDE_BY_SIDE as usize {
                                let new =
                                    this.scoped(|this| element(this, Some(at), add + g as i64));
                                next.extend(this.combine(
                                    ops,
                                    &values[g * carries..][..carries],
                                    &new,
                                ));
                            }
                            next
                        },
                    )
                } else {
                    seeds
                };
                for g in 0..SIDE_BY_SIDE {
                    save(this, j, g, &totals[g as usize * carries..][..carries]);
                }
                Vec::new()
            },
        );
        if rounds == 0 {
            self.repeat(
                i64::from(grouped),
                i64::from(partials),
                1,
                Vec::new(),
                &mut |this, j, _| {
                    let base = start(this, j);
                    let seed = this.scoped(|this| element(this, Some(base), add));
                    save(this, j, 0, &seed);
                    Vec::new()
                },
            );
        } else if !count.is_multiple_of(width) {
            // The last, partial round reaches the first partials only.
            let offset = i64::from(rounds * width);
            self.repeat(
                0,
                i64::from(count % width),
                1,
                Vec::new(),
                &mut |this, j, _| {
                    let base = start(this, j);
                    let new = this.scoped(|this| element(this, Some(base), add + offset));
                    let old: Carries = arrays
                        .iter()
                        .map(|&array| this.emit.private_load(array, j, 0))
                        .collect();
                    let both = this.combine(ops, &old, &new);
                    for (&array, &value) in arrays.iter().zip(&both) {
                        this.emit.private_store(array, j, 0, value);
                    }
                    Vec::new()
                },
            );
        }
        // Merge by halving, in memory while there are many.
        let mut remaining = partials;
        let mut half = width / 2;
        while half > 0 {
            let pairs = remaining.saturating_sub(half);
            if pairs > 0 {
                self.repeat(0, i64::from(pairs), 1, Vec::new(), &mut |this, j, _| {
                    let own: Carries = arrays
                        .iter()
                        .map(|&array| this.emit.private_load(array, j, 0))
                        .collect();
                    let other: Carries = arrays
                        .iter()
                        .map(|&array| this.emit.private_load(array, j, half))
                        .collect();
                    let both = this.combine(ops, &own, &other);
                    for (&array, &value) in arrays.iter().zip(&both) {
                        this.emit.private_store(array, j, 0, value);
                    }
                    Vec::new()
                });
                remaining = half;
            }
            half /= 2;
        }
        let zero = self.emit.i64(0);
        arrays
            .iter()
            .map(|&array| self.emit.private_load(array, zero, 0))
            .collect()
    }
}
