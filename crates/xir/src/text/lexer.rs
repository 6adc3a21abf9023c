//! XIR text cut into tokens.

use diagnostics::{Diagnostic, Diagnostics, Span};

/// One token; words and numbers are slices of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// An identifier or keyword.
    Word(&'t str),
    /// A number as written, without its sign: `12`, `1.5e-7`, `0x7f`.
    Number(&'t str),
    /// A quoted name.
    Quoted(String),
    /// `{`, `}`, `(`, `)`, `[`, `]`, `,`, `:`, `=`, `+` or `-`.
    Sign(char),
    /// `..`.
    Range,
    /// After the last token.
    End,
}

/// Whether a name needs no quotes.
pub(super) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(is_word_byte)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Cuts the text into tokens, ended by `End`. What is no token is reported and skipped.
pub(super) fn tokens<'t>(text: &'t str, found: &mut Diagnostics) -> Vec<(Token<'t>, Span)> {
    let bytes = text.as_bytes();
    let mut list = Vec::with_capacity(text.len() / 3);
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let token = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            b'0'..=b'9' => {
                at = end_of_number(bytes, at);
                Token::Number(&text[start..at])
            }
            b'"' => match quoted(text, at) {
                Some((name, end)) => {
                    at = end;
                    Token::Quoted(name)
                }
                None => {
                    found.push(
                        Diagnostic::error("unterminated-name", "this name has no closing quote")
                            .at(Span::from(start..start + 1))
                            .with_help("close it with `\"` on the same line"),
                    );
                    at += 1;
                    continue;
                }
            },
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b',' | b':' | b'=' | b'+' | b'-' => {
                at += 1;
                Token::Sign(byte as char)
            }
            b'.' if bytes.get(at + 1) == Some(&b'.') => {
                at += 2;
                Token::Range
            }
            _ if is_word_byte(byte) => {
                while at < bytes.len() && is_word_byte(bytes[at]) {
                    at += 1;
                }
                Token::Word(&text[start..at])
            }
            _ => {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                found.push(
                    Diagnostic::error("unknown-character", "no token of XIR begins like this")
                        .at(Span::from(start..at)),
                );
                continue;
            }
        };
        list.push((token, Span::from(start..at)));
    }
    list.push((Token::End, Span::from(text.len()..text.len())));
    list
}

/// Digits, a point if a digit follows it, an exponent with its sign; or `0x` and what looks like hexadecimal digits.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let hexadecimal = bytes[start] == b'0' && bytes.get(start + 1) == Some(&b'x');
    let mut at = start + 1;
    while at < bytes.len() {
        let byte = bytes[at];
        let next_is_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let goes_on = match byte {
            b'.' => next_is_digit,
            b'+' | b'-' => !hexadecimal && matches!(bytes[at - 1], b'e' | b'E') && next_is_digit,
            _ => is_word_byte(byte),
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}

/// The name in quotes that opens at `start`, and the offset after its closing quote.
fn quoted(text: &str, start: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut chars = text[start + 1..].char_indices();
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => return Some((name, start + 1 + offset + 1)),
            '\n' => return None,
            '\\' => match chars.next()?.1 {
                'n' => name.push('\n'),
                other => name.push(other),
            },
            _ => name.push(c),
        }
    }
    None
}
