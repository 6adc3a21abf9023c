//! Smaller kernels that are valid too, for whoever looks for the smallest that shows a mistake.

use crate::kernel::Kernel;
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{Effect, OpKind, Rekey};
use crate::verified::{Verified, verify};
use numerics::Scalar;

/// Kernels one step smaller: a statement less, an operation replaced by an operand or a constant, a smaller extent. The
/// most promising first; all are verified, and each has fewer operations or smaller extents.
pub fn shrink(kernel: &Verified) -> Vec<Verified> {
    let size = measure(kernel);
    let mut candidates = Vec::new();
    for op in kernel.ops() {
        candidates.extend(without(kernel, op));
    }
    for op in kernel.ops() {
        candidates.extend(replaced(kernel, op));
    }
    for axis in kernel.axes() {
        for smaller in kernel
            .axis(axis)
            .extent
            .into_iter()
            .flat_map(|extent| [1, extent / 2, extent - 1])
        {
            if smaller > 0
                && kernel
                    .axis(axis)
                    .extent
                    .is_some_and(|extent| smaller < extent)
            {
                let mut candidate = (**kernel).clone();
                candidate.set_extent(axis, smaller);
                candidates.push(candidate);
            }
        }
    }
    candidates
        .into_iter()
        .filter_map(|mut candidate| {
            drop_unused(&mut candidate);
            verify(candidate).ok()
        })
        .filter(|candidate| measure(candidate) < size)
        .collect()
}

/// What shrinking makes smaller: operations, then coordinates.
fn measure(kernel: &Kernel) -> (usize, u64) {
    let extents = kernel
        .axes()
        .filter_map(|axis| kernel.axis(axis).extent)
        .map(u64::from)
        .sum();
    (kernel.ops().len(), extents)
}

/// The kernel without an effect or a root nest; one nest stays.
fn without(kernel: &Kernel, op: Op) -> Option<Kernel> {
    let data = kernel.op(op);
    if data.kind.effect() == Effect::Pure || !data.results.is_empty() {
        return None;
    }
    let mut smaller = kernel.clone();
    smaller
        .region_mut(data.parent)
        .ops
        .retain(|&other| other != op);
    Some(smaller)
}

/// The kernel with an operation's result replaced by an operand of its type, and by a constant.
fn replaced(kernel: &Kernel, op: Op) -> Vec<Kernel> {
    let data = kernel.op(op);
    let mut list = Vec::new();
    for (index, &result) in data.results.iter().enumerate() {
        for operand in data.kind.operands() {
            if kernel.ty(operand) == kernel.ty(result) {
                let mut smaller = kernel.clone();
                replace_uses(&mut smaller, result, operand);
                list.push(smaller);
            }
        }
        let is_constant = matches!(data.kind, OpKind::Const(_));
        if index == 0 && data.results.len() == 1 && kernel.ty(result).is_scalar() && !is_constant {
            let mut smaller = kernel.clone();
            smaller.op_mut(op).kind = OpKind::Const(Scalar::zero(kernel.ty(result).element));
            list.push(smaller);
        }
    }
    list
}

fn replace_uses(kernel: &mut Kernel, from: Value, to: Value) {
    let mut keys = Replace { from, to };
    for op in kernel.ops() {
        let kind = kernel.op(op).kind.with_keys(&mut keys);
        kernel.op_mut(op).kind = kind;
    }
    for region in kernel.regions() {
        for value in &mut kernel.region_mut(region).yields {
            *value = keys.value(*value);
        }
    }
}

struct Replace {
    from: Value,
    to: Value,
}

impl Rekey for Replace {
    fn axis(&mut self, axis: Axis) -> Axis {
        axis
    }

    fn param(&mut self, param: Param) -> Param {
        param
    }

    fn value(&mut self, value: Value) -> Value {
        if value == self.from { self.to } else { value }
    }

    fn region(&mut self, region: Region) -> Region {
        region
    }
}

/// Takes out operations without effect that nobody uses.
fn drop_unused(kernel: &mut Kernel) {
    loop {
        let mut used = vec![false; kernel.values().len()];
        mark_used(kernel, kernel.body(), &mut used);
        let mut dropped = false;
        for region in kernel.regions() {
            let useless = |op: Op| {
                let data = kernel.op(op);
                let silent = data.kind.effect() == Effect::Pure
                    || matches!(data.kind, OpKind::Load { .. })
                    || is_idle(kernel, op);
                silent && data.results.iter().all(|result| !used[result.index()])
            };
            let keep: Vec<Op> = kernel
                .region(region)
                .ops
                .iter()
                .copied()
                .filter(|&op| !useless(op))
                .collect();
            if keep.len() < kernel.region(region).ops.len() {
                dropped = true;
                kernel.region_mut(region).ops = keep;
            }
        }
        if !dropped {
            return;
        }
    }
}

/// Whether an operation is a loop whose body does nothing to memory.
fn is_idle(kernel: &Kernel, op: Op) -> bool {
    let OpKind::For { body, .. } = kernel.op(op).kind else {
        return false;
    };
    kernel
        .region(body)
        .ops
        .iter()
        .all(|&inner| match kernel.op(inner).kind.effect() {
            Effect::Pure | Effect::Read(_) => true,
            Effect::Nested => is_idle(kernel, inner),
            Effect::Write(_) | Effect::Stage | Effect::Unknown => false,
        })
}

fn mark_used(kernel: &Kernel, region: Region, used: &mut [bool]) {
    let data = kernel.region(region);
    for &value in &data.yields {
        used[value.index()] = true;
    }
    for &op in &data.ops {
        for value in kernel.op(op).kind.operands() {
            used[value.index()] = true;
        }
        for inner in kernel.op(op).kind.regions() {
            mark_used(kernel, inner, used);
        }
    }
}
