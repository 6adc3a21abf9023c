//! Writes XIR: one typed call an operation, constants once a function, address arithmetic folded as it is written.
//!
//! A constant in a loop would be made anew in every iteration, for nothing behind this crate moves it out unless a pass does. So
//! constants, record words and lane indices are written once, ahead of the function's body.

use hashbrown::HashMap;
use xir::{
    Access, Array, ArrayData, BinaryOp, CompareOp, Constant, ConvertOp, Elem, Function, Inlining,
    MemElem, OpKind, Program, Region, Shape, Type, UnaryOp, Value, Workspace,
};

/// A function being written.
struct Open {
    regions: Vec<Region>,
    preamble: Vec<xir::Op>,
    once: HashMap<OpKind, Value>,
}

/// A program being written.
pub(crate) struct Emitter {
    program: Program,
    open: Vec<Open>,
}

impl Emitter {
    pub(crate) fn new(program: Program) -> Emitter {
        Emitter {
            program,
            open: Vec::new(),
        }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn program_mut(&mut self) -> &mut Program {
        &mut self.program
    }

    pub(crate) fn into_program(self) -> Program {
        self.program
    }

    pub(crate) fn lanes(&self) -> u32 {
        self.program.lanes.get()
    }

    pub(crate) fn ty(&self, value: Value) -> Type {
        self.program.ty(value)
    }

    /// Starts a function with uniform i64 parameters.
    pub(crate) fn begin_function(
        &mut self,
        name: String,
        inlining: Inlining,
        params: usize,
    ) -> (Function, Vec<Value>) {
        let function = self.program.add_function(name, inlining);
        let body = self.program.function(function).body;
        let args = (0..params)
            .map(|_| self.program.add_arg(body, Type::uniform(Elem::I64)))
            .collect();
        self.open.push(Open {
            regions: vec![body],
            preamble: Vec::new(),
            once: HashMap::new(),
        });
        (function, args)
    }

    pub(crate) fn end_function(&mut self) {
        let open = self.open.pop().expect("a function is open");
        let body = open.regions[0];
        let ops = &mut self.program.region_mut(body).ops;
        ops.splice(0..0, open.preamble);
    }

    fn here(&self) -> Region {
        let open = self.open.last().expect("a function is open");
        *open.regions.last().expect("a region is open")
    }

    fn append(&mut self, kind: OpKind, types: &[Type]) -> xir::Op {
        let region = self.here();
        self.program.append(region, kind, types)
    }

    fn value(&mut self, kind: OpKind, ty: Type) -> Value {
        let op = self.append(kind, &[ty]);
        self.program.op(op).results[0]
    }

    /// An operation without operands, written once ahead of the body.
    fn once(&mut self, kind: OpKind, ty: Type) -> Value {
        let open = self.open.last_mut().expect("a function is open");
        if let Some(&value) = open.once.get(&kind) {
            return value;
        }
        let op = self.program.make_op(kind.clone(), &[ty]);
        let value = self.program.op(op).results[0];
        open.preamble.push(op);
        open.once.insert(kind, value);
        value
    }

    pub(crate) fn constant(&mut self, constant: Constant, shape: Shape) -> Value {
        self.once(
            OpKind::Const(constant, shape),
            Type {
                elem: constant.elem(),
                shape,
            },
        )
    }

    pub(crate) fn i64(&mut self, value: i64) -> Value {
        self.constant(Constant::I64(value), Shape::Uniform)
    }

    pub(crate) fn i32(&mut self, value: i32) -> Value {
        self.constant(Constant::I32(value), Shape::Uniform)
    }

    pub(crate) fn record(&mut self, word: u32, elem: Elem) -> Value {
        self.once(OpKind::Record { word, elem }, Type::uniform(elem))
    }

    pub(crate) fn workspace(&mut self, workspace: Workspace) -> Value {
        self.once(
            OpKind::WorkspaceAddress(workspace),
            Type::uniform(Elem::I64),
        )
    }

    pub(crate) fn lane_index(&mut self) -> Value {
        self.once(OpKind::LaneIndex, Type::varying(Elem::I32))
    }

    pub(crate) fn private_address(&mut self, array: Array) -> Value {
        self.once(OpKind::PrivateAddress(array), Type::uniform(Elem::I64))
    }

    /// The mask of the first `live` lanes.
    pub(crate) fn first_lanes(&mut self, live: u32) -> Value {
        let lane = self.lane_index();
        let bound = self.constant(Constant::I32(live as i32), Shape::Varying);
        self.once(
            OpKind::Compare(CompareOp::Lt, lane, bound),
            Type::varying(Elem::Bool),
        )
    }

    pub(crate) fn constant_of(&self, value: Value) -> Option<Constant> {
        match self.program.value(value).definition {
            xir::Definition::Result { op, .. } => match self.program.op(op).kind {
                OpKind::Const(constant, _) => Some(constant),
                _ => None,
            },
            xir::Definition::Argument { .. } => None,
        }
    }

    fn constant_i64(&self, value: Value) -> Option<i64> {
        match self.constant_of(value) {
            Some(Constant::I64(n)) if !self.ty(value).is_varying() => Some(n),
            _ => None,
        }
    }

    pub(crate) fn splat(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if ty.is_varying() {
            return value;
        }
        if let Some(constant) = self.constant_of(value) {
            return self.constant(constant, Shape::Varying);
        }
        self.value(OpKind::Splat(value), Type::varying(ty.elem))
    }

    /// Gives both the shape of the wider one.
    pub(crate) fn join(&mut self, a: Value, b: Value) -> (Value, Value) {
        match (self.ty(a).shape, self.ty(b).shape) {
            (Shape::Uniform, Shape::Varying) => (self.splat(a), b),
            (Shape::Varying, Shape::Uniform) => (a, self.splat(b)),
            (Shape::Uniform, Shape::Uniform) | (Shape::Varying, Shape::Varying) => (a, b),
        }
    }

    pub(crate) fn with_shape(&mut self, value: Value, shape: Shape) -> Value {
        match shape {
            Shape::Varying => self.splat(value),
            Shape::Uniform => {
                debug_assert!(
                    !self.ty(value).is_varying(),
                    "a varying value has no uniform form"
                );
                value
            }
        }
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.ty(a);
        self.value(OpKind::Unary(op, a), ty)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (a, b) = self.join(a, b);
        let ty = self.ty(a);
        if ty.elem == Elem::I64
            && !ty.is_varying()
            && let Some(value) = self.fold_i64(op, a, b)
        {
            return value;
        }
        self.value(OpKind::Binary(op, a, b), ty)
    }

    fn fold_i64(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
        match (op, self.constant_i64(a), self.constant_i64(b)) {
            (BinaryOp::Add, Some(x), Some(y)) => Some(self.i64(x.wrapping_add(y))),
            (BinaryOp::Sub, Some(x), Some(y)) => Some(self.i64(x.wrapping_sub(y))),
            (BinaryOp::Mul, Some(x), Some(y)) => Some(self.i64(x.wrapping_mul(y))),
            (BinaryOp::Add, Some(0), None) => Some(b),
            (BinaryOp::Add | BinaryOp::Sub, None, Some(0)) => Some(a),
            (BinaryOp::Mul, Some(1), None) => Some(b),
            (BinaryOp::Mul, None, Some(1)) => Some(a),
            (BinaryOp::Mul, Some(0), None) | (BinaryOp::Mul, None, Some(0)) => Some(self.i64(0)),
            (BinaryOp::Mul, Some(x), None) if x > 1 && x.count_ones() == 1 => {
                Some(self.shift_left(b, x.trailing_zeros()))
            }
            (BinaryOp::Mul, None, Some(y)) if y > 1 && y.count_ones() == 1 => {
                Some(self.shift_left(a, y.trailing_zeros()))
            }
            _ => None,
        }
    }

    fn shift_left(&mut self, a: Value, bits: u32) -> Value {
        let amount = self.i64(i64::from(bits));
        let ty = self.ty(a);
        self.value(OpKind::Binary(BinaryOp::Shl, a, amount), ty)
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    pub(crate) fn add_i64(&mut self, a: Value, n: i64) -> Value {
        let n = self.i64(n);
        self.binary(BinaryOp::Add, a, n)
    }

    pub(crate) fn mul_i64(&mut self, a: Value, n: i64) -> Value {
        let n = self.i64(n);
        self.binary(BinaryOp::Mul, a, n)
    }

    pub(crate) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        let (a, b) = self.join(a, b);
        let shape = self.ty(a).shape;
        self.value(
            OpKind::Compare(op, a, b),
            Type {
                elem: Elem::Bool,
                shape,
            },
        )
    }

    pub(crate) fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        let (then, otherwise) = self.join(then, otherwise);
        let (mut condition, mut then, mut otherwise) = (condition, then, otherwise);
        if self.ty(condition).is_varying() {
            then = self.splat(then);
            otherwise = self.splat(otherwise);
        } else if self.ty(then).is_varying() {
            condition = self.splat(condition);
        }
        let ty = self.ty(then);
        self.value(
            OpKind::Select {
                condition,
                then,
                otherwise,
            },
            ty,
        )
    }

    pub(crate) fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let (a, b) = self.join(a, b);
        let (a, c) = self.join(a, c);
        let (a, b) = self.join(a, b);
        let ty = self.ty(a);
        self.value(OpKind::Fma(a, b, c), ty)
    }

    pub(crate) fn convert(&mut self, op: ConvertOp, a: Value) -> Value {
        let shape = self.ty(a).shape;
        if let (ConvertOp::I32ToI64, Some(Constant::I32(n)), Shape::Uniform) =
            (op, self.constant_of(a), shape)
        {
            return self.i64(i64::from(n));
        }
        if let (ConvertOp::I64ToI32, Some(Constant::I64(n)), Shape::Uniform) =
            (op, self.constant_of(a), shape)
        {
            return self.i32(n as i32);
        }
        self.value(
            OpKind::Convert(op, a),
            Type {
                elem: op.types().1,
                shape,
            },
        )
    }

    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Not, a)
    }

    pub(crate) fn lane(&mut self, of: Value, lane: u32) -> Value {
        let elem = self.ty(of).elem;
        self.value(OpKind::Lane { of, lane }, Type::uniform(elem))
    }

    pub(crate) fn shuffle(&mut self, a: Value, b: Value, pattern: Vec<u8>) -> Value {
        let ty = self.ty(a);
        self.value(OpKind::Shuffle { a, b, pattern }, ty)
    }

    pub(crate) fn load(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
    ) -> Value {
        let shape = if matches!(access, Access::Scalar) {
            Shape::Uniform
        } else {
            Shape::Varying
        };
        let kind = OpKind::Load {
            mem,
            access,
            address,
            displacement,
            mask,
            invariant: false,
        };
        self.value(
            kind,
            Type {
                elem: mem.elem(),
                shape,
            },
        )
    }

    pub(crate) fn store(
        &mut self,
        mem: MemElem,
        access: Access,
        address: Value,
        displacement: i32,
        mask: Option<Value>,
        value: Value,
    ) {
        self.append(
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask,
                value,
            },
            &[],
        );
    }

    pub(crate) fn array(&mut self, data: ArrayData) -> Array {
        self.program.add_array(data)
    }

    pub(crate) fn private_load(&mut self, array: Array, slot: Value, offset: u32) -> Value {
        let data = self.program.array(array);
        let ty = Type {
            elem: data.elem,
            shape: data.shape,
        };
        self.value(
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            },
            ty,
        )
    }

    pub(crate) fn private_store(&mut self, array: Array, slot: Value, offset: u32, value: Value) {
        let shape = self.program.array(array).shape;
        let value = self.with_shape(value, shape);
        self.append(
            OpKind::PrivateStore {
                array,
                slot,
                offset,
                value,
            },
            &[],
        );
    }

    pub(crate) fn opaque(&mut self, id: u32, first: Value, count: Value) {
        self.append(OpKind::Opaque { id, first, count }, &[]);
    }

    pub(crate) fn call(&mut self, function: Function, args: Vec<Value>) {
        self.append(OpKind::Call { function, args }, &[]);
    }

    /// Starts a loop `for (i = lower; i < upper; i += step)`; gives the counter and the carries.
    pub(crate) fn begin_loop(&mut self, inits: &[Value]) -> (Region, Value, Vec<Value>) {
        let region = self.program.add_region();
        let counter = self.program.add_arg(region, Type::uniform(Elem::I64));
        let carries = inits
            .iter()
            .map(|&init| {
                let ty = self.program.ty(init);
                self.program.add_arg(region, ty)
            })
            .collect();
        self.open
            .last_mut()
            .expect("a function is open")
            .regions
            .push(region);
        (region, counter, carries)
    }

    /// Ends the innermost loop; gives the carries after it.
    pub(crate) fn end_loop(
        &mut self,
        lower: Value,
        upper: Value,
        step: i64,
        inits: Vec<Value>,
        yields: Vec<Value>,
    ) -> Vec<Value> {
        let body = self
            .open
            .last_mut()
            .expect("a function is open")
            .regions
            .pop()
            .expect("a loop is open");
        let types: Vec<Type> = inits.iter().map(|&v| self.ty(v)).collect();
        let yields = yields
            .into_iter()
            .zip(&types)
            .map(|(v, ty)| self.coerce_in(body, v, ty.shape))
            .collect();
        self.program.region_mut(body).yields = yields;
        let op = self.append(
            OpKind::Loop {
                lower,
                upper,
                step,
                inits,
                body,
            },
            &types,
        );
        self.program.op(op).results.clone()
    }

    /// `value` in the given shape, the splat written at the end of `region`.
    fn coerce_in(&mut self, region: Region, value: Value, shape: Shape) -> Value {
        self.open
            .last_mut()
            .expect("a function is open")
            .regions
            .push(region);
        let value = self.with_shape(value, shape);
        self.open
            .last_mut()
            .expect("a function is open")
            .regions
            .pop();
        value
    }

    /// Starts one side of an `if`.
    pub(crate) fn begin_side(&mut self) -> Region {
        let region = self.program.add_region();
        self.open
            .last_mut()
            .expect("a function is open")
            .regions
            .push(region);
        region
    }

    /// Ends one side of an `if` that yields nothing.
    pub(crate) fn end_side(&mut self) {
        self.open
            .last_mut()
            .expect("a function is open")
            .regions
            .pop();
    }

    /// Ends one side of an `if` that yields values.
    pub(crate) fn end_side_with(&mut self, yields: Vec<Value>) {
        let side = self
            .open
            .last_mut()
            .expect("a function is open")
            .regions
            .pop()
            .expect("a side is open");
        self.program.region_mut(side).yields = yields;
    }

    /// Writes an `if` over two finished sides that yield values of these types.
    pub(crate) fn end_if_with(
        &mut self,
        condition: Value,
        then: Region,
        otherwise: Region,
        types: &[Type],
    ) -> Vec<Value> {
        let op = self.append(
            OpKind::If {
                condition,
                then,
                otherwise,
            },
            types,
        );
        self.program.op(op).results.clone()
    }

    /// Whether a truth value holds in some lane.
    pub(crate) fn any(&mut self, mask: Value) -> Value {
        if !self.ty(mask).is_varying() {
            return mask;
        }
        self.value(OpKind::Any(mask), Type::uniform(Elem::Bool))
    }

    /// Writes an `if` over two finished sides that yield nothing.
    pub(crate) fn end_if(&mut self, condition: Value, then: Region, otherwise: Region) {
        self.append(
            OpKind::If {
                condition,
                then,
                otherwise,
            },
            &[],
        );
    }
}
