//! XIR: one kernel as structured SSA over packets of lanes.
//!
//! A kernel says what is computed; a plan says how it is laid out over lanes, loops and memory. XIR is the kernel laid
//! out, and machine code follows it line by line. A *packet* has 2 to 16 *lanes*; a value is *uniform* (one for the packet)
//! or *varying* (one a lane). Loops carry values, branches have uniform conditions, a mask says which lanes take part in an
//! access. Nothing is implicit: each address, tail and lane exchange is an operation. `docs/xir.md` defines all of it in
//! prose, [`OpKind`] is the table of operations, [`evaluate`] what the elementwise ones do.
//!
//! Programs are made with a [`Builder`], or read from text by [`parse`]; what [`verify`] lets through is [`Verified`], and
//! only that reaches a backend.
//!
//! ```
//! use xir::{Access, Builder, Elem, Entry, Extent, Inlining, Lanes, MemElem, Program, Type};
//!
//! let mut program = Program::new("twice", Lanes::new(4).unwrap());
//! let packets = [Type::uniform(Elem::I64); 2];
//! let function = Builder::define(&mut program, "main", Inlining::Outline, &packets, |b, packets| {
//!     let from = b.record(0, Elem::I64);
//!     b.loop_(packets[0], packets[1], 1, vec![], |b, packet, _| {
//!         let offset = b.mul_i64(packet, 16);
//!         let address = b.add(from, offset);
//!         let four = Access::Contiguous { live: 4 };
//!         let x = b.load(MemElem::F32, four, address, 0, None, false);
//!         let twice = b.add(x, x);
//!         b.store(MemElem::F32, four, address, 0, None, twice);
//!         vec![]
//!     })
//! });
//! program.entries.push(Entry { function, extents: vec![Extent::Word(1)], programs_per_packet: 4 });
//!
//! let program = xir::verify(program).expect("every rule is kept");
//! let text = program.compact().to_string();
//! assert!(text.contains("= add v7, v7 : f32x"));
//! assert_eq!(xir::parse(&text).unwrap(), program.compact());
//! ```
//!
//! This crate knows no kernel, no plan, no machine and no backend.

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
mod walk;

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
