//! What operations cost on a core, in cycles, and who measured it.
//!
//! Every figure is for one 128-bit vector of f32 in registers (loads and stores: in the first-level cache).

/// The cost of one operation in cycles of a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Cycles from the last operand to the result.
    pub latency: f64,
    /// Cycles between two independent ones when nothing else runs: the reciprocal of the throughput.
    pub interval: f64,
}

/// The costs a plan is compared by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationCosts {
    /// Addition, subtraction.
    pub add: Cost,
    /// Multiplication.
    pub mul: Cost,
    /// Fused multiply-add, all operands at once.
    pub fma: Cost,
    /// Division; where it depends on the operands, the slower figure.
    pub div: Cost,
    /// Square root; where it depends on the operand, the slower figure.
    pub sqrt: Cost,
    /// A load of 16 bytes from the first-level cache.
    pub load: Cost,
    /// A store of 16 bytes; the latency is that of a load of the same bytes right after.
    pub store: Cost,
    /// A permutation of lanes within one register or two.
    pub shuffle: Cost,
    /// How many instructions of any kind the front end delivers in a cycle, at most.
    pub issue_width: u32,
    /// Where the figures come from. What it calls an unsourced estimate was read nowhere and must not carry a claim.
    pub source: &'static str,
}

const fn cost(latency: f64, interval: f64) -> Cost {
    Cost { latency, interval }
}

/// AMD Zen 3.
pub(crate) const ZEN3: OperationCosts = OperationCosts {
    add: cost(3.0, 0.5),
    mul: cost(3.0, 0.5),
    fma: cost(4.0, 0.5),
    div: cost(11.0, 3.0),
    sqrt: cost(15.0, 5.0),
    load: cost(8.0, 0.5),
    store: cost(8.0, 1.0),
    shuffle: cost(1.0, 0.5),
    issue_width: 6,
    source: "arithmetic: LLVM's scheduling model of Zen 3; load, store, shuffle and issue width: unsourced estimates",
};

/// Arm Neoverse N1.
pub(crate) const NEOVERSE_N1: OperationCosts = OperationCosts {
    add: cost(2.0, 0.5),
    mul: cost(3.0, 0.5),
    fma: cost(4.0, 0.5),
    div: cost(10.0, 7.0),
    sqrt: cost(10.0, 7.0),
    load: cost(5.0, 0.5),
    store: cost(5.0, 1.0),
    shuffle: cost(2.0, 0.5),
    issue_width: 4,
    source: "arithmetic: LLVM's scheduling model of Neoverse N1; load and store in part from there; shuffle and issue \
             width: unsourced estimates",
};

/// Arm Neoverse V2.
pub(crate) const NEOVERSE_V2: OperationCosts = OperationCosts {
    add: cost(2.0, 0.25),
    mul: cost(3.0, 0.25),
    fma: cost(4.0, 0.25),
    div: cost(10.0, 4.5),
    sqrt: cost(10.0, 4.5),
    load: cost(6.0, 1.0 / 3.0),
    store: cost(6.0, 0.5),
    shuffle: cost(2.0, 0.25),
    issue_width: 8,
    source: "arithmetic: Arm Neoverse V2 Software Optimization Guide; load, store, shuffle and issue width: unsourced \
             estimates",
};

/// Apple M1, performance core (Firestorm).
pub(crate) const APPLE_M1: OperationCosts = OperationCosts {
    add: cost(3.0, 0.25),
    mul: cost(4.0, 0.25),
    fma: cost(4.0, 0.25),
    div: cost(8.0, 1.0),
    sqrt: cost(10.0, 2.0),
    load: cost(5.0, 1.0 / 3.0),
    store: cost(5.0, 0.5),
    shuffle: cost(2.0, 0.25),
    issue_width: 8,
    source: "latency of div: published measurements; latencies of mul and fma: published measurements of related \
             forms; all else: unsourced estimates",
};
