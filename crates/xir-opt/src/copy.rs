//! Copies of operations with their regions, for inlining and unrolling.

use xir::{Op, Program, Region, Value};

/// Where values of the original went; a value that isn't in it stays.
pub(crate) struct Copies {
    map: Vec<Value>,
}

impl Copies {
    /// Nothing was copied yet.
    pub(crate) fn of(program: &Program) -> Copies {
        Copies {
            map: (0..program.value_count()).map(Value::from_index).collect(),
        }
    }

    /// In copies from here on `to` stands for `from`.
    pub(crate) fn set(&mut self, from: Value, to: Value) {
        while self.map.len() <= from.index() {
            self.map.push(Value::from_index(self.map.len()));
        }
        self.map[from.index()] = to;
    }

    /// What stands for a value in copies.
    pub(crate) fn get(&self, value: Value) -> Value {
        self.map.get(value.index()).copied().unwrap_or(value)
    }

    /// A copy of an operation and what it owns; it stands nowhere yet.
    pub(crate) fn op(&mut self, program: &mut Program, op: Op) -> Op {
        let data = program.op(op);
        let mut kind = data.kind.clone();
        let results = data.results.clone();
        kind.visit_operands_mut(|value| *value = self.get(*value));
        kind.visit_regions_mut(|region| *region = self.region(program, *region));
        let types: Vec<_> = results.iter().map(|&value| program.ty(value)).collect();
        let copy = program.make_op(kind, &types);
        for (index, result) in results.into_iter().enumerate() {
            let to = program.op(copy).results[index];
            self.set(result, to);
        }
        copy
    }

    /// Copies of a region's operations, in order.
    pub(crate) fn ops(&mut self, program: &mut Program, region: Region) -> Vec<Op> {
        let ops = program.region(region).ops.clone();
        ops.into_iter().map(|op| self.op(program, op)).collect()
    }

    /// What stands for a region's yields.
    pub(crate) fn yields(&self, program: &Program, region: Region) -> Vec<Value> {
        program
            .region(region)
            .yields
            .iter()
            .map(|&value| self.get(value))
            .collect()
    }

    fn region(&mut self, program: &mut Program, region: Region) -> Region {
        let copy = program.add_region();
        for arg in program.region(region).args.clone() {
            let to = program.add_arg(copy, program.ty(arg));
            self.set(arg, to);
        }
        let ops = self.ops(program, region);
        program.region_mut(copy).ops = ops;
        let yields = self.yields(program, region);
        program.region_mut(copy).yields = yields;
        copy
    }
}
