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

mod nest;
mod operand;
mod tile;

use std::cell::RefCell;

use diagnostics::{Diagnostic, Diagnostics, Location};
use numerics::{ElementType, Scalar};

pub use nest::{Body, Point};
pub use operand::{Operand, Place, ScalarParam, Term, View, Yields, all, along, at, window};
pub use tile::Tile;

use crate::canonical::canonical;
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
        body(Body::new(self), coordinates);
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
