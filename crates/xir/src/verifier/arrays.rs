//! Rules of private arrays and entries: array-place, array-owner, slot, entry.

use super::{Rule, Violations};
use crate::keys::{Function, Region};
use crate::ops::{Constant, Elem, OpKind, Type};
use crate::program::{Definition, Program, Space};

pub(super) fn check(program: &Program, violations: &mut Violations) {
    places(program, violations);
    entries(program, violations);
    let mut owners = vec![None; program.arrays().len()];
    for function in program.functions() {
        uses(
            program,
            function,
            program.function(function).body,
            &mut owners,
            violations,
        );
    }
}

fn places(program: &Program, violations: &mut Violations) {
    let mut taken = Vec::new();
    for array in program.arrays() {
        let data = program.array(array);
        if data.slots == 0 {
            violations.add(Rule::ArrayPlace, format!("{array} has no slot"));
        }
        if let Space::Worker { offset } = data.space {
            let end = offset.checked_add(program.array_bytes(array));
            if offset % 64 != 0 || end.is_none_or(|end| end > program.worker_bytes) {
                let message = format!(
                    "{array} lies at byte {offset} of {} and has {} bytes",
                    program.worker_bytes,
                    program.array_bytes(array)
                );
                violations.add(Rule::ArrayPlace, message);
            }
            taken.push((offset, end.unwrap_or(u64::MAX), array));
        }
    }
    taken.sort_unstable();
    for pair in taken.windows(2) {
        if pair[0].1 > pair[1].0 {
            let message = format!("{} and {} overlap", pair[0].2, pair[1].2);
            violations.add(Rule::ArrayPlace, message);
        }
    }
}

fn entries(program: &Program, violations: &mut Violations) {
    for entry in &program.entries {
        let data = program.function(entry.function);
        let body = program.region(data.body);
        let expected = [Type::uniform(Elem::I64); 2];
        let takes_packets = body.args.iter().map(|&arg| program.ty(arg)).eq(expected);
        if !takes_packets || !body.yields.is_empty() || entry.programs_per_packet == 0 {
            violations.add(Rule::Entry, format!("`{}` is no entry", data.name));
        }
    }
}

fn uses(
    program: &Program,
    function: Function,
    region: Region,
    owners: &mut [Option<Function>],
    violations: &mut Violations,
) {
    for &op in &program.region(region).ops {
        let kind = &program.op(op).kind;
        let (array, slot) = match *kind {
            OpKind::PrivateLoad {
                array,
                slot,
                offset,
            }
            | OpKind::PrivateStore {
                array,
                slot,
                offset,
                ..
            } => (Some(array), Some((slot, offset))),
            OpKind::PrivateAddress(array) => (Some(array), None),
            _ => (None, None),
        };
        if let Some(array) = array {
            let data = program.array(array);
            let owner = owners[array.index()].get_or_insert(function);
            if data.space == Space::Stack && *owner != function {
                let names = [*owner, function].map(|f| program.function(f).name.as_str());
                let message = format!("{array} is used by `{}` and `{}`", names[0], names[1]);
                violations.add_at(program, op, Rule::ArrayOwner, message);
            }
            if let Some((slot, offset)) = slot
                && let Definition::Result { op: maker, .. } = program.value(slot).definition
                && let OpKind::Const(Constant::I64(first), _) = program.op(maker).kind
            {
                let known = i128::from(first) + i128::from(offset);
                if known < 0 || known >= i128::from(data.slots) {
                    let message = format!("{array} has {} slots, not {known}", data.slots);
                    violations.add_at(program, op, Rule::Slot, message);
                }
            }
        }
        kind.visit_regions(|inner| uses(program, function, inner, owners, violations));
    }
}
