//! The parts of the corpus, one test each.

use tests::corpus::run_part;

/// Kernels on small inputs, through every executor.
#[test]
fn run() {
    run_part("run", "tile", tests::executors::run_case);
}
