//! `WorkPrior`: relative work units, as the historical planner counted them. Kept to show how it errs.
//!
//! It charges a private element of the whole-program distribution like a gather, however it is laid out, and gives a fused load credit for
//! every private read it saves. It does not see that a body stops being inlined, that a mask enters a loop or that a loop disappears.
//! Its numbers are *work units*: not bytes, not instructions, not nanoseconds.

use simd_mapping::{AccessClass, Accesses, Distribution, Realization, Target, account};

use crate::policy::{Policy, Price, Term, Workload};

/// One elementwise operation of a packet.
const ARITHMETIC: u64 = 1;
/// One load that all lanes share.
const BROADCAST: u64 = 1;
/// One access to neighbours.
const CONTIGUOUS: u64 = 2;
/// One lane of a gather.
const GATHERED_LANE: u64 = 2;
/// Starting one block of programs.
const BLOCK_DISPATCH: u64 = 128;
/// Index bookkeeping of an element of a load, reduction or store: increment, bound, address. The historical count charges it to the
/// operation, not to a loop, so a fused load keeps it though its loop is gone.
const BOOKKEEPING: u64 = 3;

/// The historical policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkPrior;

impl WorkPrior {
    fn access(realization: &Realization, target: Target, accesses: Accesses) -> u64 {
        let lanes = u64::from(realization.plan.lanes.get());
        match (target, realization.plan.distribution) {
            (Target::Private(_), Distribution::WholeProgram) => {
                u64::from(accesses.mentions) * GATHERED_LANE * lanes
            }
            (Target::Private(_), Distribution::PacketLocal) => {
                u64::from(accesses.mentions) * CONTIGUOUS
            }
            (Target::View(_), _) => {
                u64::from(accesses.touches)
                    * match accesses.class {
                        AccessClass::Broadcast => BROADCAST,
                        AccessClass::Contiguous => CONTIGUOUS,
                        AccessClass::Gather => GATHERED_LANE * lanes,
                    }
            }
        }
    }
}

impl Policy for WorkPrior {
    fn name(&self) -> &'static str {
        "work-prior"
    }

    fn price(&self, realization: &Realization, workload: &Workload) -> Price {
        let programs = match realization.plan.distribution {
            Distribution::WholeProgram => u64::from(realization.plan.lanes.get()),
            Distribution::PacketLocal => 1,
        };
        let nest_of = |op| {
            realization
                .nests
                .iter()
                .position(|nest| contains(realization, nest, op))
                .unwrap_or(0)
        };
        let (mut memory, mut arithmetic) = (0u64, 0u64);
        for row in account(realization) {
            let packets = workload.packets(nest_of(row.op), programs);
            let accesses: u64 = row
                .reads
                .iter()
                .chain(&row.writes)
                .map(|(&target, &a)| Self::access(realization, target, a))
                .sum();
            let bookkeeping = if row.walks { BOOKKEEPING } else { 0 };
            memory += packets * row.points * accesses;
            arithmetic += packets * row.points * (row.arithmetic * ARITHMETIC + bookkeeping);
        }
        let terms = vec![
            Term {
                name: "memory",
                amount: memory as f64,
            },
            Term {
                name: "arithmetic",
                amount: arithmetic as f64,
            },
            Term {
                name: "dispatch",
                amount: (BLOCK_DISPATCH * u64::from(workload.workers)) as f64,
            },
        ];
        Price {
            terms,
            unit: "relative work units",
        }
    }
}

fn contains(realization: &Realization, nest: &simd_mapping::Nest, op: tile_ir::Op) -> bool {
    let mut region = realization.kernel.op(op).parent;
    while let Some(owner) = realization.kernel.region(region).owner {
        if owner == nest.op {
            return true;
        }
        region = realization.kernel.op(owner).parent;
    }
    false
}
