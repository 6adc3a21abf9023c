//! What numbers mean in Tilewright, defined once for interpreters and for generated code.
//!
//! Two executors that each bring their own `exp`, their own `min` or their own summation order can't agree bit for
//! bit. So every numeric rule of the project lives here, below all of them: element types and the scalars that carry
//! them, conversions between them, the shape of reduction trees, and the elementary functions. A function is written
//! over the trait [`Arithmetic`]: [`Plain`] evaluates it on one number, an emitter turns the very same calls into
//! instructions, and since each call is one correctly rounded IEEE 754 operation, both give the same bits.
//!
//! The contract throughout: round to nearest even, subnormals kept, nothing contracted or reassociated, `fma` has one
//! rounding, and any NaN equals any NaN. `docs/numerics.md` states bounds and derivations.
//!
//! This crate knows no kernel, no machine and no instruction.

pub mod arithmetic;
pub mod casts;
pub mod element;
pub mod extremum;
pub mod functions;
pub mod half_types;
pub mod integers;
pub mod rounding;
pub mod scalar;
pub mod tree;
pub mod ulp;

pub use arithmetic::{Arithmetic, Plain};
pub use element::ElementType;
pub use functions::MathFunction;
pub use scalar::{ParseScalarError, Scalar};
pub use tree::{TREE, TreeShape, reduce_iterator_with_shape, reduce_with_shape};
