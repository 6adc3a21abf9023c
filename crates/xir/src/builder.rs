//! Appends operations to a program one call at a time, with result types found and trivial work left out.
//!
//! Lowering writes long straight lines of address arithmetic and vector math. Spelling each result type, splat and
//! region by hand would bury the idea, and multiplying by a constant 1 a thousand times would make every later pass
//! slower. So each helper computes the type of its result, splats a uniform operand that meets a varying one, and folds
//! what is known on the spot: integers and truth values exactly, floats never.
//!
//! The builder checks nothing: a wrong program is found by the verifier, which names the rule.

use crate::keys::{Array, Function, Region, Value};
use crate::ops::{
    Access, BinaryOp, CompareOp, Constant, ConvertOp, Elem, MemElem, OpKind, Shape, Type, UnaryOp,
    Workspace,
};
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

/// Elementwise operations. A uniform operand that meets a varying one is splatted.
impl Builder<'_> {
    /// Any operation of one operand.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.ty(a);
        if op == UnaryOp::Not {
            match self.kind_of(a) {
                Some(&OpKind::Const(Constant::Bool(value), shape)) => {
                    return self.constant(Constant::Bool(!value), shape);
                }
                Some(&OpKind::Unary(UnaryOp::Not, inner)) => return inner,
                _ => {}
            }
        }
        self.push_one(OpKind::Unary(op, a), ty)
    }

    /// Any operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let ty = self.ty(a);
        match ty.elem {
            Elem::F32 | Elem::F64 => {}
            Elem::I32 | Elem::I64 => {
                if let Some(known) = self.fold_integer(op, ty, a, b) {
                    return known;
                }
            }
            Elem::Bool => {
                if let Some(known) = self.fold_bool(op, a, b) {
                    return known;
                }
            }
        }
        self.push_one(OpKind::Binary(op, a, b), ty)
    }

    /// `x + 0`, `x - 0`, `x * 1`, `x * 0`, constants, and `(x + c) + d`.
    fn fold_integer(&mut self, op: BinaryOp, ty: Type, a: Value, b: Value) -> Option<Value> {
        let left = self.constant_of(a).and_then(integer);
        let right = self.constant_of(b).and_then(integer);
        if let (Some(x), Some(y)) = (left, right) {
            let result = match op {
                BinaryOp::Add => x.wrapping_add(y),
                BinaryOp::Sub => x.wrapping_sub(y),
                BinaryOp::Mul => x.wrapping_mul(y),
                BinaryOp::Min => x.min(y),
                BinaryOp::Max => x.max(y),
                BinaryOp::And => x & y,
                BinaryOp::Or => x | y,
                BinaryOp::Xor => x ^ y,
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::CopySign
                | BinaryOp::Shl
                | BinaryOp::ShrS
                | BinaryOp::ShrU => return None,
            };
            return Some(self.integer_constant(ty, result));
        }
        match (op, left, right) {
            (BinaryOp::Add, Some(0), None) => Some(b),
            (BinaryOp::Add | BinaryOp::Sub, None, Some(0)) => Some(a),
            (BinaryOp::Mul, Some(1), None) => Some(b),
            (BinaryOp::Mul, None, Some(1)) => Some(a),
            (BinaryOp::Mul, Some(0), None) => Some(a),
            (BinaryOp::Mul, None, Some(0)) => Some(b),
            (BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU, None, Some(0)) => Some(a),
            (BinaryOp::Add, None, Some(y)) => {
                let Some(&OpKind::Binary(BinaryOp::Add, inner, c)) = self.kind_of(a) else {
                    return None;
                };
                let x = self.constant_of(c).and_then(integer)?;
                let sum = self.integer_constant(ty, x.wrapping_add(y));
                Some(self.binary(BinaryOp::Add, inner, sum))
            }
            _ => None,
        }
    }

    fn integer_constant(&mut self, ty: Type, value: i64) -> Value {
        let constant = if ty.elem == Elem::I32 {
            Constant::I32(value as i32)
        } else {
            Constant::I64(value)
        };
        self.constant(constant, ty.shape)
    }

    fn fold_bool(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
        let (known, other) = match (self.constant_of(a), self.constant_of(b)) {
            (Some(Constant::Bool(known)), _) => ((known, a), b),
            (_, Some(Constant::Bool(known))) => ((known, b), a),
            _ => return None,
        };
        match (op, known.0) {
            (BinaryOp::And, true) | (BinaryOp::Or | BinaryOp::Xor, false) => Some(other),
            (BinaryOp::And, false) | (BinaryOp::Or, true) => Some(known.1),
            (BinaryOp::Xor, true) => Some(self.not(other)),
            _ => None,
        }
    }

    /// `a + b`.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// `a / b`.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Div, a, b)
    }

    /// The integer remainder of `a / b`.
    pub fn rem(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Rem, a, b)
    }

    /// The lesser.
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Min, a, b)
    }

    /// The greater.
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Max, a, b)
    }

    /// Magnitude of `a`, sign of `b`.
    pub fn copysign(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::CopySign, a, b)
    }

    /// Bitwise or logical and.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    /// Bitwise or logical or.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    /// Bitwise or logical exclusive or.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Xor, a, b)
    }

    /// `a` shifted left by `b`.
    pub fn shl(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Shl, a, b)
    }

    /// `a` shifted right by `b`, filled with the sign.
    pub fn shr_s(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::ShrS, a, b)
    }

    /// `a` shifted right by `b`, filled with zeros.
    pub fn shr_u(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::ShrU, a, b)
    }

    /// `a + number`, for an i64.
    pub fn add_i64(&mut self, a: Value, number: i64) -> Value {
        if number == 0 {
            return a;
        }
        let number = self.i64(number);
        self.add(a, number)
    }

    /// `a * number`, for an i64.
    pub fn mul_i64(&mut self, a: Value, number: i64) -> Value {
        if number == 1 {
            return a;
        }
        let number = self.i64(number);
        self.mul(a, number)
    }

    /// The sign flipped.
    pub fn neg(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Neg, a)
    }

    /// The sign cleared.
    pub fn abs(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Abs, a)
    }

    /// The square root.
    pub fn sqrt(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Sqrt, a)
    }

    /// To an integer, towards minus infinity.
    pub fn floor(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Floor, a)
    }

    /// To an integer, towards plus infinity.
    pub fn ceil(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Ceil, a)
    }

    /// To an integer, towards zero.
    pub fn trunc(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Trunc, a)
    }

    /// To an integer, ties to even.
    pub fn nearest(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Nearest, a)
    }

    /// Complement or negation.
    pub fn not(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Not, a)
    }

    /// Any comparison.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let ty = Type {
            elem: Elem::Bool,
            shape: self.ty(a).shape,
        };
        let left = self.constant_of(a).and_then(integer);
        let right = self.constant_of(b).and_then(integer);
        if let (Some(x), Some(y)) = (left, right) {
            let holds = match op {
                CompareOp::Eq => x == y,
                CompareOp::Ne => x != y,
                CompareOp::Lt => x < y,
                CompareOp::Le => x <= y,
                CompareOp::Gt => x > y,
                CompareOp::Ge => x >= y,
            };
            return self.constant(Constant::Bool(holds), ty.shape);
        }
        self.push_one(OpKind::Compare(op, a, b), ty)
    }

    /// `a == b`.
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Eq, a, b)
    }

    /// `a != b`.
    pub fn ne(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Ne, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Lt, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Le, a, b)
    }

    /// `a > b`.
    pub fn gt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Gt, a, b)
    }

    /// `a >= b`.
    pub fn ge(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Ge, a, b)
    }

    /// `condition ? then : otherwise`.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        let (mut then, mut otherwise) = self.same_shape(then, otherwise);
        if then == otherwise && !self.ty(condition).is_varying() {
            return then;
        }
        if self.ty(condition).is_varying() {
            then = self.splat(then);
            otherwise = self.splat(otherwise);
        }
        match self.constant_of(condition) {
            Some(Constant::Bool(true)) => return then,
            Some(Constant::Bool(false)) => return otherwise,
            _ => {}
        }
        let ty = self.ty(then);
        self.push_one(
            OpKind::Select {
                condition,
                then,
                otherwise,
            },
            ty,
        )
    }

    /// `a * b + c` with one rounding.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let (a, b) = self.same_shape(a, b);
        let (a, c) = self.same_shape(a, c);
        let (a, b) = self.same_shape(a, b);
        let ty = self.ty(a);
        self.push_one(OpKind::Fma(a, b, c), ty)
    }

    /// Any conversion.
    pub fn convert(&mut self, op: ConvertOp, a: Value) -> Value {
        let ty = Type {
            elem: op.types().1,
            shape: self.ty(a).shape,
        };
        match (op, self.constant_of(a)) {
            (ConvertOp::I32ToI64, Some(Constant::I32(x))) => {
                self.constant(Constant::I64(x.into()), ty.shape)
            }
            (ConvertOp::I64ToI32, Some(Constant::I64(x))) => {
                self.constant(Constant::I32(x as i32), ty.shape)
            }
            (ConvertOp::BoolToI32, Some(Constant::Bool(x))) => {
                self.constant(Constant::I32(x.into()), ty.shape)
            }
            _ => self.push_one(OpKind::Convert(op, a), ty),
        }
    }
}

/// Lanes and their exchange.
impl Builder<'_> {
    /// Lane `l` holds `l`, as varying i32.
    pub fn lane_index(&mut self) -> Value {
        self.push_one(OpKind::LaneIndex, Type::varying(Elem::I32))
    }

    /// One lane of a value; a uniform value is its own lane.
    pub fn lane(&mut self, of: Value, lane: u32) -> Value {
        let ty = self.ty(of);
        if !ty.is_varying() {
            return of;
        }
        match self.kind_of(of) {
            Some(&OpKind::Splat(source)) => source,
            Some(&OpKind::Const(constant, _)) => self.constant(constant, Shape::Uniform),
            _ => self.push_one(OpKind::Lane { of, lane }, Type::uniform(ty.elem)),
        }
    }

    /// Whether a truth value holds in some lane; a uniform one is its own answer.
    pub fn any(&mut self, mask: Value) -> Value {
        if !self.ty(mask).is_varying() {
            return mask;
        }
        match self.kind_of(mask) {
            Some(&OpKind::Splat(source)) => source,
            Some(&OpKind::Const(constant, _)) => self.constant(constant, Shape::Uniform),
            _ => self.push_one(OpKind::Any(mask), Type::uniform(Elem::Bool)),
        }
    }

    /// Whether a truth value holds in every lane.
    pub fn all(&mut self, mask: Value) -> Value {
        let not = self.not(mask);
        let any = self.any(not);
        self.not(any)
    }

    /// One uniform value a lane.
    pub fn build(&mut self, values: Vec<Value>) -> Value {
        let elem = self.ty(values[0]).elem;
        self.push_one(OpKind::Build(values), Type::varying(elem))
    }

    /// Lane `l` of the result is lane `pattern[l]` of `a` followed by `b`.
    pub fn shuffle(&mut self, a: Value, b: Value, pattern: Vec<u8>) -> Value {
        let ty = self.ty(a);
        self.push_one(OpKind::Shuffle { a, b, pattern }, ty)
    }
}

/// Memory.
impl Builder<'_> {
    /// Reads memory; the result is uniform for [`Access::Scalar`], else varying.
    pub fn load(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
        invariant: bool,
    ) -> Value {
        let shape = access.shape();
        let mask = mask.map(|mask| self.in_shape(mask, shape));
        let ty = Type {
            elem: mem.elem(),
            shape,
        };
        self.push_one(
            OpKind::Load {
                mem,
                access,
                address,
                displacement,
                mask,
                invariant,
            },
            ty,
        )
    }

    /// Writes memory.
    pub fn store(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
        value: Value,
    ) {
        let shape = access.shape();
        let mask = mask.map(|mask| self.in_shape(mask, shape));
        let value = self.in_shape(value, shape);
        self.push_none(OpKind::Store {
            mem,
            access,
            address,
            displacement,
            mask,
            value,
        });
    }

    /// Reads slot `slot + offset`.
    pub fn private_load(&mut self, array: Array, slot: Value, offset: u32) -> Value {
        let data = self.program.array(array);
        let ty = Type {
            elem: data.elem,
            shape: data.shape,
        };
        self.push_one(
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            },
            ty,
        )
    }

    /// Sets slot `slot + offset`.
    pub fn private_store(&mut self, array: Array, slot: Value, offset: u32, value: Value) {
        let value = self.in_shape(value, self.program.array(array).shape);
        self.push_none(OpKind::PrivateStore {
            array,
            slot,
            offset,
            value,
        });
    }

    /// The address of slot 0.
    pub fn private_address(&mut self, array: Array) -> Value {
        self.push_one(OpKind::PrivateAddress(array), Type::uniform(Elem::I64))
    }
}

/// Control.
impl Builder<'_> {
    /// `for (i = lower; i < upper; i += step)` with carries that begin as `inits`; `body` gets `i` and the carries and
    /// gives back the next ones. A loop known to run zero times or once leaves no loop behind.
    pub fn loop_(
        &mut self,
        lower: Value,
        upper: Value,
        step: i64,
        inits: Vec<Value>,
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        if let (Some(first), Some(bound)) = (self.i64_of(lower), self.i64_of(upper)) {
            if first >= bound {
                return inits;
            }
            if first.checked_add(step).is_none_or(|second| second >= bound) {
                let shapes: Vec<Shape> = inits.iter().map(|&v| self.ty(v).shape).collect();
                let last = body(self, lower, &inits);
                return last
                    .into_iter()
                    .zip(shapes)
                    .map(|(v, shape)| self.in_shape(v, shape))
                    .collect();
            }
        }
        let types: Vec<Type> = inits.iter().map(|&v| self.ty(v)).collect();
        let region = self.enter();
        let iv = self.program.add_arg(region, Type::uniform(Elem::I64));
        let carries: Vec<Value> = types
            .iter()
            .map(|&ty| self.program.add_arg(region, ty))
            .collect();
        let next = body(self, iv, &carries);
        let next = next
            .into_iter()
            .zip(&types)
            .map(|(v, ty)| self.in_shape(v, ty.shape))
            .collect();
        let body = self.leave(next);
        self.push(
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            },
            &types,
        )
    }

    /// What `then` yields if the condition holds, else what `otherwise` yields.
    pub fn if_(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        match self.constant_of(condition) {
            Some(Constant::Bool(true)) => return then(self),
            Some(Constant::Bool(false)) => return otherwise(self),
            _ => {}
        }
        self.enter();
        let yields = then(self);
        let then = self.leave(yields);
        self.enter();
        let yields = otherwise(self);
        let otherwise = self.leave(yields);
        self.branch(condition, then, otherwise)
    }

    /// Runs `then` if the condition holds.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        let _ = self.if_(
            condition,
            |b| {
                then(b);
                Vec::new()
            },
            |_| Vec::new(),
        );
    }

    /// An `If` over two regions that were entered and left; yields that differ in shape are splatted.
    pub fn branch(&mut self, condition: Value, then: Region, otherwise: Region) -> Vec<Value> {
        let count = self
            .program
            .region(then)
            .yields
            .len()
            .min(self.program.region(otherwise).yields.len());
        let mut types = Vec::with_capacity(count);
        for index in 0..count {
            let mut shape = Shape::Uniform;
            for region in [then, otherwise] {
                shape = shape.max(self.ty(self.program.region(region).yields[index]).shape);
            }
            for region in [then, otherwise] {
                let value = self.program.region(region).yields[index];
                self.open.push(region);
                let value = self.in_shape(value, shape);
                self.open.pop();
                self.program.region_mut(region).yields[index] = value;
            }
            types.push(Type {
                elem: self.ty(self.program.region(then).yields[index]).elem,
                shape,
            });
        }
        self.push(
            OpKind::If {
                condition,
                then,
                otherwise,
            },
            &types,
        )
    }

    /// Calls a function that is complete; uniform arguments for varying parameters are splatted.
    pub fn call(&mut self, function: Function, args: &[Value]) -> Vec<Value> {
        let body = self.program.function(function).body;
        let params: Vec<Type> = self
            .program
            .region(body)
            .args
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        let results: Vec<Type> = self
            .program
            .region(body)
            .yields
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        let args = args
            .iter()
            .zip(params)
            .map(|(&v, ty)| self.in_shape(v, ty.shape))
            .collect();
        self.push(OpKind::Call { function, args }, &results)
    }

    /// Runs the caller's hook for programs `first .. first + count`.
    pub fn opaque(&mut self, id: u32, first: Value, count: Value) {
        self.push_none(OpKind::Opaque { id, first, count });
    }
}

fn integer(constant: Constant) -> Option<i64> {
    match constant {
        Constant::I32(value) => Some(value.into()),
        Constant::I64(value) => Some(value),
        Constant::F32(_) | Constant::F64(_) | Constant::Bool(_) => None,
    }
}
