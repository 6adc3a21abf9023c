//! XIR made cheaper without changing what it computes.
//!
//! The backend emits what it reads, operation by operation, in order: it hoists nothing, shares nothing, unrolls nothing. So
//! what a loop looks like in machine code is decided here, by passes that each do one thing to a whole program. Each
//! pass is a function from program to program and takes time linear in the program's size.
//!
//! Law **same bits**: a program that runs without fault gives the same results after each pass, any NaN equal to any
//! NaN, and touches no byte it did not touch before.
//!
//! This crate knows no kernel, no machine and no plan: what a plan decided stands in the program (a function is inlined
//! because its row says so).

mod bound_integers;
mod combine_masks;
mod copy;
mod drop_dead_code;
mod effects;
mod fold_constants;
mod forward_private_loads;
mod hash;
mod hoist_invariants;
mod inline_calls;
mod optimise;
mod rewrite;
mod share_common_values;
mod simplify;
mod unroll_loops;

pub use bound_integers::bound_integers;
pub use combine_masks::combine_masks;
pub use drop_dead_code::drop_dead_code;
pub use fold_constants::fold_constants;
pub use forward_private_loads::forward_private_loads;
pub use hoist_invariants::hoist_invariants;
pub use inline_calls::inline_calls;
pub use optimise::{PASSES, Pass, Trace, optimise};
pub use share_common_values::share_common_values;
pub use simplify::simplify;
pub use unroll_loops::unroll_loops;
