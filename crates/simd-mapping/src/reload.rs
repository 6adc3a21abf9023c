//! Guarded reload: when a snapshot need not be kept, because the view still holds the same bits.
//!
//! A copy costs a store and a load an element. It is superfluous if no write can lie between the load and the last reader. Different
//! parameters may be the same memory, so *every* store counts, whatever it names; a store that itself reads the value as it
//! writes counts too, for it may write an element that it reads later. Once a launch has found the written views disjoint from all others,
//! only stores through the load's own parameter count.

use tile_ir::{Effect, Kernel, Op, OpKind, Param, Region, Value};

/// What is known of different parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aliasing {
    /// Nothing.
    Possible,
    /// A written view shares no byte with any other.
    Excluded,
}

/// Whether the value of a load may be read again from its view by all its readers, or what stands in the way.
pub(crate) fn may_reload(
    kernel: &Kernel,
    load: Op,
    value: Value,
    aliasing: Aliasing,
) -> Result<(), &'static str> {
    let OpKind::Load { view, .. } = kernel.op(load).kind else {
        return Err("it is computed, not loaded");
    };
    let harmless = |stored: Param| aliasing == Aliasing::Excluded && stored != view;
    let home = kernel.op(load).parent;
    let ops = &kernel.region(home).ops;
    let start = ops
        .iter()
        .position(|&op| op == load)
        .expect("an operation stands in its region");
    if kernel.region(home).yields.contains(&value) {
        return Err("a loop carries it");
    }
    let derived = derived_values(kernel, value);
    let last = ops
        .iter()
        .rposition(|&op| reads_any(kernel, op, &derived))
        .unwrap_or(start);
    for &op in &ops[start + 1..=last.max(start)] {
        writes_something(kernel, op, &harmless)?;
    }
    Ok(())
}

/// The value and everything that may be evaluated from it where it is read.
fn derived_values(kernel: &Kernel, value: Value) -> Vec<bool> {
    let mut derived = vec![false; kernel.values().len()];
    derived[value.index()] = true;
    for op in kernel.ops() {
        if kernel.op(op).kind.effect() != Effect::Pure {
            continue;
        }
        if reads_any(kernel, op, &derived) {
            for result in &kernel.op(op).results {
                // Scalars are computed where they stand; only tiles are evaluated later.
                derived[result.index()] |= !kernel.ty(*result).is_scalar();
            }
        }
    }
    derived
}

fn reads_any(kernel: &Kernel, op: Op, set: &[bool]) -> bool {
    let kind = &kernel.op(op).kind;
    kind.operands().iter().any(|v| set[v.index()])
        || kind.regions().iter().any(|&r| region_reads(kernel, r, set))
}

fn region_reads(kernel: &Kernel, region: Region, set: &[bool]) -> bool {
    let data = kernel.region(region);
    data.yields.iter().any(|v| set[v.index()])
        || data.ops.iter().any(|&op| reads_any(kernel, op, set))
}

fn writes_something(
    kernel: &Kernel,
    op: Op,
    harmless: &dyn Fn(Param) -> bool,
) -> Result<(), &'static str> {
    match &kernel.op(op).kind {
        OpKind::Store { view, .. } if harmless(*view) => Ok(()),
        OpKind::Store { .. } => {
            Err("a store comes before or with its last reader, and may write the same memory")
        }
        OpKind::Stage => Err("a stage lies before its last reader"),
        OpKind::Opaque { .. } => Err("an opaque effect lies before its last reader"),
        OpKind::For { body, .. } | OpKind::Parallel { body, .. } => kernel
            .region(*body)
            .ops
            .iter()
            .try_for_each(|&op| writes_something(kernel, op, harmless)),
        _ => Ok(()),
    }
}
