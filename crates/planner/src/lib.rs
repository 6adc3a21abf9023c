//! The choice of a plan: what a person pinned, what the rules allow, and what is left to a policy.

mod pins;
mod request;

pub use pins::{PinError, Pins};
pub use request::{Request, Rule, Rules, UnknownRule, plan_for};
