//! Which elements a program touches, and whether another program of the same stage may touch them too.
//!
//! Programs run in any order and at once, so what one writes no other may write or read before the next stage. The proof
//! is in the subscripts. A dimension *separates* root coordinates if the stretches that programs touch along it are
//! disjoint whenever one of these coordinates differs: `r` itself, `r * 64 + j` with `j` in 0..64, a window of 64 from
//! `r * 64`, `(h * 8 + b) * 4` with `b` in 0..8. A parameter is *private* in a stage if the dimensions of its view together
//! separate every root coordinate that can differ, taking all accesses of the stage at once.

use std::collections::{BTreeMap, BTreeSet};

use diagnostics::Diagnostics;

use crate::affine::{Affine, Term, touched};
use crate::kernel::Kernel;
use crate::keys::{Axis, Op, Param, Region};
use crate::ops::{OpKind, Subscript};
use crate::verifier::Rule;

/// One `load` or `store`.
#[derive(Clone, Debug)]
pub struct Access {
    /// The operation.
    pub op: Op,
    /// The view.
    pub view: Param,
    /// Whether it writes.
    pub writes: bool,
    /// The `parallel` it stands in.
    pub nest: Op,
    /// How many `stage`s stand before it in that nest.
    pub stage: u32,
}

/// Every access of a kernel, in program order.
pub fn accesses(kernel: &Kernel) -> Vec<Access> {
    let mut list = Vec::new();
    for &nest in &kernel.region(kernel.body()).ops {
        if let OpKind::Parallel { body, .. } = kernel.op(nest).kind {
            let mut stage = 0;
            collect(kernel, body, nest, &mut stage, &mut list);
        }
    }
    list
}

fn collect(kernel: &Kernel, region: Region, nest: Op, stage: &mut u32, list: &mut Vec<Access>) {
    for &op in &kernel.region(region).ops {
        match &kernel.op(op).kind {
            OpKind::Load { view, .. } => {
                list.push(Access {
                    op,
                    view: *view,
                    writes: false,
                    nest,
                    stage: *stage,
                });
            }
            OpKind::Store { view, .. } => {
                list.push(Access {
                    op,
                    view: *view,
                    writes: true,
                    nest,
                    stage: *stage,
                });
            }
            OpKind::Stage => *stage += 1,
            OpKind::For { body, .. } => collect(kernel, *body, nest, stage, list),
            _ => {}
        }
    }
}

/// A dimension that keeps the programs of a stage apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PrivateDim {
    /// The dimension of the view.
    pub dim: usize,
    /// What the stage touches along it, all accesses together.
    pub touched: Affine,
}

/// How the programs of one stage keep to their own elements of a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StagePrivacy {
    /// The `parallel`.
    pub nest: Op,
    /// The stage within it, from 0.
    pub stage: u32,
    /// The dimensions that separate the programs; empty if there is one program only.
    pub dims: Vec<PrivateDim>,
}

/// How each program keeps to its own elements of a view, in every stage that uses the view. Two parameters with equal
/// privacy may be bound to the same memory: see [`may_share`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Privacy {
    /// One entry a stage that loads or stores through the view.
    pub stages: Vec<StagePrivacy>,
}

/// The privacy of a parameter, if in every stage *all* its accesses, reads included, are confined to their own program.
pub fn program_private(kernel: &Kernel, param: Param) -> Option<Privacy> {
    let mut stages: BTreeMap<(usize, u32), Vec<Access>> = BTreeMap::new();
    for access in accesses(kernel)
        .into_iter()
        .filter(|access| access.view == param)
    {
        stages
            .entry((access.nest.index(), access.stage))
            .or_default()
            .push(access);
    }
    let stages = stages.into_iter().map(|((nest, stage), list)| {
        let nest = Op::from_index(nest);
        let dims = separate(kernel, nest, &list)?;
        Some(StagePrivacy { nest, stage, dims })
    });
    Some(Privacy {
        stages: stages.collect::<Option<_>>()?,
    })
}

/// Whether two view parameters may be bound to the very same memory with the same shape and strides: in each stage that
/// writes through one of them, the accesses of both together are confined to their own program.
pub fn may_share(kernel: &Kernel, a: Param, b: Param) -> bool {
    let (Some(first), Some(second)) = (kernel.view(a), kernel.view(b)) else {
        return false;
    };
    if first.dims.len() != second.dims.len() {
        return false;
    }
    let mut stages: BTreeMap<(usize, u32), Vec<Access>> = BTreeMap::new();
    for access in accesses(kernel)
        .into_iter()
        .filter(|access| access.view == a || access.view == b)
    {
        stages
            .entry((access.nest.index(), access.stage))
            .or_default()
            .push(access);
    }
    stages.into_iter().all(|((nest, _), list)| {
        !list.iter().any(|access| access.writes)
            || separate(kernel, Op::from_index(nest), &list).is_some()
    })
}

/// The dimensions that separate the programs of a nest for these accesses, or `None` if they don't suffice.
fn separate(kernel: &Kernel, nest: Op, list: &[Access]) -> Option<Vec<PrivateDim>> {
    let (dims, missing) = missing_coordinates(kernel, nest, list);
    missing.is_empty().then_some(dims)
}

/// The separating dimensions, and the positions of the root coordinates they don't separate.
fn missing_coordinates(
    kernel: &Kernel,
    nest: Op,
    list: &[Access],
) -> (Vec<PrivateDim>, BTreeSet<usize>) {
    let axes = root_axes(kernel, nest);
    let mut missing: BTreeSet<usize> = (0..axes.len())
        .filter(|&index| kernel.axis(axes[index]).extent != Some(1))
        .collect();
    let mut dims = Vec::new();
    let rank = list
        .iter()
        .map(|access| subscripts(kernel, access.op).len())
        .min()
        .unwrap_or(0);
    for dim in 0..rank {
        if missing.is_empty() {
            break;
        }
        let forms = list
            .iter()
            .map(|access| touched(kernel, subscripts(kernel, access.op)[dim]));
        let hull = forms.reduce(|a, b| a?.hull(&b?)).flatten();
        if let Some(touched) = hull
            && separates(kernel, &touched)
        {
            let before = missing.len();
            for term in &touched.terms {
                missing.remove(&term.coordinate);
            }
            if missing.len() < before {
                dims.push(PrivateDim { dim, touched });
            }
        }
    }
    (dims, missing)
}

/// Whether the stretches of two programs are disjoint whenever they differ in a coordinate of the form: each scale, from
/// the smallest on, exceeds everything below it together (as digits do in a mixed-radix number).
fn separates(kernel: &Kernel, touched: &Affine) -> bool {
    let mut terms: Vec<Term> = touched
        .terms
        .iter()
        .copied()
        .filter(|term| kernel.axis(term.axis).extent != Some(1))
        .collect();
    terms.sort_by_key(|term| term.scale.unsigned_abs());
    let mut span = Some(touched.high.abs_diff(touched.low));
    for term in terms {
        let scale = term.scale.unsigned_abs();
        if span.is_none_or(|span| scale <= span) {
            return false;
        }
        let reach = kernel
            .axis(term.axis)
            .extent
            .map(|extent| u64::from(extent.saturating_sub(1)));
        span = reach
            .and_then(|reach| scale.checked_mul(reach))
            .zip(span)
            .and_then(|(a, b)| a.checked_add(b));
    }
    true
}

fn root_axes(kernel: &Kernel, nest: Op) -> &[Axis] {
    match &kernel.op(nest).kind {
        OpKind::Parallel { axes, .. } => axes,
        _ => &[],
    }
}

fn subscripts(kernel: &Kernel, op: Op) -> &[Subscript] {
    match &kernel.op(op).kind {
        OpKind::Load { at, .. } | OpKind::Store { at, .. } => at,
        _ => &[],
    }
}

/// The rules `programs-collide` and `reads-other-programs`. Operations marked in `suspect` were reported before.
pub(crate) fn check_independence(kernel: &Kernel, suspect: &[bool], found: &mut Diagnostics) {
    let mut stages: BTreeMap<(usize, u32, Param), Vec<Access>> = BTreeMap::new();
    for access in accesses(kernel) {
        if !suspect[access.op.index()] && !suspect[access.nest.index()] {
            stages
                .entry((access.nest.index(), access.stage, access.view))
                .or_default()
                .push(access);
        }
    }
    for ((nest, _, view), list) in stages {
        let nest = Op::from_index(nest);
        let (stores, loads): (Vec<Access>, Vec<Access>) = list.into_iter().partition(|a| a.writes);
        if stores.is_empty() {
            continue;
        }
        let mut alone = true;
        for store in &stores {
            let missing = missing_coordinates(kernel, nest, std::slice::from_ref(store)).1;
            if !missing.is_empty() {
                alone = false;
                collides(kernel, nest, store, &missing, found);
            }
        }
        if !alone {
            continue;
        }
        if !missing_coordinates(kernel, nest, &stores).1.is_empty() {
            collide_together(kernel, view, &stores, found);
            continue;
        }
        for load in loads {
            let mut both = stores.clone();
            both.push(load.clone());
            if !missing_coordinates(kernel, nest, &both).1.is_empty() {
                reads_others(kernel, view, &load, &stores[0], found);
            }
        }
    }
}

fn collides(
    kernel: &Kernel,
    nest: Op,
    store: &Access,
    missing: &BTreeSet<usize>,
    found: &mut Diagnostics,
) {
    let view = &kernel.param(store.view).name;
    let names: Vec<String> = missing
        .iter()
        .map(|&index| coordinate_name(kernel, nest, index))
        .collect();
    let first = &names[0];
    let message = format!("several programs may store to the same element of `{view}`");
    let note = format!(
        "programs that differ in {} only are not kept apart by the subscripts",
        names.join(", ")
    );
    let help = format!(
        "use {first} as a subscript, or as the origin of a window that is no longer than its distance: `{} * 64 : lane` with an extent of at most 64",
        first.trim_matches('`')
    );
    let diagnostic = Rule::ProgramsCollide
        .says(message)
        .at(kernel.op(store.op).location)
        .with_note(note)
        .with_help(help);
    found.push(diagnostic.with_secondary(kernel.param(store.view).location, "the view"));
}

fn collide_together(kernel: &Kernel, view: Param, stores: &[Access], found: &mut Diagnostics) {
    let name = &kernel.param(view).name;
    let message = format!("stores to `{name}` by different programs may meet");
    let mut diagnostic = Rule::ProgramsCollide
        .says(message)
        .at(kernel.op(stores[stores.len() - 1].op).location)
        .with_note("each store keeps its programs apart, but not in the same way as the others")
        .with_help("put a `stage` between them, or address the view with the same coordinates");
    for store in &stores[..stores.len() - 1] {
        diagnostic = diagnostic.with_secondary(kernel.op(store.op).location, "another store");
    }
    found.push(diagnostic);
}

fn reads_others(
    kernel: &Kernel,
    view: Param,
    load: &Access,
    store: &Access,
    found: &mut Diagnostics,
) {
    let name = &kernel.param(view).name;
    let message = format!("this load may read what another program stores to `{name}`");
    let diagnostic = Rule::ReadsOtherPrograms
        .says(message)
        .at(kernel.op(load.op).location)
        .with_secondary(kernel.op(store.op).location, "the store")
        .with_help("put a `stage` between them, load only what the program itself stores, or read through another parameter");
    found.push(diagnostic);
}

fn coordinate_name(kernel: &Kernel, nest: Op, index: usize) -> String {
    let axis = root_axes(kernel, nest)[index];
    let body = kernel.op(nest).kind.regions()[0];
    let argument = kernel
        .region(body)
        .args
        .get(index)
        .and_then(|&arg| kernel.value(arg).name.clone());
    argument.map_or_else(
        || format!("axis `{}`", kernel.axis(axis).name),
        |name| format!("`{name}`"),
    )
}
