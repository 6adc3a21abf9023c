//! Reductions along the local axis: accumulators are packets, and the last steps merge lanes.

use numerics::TreeShape;
use tile_ir::Op;
use xir::{BinaryOp, Elem, Value};

use crate::coordinate::Coord;
use crate::lowerer::Lowerer;
use crate::reduce::{Carries, Contribution};

impl<'r> Lowerer<'r> {
    /// A sequence whose element `e` is lane `e % lanes` of packet `e / lanes`.
    pub(crate) fn over_packets(
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
}
