//! A kernel grown statement by statement from the values that are visible.

use diagnostics::Location;
use numerics::{ElementType, Scalar};

use super::Flavour;
use super::choices::Choices;
use crate::kernel::{
    AxisData, Dim, Kernel, ParamData, ParamKind, Stride, TileType, ViewType, default_strides,
};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{BinaryOp, CompareOp, OpKind, Policy, ReduceForm, ReduceOp, Subscript, UnaryOp};
use crate::verifier::infer;

const COMPUTED: [ElementType; 4] = [
    ElementType::F32,
    ElementType::I32,
    ElementType::Bool,
    ElementType::F64,
];

/// The extents that find mistakes: one, powers of two, their neighbours, nothing above 19.
const EXTENTS: [u32; 12] = [4, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 19];

pub(super) fn extent(choices: &mut Choices) -> u32 {
    choices.pick(&EXTENTS)
}

/// How the programs of a kernel keep apart in a view that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// The first dimensions run along the root axes, and each program uses its own coordinates.
    Rows,
    /// One dimension, of which each program uses a block of this many elements.
    Blocks(u32),
}

#[derive(Clone)]
struct Written {
    view: Param,
    keeping: Keeping,
    /// Whether the stage that is grown stores through it.
    now: bool,
}

pub(super) fn grow(choices: &mut Choices, flavour: Flavour) -> Kernel {
    let mut grower = Grower {
        choices,
        flavour,
        kernel: Kernel::new("random"),
        region: Region::from_index(0),
        scope: Vec::new(),
        tile_axes: Vec::new(),
        root_axes: Vec::new(),
        coordinates: Vec::new(),
        inputs: Vec::new(),
        written: Vec::new(),
        scalars: Vec::new(),
        fuel: 0,
    };
    grower.declare();
    let nests = if flavour.stages && grower.choices.chance(20) {
        2
    } else {
        1
    };
    for _ in 0..nests {
        grower.root_nest();
    }
    grower.kernel
}

struct Grower<'c> {
    choices: &'c mut Choices,
    flavour: Flavour,
    kernel: Kernel,
    region: Region,
    /// Values that are visible.
    scope: Vec<Value>,
    tile_axes: Vec<Axis>,
    root_axes: Vec<Axis>,
    /// The root coordinates of the nest.
    coordinates: Vec<Value>,
    inputs: Vec<Param>,
    written: Vec<Written>,
    scalars: Vec<Param>,
    /// How many more statements there may be, nests included.
    fuel: usize,
}

impl Grower<'_> {
    // The head.

    fn axis(&mut self, name: String, extent: Option<u32>) -> Axis {
        self.kernel.add_axis(AxisData {
            name,
            extent,
            location: Location::None,
        })
    }

    fn declare(&mut self) {
        for index in 0..self.choices.below(3) {
            let fixed = self.choices.chance(30).then(|| extent(self.choices));
            let axis = self.axis(format!("r{index}"), fixed);
            self.root_axes.push(axis);
        }
        for index in 0..1 + self.choices.below(3) {
            let fixed = extent(self.choices);
            let axis = self.axis(format!("t{index}"), Some(fixed));
            self.tile_axes.push(axis);
        }
        for index in 0..1 + self.choices.below(3) {
            let mut dims = Vec::new();
            for axis in self.root_axes.clone() {
                if self.choices.chance(70) {
                    dims.push(axis);
                }
            }
            dims.extend(self.some_axes(2));
            if self.choices.chance(15) {
                dims.reverse();
            }
            let view = self.view(format!("x{index}"), dims, false);
            self.inputs.push(view);
        }
        for index in 0..1 + self.choices.below(2) {
            let blocks = self.root_axes.len() == 1 && self.choices.chance(25);
            let (dims, keeping) = if blocks {
                let flat = self.axis(format!("n{index}"), None);
                (
                    vec![flat],
                    Keeping::Blocks(self.choices.pick(&[4, 8, 19, 20])),
                )
            } else {
                let mut dims = self.root_axes.clone();
                dims.extend(self.some_axes(2));
                (dims, Keeping::Rows)
            };
            let view = self.view(format!("y{index}"), dims, true);
            self.written.push(Written {
                view,
                keeping,
                now: false,
            });
        }
        for index in 0..self.choices.below(3) {
            let element = self.element();
            let kind = ParamKind::Scalar(element);
            let data = ParamData {
                name: format!("s{index}"),
                kind,
                location: Location::None,
            };
            let param = self.kernel.add_param(data);
            self.scalars.push(param);
        }
    }

    fn view(&mut self, name: String, dims: Vec<Axis>, mutable: bool) -> Param {
        let element = match self.choices.below(10) {
            8 => ElementType::F16,
            9 => ElementType::BF16,
            _ => self.element(),
        };
        let mut strides = default_strides(dims.len());
        if let Some(last) = strides.last_mut()
            && self.choices.chance(15)
        {
            *last = self
                .choices
                .pick(&[Stride::Any, Stride::Fixed(2), Stride::Fixed(3)]);
        }
        let fill = if self.choices.chance(30) {
            self.constant(element.compute_type())
        } else {
            Scalar::zero(element)
        };
        let kind = ParamKind::View(ViewType {
            element,
            dims,
            strides,
            fill,
            mutable,
        });
        self.kernel.add_param(ParamData {
            name,
            kind,
            location: Location::None,
        })
    }

    fn element(&mut self) -> ElementType {
        match self.choices.below(20) {
            0..=12 => ElementType::F32,
            13..=15 => ElementType::I32,
            16..=17 => ElementType::Bool,
            _ if self.flavour.doubles => ElementType::F64,
            _ => ElementType::F32,
        }
    }

    /// At most this many tile axes, each once, in any order.
    fn some_axes(&mut self, most: usize) -> Vec<Axis> {
        let mut rest = self.tile_axes.clone();
        let count = self.choices.below(most + 1).min(rest.len());
        (0..count)
            .map(|_| rest.swap_remove(self.choices.below(rest.len())))
            .collect()
    }

    fn constant(&mut self, element: ElementType) -> Scalar {
        match element {
            ElementType::I32 => {
                Scalar::I32(
                    self.choices
                        .pick(&[0, 1, 2, 3, -1, 5, -7, 100, i32::MAX, i32::MIN]),
                )
            }
            ElementType::Bool => Scalar::Bool(self.choices.chance(50)),
            ElementType::F64 => Scalar::F64(self.choices.pick(&[
                0.0,
                1.0,
                -0.0,
                0.1,
                -3.5,
                1e300,
                5e-324,
                f64::INFINITY,
                f64::NAN,
            ])),
            ElementType::F32 | ElementType::F16 | ElementType::BF16 => {
                Scalar::F32(self.choices.pick(&[
                    0.0,
                    1.0,
                    -0.0,
                    0.5,
                    2.0,
                    -1.5,
                    0.1,
                    1e-5,
                    3e38,
                    1e-45,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    f32::NAN,
                ]))
            }
        }
    }

    // Rows.

    fn push(&mut self, kind: OpKind) -> Op {
        let (types, _) = infer(&self.kernel, &kind);
        self.kernel.add_op(self.region, kind, types, Location::None)
    }

    /// Appends an operation and makes its results visible.
    fn make(&mut self, kind: OpKind) -> Value {
        let op = self.push(kind);
        let results = self.kernel.op(op).results.clone();
        self.scope.extend(&results);
        results[0]
    }

    fn make_constant(&mut self, element: ElementType) -> Value {
        let scalar = self.constant(element);
        self.make(OpKind::Const(scalar))
    }

    fn i32(&mut self, number: i32) -> Value {
        self.make(OpKind::Const(Scalar::I32(number)))
    }

    fn ty(&self, value: Value) -> &TileType {
        self.kernel.ty(value)
    }

    fn enter(&mut self) -> (Region, usize) {
        let region = self.kernel.add_region();
        (
            std::mem::replace(&mut self.region, region),
            self.scope.len(),
        )
    }

    fn exit(&mut self, (outer, visible): (Region, usize), yields: Vec<Value>) -> Region {
        self.kernel.set_yields(self.region, yields);
        self.scope.truncate(visible);
        std::mem::replace(&mut self.region, outer)
    }

    fn argument(&mut self, ty: TileType) -> Value {
        let value = self.kernel.add_arg(self.region, ty, None);
        self.scope.push(value);
        value
    }

    fn coordinate(&mut self) -> Value {
        self.argument(TileType::scalar(ElementType::I32))
    }

    // Choosing operands.

    fn choose(&mut self, suits: impl Fn(&TileType) -> bool) -> Option<Value> {
        let fitting: Vec<Value> = self
            .scope
            .iter()
            .copied()
            .filter(|&value| suits(self.kernel.ty(value)))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        // Late values are better: chains grow.
        let back = self
            .choices
            .below(fitting.len())
            .min(self.choices.below(fitting.len()));
        Some(fitting[fitting.len() - 1 - back])
    }

    /// A value of this element type, a new constant if there is none.
    fn any_of(&mut self, element: ElementType) -> Value {
        match self.choose(|ty| ty.element == element) {
            Some(value) => value,
            None => self.make_constant(element),
        }
    }

    fn scalar_of(&mut self, element: ElementType) -> Value {
        match self.choose(|ty| ty.is_scalar() && ty.element == element) {
            Some(value) if !self.choices.chance(25) => value,
            _ => self.make_constant(element),
        }
    }

    /// Something that goes with `other` elementwise, of an element type.
    fn beside(&mut self, other: Value, element: ElementType) -> Value {
        let dims = self.ty(other).dims.clone();
        match self.choose(|ty| ty.element == element && (ty.dims == dims || ty.is_scalar())) {
            Some(value) => value,
            None => self.make_constant(element),
        }
    }

    /// A coordinate: one that exists, a small number, or their sum. Windows and elements may lie outside.
    fn place(&mut self) -> Value {
        let small = self.choices.pick(&[0, 1, 2, 5, -1, -3, 18]);
        match self.choices.below(3) {
            0 => self.i32(small),
            1 => self.scalar_of(ElementType::I32),
            _ => {
                let base = self.scalar_of(ElementType::I32);
                let offset = self.i32(small);
                self.make(OpKind::Binary(BinaryOp::Add, base, offset))
            }
        }
    }

    // Nests.

    fn root_nest(&mut self) {
        let frame = self.enter();
        self.coordinates = (0..self.root_axes.len())
            .map(|_| self.coordinate())
            .collect();
        let stages = if self.flavour.stages && self.choices.chance(25) {
            2
        } else {
            1
        };
        for stage in 0..stages {
            if stage > 0 {
                self.push(OpKind::Stage);
            }
            for index in 0..self.written.len() {
                self.written[index].now = index == 0 || self.choices.chance(60);
            }
            self.fuel = 2 + self.choices.below(self.flavour.size);
            while self.fuel > 0 {
                self.fuel -= 1;
                self.statement(2);
            }
            for index in 0..self.written.len() {
                if self.written[index].now {
                    self.store(index);
                }
            }
        }
        let axes = self.root_axes.clone();
        let body = self.exit(frame, Vec::new());
        self.push(OpKind::Parallel { axes, body });
    }

    /// One statement of a program; nests go this deep.
    fn statement(&mut self, depth: usize) {
        match self.choices.below(12) {
            0..=2 => {
                self.load();
            }
            3 => {
                let index = self.choices.below(self.written.len());
                if self.written[index].now {
                    self.store(index);
                }
            }
            4 if self.flavour.loops && depth > 0 => self.for_loop(depth),
            5 if self.flavour.opaque && self.choices.chance(30) => {
                let id = self.choices.below(3) as u32;
                self.push(OpKind::Opaque { id });
            }
            _ => {
                self.pure(depth);
            }
        }
    }

    /// A pure operation.
    fn pure(&mut self, depth: usize) -> Value {
        match self.choices.below(16) {
            0 => {
                let element = self.element();
                self.make_constant(element)
            }
            1 => self.leaf(),
            2 | 3 => self.unary(),
            4..=6 => self.binary(),
            7 => self.compare_or_select(),
            8 => {
                let element = if self.choices.chance(20) && self.flavour.doubles {
                    ElementType::F64
                } else {
                    ElementType::F32
                };
                let a = self.any_of(element);
                let (b, c) = (self.beside(a, element), self.beside(a, element));
                // Two scalars stand beside a tile; two tiles may differ.
                let dims = |value: Value| self.kernel.ty(value).dims.clone();
                let fits = dims(a) == dims(b) || dims(b).is_empty();
                let kind = if fits {
                    OpKind::Fma(a, b, c)
                } else {
                    OpKind::Binary(BinaryOp::Mul, a, b)
                };
                if self.agree(&kind) {
                    self.make(kind)
                } else {
                    a
                }
            }
            9 => {
                let from = self.element();
                let a = self.any_of(from);
                let to = self.element();
                self.make(OpKind::Cast(to, a))
            }
            10 => self.reshaped(),
            11 | 12 if depth > 0 => self.map(depth),
            13..=15 if depth > 0 => self.reduce(depth),
            _ => self.binary(),
        }
    }

    /// Whether the operands suit the operation.
    fn agree(&self, kind: &OpKind) -> bool {
        infer(&self.kernel, kind).1.is_empty()
    }

    fn leaf(&mut self) -> Value {
        let axis = self.choices.pick(&self.tile_axes.clone());
        match self.choices.below(3) {
            0 => self.make(OpKind::Iota(axis)),
            1 => self.make(OpKind::Extent(axis)),
            _ if self.scalars.is_empty() => self.make(OpKind::Iota(axis)),
            _ => {
                let param = self.choices.pick(&self.scalars.clone());
                self.make(OpKind::ScalarParam(param))
            }
        }
    }

    fn unary(&mut self) -> Value {
        let ops: Vec<UnaryOp> = UnaryOp::all().collect();
        let op = self.choices.pick(&ops);
        let accepted: Vec<ElementType> = COMPUTED
            .into_iter()
            .filter(|&e| op.accepts(e) && (self.flavour.doubles || e != ElementType::F64))
            .collect();
        let element = self.choices.pick(&accepted);
        let a = self.any_of(element);
        self.make(OpKind::Unary(op, a))
    }

    fn binary(&mut self) -> Value {
        let op = self.choices.pick(&BinaryOp::ALL);
        let accepted: Vec<ElementType> = COMPUTED
            .into_iter()
            .filter(|&e| op.accepts(e) && (self.flavour.doubles || e != ElementType::F64))
            .collect();
        let element = self.choices.pick(&accepted);
        let a = self.any_of(element);
        let b = self.beside(a, element);
        if self.choices.chance(50) {
            self.make(OpKind::Binary(op, a, b))
        } else {
            self.make(OpKind::Binary(op, b, a))
        }
    }

    fn compare_or_select(&mut self) -> Value {
        let element = self
            .choices
            .pick(&[ElementType::F32, ElementType::F32, ElementType::I32]);
        let a = self.any_of(element);
        let b = self.beside(a, element);
        if self.choices.chance(50) {
            let op = self.choices.pick(&CompareOp::ALL);
            return self.make(OpKind::Compare(op, a, b));
        }
        let condition = self.beside(a, ElementType::Bool);
        let kind = OpKind::Select {
            condition,
            then: a,
            otherwise: b,
        };
        if self.agree(&kind) {
            self.make(kind)
        } else {
            a
        }
    }

    fn reshaped(&mut self) -> Value {
        let Some(a) = self.choose(|ty| !ty.is_scalar()) else {
            return self.leaf();
        };
        let mut dims = self.ty(a).dims.clone();
        match self.choices.below(4) {
            0 if dims.len() < 4 => {
                let at = self.choices.below(dims.len() + 1);
                dims.insert(at, Dim::Unit);
                self.make(OpKind::Reshape(a, dims))
            }
            1 => {
                dims.retain(|&dim| dim != Dim::Unit);
                self.make(OpKind::Reshape(a, dims))
            }
            2 => {
                let missing = self
                    .tile_axes
                    .iter()
                    .copied()
                    .find(|&axis| !dims.contains(&Dim::Axis(axis)));
                match missing {
                    Some(axis) if dims.len() < 3 => {
                        let at = self.choices.below(dims.len() + 1);
                        dims.insert(at, Dim::Axis(axis));
                        self.make(OpKind::Broadcast(a, dims))
                    }
                    _ => a,
                }
            }
            _ => {
                let mut rest: Vec<u32> = (0..dims.len() as u32).collect();
                let mut order = Vec::new();
                while !rest.is_empty() {
                    order.push(rest.swap_remove(self.choices.below(rest.len())));
                }
                self.make(OpKind::Permute(a, order))
            }
        }
    }

    /// A domain: the dimensions of some tile in any order, or some axes, perhaps with a unit dimension.
    fn domain(&mut self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = match self.choose(|ty| !ty.is_scalar()) {
            Some(tile) if self.choices.chance(80) => self.ty(tile).dims.clone(),
            _ => self.some_axes(2).into_iter().map(Dim::Axis).collect(),
        };
        if self.choices.chance(20) {
            dims.reverse();
        }
        if dims.is_empty() || dims.len() < 3 && self.choices.chance(10) {
            dims.push(Dim::Unit);
        }
        dims
    }

    /// A scalar at a point: an element at the nest's coordinates mostly, then a few operations on it.
    fn point(
        &mut self,
        dims: &[Dim],
        coordinates: &[Value],
        depth: usize,
        element: ElementType,
    ) -> Value {
        let wanted: Vec<Dim> = dims.to_vec();
        let tile = self.choose(|ty| {
            !ty.is_scalar()
                && ty.element == element
                && ty
                    .dims
                    .iter()
                    .all(|dim| wanted.contains(dim) || *dim == Dim::Unit)
        });
        let mut value = match tile {
            Some(tile) if !self.choices.chance(10) => {
                let mut at = Vec::new();
                for dim in self.ty(tile).dims.clone() {
                    let place = match wanted.iter().position(|&other| other == dim) {
                        Some(index) if !self.choices.chance(5) => coordinates[index],
                        _ if dim == Dim::Unit => self.i32(0),
                        _ => self.place(),
                    };
                    at.push(place);
                }
                self.make(OpKind::Extract { tile, at })
            }
            _ => match self.choose(|ty| !ty.is_scalar() && ty.element == element) {
                Some(tile) if self.choices.chance(50) => {
                    let rank = self.ty(tile).dims.len();
                    let at = (0..rank).map(|_| self.place()).collect();
                    self.make(OpKind::Extract { tile, at })
                }
                _ => self.scalar_of(element),
            },
        };
        for _ in 0..self.choices.below(3) {
            let other = self.scalar_of(element);
            let ops: Vec<BinaryOp> = BinaryOp::ALL
                .into_iter()
                .filter(|op| op.accepts(element))
                .collect();
            let op = self.choices.pick(&ops);
            let other = if self.choices.chance(30) {
                value
            } else {
                other
            };
            value = self.make(OpKind::Binary(op, value, other));
            if element == ElementType::F32 && self.choices.chance(20) {
                let ops: Vec<UnaryOp> = UnaryOp::all().filter(|op| op.accepts(element)).collect();
                let op = self.choices.pick(&ops);
                value = self.make(OpKind::Unary(op, value));
            }
        }
        if depth > 1 && self.fuel > 0 && self.choices.chance(15) {
            self.fuel -= 1;
            let inner = self.reduce(depth - 1);
            if self.ty(inner).element == element && element != ElementType::Bool {
                value = self.make(OpKind::Binary(BinaryOp::Add, value, inner));
            }
        }
        value
    }

    fn map(&mut self, depth: usize) -> Value {
        let dims = self.domain();
        let frame = self.enter();
        let coordinates: Vec<Value> = dims.iter().map(|_| self.coordinate()).collect();
        let mut yields = Vec::new();
        for _ in 0..if self.choices.chance(15) { 2 } else { 1 } {
            let element = self.element();
            yields.push(self.point(&dims, &coordinates, depth, element));
        }
        let body = self.exit(frame, yields);
        self.make(OpKind::Map { dims, body })
    }

    fn reduce(&mut self, depth: usize) -> Value {
        let dims = self.domain();
        let policy = self.choices.pick(&Policy::ALL);
        let open = policy == Policy::Fold && self.choices.chance(60);
        let count = if self.choices.chance(20) { 2 } else { 1 };
        let elements: Vec<ElementType> = (0..count)
            .map(|_| match self.element() {
                ElementType::Bool => ElementType::I32,
                other => other,
            })
            .collect();
        let mut ops = Vec::new();
        let mut inits = Vec::new();
        for &element in &elements {
            let op = self.choices.pick(&ReduceOp::ALL);
            ops.push(op);
            let init = match op.neutral(element) {
                Some(neutral) if self.choices.chance(60) => self.make(OpKind::Const(neutral)),
                _ => self.scalar_of(element),
            };
            inits.push(init);
        }
        let frame = self.enter();
        let coordinates: Vec<Value> = dims.iter().map(|_| self.coordinate()).collect();
        let mut carries = Vec::new();
        if open {
            for &element in &elements {
                carries.push(self.argument(TileType::scalar(element)));
            }
        }
        let mut yields = Vec::new();
        for (index, &element) in elements.iter().enumerate() {
            let mut value = self.point(&dims, &coordinates, depth, element);
            if open {
                let op = self.choices.pick(&[
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Max,
                    BinaryOp::Mul,
                ]);
                value = self.make(OpKind::Binary(op, carries[index], value));
            }
            yields.push(value);
        }
        let body = self.exit(frame, yields);
        let form = if open {
            ReduceForm::Open
        } else {
            ReduceForm::Closed(ops)
        };
        self.make(OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body,
        })
    }

    fn for_loop(&mut self, depth: usize) {
        let lower = self.choices.pick(&[0, 0, 1, -2]);
        let trips = self.choices.pick(&[0, 1, 3]);
        let lower_value = self.i32(lower);
        let upper_value = self.i32(lower + trips);
        let mut inits = Vec::new();
        for _ in 0..self.choices.below(3) {
            let element = self.element();
            inits.push(self.any_of(element));
        }
        let frame = self.enter();
        self.coordinate();
        for &init in &inits {
            let ty = self.ty(init).clone();
            self.argument(ty);
        }
        for _ in 0..1 + self.choices.below(4) {
            if self.fuel > 0 {
                self.fuel -= 1;
                self.statement(depth - 1);
            }
        }
        let mut yields = Vec::new();
        for &init in &inits {
            let ty = self.ty(init).clone();
            // The carry itself has the type, so there is one.
            let value = self.choose(|other| *other == ty).unwrap_or(init);
            yields.push(value);
        }
        let body = self.exit(frame, yields);
        let op = self.push(OpKind::For {
            lower: lower_value,
            upper: upper_value,
            inits,
            body,
        });
        let results = self.kernel.op(op).results.clone();
        self.scope.extend(results);
    }

    // Memory.

    fn dims_of(&self, view: Param) -> Vec<Axis> {
        self.kernel
            .view(view)
            .map(|view| view.dims.clone())
            .unwrap_or_default()
    }

    /// Subscripts for a dimension that no program owns: all of it, a window that may lie outside, or a coordinate.
    fn free_subscript(&mut self, own: Axis, used: &mut Vec<Axis>) -> Subscript {
        let window = match self.choices.below(10) {
            0..=5 => Some(own),
            6..=7 => Some(self.choices.pick(&self.tile_axes.clone())),
            _ => None,
        };
        match window {
            Some(axis) if self.kernel.axis(axis).extent.is_some() && !used.contains(&axis) => {
                used.push(axis);
                let (origin, step) = if axis == own && !self.choices.chance(15) {
                    (None, 1)
                } else {
                    let step = self.choices.pick(&[1, 1, 2, 3]);
                    (self.choices.chance(60).then(|| self.place()), step)
                };
                Subscript::Window { origin, axis, step }
            }
            _ => {
                let coordinate = match self.root_axes.iter().position(|&axis| axis == own) {
                    Some(index) if !self.choices.chance(15) => self.coordinates[index],
                    _ => self.place(),
                };
                Subscript::At(coordinate)
            }
        }
    }

    /// Subscripts by which a program stays in its own part of a view that is written.
    fn own_subscripts(&mut self, written: &Written) -> Vec<Subscript> {
        if let Keeping::Blocks(block) = written.keeping {
            let distance = self.i32(block as i32);
            let origin = self.make(OpKind::Binary(BinaryOp::Mul, self.coordinates[0], distance));
            let fitting: Vec<Axis> = self
                .tile_axes
                .iter()
                .copied()
                .filter(|&axis| {
                    self.kernel
                        .axis(axis)
                        .extent
                        .is_some_and(|extent| extent <= block)
                })
                .collect();
            if fitting.is_empty() || self.choices.chance(20) {
                let offset = self.choices.below(block as usize) as i32;
                let offset = self.i32(offset);
                return vec![Subscript::At(self.make(OpKind::Binary(
                    BinaryOp::Add,
                    origin,
                    offset,
                )))];
            }
            let axis = self.choices.pick(&fitting);
            return vec![Subscript::Window {
                origin: Some(origin),
                axis,
                step: 1,
            }];
        }
        let dims = self.dims_of(written.view);
        let mut used = Vec::new();
        let mut at: Vec<Subscript> = self.coordinates.iter().map(|&c| Subscript::At(c)).collect();
        for &axis in &dims[at.len()..] {
            let subscript = self.free_subscript(axis, &mut used);
            at.push(subscript);
        }
        at
    }

    fn load(&mut self) -> Value {
        let choice = self.choices.below(self.inputs.len() + self.written.len());
        let (view, at) = match choice
            .checked_sub(self.inputs.len())
            .map(|index| self.written[index].clone())
        {
            Some(written) if written.now => {
                let at = self.own_subscripts(&written);
                (written.view, at)
            }
            other => {
                let view = other.map_or_else(
                    || self.inputs[choice.min(self.inputs.len() - 1)],
                    |w| w.view,
                );
                let mut used = Vec::new();
                let dims = self.dims_of(view);
                let at = dims
                    .into_iter()
                    .map(|axis| self.free_subscript(axis, &mut used))
                    .collect();
                (view, at)
            }
        };
        self.make(OpKind::Load { view, at })
    }

    fn store(&mut self, index: usize) {
        let written = self.written[index].clone();
        let at = self.own_subscripts(&written);
        let dims: Vec<Dim> = at
            .iter()
            .filter_map(|subscript| match *subscript {
                Subscript::At(_) => None,
                Subscript::Window { axis, .. } => Some(Dim::Axis(axis)),
            })
            .collect();
        let element = match self.kernel.view(written.view) {
            Some(view) => view.element.compute_type(),
            None => return,
        };
        let value = self.fitted(element, &dims);
        self.push(OpKind::Store {
            view: written.view,
            at,
            value,
        });
    }

    /// A value that can be stored as these dimensions: a tile made to fit, or a scalar.
    fn fitted(&mut self, element: ElementType, dims: &[Dim]) -> Value {
        let wanted = dims.to_vec();
        if let Some(value) =
            self.choose(|ty| ty.element == element && (ty.dims == wanted || ty.is_scalar()))
            && !self.choices.chance(30)
        {
            return value;
        }
        let inside = |ty: &TileType| {
            ty.dims
                .iter()
                .all(|dim| *dim == Dim::Unit || wanted.contains(dim))
        };
        let Some(mut value) = self.choose(|ty| !ty.is_scalar() && inside(ty)) else {
            let value = self.any_of(element);
            if self.ty(value).is_scalar() {
                return value;
            } else {
                return self.make_constant(element);
            }
        };
        if self.ty(value).element != element {
            value = self.make(OpKind::Cast(element, value));
        }
        let mut own = self.ty(value).dims.clone();
        if own.contains(&Dim::Unit) {
            own.retain(|&dim| dim != Dim::Unit);
            value = self.make(OpKind::Reshape(value, own.clone()));
        }
        let ordered: Vec<Dim> = wanted
            .iter()
            .copied()
            .filter(|dim| own.contains(dim))
            .collect();
        if ordered != own {
            let place = |dim: &Dim| own.iter().position(|other| other == dim).unwrap_or(0) as u32;
            value = self.make(OpKind::Permute(value, ordered.iter().map(place).collect()));
        }
        if ordered.len() < wanted.len() && !ordered.is_empty() {
            value = self.make(OpKind::Broadcast(value, wanted));
        }
        value
    }
}
