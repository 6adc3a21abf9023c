//! The head of a kernel: its name, parameters and axes.

use numerics::ElementType;

use super::super::mistake::Mistake;
use super::super::nearest::nearest;
use super::super::syntax::{AxisSyntax, KernelSyntax, ParamSyntax, ViewSyntax};
use super::super::token::{Symbol, TokenKind};
use super::{Parsed, Parser, Reported};

impl<'t> Parser<'t> {
    pub(super) fn kernel(&mut self) -> Parsed<KernelSyntax<'t>> {
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

    fn axis(&mut self) -> Parsed<AxisSyntax<'t>> {
        let name = self.name("an axis")?;
        let extent = if self.take(Symbol::Equal) {
            Some(self.natural("an extent")?)
        } else {
            None
        };
        Ok(AxisSyntax { name, extent })
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
}
