//! A program as dense tables: values, operations, regions, functions, private arrays and entries.
//!
//! Rows are never removed; a pass drops an operation by taking it out of its region's list.

use crate::keys::{Array, Function, Op, Region, Value};
use crate::ops::{Elem, OpKind, Shape, Type};

/// How many lanes a packet has.
///
/// Invariant **lanes**: 2, 4, 8 or 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lanes(u32);

impl Lanes {
    /// A width, if it is one of 2, 4, 8 and 16.
    pub const fn new(count: u32) -> Option<Lanes> {
        match count {
            2 | 4 | 8 | 16 => Some(Lanes(count)),
            _ => None,
        }
    }

    /// The widest packet.
    pub const WIDEST: Lanes = Lanes(16);

    /// Every width, narrowest first.
    pub const ALL: [Lanes; 4] = [Lanes(2), Lanes(4), Lanes(8), Lanes(16)];

    /// The number of lanes.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Who makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Result number `index` of an operation.
    Result {
        /// The operation.
        op: Op,
        /// Which result.
        index: u32,
    },
    /// Argument number `index` of a region.
    Argument {
        /// The region.
        region: Region,
        /// Which argument.
        index: u32,
    },
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Who makes it.
    pub definition: Definition,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpData {
    /// What it does.
    pub kind: OpKind,
    /// What it makes.
    pub results: Vec<Value>,
}

/// One region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionData {
    /// Its arguments.
    pub args: Vec<Value>,
    /// Its operations, in program order.
    pub ops: Vec<Op>,
    /// What it yields.
    pub yields: Vec<Value>,
}

/// Whether calls of a function are replaced by its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inlining {
    /// Yes: the plan says inlined.
    Inline,
    /// No: the plan says outlined.
    Outline,
}

/// One function. The launch record and the workspaces are at hand in every function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionData {
    /// Its name.
    pub name: String,
    /// Its parameters (arguments), body, and what it returns (yields).
    pub body: Region,
    /// What the plan says of calls.
    pub inlining: Inlining,
}

/// Where a private array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The stack frame of the one function that uses it.
    Stack,
    /// The worker's workspace, this many bytes from its start (a multiple of 64).
    Worker {
        /// Bytes from the start.
        offset: u64,
    },
}

/// One private array. What it holds before the first store means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayData {
    /// A name for people.
    pub name: String,
    /// What a slot holds.
    pub elem: Elem,
    /// Whether a slot is one value or one a lane.
    pub shape: Shape,
    /// How many slots, at least 1.
    pub slots: u32,
    /// Where it lives.
    pub space: Space,
}

/// An extent known to the compiler or read from the launch record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Known.
    Fixed(u32),
    /// A word of the launch record.
    Word(u32),
}

/// A function that the caller starts, with the packets it may be given.
///
/// The function takes `begin` and `end` (uniform i64) and runs packets `begin .. end`. There are
/// `product(extents but the last) * ceil(last / programs_per_packet)` packets, numbered in row-major order; no extents: one.
/// Entries run in order, each after all packets of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The function.
    pub function: Function,
    /// The root domain, outermost first.
    pub extents: Vec<Extent>,
    /// How many programs along the last extent share a packet.
    pub programs_per_packet: u32,
}

/// One kernel over packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// How many lanes a varying value has.
    pub lanes: Lanes,
    pub(crate) values: Vec<ValueData>,
    pub(crate) ops: Vec<OpData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) functions: Vec<FunctionData>,
    pub(crate) arrays: Vec<ArrayData>,
    /// What the caller starts, in order.
    pub entries: Vec<Entry>,
    /// Bytes of workspace a worker needs.
    pub worker_bytes: u64,
    /// Bytes of shared workspace a packet needs.
    pub shared_bytes_per_packet: u64,
}

impl Program {
    /// An empty program.
    pub fn new(name: impl Into<String>, lanes: Lanes) -> Program {
        Program {
            name: name.into(),
            lanes,
            values: Vec::new(),
            ops: Vec::new(),
            regions: Vec::new(),
            functions: Vec::new(),
            arrays: Vec::new(),
            entries: Vec::new(),
            worker_bytes: 0,
            shared_bytes_per_packet: 0,
        }
    }

    /// Adds an empty region.
    pub fn add_region(&mut self) -> Region {
        self.regions.push(RegionData::default());
        Region::from_index(self.regions.len() - 1)
    }

    /// Adds an argument to a region.
    pub fn add_arg(&mut self, region: Region, ty: Type) -> Value {
        let index = self.regions[region.index()].args.len() as u32;
        let value = self.add_value(ty, Definition::Argument { region, index });
        self.regions[region.index()].args.push(value);
        value
    }

    fn add_value(&mut self, ty: Type, definition: Definition) -> Value {
        self.values.push(ValueData { ty, definition });
        Value::from_index(self.values.len() - 1)
    }

    /// Makes an operation that stands in no region yet.
    pub fn make_op(&mut self, kind: OpKind, results: &[Type]) -> Op {
        let op = Op::from_index(self.ops.len());
        let results = results
            .iter()
            .enumerate()
            .map(|(index, &ty)| {
                self.add_value(
                    ty,
                    Definition::Result {
                        op,
                        index: index as u32,
                    },
                )
            })
            .collect();
        self.ops.push(OpData { kind, results });
        op
    }

    /// Appends an operation to a region.
    pub fn append(&mut self, region: Region, kind: OpKind, results: &[Type]) -> Op {
        let op = self.make_op(kind, results);
        self.regions[region.index()].ops.push(op);
        op
    }

    /// Adds a function with an empty body.
    pub fn add_function(&mut self, name: impl Into<String>, inlining: Inlining) -> Function {
        let body = self.add_region();
        self.functions.push(FunctionData {
            name: name.into(),
            body,
            inlining,
        });
        Function::from_index(self.functions.len() - 1)
    }

    /// Adds a private array.
    pub fn add_array(&mut self, data: ArrayData) -> Array {
        self.arrays.push(data);
        Array::from_index(self.arrays.len() - 1)
    }

    /// One value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// One operation.
    pub fn op(&self, op: Op) -> &OpData {
        &self.ops[op.index()]
    }

    /// One operation, to change.
    pub fn op_mut(&mut self, op: Op) -> &mut OpData {
        &mut self.ops[op.index()]
    }

    /// One region.
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region.index()]
    }

    /// One region, to change.
    pub fn region_mut(&mut self, region: Region) -> &mut RegionData {
        &mut self.regions[region.index()]
    }

    /// One function.
    pub fn function(&self, function: Function) -> &FunctionData {
        &self.functions[function.index()]
    }

    /// One array.
    pub fn array(&self, array: Array) -> &ArrayData {
        &self.arrays[array.index()]
    }

    /// One array, to change.
    pub fn array_mut(&mut self, array: Array) -> &mut ArrayData {
        &mut self.arrays[array.index()]
    }

    /// How many values there are.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// How many operations were made.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// How many regions there are.
    pub fn region_count(&self) -> usize {
        self.regions.len()
    }

    /// Every function, in order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = Function> + use<> {
        (0..self.functions.len()).map(Function::from_index)
    }

    /// Every array, in order.
    pub fn arrays(&self) -> impl ExactSizeIterator<Item = Array> + use<> {
        (0..self.arrays.len()).map(Array::from_index)
    }

    /// Keeps the results of an operation for which `keep` holds, given their number.
    pub fn retain_results(&mut self, op: Op, mut keep: impl FnMut(usize) -> bool) {
        let mut index = 0;
        self.ops[op.index()].results.retain(|_| {
            index += 1;
            keep(index - 1)
        });
        for (index, &value) in self.ops[op.index()].results.iter().enumerate() {
            let index = index as u32;
            self.values[value.index()].definition = Definition::Result { op, index };
        }
    }

    /// Keeps the arguments of a region for which `keep` holds, given their number.
    pub fn retain_args(&mut self, region: Region, mut keep: impl FnMut(usize) -> bool) {
        let mut index = 0;
        self.regions[region.index()].args.retain(|_| {
            index += 1;
            keep(index - 1)
        });
        for (index, &value) in self.regions[region.index()].args.iter().enumerate() {
            let index = index as u32;
            self.values[value.index()].definition = Definition::Argument { region, index };
        }
    }

    /// Removes functions that no entry reaches through calls; calls and entries follow. A program without entries keeps
    /// all.
    pub fn drop_unreachable_functions(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        let mut reached = vec![false; self.functions.len()];
        let mut pending: Vec<Function> = self.entries.iter().map(|entry| entry.function).collect();
        while let Some(function) = pending.pop() {
            if !std::mem::replace(&mut reached[function.index()], true) {
                self.visit_ops(self.function(function).body, &mut |kind| {
                    if let OpKind::Call { function, .. } = kind {
                        pending.push(*function);
                    }
                });
            }
        }
        if reached.iter().all(|&kept| kept) {
            return;
        }
        let mut next = 0;
        let moved: Vec<Function> = reached
            .iter()
            .map(|&kept| {
                next += usize::from(kept);
                Function::from_index(next.saturating_sub(1))
            })
            .collect();
        let mut index = 0;
        self.functions.retain(|_| {
            index += 1;
            reached[index - 1]
        });
        for entry in &mut self.entries {
            entry.function = moved[entry.function.index()];
        }
        for op in &mut self.ops {
            if let OpKind::Call { function, .. } = &mut op.kind
                && let Some(&to) = moved.get(function.index())
            {
                *function = to;
            }
        }
    }

    /// Removes private arrays for which `keep` doesn't hold; no operation that counts may use them.
    pub fn retain_arrays(&mut self, mut keep: impl FnMut(Array) -> bool) {
        let kept: Vec<bool> = self.arrays().map(&mut keep).collect();
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let mut next = 0;
        let moved: Vec<Array> = kept
            .iter()
            .map(|&kept| {
                next += usize::from(kept);
                Array::from_index(next.saturating_sub(1_usize))
            })
            .collect();
        let mut index = 0;
        self.arrays.retain(|_| {
            index += 1;
            kept[index - 1]
        });
        for op in &mut self.ops {
            if let OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array) = &mut op.kind
                && let Some(&to) = moved.get(array.index())
            {
                *array = to;
            }
        }
    }

    /// Shows what each operation of a region does, those of inner regions after their owner.
    pub fn visit_ops(&self, region: Region, f: &mut impl FnMut(&OpKind)) {
        for &op in &self.region(region).ops {
            let kind = &self.op(op).kind;
            f(kind);
            kind.visit_regions(|inner| self.visit_ops(inner, f));
        }
    }

    /// Bytes a private array takes: its slots, of four or eight bytes a lane, rounded up to 64 in the whole.
    pub fn array_bytes(&self, array: Array) -> u64 {
        let data = self.array(array);
        let bytes = match data.elem {
            Elem::F32 | Elem::I32 | Elem::Bool => 4,
            Elem::F64 | Elem::I64 => 8,
        };
        let lanes = match data.shape {
            Shape::Uniform => 1,
            Shape::Varying => u64::from(self.lanes.get()),
        };
        (u64::from(data.slots) * lanes * bytes).next_multiple_of(64)
    }
}
