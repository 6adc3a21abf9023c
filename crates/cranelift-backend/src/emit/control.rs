//! Loops, ifs, calls and the caller's hook.
//!
//! A loop tests at its bottom, so that an iteration runs one branch, and is guarded at its top unless it surely runs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, ExtFuncData, ExternalName, InstBuilder, Signature, UserExternalName, types,
};
use cranelift_codegen::isa::CallConv;
use kernel_abi::{HOOK_CONTEXT_WORD, HOOK_WORD};
use xir::{Elem, Function, OpKind, Region, UnaryOp, Value};

use super::chunks::{Chunks, held_as};
use super::memory::Address;
use super::survey::{BlockArgs, defining_kind, i64_of};
use super::{Emitter, plain, signature};

impl Emitter<'_> {
    /// Chunks of several values as arguments of a block.
    fn block_args(&mut self, values: &[Value]) -> BlockArgs {
        let mut args = BlockArgs::new();
        for &value in values {
            args.extend(
                self.chunks(value)
                    .iter()
                    .map(|&chunk| ir::BlockArg::from(chunk)),
            );
        }
        args
    }

    /// Gives a block one parameter for each chunk of `values`, which then are those parameters.
    fn define_params(&mut self, block: ir::Block, values: &[Value]) {
        for &value in values {
            let (ty, count) = held_as(self.program.ty(value), self.program.lanes);
            let chunks: Chunks = (0..count)
                .map(|_| self.b.append_block_param(block, ty))
                .collect();
            self.values.set(value, &chunks);
        }
    }

    pub(super) fn loop_(
        &mut self,
        lower: Value,
        upper: Value,
        step: i64,
        inits: &[Value],
        body: Region,
        results: &[Value],
    ) {
        let program = self.program;
        let bounds = (i64_of(program, lower), i64_of(program, upper));
        let surely_runs = matches!(bounds, (Some(lower), Some(upper)) if lower < upper);
        let (first, bound) = (self.scalar(lower), self.scalar(upper));
        let (inside, after) = (self.b.create_block(), self.b.create_block());
        let args = &program.region(body).args;
        self.define_params(inside, args);
        self.define_params(after, results);

        let start = self.block_args(inits);
        let mut enter: BlockArgs = vec![first.into()];
        enter.extend_from_slice(&start);
        if surely_runs {
            self.b.ins().jump(inside, &enter);
        } else {
            let runs = self.b.ins().icmp(IntCC::SignedLessThan, first, bound);
            self.b.ins().brif(runs, inside, &enter, after, &start);
        }

        self.b.switch_to_block(inside);
        self.region(body);
        let counter = self.scalar(args[0]);
        let next = self.add_bytes(counter, step);
        let carried = self.block_args(&program.region(body).yields);
        let mut again: BlockArgs = vec![next.into()];
        again.extend_from_slice(&carried);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, bound);
        self.b.ins().brif(more, inside, &again, after, &carried);

        self.b.switch_to_block(after);
    }

    /// Skips negations: the value to branch on, and whether it is the opposite of what was asked.
    fn branch_on(&self, condition: Value) -> (Value, bool) {
        let (mut condition, mut opposite) = (condition, false);
        while let Some(&OpKind::Unary(UnaryOp::Not, inner)) = defining_kind(self.program, condition)
        {
            condition = inner;
            opposite = !opposite;
        }
        (condition, opposite)
    }

    pub(super) fn if_(
        &mut self,
        condition: Value,
        then: Region,
        otherwise: Region,
        results: &[Value],
    ) {
        let program = self.program;
        let (condition, opposite) = self.branch_on(condition);
        let condition = self.scalar(condition);
        let merge = self.b.create_block();
        self.define_params(merge, results);
        // A region without operations needs no block: its yields were made before.
        let arm = |emitter: &mut Self, region: Region| {
            let data = program.region(region);
            if data.ops.is_empty() {
                (merge, emitter.block_args(&data.yields))
            } else {
                (emitter.b.create_block(), BlockArgs::new())
            }
        };
        let (then_block, then_args) = arm(self, then);
        let (else_block, else_args) = arm(self, otherwise);
        if opposite {
            self.b
                .ins()
                .brif(condition, else_block, &else_args, then_block, &then_args);
        } else {
            self.b
                .ins()
                .brif(condition, then_block, &then_args, else_block, &else_args);
        }
        for (block, region) in [(then_block, then), (else_block, otherwise)] {
            if block == merge {
                continue;
            }
            self.b.switch_to_block(block);
            self.region(region);
            let yields = self.block_args(&program.region(region).yields);
            self.b.ins().jump(merge, &yields);
        }
        self.b.switch_to_block(merge);
    }

    pub(super) fn call(&mut self, function: Function, args: &[Value], results: &[Value]) {
        let callee = self.callee(function);
        let mut list = vec![self.record];
        for &arg in args {
            list.extend_from_slice(&self.chunks(arg));
        }
        list.push(self.worker);
        list.push(self.shared);
        let given = match (results, self.call_results) {
            ([], _) | (_, None) => None,
            (_, Some(slot)) => Some(self.b.ins().stack_addr(types::I64, slot, 0)),
        };
        list.extend(given);
        self.b.ins().call(callee, &list);
        let Some(given) = given else {
            return;
        };
        let mut at = Address::new(given, 0);
        for &result in results {
            let (ty, count) = held_as(self.program.ty(result), self.program.lanes);
            let mut chunks = Chunks::new();
            for _ in 0..count {
                chunks.push(self.load_type(ty, at, plain()));
                at = at.plus(16);
            }
            self.values.set(result, &chunks);
        }
    }

    /// Leaves a function's results where its caller looks for them.
    pub(super) fn give_results(&mut self, yields: &[Value]) {
        let Some(results) = self.results else {
            return;
        };
        let mut at = Address::new(results, 0);
        for &value in yields {
            for &chunk in self.chunks(value).iter() {
                self.store_value(chunk, at);
                at = at.plus(16);
            }
        }
    }

    fn callee(&mut self, function: Function) -> ir::FuncRef {
        let index = function.index();
        if let Some(&callee) = self.callees.get(&index) {
            return callee;
        }
        let body = self.program.function(function).body;
        let signature = signature(self.program, self.target, body);
        let signature = self.b.import_signature(signature);
        let name = self
            .b
            .func
            .declare_imported_user_function(UserExternalName::new(0, index as u32));
        let callee = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        });
        self.callees.insert(index, callee);
        callee
    }

    pub(super) fn opaque(&mut self, id: u32, first: Value, count: Value) {
        let hook = self.record_word(HOOK_WORD, Elem::I64);
        let (calls, after) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(hook, calls, &[], after, &[]);

        self.b.switch_to_block(calls);
        let signature = self.hook_signature();
        let context = self.record_word(HOOK_CONTEXT_WORD, Elem::I64);
        let id = self.int(types::I32, i64::from(id));
        let (first, count) = (self.scalar(first), self.scalar(count));
        self.b
            .ins()
            .call_indirect(signature, hook, &[context, id, first, count]);
        self.b.ins().jump(after, &[]);

        self.b.switch_to_block(after);
    }

    fn hook_signature(&mut self) -> ir::SigRef {
        if let Some(signature) = self.hook_signature {
            return signature;
        }
        let mut signature = Signature::new(CallConv::triple_default(self.target.isa().triple()));
        signature.params.extend([
            AbiParam::new(types::I64),
            AbiParam::new(types::I32),
            AbiParam::new(types::I64),
            AbiParam::new(types::I64),
        ]);
        let signature = self.b.import_signature(signature);
        self.hook_signature = Some(signature);
        signature
    }
}
