//! Blocks and statements, and the lists of coordinates and subscripts in them.

use super::super::mistake::Mistake;
use super::super::syntax::{
    Block, Coordinate, Expr, ExprKind, Statement, StatementKind, SubscriptSyntax,
};
use super::super::token::{Symbol, TokenKind};
use super::{Parsed, Parser, Reported};

impl<'t> Parser<'t> {
    pub(super) fn block(&mut self) -> Parsed<Block<'t>> {
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

    pub(super) fn coordinates(&mut self) -> Parsed<Vec<Coordinate<'t>>> {
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

    pub(super) fn subscripts(&mut self) -> Parsed<Vec<SubscriptSyntax<'t>>> {
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
}
