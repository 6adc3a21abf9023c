//! Nests that are open: what a body of a kernel that is being built can write.

use std::ops::Deref;

use diagnostics::Location;
use numerics::Scalar;

use super::operand::{Operand, Place, Term, View, Yields};
use super::{KernelBuilder, Tile};
use crate::closed_form::close_body;
use crate::kernel::Dim;
use crate::keys::{Axis, Region, Value};
use crate::ops::{OpKind, Policy, ReduceForm, ReduceOp};

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

impl<'k> Body<'k> {
    pub(super) fn new(builder: &'k KernelBuilder) -> Body<'k> {
        Body {
            point: Point { builder },
        }
    }
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
