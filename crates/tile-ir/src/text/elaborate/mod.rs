//! Syntax to a kernel: names are looked up, literals get their types, expressions become operations.
//!
//! Types are judged by the verifier; here a wrong one is guessed and passed on. A name that is not found becomes a
//! *poisoned* value, about which nobody says more, so that each mistake is told once.

mod expressions;
mod functions;
mod head;
mod literals;
mod statements;

use diagnostics::{Diagnostic, Span};
use hashbrown::HashMap;
use numerics::{ElementType, Scalar};

use super::mistake::Mistake;
use super::nearest::nearest;
use super::syntax::{Block, KernelSyntax, Name};
use crate::kernel::{Kernel, TileType};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::OpKind;
use crate::verifier::infer;
use crate::{MAX_MISTAKES, MAX_OPERATIONS};

/// A kernel as far as the text gives one.
pub(crate) struct Elaborated {
    pub(crate) kernel: Kernel,
    /// By value: reported already.
    pub(crate) poisoned: Vec<bool>,
    pub(crate) mistakes: Vec<Diagnostic>,
}

/// The kernel of a text's syntax.
pub(crate) fn elaborate(syntax: &KernelSyntax<'_>) -> Elaborated {
    let mut elaborator = Elaborator {
        kernel: Kernel::new(syntax.name.text),
        region: Region::from_index(0),
        axes: HashMap::new(),
        names: HashMap::new(),
        scopes: vec![Vec::new()],
        left: HashMap::new(),
        poisoned: Vec::new(),
        poison: None,
        full: false,
        mistakes: Vec::new(),
    };
    elaborator.head(syntax);
    elaborator.block(&syntax.body, Yielding::No);
    let Elaborator {
        kernel,
        poisoned,
        mistakes,
        ..
    } = elaborator;
    Elaborated {
        kernel,
        poisoned,
        mistakes,
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Value(Value),
    Param(Param),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Yielding {
    Yes,
    No,
}

struct Elaborator<'t> {
    kernel: Kernel,
    region: Region,
    axes: HashMap<&'t str, Axis>,
    names: HashMap<&'t str, (Meaning, Span)>,
    /// The names each open nest defined.
    scopes: Vec<Vec<&'t str>>,
    /// Names of nests that ended, to explain where they went.
    left: HashMap<&'t str, Span>,
    poisoned: Vec<bool>,
    poison: Option<Value>,
    /// A limit was met; nothing more is made.
    full: bool,
    mistakes: Vec<Diagnostic>,
}

impl<'t> Elaborator<'t> {
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.mistakes.len() < MAX_MISTAKES {
            self.mistakes.push(diagnostic);
        } else if !self.full {
            let message = format!("more than {MAX_MISTAKES} mistakes; the rest is not shown");
            self.mistakes.push(
                Mistake::TooManyMistakes
                    .says(message)
                    .at(diagnostic.location),
            );
            self.full = true;
        }
    }

    /// A value about which everything was said.
    fn poison(&mut self) -> Value {
        if let Some(value) = self.poison {
            return value;
        }
        let ty = TileType::scalar(ElementType::F32);
        let kind = OpKind::Const(Scalar::F32(0.0));
        let op = self
            .kernel
            .add_op(self.region, kind, vec![ty], diagnostics::Location::None);
        self.kernel.region_mut(self.region).ops.pop();
        let value = self.kernel.op(op).results[0];
        self.mark(value);
        self.poison = Some(value);
        value
    }

    fn mark(&mut self, value: Value) {
        if self.poisoned.len() <= value.index() {
            self.poisoned.resize(value.index() + 1, false);
        }
        self.poisoned[value.index()] = true;
    }

    fn is_poisoned(&self, value: Value) -> bool {
        self.poisoned.get(value.index()) == Some(&true)
    }

    /// Appends an operation; its results' types are derived.
    fn push(&mut self, kind: OpKind, span: Span) -> Option<Op> {
        if self.kernel.ops().len() >= MAX_OPERATIONS {
            if !self.full {
                let message = format!("the kernel needs more than {MAX_OPERATIONS} operations");
                self.report(Mistake::TooManyOperations.says(message).at(span));
            }
            self.full = true;
            return None;
        }
        let (types, _) = infer(&self.kernel, &kind);
        let mut reported = kind
            .operands()
            .into_iter()
            .any(|value| self.is_poisoned(value));
        for region in kind.regions() {
            let yields = &self.kernel.region(region).yields;
            reported |= yields.iter().any(|&value| self.is_poisoned(value));
        }
        let op = self.kernel.add_op(self.region, kind, types, span.into());
        if reported {
            for result in self.kernel.op(op).results.clone() {
                self.mark(result);
            }
        }
        Some(op)
    }

    /// Appends an operation with one result.
    fn make(&mut self, kind: OpKind, span: Span) -> Value {
        match self.push(kind, span) {
            Some(op) => self
                .kernel
                .op(op)
                .results
                .first()
                .copied()
                .unwrap_or_else(|| self.poison()),
            None => self.poison(),
        }
    }

    // Names.

    fn define(&mut self, name: Name<'t>, meaning: Meaning) {
        if let Some(&(_, first)) = self.names.get(name.text) {
            let diagnostic = Mistake::NameDefinedTwice
                .says(format!("`{}` is defined twice", name.text))
                .at(name.span)
                .with_label("defined again")
                .with_secondary(first, "first defined here")
                .with_help("give the second another name; names are not shadowed");
            self.report(diagnostic);
            return;
        }
        if let Meaning::Value(value) = meaning
            && self.kernel.value(value).name.is_none()
            && !self.is_poisoned(value)
        {
            self.kernel.name_value(value, name.text);
        }
        self.names.insert(name.text, (meaning, name.span));
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.text);
        }
    }

    fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn close_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some((_, span)) = self.names.remove(name) {
                self.left.insert(name, span);
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Span, what: &str) {
        let mut diagnostic = Mistake::UnknownName
            .says(format!("nothing visible here is called `{name}`"))
            .at(span)
            .with_label(format!("no such {what}"));
        let mut known: Vec<(&str, Span)> = self
            .names
            .iter()
            .map(|(&name, &(_, span))| (name, span))
            .collect();
        known.sort_by_key(|&(_, span)| span);
        if let Some(&place) = self.left.get(name) {
            diagnostic = diagnostic
                .with_secondary(place, "this one is visible in its own nest only")
                .with_help("`yield` it from the nest, or move the use into it");
        } else if let Some(close) = nearest(name, known.into_iter().map(|(name, _)| name)) {
            diagnostic = diagnostic.with_help(format!("did you mean `{close}`?"));
        } else if self.axes.contains_key(name) {
            diagnostic = diagnostic.with_help(format!("`{name}` is an axis: its size is `extent({name})`, its coordinates are `iota({name})`"));
        }
        self.report(diagnostic);
    }

    fn axis(&mut self, name: Name<'t>) -> Option<Axis> {
        if let Some(&axis) = self.axes.get(name.text) {
            return Some(axis);
        }
        let mut diagnostic = Mistake::UnknownAxis
            .says(format!("no axis is called `{}`", name.text))
            .at(name.span);
        let known: Vec<String> = self
            .kernel
            .axes()
            .map(|axis| self.kernel.axis(axis).name.clone())
            .collect();
        diagnostic = match nearest(name.text, known.iter().map(String::as_str)) {
            Some(close) => diagnostic.with_help(format!("did you mean `{close}`?")),
            None => diagnostic.with_help(format!(
                "axes are declared by the dimensions of views, or in `where {} = 64`",
                name.text
            )),
        };
        self.report(diagnostic);
        None
    }
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn body_start(span: Span, body: &Block<'_>) -> u32 {
    body.start.start.clamp(span.start, span.end)
}
