//! Regions and operations in text.

use diagnostics::Span;

use super::{DEEPEST, Parsed, Parser};
use crate::keys::{Array, Function, Op, Region, Value};
use crate::ops::{
    Access, BinaryOp, CompareOp, Constant, ConvertOp, Elem, MemElem, OpKind, Type, UnaryOp,
    Workspace,
};
use crate::text::lexer::Token;

/// Regions and operations.
impl<'t> Parser<'t> {
    pub(super) fn region(&mut self, region: Region, last_word: &str) -> Parsed {
        self.sign('{')?;
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("regions nest more than {DEEPEST} deep");
            self.depth -= 1;
            return self.fail("too-deep", message, self.span());
        }
        loop {
            let start = self.at;
            match *self.token() {
                Token::Sign('}') | Token::End => break,
                Token::Word(word) if word == last_word => {
                    self.step();
                    match self.values() {
                        Some(yields) => self.program.region_mut(region).yields = yields,
                        None => self.skip_line(start),
                    }
                    break;
                }
                _ => {}
            }
            if self.operation(region).is_none() {
                self.skip_line(start);
                while *self.token() == Token::Sign('{') {
                    self.skip_block();
                    self.skip_line(self.at - 1);
                }
                if self.at == start {
                    self.step();
                }
            }
        }
        self.depth -= 1;
        self.sign('}')
    }

    fn operation(&mut self, region: Region) -> Parsed {
        let mut results = Vec::new();
        let (mut word, mut span) = self.any_word("an operation")?;
        if matches!(self.token(), Token::Sign(',' | '=')) {
            results.push((word, span));
            while self.accept(',') {
                results.push(self.any_word("a result")?);
            }
            self.sign('=')?;
            (word, span) = self.any_word("an operation")?;
        }
        let (op, complete) = match word {
            "loop" => self.loop_head(results.len())?,
            "if" => {
                let condition = self.value()?;
                let types = self.types(results.len())?;
                let (then, otherwise) = (self.program.add_region(), self.program.add_region());
                let kind = OpKind::If {
                    condition,
                    then,
                    otherwise,
                };
                (
                    self.program.make_op(kind, &types),
                    vec![(then, ""), (otherwise, "else")],
                )
            }
            "call" => {
                let wanted = self.name("a function")?;
                let kind = OpKind::Call {
                    function: Function::from_index(0),
                    args: self.arguments()?,
                };
                let types = self.types(results.len())?;
                let op = self.program.make_op(kind, &types);
                self.wanted.push((op, wanted.0, wanted.1));
                (op, Vec::new())
            }
            _ => {
                let kind = self.simple(word, span)?;
                let types = self.types(results.len())?;
                let kind = self.with_type(kind, types.first().copied(), span)?;
                (self.program.make_op(kind, &types), Vec::new())
            }
        };
        for (index, (name, span)) in results.into_iter().enumerate() {
            let value = self.program.op(op).results[index];
            self.define(name, span, value);
        }
        self.program.region_mut(region).ops.push(op);
        for (inner, opening) in complete {
            if !opening.is_empty() {
                self.word(opening)?;
            }
            self.region(inner, "yield")?;
        }
        Some(())
    }

    fn arguments(&mut self) -> Parsed<Vec<Value>> {
        self.sign('(')?;
        let list = if *self.token() == Token::Sign(')') {
            Vec::new()
        } else {
            self.values()?
        };
        self.sign(')')?;
        Some(list)
    }

    fn loop_head(&mut self, results: usize) -> Parsed<(Op, Vec<(Region, &'static str)>)> {
        let (counter, counter_span) = self.any_word("the counter's name")?;
        self.sign('=')?;
        let lower = self.value()?;
        if *self.token() != Token::Range {
            return self.expected("`..`");
        }
        self.step();
        let upper = self.value()?;
        self.word("step")?;
        let step = self.number("a step")?;
        let body = self.program.add_region();
        let value = self.program.add_arg(body, Type::uniform(Elem::I64));
        self.define(counter, counter_span, value);
        let (mut inits, mut types) = (Vec::new(), Vec::new());
        let span = self.span();
        if self.accept_word("carry") {
            self.sign('(')?;
            loop {
                let (name, span) = self.any_word("a carry")?;
                self.sign(':')?;
                let ty = self.ty()?;
                self.sign('=')?;
                inits.push(self.value()?);
                types.push(ty);
                let value = self.program.add_arg(body, ty);
                self.define(name, span, value);
                if !self.accept(',') {
                    break;
                }
            }
            self.sign(')')?;
        }
        if results != types.len() {
            let message = format!("the loop has {results} results but {} carries", types.len());
            return self.fail("result-count", message, span);
        }
        let kind = OpKind::Loop {
            lower,
            upper,
            step,
            inits,
            body,
        };
        Some((self.program.make_op(kind, &types), vec![(body, "")]))
    }

    /// Constants, record words and a few others are known in full only with the type of their result.
    fn with_type(&mut self, kind: Pending<'t>, ty: Option<Type>, span: Span) -> Parsed<OpKind> {
        let kind = match kind {
            Pending::Done(kind) => return Some(kind),
            Pending::Const { .. } | Pending::Record(_) => kind,
        };
        let Some(ty) = ty else {
            return self.fail("result-count", "this operation has a result", span);
        };
        match kind {
            Pending::Done(kind) => Some(kind),
            Pending::Record(word) => Some(OpKind::Record {
                word,
                elem: ty.elem,
            }),
            Pending::Const {
                negative,
                text,
                bits,
                span,
            } => match constant(negative, text, bits, ty.elem) {
                Some(constant) => Some(OpKind::Const(constant, ty.shape)),
                None => {
                    let message = format!("`{text}` is no constant of type {}", ty.elem);
                    self.fail("malformed-constant", message, span)
                }
            },
        }
    }

    fn simple(&mut self, word: &'t str, span: Span) -> Parsed<Pending<'t>> {
        if let Some(op) = UnaryOp::from_name(word) {
            return Some(Pending::Done(OpKind::Unary(op, self.value()?)));
        }
        if let Some(op) = BinaryOp::from_name(word) {
            return Some(Pending::Done(OpKind::Binary(
                op,
                self.value()?,
                self.comma_value()?,
            )));
        }
        if let Some(op) = CompareOp::from_name(word) {
            return Some(Pending::Done(OpKind::Compare(
                op,
                self.value()?,
                self.comma_value()?,
            )));
        }
        if let Some(op) = ConvertOp::from_name(word) {
            return Some(Pending::Done(OpKind::Convert(op, self.value()?)));
        }
        let kind = match word {
            "const" => return self.literal(),
            "record" => return Some(Pending::Record(self.number("a word of the record")?)),
            "workspace" => {
                let (name, span) = self.any_word("`worker` or `shared`")?;
                match Workspace::from_name(name) {
                    Some(workspace) => OpKind::WorkspaceAddress(workspace),
                    None => {
                        return self.fail(
                            "unknown-workspace",
                            "there are `worker` and `shared`",
                            span,
                        );
                    }
                }
            }
            "select" => OpKind::Select {
                condition: self.value()?,
                then: self.comma_value()?,
                otherwise: self.comma_value()?,
            },
            "fma" => OpKind::Fma(self.value()?, self.comma_value()?, self.comma_value()?),
            "splat" => OpKind::Splat(self.value()?),
            "any" => OpKind::Any(self.value()?),
            "lane_index" => OpKind::LaneIndex,
            "lane" => {
                let of = self.value()?;
                self.sign('[')?;
                let lane = self.number("a lane")?;
                self.sign(']')?;
                OpKind::Lane { of, lane }
            }
            "build" => OpKind::Build(self.values()?),
            "shuffle" => {
                let (a, b) = (self.value()?, self.comma_value()?);
                let mut pattern = Vec::new();
                self.sign('[')?;
                while *self.token() != Token::Sign(']') {
                    if !pattern.is_empty() {
                        self.sign(',')?;
                    }
                    pattern.push(self.number("a lane")?);
                }
                self.sign(']')?;
                OpKind::Shuffle { a, b, pattern }
            }
            "load" => {
                let (mem, access, address, displacement, mask) = self.access()?;
                let invariant = self.accept_word("invariant");
                OpKind::Load {
                    mem,
                    access,
                    address,
                    displacement,
                    mask,
                    invariant,
                }
            }
            "store" => {
                let (mem, access, address, displacement, mask) = self.access()?;
                self.sign('=')?;
                let value = self.value()?;
                OpKind::Store {
                    mem,
                    access,
                    address,
                    displacement,
                    mask,
                    value,
                }
            }
            "get" => {
                let (array, slot, offset) = self.slot()?;
                OpKind::PrivateLoad {
                    array,
                    slot,
                    offset,
                }
            }
            "set" => {
                let (array, slot, offset) = self.slot()?;
                self.sign('=')?;
                OpKind::PrivateStore {
                    array,
                    slot,
                    offset,
                    value: self.value()?,
                }
            }
            "address" => OpKind::PrivateAddress(self.array_use()?),
            "opaque" => {
                let id = self.number("a hook's number")?;
                self.word("at")?;
                let first = self.value()?;
                self.word("count")?;
                OpKind::Opaque {
                    id,
                    first,
                    count: self.value()?,
                }
            }
            _ => {
                return self.fail(
                    "unknown-operation",
                    format!("XIR has no operation `{word}`"),
                    span,
                );
            }
        };
        Some(Pending::Done(kind))
    }

    fn literal(&mut self) -> Parsed<Pending<'t>> {
        let span = self.span();
        let negative = self.accept('-');
        let (text, span) = match *self.token() {
            Token::Number(text) | Token::Word(text) => (text, span.join(self.span())),
            _ => return self.expected("a constant"),
        };
        self.step();
        let bits = if text == "nan" && self.accept('(') {
            let Token::Number(bits) = *self.token() else {
                return self.expected("the bits of a NaN");
            };
            self.step();
            self.sign(')')?;
            Some(bits)
        } else {
            None
        };
        Some(Pending::Const {
            negative,
            text,
            bits,
            span,
        })
    }

    /// `f32 contiguous 8 at v1 + 16 if v2`.
    fn access(&mut self) -> Parsed<(MemElem, Access, Value, i32, Option<Value>)> {
        let (name, span) = self.any_word("an element in memory")?;
        let Some(mem) = MemElem::from_name(name) else {
            return self.fail(
                "unknown-element",
                "memory holds f32, f64, i32, u8 and u16",
                span,
            );
        };
        let (name, span) = self.any_word("an access")?;
        let access = match name {
            "scalar" => Access::Scalar,
            "contiguous" => Access::Contiguous {
                live: self.number("a number of lanes")?,
            },
            "strided" => Access::Strided {
                stride: self.value()?,
            },
            "gather" => Access::Gather {
                offsets: self.value()?,
            },
            _ => {
                let message = "an access is scalar, contiguous, strided or gather";
                return self.fail("unknown-access", message, span);
            }
        };
        self.word("at")?;
        let address = self.value()?;
        let displacement = if *self.token() == Token::Sign('-') || self.accept('+') {
            self.number("a displacement")?
        } else {
            0
        };
        let mask = if self.accept_word("if") {
            Some(self.value()?)
        } else {
            None
        };
        Some((mem, access, address, displacement, mask))
    }

    /// `a0[v1 + 2]`.
    fn slot(&mut self) -> Parsed<(Array, Value, u32)> {
        let array = self.array_use()?;
        self.sign('[')?;
        let slot = self.value()?;
        let offset = if self.accept('+') {
            self.number("an offset in slots")?
        } else {
            0
        };
        self.sign(']')?;
        Some((array, slot, offset))
    }
}

/// An operation that may still wait for the type of its result.
enum Pending<'t> {
    Done(OpKind),
    Record(u32),
    Const {
        negative: bool,
        text: &'t str,
        bits: Option<&'t str>,
        span: Span,
    },
}

fn constant(negative: bool, text: &str, bits: Option<&str>, elem: Elem) -> Option<Constant> {
    let whole = || {
        text.parse::<i128>()
            .ok()
            .map(|size| if negative { -size } else { size })
    };
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    if let Some(bits) = bits {
        let bits = u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?;
        return match elem {
            _ if negative => None,
            Elem::F32 => {
                let bits = u32::try_from(bits).ok()?;
                f32::from_bits(bits).is_nan().then_some(Constant::F32(bits))
            }
            Elem::F64 => f64::from_bits(bits).is_nan().then_some(Constant::F64(bits)),
            Elem::I32 | Elem::I64 | Elem::Bool => None,
        };
    }
    match elem {
        Elem::F32 => {
            let value: f32 = match text {
                "inf" => f32::INFINITY,
                "nan" if !negative => f32::NAN,
                _ if digits => text.parse().ok().filter(|value: &f32| value.is_finite())?,
                _ => return None,
            };
            Some(Constant::f32(if negative { -value } else { value }))
        }
        Elem::F64 => {
            let value: f64 = match text {
                "inf" => f64::INFINITY,
                "nan" if !negative => f64::NAN,
                _ if digits => text.parse().ok().filter(|value: &f64| value.is_finite())?,
                _ => return None,
            };
            Some(Constant::f64(if negative { -value } else { value }))
        }
        Elem::I32 => whole()?.try_into().ok().map(Constant::I32),
        Elem::I64 => whole()?.try_into().ok().map(Constant::I64),
        Elem::Bool => match text {
            "true" if !negative => Some(Constant::Bool(true)),
            "false" if !negative => Some(Constant::Bool(false)),
            _ => None,
        },
    }
}
