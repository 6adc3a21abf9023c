//! Expressions, nests among them.

use diagnostics::Span;

use super::super::mistake::Mistake;
use super::super::syntax::{
    Argument, CarriesSyntax, Carry, DimSyntax, Expr, ExprKind, ForSyntax, Infix, ReduceSyntax,
};
use super::super::token::{LITERAL_WORDS, Symbol, TokenKind, is_reserved};
use super::{Parsed, Parser, Reported};
use crate::MAX_OPERATIONS;
use crate::ops::{BinaryOp, CompareOp, Policy, ReduceOp};

impl<'t> Parser<'t> {
    pub(super) fn expr(&mut self) -> Parsed<Expr<'t>> {
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

    pub(super) fn unary(&mut self) -> Parsed<Expr<'t>> {
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
