//! What the compiler says to people: places, diagnostics and their rendering.
//!
//! A stage that meets a mistake does not stop at it. It adds a [`Diagnostic`] to a [`Diagnostics`] list and goes on,
//! so that a file's mistakes are told all at once. Every diagnostic has a stable code, a sentence, a place, a label
//! for the place and, where there is one, a next step.
//!
//! A place is a [`Location`]: bytes of a kernel text, or the line of Rust that called a builder. [`render`] draws the
//! first kind with the text beside it and writes the second kind as `file:line:column`.
//!
//! This crate knows no IR and no machine. It never reads a file: the caller hands over the text it parsed.
//!
//! ```
//! use diagnostics::{Diagnostic, Diagnostics, Span, render};
//!
//! let source = "let y = xs + zs\n";
//! let mut found = Diagnostics::new();
//! found.push(
//!     Diagnostic::error("unknown-name", "nothing here is called `zs`")
//!         .at(Span::new(13, 15))
//!         .with_label("not defined")
//!         .with_help("a similar name is in scope: `xs`"),
//! );
//! let text = render(&found, "norm.tile", source, false);
//! assert!(text.contains("norm.tile:1:14"));
//! assert!(text.contains("not defined"));
//! ```

mod diagnostic;
mod excerpt;
mod list;
mod render;
mod source;
mod span;

pub use diagnostic::{Diagnostic, Severity};
pub use list::Diagnostics;
pub use render::render;
pub use source::{LineColumn, line_column};
pub use span::{Location, Span};
