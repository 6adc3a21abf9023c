//! The words of a kernel text.

use diagnostics::Span;

/// Words that have a fixed meaning and can't be names.
pub(crate) const RESERVED: [&str; 21] = [
    "kernel", "where", "view", "mut", "strides", "fill", "parallel", "let", "load", "store",
    "stage", "opaque", "map", "reduce", "for", "in", "carry", "from", "yield", "true", "false",
];

/// Names of literals, which can't be names of values either.
pub(crate) const LITERAL_WORDS: [&str; 4] = ["inf", "nan", "inf64", "nan64"];

/// Whether a name can stand in a text: a letter or `_`, then letters, digits and `_`; no reserved word; not too long.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let starts = bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    starts
        && name.len() <= crate::MAX_NAME
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !is_reserved(name)
}

/// Whether a word has a fixed meaning.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || LITERAL_WORDS.contains(&word)
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A word: a name, a reserved word or a function.
    Word,
    /// A number with its suffix, such as `3`, `1.5e-3`, `1.0f64`.
    Number,
    /// A symbol.
    Symbol(Symbol),
    /// From `//` to the end of the line; only the formatter sees it.
    Comment,
    /// Something the language does not have; reported already by the lexer.
    Unknown,
    /// The end of the text.
    End,
}

macro_rules! symbols {
    ($($name:ident $text:literal,)*) => {
        /// A symbol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Symbol {
            $(#[doc = $text] $name,)*
        }

        impl Symbol {
            /// How it is written.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Symbol::$name => $text,)*
                }
            }
        }
    };
}

symbols! {
    Shl "<<", Shr ">>", Le "<=", Ge ">=", EqEq "==", Ne "!=", AndAnd "&&", OrOr "||", DotDot "..",
    OpenParen "(", CloseParen ")", OpenBracket "[", CloseBracket "]", OpenBrace "{", CloseBrace "}",
    Comma ",", Semicolon ";", Colon ":", Equal "=", Plus "+", Minus "-", Star "*", Slash "/", Percent "%",
    And "&", Or "|", Xor "^", Not "!", Tilde "~", Lt "<", Gt ">", Hash "#",
}

impl Symbol {
    /// The symbol that begins with these bytes; the longer of two.
    pub(crate) fn of(first: u8, second: Option<u8>) -> Option<Symbol> {
        Some(match (first, second) {
            (b'<', Some(b'<')) => Symbol::Shl,
            (b'>', Some(b'>')) => Symbol::Shr,
            (b'<', Some(b'=')) => Symbol::Le,
            (b'>', Some(b'=')) => Symbol::Ge,
            (b'=', Some(b'=')) => Symbol::EqEq,
            (b'!', Some(b'=')) => Symbol::Ne,
            (b'&', Some(b'&')) => Symbol::AndAnd,
            (b'|', Some(b'|')) => Symbol::OrOr,
            (b'.', Some(b'.')) => Symbol::DotDot,
            (b'(', _) => Symbol::OpenParen,
            (b')', _) => Symbol::CloseParen,
            (b'[', _) => Symbol::OpenBracket,
            (b']', _) => Symbol::CloseBracket,
            (b'{', _) => Symbol::OpenBrace,
            (b'}', _) => Symbol::CloseBrace,
            (b',', _) => Symbol::Comma,
            (b';', _) => Symbol::Semicolon,
            (b':', _) => Symbol::Colon,
            (b'=', _) => Symbol::Equal,
            (b'+', _) => Symbol::Plus,
            (b'-', _) => Symbol::Minus,
            (b'*', _) => Symbol::Star,
            (b'/', _) => Symbol::Slash,
            (b'%', _) => Symbol::Percent,
            (b'&', _) => Symbol::And,
            (b'|', _) => Symbol::Or,
            (b'^', _) => Symbol::Xor,
            (b'!', _) => Symbol::Not,
            (b'~', _) => Symbol::Tilde,
            (b'<', _) => Symbol::Lt,
            (b'>', _) => Symbol::Gt,
            (b'#', _) => Symbol::Hash,
            _ => return None,
        })
    }
}

/// One word of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where it stands.
    pub(crate) span: Span,
}
