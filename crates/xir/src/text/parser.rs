//! `parse`: text to a compact program, with every mistake reported.

use diagnostics::{Diagnostic, Diagnostics, Span};
use hashbrown::HashMap;

mod operations;

use super::lexer::{Token, tokens};
use crate::keys::{Array, Function, Op, Value};
use crate::ops::{OpKind, Type};
use crate::program::{ArrayData, Entry, Extent, Inlining, Lanes, Program, Space};

/// How deep regions may nest in text; the verifier allows less.
const DEEPEST: usize = 200;

/// Reads a program. The result is compact; whether it is valid is the verifier's question.
///
/// # Errors
/// Every mistake of form, each at its place: unknown words, numbers out of range, names that nothing defines or that two
/// things define.
pub fn parse(text: &str) -> Result<Program, Diagnostics> {
    let mut found = Diagnostics::new();
    let tokens = tokens(text, &mut found);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        found,
        program: Program::new("", Lanes::WIDEST),
        arrays: HashMap::new(),
        functions: HashMap::new(),
        wanted: Vec::new(),
        entries: Vec::new(),
        names: HashMap::new(),
        values: Vec::new(),
        depth: 0,
    };
    let _ = parser.program();
    parser.found.sort_by_place();
    let Parser { found, program, .. } = parser;
    if found.has_errors() {
        Err(found)
    } else {
        Ok(program.compact())
    }
}

/// `None` means that the mistake is in the list.
type Parsed<T = ()> = Option<T>;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token<'t>, Span)>,
    at: usize,
    found: Diagnostics,
    program: Program,
    arrays: HashMap<&'t str, Array>,
    functions: HashMap<String, Function>,
    /// Calls by name: the operation, the name and its place; resolved once all functions are known.
    wanted: Vec<(Op, String, Span)>,
    entries: Vec<(Entry, String, Span)>,
    /// Names of the function at hand. Until it ends, operands are indices into `values`.
    names: HashMap<&'t str, usize>,
    values: Vec<(Option<Value>, &'t str, Span)>,
    depth: usize,
}

/// Places and words.
impl<'t> Parser<'t> {
    fn token(&self) -> &Token<'t> {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn step(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn fail<T>(&mut self, code: &'static str, message: impl Into<String>, span: Span) -> Parsed<T> {
        self.found.push(Diagnostic::error(code, message).at(span));
        None
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let here = match self.span().text(self.text) {
            Some(text) if !text.is_empty() => format!("`{text}`"),
            _ => "the end".to_owned(),
        };
        self.fail(
            "expected",
            format!("expected {what}, found {here}"),
            self.span(),
        )
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.token(), Token::Word(w) if *w == word);
        if found {
            self.step();
        }
        found
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = *self.token() == Token::Sign(sign);
        if found {
            self.step();
        }
        found
    }

    fn word(&mut self, word: &str) -> Parsed {
        if self.accept_word(word) {
            Some(())
        } else {
            self.expected(&format!("`{word}`"))
        }
    }

    fn sign(&mut self, sign: char) -> Parsed {
        if self.accept(sign) {
            Some(())
        } else {
            self.expected(&format!("`{sign}`"))
        }
    }

    fn any_word(&mut self, what: &str) -> Parsed<(&'t str, Span)> {
        let span = self.span();
        match *self.token() {
            Token::Word(word) => {
                self.step();
                Some((word, span))
            }
            _ => self.expected(what),
        }
    }

    fn name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        let name = match self.token() {
            Token::Word(word) => (*word).to_owned(),
            Token::Quoted(name) => name.clone(),
            _ => return self.expected(what),
        };
        self.step();
        Some((name, span))
    }

    /// A whole number, negative after `-`.
    fn number<N: TryFrom<i128>>(&mut self, what: &str) -> Parsed<N> {
        let span = self.span();
        let negative = self.accept('-');
        let Token::Number(digits) = *self.token() else {
            return self.expected(what);
        };
        let span = span.join(self.span());
        self.step();
        let Ok(size) = digits.parse::<i128>() else {
            return self.fail(
                "malformed-number",
                format!("`{digits}` is no whole number"),
                span,
            );
        };
        match N::try_from(if negative { -size } else { size }) {
            Ok(number) => Some(number),
            Err(_) => self.fail(
                "number-range",
                format!("this is out of range for {what}"),
                span,
            ),
        }
    }

    /// Skips to the first token after `start` that begins a line, or to a brace.
    fn skip_line(&mut self, start: usize) {
        loop {
            if matches!(self.token(), Token::End | Token::Sign('{' | '}')) {
                return;
            }
            if self.at > start {
                let (before, here) = (self.tokens[self.at - 1].1.end, self.span().start);
                let gap = self.text.get(before as usize..here as usize);
                if gap.is_none_or(|gap| gap.contains('\n')) {
                    return;
                }
            }
            self.step();
        }
    }

    /// Skips a block in braces that makes no sense here.
    fn skip_block(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.token() {
                Token::End => return,
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.step();
                        return;
                    }
                }
                _ => {}
            }
            self.step();
        }
    }
}

/// The program and its tables.
impl<'t> Parser<'t> {
    fn program(&mut self) -> Parsed {
        self.word("program")?;
        self.program.name = self.name("the program's name")?.0;
        self.word("lanes")?;
        let span = self.span();
        let count = self.number("a number of lanes")?;
        self.program.lanes = match Lanes::new(count) {
            Some(lanes) => lanes,
            None => return self.fail("lanes", "a packet has 2, 4, 8 or 16 lanes", span),
        };
        self.sign('{')?;
        while !matches!(self.token(), Token::Sign('}') | Token::End) {
            let start = self.at;
            if self.item().is_none() {
                self.skip_line(start);
                if *self.token() == Token::Sign('{') {
                    self.skip_block();
                } else if self.at == start {
                    self.step();
                }
            }
        }
        self.sign('}')?;
        if *self.token() != Token::End {
            return self.expected("nothing after the program");
        }
        self.resolve_functions();
        Some(())
    }

    fn item(&mut self) -> Parsed {
        let (word, span) = self.any_word("`fn`, `entry`, `worker`, `shared` or an array")?;
        match word {
            "worker" => {
                self.program.worker_bytes = self.number("a number of bytes")?;
                self.word("bytes")
            }
            "shared" => {
                self.program.shared_bytes_per_packet = self.number("a number of bytes")?;
                self.word("bytes")?;
                self.word("per")?;
                self.word("packet")
            }
            "entry" => self.entry(),
            "fn" => self.function(),
            _ => self.array(word, span),
        }
    }

    fn array(&mut self, key: &'t str, span: Span) -> Parsed {
        let (name, _) = self.name("`fn`, `entry`, `worker`, `shared` or an array's name")?;
        self.sign(':')?;
        let ty = self.ty()?;
        self.sign('[')?;
        let slots = self.number("a number of slots")?;
        self.sign(']')?;
        let space = if self.accept_word("stack") {
            Space::Stack
        } else {
            self.word("worker")?;
            self.sign('+')?;
            Space::Worker {
                offset: self.number("an offset in bytes")?,
            }
        };
        let data = ArrayData {
            name,
            elem: ty.elem,
            shape: ty.shape,
            slots,
            space,
        };
        let array = self.program.add_array(data);
        if self.arrays.insert(key, array).is_some() {
            return self.fail(
                "defined-twice",
                format!("there are two arrays `{key}`"),
                span,
            );
        }
        Some(())
    }

    fn entry(&mut self) -> Parsed {
        let (name, span) = self.name("a function")?;
        self.sign('(')?;
        let mut extents = Vec::new();
        while *self.token() != Token::Sign(')') {
            if !extents.is_empty() {
                self.sign(',')?;
            }
            extents.push(if self.accept_word("word") {
                Extent::Word(self.number("a word of the record")?)
            } else {
                Extent::Fixed(self.number("an extent")?)
            });
        }
        self.sign(')')?;
        self.word("by")?;
        let programs_per_packet = self.number("programs in a packet")?;
        let function = Function::from_index(0);
        self.entries.push((
            Entry {
                function,
                extents,
                programs_per_packet,
            },
            name,
            span,
        ));
        Some(())
    }

    fn function(&mut self) -> Parsed {
        let (name, span) = self.name("the function's name")?;
        self.names.clear();
        self.values.clear();
        let (first_op, first_region) = (self.program.op_count(), self.program.region_count());
        let function = self.program.add_function(name.clone(), Inlining::Outline);
        if self.functions.insert(name.clone(), function).is_some() {
            self.fail::<()>(
                "defined-twice",
                format!("there are two functions `{name}`"),
                span,
            );
        }
        let body = self.program.function(function).body;
        self.sign('(')?;
        while *self.token() != Token::Sign(')') {
            if !self.program.region(body).args.is_empty() {
                self.sign(',')?;
            }
            let (name, span) = self.any_word("a parameter")?;
            self.sign(':')?;
            let ty = self.ty()?;
            let value = self.program.add_arg(body, ty);
            self.define(name, span, value);
        }
        self.sign(')')?;
        let inlining = if self.accept_word("inline") {
            Inlining::Inline
        } else {
            self.word("outline")?;
            Inlining::Outline
        };
        self.program.functions[function.index()].inlining = inlining;
        self.region(body, "return")?;
        self.resolve_values(first_op, first_region);
        Some(())
    }

    /// Turns the operands of a function, so far indices into `values`, into values.
    fn resolve_values(&mut self, first_op: usize, first_region: usize) {
        for (value, name, span) in &self.values {
            if value.is_none() {
                let message = format!("nothing in this function is called `{name}`");
                self.found
                    .push(Diagnostic::error("unknown-name", message).at(*span));
            }
        }
        let values = &self.values;
        let resolve = |value: &mut Value| {
            if let Some(&(Some(known), ..)) = values.get(value.index()) {
                *value = known;
            }
        };
        for op in &mut self.program.ops[first_op..] {
            op.kind.visit_operands_mut(resolve);
        }
        for region in &mut self.program.regions[first_region..] {
            region.yields.iter_mut().for_each(resolve);
        }
    }

    fn resolve_functions(&mut self) {
        for (op, name, span) in std::mem::take(&mut self.wanted) {
            let known = self.function_named(&name, span);
            if let (Some(known), OpKind::Call { function, .. }) =
                (known, &mut self.program.op_mut(op).kind)
            {
                *function = known;
            }
        }
        for (entry, name, span) in std::mem::take(&mut self.entries) {
            if let Some(function) = self.function_named(&name, span) {
                self.program.entries.push(Entry { function, ..entry });
            }
        }
    }

    fn function_named(&mut self, name: &str, span: Span) -> Parsed<Function> {
        match self.functions.get(name) {
            Some(&function) => Some(function),
            None => self.fail(
                "unknown-function",
                format!("there is no function `{name}`"),
                span,
            ),
        }
    }
}

/// Values and their types.
impl<'t> Parser<'t> {
    fn id(&mut self, name: &'t str, span: Span) -> usize {
        let next = self.values.len();
        let id = *self.names.entry(name).or_insert(next);
        if id == next {
            self.values.push((None, name, span));
        }
        id
    }

    fn define(&mut self, name: &'t str, span: Span, value: Value) {
        let id = self.id(name, span);
        if self.values[id].0.replace(value).is_some() {
            let message = format!("`{name}` is defined twice in this function");
            self.fail::<()>("defined-twice", message, span);
        }
    }

    /// A use of a value; until the function ends, an index into `values`.
    fn value(&mut self) -> Parsed<Value> {
        let (name, span) = self.any_word("a value")?;
        Some(Value::from_index(self.id(name, span)))
    }

    fn comma_value(&mut self) -> Parsed<Value> {
        self.sign(',')?;
        self.value()
    }

    /// Values separated by commas, at least one.
    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut list = vec![self.value()?];
        while self.accept(',') {
            list.push(self.value()?);
        }
        Some(list)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let (name, span) = self.any_word("a type")?;
        match Type::from_name(name) {
            Some(ty) => Some(ty),
            None => {
                let message = format!(
                    "`{name}` is no type of XIR; there are f32, f64, i32, i64, bool, and each with `x`"
                );
                self.fail("unknown-type", message, span)
            }
        }
    }

    /// `: type, type`, one for each of `count` results.
    fn types(&mut self, count: usize) -> Parsed<Vec<Type>> {
        let mut list = Vec::with_capacity(count);
        for index in 0..count {
            self.sign(if index == 0 { ':' } else { ',' })?;
            list.push(self.ty()?);
        }
        Some(list)
    }

    fn array_use(&mut self) -> Parsed<Array> {
        let (name, span) = self.any_word("an array")?;
        match self.arrays.get(name) {
            Some(&array) => Some(array),
            None => self.fail(
                "unknown-array",
                format!("there is no array `{name}` above"),
                span,
            ),
        }
    }
}
