//! Text to tokens, one at a time: memory stays small however long a line is.

use diagnostics::{Diagnostic, Span};

use super::mistake::Mistake;
use super::token::{Symbol, Token, TokenKind};
use crate::{MAX_NAME, MAX_NUMBER};

/// Reads tokens from a text. A byte order mark at the start is skipped; every line break is white space.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    comments: bool,
    mistakes: Vec<Diagnostic>,
}

impl<'t> Lexer<'t> {
    /// A lexer at the start of the text.
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Lexer {
            text,
            at,
            comments: false,
            mistakes: Vec::new(),
        }
    }

    /// A lexer that gives comments as tokens.
    pub(crate) fn with_comments(text: &'t str) -> Lexer<'t> {
        Lexer {
            comments: true,
            ..Lexer::new(text)
        }
    }

    /// What was wrong since the last call.
    pub(crate) fn take_mistakes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.mistakes)
    }

    /// The next token; after the last, `End` again and again.
    pub(crate) fn next_token(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        loop {
            while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
                self.at += 1;
            }
            let rest = &bytes[self.at..];
            let start = self.at;
            let Some(&first) = rest.first() else {
                return self.token(TokenKind::End, start);
            };
            if rest.starts_with(b"//") {
                self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                if self.comments {
                    return self.token(TokenKind::Comment, start);
                }
                continue;
            }
            if first.is_ascii_alphabetic() || first == b'_' {
                return self.word(start);
            }
            if first.is_ascii_digit() {
                return self.number(start);
            }
            if let Some(symbol) = Symbol::of(first, rest.get(1).copied()) {
                self.at += symbol.text().len();
                return self.token(TokenKind::Symbol(symbol), start);
            }
            return self.unknown(start);
        }
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token {
            kind,
            span: Span::from(start..self.at),
        }
    }

    fn skip(&mut self, matches: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !matches(b)).unwrap_or(rest.len());
    }

    fn word(&mut self, start: usize) -> Token {
        self.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
        let token = self.token(TokenKind::Word, start);
        if self.at - start > MAX_NAME {
            let message = format!(
                "a name of {} bytes; the limit is {MAX_NAME}",
                self.at - start
            );
            self.mistakes
                .push(Mistake::NameTooLong.says(message).at(token.span));
            return Token {
                kind: TokenKind::Unknown,
                ..token
            };
        }
        token
    }

    /// Digits, a point with digits, an exponent, and a suffix of letters and digits; what it means is asked later.
    fn number(&mut self, start: usize) -> Token {
        let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
        let bytes = self.text.as_bytes();
        self.skip(|b| b.is_ascii_digit());
        let mut lonely_point = false;
        if bytes.get(self.at) == Some(&b'.') && bytes.get(self.at + 1) != Some(&b'.') {
            self.at += 1;
            lonely_point = !digit(bytes.get(self.at));
            self.skip(|b| b.is_ascii_digit());
        }
        if matches!(bytes.get(self.at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(self.at + 1), Some(b'+' | b'-')));
            if digit(bytes.get(self.at + 1 + sign)) {
                self.at += 1 + sign;
                self.skip(|b| b.is_ascii_digit());
            }
        }
        self.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
        let token = self.token(TokenKind::Number, start);
        if self.at - start > MAX_NUMBER {
            let message = format!(
                "a number of {} characters; the limit is {MAX_NUMBER}",
                self.at - start
            );
            self.mistakes
                .push(Mistake::BadNumber.says(message).at(token.span));
            return Token {
                kind: TokenKind::Unknown,
                ..token
            };
        }
        if lonely_point {
            let message = "a point with no digits after it";
            let help = "write `1.0` rather than `1.`";
            self.mistakes.push(
                Mistake::BadNumber
                    .says(message)
                    .at(token.span)
                    .with_help(help),
            );
            return Token {
                kind: TokenKind::Unknown,
                ..token
            };
        }
        token
    }

    /// A run of characters that mean nothing, as one mistake.
    fn unknown(&mut self, start: usize) -> Token {
        let rest = &self.text.as_bytes()[start..];
        let means_something = |&b: &u8| {
            b.is_ascii_whitespace()
                || b.is_ascii_alphanumeric()
                || b == b'_'
                || Symbol::of(b, None).is_some()
        };
        // Bytes of other characters are no ASCII, so the end is a character boundary.
        self.at += rest.iter().position(means_something).unwrap_or(rest.len());
        let token = self.token(TokenKind::Unknown, start);
        let first = self.text[start..].chars().next().unwrap_or(' ');
        let message = match first {
            '"' | '\'' => "a kernel text has no strings".to_owned(),
            _ if first.is_control() => {
                format!("the character U+{:04X} means nothing here", first as u32)
            }
            _ => format!("the character `{first}` means nothing here"),
        };
        let mut diagnostic = Mistake::UnknownCharacter.says(message).at(token.span);
        if first.is_alphabetic() {
            diagnostic = diagnostic.with_help("names are of ASCII letters, digits and `_`");
        }
        self.mistakes.push(diagnostic);
        token
    }
}
