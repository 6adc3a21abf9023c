//! The historical numbers of `WorkPrior`: what fusing a load saves in its account, to the unit.

use cost_model::{Policy, Price, WorkPrior, Workload};
use fusion_legality::Outcome;
use simd_mapping::{Distribution, Plan, realize};
use xir::Lanes;

const RMS_NORM: &str = "
kernel rms_norm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
where col = 256 {
  parallel r: row {
    let xs = load x[r, :]
    let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let rms = sqrt(sum / 256.0 + eps)
    let ws = load w[:]
    store y[r, :] = xs / rms * ws
  }
}";

fn price(fused: bool, distribution: Distribution) -> Price {
    let kernel = tile_ir::parse_verified(RMS_NORM).expect("the kernel is right");
    let admission = fusion_legality::admit(&kernel);
    let mut plan = Plan::new(Lanes::new(8).expect("8 is a width"), distribution);
    if fused {
        for candidate in admission.candidates() {
            if matches!(candidate.outcome, Outcome::Admitted(_)) {
                plan.fused.insert(candidate.subject);
            }
        }
        assert_eq!(
            plan.fused.len(),
            1,
            "the load of x is admitted, the load of w has no reduction"
        );
    }
    let realization = realize(admission, &plan).expect("the plan is realised");
    WorkPrior.price(
        &realization,
        &Workload {
            roots: vec![vec![64]],
            workers: 1,
        },
    )
}

#[test]
fn whole_program_rms_norm_64x256_costs_what_it_did() {
    let unfused = price(false, Distribution::WholeProgram);
    let fused = price(true, Distribution::WholeProgram);
    assert_eq!(unfused.unit, "relative work units");
    assert_eq!(
        (unfused.term("memory"), unfused.total()),
        (Some(264_192.0), 297_112.0)
    );
    assert_eq!(
        (fused.term("memory"), fused.total()),
        (Some(198_656.0), 231_576.0)
    );
    let rest = |price: &Price| price.total() - price.term("memory").expect("memory is a term");
    assert_eq!((rest(&unfused), rest(&fused)), (32_920.0, 32_920.0));
}

#[test]
fn the_prior_prefers_fusion_wherever_it_is_legal() {
    for distribution in [Distribution::WholeProgram, Distribution::PacketLocal] {
        assert!(price(true, distribution).total() < price(false, distribution).total());
    }
}
