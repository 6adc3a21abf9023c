//! What a realization would cost: its work counted, and policies that price it.
//!
//! A price is an opinion. The historical one counted private reads and was wrong where it mattered, so a policy is a value behind a trait, it
//! sees only the realization that is built, and it never searches. No policy can make an illegal plan legal.

mod policy;
mod work_prior;

pub use policy::{Policy, Price, Term, Workload};
pub use work_prior::WorkPrior;
