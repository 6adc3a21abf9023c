//! How a kernel is to be compiled.

use planner::Request;

/// Options of a compilation. The default lets the planner choose and fuses nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileOptions {
    /// What is fixed about the plan, and which fusions may happen.
    pub request: Request,
}
