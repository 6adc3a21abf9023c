//! The plans a kernel is lowered at: both mappings, every width, with everything off and with everything on.

use std::collections::BTreeSet;

use fusion_legality::{Admission, Candidate, admit};
use simd_mapping::{Distribution, FullPackets, Plan, Realization, Refusal, Reload, realize};
use tile_ir::Verified;
use xir::Lanes;

/// The plans every case runs at, named by their text.
///
/// For each width and mapping: the default plan, and one that fuses all that may be fused, reads loads again where it may,
/// keeps one partial and unrolls nothing. Between them they take the two ends of every choice.
#[must_use]
pub fn plans(kernel: &Verified) -> Vec<Plan> {
    let fused: BTreeSet<_> = admit(kernel)
        .candidates()
        .iter()
        .filter(|candidate| candidate.certificate().is_some())
        .map(|candidate| candidate.subject)
        .collect();
    let mut plans = Vec::new();
    for distribution in [Distribution::PacketLocal, Distribution::WholeProgram] {
        for lanes in Lanes::ALL {
            let plain = Plan::new(lanes, distribution);
            let mut other = plain.clone();
            other.fused.clone_from(&fused);
            other.reload = Reload::Guarded;
            other.partials = 1;
            other.unroll = 1;
            other.full_packets = match lanes.get() {
                2 | 8 => FullPackets::Shared,
                _ => FullPackets::Outlined,
            };
            plans.extend([plain, other]);
        }
    }
    plans
}

/// A plan with its realization.
///
/// # Errors
/// Why the plan doesn't fit the kernel. Only a loop whose bounds differ within a packet is a reason that cases may have.
pub fn realized(kernel: &Verified, plan: &Plan) -> Result<Option<Realization>, String> {
    match realize(admit(kernel), plan) {
        Ok(realization) => Ok(Some(realization)),
        Err(Refusal::DivergentLoop { .. }) => Ok(None),
        Err(refusal) => Err(format!("plan {plan}: {refusal}")),
    }
}

/// The candidates of an admission that may fuse.
pub fn admitted(admission: &Admission) -> impl Iterator<Item = &Candidate> {
    admission
        .candidates()
        .iter()
        .filter(|candidate| candidate.certificate().is_some())
}
