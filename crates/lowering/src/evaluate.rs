//! Evaluates one element of a value where it is read: recipes are unfolded, arrays and views are read.
//!
//! What was evaluated at a point is remembered for that point, so repeated operands share one value and each element is read once.

use numerics::functions::exp_never_positive;
use numerics::{ElementType, MathFunction, Scalar};
use simd_mapping::Representation;
use tile_ir::{BinaryOp, CompareOp, Definition, Dim, Op, OpKind, UnaryOp, Value as TileValue};
use xir::{ConvertOp, Elem, Shape, Value};

use crate::arithmetic::Emitting;
use crate::coordinate::{Coord, always_within, range};
use crate::lowerer::{Lowerer, constant_of, elem_of};
use crate::peak::is_never_positive;

impl Lowerer<'_> {
    /// A scalar where it is needed.
    pub(crate) fn scalar(&mut self, value: TileValue) -> Value {
        self.element(value, &[])
    }

    /// The element of `value` at `index`, one coordinate a dimension, all inside the tile.
    pub(crate) fn element(&mut self, value: TileValue, index: &[Coord]) -> Value {
        if let Some(&known) = self.scalars.get(&value) {
            return known;
        }
        let key = (value, index.to_vec());
        if let Some(known) = self.memo.iter().rev().find_map(|scope| scope.get(&key)) {
            return *known;
        }
        let result = self.evaluate(value, index);
        self.memo
            .last_mut()
            .expect("a scope is open")
            .insert(key, result);
        result
    }

    fn evaluate(&mut self, value: TileValue, index: &[Coord]) -> Value {
        let (op, result) = match self.kernel.value(value).definition {
            Definition::Argument { .. } => {
                if let Some(&coord) = self.coords.get(&value) {
                    return self.coord_i32(coord);
                }
                match self.representation(value) {
                    Some(Representation::Private(key)) => return self.read_array(key, index),
                    other => unreachable!(
                        "an argument is a coordinate, a scalar carry or an array, not {other:?}"
                    ),
                }
            }
            Definition::Result { op, index } => (op, index as usize),
        };
        match self.representation(value) {
            Some(Representation::Private(key)) => self.read_array(key, index),
            Some(Representation::Reload) => {
                let view = self.captured[&op].clone();
                self.read_view(&view, index)
            }
            Some(Representation::Fused { reduction, save }) if self.active.contains(&reduction) => {
                let element = match self.captured.get(&op) {
                    Some(view) => {
                        let view = view.clone();
                        self.read_view(&view, index)
                    }
                    None => self.unfold(op, result, index),
                };
                if let Some(key) = save {
                    self.write_array(key, index, element);
                }
                element
            }
            Some(Representation::Fused { save, .. }) => {
                let key = save.expect("whoever reads later made the reduction save");
                self.read_array(key, index)
            }
            Some(Representation::Recipe | Representation::Scalar) | None => {
                self.unfold(op, result, index)
            }
        }
    }

    /// Evaluates result `result` of a pure operation at `index`.
    pub(crate) fn unfold(&mut self, op: Op, result: usize, index: &[Coord]) -> Value {
        let kernel = self.kernel;
        let data = kernel.op(op);
        match &data.kind {
            OpKind::Const(scalar) => self.emit.constant(constant_of(*scalar), Shape::Uniform),
            OpKind::Extent(axis) => {
                let extent = kernel.axis(*axis).extent.expect("extents are known");
                self.emit.i32(extent as i32)
            }
            OpKind::ScalarParam(param) => {
                let elem = elem_of(kernel.ty(data.results[0]).element);
                self.emit.record(self.layout.param(param.index()), elem)
            }
            OpKind::Iota(_) => self.coord_i32(index[0]),
            OpKind::Unary(UnaryOp::Math(MathFunction::Exp), a) if is_never_positive(kernel, *a) => {
                let a = self.operand(*a, index);
                exp_never_positive(&mut Emitting(&mut self.emit), a)
            }
            OpKind::Unary(unary, a) => {
                let a = self.operand(*a, index);
                self.unary(*unary, a)
            }
            OpKind::Binary(binary, a, b) => {
                let (a, b) = (self.operand(*a, index), self.operand(*b, index));
                // The sign of a NaN differs between machines, so it counts as positive.
                let b = if *binary == BinaryOp::CopySign {
                    let nan = self.emit.compare(xir::CompareOp::Ne, b, b);
                    let positive = self.emit.unary(xir::UnaryOp::Abs, b);
                    self.emit.select(nan, positive, b)
                } else {
                    b
                };
                self.emit.binary(xir_binary(*binary), a, b)
            }
            OpKind::Compare(compare, a, b) => {
                let (a, b) = (self.operand(*a, index), self.operand(*b, index));
                self.emit.compare(xir_compare(*compare), a, b)
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                // The mask last: where the others are long, it would wait in a register all the while.
                let then = self.operand(*then, index);
                let otherwise = self.operand(*otherwise, index);
                let condition = self.operand(*condition, index);
                self.emit.select(condition, then, otherwise)
            }
            OpKind::Fma(a, b, c) => {
                let (a, b, c) = (
                    self.operand(*a, index),
                    self.operand(*b, index),
                    self.operand(*c, index),
                );
                self.emit.fma(a, b, c)
            }
            OpKind::Cast(to, a) => {
                let from = kernel.ty(*a).element;
                let a = self.operand(*a, index);
                self.cast(from, *to, a)
            }
            OpKind::Broadcast(a, dims) => {
                let own = matching_positions(&kernel.ty(*a).dims, dims);
                let index: Vec<Coord> = own
                    .into_iter()
                    .map(|i| i.map_or(Coord::fixed(0), |i| index[i]))
                    .collect();
                self.element(*a, &index)
            }
            OpKind::Reshape(a, dims) => {
                let mut kept = dims
                    .iter()
                    .zip(index)
                    .filter(|(dim, _)| **dim != Dim::Unit)
                    .map(|(_, &coord)| coord);
                let own = kernel.ty(*a).dims.iter();
                let index: Vec<Coord> = own
                    .map(|dim| match dim {
                        Dim::Unit => Coord::fixed(0),
                        Dim::Axis(_) => kept.next().expect("a reshape keeps the axes"),
                    })
                    .collect();
                self.element(*a, &index)
            }
            OpKind::Permute(a, order) => {
                let mut own = vec![Coord::fixed(0); order.len()];
                for (&coord, &from) in index.iter().zip(order) {
                    own[from as usize] = coord;
                }
                self.element(*a, &own)
            }
            OpKind::Map { body, .. } => {
                let yields = &kernel.region(*body).yields;
                let value = yields[result];
                self.bound(*body, index, |this| this.scalar(value))
            }
            OpKind::Reduce { .. } => {
                let values = self.reduce(op);
                for (&result, &value) in data.results.iter().zip(&values) {
                    self.memo
                        .last_mut()
                        .expect("a scope is open")
                        .insert((result, Vec::new()), value);
                }
                values[result]
            }
            OpKind::Extract { tile, at } => self.extract(*tile, at),
            OpKind::Load { .. }
            | OpKind::Store { .. }
            | OpKind::For { .. }
            | OpKind::Parallel { .. }
            | OpKind::Stage
            | OpKind::Opaque { .. } => unreachable!("{op} is not pure"),
        }
    }

    /// An operand of an elementwise operation: a scalar is broadcast.
    fn operand(&mut self, value: TileValue, index: &[Coord]) -> Value {
        if self.kernel.ty(value).is_scalar() {
            self.scalar(value)
        } else {
            self.element(value, index)
        }
    }

    fn extract(&mut self, tile: TileValue, at: &[TileValue]) -> Value {
        let kernel = self.kernel;
        let ty = kernel.ty(tile);
        let mut index = Vec::with_capacity(at.len());
        let mut inside: Option<Value> = None;
        for (&value, &dim) in at.iter().zip(&ty.dims) {
            let extent = kernel.extent(dim).expect("extents are known");
            let mut coord = self.coordinate(value);
            if !always_within(kernel, value, extent) {
                let bound = self.emit.i64(i64::from(extent));
                let ok = self.within(coord, bound);
                inside = Some(match inside {
                    Some(before) => self.emit.binary(xir::BinaryOp::And, before, ok),
                    None => ok,
                });
                // Outside, some element inside is read and thrown away.
                coord = if coord.is_uniform() {
                    let at = self.uniform_i64(coord).expect("the coordinate is uniform");
                    let zero = self.emit.i64(0);
                    Coord::uniform(self.emit.select(ok, at, zero))
                } else {
                    let at = self.general(coord);
                    let zero = self.emit.constant(xir::Constant::I64(0), Shape::Varying);
                    Coord::General(self.emit.select(ok, at, zero))
                };
            }
            index.push(coord);
        }
        let value = self.element(tile, &index);
        match inside {
            Some(inside) => {
                let nothing = match ty.element {
                    ElementType::F64 => Scalar::F64(f64::NAN),
                    ElementType::I32 => Scalar::I32(0),
                    ElementType::Bool => Scalar::Bool(false),
                    ElementType::F32 | ElementType::F16 | ElementType::BF16 => {
                        Scalar::F32(f32::NAN)
                    }
                };
                let nothing = self.emit.constant(constant_of(nothing), Shape::Uniform);
                self.emit.select(inside, value, nothing)
            }
            None => value,
        }
    }

    /// An i32 scalar as a coordinate, in the cheapest form that is sure.
    pub(crate) fn coordinate(&mut self, value: TileValue) -> Coord {
        if let Some(&coord) = self.coords.get(&value) {
            return coord;
        }
        let kernel = self.kernel;
        if let Some(op) = kernel.defining_op(value) {
            match kernel.op(op).kind {
                OpKind::Const(Scalar::I32(n)) => return Coord::fixed(i64::from(n)),
                OpKind::Extent(axis) => {
                    return Coord::fixed(i64::from(
                        kernel.axis(axis).extent.expect("extents are known"),
                    ));
                }
                // Only if nothing can wrap is the sum of two coordinates their sum as i32.
                OpKind::Binary(binary, a, b)
                    if range(kernel, value).is_some() && !self.scalars.contains_key(&value) =>
                {
                    match binary {
                        BinaryOp::Add => {
                            let (a, b) = (self.coordinate(a), self.coordinate(b));
                            return self.add_coords(a, b);
                        }
                        BinaryOp::Sub => {
                            let (a, b) = (self.coordinate(a), self.coordinate(b));
                            let b = self.scale_coord(b, -1);
                            return self.add_coords(a, b);
                        }
                        BinaryOp::Mul => {
                            let (a, b) = (self.coordinate(a), self.coordinate(b));
                            if let (coord, Coord::Uniform { base: None, add })
                            | (Coord::Uniform { base: None, add }, coord) = (a, b)
                            {
                                return self.scale_coord(coord, add);
                            }
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let number = self.scalar(value);
        let wide = self.emit.convert(ConvertOp::I32ToI64, number);
        if self.emit.ty(wide).is_varying() {
            Coord::General(wide)
        } else {
            Coord::uniform(wide)
        }
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        match op {
            UnaryOp::Neg => self.emit.unary(xir::UnaryOp::Neg, a),
            UnaryOp::Abs => self.emit.unary(xir::UnaryOp::Abs, a),
            UnaryOp::Sqrt => self.emit.unary(xir::UnaryOp::Sqrt, a),
            UnaryOp::Rsqrt => {
                let root = self.emit.unary(xir::UnaryOp::Sqrt, a);
                let one = match self.emit.ty(a).elem {
                    Elem::F64 => xir::Constant::f64(1.0),
                    Elem::F32 | Elem::I32 | Elem::I64 | Elem::Bool => xir::Constant::f32(1.0),
                };
                let one = self.emit.constant(one, Shape::Uniform);
                self.emit.binary(xir::BinaryOp::Div, one, root)
            }
            UnaryOp::Floor => self.emit.unary(xir::UnaryOp::Floor, a),
            UnaryOp::Ceil => self.emit.unary(xir::UnaryOp::Ceil, a),
            UnaryOp::Trunc => self.emit.unary(xir::UnaryOp::Trunc, a),
            UnaryOp::Round => self.emit.unary(xir::UnaryOp::Nearest, a),
            UnaryOp::Not => self.emit.unary(xir::UnaryOp::Not, a),
            UnaryOp::Math(function) => function.apply(&mut Emitting(&mut self.emit), a),
        }
    }

    fn cast(&mut self, from: ElementType, to: ElementType, a: Value) -> Value {
        use ElementType::{BF16, Bool, F16, F32, F64, I32};
        match (from, to) {
            (F32 | F16 | BF16, F32) | (F64, F64) | (I32, I32) | (Bool, Bool) => a,
            (F32 | F16 | BF16, F64) => self.emit.convert(ConvertOp::F32ToF64, a),
            (F32 | F16 | BF16, I32) => self.emit.convert(ConvertOp::F32ToI32, a),
            (F64, F32) => self.emit.convert(ConvertOp::F64ToF32, a),
            (F64, I32) => self.emit.convert(ConvertOp::F64ToI32, a),
            (I32, F32) => self.emit.convert(ConvertOp::I32ToF32, a),
            (I32, F64) => self.emit.convert(ConvertOp::I32ToF64, a),
            (Bool, I32) => self.emit.convert(ConvertOp::BoolToI32, a),
            (Bool, F32 | F64) => {
                let number = self.emit.convert(ConvertOp::BoolToI32, a);
                self.cast(I32, to, number)
            }
            (F32 | F16 | BF16, Bool) => self.is_not_zero(a, xir::Constant::f32(0.0)),
            (F64, Bool) => self.is_not_zero(a, xir::Constant::f64(0.0)),
            (I32, Bool) => self.is_not_zero(a, xir::Constant::I32(0)),
            (_, F16 | BF16) => unreachable!("tiles don't hold {to}"),
        }
    }

    fn is_not_zero(&mut self, a: Value, zero: xir::Constant) -> Value {
        let zero = self.emit.constant(zero, Shape::Uniform);
        self.emit.compare(xir::CompareOp::Ne, a, zero)
    }
}

/// For each dimension of an operand of `broadcast`, its place among the result's dimensions; `None` for a unit dimension that became an
/// axis or has no counterpart.
fn matching_positions(own: &[Dim], dims: &[Dim]) -> Vec<Option<usize>> {
    let mut next = 0;
    own.iter()
        .map(|dim| {
            if *dim == Dim::Unit {
                return None;
            }
            let at = dims[next..]
                .iter()
                .position(|d| d == dim)
                .map(|i| i + next)?;
            next = at + 1;
            Some(at)
        })
        .collect()
}

pub(crate) fn xir_binary(op: BinaryOp) -> xir::BinaryOp {
    match op {
        BinaryOp::Add => xir::BinaryOp::Add,
        BinaryOp::Sub => xir::BinaryOp::Sub,
        BinaryOp::Mul => xir::BinaryOp::Mul,
        BinaryOp::Div => xir::BinaryOp::Div,
        BinaryOp::Rem => xir::BinaryOp::Rem,
        BinaryOp::Min => xir::BinaryOp::Min,
        BinaryOp::Max => xir::BinaryOp::Max,
        BinaryOp::CopySign => xir::BinaryOp::CopySign,
        BinaryOp::And => xir::BinaryOp::And,
        BinaryOp::Or => xir::BinaryOp::Or,
        BinaryOp::Xor => xir::BinaryOp::Xor,
        BinaryOp::Shl => xir::BinaryOp::Shl,
        BinaryOp::Shr => xir::BinaryOp::ShrS,
    }
}

fn xir_compare(op: CompareOp) -> xir::CompareOp {
    match op {
        CompareOp::Eq => xir::CompareOp::Eq,
        CompareOp::Ne => xir::CompareOp::Ne,
        CompareOp::Lt => xir::CompareOp::Lt,
        CompareOp::Le => xir::CompareOp::Le,
        CompareOp::Gt => xir::CompareOp::Gt,
        CompareOp::Ge => xir::CompareOp::Ge,
    }
}
