//! The walk that rewriting passes share: each operation in program order, operands replaced, one decision.
//!
//! A pass sees an operation after its operands were replaced by what stands for them now, and answers with a [`Fate`]. What
//! it emits lands just before the operation. So one walk does a whole pass, in time linear in the program, and a rule
//! reads like mathematics: the operation on the left, what replaces it on the right.

use xir::{Constant, Definition, Op, OpKind, Program, Region, Shape, Type, Value};

/// What becomes of the operation at hand.
pub(crate) enum Fate {
    /// It stays, perhaps changed.
    Keep,
    /// It goes; its results were replaced.
    Drop,
    /// The operations of this region stand in its place, its results are what the region yields.
    Inline(Region),
}

/// One rewriting pass.
pub(crate) trait Rewrite {
    /// Decides about an operation whose operands are up to date.
    fn op(&mut self, cursor: &mut Cursor<'_>, op: Op) -> Fate;

    /// A region of an operation that stays begins.
    fn enter(&mut self, _cursor: &Cursor<'_>, _owner: Op, _region: Region) {}

    /// A region of an operation that stays ends.
    fn leave(&mut self, _cursor: &Cursor<'_>, _owner: Op, _region: Region) {}

    /// The body of a function begins.
    fn function(&mut self, _cursor: &Cursor<'_>) {}
}

/// Walks every function.
pub(crate) fn rewrite(program: &mut Program, pass: &mut impl Rewrite) {
    let values = (0..program.value_count()).map(Value::from_index).collect();
    let mut cursor = Cursor {
        program,
        replacement: values,
        list: Vec::new(),
    };
    for function in cursor.program.functions() {
        let body = cursor.program.function(function).body;
        pass.function(&cursor);
        cursor.region(body, pass);
    }
}

/// A place in the program, and what values were replaced by.
pub(crate) struct Cursor<'p> {
    pub(crate) program: &'p mut Program,
    replacement: Vec<Value>,
    /// The operations so far of the region at hand.
    list: Vec<Op>,
}

impl Cursor<'_> {
    fn region(&mut self, region: Region, pass: &mut impl Rewrite) {
        let ops = std::mem::take(&mut self.program.region_mut(region).ops);
        let outer = std::mem::replace(&mut self.list, Vec::with_capacity(ops.len()));
        for op in ops {
            self.visit(op, pass);
        }
        self.program.region_mut(region).ops = std::mem::replace(&mut self.list, outer);
        let mut yields = std::mem::take(&mut self.program.region_mut(region).yields);
        yields
            .iter_mut()
            .for_each(|value| *value = self.resolve(*value));
        self.program.region_mut(region).yields = yields;
    }

    fn visit(&mut self, op: Op, pass: &mut impl Rewrite) {
        let replacement = &self.replacement;
        self.program
            .op_mut(op)
            .kind
            .visit_operands_mut(|value| *value = resolve(replacement, *value));
        match pass.op(self, op) {
            Fate::Keep => {
                let mut regions = [None; 2];
                let mut count = 0;
                self.program.op(op).kind.visit_regions(|region| {
                    regions[count] = Some(region);
                    count += 1;
                });
                for region in regions.into_iter().flatten() {
                    pass.enter(self, op, region);
                    self.region(region, pass);
                    pass.leave(self, op, region);
                }
                self.list.push(op);
            }
            Fate::Drop => {}
            Fate::Inline(region) => {
                for inner in std::mem::take(&mut self.program.region_mut(region).ops) {
                    self.visit(inner, pass);
                }
                for index in 0..self.program.op(op).results.len() {
                    let yielded = self.program.region(region).yields[index];
                    let result = self.program.op(op).results[index];
                    self.replace(result, yielded);
                }
            }
        }
    }

    /// What stands for a value now.
    pub(crate) fn resolve(&self, value: Value) -> Value {
        resolve(&self.replacement, value)
    }

    /// From here on `to` stands for `from`.
    pub(crate) fn replace(&mut self, from: Value, to: Value) {
        let to = self.resolve(to);
        if let Some(entry) = self.replacement.get_mut(from.index()) {
            *entry = to;
        }
    }

    /// `to` stands for the one result of an operation, which goes.
    pub(crate) fn become_value(&mut self, op: Op, to: Value) -> Fate {
        let result = self.program.op(op).results[0];
        self.replace(result, to);
        Fate::Drop
    }

    /// The operation does something else now, with the same results.
    pub(crate) fn become_kind(&mut self, op: Op, kind: OpKind) -> Fate {
        self.program.op_mut(op).kind = kind;
        Fate::Keep
    }

    /// A new operation before the one at hand.
    pub(crate) fn emit(&mut self, kind: OpKind, ty: Type) -> Value {
        let op = self.program.make_op(kind, &[ty]);
        self.list.push(op);
        let value = self.program.op(op).results[0];
        self.replacement.push(value);
        value
    }

    /// A constant before the operation at hand.
    pub(crate) fn constant(&mut self, constant: Constant, shape: Shape) -> Value {
        let ty = Type {
            elem: constant.elem(),
            shape,
        };
        self.emit(OpKind::Const(constant, shape), ty)
    }

    /// The type of a value.
    pub(crate) fn ty(&self, value: Value) -> Type {
        self.program.ty(value)
    }

    /// The operation that makes a value, unless a region takes it as an argument.
    pub(crate) fn kind_of(&self, value: Value) -> Option<&OpKind> {
        kind_of(self.program, value)
    }

    /// The constant that every lane of a value holds, if known.
    pub(crate) fn constant_of(&self, value: Value) -> Option<Constant> {
        constant_of(self.program, value)
    }
}

fn resolve(replacement: &[Value], value: Value) -> Value {
    let mut at = value;
    while let Some(&next) = replacement.get(at.index())
        && next != at
    {
        at = next;
    }
    at
}

/// The operation that makes a value, unless a region takes it as an argument.
pub(crate) fn kind_of(program: &Program, value: Value) -> Option<&OpKind> {
    match program.value(value).definition {
        Definition::Result { op, .. } => Some(&program.op(op).kind),
        Definition::Argument { .. } => None,
    }
}

/// The constant that every lane of a value holds, if known.
pub(crate) fn constant_of(program: &Program, value: Value) -> Option<Constant> {
    match kind_of(program, value) {
        Some(&OpKind::Const(constant, _)) => Some(constant),
        _ => None,
    }
}

/// The trip count of a loop whose bounds are constants.
pub(crate) fn trips(program: &Program, kind: &OpKind) -> Option<u64> {
    let OpKind::Loop {
        lower, upper, step, ..
    } = kind
    else {
        return None;
    };
    let Some(Constant::I64(lower)) = constant_of(program, *lower) else {
        return None;
    };
    let Some(Constant::I64(upper)) = constant_of(program, *upper) else {
        return None;
    };
    if lower >= upper {
        return Some(0);
    }
    Some(upper.abs_diff(lower).div_ceil(step.unsigned_abs()))
}
