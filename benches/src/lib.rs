//! How things are timed here, and the C programs they are timed against.
//!
//! A time that was taken alone says little: the machine may have been busy. So two arms are visited in turn, both orders
//! equally often; each visit warms up and takes several samples; what is compared are visits of the same round. Nothing
//! is dropped, and every figure can be printed.

pub mod peers;
mod protocol;
mod rival;

pub use protocol::{Comparison, Protocol, Visit, compare, median, visit, visit_briefly};
pub use rival::{Rival, RivalError};

/// The generator of the inputs: the same numbers here and in the C programs, in [-1, 1).
///
/// ```
/// let values = benches::values(1, 4);
/// assert_eq!(values[1], 0.018_814_802);
/// ```
pub fn values(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        2.0 * ((state >> 40) as f64 / 16_777_216.0) as f32 - 1.0
    };
    (0..count).map(next).collect()
}
