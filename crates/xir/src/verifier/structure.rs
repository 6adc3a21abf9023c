//! Rules of tables and scope: foreign-key, one-home, nesting, defined-before, recursion, function-name.

use hashbrown::HashSet;

use super::{Rule, Violations};
use crate::keys::{Function, Op, Region, Value};
use crate::ops::OpKind;
use crate::program::{Definition, Program};

/// How deep regions may nest.
const DEEPEST: usize = 64;

pub(super) fn check(program: &Program, violations: &mut Violations) {
    let mut check = Check {
        program,
        violations,
        placed_ops: vec![false; program.op_count()],
        placed_regions: vec![false; program.region_count()],
        visible: vec![false; program.value_count()],
        calls: vec![Vec::new(); program.functions().len()],
        function: 0,
    };
    let mut names = HashSet::new();
    for function in program.functions() {
        check.function = function.index();
        let data = program.function(function);
        if data.name.is_empty() || !names.insert(data.name.as_str()) {
            let message = format!(
                "there is another function `{}`, or the name is empty",
                data.name
            );
            check.violations.add(Rule::FunctionName, message);
        }
        check.region(data.body, 0);
    }
    for entry in &program.entries {
        check.function_key(entry.function);
    }
    check.recursion();
}

struct Check<'a> {
    program: &'a Program,
    violations: &'a mut Violations,
    placed_ops: Vec<bool>,
    placed_regions: Vec<bool>,
    visible: Vec<bool>,
    /// Whom each function calls.
    calls: Vec<Vec<usize>>,
    function: usize,
}

impl Check<'_> {
    fn region(&mut self, region: Region, depth: usize) {
        let Some(placed) = self.placed_regions.get_mut(region.index()) else {
            return self
                .violations
                .add(Rule::ForeignKey, format!("there is no {region}"));
        };
        if std::mem::replace(placed, true) {
            return self
                .violations
                .add(Rule::OneHome, format!("{region} belongs to two"));
        }
        if depth > DEEPEST {
            return self
                .violations
                .add(Rule::Nesting, format!("{region} lies deeper"));
        }
        let program = self.program;
        let data = program.region(region);
        for (index, &arg) in data.args.iter().enumerate() {
            self.defines(
                arg,
                Definition::Argument {
                    region,
                    index: index as u32,
                },
            );
        }
        for &op in &data.ops {
            let Some(placed) = self.placed_ops.get_mut(op.index()) else {
                self.violations
                    .add(Rule::ForeignKey, format!("there is no {op}"));
                continue;
            };
            if std::mem::replace(placed, true) {
                self.violations
                    .add(Rule::OneHome, format!("{op} stands in two places"));
                continue;
            }
            self.op(op, depth);
        }
        for &value in &data.yields {
            if let Some(message) = self.unusable(value) {
                let rule = message.0;
                self.violations
                    .add(rule, format!("{} where {region} ends", message.1));
            }
        }
        // What a region defines is visible in it alone.
        for &arg in &data.args {
            self.hide(arg);
        }
        for &op in &data.ops {
            if op.index() < program.op_count() {
                program
                    .op(op)
                    .results
                    .iter()
                    .for_each(|&result| self.hide(result));
            }
        }
    }

    fn op(&mut self, op: Op, depth: usize) {
        let program = self.program;
        let data = program.op(op);
        let mut operands = Vec::new();
        data.kind.visit_operands(|value| operands.push(value));
        for value in operands {
            if let Some((rule, message)) = self.unusable(value) {
                self.violations.add(
                    rule,
                    format!("{message} in {op}, {}", self.words(&data.kind)),
                );
            }
        }
        let array = match data.kind {
            OpKind::PrivateLoad { array, .. }
            | OpKind::PrivateStore { array, .. }
            | OpKind::PrivateAddress(array) => Some(array),
            _ => None,
        };
        if let Some(array) = array
            && array.index() >= program.arrays().len()
        {
            self.violations
                .add(Rule::ForeignKey, format!("there is no {array}"));
        }
        if let OpKind::Call { function, .. } = data.kind
            && self.function_key(function)
        {
            self.calls[self.function].push(function.index());
        }
        data.kind
            .visit_regions(|region| self.region(region, depth + 1));
        for (index, &result) in data.results.iter().enumerate() {
            self.defines(
                result,
                Definition::Result {
                    op,
                    index: index as u32,
                },
            );
        }
    }

    fn words(&self, kind: &OpKind) -> &'static str {
        match kind {
            OpKind::Loop { .. } => "a loop",
            OpKind::If { .. } => "an if",
            OpKind::Call { .. } => "a call",
            _ => "an operation",
        }
    }

    fn function_key(&mut self, function: Function) -> bool {
        let known = function.index() < self.program.functions().len();
        if !known {
            self.violations
                .add(Rule::ForeignKey, format!("there is no {function}"));
        }
        known
    }

    fn defines(&mut self, value: Value, definition: Definition) {
        if value.index() >= self.visible.len() {
            return self
                .violations
                .add(Rule::ForeignKey, format!("there is no {value}"));
        }
        if self.program.value(value).definition != definition {
            let message = format!("the row of {value} names another maker");
            self.violations.add(Rule::OneHome, message);
        }
        self.visible[value.index()] = true;
    }

    fn hide(&mut self, value: Value) {
        if let Some(visible) = self.visible.get_mut(value.index()) {
            *visible = false;
        }
    }

    fn unusable(&self, value: Value) -> Option<(Rule, String)> {
        match self.visible.get(value.index()) {
            None => Some((Rule::ForeignKey, format!("there is no {value}"))),
            Some(false) => Some((Rule::DefinedBefore, format!("{value} isn't visible"))),
            Some(true) => None,
        }
    }

    /// Takes away functions that call nothing left; what remains is a circle or calls into one.
    fn recursion(&mut self) {
        let mut pending: Vec<usize> = self.calls.iter().map(Vec::len).collect();
        let mut callers = vec![Vec::new(); self.calls.len()];
        for (caller, calls) in self.calls.iter().enumerate() {
            for &callee in calls {
                callers[callee].push(caller);
            }
        }
        let mut done: Vec<usize> = (0..pending.len()).filter(|&f| pending[f] == 0).collect();
        while let Some(function) = done.pop() {
            for &caller in &callers[function] {
                pending[caller] -= 1;
                if pending[caller] == 0 {
                    done.push(caller);
                }
            }
        }
        for function in self.program.functions() {
            if pending[function.index()] != 0 {
                let name = &self.program.function(function).name;
                let message = format!("`{name}` calls itself, or one that does");
                self.violations.add(Rule::Recursion, message);
            }
        }
    }
}
