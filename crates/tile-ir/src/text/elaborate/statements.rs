//! Statements, the scopes of nests, and accesses to views.

use diagnostics::Span;
use numerics::ElementType;

use super::super::mistake::Mistake;
use super::super::syntax::{
    Block, Coordinate, Expr, ExprKind, Name, Statement, StatementKind, SubscriptSyntax,
};
use super::{Elaborator, Meaning, Yielding, body_start, count};
use crate::kernel::{Dim, TileType};
use crate::keys::{Param, Region, Value};
use crate::ops::{OpKind, Subscript};

impl<'t> Elaborator<'t> {
    /// The statements of a nest; what it yields.
    pub(super) fn block(&mut self, block: &Block<'t>, yielding: Yielding) -> Vec<Value> {
        let mut yields = Vec::new();
        for (index, statement) in block.statements.iter().enumerate() {
            if self.full {
                break;
            }
            let StatementKind::Yield(values) = &statement.kind else {
                self.statement(statement);
                continue;
            };
            let last = index + 1 == block.statements.len();
            let values: Vec<Value> = values.iter().map(|value| self.value(value)).collect();
            if yielding == Yielding::Yes && last {
                yields = values;
            } else {
                let (message, help) = match yielding {
                    Yielding::Yes => (
                        "`yield` ends a nest, and this one goes on",
                        "move it to the end; yield several values with commas",
                    ),
                    Yielding::No => (
                        "this nest yields nothing",
                        "only `map`, `reduce` and `for` with carries yield",
                    ),
                };
                self.report(
                    Mistake::MisplacedYield
                        .says(message)
                        .at(statement.span)
                        .with_help(help),
                );
                if yielding == Yielding::Yes && yields.is_empty() {
                    yields = values;
                }
            }
        }
        yields
    }

    fn statement(&mut self, statement: &Statement<'t>) {
        match &statement.kind {
            StatementKind::Let { names, value } => self.let_names(names, value),
            StatementKind::Store { view, at, value } => {
                let param = self.view_param(*view);
                let subscripts = self.subscripts(param, at);
                let stored = self.value(value);
                if let (Some(view), Some(at)) = (param, subscripts) {
                    if let Some(element) = self.kernel.view(view).map(|v| v.element.compute_type())
                    {
                        self.adopt(value, stored, element);
                    }
                    self.push(
                        OpKind::Store {
                            view,
                            at,
                            value: stored,
                        },
                        statement.span,
                    );
                }
            }
            StatementKind::Stage => {
                self.push(OpKind::Stage, statement.span);
            }
            StatementKind::Opaque(id) => {
                self.push(OpKind::Opaque { id: *id }, statement.span);
            }
            // Handled by `block`.
            StatementKind::Yield(_) => {}
            StatementKind::Parallel { coordinates, body } => {
                let (region, outer) = self.enter();
                let mut axes = Vec::new();
                let mut known = true;
                for coordinate in coordinates {
                    let axis = match coordinate.axis {
                        Some(name) => self.axis(name),
                        None => {
                            let diagnostic = Mistake::Syntax
                                .says("a root nest runs over axes")
                                .at(coordinate.name.span)
                                .with_help("leave the coordinate out: it is always 0");
                            self.report(diagnostic);
                            None
                        }
                    };
                    known &= axis.is_some();
                    axes.extend(axis);
                    self.coordinate(region, coordinate.name);
                }
                self.block(body, Yielding::No);
                self.exit(outer);
                if known {
                    // The place of a nest is its head: the body has places of its own.
                    let head = Span::new(statement.span.start, body_start(statement.span, body));
                    self.push(OpKind::Parallel { axes, body: region }, head);
                }
            }
            StatementKind::For(value) => {
                self.values(value);
            }
        }
    }

    fn let_names(&mut self, names: &[Name<'t>], value: &Expr<'t>) {
        let values = self.values(value);
        // A `map` without `yield` is the verifier's business.
        let empty = matches!(value.kind, ExprKind::Map { .. }) && values.is_empty();
        let wrong = matches!(value.kind, ExprKind::Wrong) || empty || self.full;
        if values.len() != names.len() && !wrong {
            let message = format!(
                "{} for {}",
                count(names.len(), "name"),
                count(values.len(), "value")
            );
            let diagnostic = Mistake::WrongCount
                .says(message)
                .at(value.span)
                .with_label(format!("makes {}", count(values.len(), "value")));
            self.report(diagnostic);
        }
        let matching = values.len() == names.len();
        for (index, &name) in names.iter().enumerate() {
            let value = if matching {
                values[index]
            } else {
                self.poison()
            };
            self.define(name, Meaning::Value(value));
        }
    }

    pub(super) fn enter(&mut self) -> (Region, Region) {
        let region = self.kernel.add_region();
        let outer = std::mem::replace(&mut self.region, region);
        self.open_scope();
        (region, outer)
    }

    pub(super) fn exit(&mut self, outer: Region) {
        self.close_scope();
        self.region = outer;
    }

    pub(super) fn argument(&mut self, region: Region, name: Name<'t>, ty: TileType) -> Value {
        let value = self.kernel.add_arg(region, ty, None);
        self.define(name, Meaning::Value(value));
        value
    }

    pub(super) fn coordinate(&mut self, region: Region, name: Name<'t>) {
        self.argument(region, name, TileType::scalar(ElementType::I32));
    }

    /// Defines the coordinates of a nest and gives its domain; `None` if an axis is unknown.
    pub(super) fn domain(
        &mut self,
        region: Region,
        coordinates: &[Coordinate<'t>],
    ) -> Option<Vec<Dim>> {
        let mut dims = Some(Vec::new());
        for coordinate in coordinates {
            let dim = match coordinate.axis {
                None => Some(Dim::Unit),
                Some(name) => self.axis(name).map(Dim::Axis),
            };
            match (dim, &mut dims) {
                (Some(dim), Some(dims)) => dims.push(dim),
                _ => dims = None,
            }
            self.coordinate(region, coordinate.name);
        }
        dims
    }

    pub(super) fn view_param(&mut self, name: Name<'t>) -> Option<Param> {
        match self.names.get(name.text) {
            Some(&(Meaning::Param(param), _)) => Some(param),
            Some(&(Meaning::Value(value), defined)) => {
                if !self.is_poisoned(value) {
                    let diagnostic = Mistake::UnknownName
                        .says(format!("`{}` is a value, not a view", name.text))
                        .at(name.span)
                        .with_secondary(defined, "defined here")
                        .with_help(format!("take its elements with `{}[...]`", name.text));
                    self.report(diagnostic);
                }
                None
            }
            None => {
                self.unknown(name.text, name.span, "view");
                None
            }
        }
    }

    pub(super) fn subscripts(
        &mut self,
        view: Option<Param>,
        at: &[SubscriptSyntax<'t>],
    ) -> Option<Vec<Subscript>> {
        let mut list = Some(Vec::with_capacity(at.len()));
        for (index, subscript) in at.iter().enumerate() {
            let own = view.and_then(|view| self.kernel.view(view)?.dims.get(index).copied());
            let subscript = match subscript {
                SubscriptSyntax::At(value) => Some(Subscript::At(self.value(value))),
                SubscriptSyntax::Window { origin, axis, step } => {
                    let origin = origin.as_ref().map(|origin| self.value(origin));
                    let axis = match axis {
                        Some(name) => self.axis(*name),
                        // Beyond the view's dimensions there is no own axis; the count is the verifier's business.
                        None => own.or_else(|| self.kernel.axes().next()),
                    };
                    axis.map(|axis| Subscript::Window {
                        origin,
                        axis,
                        step: *step,
                    })
                }
            };
            match (subscript, &mut list) {
                (Some(subscript), Some(list)) => list.push(subscript),
                _ => list = None,
            }
        }
        list
    }
}
