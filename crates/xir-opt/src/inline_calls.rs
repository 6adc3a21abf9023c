//! `inline_calls`: a function that the plan calls inlined stands in place of its calls.
//!
//! Callees come first, so that what is copied holds no calls to inline any more. A stack array of the function belongs to the
//! caller's frame from then on; when several functions get a copy each, each gets arrays of its own.
//!
//! Keeps: results, effects and their order, bit for bit; outlined functions. Breaks: function keys, since functions that no
//! entry reaches any more are removed.

use xir::{Array, Function, Inlining, Op, OpKind, Program, Region, Space};

use crate::copy::Copies;

/// Inlines in every function, and removes functions that are not reached any more.
pub fn inline_calls(program: &mut Program) {
    let mut called = false;
    for function in program.functions() {
        program.visit_ops(program.function(function).body, &mut |kind| {
            called |= matches!(kind, OpKind::Call { .. });
        });
    }
    if !called {
        return;
    }
    let mut pass = InlineCalls {
        done: vec![false; program.functions().len()],
        owners: array_owners(program),
        twins: Vec::new(),
        copies: Copies::of(program),
    };
    for function in program.functions() {
        pass.function(program, function);
    }
    program.drop_unreachable_functions();
}

struct InlineCalls {
    done: Vec<bool>,
    /// The function in whose frame each stack array lies now.
    owners: Vec<Option<Function>>,
    /// For a caller and an array of what it inlined: the array it uses instead, for one copy after the other.
    twins: Vec<(Function, Array, Array)>,
    copies: Copies,
}

impl InlineCalls {
    fn function(&mut self, program: &mut Program, function: Function) {
        if !std::mem::replace(&mut self.done[function.index()], true) {
            self.region(program, function, program.function(function).body);
        }
    }

    fn region(&mut self, program: &mut Program, caller: Function, region: Region) {
        let ops = std::mem::take(&mut program.region_mut(region).ops);
        let mut list = Vec::with_capacity(ops.len());
        for op in ops {
            // Results of calls before were replaced.
            let mut kind = program.op(op).kind.clone();
            kind.visit_operands_mut(|value| *value = self.copies.get(*value));
            program.op_mut(op).kind = kind;
            let kind = &program.op(op).kind;
            if let OpKind::Call { function, .. } = kind {
                let callee = *function;
                self.function(program, callee);
                if program.function(callee).inlining == Inlining::Inline {
                    self.inline(program, caller, op, callee, &mut list);
                    continue;
                }
            }
            for inner in program.op(op).kind.regions() {
                self.region(program, caller, inner);
            }
            list.push(op);
        }
        program.region_mut(region).ops = list;
        let yields = self.copies.yields(program, region);
        program.region_mut(region).yields = yields;
    }

    fn inline(
        &mut self,
        program: &mut Program,
        caller: Function,
        call: Op,
        callee: Function,
        list: &mut Vec<Op>,
    ) {
        let OpKind::Call { args, .. } = program.op(call).kind.clone() else {
            return;
        };
        let body = program.function(callee).body;
        for (index, arg) in args.into_iter().enumerate() {
            let param = program.region(body).args[index];
            self.copies.set(param, arg);
        }
        let copy = self.copies.ops(program, body);
        self.move_arrays(program, caller, &copy);
        list.extend(copy);
        let yields = self.copies.yields(program, body);
        for (index, yielded) in yields.into_iter().enumerate() {
            let result = program.op(call).results[index];
            self.copies.set(result, yielded);
        }
    }

    /// Stack arrays that a copy uses move into the caller's frame, or get a twin there.
    fn move_arrays(&mut self, program: &mut Program, caller: Function, copy: &[Op]) {
        let mut pending: Vec<Op> = copy.to_vec();
        while let Some(op) = pending.pop() {
            for region in program.op(op).kind.regions() {
                pending.extend(&program.region(region).ops);
            }
            let (OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array)) = program.op(op).kind
            else {
                continue;
            };
            if program.array(array).space != Space::Stack
                || self.owners[array.index()] == Some(caller)
            {
                continue;
            }
            let known = self
                .twins
                .iter()
                .find(|(of, from, _)| *of == caller && *from == array);
            let twin = match known {
                Some((_, _, twin)) => *twin,
                None => {
                    let twin = program.add_array(program.array(array).clone());
                    self.owners.push(Some(caller));
                    self.twins.push((caller, array, twin));
                    twin
                }
            };
            if let OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array) = &mut program.op_mut(op).kind
            {
                *array = twin;
            }
        }
    }
}

fn array_owners(program: &Program) -> Vec<Option<Function>> {
    let mut owners = vec![None; program.arrays().len()];
    for function in program.functions() {
        program.visit_ops(program.function(function).body, &mut |kind| {
            if let OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array) = kind
            {
                owners[array.index()] = Some(function);
            }
        });
    }
    owners
}
