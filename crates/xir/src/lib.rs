//! XIR: one kernel as structured SSA over packets of lanes.

mod arithmetic;
mod builder;
mod compact;
pub mod evaluate;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
mod keys;
mod mnemonics;
mod ops;
mod program;
mod text;
mod verifier;

pub use arithmetic::VectorArithmetic;
pub use builder::Builder;
pub use keys::{Array, Function, Op, Region, Value};
pub use ops::{
    Access, BinaryOp, CompareOp, Constant, ConvertOp, Effect, Elem, MemElem, OpKind, Shape, Type,
    UnaryOp, Workspace,
};
pub use program::{
    ArrayData, Definition, Entry, Extent, FunctionData, Inlining, Lanes, OpData, Program,
    RegionData, Space, ValueData,
};
pub use text::parse;
pub use verifier::{Rejected, Rule, Verified, verify};
