//! Appends operations to a program one call at a time, with result types found and trivial work left out.
//!
//! Lowering writes long straight lines of address arithmetic and vector math. Spelling each result type, splat and
//! region by hand would bury the idea, and multiplying by a constant 1 a thousand times would make every later pass
//! slower. So each helper computes the type of its result, splats a uniform operand that meets a varying one, and folds
//! what is known on the spot: integers and truth values exactly, floats never.
//!
//! The builder checks nothing: a wrong program is found by the verifier, which names the rule.

mod control;
mod elementwise;
mod memory;

use crate::keys::{Function, Region, Value};
use crate::ops::{Constant, Elem, OpKind, Shape, Type, Workspace};
use crate::program::{Definition, Inlining, Program};

/// Appends to the region on top of a stack of open regions.
pub struct Builder<'p> {
    program: &'p mut Program,
    open: Vec<Region>,
}

impl<'p> Builder<'p> {
    /// Appends to the body of a function.
    pub fn new(program: &'p mut Program, function: Function) -> Builder<'p> {
        let body = program.function(function).body;
        Builder {
            program,
            open: vec![body],
        }
    }

    /// Adds a function: `body` gets its parameters and gives back what it returns.
    pub fn define(
        program: &'p mut Program,
        name: impl Into<String>,
        inlining: Inlining,
        params: &[Type],
        body: impl FnOnce(&mut Builder<'p>, &[Value]) -> Vec<Value>,
    ) -> Function {
        let function = program.add_function(name, inlining);
        let region = program.function(function).body;
        let args: Vec<Value> = params
            .iter()
            .map(|&ty| program.add_arg(region, ty))
            .collect();
        let mut builder = Builder::new(program, function);
        let yields = body(&mut builder, &args);
        builder.finish(yields);
        function
    }

    /// Ends the function: it returns `yields`.
    pub fn finish(mut self, yields: Vec<Value>) {
        let _ = self.leave(yields);
    }

    /// The program so far.
    pub fn program(&self) -> &Program {
        self.program
    }

    /// The program so far, to add arrays, say.
    pub fn program_mut(&mut self) -> &mut Program {
        self.program
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.program.ty(value)
    }

    /// How many lanes a varying value has.
    pub fn lanes(&self) -> u32 {
        self.program.lanes.get()
    }

    /// The constant behind a value, splatted or not.
    pub fn constant_of(&self, value: Value) -> Option<Constant> {
        match self.kind_of(value)? {
            OpKind::Const(constant, _) => Some(*constant),
            _ => None,
        }
    }

    /// The i64 behind a uniform value, if it is a constant.
    pub fn i64_of(&self, value: Value) -> Option<i64> {
        match self.constant_of(value) {
            Some(Constant::I64(number)) => Some(number),
            _ => None,
        }
    }

    fn kind_of(&self, value: Value) -> Option<&OpKind> {
        match self.program.value(value).definition {
            Definition::Result { op, .. } => Some(&self.program.op(op).kind),
            Definition::Argument { .. } => None,
        }
    }

    /// Appends any operation with the given result types.
    pub fn push(&mut self, kind: OpKind, results: &[Type]) -> Vec<Value> {
        let region = self.region();
        let op = self.program.append(region, kind, results);
        self.program.op(op).results.clone()
    }

    fn push_one(&mut self, kind: OpKind, ty: Type) -> Value {
        let region = self.region();
        let op = self.program.append(region, kind, &[ty]);
        self.program.op(op).results[0]
    }

    fn push_none(&mut self, kind: OpKind) {
        let region = self.region();
        let _ = self.program.append(region, kind, &[]);
    }

    /// The region that is appended to.
    pub fn region(&self) -> Region {
        *self
            .open
            .last()
            .expect("builder: a region is open until `finish`")
    }

    /// Opens a new region; what follows is appended to it until [`Builder::leave`].
    pub fn enter(&mut self) -> Region {
        let region = self.program.add_region();
        self.open.push(region);
        region
    }

    /// Closes the region on top and sets what it yields.
    pub fn leave(&mut self, yields: Vec<Value>) -> Region {
        let region = self
            .open
            .pop()
            .expect("builder: `leave` closes a region that was entered");
        self.program.region_mut(region).yields = yields;
        region
    }
}

/// Constants and what the caller provides.
impl Builder<'_> {
    /// A constant of a shape.
    pub fn constant(&mut self, constant: Constant, shape: Shape) -> Value {
        self.push_one(
            OpKind::Const(constant, shape),
            Type {
                elem: constant.elem(),
                shape,
            },
        )
    }

    /// A uniform f32.
    pub fn f32(&mut self, value: f32) -> Value {
        self.constant(Constant::f32(value), Shape::Uniform)
    }

    /// A uniform f64.
    pub fn f64(&mut self, value: f64) -> Value {
        self.constant(Constant::f64(value), Shape::Uniform)
    }

    /// A uniform i32.
    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(Constant::I32(value), Shape::Uniform)
    }

    /// A uniform i64.
    pub fn i64(&mut self, value: i64) -> Value {
        self.constant(Constant::I64(value), Shape::Uniform)
    }

    /// A uniform truth value.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Constant::Bool(value), Shape::Uniform)
    }

    /// An f32 in every lane.
    pub fn splat_f32(&mut self, value: f32) -> Value {
        self.constant(Constant::f32(value), Shape::Varying)
    }

    /// An f64 in every lane.
    pub fn splat_f64(&mut self, value: f64) -> Value {
        self.constant(Constant::f64(value), Shape::Varying)
    }

    /// An i32 in every lane.
    pub fn splat_i32(&mut self, value: i32) -> Value {
        self.constant(Constant::I32(value), Shape::Varying)
    }

    /// An i64 in every lane.
    pub fn splat_i64(&mut self, value: i64) -> Value {
        self.constant(Constant::I64(value), Shape::Varying)
    }

    /// A truth value in every lane.
    pub fn splat_bool(&mut self, value: bool) -> Value {
        self.constant(Constant::Bool(value), Shape::Varying)
    }

    /// Word `word` of the launch record, read as `elem`.
    pub fn record(&mut self, word: u32, elem: Elem) -> Value {
        self.push_one(OpKind::Record { word, elem }, Type::uniform(elem))
    }

    /// The address of a workspace.
    pub fn workspace(&mut self, workspace: Workspace) -> Value {
        self.push_one(
            OpKind::WorkspaceAddress(workspace),
            Type::uniform(Elem::I64),
        )
    }

    /// Every lane gets the value; a varying value stays as it is.
    pub fn splat(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if ty.is_varying() {
            return value;
        }
        match self.constant_of(value) {
            Some(constant) => self.constant(constant, Shape::Varying),
            None => self.push_one(OpKind::Splat(value), Type::varying(ty.elem)),
        }
    }

    /// The value in a shape: splatted where it must be.
    pub fn in_shape(&mut self, value: Value, shape: Shape) -> Value {
        match shape {
            Shape::Uniform => value,
            Shape::Varying => self.splat(value),
        }
    }

    /// Both values in one shape: varying if one of them is.
    fn same_shape(&mut self, a: Value, b: Value) -> (Value, Value) {
        match (self.ty(a).shape, self.ty(b).shape) {
            (Shape::Uniform, Shape::Varying) => (self.splat(a), b),
            (Shape::Varying, Shape::Uniform) => (a, self.splat(b)),
            (Shape::Uniform, Shape::Uniform) | (Shape::Varying, Shape::Varying) => (a, b),
        }
    }
}
