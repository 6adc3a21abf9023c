//! Tokens to syntax, by recursive descent; mistakes are collected and parsing goes on at the next statement.

use diagnostics::{Diagnostic, Span};
use numerics::ElementType;

use super::lexer::Lexer;
use super::mistake::Mistake;
use super::nearest::nearest;
use super::syntax::*;
use super::token::{LITERAL_WORDS, Symbol, Token, TokenKind, is_reserved};
use crate::ops::{BinaryOp, CompareOp, Policy, ReduceOp};
use crate::{MAX_ITEMS, MAX_MISTAKES, MAX_NESTING, MAX_OPERATIONS};

/// The words that open a statement.
const STATEMENT_WORDS: [&str; 6] = ["let", "store", "stage", "opaque", "yield", "parallel"];

/// The syntax of a text as far as it could be read, and the mistakes. No syntax: the head of the kernel is unreadable.
pub(crate) fn parse_syntax(text: &str) -> (Option<KernelSyntax<'_>>, Vec<Diagnostic>) {
    let mut parser = Parser::new(text);
    let kernel = parser.kernel().ok();
    (kernel, parser.mistakes)
}

/// A mistake that is in the list already.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    current: Token,
    next: Token,
    /// The end of the last token taken.
    end: u32,
    depth: usize,
    /// How many expressions were read.
    expressions: usize,
    /// Nothing more is read: every token is the end.
    stopped: bool,
    mistakes: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Parser<'t> {
        let nothing = Token {
            kind: TokenKind::End,
            span: Span::point(0),
        };
        let mut parser = Parser {
            text,
            lexer: Lexer::new(text),
            current: nothing,
            next: nothing,
            end: 0,
            depth: 0,
            expressions: 0,
            stopped: false,
            mistakes: Vec::new(),
        };
        parser.advance();
        parser.advance();
        parser
    }

    // Tokens.

    fn advance(&mut self) -> Token {
        let taken = self.current;
        self.end = taken.span.end;
        if self.stopped {
            return taken;
        }
        self.current = self.next;
        self.next = self.lexer.next_token();
        for mistake in self.lexer.take_mistakes() {
            self.report(mistake);
        }
        taken
    }

    fn word(&self, token: Token) -> &'t str {
        token.span.text(self.text).unwrap_or("")
    }

    fn at_word(&self, word: &str) -> bool {
        self.current.kind == TokenKind::Word && self.word(self.current) == word
    }

    fn at(&self, symbol: Symbol) -> bool {
        self.current.kind == TokenKind::Symbol(symbol)
    }

    fn take(&mut self, symbol: Symbol) -> bool {
        let here = self.at(symbol);
        if here {
            self.advance();
        }
        here
    }

    fn take_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.advance();
        }
        here
    }

    fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.end.max(start.end))
    }

    // Mistakes.

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        if self.mistakes.len() >= MAX_MISTAKES {
            let message = format!("more than {MAX_MISTAKES} mistakes; the rest is not shown");
            self.mistakes.push(
                Mistake::TooManyMistakes
                    .says(message)
                    .at(diagnostic.location),
            );
            self.stop();
        } else {
            self.mistakes.push(diagnostic);
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
        let end = Token {
            kind: TokenKind::End,
            span: Span::point(self.current.span.start),
        };
        self.current = end;
        self.next = end;
    }

    /// Says what was expected at the current token. A token the lexer refused is not reported again.
    fn expected(&mut self, what: &str) -> Reported {
        if self.current.kind != TokenKind::Unknown {
            let found = self.found();
            let diagnostic = Mistake::Syntax
                .says(format!("expected {what}, found {found}"))
                .at(self.here())
                .with_label(format!("expected {what}"));
            self.report(diagnostic);
        }
        Reported
    }

    /// The current token; at the end of the text, the end of the last one.
    fn here(&self) -> Span {
        match self.current.kind {
            TokenKind::End => Span::point(self.end),
            _ => self.current.span,
        }
    }

    fn found(&self) -> String {
        match self.current.kind {
            TokenKind::Word | TokenKind::Number => format!("`{}`", self.word(self.current)),
            TokenKind::Symbol(symbol) => format!("`{}`", symbol.text()),
            TokenKind::End => "the end of the text".to_owned(),
            TokenKind::Comment | TokenKind::Unknown => "something unreadable".to_owned(),
        }
    }

    fn expect(&mut self, symbol: Symbol) -> Parsed<Span> {
        if self.at(symbol) {
            return Ok(self.advance().span);
        }
        Err(self.expected(&format!("`{}`", symbol.text())))
    }

    fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.at_word(word) {
            return Ok(self.advance().span);
        }
        Err(self.expected(&format!("`{word}`")))
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        if self.current.kind != TokenKind::Word {
            return Err(self.expected(what));
        }
        let text = self.word(self.current);
        if is_reserved(text) {
            let message = format!("`{text}` is a reserved word and can't be a name");
            let diagnostic = Mistake::ReservedWord.says(message).at(self.current.span);
            self.report(diagnostic.with_help(format!("call it `{text}_` or something else")));
            self.advance();
            return Err(Reported);
        }
        let span = self.advance().span;
        Ok(Name { text, span })
    }

    fn enter(&mut self, at: Span) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let message = format!("parentheses and braces nest deeper than {MAX_NESTING}");
            let help = "name inner expressions with `let`";
            self.report(Mistake::TooDeep.says(message).at(at).with_help(help));
            self.stop();
            return Err(Reported);
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Skips to something a statement can end before or begin with, over whole `{ ... }`.
    fn skip_statement(&mut self) {
        let mut braces = 0usize;
        loop {
            match self.current.kind {
                TokenKind::End => return,
                TokenKind::Symbol(Symbol::OpenBrace) => braces += 1,
                TokenKind::Symbol(Symbol::CloseBrace) if braces == 0 => return,
                TokenKind::Symbol(Symbol::CloseBrace) => braces -= 1,
                TokenKind::Symbol(Symbol::Semicolon) if braces == 0 => return,
                TokenKind::Word
                    if braces == 0 && STATEMENT_WORDS.contains(&self.word(self.current)) =>
                {
                    return;
                }
                // `name = value` at the start of a line is a statement whose `let` was forgotten.
                TokenKind::Word
                    if braces == 0
                        && self.next.kind == TokenKind::Symbol(Symbol::Equal)
                        && self.at_line_start() =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn at_line_start(&self) -> bool {
        let between = self.end as usize..self.current.span.start as usize;
        self.text
            .get(between)
            .is_some_and(|text| text.contains('\n'))
    }

    // The head.

    fn kernel(&mut self) -> Parsed<KernelSyntax<'t>> {
        self.expect_word("kernel")?;
        let name = self.name("the kernel's name")?;
        self.expect(Symbol::OpenParen)?;
        let params = self.list(Symbol::CloseParen, Parser::param)?;
        self.expect(Symbol::CloseParen)?;
        let mut axes = Vec::new();
        if self.take_word("where") {
            loop {
                axes.push(self.axis()?);
                self.count_items(axes.len())?;
                if !self.take(Symbol::Comma) {
                    break;
                }
            }
        }
        let body = self.block()?;
        if self.current.kind != TokenKind::End {
            let _ = self.expected("the end of the text (a file holds one kernel)");
        }
        Ok(KernelSyntax {
            name,
            params,
            axes,
            body,
        })
    }

    /// Items separated by commas up to a closing symbol, which stays; a comma may stand before it.
    fn list<T>(&mut self, close: Symbol, item: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.at(close) {
            items.push(item(self)?);
            self.count_items(items.len())?;
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        Ok(items)
    }

    /// A list of more items than anybody writes ends the reading.
    fn count_items(&mut self, count: usize) -> Parsed<()> {
        if count <= MAX_ITEMS {
            return Ok(());
        }
        let message = format!("a list of more than {MAX_ITEMS} items");
        self.report(Mistake::ListTooLong.says(message).at(self.here()));
        self.stop();
        Err(Reported)
    }

    fn axis(&mut self) -> Parsed<AxisSyntax<'t>> {
        let name = self.name("an axis")?;
        let extent = if self.take(Symbol::Equal) {
            Some(self.natural("an extent")?)
        } else {
            None
        };
        Ok(AxisSyntax { name, extent })
    }

    fn natural(&mut self, what: &str) -> Parsed<u32> {
        if self.current.kind != TokenKind::Number {
            return Err(self.expected(what));
        }
        let token = self.advance();
        let text = self.word(token);
        text.parse().map_err(|_| {
            let message = format!("`{text}` is no integer from 0 to {}", u32::MAX);
            self.report(
                Mistake::NotAnInteger
                    .says(message)
                    .at(token.span)
                    .with_label(format!("expected {what}")),
            );
            Reported
        })
    }

    fn param(&mut self) -> Parsed<ParamSyntax<'t>> {
        let name = self.name("a parameter")?;
        self.expect(Symbol::Colon)?;
        let mutable = self.take_word("mut");
        if !mutable && !self.at_word("view") {
            return Ok(ParamSyntax {
                name,
                element: self.element()?,
                view: None,
            });
        }
        self.expect_word("view")?;
        let element = self.element()?;
        self.expect(Symbol::OpenBracket)?;
        let dims = self.list(Symbol::CloseBracket, |p| p.name("an axis"))?;
        self.expect(Symbol::CloseBracket)?;
        let mut strides = None;
        if self.take_word("strides") {
            self.expect(Symbol::OpenBracket)?;
            strides = Some(self.list(Symbol::CloseBracket, Parser::stride)?);
            self.expect(Symbol::CloseBracket)?;
        }
        let fill = if self.take_word("fill") {
            Some(self.unary()?)
        } else {
            None
        };
        let view = Some(ViewSyntax {
            mutable,
            dims,
            strides,
            fill,
        });
        Ok(ParamSyntax {
            name,
            element,
            view,
        })
    }

    fn element(&mut self) -> Parsed<ElementType> {
        if self.current.kind != TokenKind::Word {
            return Err(self.expected("an element type"));
        }
        let word = self.word(self.current);
        if let Some(element) = ElementType::from_name(word) {
            self.advance();
            return Ok(element);
        }
        let names = ElementType::ALL.map(ElementType::name);
        let message = format!("`{word}` is no element type");
        let mut diagnostic = Mistake::UnknownType.says(message).at(self.current.span);
        diagnostic = diagnostic.with_note(format!("element types are {}", names.join(", ")));
        if let Some(close) = nearest(word, names.into_iter()) {
            diagnostic = diagnostic.with_help(format!("did you mean `{close}`?"));
        }
        self.report(diagnostic);
        Err(Reported)
    }

    fn stride(&mut self) -> Parsed<Option<i64>> {
        if self.take(Symbol::Star) {
            return Ok(None);
        }
        let negative = self.take(Symbol::Minus);
        if self.current.kind != TokenKind::Number {
            return Err(self.expected("a stride (`*` or an integer)"));
        }
        let token = self.advance();
        let text = self.word(token);
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let number = if negative {
            format!("-{text}")
        } else {
            text.to_owned()
        };
        match number.parse() {
            Ok(stride) if digits => Ok(Some(stride)),
            _ => {
                let message = format!("`{number}` is no 64-bit integer");
                self.report(Mistake::NotAnInteger.says(message).at(token.span));
                Err(Reported)
            }
        }
    }

    // Statements.

    fn block(&mut self) -> Parsed<Block<'t>> {
        let open = self.expect(Symbol::OpenBrace)?;
        self.enter(open)?;
        let mut statements = Vec::new();
        loop {
            while self.take(Symbol::Semicolon) {}
            if self.at(Symbol::CloseBrace) {
                break;
            }
            if self.current.kind == TokenKind::End {
                let diagnostic = Mistake::Syntax
                    .says("a `{` is not closed")
                    .at(self.here())
                    .with_label("expected `}`")
                    .with_secondary(open, "opened here");
                self.report(diagnostic);
                return Err(Reported);
            }
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.skip_statement(),
            }
        }
        self.leave();
        self.advance();
        Ok(Block {
            statements,
            start: open,
        })
    }

    fn statement(&mut self) -> Parsed<Statement<'t>> {
        let depth = self.depth;
        let start = self.current.span;
        let kind = self.statement_kind();
        // A mistake leaves nests without closing them.
        self.depth = depth;
        Ok(Statement {
            kind: kind?,
            span: self.since(start),
        })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind<'t>> {
        let word = if self.current.kind == TokenKind::Word {
            self.word(self.current)
        } else {
            ""
        };
        match word {
            "let" => {
                self.advance();
                let mut names = vec![self.name("a name")?];
                while self.take(Symbol::Comma) {
                    names.push(self.name("a name")?);
                    self.count_items(names.len())?;
                }
                let value = match self.expect(Symbol::Equal).and_then(|_| self.expr()) {
                    Ok(value) => value,
                    Err(Reported) => {
                        // The names are defined all the same, so that their uses are no mistakes.
                        self.skip_statement();
                        Expr {
                            kind: ExprKind::Wrong,
                            span: names[0].span,
                        }
                    }
                };
                Ok(StatementKind::Let { names, value })
            }
            "store" => {
                self.advance();
                let view = self.name("a view")?;
                let at = self.subscripts()?;
                self.expect(Symbol::Equal)?;
                let value = self.expr()?;
                Ok(StatementKind::Store { view, at, value })
            }
            "stage" => {
                self.advance();
                Ok(StatementKind::Stage)
            }
            "opaque" => {
                self.advance();
                Ok(StatementKind::Opaque(self.natural("the hook's number")?))
            }
            "yield" => {
                self.advance();
                let mut values = vec![self.expr()?];
                while self.take(Symbol::Comma) {
                    values.push(self.expr()?);
                    self.count_items(values.len())?;
                }
                Ok(StatementKind::Yield(values))
            }
            "parallel" => {
                self.advance();
                let coordinates = self.coordinates()?;
                let body = self.block()?;
                Ok(StatementKind::Parallel { coordinates, body })
            }
            "for" => Ok(StatementKind::For(self.expr()?)),
            _ => Err(self.no_statement()),
        }
    }

    fn no_statement(&mut self) -> Reported {
        let found = self.found();
        let mut diagnostic = Mistake::Syntax
            .says(format!("expected a statement, found {found}"))
            .at(self.current.span);
        let name = self.word(self.current);
        diagnostic = match (self.current.kind, self.next.kind) {
            (TokenKind::Word, TokenKind::Symbol(Symbol::Equal)) => {
                diagnostic.with_help(format!("define a name with `let {name} = ...`"))
            }
            (TokenKind::Word, TokenKind::Symbol(Symbol::OpenBracket)) => {
                diagnostic.with_help(format!("write to a view with `store {name}[...] = ...`"))
            }
            _ => diagnostic.with_help(
                "a statement begins with `let`, `store`, `for`, `parallel`, `stage`, `opaque` or `yield`",
            ),
        };
        if self.current.kind != TokenKind::Unknown {
            self.report(diagnostic);
        }
        self.advance();
        Reported
    }

    fn coordinates(&mut self) -> Parsed<Vec<Coordinate<'t>>> {
        let mut list = Vec::new();
        while self.current.kind == TokenKind::Word
            && self.next.kind == TokenKind::Symbol(Symbol::Colon)
        {
            let name = self.name("a coordinate")?;
            self.expect(Symbol::Colon)?;
            let axis = if self.current.kind == TokenKind::Number && self.word(self.current) == "1" {
                self.advance();
                None
            } else {
                Some(self.name("an axis (or `1`)")?)
            };
            list.push(Coordinate { name, axis });
            self.count_items(list.len())?;
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        Ok(list)
    }

    fn subscripts(&mut self) -> Parsed<Vec<SubscriptSyntax<'t>>> {
        let open = self.expect(Symbol::OpenBracket)?;
        self.enter(open)?;
        let list = self.list(Symbol::CloseBracket, Parser::subscript)?;
        self.expect(Symbol::CloseBracket)?;
        self.leave();
        Ok(list)
    }

    fn subscript(&mut self) -> Parsed<SubscriptSyntax<'t>> {
        let origin = if self.at(Symbol::Colon) {
            None
        } else {
            Some(self.expr()?)
        };
        if !self.take(Symbol::Colon) {
            return match origin {
                Some(at) => Ok(SubscriptSyntax::At(at)),
                None => Err(self.expected("a subscript")),
            };
        }
        let axis = if self.current.kind == TokenKind::Word {
            Some(self.name("an axis")?)
        } else {
            None
        };
        let step = if self.take(Symbol::Colon) {
            self.natural("a step")?
        } else {
            1
        };
        Ok(SubscriptSyntax::Window { origin, axis, step })
    }

    // Expressions.

    fn expr(&mut self) -> Parsed<Expr<'t>> {
        self.run(1)
    }

    /// Operands joined by operators of at least this precedence.
    fn run(&mut self, least: u8) -> Parsed<Expr<'t>> {
        let mut left = self.unary()?;
        let mut level = 0;
        while let Some((infix, precedence)) = self.infix() {
            if precedence < least {
                break;
            }
            let operator = self.advance().span;
            let right = self.run(precedence + 1)?;
            if precedence == 1 && level == 1 {
                let diagnostic = Mistake::ChainedComparison
                    .says("comparisons don't chain")
                    .at(operator)
                    .with_help("compare twice and join: `(a < b) & (b < c)`");
                self.report(diagnostic);
                left.kind = ExprKind::Wrong;
                continue;
            }
            let span = Span::new(left.span.start, right.span.end);
            left = match left.kind {
                ExprKind::Run { first, mut rest } if level == precedence => {
                    rest.push((infix, right));
                    Expr {
                        kind: ExprKind::Run { first, rest },
                        span,
                    }
                }
                kind => {
                    let first = Box::new(Expr {
                        kind,
                        span: left.span,
                    });
                    Expr {
                        kind: ExprKind::Run {
                            first,
                            rest: vec![(infix, right)],
                        },
                        span,
                    }
                }
            };
            level = precedence;
        }
        Ok(left)
    }

    /// The operator at the current token and its precedence: as in Rust, comparisons bind least.
    fn infix(&mut self) -> Option<(Infix, u8)> {
        let TokenKind::Symbol(symbol) = self.current.kind else {
            return None;
        };
        let infix = match symbol {
            Symbol::EqEq => (Infix::Compare(CompareOp::Eq), 1),
            Symbol::Ne => (Infix::Compare(CompareOp::Ne), 1),
            Symbol::Lt => (Infix::Compare(CompareOp::Lt), 1),
            Symbol::Le => (Infix::Compare(CompareOp::Le), 1),
            Symbol::Gt => (Infix::Compare(CompareOp::Gt), 1),
            Symbol::Ge => (Infix::Compare(CompareOp::Ge), 1),
            Symbol::Or => (Infix::Binary(BinaryOp::Or), 2),
            Symbol::Xor => (Infix::Binary(BinaryOp::Xor), 3),
            Symbol::And => (Infix::Binary(BinaryOp::And), 4),
            Symbol::Shl => (Infix::Binary(BinaryOp::Shl), 5),
            Symbol::Shr => (Infix::Binary(BinaryOp::Shr), 5),
            Symbol::Plus => (Infix::Binary(BinaryOp::Add), 6),
            Symbol::Minus => (Infix::Binary(BinaryOp::Sub), 6),
            Symbol::Star => (Infix::Binary(BinaryOp::Mul), 7),
            Symbol::Slash => (Infix::Binary(BinaryOp::Div), 7),
            Symbol::Percent => (Infix::Binary(BinaryOp::Rem), 7),
            Symbol::AndAnd | Symbol::OrOr => {
                let (single, infix) = match symbol {
                    Symbol::AndAnd => ("&", (Infix::Binary(BinaryOp::And), 4)),
                    _ => ("|", (Infix::Binary(BinaryOp::Or), 2)),
                };
                let diagnostic = Mistake::Syntax
                    .says(format!("there is no `{}`", symbol.text()))
                    .at(self.current.span)
                    .with_help(format!("write `{single}`: it works on bool and i32, and both operands are evaluated"));
                self.report(diagnostic);
                // Once is enough: from here on it is the single sign.
                let right = match infix.0 {
                    Infix::Binary(BinaryOp::And) => Symbol::And,
                    _ => Symbol::Or,
                };
                self.current.kind = TokenKind::Symbol(right);
                infix
            }
            _ => return None,
        };
        Some(infix)
    }

    fn unary(&mut self) -> Parsed<Expr<'t>> {
        let start = self.current.span;
        match self.current.kind {
            TokenKind::Symbol(Symbol::Minus) => {
                self.advance();
                let word = self.word(self.current);
                let is_literal = self.current.kind == TokenKind::Number
                    || self.current.kind == TokenKind::Word && LITERAL_WORDS.contains(&word);
                if is_literal {
                    self.advance();
                    let kind = ExprKind::Literal {
                        text: word,
                        negative: true,
                    };
                    return Ok(Expr {
                        kind,
                        span: self.since(start),
                    });
                }
                self.enter(start)?;
                let operand = self.unary()?;
                self.leave();
                let kind = ExprKind::Negate(Box::new(operand));
                Ok(Expr {
                    kind,
                    span: self.since(start),
                })
            }
            TokenKind::Symbol(symbol @ (Symbol::Not | Symbol::Tilde)) => {
                if symbol == Symbol::Tilde {
                    let diagnostic = Mistake::Syntax.says("there is no `~`").at(start);
                    self.report(diagnostic.with_help("write `!`: it works on bool and i32"));
                }
                self.advance();
                self.enter(start)?;
                let operand = self.unary()?;
                self.leave();
                let kind = ExprKind::Not(Box::new(operand));
                Ok(Expr {
                    kind,
                    span: self.since(start),
                })
            }
            _ => self.postfix(),
        }
    }

    fn postfix(&mut self) -> Parsed<Expr<'t>> {
        let start = self.current.span;
        let expr = self.primary()?;
        if !self.at(Symbol::OpenBracket) {
            return Ok(expr);
        }
        let open = self.advance().span;
        self.enter(open)?;
        let at = self.list(Symbol::CloseBracket, Parser::expr)?;
        if self.at(Symbol::Colon) {
            let mut diagnostic = Mistake::Syntax
                .says("a tile is indexed point by point")
                .at(self.current.span);
            if let ExprKind::Name(name) = expr.kind {
                diagnostic =
                    diagnostic.with_help(format!("to read a view, write `load {name}[...]`"));
            }
            self.report(diagnostic);
            return Err(Reported);
        }
        self.expect(Symbol::CloseBracket)?;
        self.leave();
        let span = self.since(start);
        if self.at(Symbol::OpenBracket) {
            let diagnostic = Mistake::Syntax
                .says("an element has no elements")
                .at(self.current.span)
                .with_help("index all dimensions at once: `x[a, b]`");
            self.report(diagnostic);
            return Err(Reported);
        }
        Ok(Expr {
            kind: ExprKind::Index {
                tile: Box::new(expr),
                at,
            },
            span,
        })
    }

    fn primary(&mut self) -> Parsed<Expr<'t>> {
        let start = self.current.span;
        self.expressions += 1;
        if self.expressions > 4 * MAX_OPERATIONS {
            let message = format!("the kernel needs more than {MAX_OPERATIONS} operations");
            self.report(Mistake::TooManyOperations.says(message).at(start));
            self.stop();
            return Err(Reported);
        }
        let kind = match self.current.kind {
            TokenKind::Number => {
                let text = self.word(self.current);
                self.advance();
                ExprKind::Literal {
                    text,
                    negative: false,
                }
            }
            TokenKind::Symbol(Symbol::OpenParen) => {
                self.advance();
                self.enter(start)?;
                let inner = self.expr()?;
                self.expect(Symbol::CloseParen)?;
                self.leave();
                // A run in parentheses must not be continued by what follows.
                let span = self.since(start);
                return Ok(Expr {
                    kind: inner.kind,
                    span,
                });
            }
            TokenKind::Word => return self.word_expr(start),
            TokenKind::Symbol(_) | TokenKind::Comment | TokenKind::Unknown | TokenKind::End => {
                return Err(self.expected("an expression"));
            }
        };
        Ok(Expr {
            kind,
            span: self.since(start),
        })
    }

    fn word_expr(&mut self, start: Span) -> Parsed<Expr<'t>> {
        let text = self.word(self.current);
        let kind = match text {
            "true" | "false" | "inf" | "nan" | "inf64" | "nan64" => {
                self.advance();
                ExprKind::Literal {
                    text,
                    negative: false,
                }
            }
            "load" => {
                self.advance();
                let view = self.name("a view")?;
                let at = self.subscripts()?;
                ExprKind::Load { view, at }
            }
            "map" => {
                self.advance();
                let coordinates = self.coordinates()?;
                let body = self.block()?;
                ExprKind::Map { coordinates, body }
            }
            "reduce" => {
                self.advance();
                ExprKind::Reduce(Box::new(self.reduce()?))
            }
            "for" => {
                self.advance();
                ExprKind::For(Box::new(self.for_loop()?))
            }
            _ if self.next.kind == TokenKind::Symbol(Symbol::OpenParen) && !is_reserved(text) => {
                let function = self.name("a function")?;
                let open = self.advance().span;
                self.enter(open)?;
                let arguments = self.list(Symbol::CloseParen, Parser::argument)?;
                self.expect(Symbol::CloseParen)?;
                self.leave();
                ExprKind::Call {
                    function,
                    arguments,
                }
            }
            _ if is_reserved(text) => return Err(self.expected("an expression")),
            _ => {
                self.advance();
                ExprKind::Name(text)
            }
        };
        Ok(Expr {
            kind,
            span: self.since(start),
        })
    }

    fn argument(&mut self) -> Parsed<Argument<'t>> {
        if !self.take(Symbol::OpenBracket) {
            return Ok(Argument::Value(self.expr()?));
        }
        let dims = self.list(Symbol::CloseBracket, |parser| {
            if parser.take(Symbol::Hash) {
                return Ok(DimSyntax::Position(parser.natural("a position")?));
            }
            if parser.current.kind == TokenKind::Number && parser.word(parser.current) == "1" {
                parser.advance();
                return Ok(DimSyntax::Unit);
            }
            Ok(DimSyntax::Axis(parser.name("an axis, `1` or `#0`")?))
        })?;
        self.expect(Symbol::CloseBracket)?;
        Ok(Argument::Dims(dims))
    }

    fn reduce(&mut self) -> Parsed<ReduceSyntax<'t>> {
        let coordinates = self.coordinates()?;
        let word = self.word(self.current);
        let Some(policy) = Policy::ALL.into_iter().find(|policy| policy.name() == word) else {
            let found = self.found();
            let diagnostic = Mistake::Syntax
                .says(format!("expected a policy, found {found}"))
                .at(self.current.span)
                .with_note("`unordered`: any order; `tree`: one fixed tree; `fold`: strictly left to right");
            self.report(diagnostic);
            return Err(Reported);
        };
        self.advance();
        let carries = if self.take_word("carry") {
            CarriesSyntax::Open(self.carries()?)
        } else if self.take(Symbol::OpenParen) {
            let list = self.list(Symbol::CloseParen, Parser::closed)?;
            if list.is_empty() {
                return Err(self.expected("`add`, `mul`, `min` or `max`"));
            }
            self.expect(Symbol::CloseParen)?;
            CarriesSyntax::Closed(list)
        } else {
            CarriesSyntax::Closed(vec![self.closed()?])
        };
        let body = self.block()?;
        Ok(ReduceSyntax {
            coordinates,
            policy,
            carries,
            body,
        })
    }

    fn closed(&mut self) -> Parsed<(ReduceOp, Expr<'t>)> {
        let word = self.word(self.current);
        let Some(op) = ReduceOp::ALL.into_iter().find(|op| op.name() == word) else {
            return Err(self.expected("`add`, `mul`, `min` or `max`"));
        };
        self.advance();
        self.expect_word("from")?;
        Ok((op, self.expr()?))
    }

    fn carries(&mut self) -> Parsed<Vec<Carry<'t>>> {
        self.expect(Symbol::OpenParen)?;
        let list = self.list(Symbol::CloseParen, |parser| {
            let name = parser.name("a carry")?;
            parser.expect(Symbol::Equal)?;
            Ok(Carry {
                name,
                init: parser.expr()?,
            })
        })?;
        if list.is_empty() {
            return Err(self.expected("a carry such as `acc = 0.0`"));
        }
        self.expect(Symbol::CloseParen)?;
        Ok(list)
    }

    fn for_loop(&mut self) -> Parsed<ForSyntax<'t>> {
        let variable = self.name("the loop's variable")?;
        self.expect_word("in")?;
        let lower = self.expr()?;
        self.expect(Symbol::DotDot)?;
        let upper = self.expr()?;
        let carries = if self.take_word("carry") {
            self.carries()?
        } else {
            Vec::new()
        };
        let body = self.block()?;
        Ok(ForSyntax {
            variable,
            lower,
            upper,
            carries,
            body,
        })
    }
}
