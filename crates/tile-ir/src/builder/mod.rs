//! Kernels built in Rust, with the meaning they have in the text.
//!
//! Values are [`Tile`]s with operators, nests are closures, and whatever is written goes into the nest whose closure runs.
//! Nothing here fails on the spot: mistakes are collected and [`KernelBuilder::finish`] tells them all, each with the line
//! of Rust that made it.
//!
//! ```
//! use numerics::ElementType::F32;
//! use tile_ir::builder::{KernelBuilder, all, at};
//! use tile_ir::{Policy, ReduceOp};
//!
//! let k = KernelBuilder::new("rmsnorm");
//! let row = k.axis("row");
//! let col = k.axis_of("col", 256);
//! let x = k.view("x", F32, [row, col]);
//! let w = k.view("w", F32, [col]);
//! let y = k.view_mut("y", F32, [row, col]);
//! let eps = k.scalar("eps", F32);
//! k.parallel([row], |p, [r]| {
//!     let xs = p.load(x, [at(r), all()]);
//!     let sum = p.reduce([col], Policy::Unordered, ReduceOp::Add, 0.0, |_, [c]| xs.at([c]) * xs.at([c]));
//!     let rms = (sum / 256.0 + eps).sqrt();
//!     let ws = p.load(w, [all()]);
//!     p.store(y, [at(r), all()], xs / rms * ws);
//! });
//! let kernel = k.finish().unwrap();
//! assert_eq!(kernel.open_axes(), []);
//! ```

mod operand;
mod tile;

use std::cell::RefCell;
use std::ops::Deref;

use diagnostics::{Diagnostic, Diagnostics, Location};
use numerics::{ElementType, Scalar};

pub use operand::{Operand, Place, ScalarParam, Term, View, Yields, all, along, at, window};
pub use tile::Tile;

use crate::canonical::canonical;
use crate::closed_form::close_body;
use crate::kernel::{
    AxisData, Dim, Kernel, ParamData, ParamKind, Stride, TileType, ViewType, default_strides,
};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{OpKind, Policy, ReduceForm, ReduceOp, Subscript};
use crate::verifier::{infer, violations};

/// A kernel that is being built.
#[derive(Debug)]
pub struct KernelBuilder {
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    kernel: Kernel,
    /// The region that is open.
    region: Region,
    poisoned: Vec<bool>,
    mistakes: Vec<Diagnostic>,
}

/// A view to be declared, with what [`KernelBuilder::view`] leaves at its default.
#[derive(Clone, Debug)]
pub struct ViewSpec {
    name: String,
    ty: ViewType,
}

impl ViewSpec {
    /// A read-only view, dense along its innermost dimension, filled with zeros outside.
    pub fn new<const N: usize>(
        name: impl Into<String>,
        element: ElementType,
        dims: [Axis; N],
    ) -> ViewSpec {
        let ty = ViewType {
            element,
            dims: dims.to_vec(),
            strides: default_strides(N),
            fill: Scalar::zero(element),
            mutable: false,
        };
        ViewSpec {
            name: name.into(),
            ty,
        }
    }

    /// The kernel may store through it.
    pub fn mutable(mut self) -> ViewSpec {
        self.ty.mutable = true;
        self
    }

    /// What reads outside the bounds give.
    pub fn fill(mut self, fill: impl Into<Scalar>) -> ViewSpec {
        self.ty.fill = fill.into();
        self
    }

    /// What a launch must say about strides, one a dimension, in elements.
    pub fn strides<const N: usize>(mut self, strides: [Stride; N]) -> ViewSpec {
        self.ty.strides = strides.to_vec();
        self
    }
}

impl From<Axis> for Dim {
    fn from(axis: Axis) -> Dim {
        Dim::Axis(axis)
    }
}

impl KernelBuilder {
    /// An empty kernel.
    pub fn new(name: impl Into<String>) -> KernelBuilder {
        let kernel = Kernel::new(name);
        let region = kernel.body();
        let state = State {
            kernel,
            region,
            poisoned: Vec::new(),
            mistakes: Vec::new(),
        };
        KernelBuilder {
            state: RefCell::new(state),
        }
    }

    /// An axis whose extent is fixed later or given at launch.
    #[track_caller]
    pub fn axis(&self, name: impl Into<String>) -> Axis {
        let data = AxisData {
            name: name.into(),
            extent: None,
            location: Location::caller(),
        };
        self.state.borrow_mut().kernel.add_axis(data)
    }

    /// An axis of fixed extent.
    #[track_caller]
    pub fn axis_of(&self, name: impl Into<String>, extent: u32) -> Axis {
        let data = AxisData {
            name: name.into(),
            extent: Some(extent),
            location: Location::caller(),
        };
        self.state.borrow_mut().kernel.add_axis(data)
    }

    /// A read-only view along these axes.
    #[track_caller]
    pub fn view<const N: usize>(
        &self,
        name: impl Into<String>,
        element: ElementType,
        dims: [Axis; N],
    ) -> View {
        self.declare(ViewSpec::new(name, element, dims), Location::caller())
    }

    /// A view along these axes that the kernel may store through.
    #[track_caller]
    pub fn view_mut<const N: usize>(
        &self,
        name: impl Into<String>,
        element: ElementType,
        dims: [Axis; N],
    ) -> View {
        self.declare(
            ViewSpec::new(name, element, dims).mutable(),
            Location::caller(),
        )
    }

    /// A view with everything stated.
    #[track_caller]
    pub fn view_with(&self, spec: ViewSpec) -> View {
        self.declare(spec, Location::caller())
    }

    fn declare(&self, spec: ViewSpec, location: Location) -> View {
        let dims: Vec<Dim> = spec.ty.dims.iter().map(|&axis| Dim::Axis(axis)).collect();
        let mut ty = spec.ty;
        if !self.knows_dims(&dims, location) {
            ty.strides.clear();
            ty.dims.clear();
        }
        let kind = ParamKind::View(ty);
        let param = self.state.borrow_mut().kernel.add_param(ParamData {
            name: spec.name,
            kind,
            location,
        });
        View { param }
    }

    /// A scalar parameter: f32, f64, i32 or bool.
    #[track_caller]
    pub fn scalar(&self, name: impl Into<String>, element: ElementType) -> ScalarParam {
        let data = ParamData {
            name: name.into(),
            kind: ParamKind::Scalar(element),
            location: Location::caller(),
        };
        ScalarParam {
            param: self.state.borrow_mut().kernel.add_param(data),
        }
    }

    /// A root nest: one program a point of the domain (without axes: one program), after all programs of the nests before.
    #[track_caller]
    pub fn parallel<'k, const N: usize>(
        &'k self,
        axes: [Axis; N],
        body: impl FnOnce(Body<'k>, [Tile<'k>; N]),
    ) {
        let location = Location::caller();
        let (region, outer) = self.open();
        let coordinates = self.coordinates(region);
        body(
            Body {
                point: Point { builder: self },
            },
            coordinates,
        );
        self.close(outer, Vec::new());
        let dims: Vec<Dim> = axes.iter().map(|&axis| Dim::Axis(axis)).collect();
        if self.knows_dims(&dims, location) {
            self.push(
                OpKind::Parallel {
                    axes: axes.to_vec(),
                    body: region,
                },
                location,
            );
        }
    }

    /// Between two root nests: the nests are stages already, so this only says it aloud.
    #[track_caller]
    pub fn stage(&self) {
        self.push(OpKind::Stage, Location::caller());
    }

    /// The kernel, checked against every rule and in canonical numbering; [`verify`](crate::verify) accepts it.
    ///
    /// # Errors
    /// Every mistake, each with the line of Rust that made it.
    pub fn finish(self) -> Result<Kernel, Diagnostics> {
        let State {
            kernel,
            poisoned,
            mistakes,
            ..
        } = self.state.into_inner();
        let mut found = Diagnostics::from(mistakes);
        found.extend(violations(&kernel, &poisoned));
        found.into_result(())?;
        Ok(canonical(kernel))
    }

    // Regions.

    fn open(&self) -> (Region, Region) {
        let mut state = self.state.borrow_mut();
        let region = state.kernel.add_region();
        let outer = std::mem::replace(&mut state.region, region);
        (region, outer)
    }

    /// Ends the open region, which yields `values`, and opens the outer one again.
    fn close(&self, outer: Region, values: Vec<Value>) {
        let mut state = self.state.borrow_mut();
        let region = std::mem::replace(&mut state.region, outer);
        state.kernel.set_yields(region, values);
    }

    fn coordinates<'k, const N: usize>(&'k self, region: Region) -> [Tile<'k>; N] {
        std::array::from_fn(|_| self.argument(region, TileType::scalar(ElementType::I32)))
    }

    fn argument(&self, region: Region, ty: TileType) -> Tile<'_> {
        let value = self.state.borrow_mut().kernel.add_arg(region, ty, None);
        Tile {
            builder: self,
            value,
        }
    }

    // Operations.

    fn push(&self, kind: OpKind, location: Location) -> Op {
        self.state.borrow_mut().push(kind, location)
    }

    fn emit(&self, kind: OpKind, location: Location) -> Value {
        self.state.borrow_mut().make(kind, location)
    }

    fn tile(&self, kind: OpKind, location: Location) -> Tile<'_> {
        Tile {
            builder: self,
            value: self.emit(kind, location),
        }
    }

    fn tiles(&self, op: Op) -> Vec<Tile<'_>> {
        let results = self.state.borrow().kernel.op(op).results.clone();
        results
            .into_iter()
            .map(|value| Tile {
                builder: self,
                value,
            })
            .collect()
    }

    fn poison(&self) -> Value {
        self.state.borrow_mut().poison()
    }

    fn poisoned(&self) -> Tile<'_> {
        Tile {
            builder: self,
            value: self.poison(),
        }
    }

    // Handles of other kernels.

    fn foreign(&self, what: &str, location: Location) {
        let diagnostic = Diagnostic::error(
            "foreign-handle",
            format!("this {what} belongs to another kernel"),
        )
        .at(location)
        .with_help("use handles that this builder gave out");
        self.state.borrow_mut().mistakes.push(diagnostic);
    }

    fn own(&self, tile: Tile<'_>, location: Location) -> Value {
        if std::ptr::eq(tile.builder, self) {
            return tile.value;
        }
        self.foreign("tile", location);
        self.poison()
    }

    fn knows_param(&self, param: Param, location: Location) -> bool {
        let known = param.index() < self.state.borrow().kernel.params().len();
        if !known {
            self.foreign("parameter", location);
        }
        known
    }

    fn knows_axis(&self, axis: Axis, location: Location) -> bool {
        self.knows_dims(&[Dim::Axis(axis)], location)
    }

    fn knows_dims(&self, dims: &[Dim], location: Location) -> bool {
        let count = self.state.borrow().kernel.axes().len();
        let known = dims.iter().all(|dim| match dim {
            Dim::Axis(axis) => axis.index() < count,
            Dim::Unit => true,
        });
        if !known {
            self.foreign("axis", location);
        }
        known
    }

    fn subscripts<'k>(
        &'k self,
        view: View,
        places: impl IntoIterator<Item = Place<'k>>,
        location: Location,
    ) -> Option<Vec<Subscript>> {
        if !self.knows_param(view.param, location) {
            return None;
        }
        let dims = self
            .state
            .borrow()
            .kernel
            .view(view.param)
            .map(|view| view.dims.clone())
            .unwrap_or_default();
        let one = |(index, place): (usize, Place<'k>)| {
            let own = dims.get(index).or(dims.last()).copied();
            place.subscript(own, self, location)
        };
        places.into_iter().enumerate().map(one).collect()
    }
}

impl State {
    fn push(&mut self, kind: OpKind, location: Location) -> Op {
        let (types, _) = infer(&self.kernel, &kind);
        self.kernel.add_op(self.region, kind, types, location)
    }

    fn make(&mut self, kind: OpKind, location: Location) -> Value {
        let op = self.push(kind, location);
        match self.kernel.op(op).results.first() {
            Some(&value) => value,
            None => self.poison(),
        }
    }

    /// A value about which everything was said.
    fn poison(&mut self) -> Value {
        let ty = TileType::scalar(ElementType::F32);
        let op = self.kernel.add_op(
            self.region,
            OpKind::Const(Scalar::F32(0.0)),
            vec![ty],
            Location::None,
        );
        let value = self.kernel.op(op).results[0];
        self.poisoned.resize(value.index() + 1, false);
        self.poisoned[value.index()] = true;
        value
    }

    fn reduce_tile(
        &mut self,
        op: ReduceOp,
        policy: Policy,
        tile: Value,
        location: Location,
    ) -> Value {
        let ty = self.kernel.ty(tile).clone();
        let neutral = op.neutral(ty.element).unwrap_or(Scalar::Bool(false));
        let init = self.make(OpKind::Const(neutral), location);
        let region = self.kernel.add_region();
        let outer = std::mem::replace(&mut self.region, region);
        let coordinate = TileType::scalar(ElementType::I32);
        let at = ty
            .dims
            .iter()
            .map(|_| self.kernel.add_arg(region, coordinate.clone(), None))
            .collect();
        let element = self.make(OpKind::Extract { tile, at }, location);
        self.region = outer;
        self.kernel.set_yields(region, vec![element]);
        let form = ReduceForm::Closed(vec![op]);
        self.make(
            OpKind::Reduce {
                dims: ty.dims,
                policy,
                form,
                inits: vec![init],
                body: region,
            },
            location,
        )
    }
}

/// A nest without effects that is open: the body of a `map` or `reduce`, or any other.
#[derive(Clone, Copy, Debug)]
pub struct Point<'k> {
    builder: &'k KernelBuilder,
}

/// The body of a `parallel` or `for` that is open: everything a [`Point`] does, and effects.
#[derive(Clone, Copy, Debug)]
pub struct Body<'k> {
    point: Point<'k>,
}

impl<'k> Deref for Body<'k> {
    type Target = Point<'k>;

    fn deref(&self) -> &Point<'k> {
        &self.point
    }
}

impl<'k> Point<'k> {
    /// A constant of type f32.
    #[track_caller]
    pub fn f32(self, value: f32) -> Tile<'k> {
        self.builder
            .tile(OpKind::Const(Scalar::F32(value)), Location::caller())
    }

    /// A constant of type f64.
    #[track_caller]
    pub fn f64(self, value: f64) -> Tile<'k> {
        self.builder
            .tile(OpKind::Const(Scalar::F64(value)), Location::caller())
    }

    /// A constant of type i32.
    #[track_caller]
    pub fn i32(self, value: i32) -> Tile<'k> {
        self.builder
            .tile(OpKind::Const(Scalar::I32(value)), Location::caller())
    }

    /// A constant of type bool.
    #[track_caller]
    pub fn bool(self, value: bool) -> Tile<'k> {
        self.builder
            .tile(OpKind::Const(Scalar::Bool(value)), Location::caller())
    }

    /// The value of a scalar parameter, or of anything that may stand for a value.
    #[track_caller]
    pub fn value(self, operand: impl Operand<'k>) -> Tile<'k> {
        let value = operand.term().value(self.builder, Location::caller());
        Tile {
            builder: self.builder,
            value,
        }
    }

    /// The extent of an axis, i32.
    #[track_caller]
    pub fn extent(self, axis: Axis) -> Tile<'k> {
        self.of_axis(axis, OpKind::Extent, Location::caller())
    }

    /// The i32 tile along an axis that holds its own coordinates.
    #[track_caller]
    pub fn iota(self, axis: Axis) -> Tile<'k> {
        self.of_axis(axis, OpKind::Iota, Location::caller())
    }

    fn of_axis(
        self,
        axis: Axis,
        make: impl FnOnce(Axis) -> OpKind,
        location: Location,
    ) -> Tile<'k> {
        if self.builder.knows_axis(axis, location) {
            self.builder.tile(make(axis), location)
        } else {
            self.builder.poisoned()
        }
    }

    /// A tile (or several) built point by point from the scalars that `body` gives at each point.
    #[track_caller]
    pub fn map<D: Into<Dim>, R: Yields<'k>, const N: usize>(
        self,
        dims: [D; N],
        body: impl FnOnce(Point<'k>, [Tile<'k>; N]) -> R,
    ) -> R {
        let location = Location::caller();
        let dims: Vec<Dim> = dims.map(Into::into).to_vec();
        let (region, outer) = self.builder.open();
        let yields = body(self, self.builder.coordinates(region)).terms();
        let count = yields.len();
        let values = yields
            .into_iter()
            .map(|term| term.value(self.builder, location))
            .collect();
        self.builder.close(outer, values);
        self.nest(count, dims, location, |dims| OpKind::Map {
            dims,
            body: region,
        })
    }

    /// The results of a nest in their shape; poison if its domain is no domain of this kernel.
    fn nest<R: Yields<'k>>(
        self,
        count: usize,
        dims: Vec<Dim>,
        location: Location,
        make: impl FnOnce(Vec<Dim>) -> OpKind,
    ) -> R {
        let mut tiles = Vec::new();
        if self.builder.knows_dims(&dims, location) {
            tiles = self.builder.tiles(self.builder.push(make(dims), location));
        }
        while tiles.len() < count {
            tiles.push(self.builder.poisoned());
        }
        R::results(&tiles)
    }

    /// Contributions that `body` gives at each point, combined from `init` by one operation under a policy.
    #[track_caller]
    pub fn reduce<D: Into<Dim>, C: Operand<'k>, const N: usize>(
        self,
        dims: [D; N],
        policy: Policy,
        op: ReduceOp,
        init: impl Operand<'k>,
        body: impl FnOnce(Point<'k>, [Tile<'k>; N]) -> C,
    ) -> Tile<'k> {
        let location = Location::caller();
        let dims: Vec<Dim> = dims.map(Into::into).to_vec();
        let inits = vec![init.term().value(self.builder, location)];
        let (region, outer) = self.builder.open();
        let contribution = body(self, self.builder.coordinates(region)).term();
        let value = contribution.value(self.builder, location);
        self.builder.close(outer, vec![value]);
        let form = ReduceForm::Closed(vec![op]);
        self.nest(1, dims, location, |dims| OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body: region,
        })
    }

    /// Several closed reductions in one traversal, one operation and initial value each.
    #[track_caller]
    pub fn reduce_many<D: Into<Dim>, I: Operand<'k>, const N: usize, const M: usize>(
        self,
        dims: [D; N],
        policy: Policy,
        carries: [(ReduceOp, I); M],
        body: impl FnOnce(Point<'k>, [Tile<'k>; N]) -> [Tile<'k>; M],
    ) -> [Tile<'k>; M] {
        let location = Location::caller();
        let dims: Vec<Dim> = dims.map(Into::into).to_vec();
        let (ops, inits): (Vec<ReduceOp>, Vec<Value>) = carries
            .into_iter()
            .map(|(op, init)| (op, init.term().value(self.builder, location)))
            .unzip();
        let (region, outer) = self.builder.open();
        let yields = body(self, self.builder.coordinates(region)).terms();
        let values = yields
            .into_iter()
            .map(|term| term.value(self.builder, location))
            .collect();
        self.builder.close(outer, values);
        let form = ReduceForm::Closed(ops);
        self.nest(M, dims, location, |dims| OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body: region,
        })
    }

    /// A reduction whose body sees its carries and gives their next values. Under `fold` it may do anything with them;
    /// under `unordered` and `tree` each carry must be updated by exactly one add, mul, min or max.
    #[track_caller]
    pub fn reduce_carry<D: Into<Dim>, I: Operand<'k>, const N: usize, const M: usize>(
        self,
        dims: [D; N],
        policy: Policy,
        inits: [I; M],
        body: impl FnOnce(Point<'k>, [Tile<'k>; N], [Tile<'k>; M]) -> [Tile<'k>; M],
    ) -> [Tile<'k>; M] {
        let location = Location::caller();
        let dims: Vec<Dim> = dims.map(Into::into).to_vec();
        let inits = inits.map(|init| init.term().value(self.builder, location));
        let (region, outer) = self.builder.open();
        let coordinates = self.builder.coordinates(region);
        let carries = self.carries(region, &inits);
        let yields = body(self, coordinates, carries).terms();
        let values = yields
            .into_iter()
            .map(|term| term.value(self.builder, location))
            .collect();
        self.builder.close(outer, values);
        let form = match policy {
            Policy::Fold => ReduceForm::Open,
            Policy::Unordered | Policy::Tree => {
                let closed = close_body(&mut self.builder.state.borrow_mut().kernel, region, N);
                closed.map_or(ReduceForm::Open, ReduceForm::Closed)
            }
        };
        let inits = inits.to_vec();
        self.nest(M, dims, location, |dims| OpKind::Reduce {
            dims,
            policy,
            form,
            inits,
            body: region,
        })
    }

    fn carries<const M: usize>(self, region: Region, inits: &[Value; M]) -> [Tile<'k>; M] {
        std::array::from_fn(|index| {
            let ty = self.builder.state.borrow().kernel.ty(inits[index]).clone();
            self.builder.argument(region, ty)
        })
    }
}

impl<'k> Body<'k> {
    /// A snapshot of what a view holds now.
    #[track_caller]
    pub fn load(self, view: View, places: impl IntoIterator<Item = Place<'k>>) -> Tile<'k> {
        let location = Location::caller();
        let builder = self.builder;
        match builder.subscripts(view, places, location) {
            Some(at) => builder.tile(
                OpKind::Load {
                    view: view.param,
                    at,
                },
                location,
            ),
            None => builder.poisoned(),
        }
    }

    /// Writes a tile, or a scalar to every place.
    #[track_caller]
    pub fn store(
        self,
        view: View,
        places: impl IntoIterator<Item = Place<'k>>,
        value: impl Operand<'k>,
    ) {
        let location = Location::caller();
        let builder = self.builder;
        let value = value.term().value(builder, location);
        if let Some(at) = builder.subscripts(view, places, location) {
            builder.push(
                OpKind::Store {
                    view: view.param,
                    at,
                    value,
                },
                location,
            );
        }
    }

    /// Every program reaches this point before any goes on.
    #[track_caller]
    pub fn stage(self) {
        self.builder.push(OpKind::Stage, Location::caller());
    }

    /// An effect about which nothing is known: the caller's hook of this number.
    #[track_caller]
    pub fn opaque(self, id: u32) {
        self.builder.push(OpKind::Opaque { id }, Location::caller());
    }

    /// `for i in lower .. upper`, without carries.
    #[track_caller]
    pub fn repeat(
        self,
        lower: impl Operand<'k>,
        upper: impl Operand<'k>,
        body: impl FnOnce(Body<'k>, Tile<'k>),
    ) {
        let inits: [Tile<'k>; 0] = [];
        self.looped(
            lower.term(),
            upper.term(),
            inits,
            Location::caller(),
            |inner, i, []| {
                body(inner, i);
                []
            },
        );
    }

    /// `for i in lower .. upper` with carries; the body gives their next values, the loop the last ones.
    #[track_caller]
    pub fn repeat_with<I: Operand<'k>, const M: usize>(
        self,
        lower: impl Operand<'k>,
        upper: impl Operand<'k>,
        inits: [I; M],
        body: impl FnOnce(Body<'k>, Tile<'k>, [Tile<'k>; M]) -> [Tile<'k>; M],
    ) -> [Tile<'k>; M] {
        self.looped(lower.term(), upper.term(), inits, Location::caller(), body)
    }

    fn looped<I: Operand<'k>, const M: usize>(
        self,
        lower: Term<'k>,
        upper: Term<'k>,
        inits: [I; M],
        location: Location,
        body: impl FnOnce(Body<'k>, Tile<'k>, [Tile<'k>; M]) -> [Tile<'k>; M],
    ) -> [Tile<'k>; M] {
        let builder = self.builder;
        let lower = lower.value(builder, location);
        let upper = upper.value(builder, location);
        let inits = inits.map(|init| init.term().value(builder, location));
        let (region, outer) = builder.open();
        let [i] = builder.coordinates(region);
        let carries = self.carries(region, &inits);
        let yields = body(self, i, carries).terms();
        let values = yields
            .into_iter()
            .map(|term| term.value(builder, location))
            .collect();
        builder.close(outer, values);
        let kind = OpKind::For {
            lower,
            upper,
            inits: inits.to_vec(),
            body: region,
        };
        Yields::results(&builder.tiles(builder.push(kind, location)))
    }
}
