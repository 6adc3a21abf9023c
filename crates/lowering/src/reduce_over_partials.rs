//! Reductions that every lane walks by itself: accumulators are partials of one program, in registers or in memory.

use numerics::TreeShape;
use tile_ir::Op;
use xir::{BinaryOp, Value};

use crate::coordinate::Coord;
use crate::lowerer::Lowerer;
use crate::reduce::{Carries, Contribution};

/// Above this many partials a lane's accumulators lie in memory, not in registers.
const PARTIALS_IN_REGISTERS: u32 = 8;

impl<'r> Lowerer<'r> {
    /// A sequence that every lane walks by itself.
    pub(crate) fn over_partials(
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
