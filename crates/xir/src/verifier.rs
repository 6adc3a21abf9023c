//! `verify`: a program whose every rule was checked, or all the rules it breaks.
//!
//! Everything after the verifier believes what it reads: passes index tables without asking, the backend emits code that
//! touches memory. So a program reaches them as [`Verified`], which only this module makes. The rules:
//!
//! **Tables.** Every key names a row (*foreign-key*). An operation stands in one region and a region belongs to one
//! operation or function; a value's row names the operation or region that makes it (*one-home*). Regions nest at most
//! 64 deep (*nesting*).
//!
//! **Scope.** A value is used after its definition, in the same region or one inside it (*defined-before*). So a value of
//! a loop's body leaves the loop as a carry, and nothing is shared between functions but arguments and results.
//!
//! **Types.** Each operation is defined on certain elements (*operand-element*). The operands of an elementwise operation
//! have one type, conditions apart (*operand-types*); where uniform or varying is asked for, it is given
//! (*operand-shape*). Results have the types the operation's row states (*result-types*). The body of a loop takes an
//! i64 and the carries, arms of an `if` take nothing (*region-arguments*); a loop's body yields the next carries, both
//! arms yield the results (*yields*). A call gives what the function takes (*call-arguments*).
//!
//! **Lanes.** A lane's number, a pattern's entries, and the count of a `build` or a pattern fit the packet's width
//! (*lanes*); `contiguous` has 1 to all lanes live (*live-lanes*).
//!
//! **Control.** A step is at least 1 (*step*). Functions don't call each other in a circle (*recursion*), and each
//! has a name of its own (*function-name*). An entry takes two uniform i64, returns nothing, and shares a packet among
//! at least one program (*entry*).
//!
//! **Private arrays.** An array has a slot, and one in the worker's workspace lies 64-byte aligned, inside
//! `worker_bytes`, apart from the others (*array-place*). A stack array is used by one function (*array-owner*). A
//! slot that is known lies in the array (*slot*).

mod arrays;
mod rule;
mod structure;
mod types;

use std::ops::Deref;

use diagnostics::{Diagnostic, Diagnostics};

use crate::keys::Op;
use crate::program::Program;

pub use rule::Rule;

/// A program that keeps every rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(Program);

impl Verified {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.0
    }

    /// The program, to change; what comes out of a change is verified anew.
    pub fn into_program(self) -> Program {
        self.0
    }
}

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

/// A program that breaks a rule, with all it breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{diagnostics}")]
pub struct Rejected {
    /// The program as it was given.
    pub program: Box<Program>,
    /// One diagnostic a broken rule and place; the code is [`Rule::code`].
    pub diagnostics: Diagnostics,
}

/// Checks every rule, in time linear in the size of the program.
///
/// # Errors
/// The program and everything wrong with it. When the tables themselves are broken nothing further is checked.
pub fn verify(program: Program) -> Result<Verified, Rejected> {
    let mut violations = Violations::default();
    structure::check(&program, &mut violations);
    if violations.list.is_empty() {
        types::check(&program, &mut violations);
        arrays::check(&program, &mut violations);
    }
    if violations.list.is_empty() {
        return Ok(Verified(program));
    }
    let diagnostics = violations.list.into();
    Err(Rejected {
        program: Box::new(program),
        diagnostics,
    })
}

/// What was found so far.
#[derive(Default)]
struct Violations {
    list: Vec<Diagnostic>,
}

impl Violations {
    /// `rule` is broken as `message` says.
    fn add(&mut self, rule: Rule, message: String) {
        self.list
            .push(Diagnostic::error(rule.code(), message).with_note(rule.sentence()));
    }

    /// `rule` is broken by an operation.
    fn add_at(&mut self, program: &Program, op: Op, rule: Rule, message: String) {
        self.add(rule, format!("{message}, in `{}`", program.op_text(op)));
    }
}
