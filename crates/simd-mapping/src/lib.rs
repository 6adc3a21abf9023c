//! A plan laid out over packets of lanes.
//!
//! A kernel says what is computed, not where its elements are meanwhile. That is settled here, before anything is emitted: which lane runs
//! which program, who holds a value until it is read, which private arrays exist and how they are laid out, which tree a sum
//! takes. The result, a [`Realization`], is pure data; `cost-model` prices it and `lowering` emits it, so what is priced is what is built.

mod account;
mod plan;
mod print;
mod realization;
mod realize;
mod reload;
mod structure;
mod vary_between_lanes;

pub use account::{AccessClass, Accesses, OpAccount, Target, account, view_class};
pub use plan::{Distribution, FullPackets, Materialization, PARTIALS, Plan, Reload, UNROLLS};
pub use print::value_name;
pub use realization::{
    ArrayKey, FusedRead, Home, Nest, Placement, PrivateArray, Realization, Refusal, Representation,
    STACK_LIMIT, Spread, WORKSPACE_LIMIT, private_bytes,
};
pub use realize::realize;
pub use structure::{Uses, distributes, in_nest, local_axis};
