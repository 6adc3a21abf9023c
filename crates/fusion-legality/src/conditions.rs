//! The conditions of the rule, one function each.
//!
//! Each condition can be left out, one at a time: `cargo xtask exhaust --mutants` runs the rule without it and must find a
//! kernel on which the fusion shows. A condition nobody misses would be none.

use tile_ir::{Definition, Dim, Effect, Op, OpKind, Policy, ReduceForm, Value};

use crate::MAX_VISITS;
use crate::admission::{Refusal, Subject};
use crate::certificate::{AxisMatch, Coordinate, ExtractMap};
use crate::code::Code;
use crate::facts::{Facts, Role, role};
use crate::readers::Reader;

/// A condition of the rule. The limits of the search and the need for known extents are none: they bound the analysis, and
/// without them the rule would still be sound.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// No other operation reads the tile before the reduction does.
    FirstConsumer,
    /// A recipe with several consumers is an array, and making it reads the tile.
    SingleUseRecipes,
    /// The reduction's order is not part of its meaning.
    Unordered,
    /// The reduction has one carry.
    OneCarry,
    /// The reduction's body holds contributions only.
    ClosedBody,
    /// Elements are read at the nest's own coordinates.
    MatchingCoordinates,
    /// The tile and the reduction have the same non-unit axes.
    MatchingAxes,
    /// The nests around the reduction run once.
    UnitWrappers,
    /// No loop stands around the reduction.
    SameScope,
    /// No store through the same argument in between.
    NoWriteSameArgument,
    /// No store through another argument in between.
    NoWriteOtherArgument,
    /// No stage in between.
    NoStage,
    /// No unknown effect in between.
    NoOpaque,
    /// What is read later is saved.
    SaveForLater,
}

impl Condition {
    /// Every condition.
    pub const ALL: &'static [Condition] = &[
        Condition::FirstConsumer,
        Condition::SingleUseRecipes,
        Condition::Unordered,
        Condition::OneCarry,
        Condition::ClosedBody,
        Condition::MatchingCoordinates,
        Condition::MatchingAxes,
        Condition::UnitWrappers,
        Condition::SameScope,
        Condition::NoWriteSameArgument,
        Condition::NoWriteOtherArgument,
        Condition::NoStage,
        Condition::NoOpaque,
        Condition::SaveForLater,
    ];
}

/// The rule, or the rule with one condition left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) without: Option<Condition>,
}

impl Rule {
    pub(crate) const WHOLE: Rule = Rule { without: None };

    /// Whether a condition is part of the rule.
    pub(crate) fn keeps(self, condition: Condition) -> bool {
        self.without != Some(condition)
    }
}

/// Condition 1: unordered or tree.
pub(crate) fn order_is_free(facts: &Facts<'_>, reduction: Op) -> bool {
    match &facts.kernel.op(reduction).kind {
        OpKind::Reduce { policy, .. } => match policy {
            Policy::Unordered | Policy::Tree => true,
            Policy::Fold => false,
        },
        _ => false,
    }
}

/// Condition 1: one carry.
pub(crate) fn has_one_carry(facts: &Facts<'_>, reduction: Op) -> bool {
    match &facts.kernel.op(reduction).kind {
        OpKind::Reduce {
            form: ReduceForm::Closed(ops),
            ..
        } => ops.len() == 1,
        OpKind::Reduce {
            form: ReduceForm::Open,
            inits,
            ..
        } => inits.len() == 1,
        _ => false,
    }
}

/// Condition 1: closed, and the tile is used in the body by element reads only.
pub(crate) fn is_closed(facts: &Facts<'_>, reader: &Reader) -> bool {
    facts.is_closed(reader.op) && !reader.stray
}

/// Condition 1: each nest around the reduction that is no loop runs once; or the first that doesn't.
pub(crate) fn wrappers_run_once(facts: &Facts<'_>, wrappers: &[Op]) -> Result<(), Op> {
    let repeats = |&&op: &&Op| is_nest(facts, op) && !facts.is_unit_map(op);
    wrappers.iter().find(repeats).map_or(Ok(()), |&op| Err(op))
}

/// The reduction stands in the scope of the value; or the loop that comes between.
pub(crate) fn same_scope(facts: &Facts<'_>, wrappers: &[Op]) -> Result<(), Op> {
    let is_loop = |&&op: &&Op| !is_nest(facts, op);
    wrappers.iter().find(is_loop).map_or(Ok(()), |&op| Err(op))
}

fn is_nest(facts: &Facts<'_>, op: Op) -> bool {
    matches!(
        role(&facts.kernel.op(op).kind),
        Role::Map(_) | Role::Reduce(_)
    )
}

/// Condition 2: the coordinates of an element read, if each is the nest's own along the axis of that dimension, or zero
/// along a dimension of extent one.
pub(crate) fn coordinates_match(facts: &Facts<'_>, extract: Op) -> Option<ExtractMap> {
    let kernel = facts.kernel;
    let data = kernel.op(extract);
    let OpKind::Extract { tile, at } = &data.kind else {
        return None;
    };
    let nest = kernel.region(data.parent).owner?;
    let dims = facts.nest_dims(nest);
    let coordinate = |dim: Dim, value: Value| {
        if facts.is_unit(dim) {
            return is_zero(facts, value).then_some(Coordinate::Zero);
        }
        match kernel.value(value).definition {
            Definition::Argument { region, index } if region == data.parent => {
                let index = index as usize;
                (dims.get(index) == Some(&dim)).then_some(Coordinate::Nest(index))
            }
            Definition::Argument { .. } | Definition::Result { .. } => None,
        }
    };
    let tile_dims = &kernel.ty(*tile).dims;
    let coordinates: Option<Vec<Coordinate>> = tile_dims
        .iter()
        .zip(at)
        .map(|(&dim, &value)| coordinate(dim, value))
        .collect();
    Some(ExtractMap {
        extract,
        tile: *tile,
        coordinates: coordinates?,
    })
}

/// Whether a coordinate is always zero: the constant, or a coordinate along a dimension of extent one.
fn is_zero(facts: &Facts<'_>, value: Value) -> bool {
    let kernel = facts.kernel;
    match kernel.value(value).definition {
        Definition::Result { op, .. } => {
            matches!(kernel.op(op).kind, OpKind::Const(numerics::Scalar::I32(0)))
        }
        Definition::Argument { region, index } => {
            kernel.region(region).owner.is_some_and(|owner| {
                let dim = facts.nest_dims(owner).get(index as usize).copied();
                dim.is_some_and(|dim| facts.is_unit(dim))
            })
        }
    }
}

/// Condition 2: the non-unit dimensions of tile and reduction, one to one by identity; `None` if one is left over.
pub(crate) fn axes_match(
    tile: &[Dim],
    reduction: &[Dim],
    facts: &Facts<'_>,
) -> Option<Vec<AxisMatch>> {
    let rows = matched_axes(tile, reduction, facts);
    let many = |dims: &[Dim]| dims.iter().filter(|&&dim| !facts.is_unit(dim)).count();
    (rows.len() == many(tile) && rows.len() == many(reduction)).then_some(rows)
}

/// The non-unit dimensions that tile and reduction share.
pub(crate) fn matched_axes(tile: &[Dim], reduction: &[Dim], facts: &Facts<'_>) -> Vec<AxisMatch> {
    let one = |(tile_dim, &dim): (usize, &Dim)| {
        let Dim::Axis(axis) = dim else { return None };
        if facts.is_unit(dim) {
            return None;
        }
        let reduction_dim = reduction.iter().position(|&other| other == dim)?;
        let extent = facts.kernel.extent(dim).unwrap_or(0);
        Some(AxisMatch {
            tile_dim,
            reduction_dim,
            axis,
            extent,
        })
    };
    tile.iter().enumerate().filter_map(one).collect()
}

/// Condition 3: for each kind of obstacle, the first that comes between; of a great many, only the first are looked at, for
/// one is enough. An expression does not read memory, and nothing stands in its way.
pub(crate) fn effects_between(
    facts: &Facts<'_>,
    subject: Subject,
    reduction: Op,
) -> Vec<(Condition, Refusal)> {
    let Subject::Load(load) = subject else {
        return Vec::new();
    };
    let kernel = facts.kernel;
    let OpKind::Load { view: loaded, .. } = kernel.op(load).kind else {
        return Vec::new();
    };
    let mut found: Vec<(Condition, Refusal)> = Vec::new();
    for &at in facts
        .obstacles_between(load, reduction)
        .iter()
        .take(MAX_VISITS)
    {
        let (condition, code) = match kernel.op(at).kind.effect() {
            Effect::Pure | Effect::Read(_) | Effect::Nested => continue,
            Effect::Write(view) if view == loaded => (
                Condition::NoWriteSameArgument,
                Code::WriteBetweenSameArgument,
            ),
            Effect::Write(_) => (
                Condition::NoWriteOtherArgument,
                Code::WriteBetweenOtherArgument,
            ),
            Effect::Stage => (Condition::NoStage, Code::StageBetween),
            Effect::Unknown => (Condition::NoOpaque, Code::OpaqueBetween),
        };
        if !found.iter().any(|&(known, _)| known == condition) {
            found.push((condition, Refusal { code, at }));
        }
    }
    found
}

/// The product of the extents; `None` if it does not fit or an extent is not known.
pub(crate) fn count_points(facts: &Facts<'_>, dims: &[Dim]) -> Option<u64> {
    dims.iter().try_fold(1u64, |product, &dim| {
        product.checked_mul(u64::from(facts.kernel.extent(dim)?))
    })
}
