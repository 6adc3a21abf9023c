//! `unroll_loops`: a short loop becomes its iterations, one after the other.
//!
//! With the counter a constant in each copy, addresses and slots become displacements and offsets, private slots can be
//! forwarded, and the loop's own work is gone. That pays while the copies are few; code that doesn't fit the decoder's
//! caches pays it back, and so does compile time. So a loop is unrolled when its iterations together are small, counted in
//! chunks of 128 bits as the backend will emit them.
//!
//! Keeps: results, effects and their order, bit for bit. Breaks: the size of the program grows, by a bounded amount a loop.

use xir::{Constant, Op, OpKind, Program, Region, Shape, Type, Value};

use crate::copy::Copies;
use crate::rewrite::{constant_of, trips};

/// Iterations a loop may have to be unrolled.
const MOST_TRIPS: u64 = 8;

/// Machine operations that all iterations together may have.
const MOST_WORK: u64 = 96;

/// Unrolls in every function, inner loops first.
pub fn unroll_loops(program: &mut Program) {
    let mut pass = UnrollLoops {
        copies: Copies::of(program),
    };
    for function in program.functions() {
        let body = program.function(function).body;
        pass.region(program, body);
    }
}

struct UnrollLoops {
    copies: Copies,
}

impl UnrollLoops {
    /// Unrolls inside a region; gives back how many machine operations it has then.
    fn region(&mut self, program: &mut Program, region: Region) -> u64 {
        let ops = std::mem::take(&mut program.region_mut(region).ops);
        let mut list = Vec::with_capacity(ops.len());
        let mut work = 0;
        for op in ops {
            let mut kind = program.op(op).kind.clone();
            kind.visit_operands_mut(|value| *value = self.copies.get(*value));
            let mut inner = 0;
            kind.visit_regions(|body| inner += self.region(program, body));
            let trips = trips(program, &kind).filter(|&trips| trips <= MOST_TRIPS);
            program.op_mut(op).kind = kind;
            match trips {
                Some(trips) if trips.saturating_mul(inner) <= MOST_WORK => {
                    self.unroll(program, op, trips, &mut list);
                    work += trips * inner;
                }
                _ => {
                    work += inner + weight(program, op);
                    list.push(op);
                }
            }
        }
        program.region_mut(region).ops = list;
        let yields = self.copies.yields(program, region);
        program.region_mut(region).yields = yields;
        work
    }

    fn unroll(&mut self, program: &mut Program, op: Op, trips: u64, list: &mut Vec<Op>) {
        let OpKind::Loop {
            lower,
            step,
            inits,
            body,
            ..
        } = program.op(op).kind.clone()
        else {
            return;
        };
        let Some(Constant::I64(first)) = constant_of(program, lower) else {
            return;
        };
        let args = program.region(body).args.clone();
        let mut carries: Vec<Value> = inits;
        for trip in 0..trips {
            let counter = first.wrapping_add(step.wrapping_mul(trip.cast_signed()));
            let kind = OpKind::Const(Constant::I64(counter), Shape::Uniform);
            let constant = program.make_op(kind, &[Type::uniform(xir::Elem::I64)]);
            list.push(constant);
            let counter = program.op(constant).results[0];
            for (&arg, value) in args.iter().zip([counter].into_iter().chain(carries)) {
                self.copies.set(arg, value);
            }
            let copy = self.copies.ops(program, body);
            list.extend(copy);
            carries = self.copies.yields(program, body);
        }
        for (index, value) in carries.into_iter().enumerate() {
            let result = program.op(op).results[index];
            self.copies.set(result, value);
        }
    }
}

/// About how many machine operations the backend makes of it, inner regions apart.
fn weight(program: &Program, op: Op) -> u64 {
    let data = program.op(op);
    let chunks = |ty: Type| match ty.shape {
        Shape::Uniform => 1,
        Shape::Varying => u64::from(program.lanes.get()).div_ceil(4),
    };
    match &data.kind {
        // Constants are part of what uses them, or hoisted.
        OpKind::Const(..) => 0,
        OpKind::Store { value, .. } | OpKind::PrivateStore { value, .. } => {
            chunks(program.ty(*value))
        }
        OpKind::Loop { .. } | OpKind::If { .. } => 2,
        OpKind::Call { .. } | OpKind::Opaque { .. } => 8,
        _ => data
            .results
            .iter()
            .map(|&value| chunks(program.ty(value)))
            .sum(),
    }
}
