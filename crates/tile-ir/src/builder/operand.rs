//! What may stand where a value is asked for: a tile, a number, a scalar parameter.

use diagnostics::Location;
use numerics::Scalar;

use super::{KernelBuilder, Tile};
use crate::keys::{Axis, Param, Value};
use crate::ops::{OpKind, Subscript};

/// A view parameter of the kernel that is being built.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub(super) param: Param,
}

impl View {
    /// Its key in the finished kernel.
    pub fn param(self) -> Param {
        self.param
    }
}

/// A scalar parameter of the kernel that is being built; it may stand wherever a value may.
#[derive(Clone, Copy, Debug)]
pub struct ScalarParam {
    pub(super) param: Param,
}

impl ScalarParam {
    /// Its key in the finished kernel.
    pub fn param(self) -> Param {
        self.param
    }
}

/// A value to be: what [`Operand`] turns its implementors into.
#[derive(Clone, Copy, Debug)]
pub enum Term<'k> {
    /// A value that exists.
    Tile(Tile<'k>),
    /// A constant.
    Constant(Scalar),
    /// A scalar parameter.
    Param(ScalarParam),
}

/// What may stand where a value is asked for: a [`Tile`], a [`ScalarParam`], or a number (f32, i32, bool). A constant of
/// type f64 is made with [`Point::f64`](super::Point::f64), so that a plain `0.1` never loses bits on its way to one.
pub trait Operand<'k> {
    /// The value to be.
    fn term(self) -> Term<'k>;
}

impl<'k> Operand<'k> for Tile<'k> {
    fn term(self) -> Term<'k> {
        Term::Tile(self)
    }
}

impl<'k> Operand<'k> for Term<'k> {
    fn term(self) -> Term<'k> {
        self
    }
}

impl<'k> Operand<'k> for ScalarParam {
    fn term(self) -> Term<'k> {
        Term::Param(self)
    }
}

impl<'k> Operand<'k> for f32 {
    fn term(self) -> Term<'k> {
        Term::Constant(Scalar::F32(self))
    }
}

impl<'k> Operand<'k> for i32 {
    fn term(self) -> Term<'k> {
        Term::Constant(Scalar::I32(self))
    }
}

impl<'k> Operand<'k> for bool {
    fn term(self) -> Term<'k> {
        Term::Constant(Scalar::Bool(self))
    }
}

impl<'k> Term<'k> {
    /// The value, made in the region that is open now if it is not there yet.
    pub(super) fn value(self, builder: &'k KernelBuilder, location: Location) -> Value {
        match self {
            Term::Tile(tile) => builder.own(tile, location),
            Term::Constant(scalar) => builder.emit(OpKind::Const(scalar), location),
            Term::Param(scalar) => {
                if builder.knows_param(scalar.param, location) {
                    builder.emit(OpKind::ScalarParam(scalar.param), location)
                } else {
                    builder.poison()
                }
            }
        }
    }
}

/// What a body yields: one value, or an array of them. The nest gives back as many.
pub trait Yields<'k>: Sized {
    /// The values to be, in order.
    fn terms(self) -> Vec<Term<'k>>;
    /// The nest's results, in the same shape; there is one for each term.
    fn results(results: &[Tile<'k>]) -> Self;
}

impl<'k> Yields<'k> for Tile<'k> {
    fn terms(self) -> Vec<Term<'k>> {
        vec![Term::Tile(self)]
    }

    fn results(results: &[Tile<'k>]) -> Tile<'k> {
        results[0]
    }
}

impl<'k, const N: usize> Yields<'k> for [Tile<'k>; N] {
    fn terms(self) -> Vec<Term<'k>> {
        self.into_iter().map(Term::Tile).collect()
    }

    fn results(results: &[Tile<'k>]) -> [Tile<'k>; N] {
        std::array::from_fn(|index| results[index])
    }
}

/// How one dimension of a view is addressed; made by [`at`], [`all`], [`along`] and [`window`].
#[derive(Clone, Copy, Debug)]
pub struct Place<'k> {
    kind: PlaceKind<'k>,
    step: u32,
}

#[derive(Clone, Copy, Debug)]
enum PlaceKind<'k> {
    At(Term<'k>),
    All,
    Window {
        origin: Option<Term<'k>>,
        axis: Axis,
    },
}

/// One coordinate: the dimension disappears.
pub fn at<'k>(coordinate: impl Operand<'k>) -> Place<'k> {
    Place {
        kind: PlaceKind::At(coordinate.term()),
        step: 1,
    }
}

/// The whole dimension: `:`.
pub fn all<'k>() -> Place<'k> {
    Place {
        kind: PlaceKind::All,
        step: 1,
    }
}

/// As many coordinates as `axis` has, from 0: `: axis`.
pub fn along<'k>(axis: Axis) -> Place<'k> {
    Place {
        kind: PlaceKind::Window { origin: None, axis },
        step: 1,
    }
}

/// As many coordinates as `axis` has, from `origin`: `origin : axis`.
pub fn window<'k>(origin: impl Operand<'k>, axis: Axis) -> Place<'k> {
    Place {
        kind: PlaceKind::Window {
            origin: Some(origin.term()),
            axis,
        },
        step: 1,
    }
}

impl<'k> Place<'k> {
    /// Every `step`-th coordinate of a window. A single coordinate has no step.
    pub fn step(self, step: u32) -> Place<'k> {
        Place { step, ..self }
    }

    /// The subscript, for a dimension that runs along `own`.
    pub(super) fn subscript(
        self,
        own: Option<Axis>,
        builder: &'k KernelBuilder,
        location: Location,
    ) -> Option<Subscript> {
        match self.kind {
            PlaceKind::At(term) => Some(Subscript::At(term.value(builder, location))),
            // Beyond the view's dimensions there is no own axis; the verifier counts subscripts.
            PlaceKind::All => own.map(|axis| Subscript::Window {
                origin: None,
                axis,
                step: self.step,
            }),
            PlaceKind::Window { origin, axis } => {
                let origin = origin.map(|term| term.value(builder, location));
                builder
                    .knows_axis(axis, location)
                    .then_some(Subscript::Window {
                        origin,
                        axis,
                        step: self.step,
                    })
            }
        }
    }
}
