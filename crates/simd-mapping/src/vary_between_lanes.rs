//! `vary_between_lanes`: which values lanes that run programs of their own may disagree about.
//!
//! What they agree about is kept once a packet, and read by a broadcast. They start to differ at the last root coordinate.

use tile_ir::{Kernel, OpKind, ReduceForm};

use crate::plan::Distribution;
use crate::realization::Refusal;

/// Which values may differ between lanes at program level. Under packet-local, none: lanes share their program.
pub(crate) fn vary_between_lanes(
    kernel: &Kernel,
    distribution: Distribution,
) -> Result<Vec<bool>, Refusal> {
    let mut varies = vec![false; kernel.values().len()];
    if distribution == Distribution::PacketLocal {
        return Ok(varies);
    }
    for op in &kernel.region(kernel.body()).ops {
        if let OpKind::Parallel { body, .. } = kernel.op(*op).kind
            && let Some(&last) = kernel.region(body).args.last()
        {
            varies[last.index()] = true;
        }
    }
    // Values are numbered in program order, so one sweep settles everything but carries; those need a fixed point.
    loop {
        let before = varies.clone();
        for op in kernel.ops() {
            let data = kernel.op(op);
            let any_operand = data.kind.operands().iter().any(|v| varies[v.index()]);
            match &data.kind {
                OpKind::For {
                    lower,
                    upper,
                    inits,
                    body,
                } => {
                    if varies[lower.index()] || varies[upper.index()] {
                        return Err(Refusal::DivergentLoop { op });
                    }
                    let region = kernel.region(*body);
                    for (i, init) in inits.iter().enumerate() {
                        let carried = varies[init.index()] || varies[region.yields[i].index()];
                        varies[region.args[i + 1].index()] |= carried;
                        varies[data.results[i].index()] |= carried;
                    }
                }
                OpKind::Reduce {
                    form,
                    inits,
                    body,
                    dims,
                    ..
                } => {
                    let region = kernel.region(*body);
                    for (i, init) in inits.iter().enumerate() {
                        let carried = varies[init.index()] || varies[region.yields[i].index()];
                        varies[data.results[i].index()] |= carried;
                        if *form == ReduceForm::Open {
                            // One carry may feed another.
                            let any = inits
                                .iter()
                                .zip(&region.yields)
                                .any(|(a, b)| varies[a.index()] || varies[b.index()]);
                            varies[region.args[dims.len() + i].index()] |= any;
                            varies[data.results[i].index()] |= any;
                        }
                    }
                }
                OpKind::Map { body, .. } => {
                    for (result, value) in data.results.iter().zip(&kernel.region(*body).yields) {
                        varies[result.index()] |= varies[value.index()];
                    }
                }
                _ => {
                    for result in &data.results {
                        varies[result.index()] |= any_operand;
                    }
                }
            }
        }
        if varies == before {
            return Ok(varies);
        }
    }
}
