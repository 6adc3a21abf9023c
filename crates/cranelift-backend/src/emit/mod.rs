//! Emits one function of a program as a Cranelift function.
//!
//! XIR is already structured and already scheduled, so emission is a walk in program order: each operation becomes a few
//! Cranelift operations for each chunk of its operands, loops and ifs become blocks with parameters. Nothing is moved.
//!
//! Every function has one signature: the launch record, its arguments chunk by chunk, the worker's workspace, the shared
//! workspace, and, if it gives results, where they go (16 bytes for each chunk). For a function that takes `begin` and
//! `end` this is the entry point's signature of `kernel-abi`, so an entry needs no wrapper.

mod arithmetic;
mod chunks;
mod compare;
mod control;
mod convert;
mod extremum;
mod integers;
mod lanes;
mod memory;
mod partial;
mod private;
mod survey;

use std::collections::BTreeMap;

use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, MemFlagsData, Signature, UserFuncName, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use xir::{Array, BinaryOp, Constant, Function, OpKind, Program, Region, Shape, Space, Value};

use crate::target::Target;
use chunks::{Chunks, held_as};
use survey::{ArrayUse, defining_kind, survey};

/// Where the chunks of each value of a program are; shared by all its functions, since each value belongs to one.
pub(crate) struct Values {
    spans: Vec<(u32, u8)>,
    pool: Vec<ir::Value>,
    /// How many accesses begin at each value, as far as the survey has come; two stand for more.
    accesses: Vec<u8>,
}

impl Values {
    /// None of a program's values has chunks yet.
    pub(crate) fn new(program: &Program) -> Values {
        Values {
            spans: vec![(0, 0); program.value_count()],
            pool: Vec::with_capacity(2 * program.value_count()),
            accesses: vec![0; program.value_count()],
        }
    }

    fn set(&mut self, value: Value, chunks: &[ir::Value]) {
        self.spans[value.index()] = (self.pool.len() as u32, chunks.len() as u8);
        self.pool.extend_from_slice(chunks);
    }

    fn get(&self, value: Value) -> Chunks {
        let (start, len) = self.spans[value.index()];
        self.pool[start as usize..][..usize::from(len)]
            .iter()
            .copied()
            .collect()
    }
}

/// Emits `function` into `into`, which is empty. Gives the bytes of stack that its private arrays take.
pub(crate) fn emit_function(
    program: &Program,
    target: &Target,
    function: Function,
    into: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    values: &mut Values,
) -> u64 {
    let data = program.function(function);
    into.signature = signature(program, target, data.body);
    into.name = UserFuncName::user(0, function.index() as u32);
    let mut emitter = Emitter::enter(program, target, data.body, into, context, values);
    emitter.region(data.body);
    let yields = &program.region(data.body).yields;
    emitter.give_results(yields);
    emitter.b.ins().return_(&[]);
    let bytes = emitter.stack_bytes;
    emitter.b.seal_all_blocks();
    emitter.b.finalize(target.isa().frontend_config());
    bytes
}

/// The signature of a function: record, arguments, workspaces, and where results go.
fn signature(program: &Program, target: &Target, body: Region) -> Signature {
    let mut signature = Signature::new(CallConv::triple_default(target.isa().triple()));
    let region = program.region(body);
    signature.params.push(AbiParam::new(types::I64));
    for &arg in &region.args {
        let (ty, count) = held_as(program.ty(arg), program.lanes);
        signature
            .params
            .extend(std::iter::repeat_n(AbiParam::new(ty), count));
    }
    signature.params.push(AbiParam::new(types::I64));
    signature.params.push(AbiParam::new(types::I64));
    if !region.yields.is_empty() {
        signature.params.push(AbiParam::new(types::I64));
    }
    signature
}

/// Where a private array is.
#[derive(Clone, Copy)]
enum Place {
    /// The function doesn't use it.
    Nowhere,
    /// In a stack slot; the address of slot 0 if a register holds it.
    Stack(ir::StackSlot, Option<ir::Value>),
    /// In the worker's workspace, this many bytes from its start; the address of slot 0 if a register holds it.
    Worker(u64, Option<ir::Value>),
}

struct Emitter<'a> {
    program: &'a Program,
    target: &'a Target,
    b: FunctionBuilder<'a>,
    values: &'a mut Values,
    record: ir::Value,
    worker: ir::Value,
    shared: ir::Value,
    /// Where results go, for a function that gives some.
    results: Option<ir::Value>,
    places: Vec<Place>,
    sign_of_f32: Option<ir::Value>,
    sign_of_f64: Option<ir::Value>,
    /// Where callees leave their results.
    call_results: Option<ir::StackSlot>,
    callees: BTreeMap<usize, ir::FuncRef>,
    hook_signature: Option<ir::SigRef>,
    /// Shifted numbers, made in an open region and so at hand in what follows there and in what it contains.
    shifted: Vec<(Value, u32, ir::Value)>,
    /// Addresses of slots, likewise.
    slots: Vec<(Array, Value, ir::Value)>,
    stack_bytes: u64,
}

/// An access that can't trap: views are bound before the code runs. Alignment is never claimed.
fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// A read of memory that nothing writes while the code runs.
fn steady() -> MemFlagsData {
    plain().with_readonly().with_can_move()
}

impl<'a> Emitter<'a> {
    /// Opens the entry block: parameters, stack slots, base addresses, masks.
    fn enter(
        program: &'a Program,
        target: &'a Target,
        body: Region,
        into: &'a mut ir::Function,
        context: &'a mut FunctionBuilderContext,
        values: &'a mut Values,
    ) -> Emitter<'a> {
        let survey = survey(program, body, &mut values.accesses);
        let mut b = FunctionBuilder::new(into, context);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        let params: Vec<ir::Value> = b.block_params(block).to_vec();

        let region = program.region(body);
        let mut at = 1;
        for &arg in &region.args {
            let (_, count) = held_as(program.ty(arg), program.lanes);
            values.set(arg, &params[at..at + count]);
            at += count;
        }
        let mut emitter = Emitter {
            program,
            target,
            b,
            values,
            record: params[0],
            worker: params[at],
            shared: params[at + 1],
            results: params.get(at + 2).copied(),
            places: Vec::new(),
            sign_of_f32: None,
            sign_of_f64: None,
            call_results: None,
            callees: BTreeMap::new(),
            hook_signature: None,
            shifted: Vec::new(),
            slots: Vec::new(),
            stack_bytes: 0,
        };
        emitter.place_arrays(&survey.arrays);
        if survey.sign_of_f32 {
            emitter.sign_of_f32 = Some(emitter.vector_constant(
                types::F32X4,
                &[0x8000_0000u32; 4].map(u32::to_le_bytes).concat(),
            ));
        }
        if survey.sign_of_f64 {
            emitter.sign_of_f64 = Some(emitter.vector_constant(
                types::F64X2,
                &[1u64 << 63; 2].map(u64::to_le_bytes).concat(),
            ));
        }
        if survey.result_bytes > 0 {
            emitter.call_results = Some(emitter.stack_slot(survey.result_bytes));
        }
        emitter
    }

    fn place_arrays(&mut self, uses: &[ArrayUse]) {
        for array in self.program.arrays() {
            let data = self.program.array(array);
            let array_use = uses[array.index()];
            let place = match (array_use, data.space) {
                (ArrayUse::Unused, _) => Place::Nowhere,
                (_, Space::Stack) => {
                    let bytes = u64::from(data.slots)
                        * u64::from(chunks::slot_bytes(
                            data.elem,
                            data.shape,
                            self.program.lanes,
                        ));
                    self.stack_bytes += bytes;
                    // The compiler refuses a frame this large afterwards; until then any size does.
                    let slot = self.stack_slot(u32::try_from(bytes).unwrap_or(16));
                    let base = (array_use == ArrayUse::VariableSlots)
                        .then(|| self.b.ins().stack_addr(types::I64, slot, 0));
                    Place::Stack(slot, base)
                }
                (_, Space::Worker { offset }) => {
                    let base = (array_use == ArrayUse::VariableSlots)
                        .then(|| self.add_bytes(self.worker, offset as i64));
                    Place::Worker(offset, base)
                }
            };
            self.places.push(place);
        }
    }

    fn stack_slot(&mut self, bytes: u32) -> ir::StackSlot {
        self.b.create_sized_stack_slot(ir::StackSlotData::new(
            ir::StackSlotKind::ExplicitSlot,
            bytes.next_multiple_of(16),
            4,
        ))
    }

    fn chunks(&mut self, value: Value) -> Chunks {
        match self.remade(value) {
            Some(constant) => Chunks::one(constant),
            None => self.values.get(value),
        }
    }

    /// The one chunk of a uniform value.
    fn scalar(&mut self, value: Value) -> ir::Value {
        match self.remade(value) {
            Some(constant) => constant,
            None => self.values.get(value)[0],
        }
    }

    /// A uniform integer constant, made where it is used: as part of an instruction or by one of its own, it is cheaper than
    /// a register held from afar, or a reload.
    fn remade(&mut self, value: Value) -> Option<ir::Value> {
        let Some(&OpKind::Const(constant, Shape::Uniform)) = defining_kind(self.program, value)
        else {
            return None;
        };
        match constant {
            Constant::I32(_) | Constant::I64(_) | Constant::Bool(_) => {
                Some(self.constant(constant, Shape::Uniform)[0])
            }
            Constant::F32(_) | Constant::F64(_) => None,
        }
    }

    fn lanes(&self) -> u32 {
        self.program.lanes.get()
    }

    /// An integer constant.
    fn int(&mut self, ty: ir::Type, number: i64) -> ir::Value {
        let number = match ty.bits() {
            64 => number,
            bits => number & ((1 << bits) - 1),
        };
        self.b.ins().iconst(ty, number)
    }

    /// A vector constant from its 16 bytes.
    fn vector_constant(&mut self, ty: ir::Type, bytes: &[u8]) -> ir::Value {
        let constant = self.b.func.dfg.constants.insert(bytes.into());
        self.b.ins().vconst(ty, constant)
    }

    /// All lanes zero.
    fn zero(&mut self, ty: ir::Type) -> ir::Value {
        if ty.is_vector() {
            self.vector_constant(ty, &[0; 16])
        } else if ty == types::F32 {
            self.b.ins().f32const(0.0)
        } else if ty == types::F64 {
            self.b.ins().f64const(0.0)
        } else {
            self.int(ty, 0)
        }
    }

    /// The same bits as another vector type.
    fn as_type(&mut self, ty: ir::Type, value: ir::Value) -> ir::Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = if ty.is_vector() {
            MemFlagsData::new().with_endianness(ir::Endianness::Little)
        } else {
            MemFlagsData::new()
        };
        self.b.ins().bitcast(ty, flags, value)
    }

    /// An address a known number of bytes on.
    fn add_bytes(&mut self, address: ir::Value, bytes: i64) -> ir::Value {
        if bytes == 0 {
            return address;
        }
        let bytes = self.int(types::I64, bytes);
        self.b.ins().iadd(address, bytes)
    }

    /// Emits the operations of a region.
    fn region(&mut self, region: Region) {
        let depth = (self.shifted.len(), self.slots.len());
        let program = self.program;
        for &op in &program.region(region).ops {
            let data = program.op(op);
            let chunks = self.op(&data.kind, &data.results);
            if let [result] = data.results[..]
                && let Some(chunks) = chunks
            {
                self.values.set(result, &chunks);
            }
        }
        self.shifted.truncate(depth.0);
        self.slots.truncate(depth.1);
    }

    /// Emits one operation. Those with one result give its chunks; the others set their results themselves.
    fn op(&mut self, kind: &OpKind, results: &[Value]) -> Option<Chunks> {
        let chunks = match kind {
            // See `remade`.
            OpKind::Const(
                Constant::I32(_) | Constant::I64(_) | Constant::Bool(_),
                Shape::Uniform,
            ) => Chunks::new(),
            OpKind::Const(constant, shape) => self.constant(*constant, *shape),
            OpKind::Record { word, elem } => Chunks::one(self.record_word(*word, *elem)),
            OpKind::WorkspaceAddress(workspace) => Chunks::one(match workspace {
                xir::Workspace::Worker => self.worker,
                xir::Workspace::Shared => self.shared,
            }),
            OpKind::Unary(op, a) => self.unary(*op, *a),
            OpKind::Binary(op, a, b) => {
                let chunks = self.binary(*op, *a, *b);
                match results {
                    [sum] if *op == BinaryOp::Add => self.shared_address(*sum, chunks),
                    _ => chunks,
                }
            }
            OpKind::Compare(op, a, b) => self.compare(*op, *a, *b),
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => self.select(*condition, *then, *otherwise),
            OpKind::Fma(a, b, c) => self.fma(*a, *b, *c),
            OpKind::Convert(op, a) => self.convert(*op, *a),
            OpKind::Splat(a) => self.splat(*a),
            OpKind::LaneIndex => self.lane_index(),
            OpKind::Lane { of, lane } => Chunks::one(self.lane(*of, *lane)),
            OpKind::Any(mask) => Chunks::one(self.any(*mask)),
            OpKind::Build(values) => self.build(values),
            OpKind::Shuffle { a, b, pattern } => self.shuffle(*a, *b, pattern),
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            } => {
                let flags = if *invariant { steady() } else { plain() };
                let address = self.address_of(*address, *displacement);
                self.load(*mem, *access, address, *mask, flags)
            }
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask,
                value,
            } => {
                let address = self.address_of(*address, *displacement);
                self.store(*mem, *access, address, *mask, *value);
                return None;
            }
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            } => self.private_load(*array, *slot, *offset),
            OpKind::PrivateStore {
                array,
                slot,
                offset,
                value,
            } => {
                self.private_store(*array, *slot, *offset, *value);
                return None;
            }
            OpKind::PrivateAddress(array) => Chunks::one(self.private_address(*array)),
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            } => {
                self.loop_(*lower, *upper, *step, inits, *body, results);
                return None;
            }
            OpKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.if_(*condition, *then, *otherwise, results);
                return None;
            }
            OpKind::Call { function, args } => {
                self.call(*function, args, results);
                return None;
            }
            OpKind::Opaque { id, first, count } => {
                self.opaque(*id, *first, *count);
                return None;
            }
        };
        Some(chunks)
    }
}
