//! TileIR: kernels over whole tiles.
//!
//! A kernel says what one program computes from memory that it sees through views, and which programs there are. It says
//! nothing about lanes, registers, threads or machines; this crate knows none.
//!
//! ```text
//! kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
//! where col = 256 {
//!   parallel r: row {
//!     let xs = load x[r, :]
//!     let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
//!     let rms = sqrt(sum / 256.0 + eps)
//!     let ws = load w[:]
//!     store y[r, :] = xs / rms * ws
//!   }
//! }
//! ```
//!
//! # The language
//!
//! **Axes.** An axis is an identity, a name for people, and perhaps an extent. Two axes of equal extent are still two:
//! tiles along `row` and along `col` never mix silently. An extent is fixed in the kernel, fixed later by
//! [`Kernel::specialize`], or, for axes that only views and root nests know, given at launch.
//!
//! **Types.** A value is a *tile*: an element type (f32, f64, i32, bool) and dimensions, each along an axis or a *unit*
//! dimension of extent 1 without identity. Rank 0 is a scalar. f16 and bf16 exist in views: a load widens, a store rounds.
//!
//! **Parameters.** A scalar is passed by value. A *view* is memory of the caller seen as an array along named axes: element
//! type, bounds (the extents), strides (in elements; the innermost is 1 unless stated), and a fill value that reads
//! outside the bounds give. A kernel stores only through a `mut view`. Views may overlap in memory in any way the launch
//! admits; being another parameter proves nothing.
//!
//! **Root.** The body of a kernel is a sequence of `parallel` nests. A nest runs one *program* for each point of its
//! domain, in no order and all at once; the next nest begins when all programs of the former have ended. Inside a nest,
//! `stage` divides programs in the same way: every program reaches it before any goes on. Within one stage programs are
//! independent, and the verifier asks for a proof ([`access`]).
//!
//! **Pure operations.** Constants, extents, `iota`; elementwise arithmetic, comparison, `select`, `fma`, conversion, where
//! scalar operands stand for whole tiles; `broadcast` (repeat along new axes), `reshape` (insert and drop unit
//! dimensions), `permute`. `map` builds a tile point by point from a body that gets coordinates and yields scalars;
//! `tile[i, j]` takes one element (outside the tile it is NaN, 0 or false). Each element of a value is computed once, and
//! every reader sees the same bits.
//!
//! **Reductions.** `reduce` combines scalars over a domain. In the *closed* form each carry has one operation (add, mul,
//! min, max) and the body yields contributions without seeing the carry; the initial value enters once. The policy says in
//! what order: `fold` strictly left to right in row-major order; `tree` by one fixed tree that depends on the extent
//! alone; `unordered` by a tree that the plan chooses and records. In the *open* form, which is always `fold`, the body
//! sees the carries and yields their next values. `sum(x)` is the closed reduction of all elements of `x`.
//!
//! **Effects, in program order.** `load` reads a *snapshot*: a value that no later store changes. Outside the bounds it
//! holds the fill value. `store` writes a tile; what lies outside the bounds is left out. A subscript is one coordinate, or
//! a *window* `origin + step * i` along an axis, computed exactly: where a coordinate of the kernel wraps around as i32
//! arithmetic does, a window does not. `for` repeats its body in order, perhaps not at all, and carries values from one
//! round to the next. `opaque` is an effect about which nothing is known.
//!
//! # Numbers
//!
//! Every operation is one IEEE 754 operation, rounded to nearest even, or one function of `numerics`. Nothing is
//! contracted, reassociated, flushed or approximated; `fma` rounds once because it is written. `min` and `max` propagate
//! NaN and order -0 below +0. i32 arithmetic wraps; `x / 0` is 0 and `x % 0` is x. Shift amounts count modulo 32.
//! Conversions from float to i32 saturate, NaN gives 0. Any NaN equals any other: payloads mean nothing.
//!
//! # Numbering
//!
//! A kernel is dense tables ([`Kernel`]) with typed keys ([`Axis`], [`Param`], [`Value`], [`Op`], [`Region`]). [`verify`]
//! turns it into a [`Verified`], in *canonical numbering*: the rows stand in the order of the text. So a kernel and its
//! text determine each other: `parse(&print(&k)) == k`. Kernels from [`parse`] and from the builder are canonical already,
//! and keep their keys when verified; so does a kernel made row by row in text order (an operation before the contents of
//! its regions).
//!
//! ```
//! let text = "kernel double(x: mut view f32[n]) {
//!   parallel i: n {
//!     store x[i] = 2.0 * load x[i]
//!   }
//! }";
//! let kernel = tile_ir::parse_verified(text).unwrap();
//! assert_eq!(tile_ir::parse(&tile_ir::print(&kernel)).unwrap(), *kernel);
//! ```

pub mod access;
pub mod affine;
pub mod builder;
mod canonical;
mod closed_form;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
mod kernel;
mod keys;
#[cfg(test)]
mod laws;
mod ops;
mod specialize;
mod text;
mod verified;
mod verifier;

pub use access::{Privacy, accesses, may_share, program_private};
pub use affine::{
    Affine, WrapCondition, affine, coordinate_axis, statically_in_bounds, wrap_conditions,
};
pub use kernel::{
    AxisData, Definition, Dim, Kernel, OpData, ParamData, ParamKind, RegionData, Stride, TileType,
    ValueData, ViewType,
};
pub use keys::{Axis, Op, Param, Region, Value};
pub use ops::{
    BinaryOp, CompareOp, Effect, OpKind, Policy, ReduceForm, ReduceOp, Rekey, Subscript, UnaryOp,
};
pub use specialize::SpecializeError;
pub use text::{Mistake, format_text, parse, parse_verified, print};
pub use verified::{Rejected, Verified, verify};
pub use verifier::Rule;

/// The most dimensions a view, a tile or a domain has.
pub const MAX_RANK: usize = 8;

/// How deep regions nest, and parentheses and braces in a text. Readers of a kernel may recurse this far.
pub const MAX_NESTING: usize = 128;

/// The most operations a kernel has.
pub const MAX_OPERATIONS: usize = 1 << 18;

/// The longest kernel text, in bytes.
pub const MAX_SOURCE_BYTES: usize = 16 << 20;

/// The longest name, in bytes.
pub const MAX_NAME: usize = 255;

/// The longest number in a text, in characters; every exact f64 is shorter.
pub const MAX_NUMBER: usize = 1200;

/// The most items in a list of a text: parameters, axes, names, arguments.
pub const MAX_ITEMS: usize = 1 << 14;

/// How many mistakes are told at once.
pub const MAX_MISTAKES: usize = 100;
