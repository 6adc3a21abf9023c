//! Tokens to syntax, by recursive descent; mistakes are collected and parsing goes on at the next statement.

mod expressions;
mod head;
mod statements;

use diagnostics::{Diagnostic, Span};

use super::lexer::Lexer;
use super::mistake::Mistake;
use super::syntax::{KernelSyntax, Name};
use super::token::{Symbol, Token, TokenKind, is_reserved};
use crate::{MAX_ITEMS, MAX_MISTAKES, MAX_NESTING};

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

    // Lists and numbers.

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
}
