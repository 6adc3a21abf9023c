//! Visits every point of a tile's domain: whole packets in a main loop, the rest in line, the last partial packet by itself.
//!
//! A packet that straddles the end of a row would touch what lies behind it. Extents are known here, so the packets that don't are counted, and
//! the one that does has a known number of live lanes: no mask reaches a loop.

use tile_ir::Dim;
use xir::Value;

use crate::coordinate::Coord;
use crate::lowerer::Lowerer;

/// What is done at each point.
pub(crate) type Visit<'a, 'r> = dyn FnMut(&mut Lowerer<'r>, &[Coord]) + 'a;

/// One iteration of a loop: the counter and the carries in, the next carries out.
pub(crate) type Iteration<'a, 'r> =
    dyn FnMut(&mut Lowerer<'r>, Value, Vec<Value>) -> Vec<Value> + 'a;

impl<'r> Lowerer<'r> {
    /// Whether a dimension is one along which packets would lie here.
    pub(crate) fn is_local(&self, dim: Dim) -> bool {
        match (dim, self.realization.local_axis) {
            (Dim::Axis(axis), Some(local)) => axis == local && !self.in_local && !self.serial,
            (Dim::Axis(_), None) | (Dim::Unit, _) => false,
        }
    }

    pub(crate) fn extent(&self, dim: Dim) -> u32 {
        self.kernel.extent(dim).expect("extents are known")
    }

    /// Visits every point of `dims`, in an order that is nobody's business.
    pub(crate) fn traverse(&mut self, dims: &[Dim], visit: &mut Visit<'_, 'r>) {
        let local = dims.iter().position(|&dim| self.is_local(dim));
        // Outer loops first, the local axis innermost.
        let mut order: Vec<usize> = (0..dims.len())
            .filter(|&i| Some(i) != local && self.extent(dims[i]) > 1)
            .collect();
        order.extend(local.filter(|&i| self.extent(dims[i]) > 1));
        let mut index = vec![Coord::fixed(0); dims.len()];
        self.visit_dims(dims, &order, local, &mut index, visit);
    }

    fn visit_dims(
        &mut self,
        dims: &[Dim],
        order: &[usize],
        local: Option<usize>,
        index: &mut Vec<Coord>,
        visit: &mut Visit<'_, 'r>,
    ) {
        let Some((&dim, rest)) = order.split_first() else {
            self.scoped(|this| visit(this, index));
            return;
        };
        let extent = self.extent(dims[dim]);
        if Some(dim) == local {
            self.in_local = true;
            self.packets(extent, &mut |this, coord| {
                index[dim] = coord;
                this.visit_dims(dims, rest, local, index, visit);
            });
            self.in_local = false;
        } else {
            let unroll = if rest.is_empty() {
                self.realization.plan.unroll
            } else {
                1
            };
            self.steps(extent, unroll, &mut |this, base, add| {
                index[dim] = Coord::Uniform { base, add };
                this.visit_dims(dims, rest, local, index, visit);
            });
        }
    }

    /// Visits the packets of `extent` elements along the local axis: slots as coordinates, the last one with its live lanes set.
    fn packets(&mut self, extent: u32, visit: &mut dyn FnMut(&mut Lowerer<'r>, Coord)) {
        let lanes = self.emit.lanes();
        let (full, tail) = (extent / lanes, extent % lanes);
        self.steps(
            full,
            self.realization.plan.unroll,
            &mut |this, slot, add| visit(this, Coord::Local { slot, add }),
        );
        if tail > 0 {
            self.live = Some(tail);
            visit(
                self,
                Coord::Local {
                    slot: None,
                    add: i64::from(full),
                },
            );
            self.live = None;
        }
    }

    /// Runs `count` steps, `unroll` to an iteration of a loop; what does not fill an iteration stands in line.
    pub(crate) fn steps(
        &mut self,
        count: u32,
        unroll: u32,
        step: &mut dyn FnMut(&mut Lowerer<'r>, Option<Value>, i64),
    ) {
        let looped = if count >= 2 * unroll {
            count - count % unroll
        } else {
            0
        };
        if looped > 0 {
            self.repeat(
                0,
                i64::from(looped),
                i64::from(unroll),
                Vec::new(),
                &mut |this, i, _| {
                    for k in 0..unroll {
                        step(this, Some(i), i64::from(k));
                    }
                    Vec::new()
                },
            );
        }
        // At most `2 * unroll - 1` steps remain; if each is large, a loop keeps the code small.
        if count - looped > 8 {
            self.repeat(
                i64::from(looped),
                i64::from(count),
                1,
                Vec::new(),
                &mut |this, i, _| {
                    step(this, Some(i), 0);
                    Vec::new()
                },
            );
            return;
        }
        for k in looped..count {
            step(self, None, i64::from(k));
        }
    }

    /// A loop over a constant range, with carries.
    pub(crate) fn repeat(
        &mut self,
        lower: i64,
        upper: i64,
        step: i64,
        inits: Vec<Value>,
        body: &mut Iteration<'_, 'r>,
    ) -> Vec<Value> {
        let (lower, upper) = (self.emit.i64(lower), self.emit.i64(upper));
        self.repeat_between(lower, upper, step, inits, body)
    }

    /// A loop over a range that may be known at launch only.
    pub(crate) fn repeat_between(
        &mut self,
        lower: Value,
        upper: Value,
        step: i64,
        inits: Vec<Value>,
        body: &mut Iteration<'_, 'r>,
    ) -> Vec<Value> {
        let (_, counter, carries) = self.emit.begin_loop(&inits);
        let yields = self.scoped(|this| body(this, counter, carries));
        self.emit.end_loop(lower, upper, step, inits, yields)
    }
}
