//! A text with tidy indentation and spacing. Every word, every comment and every line break stays.
//!
//! Nested expressions are how people write kernels, and comments are why others understand them, so neither may be lost: the
//! formatter looks at words, not at the kernel they make. It decides the white space between two words of a line and the
//! indentation of each line; at most one empty line in a row is kept.

use diagnostics::Diagnostics;

use super::lexer::Lexer;
use super::parser::parse_syntax;
use super::token::{LITERAL_WORDS, Symbol, Token, TokenKind, is_reserved};
use crate::MAX_SOURCE_BYTES;
use crate::ops::Policy;

/// The text in house style: two spaces a level, one space where words need one.
///
/// Law: formatting twice changes nothing more, and the words and comments are those of the input.
///
/// # Errors
/// A text that does not follow the grammar is not touched; its mistakes are the error.
pub fn format_text(text: &str) -> Result<String, Diagnostics> {
    if text.len() > MAX_SOURCE_BYTES {
        return super::parse(text).map(|_| String::new());
    }
    let (_, mistakes) = parse_syntax(text);
    if !mistakes.is_empty() {
        return Err(super::sorted(mistakes));
    }
    let mut lexer = Lexer::with_comments(text);
    let mut writer = Writer {
        text,
        out: String::with_capacity(text.len()),
        open: Vec::new(),
        before: None,
    };
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End {
            break;
        }
        writer.write(token);
    }
    writer.out.push('\n');
    Ok(writer.out)
}

struct Writer<'t> {
    text: &'t str,
    out: String,
    /// Brackets that are open.
    open: Vec<Symbol>,
    before: Option<Before<'t>>,
}

/// The token before.
#[derive(Clone, Copy)]
struct Before<'t> {
    token: Token,
    word: &'t str,
    /// A sign that stands before its only operand.
    prefix: bool,
}

impl<'t> Writer<'t> {
    fn write(&mut self, token: Token) {
        let word = token.span.text(self.text).unwrap_or("").trim_end();
        let breaks = self.before.map_or(0, |before| {
            let between = &self.text[before.token.span.end as usize..token.span.start as usize];
            between.bytes().filter(|&b| b == b'\n').count()
        });
        let closes = matches!(
            token.kind,
            TokenKind::Symbol(Symbol::CloseParen | Symbol::CloseBracket | Symbol::CloseBrace)
        );
        if closes {
            self.open.pop();
        }
        if breaks > 0 {
            let inside_edge = closes || self.is_before(|s| matches!(s, Symbol::OpenBrace));
            self.out.push_str(if breaks > 1 && !inside_edge {
                "\n\n"
            } else {
                "\n"
            });
            let mut level = self.open.len();
            if self.continues(token, word) {
                level += 1;
            }
            self.out
                .push_str(&"  ".repeat(level.min(crate::MAX_NESTING)));
        } else if self.before.is_some() && self.spaced(token, word) {
            self.out.push(' ');
        }
        self.out.push_str(word);
        let prefix = self.is_prefix(token);
        if let TokenKind::Symbol(
            symbol @ (Symbol::OpenParen | Symbol::OpenBracket | Symbol::OpenBrace),
        ) = token.kind
        {
            self.open.push(symbol);
        }
        self.before = Some(Before {
            token,
            word,
            prefix,
        });
    }

    fn is_before(&self, test: impl Fn(Symbol) -> bool) -> bool {
        self.before.is_some_and(|before| match before.token.kind {
            TokenKind::Symbol(symbol) => test(symbol),
            _ => false,
        })
    }

    /// Whether a token at the start of a line goes on with the statement of the line before.
    fn continues(&self, token: Token, word: &str) -> bool {
        let in_statements = matches!(self.open.last(), Some(Symbol::OpenBrace));
        let ended = self.is_before(|s| {
            matches!(
                s,
                Symbol::OpenBrace | Symbol::CloseBrace | Symbol::Semicolon
            )
        });
        let asks_for_more = self.is_before(|s| {
            !matches!(
                s,
                Symbol::CloseParen | Symbol::CloseBracket | Symbol::CloseBrace | Symbol::OpenBrace
            )
        });
        let starts = match word {
            "let" | "store" | "stage" | "opaque" | "yield" | "parallel" => true,
            "for" => !asks_for_more,
            _ => {
                token.kind == TokenKind::Comment
                    || token.kind == TokenKind::Symbol(Symbol::CloseBrace)
            }
        };
        in_statements && !starts && !ended
    }

    /// Whether a `-` or `!` stands before its only operand.
    fn is_prefix(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Symbol(Symbol::Not | Symbol::Hash) => true,
            TokenKind::Symbol(Symbol::Minus) => match self.before {
                None => true,
                Some(before) => match before.token.kind {
                    TokenKind::Symbol(
                        Symbol::CloseParen | Symbol::CloseBracket | Symbol::CloseBrace,
                    ) => false,
                    TokenKind::Symbol(_) => true,
                    TokenKind::Word => is_reserved(before.word) && !is_literal(before.word),
                    TokenKind::Number => false,
                    TokenKind::Comment | TokenKind::Unknown | TokenKind::End => true,
                },
            },
            _ => false,
        }
    }

    /// Whether a space stands between the token before and this one, on one line.
    fn spaced(&self, token: Token, word: &str) -> bool {
        let Some(before) = self.before else {
            return false;
        };
        if token.kind == TokenKind::Comment {
            return true;
        }
        if before.prefix {
            return false;
        }
        let in_brackets = matches!(self.open.last(), Some(Symbol::OpenBracket));
        match (before.token.kind, token.kind) {
            (TokenKind::Symbol(Symbol::OpenParen | Symbol::OpenBracket), _) => false,
            (TokenKind::Symbol(Symbol::OpenBrace), TokenKind::Symbol(Symbol::CloseBrace)) => false,
            (_, TokenKind::Symbol(Symbol::CloseParen | Symbol::CloseBracket)) => false,
            (_, TokenKind::Symbol(Symbol::Comma | Symbol::Semicolon)) => false,
            (_, TokenKind::Symbol(Symbol::Colon)) => in_brackets,
            (TokenKind::Word, TokenKind::Symbol(Symbol::OpenParen)) => {
                is_reserved(before.word)
                    || Policy::ALL
                        .iter()
                        .any(|policy| policy.name() == before.word)
            }
            (TokenKind::Word, TokenKind::Symbol(Symbol::OpenBracket)) => is_reserved(before.word),
            (
                TokenKind::Symbol(Symbol::CloseParen | Symbol::CloseBracket),
                TokenKind::Symbol(Symbol::OpenBracket),
            ) => false,
            _ => !word.is_empty(),
        }
    }
}

fn is_literal(word: &str) -> bool {
    LITERAL_WORDS.contains(&word) || matches!(word, "true" | "false")
}
