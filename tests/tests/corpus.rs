//! The parts of the corpus, one test each.

use tests::corpus::run_part;

/// Kernels on small inputs, through every executor.
#[test]
fn run() {
    run_part("run", "tile", tests::executors::run_case);
}

/// Kernels laid out over packets.
#[test]
fn map() {
    run_part("map", "tile", tests::stages::map);
}

/// Kernels as XIR, before any pass.
#[test]
fn lower() {
    run_part("lower", "tile", tests::stages::lower);
}

/// Kernels as machine code of named targets.
#[test]
fn emit() {
    run_part("emit", "tile", tests::stages::emit);
}

/// What is said of loads and expressions.
#[test]
fn explain() {
    run_part("explain", "tile", tests::stages::explain);
}
