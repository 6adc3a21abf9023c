//! The only crate that translates TileIR to XIR.
//!
//! A realization says who holds which value and how loops run; what is left is to write it down: coordinates become addresses,
//! recipes are unfolded where they are read, trees become accumulators. No decision is made here that a price could miss.

mod access;
mod arithmetic;
mod coordinate;
mod emitter;
mod evaluate;
mod lower;
mod lowerer;
mod peak;
mod reduce;
mod reduce_over_packets;
mod reduce_over_partials;
mod traverse;

pub use lower::{lower, record_layout};
