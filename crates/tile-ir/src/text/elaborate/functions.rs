//! The functions of the text: what each takes, and the operation it becomes.

use diagnostics::Span;
use numerics::ElementType;

use super::super::mistake::Mistake;
use super::super::nearest::nearest;
use super::super::syntax::{Argument, DimSyntax, Expr, ExprKind, Infix, Name};
use super::Elaborator;
use crate::kernel::Dim;
use crate::keys::Value;
use crate::ops::{BinaryOp, OpKind, Policy, ReduceOp, UnaryOp};

/// A function that a text can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Cast(ElementType),
    /// `sum`, `product`, `minimum`, `maximum`.
    ReduceTile(ReduceOp),
    Fma,
    Contract,
    Select,
    Extent,
    Iota,
    Broadcast,
    Reshape,
    Permute,
}

/// The name by which a whole tile is reduced.
pub(crate) fn tile_reduction_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "sum",
        ReduceOp::Mul => "product",
        ReduceOp::Min => "minimum",
        ReduceOp::Max => "maximum",
    }
}

impl Function {
    fn table() -> Vec<(&'static str, Function)> {
        let unary = UnaryOp::all()
            .filter(|op| !matches!(op, UnaryOp::Neg | UnaryOp::Not))
            .map(|op| (op.name(), Function::Unary(op)));
        let binary = BinaryOp::ALL
            .into_iter()
            .filter(|op| !op.is_infix())
            .map(|op| (op.name(), Function::Binary(op)));
        let casts = ElementType::ALL
            .into_iter()
            .map(|element| (element.name(), Function::Cast(element)));
        let reductions = ReduceOp::ALL
            .into_iter()
            .map(|op| (tile_reduction_name(op), Function::ReduceTile(op)));
        let others = [
            ("fma", Function::Fma),
            ("contract", Function::Contract),
            ("select", Function::Select),
            ("extent", Function::Extent),
            ("iota", Function::Iota),
            ("broadcast", Function::Broadcast),
            ("reshape", Function::Reshape),
            ("permute", Function::Permute),
        ];
        unary
            .chain(binary)
            .chain(casts)
            .chain(reductions)
            .chain(others)
            .collect()
    }

    /// The function with this name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Function::table()
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, function)| function)
    }

    /// Every name.
    pub(crate) fn names() -> Vec<&'static str> {
        Function::table()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    /// How it is called.
    fn usage(self) -> String {
        match self {
            Function::Unary(op) => format!("{}(x)", op.name()),
            Function::Binary(op) => format!("{}(a, b)", op.name()),
            Function::Cast(element) => format!("{element}(x)"),
            Function::ReduceTile(op) => {
                let name = tile_reduction_name(op);
                format!("{name}(x)` or `{name}(x, tree)")
            }
            Function::Fma => "fma(a, b, c)".to_owned(),
            Function::Contract => "contract(a * b + c)".to_owned(),
            Function::Select => "select(condition, a, b)".to_owned(),
            Function::Extent => "extent(axis)".to_owned(),
            Function::Iota => "iota(axis)".to_owned(),
            Function::Broadcast => "broadcast(x, [a, b])".to_owned(),
            Function::Reshape => "reshape(x, [a, 1])".to_owned(),
            Function::Permute => "permute(x, [b, a])".to_owned(),
        }
    }
}

impl<'t> Elaborator<'t> {
    pub(super) fn call(&mut self, name: Name<'t>, arguments: &[Argument<'t>], span: Span) -> Value {
        let Some(function) = Function::named(name.text) else {
            let mut diagnostic = Mistake::UnknownFunction
                .says(format!("no function is called `{}`", name.text))
                .at(name.span);
            if let Some(close) = nearest(name.text, Function::names().into_iter()) {
                diagnostic = diagnostic.with_help(format!("did you mean `{close}`?"));
            } else if self.names.contains_key(name.text) {
                diagnostic =
                    diagnostic.with_help(format!("to index a tile write `{}[...]`", name.text));
            }
            self.report(diagnostic);
            for argument in arguments {
                if let Argument::Value(expr) = argument {
                    self.value(expr);
                }
            }
            return self.poison();
        };
        self.apply(function, name, arguments, span)
    }

    /// `a * b + c` as one operation with one rounding.
    fn contract(&mut self, expr: &Expr<'t>, span: Span) -> Value {
        let wrong = |e: &mut Self| {
            let diagnostic = Mistake::WrongArguments
                .says("`contract` takes the sum or difference of a product and a term")
                .at(expr.span)
                .with_help(
                    "write `contract(a * b + c)`, `contract(a * b - c)` or `contract(c - a * b)`",
                );
            e.report(diagnostic);
            e.poison()
        };
        let ExprKind::Run { first, rest } = &expr.kind else {
            return wrong(self);
        };
        let [(Infix::Binary(sign @ (BinaryOp::Add | BinaryOp::Sub)), second)] = &rest[..] else {
            return wrong(self);
        };
        fn product<'e, 't>(expr: &'e Expr<'t>) -> Option<(&'e Expr<'t>, &'e Expr<'t>)> {
            match &expr.kind {
                ExprKind::Run { first, rest } => match &rest[..] {
                    [(Infix::Binary(BinaryOp::Mul), second)] => Some((first, second)),
                    _ => None,
                },
                _ => None,
            }
        }
        let minus = *sign == BinaryOp::Sub;
        let ((a, b), c, product_first) = match (product(first), product(second)) {
            (Some(product), _) => (product, second, true),
            (None, Some(product)) => (product, &**first, false),
            (None, None) => return wrong(self),
        };
        let values = [self.value(a), self.value(b), self.value(c)];
        self.adopt_all(&[a, b, c], &values);
        let [mut a, b, mut c] = values;
        // Negation is exact, so the one rounding stays the one of the written formula.
        if minus && product_first {
            c = self.make(OpKind::Unary(UnaryOp::Neg, c), span);
        } else if minus {
            a = self.make(OpKind::Unary(UnaryOp::Neg, a), span);
        }
        self.make(OpKind::Fma(a, b, c), span)
    }

    /// A call of a known function.
    fn apply(
        &mut self,
        function: Function,
        name: Name<'t>,
        arguments: &[Argument<'t>],
        span: Span,
    ) -> Value {
        let exprs: Vec<&Expr<'t>> = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Value(expr) => Some(expr),
                Argument::Dims(_) => None,
            })
            .collect();
        let plain = exprs.len() == arguments.len();
        match (function, &exprs[..], arguments) {
            (Function::Unary(op), [a], _) if plain => {
                let a = self.value(a);
                self.make(OpKind::Unary(op, a), span)
            }
            (Function::Binary(op), [a, b], _) if plain => {
                let values = [self.value(a), self.value(b)];
                self.adopt_all(&exprs, &values);
                self.make(OpKind::Binary(op, values[0], values[1]), span)
            }
            (Function::Cast(element), [a], _) if plain => {
                let a = self.value(a);
                self.make(OpKind::Cast(element, a), span)
            }
            (Function::Fma, [a, b, c], _) if plain => {
                let values = [self.value(a), self.value(b), self.value(c)];
                self.adopt_all(&exprs, &values);
                self.make(OpKind::Fma(values[0], values[1], values[2]), span)
            }
            (Function::Contract, [a], _) if plain => self.contract(a, span),
            (Function::Select, [condition, then, otherwise], _) if plain => {
                let condition = self.value(condition);
                let values = [self.value(then), self.value(otherwise)];
                self.adopt_all(&exprs[1..], &values);
                let kind = OpKind::Select {
                    condition,
                    then: values[0],
                    otherwise: values[1],
                };
                self.make(kind, span)
            }
            (
                Function::Extent | Function::Iota,
                [
                    Expr {
                        kind: ExprKind::Name(axis),
                        span: at,
                    },
                ],
                _,
            ) if plain => {
                match self.axis(Name {
                    text: axis,
                    span: *at,
                }) {
                    Some(axis) if function == Function::Extent => {
                        self.make(OpKind::Extent(axis), span)
                    }
                    Some(axis) => self.make(OpKind::Iota(axis), span),
                    None => self.poison(),
                }
            }
            (Function::ReduceTile(op), [tile, policy @ ..], _) if plain && policy.len() <= 1 => {
                let tile = self.value(tile);
                let policy = match policy {
                    [] => Some(Policy::Unordered),
                    [
                        Expr {
                            kind: ExprKind::Name(word),
                            ..
                        },
                        ..,
                    ] => Policy::ALL
                        .into_iter()
                        .find(|policy| policy.name() == *word),
                    [..] => None,
                };
                match policy {
                    Some(policy) => self.reduce_tile(op, policy, tile, span),
                    None => {
                        let diagnostic = Mistake::WrongArguments
                            .says("this is no policy")
                            .at(exprs[1].span)
                            .with_help("write `unordered`, `tree` or `fold`");
                        self.report(diagnostic);
                        self.poison()
                    }
                }
            }
            (Function::Broadcast | Function::Reshape, [a], [_, Argument::Dims(dims)]) => {
                let a = self.value(a);
                match self.dims(dims, span) {
                    Some(dims) if function == Function::Broadcast => {
                        self.make(OpKind::Broadcast(a, dims), span)
                    }
                    Some(dims) => self.make(OpKind::Reshape(a, dims), span),
                    None => self.poison(),
                }
            }
            (Function::Permute, [a], [_, Argument::Dims(dims)]) => {
                let a = self.value(a);
                match self.order(a, dims, span) {
                    Some(order) => self.make(OpKind::Permute(a, order), span),
                    None => self.poison(),
                }
            }
            _ => {
                let message = format!("`{}` does not take these arguments", name.text);
                let help = format!("write `{}`", function.usage());
                self.report(
                    Mistake::WrongArguments
                        .says(message)
                        .at(span)
                        .with_help(help),
                );
                for expr in exprs {
                    if !matches!(expr.kind, ExprKind::Name(_)) {
                        self.value(expr);
                    }
                }
                self.poison()
            }
        }
    }

    fn dims(&mut self, list: &[DimSyntax<'t>], span: Span) -> Option<Vec<Dim>> {
        let mut dims = Some(Vec::new());
        for dim in list {
            let dim = match *dim {
                DimSyntax::Axis(name) => self.axis(name).map(Dim::Axis),
                DimSyntax::Unit => Some(Dim::Unit),
                DimSyntax::Position(_) => {
                    let message =
                        "`#` names a dimension of the operand, which only `permute` takes";
                    self.report(Mistake::WrongArguments.says(message).at(span));
                    None
                }
            };
            match (dim, &mut dims) {
                (Some(dim), Some(dims)) => dims.push(dim),
                _ => dims = None,
            }
        }
        dims
    }

    /// The positions that a list of dimensions names in the operand of `permute`.
    fn order(&mut self, a: Value, list: &[DimSyntax<'t>], span: Span) -> Option<Vec<u32>> {
        let ty = self.kernel.ty(a).clone();
        let poisoned = self.is_poisoned(a);
        let mut order = Some(Vec::new());
        for dim in list {
            let wanted = match *dim {
                DimSyntax::Position(position) => {
                    if let Some(order) = &mut order {
                        order.push(position);
                    }
                    continue;
                }
                DimSyntax::Axis(name) => self.axis(name).map(Dim::Axis),
                DimSyntax::Unit => Some(Dim::Unit),
            };
            let Some(wanted) = wanted else {
                order = None;
                continue;
            };
            let places: Vec<u32> = (0..ty.dims.len() as u32)
                .filter(|&i| ty.dims[i as usize] == wanted)
                .collect();
            match (&places[..], &mut order) {
                ([place], Some(order)) => order.push(*place),
                ([_], None) => {}
                _ => {
                    if order.take().is_some() && !poisoned {
                        let named = self.kernel.dim_names(&[wanted]);
                        let message = format!(
                            "{} has {} dimension `{named}`",
                            self.kernel.type_name(&ty),
                            if places.is_empty() {
                                "no"
                            } else {
                                "more than one"
                            }
                        );
                        let help = "name a dimension by its position: `permute(x, [#1, #0])`";
                        self.report(
                            Mistake::WrongArguments
                                .says(message)
                                .at(span)
                                .with_help(help),
                        );
                    }
                }
            }
        }
        order
    }
}
