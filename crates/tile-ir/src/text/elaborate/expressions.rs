//! Expressions become operations.

use diagnostics::Span;
use numerics::{ElementType, Scalar};

use super::super::mistake::Mistake;
use super::super::syntax::{CarriesSyntax, Expr, ExprKind, ForSyntax, Infix, Name, ReduceSyntax};
use super::{Elaborator, Meaning, Yielding, body_start, count};
use crate::closed_form::close_body;
use crate::kernel::TileType;
use crate::keys::{Region, Value};
use crate::ops::{OpKind, Policy, ReduceForm, ReduceOp, UnaryOp};

impl<'t> Elaborator<'t> {
    /// The value of an expression that makes exactly one.
    pub(super) fn value(&mut self, expr: &Expr<'t>) -> Value {
        let values = self.values(expr);
        match values[..] {
            [value] => value,
            _ => {
                if !self.full {
                    let message = format!(
                        "one value is needed here, and this makes {}",
                        count(values.len(), "value")
                    );
                    let help = "name its values with `let a, b = ...` first";
                    self.report(
                        Mistake::WrongCount
                            .says(message)
                            .at(expr.span)
                            .with_help(help),
                    );
                }
                self.poison()
            }
        }
    }

    /// Every value an expression makes.
    pub(super) fn values(&mut self, expr: &Expr<'t>) -> Vec<Value> {
        if self.full {
            return vec![self.poison()];
        }
        let value = match &expr.kind {
            ExprKind::Wrong => self.poison(),
            ExprKind::Name(name) => match self.names.get(name) {
                Some(&(Meaning::Value(value), _)) => value,
                Some(&(Meaning::Param(param), _)) => {
                    self.make(OpKind::ScalarParam(param), expr.span)
                }
                None => {
                    self.unknown(name, expr.span, "value");
                    self.poison()
                }
            },
            ExprKind::Literal { text, negative } => {
                match self.literal(text, *negative, expr.span, None) {
                    Some(scalar) => self.make(OpKind::Const(scalar), expr.span),
                    None => self.poison(),
                }
            }
            ExprKind::Negate(operand) => {
                let operand = self.value(operand);
                self.make(OpKind::Unary(UnaryOp::Neg, operand), expr.span)
            }
            ExprKind::Not(operand) => {
                let operand = self.value(operand);
                self.make(OpKind::Unary(UnaryOp::Not, operand), expr.span)
            }
            ExprKind::Run { first, rest } => self.run(first, rest),
            ExprKind::Index { tile, at } => {
                let tile = self.value(tile);
                let at = at.iter().map(|index| self.value(index)).collect();
                self.make(OpKind::Extract { tile, at }, expr.span)
            }
            ExprKind::Call {
                function,
                arguments,
            } => self.call(*function, arguments, expr.span),
            ExprKind::Load { view, at } => {
                let param = self.view_param(*view);
                let subscripts = self.subscripts(param, at);
                match (param, subscripts) {
                    (Some(view), Some(at)) => self.make(OpKind::Load { view, at }, expr.span),
                    _ => self.poison(),
                }
            }
            ExprKind::Map { coordinates, body } => {
                let (region, outer) = self.enter();
                let dims = self.domain(region, coordinates);
                let yields = self.block(body, Yielding::Yes);
                self.kernel.set_yields(region, yields);
                self.exit(outer);
                let head = Span::new(expr.span.start, body_start(expr.span, body));
                return self.nest(
                    dims.map(|dims| OpKind::Map { dims, body: region }),
                    region,
                    head,
                );
            }
            ExprKind::Reduce(reduce) => return self.reduce(reduce, expr.span),
            ExprKind::For(looped) => return self.for_loop(looped, expr.span),
        };
        vec![value]
    }

    /// Appends a nest; without a domain, poison for each value it would have made.
    fn nest(&mut self, kind: Option<OpKind>, region: Region, span: Span) -> Vec<Value> {
        let made = match kind {
            Some(kind) => self.push(kind, span),
            None => None,
        };
        match made {
            Some(op) => self.kernel.op(op).results.clone(),
            None => vec![self.poison(); self.kernel.region(region).yields.len()],
        }
    }

    fn run(&mut self, first: &Expr<'t>, rest: &[(Infix, Expr<'t>)]) -> Value {
        let mut left = self.value(first);
        let mut left_expr = Some(first);
        for (infix, operand) in rest {
            let right = self.value(operand);
            let element = |e: &Self, value: Value| e.kernel.ty(value).element;
            if let Some(expr) = left_expr.take() {
                self.adopt(expr, left, element(self, right));
            }
            self.adopt(operand, right, element(self, left));
            let kind = match *infix {
                Infix::Binary(op) => OpKind::Binary(op, left, right),
                Infix::Compare(op) => OpKind::Compare(op, left, right),
            };
            left = self.make(kind, Span::new(first.span.start, operand.span.end));
        }
        left
    }

    fn reduce(&mut self, reduce: &ReduceSyntax<'t>, span: Span) -> Vec<Value> {
        let (inits, names): (Vec<&Expr<'t>>, Vec<Name<'t>>) = match &reduce.carries {
            CarriesSyntax::Closed(list) => {
                (list.iter().map(|(_, init)| init).collect(), Vec::new())
            }
            CarriesSyntax::Open(list) => (
                list.iter().map(|c| &c.init).collect(),
                list.iter().map(|c| c.name).collect(),
            ),
        };
        let init_values: Vec<Value> = inits.iter().map(|init| self.value(init)).collect();
        let (region, outer) = self.enter();
        let dims = self.domain(region, &reduce.coordinates);
        for (&name, &init) in names.iter().zip(&init_values) {
            let ty = self.kernel.ty(init).clone();
            let carry = self.argument(region, name, ty);
            if self.is_poisoned(init) {
                self.mark(carry);
            }
        }
        let yields = self.block(&reduce.body, Yielding::Yes);
        self.kernel.set_yields(region, yields.clone());
        self.exit(outer);

        let form = match &reduce.carries {
            CarriesSyntax::Closed(list) => {
                for ((expr, &init), &yielded) in inits.iter().zip(&init_values).zip(&yields) {
                    self.adopt(expr, init, self.kernel.ty(yielded).element);
                }
                ReduceForm::Closed(list.iter().map(|&(op, _)| op).collect())
            }
            CarriesSyntax::Open(_) if reduce.policy == Policy::Fold => ReduceForm::Open,
            CarriesSyntax::Open(_) => {
                let closed = close_body(&mut self.kernel, region, reduce.coordinates.len());
                closed.map_or(ReduceForm::Open, ReduceForm::Closed)
            }
        };
        let head = Span::new(span.start, body_start(span, &reduce.body));
        let kind = dims.map(|dims| OpKind::Reduce {
            dims,
            policy: reduce.policy,
            form,
            inits: init_values,
            body: region,
        });
        self.nest(kind, region, head)
    }

    fn for_loop(&mut self, looped: &ForSyntax<'t>, span: Span) -> Vec<Value> {
        let lower = self.value(&looped.lower);
        let upper = self.value(&looped.upper);
        let inits: Vec<Value> = looped
            .carries
            .iter()
            .map(|carry| self.value(&carry.init))
            .collect();
        let (region, outer) = self.enter();
        self.coordinate(region, looped.variable);
        for (carry, &init) in looped.carries.iter().zip(&inits) {
            let ty = self.kernel.ty(init).clone();
            let value = self.argument(region, carry.name, ty);
            if self.is_poisoned(init) {
                self.mark(value);
            }
        }
        let yielding = if looped.carries.is_empty() {
            Yielding::No
        } else {
            Yielding::Yes
        };
        let yields = self.block(&looped.body, yielding);
        self.kernel.set_yields(region, yields);
        self.exit(outer);
        let head = Span::new(span.start, body_start(span, &looped.body));
        match self.push(
            OpKind::For {
                lower,
                upper,
                inits,
                body: region,
            },
            head,
        ) {
            Some(op) => self.kernel.op(op).results.clone(),
            None => vec![self.poison(); looped.carries.len()],
        }
    }

    /// A reduction of a whole tile: `sum(x, tree)` is `reduce c: col tree add from 0.0 { yield x[c] }`.
    pub(super) fn reduce_tile(
        &mut self,
        op: ReduceOp,
        policy: Policy,
        tile: Value,
        span: Span,
    ) -> Value {
        let ty = self.kernel.ty(tile).clone();
        if self.is_poisoned(tile) {
            return self.poison();
        }
        if ty.is_scalar() {
            let diagnostic = Mistake::WrongArguments
                .says("a scalar has nothing to reduce")
                .at(span);
            self.report(diagnostic);
            return self.poison();
        }
        let neutral = op.neutral(ty.element).unwrap_or(Scalar::Bool(false));
        let init = self.make(OpKind::Const(neutral), span);
        let (region, outer) = self.enter();
        let i32_scalar = TileType::scalar(ElementType::I32);
        let at = ty
            .dims
            .iter()
            .map(|_| self.kernel.add_arg(region, i32_scalar.clone(), None))
            .collect();
        let element = self.make(OpKind::Extract { tile, at }, span);
        self.kernel.set_yields(region, vec![element]);
        self.exit(outer);
        let form = ReduceForm::Closed(vec![op]);
        let kind = OpKind::Reduce {
            dims: ty.dims,
            policy,
            form,
            inits: vec![init],
            body: region,
        };
        self.make(kind, span)
    }
}
