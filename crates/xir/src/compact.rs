//! `Program::compact`: rows renumbered in program order, dead ones left out.
//!
//! Passes take operations out of regions and leave their rows behind; two programs that say the same may thus have
//! different tables. Compact programs are equal exactly when they say the same, and their text says all of it.
//!
//! Law **compact**: `compact` is idempotent, changes no function, and `parse(print(p)) == p` for every compact, verified `p`.

use crate::keys::{Op, Region, Value};
use crate::program::{Definition, FunctionData, OpData, Program, RegionData, ValueData};

impl Program {
    /// The same program with rows numbered in program order: function by function, each operation before the regions it
    /// owns. Functions, arrays and entries keep their numbers.
    ///
    /// A use of a value that nothing in the program defines becomes a use of a key to no row, which the verifier refuses.
    #[must_use]
    pub fn compact(&self) -> Program {
        let mut compaction = Compaction {
            from: self,
            to: Program::new(self.name.clone(), self.lanes),
            values: vec![Value::from_index(u32::MAX as usize); self.value_count()],
            seen: vec![false; self.region_count()],
        };
        for function in self.functions() {
            let data = self.function(function);
            let body = compaction.region(data.body);
            compaction.to.functions.push(FunctionData {
                body,
                ..data.clone()
            });
        }
        let Compaction { mut to, values, .. } = compaction;
        let renumber = |value: &mut Value| {
            *value = values.get(value.index()).copied().unwrap_or(*value);
        };
        for op in &mut to.ops {
            op.kind.visit_operands_mut(renumber);
        }
        for region in &mut to.regions {
            region.yields.iter_mut().for_each(renumber);
        }
        to.arrays.clone_from(&self.arrays);
        to.entries.clone_from(&self.entries);
        to.worker_bytes = self.worker_bytes;
        to.shared_bytes_per_packet = self.shared_bytes_per_packet;
        to
    }
}

struct Compaction<'a> {
    from: &'a Program,
    to: Program,
    values: Vec<Value>,
    seen: Vec<bool>,
}

impl Compaction<'_> {
    fn region(&mut self, region: Region) -> Region {
        let key = self.to.add_region();
        if std::mem::replace(&mut self.seen[region.index()], true) {
            return key;
        }
        let data = self.from.region(region);
        let mut args = Vec::with_capacity(data.args.len());
        for (index, &arg) in data.args.iter().enumerate() {
            let definition = Definition::Argument {
                region: key,
                index: index as u32,
            };
            args.push(self.value(arg, definition));
        }
        let ops = data.ops.iter().map(|&op| self.op(op)).collect();
        let yields = data.yields.clone();
        self.to.regions[key.index()] = RegionData { args, ops, yields };
        key
    }

    fn op(&mut self, op: Op) -> Op {
        let key = Op::from_index(self.to.ops.len());
        let data = self.from.op(op);
        self.to.ops.push(OpData {
            kind: data.kind.clone(),
            results: Vec::new(),
        });
        let mut results = Vec::with_capacity(data.results.len());
        for (index, &result) in data.results.iter().enumerate() {
            results.push(self.value(
                result,
                Definition::Result {
                    op: key,
                    index: index as u32,
                },
            ));
        }
        self.to.ops[key.index()].results = results;
        let mut kind = data.kind.clone();
        kind.visit_regions_mut(|region| *region = self.region(*region));
        self.to.ops[key.index()].kind = kind;
        key
    }

    fn value(&mut self, value: Value, definition: Definition) -> Value {
        let key = Value::from_index(self.to.values.len());
        self.to.values.push(ValueData {
            ty: self.from.ty(value),
            definition,
        });
        self.values[value.index()] = key;
        key
    }
}
