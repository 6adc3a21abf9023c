//! The corpus runner: kernels in text, what they should give in text, and every executor held against it.
//!
//! A file of `tests/files` holds several small cases under headings ([`corpus`]). A `run` case is a kernel with its
//! arguments ([`case`]); it goes through every executor there is ([`executors`]), all must give the same bits, and the
//! first that doesn't is named. `BLESS=1` rewrites expectations; what was rewritten is read in review.

pub mod case;
pub mod corpus;
pub mod executors;
pub mod inputs;
pub mod lowered;
pub mod native;
pub mod plans;
pub mod random;
pub mod stages;
