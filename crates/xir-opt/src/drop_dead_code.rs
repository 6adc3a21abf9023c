//! `drop_dead_code`: what nobody reads and nobody sees is not computed.
//!
//! Live are stores, hooks, stores to private arrays that something live may read, and whatever those need. Results and
//! carries die one by one: a loop keeps running without the carry nobody reads. A loop or an if with no live part goes
//! as a whole, since loops always end.
//!
//! Keeps: effects and their order, results that are used, bit for bit; no function's signature changes. Breaks: rows of
//! dead operations stay in the tables until `Program::compact`.

use xir::{Array, Definition, Op, OpKind, Program, Region, Value};

use crate::effects::Summary;

/// Drops in every function, and private arrays that nothing uses any more.
pub fn drop_dead_code(program: &mut Program) {
    let mut liveness = Liveness::of(program);
    liveness.run();
    let Liveness {
        ops,
        values,
        arrays,
        ..
    } = liveness;
    for function in program.functions() {
        sweep(program, program.function(function).body, &ops, &values);
    }
    let mut used = vec![false; arrays.len()];
    for function in program.functions() {
        program.visit_ops(program.function(function).body, &mut |kind| {
            if let OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array) = kind
            {
                used[array.index()] = true;
            }
        });
    }
    program.retain_arrays(|array| used[array.index()]);
}

/// What is live, and what of it wasn't looked at yet.
struct Liveness<'p> {
    program: &'p Program,
    summary: Summary,
    ops: Vec<bool>,
    values: Vec<bool>,
    arrays: Vec<bool>,
    /// Operation that owns each region, if one does.
    owners: Vec<Option<Op>>,
    /// Region in which each operation stands.
    homes: Vec<Option<Region>>,
    /// Stores of each private array.
    stores: Vec<Vec<Op>>,
    pending: Vec<Pending>,
}

#[derive(Clone, Copy)]
enum Pending {
    Op(Op),
    Value(Value),
}

impl<'p> Liveness<'p> {
    fn of(program: &'p Program) -> Liveness<'p> {
        let mut liveness = Liveness {
            program,
            summary: Summary::of(program),
            ops: vec![false; program.op_count()],
            values: vec![false; program.value_count()],
            arrays: vec![false; program.arrays().len()],
            owners: vec![None; program.region_count()],
            homes: vec![None; program.op_count()],
            stores: vec![Vec::new(); program.arrays().len()],
            pending: Vec::new(),
        };
        for function in program.functions() {
            let body = program.function(function).body;
            liveness.place(body);
            for &value in &program.region(body).yields {
                liveness.value(value);
            }
        }
        liveness
    }

    /// Notes where everything stands; what has an effect of its own is live.
    fn place(&mut self, region: Region) {
        let program = self.program;
        for &op in &program.region(region).ops {
            self.homes[op.index()] = Some(region);
            let kind = &program.op(op).kind;
            match kind {
                OpKind::Store { .. } | OpKind::Opaque { .. } => self.op(op),
                OpKind::PrivateStore { array, .. } => self.stores[array.index()].push(op),
                // What a callee stores privately may be read by anyone, so such a call stays.
                OpKind::Call { function, .. }
                    if !self.summary.function(program, *function).is_silent() =>
                {
                    self.op(op);
                }
                _ => {}
            }
            kind.visit_regions(|inner| {
                self.owners[inner.index()] = Some(op);
                self.place(inner);
            });
        }
    }

    fn op(&mut self, op: Op) {
        if !std::mem::replace(&mut self.ops[op.index()], true) {
            self.pending.push(Pending::Op(op));
        }
    }

    fn value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.index()], true) {
            self.pending.push(Pending::Value(value));
        }
    }

    fn array(&mut self, array: Array) {
        if !std::mem::replace(&mut self.arrays[array.index()], true) {
            for store in std::mem::take(&mut self.stores[array.index()]) {
                self.op(store);
            }
        }
    }

    fn run(&mut self) {
        while let Some(next) = self.pending.pop() {
            match next {
                Pending::Op(op) => self.reach_op(op),
                Pending::Value(value) => self.reach_value(value),
            }
        }
    }

    fn reach_op(&mut self, op: Op) {
        let program = self.program;
        if let Some(owner) = self.homes[op.index()].and_then(|region| self.owners[region.index()]) {
            self.op(owner);
        }
        match &program.op(op).kind {
            // Carries live or die by themselves.
            OpKind::Loop { lower, upper, .. } => {
                self.value(*lower);
                self.value(*upper);
            }
            OpKind::PrivateLoad { array, slot, .. } => {
                self.array(*array);
                self.value(*slot);
            }
            OpKind::PrivateAddress(array) => self.array(*array),
            kind => kind.visit_operands(|value| self.value(value)),
        }
    }

    fn reach_value(&mut self, value: Value) {
        let program = self.program;
        match program.value(value).definition {
            Definition::Result { op, index } => {
                self.op(op);
                let index = index as usize;
                match &program.op(op).kind {
                    OpKind::Loop { inits, body, .. } => {
                        self.value(inits[index]);
                        self.value(program.region(*body).yields[index]);
                    }
                    OpKind::If {
                        then, otherwise, ..
                    } => {
                        self.value(program.region(*then).yields[index]);
                        self.value(program.region(*otherwise).yields[index]);
                    }
                    _ => {}
                }
            }
            Definition::Argument { region, index } => {
                let Some(owner) = self.owners[region.index()] else {
                    return;
                };
                if let OpKind::Loop { inits, .. } = &program.op(owner).kind
                    && let Some(carry) = (index as usize).checked_sub(1)
                {
                    self.value(inits[carry]);
                    self.value(program.region(region).yields[carry]);
                }
            }
        }
    }
}

fn sweep(program: &mut Program, region: Region, ops: &[bool], values: &[bool]) {
    let mut list = std::mem::take(&mut program.region_mut(region).ops);
    list.retain(|op| ops[op.index()]);
    for &op in &list {
        match program.op(op).kind {
            OpKind::Loop { body, .. } => {
                let (results, args) = (&program.op(op).results, &program.region(body).args);
                let kept: Vec<bool> = results
                    .iter()
                    .zip(&args[1..])
                    .map(|(result, arg)| values[result.index()] || values[arg.index()])
                    .collect();
                if kept.contains(&false) {
                    let mut flags = kept.iter();
                    if let OpKind::Loop { inits, .. } = &mut program.op_mut(op).kind {
                        inits.retain(|_| flags.next() == Some(&true));
                    }
                    retain_yields(program, body, &kept);
                    program.retain_args(body, |index| index == 0 || kept[index - 1]);
                    program.retain_results(op, |index| kept[index]);
                }
                sweep(program, body, ops, values);
            }
            OpKind::If {
                then, otherwise, ..
            } => {
                let kept: Vec<bool> = program
                    .op(op)
                    .results
                    .iter()
                    .map(|result| values[result.index()])
                    .collect();
                if kept.contains(&false) {
                    retain_yields(program, then, &kept);
                    retain_yields(program, otherwise, &kept);
                    program.retain_results(op, |index| kept[index]);
                }
                sweep(program, then, ops, values);
                sweep(program, otherwise, ops, values);
            }
            _ => {}
        }
    }
    program.region_mut(region).ops = list;
}

fn retain_yields(program: &mut Program, region: Region, kept: &[bool]) {
    let mut flags = kept.iter();
    program
        .region_mut(region)
        .yields
        .retain(|_| flags.next() == Some(&true));
}
