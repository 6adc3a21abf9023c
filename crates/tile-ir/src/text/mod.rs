//! The text form: what people write, what tests compare, what dumps show.
//!
//! `docs/grammar.md` has the grammar. A text is read in three steps: [`lexer`] finds words, [`parser`] finds the shape,
//! [`elaborate`] finds what names and literals mean. Each collects its mistakes and goes on, so that a file's mistakes are
//! told together, with those of the verifier. The reader is total: whatever the bytes, it ends soon with a kernel or with
//! diagnostics; sizes and nesting have limits that are named at the crate's root.
//!
//! Law **text**: for every verified kernel, `parse(&print(&kernel))` equals it, keys included.

mod elaborate;
mod format;
mod lexer;
mod mistake;
mod nearest;
mod parser;
mod printer;
mod syntax;
mod token;

use diagnostics::{Diagnostic, Diagnostics, Span};

pub use format::format_text;
pub use mistake::Mistake;
pub use printer::print;
pub(crate) use token::is_name;

use crate::canonical::canonical;
use crate::kernel::Kernel;
use crate::verified::{Verified, verify};
use crate::verifier::violations;
use crate::{MAX_MISTAKES, MAX_SOURCE_BYTES};

/// Reads a kernel. What it says may still break rules: [`verify`] looks at those.
///
/// # Errors
/// Every mistake of the text, in order of place, together with the rules that the readable part breaks.
pub fn parse(text: &str) -> Result<Kernel, Diagnostics> {
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!(
            "the text has {} bytes; the limit is {MAX_SOURCE_BYTES}",
            text.len()
        );
        return Err(Mistake::SourceTooLarge
            .says(message)
            .at(Span::point(0))
            .into());
    }
    let (syntax, mut mistakes) = parser::parse_syntax(text);
    let Some(syntax) = syntax else {
        return Err(sorted(mistakes));
    };
    let elaborated = elaborate::elaborate(&syntax);
    mistakes.extend(elaborated.mistakes);
    // A poisoned value without a mistake stands for one that the verifier tells.
    if mistakes.is_empty() && elaborated.poisoned.is_empty() {
        return Ok(canonical(elaborated.kernel));
    }
    mistakes.extend(violations(&elaborated.kernel, &elaborated.poisoned));
    Err(sorted(mistakes))
}

/// Reads and verifies a kernel: every mistake of a file at once.
///
/// # Errors
/// What [`parse`] and [`verify`] say.
pub fn parse_verified(text: &str) -> Result<Verified, Diagnostics> {
    verify(parse(text)?).map_err(|rejected| rejected.diagnostics)
}

fn sorted(mistakes: Vec<Diagnostic>) -> Diagnostics {
    let mut diagnostics = Diagnostics::from(mistakes);
    diagnostics.sort_by_place();
    diagnostics.into_iter().take(MAX_MISTAKES + 1).collect()
}
