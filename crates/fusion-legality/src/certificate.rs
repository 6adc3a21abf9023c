//! The certificate of one fusion: every fact that makes it legal, in a form that can be held against the kernel.

use tile_ir::{Axis, Op, Value};

use crate::admission::Subject;

/// Why a load or an expression may be realised inside the traversal of a reduction.
///
/// Whoever carries the fusion out relies on these fields, so they are also a contract: the operations of `chain` and
/// `deferred` are evaluated where they are read and not where they stand, the `wrappers` and the reduction are evaluated
/// where they stand, once, and an element is read from memory (or computed) at its point of the traversal and kept if
/// `later` says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// What joins the reduction.
    pub subject: Subject,
    /// The tile that is read in the traversal: the result of the load, or the expression's value.
    pub value: Value,
    /// The reduction that reads it first.
    pub reduction: Op,
    /// The pure recipes between the value and the reduction, in program order. Each has one consumer.
    pub chain: Vec<Op>,
    /// Recipes over the value that stand before the reduction and are read after it, in program order. Each has one
    /// consumer; evaluating one at its own place would read the value too early.
    pub deferred: Vec<Op>,
    /// The `map` nests around the reduction that run once, outermost first.
    pub wrappers: Vec<Op>,
    /// The non-unit dimensions of the value, each with the dimension of the reduction that runs along it, one to one.
    pub axes: Vec<AxisMatch>,
    /// The dimensions of extent one, which have no counterpart.
    pub units: Units,
    /// Each read of an element on the way, in program order: those of `map` recipes and those of the reduction.
    pub extracts: Vec<ExtractMap>,
    /// What happens in between.
    pub interval: Interval,
    /// Why each element is read once.
    pub once: OnceProof,
    /// What becomes of the elements.
    pub later: Later,
}

/// A dimension of the value and the dimension of the reduction that runs along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisMatch {
    /// The number of the value's dimension.
    pub tile_dim: usize,
    /// The number of the reduction's dimension.
    pub reduction_dim: usize,
    /// The axis of both.
    pub axis: Axis,
    /// Its extent.
    pub extent: u32,
}

/// Dimensions of extent one on both sides, by number. They may be inserted or dropped freely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Of the value.
    pub tile: Vec<usize>,
    /// Of the reduction.
    pub reduction: Vec<usize>,
}

/// Where one element read looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractMap {
    /// The `extract`.
    pub extract: Op,
    /// The tile it reads: the value, or the result of a recipe of the chain.
    pub tile: Value,
    /// One coordinate a dimension of that tile.
    pub coordinates: Vec<Coordinate>,
}

/// A coordinate of an element read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// The coordinate number `n` of the nest (the reduction, or the `map` recipe) in whose body the read stands; the nest's
    /// dimension `n` is the very axis of the tile's dimension.
    Nest(usize),
    /// Zero, along a dimension of extent one.
    Zero,
}

/// The stretch of the program that the fusion carries the read across.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Where the value is made.
    pub from: Op,
    /// Where it is read.
    pub to: Op,
    /// The effects strictly in between, nested ones included, in program order. For a load all of them are loads; for an
    /// expression, whose operands are values, they may be anything.
    pub effects: Vec<Op>,
}

/// Each point of the reduction's domain reads one element and each element has one such point: the coordinates are the
/// domain's own, one to one, so equal counts say that nothing is left out. Several reads at one point share the scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnceProof {
    /// Points of the reduction's domain: the product of its extents.
    pub points: u64,
    /// Elements of the value: the product of its extents.
    pub elements: u64,
}

/// What becomes of the elements after the traversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Later {
    /// These operations read elements later, in program order: the traversal keeps each element as it reads it.
    SaveSnapshot(Vec<Op>),
    /// Nothing reads the value again: no array is needed.
    Elide,
}
