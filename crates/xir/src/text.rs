//! XIR as text: what dumps show and tests are written in.
//!
//! One operation stands on a line, results first, types last: `v3 = fma v1, v2, v0 : f32x`. A varying type ends in `x`.
//! `docs/xir.md` has the whole form with examples.
//!
//! Law **text**: `parse(print(p)) == p` for every compact, verified program.

mod lexer;
mod parser;
mod printer;

pub use parser::parse;
