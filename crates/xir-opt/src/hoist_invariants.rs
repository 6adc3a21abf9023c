//! `hoist_invariants`: what is the same in every iteration is computed before the loop.
//!
//! The backend emits operations where they stand, so a constant, a splat or an address in a loop would be made again in
//! each iteration. Here every pure operation moves out of all loops in which its operands don't change. A varying constant
//! moves out of one loop only, the innermost: it occupies a register (or a spill slot, which costs no more than the
//! constant pool), and other loops nearby need theirs. Nothing leaves an arm of an `if`, which may be taken rarely.
//!
//! A load moves only out of a loop that runs at least once and writes nothing it could read: then the same bytes are read
//! and no byte more.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: values live longer.

use xir::{Effect, Op, OpKind, Program, Region, Shape};

use crate::effects::Summary;
use crate::rewrite::trips;

/// Hoists in every function.
pub fn hoist_invariants(program: &mut Program) {
    let mut pass = HoistInvariants {
        summary: Summary::of(program),
        homes: vec![0; program.value_count()],
        frames: Vec::new(),
        program,
    };
    for function in pass.program.functions() {
        let body = pass.program.function(function).body;
        pass.region(body, None);
    }
}

/// A region being rewritten.
struct Frame {
    ops: Vec<Op>,
    /// The loop whose body it is; an arm or a function's body can't be left.
    owner: Option<Owner>,
}

#[derive(Clone, Copy)]
struct Owner {
    body: Region,
    /// Whether the body runs at all.
    runs: bool,
}

struct HoistInvariants<'p> {
    program: &'p mut Program,
    summary: Summary,
    /// The frame in which each value is made.
    homes: Vec<u32>,
    frames: Vec<Frame>,
}

impl HoistInvariants<'_> {
    fn region(&mut self, region: Region, owner: Option<Owner>) {
        let depth = self.frames.len() as u32;
        let ops = std::mem::take(&mut self.program.region_mut(region).ops);
        self.frames.push(Frame {
            ops: Vec::with_capacity(ops.len()),
            owner,
        });
        for &arg in &self.program.region(region).args {
            self.homes[arg.index()] = depth;
        }
        for op in ops {
            self.op(op, depth as usize);
        }
        let frame = self.frames.pop().map(|frame| frame.ops);
        self.program.region_mut(region).ops = frame.unwrap_or_default();
    }

    fn op(&mut self, op: Op, depth: usize) {
        let kind = &self.program.op(op).kind;
        let mut regions = [None; 2];
        let mut count = 0;
        kind.visit_regions(|region| {
            regions[count] = Some(region);
            count += 1;
        });
        let owner = match kind {
            OpKind::Loop { body, .. } => Some(Owner {
                body: *body,
                runs: trips(self.program, kind).is_some_and(|trips| trips > 0),
            }),
            _ => None,
        };
        for region in regions.into_iter().flatten() {
            self.region(region, owner);
        }
        let home = self.home(op, depth);
        for &result in &self.program.op(op).results {
            self.homes[result.index()] = home as u32;
        }
        self.frames[home].ops.push(op);
    }

    /// The outermost frame in which the operation may stand.
    fn home(&self, op: Op, depth: usize) -> usize {
        let kind = &self.program.op(op).kind;
        let effect = kind.effect();
        let pure = match effect {
            Effect::Pure => true,
            Effect::Read | Effect::PrivateRead(_) => false,
            Effect::Write | Effect::PrivateWrite(_) | Effect::Nested | Effect::Unknown => {
                return depth;
            }
        };
        let mut outermost = 0;
        kind.visit_operands(|value| outermost = outermost.max(self.homes[value.index()] as usize));
        if let OpKind::Const(_, Shape::Varying) = kind {
            outermost = depth.saturating_sub(1);
        }
        let mut home = depth;
        while home > outermost {
            let Some(owner) = self.frames[home].owner else {
                break;
            };
            if !pure {
                let effects = self.summary.region(owner.body);
                let written = match effect {
                    Effect::PrivateRead(array) => effects.writes_array(array),
                    _ => {
                        effects.writes
                            && !matches!(
                                kind,
                                OpKind::Load {
                                    invariant: true,
                                    ..
                                }
                            )
                    }
                };
                if written || !owner.runs {
                    break;
                }
            }
            home -= 1;
        }
        home
    }
}
