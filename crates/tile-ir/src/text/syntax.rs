//! What a text says before names and types are looked at.
//!
//! Runs of operators of one precedence are flat lists, so the depth of a tree is bounded by parentheses and braces, which
//! the parser counts. That keeps every walk, dropping included, within a small stack.

use diagnostics::Span;
use numerics::ElementType;

use crate::ops::{BinaryOp, CompareOp, Policy, ReduceOp};

/// A name where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// A whole text.
#[derive(Debug)]
pub(crate) struct KernelSyntax<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) params: Vec<ParamSyntax<'t>>,
    pub(crate) axes: Vec<AxisSyntax<'t>>,
    pub(crate) body: Block<'t>,
}

/// `col = 256` or `win`.
#[derive(Debug)]
pub(crate) struct AxisSyntax<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) extent: Option<u32>,
}

/// One parameter.
#[derive(Debug)]
pub(crate) struct ParamSyntax<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) element: ElementType,
    /// `None` for a scalar.
    pub(crate) view: Option<ViewSyntax<'t>>,
}

/// What a view adds to its element type.
#[derive(Debug)]
pub(crate) struct ViewSyntax<'t> {
    pub(crate) mutable: bool,
    pub(crate) dims: Vec<Name<'t>>,
    /// `None` inside is `*`.
    pub(crate) strides: Option<Vec<Option<i64>>>,
    pub(crate) fill: Option<Expr<'t>>,
}

/// `{ ... }`.
#[derive(Debug)]
pub(crate) struct Block<'t> {
    pub(crate) statements: Vec<Statement<'t>>,
    /// The opening brace.
    pub(crate) start: Span,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Statement<'t> {
    pub(crate) kind: StatementKind<'t>,
    pub(crate) span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StatementKind<'t> {
    Let {
        names: Vec<Name<'t>>,
        value: Expr<'t>,
    },
    Store {
        view: Name<'t>,
        at: Vec<SubscriptSyntax<'t>>,
        value: Expr<'t>,
    },
    Stage,
    Opaque(u32),
    Yield(Vec<Expr<'t>>),
    Parallel {
        coordinates: Vec<Coordinate<'t>>,
        body: Block<'t>,
    },
    /// A `for` whose results nobody names.
    For(Expr<'t>),
}

/// `c: col`, or `u: 1` with no axis.
#[derive(Debug)]
pub(crate) struct Coordinate<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) axis: Option<Name<'t>>,
}

/// A dimension in a list: an axis, `1`, or `#0`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DimSyntax<'t> {
    Axis(Name<'t>),
    Unit,
    Position(u32),
}

/// A subscript of a view.
#[derive(Debug)]
pub(crate) enum SubscriptSyntax<'t> {
    At(Expr<'t>),
    Window {
        origin: Option<Expr<'t>>,
        axis: Option<Name<'t>>,
        step: u32,
    },
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr<'t> {
    pub(crate) kind: ExprKind<'t>,
    pub(crate) span: Span,
}

/// What joins the operands of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    Binary(BinaryOp),
    Compare(CompareOp),
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum ExprKind<'t> {
    /// A mistake that was reported.
    Wrong,
    Name(&'t str),
    /// A number or `inf`, `nan`, `true`, `false`, with a sign that was written before it.
    Literal {
        text: &'t str,
        negative: bool,
    },
    Negate(Box<Expr<'t>>),
    Not(Box<Expr<'t>>),
    /// Operators of one precedence, applied from the left.
    Run {
        first: Box<Expr<'t>>,
        rest: Vec<(Infix, Expr<'t>)>,
    },
    Index {
        tile: Box<Expr<'t>>,
        at: Vec<Expr<'t>>,
    },
    Call {
        function: Name<'t>,
        arguments: Vec<Argument<'t>>,
    },
    Load {
        view: Name<'t>,
        at: Vec<SubscriptSyntax<'t>>,
    },
    Map {
        coordinates: Vec<Coordinate<'t>>,
        body: Block<'t>,
    },
    Reduce(Box<ReduceSyntax<'t>>),
    For(Box<ForSyntax<'t>>),
}

/// An argument of a function.
#[derive(Debug)]
pub(crate) enum Argument<'t> {
    Value(Expr<'t>),
    Dims(Vec<DimSyntax<'t>>),
}

/// `reduce ...`.
#[derive(Debug)]
pub(crate) struct ReduceSyntax<'t> {
    pub(crate) coordinates: Vec<Coordinate<'t>>,
    pub(crate) policy: Policy,
    pub(crate) carries: CarriesSyntax<'t>,
    pub(crate) body: Block<'t>,
}

/// What a reduction carries.
#[derive(Debug)]
pub(crate) enum CarriesSyntax<'t> {
    Closed(Vec<(ReduceOp, Expr<'t>)>),
    Open(Vec<Carry<'t>>),
}

/// `acc = 0.0`.
#[derive(Debug)]
pub(crate) struct Carry<'t> {
    pub(crate) name: Name<'t>,
    pub(crate) init: Expr<'t>,
}

/// `for ...`.
#[derive(Debug)]
pub(crate) struct ForSyntax<'t> {
    pub(crate) variable: Name<'t>,
    pub(crate) lower: Expr<'t>,
    pub(crate) upper: Expr<'t>,
    pub(crate) carries: Vec<Carry<'t>>,
    pub(crate) body: Block<'t>,
}
