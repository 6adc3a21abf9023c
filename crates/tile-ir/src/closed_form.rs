//! A reduction written with explicit carries, turned into the closed form where it is one.
//!
//! `unordered` and `tree` may combine in any order only because the body can't see the carry. A body that adds one thing to
//! its carry and does nothing else with it says the same with more words: the update is taken out and its operand yielded.

use std::collections::BTreeMap;

use crate::kernel::Kernel;
use crate::keys::{Region, Value};
use crate::ops::{OpKind, ReduceOp};

/// Takes the updates out of `body`, whose arguments are `coordinates` coordinates and then carries, and says how each
/// carry is combined. `None`, and nothing changed, unless every yield is one add, mul, min or max of its carry (on either
/// side), written in the body itself, and neither the carry nor the update has another user.
pub(crate) fn close_body(
    kernel: &mut Kernel,
    body: Region,
    coordinates: usize,
) -> Option<Vec<ReduceOp>> {
    let region = kernel.region(body);
    let carries = region.args.get(coordinates..)?.to_vec();
    let yields = region.yields.clone();
    if carries.is_empty() || carries.len() != yields.len() {
        return None;
    }
    let uses = count_uses(kernel, body);
    let once = |value: Value| uses.get(&value) == Some(&1);

    let mut ops = Vec::with_capacity(carries.len());
    let mut updates = Vec::with_capacity(carries.len());
    let mut contributions = Vec::with_capacity(carries.len());
    for (&carry, &next) in carries.iter().zip(&yields) {
        let update = kernel.defining_op(next)?;
        let row = kernel.op(update);
        let OpKind::Binary(op, a, b) = row.kind else {
            return None;
        };
        let other = match (a == carry, b == carry) {
            (true, false) => b,
            (false, true) => a,
            (true, true) | (false, false) => return None,
        };
        // A tile contribution would make the update's type differ from the carry's; that is another mistake.
        let scalar = kernel.ty(other) == kernel.ty(carry);
        if row.parent != body || !once(carry) || !once(next) || !scalar || carries.contains(&other)
        {
            return None;
        }
        ops.push(ReduceOp::of_binary(op)?);
        updates.push(update);
        contributions.push(other);
    }
    let region = kernel.region_mut(body);
    region.args.truncate(coordinates);
    region.ops.retain(|op| !updates.contains(op));
    region.yields = contributions;
    Some(ops)
}

/// How often each value is an operand or a yield within a region and those nested there.
fn count_uses(kernel: &Kernel, region: Region) -> BTreeMap<Value, u32> {
    let mut uses = BTreeMap::new();
    let mut pending = vec![region];
    while let Some(region) = pending.pop() {
        let data = kernel.region(region);
        let operands = data
            .ops
            .iter()
            .flat_map(|&op| kernel.op(op).kind.operands());
        for value in operands.chain(data.yields.iter().copied()) {
            *uses.entry(value).or_insert(0) += 1;
        }
        pending.extend(data.ops.iter().flat_map(|&op| kernel.op(op).kind.regions()));
    }
    uses
}
