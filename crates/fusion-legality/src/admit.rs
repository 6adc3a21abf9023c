//! The rule: which loads and expressions may join their first consumer.

use std::collections::BTreeSet;

use tile_ir::{Dim, Op, OpKind, Region, Value, Verified};

use crate::MAX_VISITS;
use crate::admission::{Admission, Candidate, Outcome, Refusal, Subject};
use crate::certificate::{Certificate, ExtractMap, Interval, Later, OnceProof, Units};
use crate::code::Code;
use crate::conditions::{
    Condition, Rule, axes_match, coordinates_match, count_points, effects_between, has_one_carry,
    is_closed, matched_axes, order_is_free, same_scope, wrappers_run_once,
};
use crate::facts::{Facts, Role, role};
use crate::readers::{Limit, Manner, Reader, Readers, find_readers};

/// Decides for every load, and every expression with several consumers, whether it may join its first consumer.
///
/// Total: every verified kernel gets a decision, in time linear in the kernel but for the bounded search around each
/// candidate.
pub fn admit(kernel: &Verified) -> Admission {
    admit_by(kernel, Rule::WHOLE)
}

/// The rule with one condition left out. It is unsound by intention: tools use it to show that they would notice.
#[doc(hidden)]
pub fn admit_without(kernel: &Verified, condition: Condition) -> Admission {
    admit_by(
        kernel,
        Rule {
            without: Some(condition),
        },
    )
}

fn admit_by(kernel: &Verified, rule: Rule) -> Admission {
    let facts = Facts::of(kernel);
    let mut candidates = Vec::new();
    for op in kernel.ops() {
        for (subject, value) in subjects(&facts, op) {
            let outcome = match judge(&facts, rule, subject, op, value) {
                Ok(certificate) => Outcome::Admitted(certificate),
                Err(refusals) => Outcome::Refused(refusals),
            };
            candidates.push(Candidate { subject, outcome });
        }
    }
    Admission::new(kernel.clone(), candidates)
}

/// The candidates an operation makes. What stands inside a `map` or `reduce` belongs to that nest's own evaluation.
fn subjects(facts: &Facts<'_>, op: Op) -> Vec<(Subject, Value)> {
    let data = facts.kernel.op(op);
    match role(&data.kind) {
        Role::Load => data
            .results
            .iter()
            .map(|&value| (Subject::Load(op), value))
            .collect(),
        Role::Elementwise | Role::Map(_) if !facts.is_nested(op) => {
            let tiles = data
                .results
                .iter()
                .filter(|&&value| !facts.kernel.ty(value).is_scalar());
            let shared = facts.is_shared(op);
            tiles
                .filter(|&&value| shared && !facts.uses(value).is_empty())
                .map(|&value| (Subject::Expression(value), value))
                .collect()
        }
        Role::Elementwise
        | Role::Map(_)
        | Role::Source
        | Role::Iota
        | Role::Movement
        | Role::Reduce(_)
        | Role::Extract
        | Role::Control(_)
        | Role::Store
        | Role::Stage
        | Role::Opaque => Vec::new(),
    }
}

/// One candidate: its certificate, or every reason against it.
fn judge(
    facts: &Facts<'_>,
    rule: Rule,
    subject: Subject,
    op: Op,
    value: Value,
) -> Result<Certificate, Vec<Refusal>> {
    let kernel = facts.kernel;
    let refuse = |code, at| vec![Refusal { code, at }];
    if kernel.ty(value).is_scalar() {
        return Err(refuse(Code::ScalarLoad, op));
    }
    let home: Region = kernel.op(op).parent;
    let readers =
        find_readers(facts, rule, home, value).map_err(|Limit| refuse(Code::LimitReached, op))?;
    let first = match rule.keeps(Condition::FirstConsumer) {
        true => readers.list.first(),
        false => readers
            .list
            .iter()
            .find(|reader| reader.manner == Manner::Reduction),
    };
    let Some(first) = first else {
        return Err(refuse(Code::NoConsumer, op));
    };
    match first.manner {
        Manner::Reduction => {}
        Manner::Materialised => return Err(refuse(Code::MultiUseRecipe, first.op)),
        Manner::Carry => return Err(refuse(Code::OtherScope, first.op)),
        Manner::Here => {
            let code = if same_scope(facts, &first.wrappers).is_err() {
                Code::OtherScope
            } else {
                Code::NotAReduction
            };
            return Err(refuse(code, first.op));
        }
    }
    Join {
        facts,
        rule,
        subject,
        op,
        value,
        readers: &readers,
        first,
    }
    .certify()
}

/// A candidate together with the reduction that reads it first.
struct Join<'j, 'k> {
    facts: &'j Facts<'k>,
    rule: Rule,
    subject: Subject,
    op: Op,
    value: Value,
    readers: &'j Readers,
    first: &'j Reader,
}

impl Join<'_, '_> {
    fn certify(&self) -> Result<Certificate, Vec<Refusal>> {
        let Join {
            facts,
            rule,
            subject,
            op,
            value,
            readers,
            first,
        } = *self;
        let reduction = first.op;
        let tile_dims = facts.kernel.ty(value).dims.as_slice();
        let reduction_dims = facts.nest_dims(reduction);
        let end = readers
            .list
            .iter()
            .position(|reader| std::ptr::eq(reader, first));
        let chain: Vec<Op> = recipes(readers, |target| target == end);
        let mut refusals = Vec::new();
        let mut demand = |condition, holds: bool, code, at| {
            if rule.keeps(condition) && !holds {
                refusals.push(Refusal { code, at });
            }
        };

        demand(
            Condition::Unordered,
            order_is_free(facts, reduction),
            Code::StrictFold,
            reduction,
        );
        demand(
            Condition::OneCarry,
            has_one_carry(facts, reduction),
            Code::SeveralCarries,
            reduction,
        );
        demand(
            Condition::ClosedBody,
            is_closed(facts, first),
            Code::OpenBody,
            reduction,
        );
        if let Some(nest) = self.open_expression() {
            demand(Condition::ClosedBody, false, Code::OpenBody, nest);
        }
        let reads = self.extracts(&chain);
        let maps: Vec<Option<ExtractMap>> = reads
            .iter()
            .map(|&read| coordinates_match(facts, read))
            .collect();
        if let Some(wrong) = maps.iter().position(Option::is_none) {
            demand(
                Condition::MatchingCoordinates,
                false,
                Code::CoordinateMismatch,
                reads[wrong],
            );
        }
        let axes = axes_match(tile_dims, &reduction_dims, facts);
        demand(
            Condition::MatchingAxes,
            axes.is_some(),
            Code::ExtentMismatch,
            reduction,
        );
        if let Err(at) = wrappers_run_once(facts, &first.wrappers) {
            demand(Condition::UnitWrappers, false, Code::NonUnitWrapper, at);
        }
        if let Err(at) = same_scope(facts, &first.wrappers) {
            demand(Condition::SameScope, false, Code::OtherScope, at);
        }
        for (condition, refusal) in effects_between(facts, subject, reduction) {
            demand(condition, false, refusal.code, refusal.at);
        }

        let open = |dims: &[Dim]| dims.iter().any(|&dim| facts.kernel.extent(dim).is_none());
        if open(tile_dims) || open(&reduction_dims) {
            refusals.push(Refusal {
                code: Code::DynamicExtent,
                at: reduction,
            });
        }
        let effects = facts.effects_between(op, reduction);
        let points = count_points(facts, &reduction_dims);
        let elements = count_points(facts, tile_dims);
        let counted =
            (points.is_some() && elements.is_some()) || open(tile_dims) || open(&reduction_dims);
        if effects.len() > MAX_VISITS || !counted {
            refusals.push(Refusal {
                code: Code::LimitReached,
                at: reduction,
            });
        }
        if !refusals.is_empty() {
            refusals.sort();
            return Err(refusals);
        }

        let units = |dims: &[Dim]| {
            (0..dims.len())
                .filter(|&dim| facts.is_unit(dims[dim]))
                .collect()
        };
        Ok(Certificate {
            subject,
            value,
            reduction,
            deferred: recipes(readers, |target| target.is_some() && target != end)
                .into_iter()
                .filter(|&recipe| recipe < reduction)
                .collect(),
            chain,
            wrappers: first.wrappers.clone(),
            axes: axes.unwrap_or_else(|| matched_axes(tile_dims, &reduction_dims, facts)),
            units: Units {
                tile: units(tile_dims),
                reduction: units(&reduction_dims),
            },
            extracts: maps.into_iter().flatten().collect(),
            interval: Interval {
                from: op,
                to: reduction,
                effects: effects.to_vec(),
            },
            once: OnceProof {
                points: points.unwrap_or(0),
                elements: elements.unwrap_or(0),
            },
            later: self.later(),
        })
    }

    /// An expression whose evaluation is more than elementwise: a `map` with nests in it, or one that makes several tiles.
    fn open_expression(&self) -> Option<Op> {
        let data = self.facts.kernel.op(self.op);
        let is_map = matches!(data.kind, OpKind::Map { .. });
        (is_map && (!self.facts.is_pointwise(self.op) || data.results.len() > 1)).then_some(self.op)
    }

    /// Every element read on the way: in `map` recipes of the chain, and in the reduction.
    fn extracts(&self, chain: &[Op]) -> Vec<Op> {
        let mut reads: BTreeSet<Op> = self.first.extracts.iter().copied().collect();
        for recipe in chain {
            reads.extend(&self.readers.recipes[recipe].extracts);
        }
        reads.into_iter().collect()
    }

    /// What becomes of the elements after the traversal.
    fn later(&self) -> Later {
        let others = self
            .readers
            .list
            .iter()
            .filter(|reader| reader.moment > self.first.moment);
        let consumers: Vec<Op> = others.map(|reader| reader.op).collect();
        if consumers.is_empty() || !self.rule.keeps(Condition::SaveForLater) {
            Later::Elide
        } else {
            Later::SaveSnapshot(consumers)
        }
    }
}

/// The recipes whose reader is as wanted, in program order.
fn recipes(readers: &Readers, wanted: impl Fn(Option<usize>) -> bool) -> Vec<Op> {
    readers
        .recipes
        .iter()
        .filter(|(_, recipe)| wanted(recipe.end))
        .map(|(&op, _)| op)
        .collect()
}
