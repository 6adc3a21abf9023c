//! Syntax to a kernel: names are looked up, literals get their types, expressions become operations.
//!
//! Types are judged by the verifier; here a wrong one is guessed and passed on. A name that is not found becomes a
//! *poisoned* value, about which nobody says more, so that each mistake is told once.

use diagnostics::{Diagnostic, Span};
use hashbrown::HashMap;
use numerics::{ElementType, Scalar};

use super::functions::Function;
use super::mistake::Mistake;
use super::nearest::nearest;
use super::syntax::*;
use crate::closed_form::close_body;
use crate::kernel::{
    AxisData, Dim, Kernel, ParamData, ParamKind, Stride, TileType, ViewType, default_strides,
};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{BinaryOp, OpKind, Policy, ReduceForm, ReduceOp, Subscript, UnaryOp};
use crate::verifier::infer;
use crate::{MAX_MISTAKES, MAX_OPERATIONS};

/// A kernel as far as the text gives one.
pub(crate) struct Elaborated {
    pub(crate) kernel: Kernel,
    /// By value: reported already.
    pub(crate) poisoned: Vec<bool>,
    pub(crate) mistakes: Vec<Diagnostic>,
}

/// The kernel of a text's syntax.
pub(crate) fn elaborate(syntax: &KernelSyntax<'_>) -> Elaborated {
    let mut elaborator = Elaborator {
        kernel: Kernel::new(syntax.name.text),
        region: Region::from_index(0),
        axes: HashMap::new(),
        names: HashMap::new(),
        scopes: vec![Vec::new()],
        left: HashMap::new(),
        poisoned: Vec::new(),
        poison: None,
        full: false,
        mistakes: Vec::new(),
    };
    elaborator.head(syntax);
    elaborator.block(&syntax.body, Yielding::No);
    let Elaborator {
        kernel,
        poisoned,
        mistakes,
        ..
    } = elaborator;
    Elaborated {
        kernel,
        poisoned,
        mistakes,
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Value(Value),
    Param(Param),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Yielding {
    Yes,
    No,
}

pub(super) struct Elaborator<'t> {
    pub(super) kernel: Kernel,
    region: Region,
    axes: HashMap<&'t str, Axis>,
    names: HashMap<&'t str, (Meaning, Span)>,
    /// The names each open nest defined.
    scopes: Vec<Vec<&'t str>>,
    /// Names of nests that ended, to explain where they went.
    left: HashMap<&'t str, Span>,
    poisoned: Vec<bool>,
    poison: Option<Value>,
    /// A limit was met; nothing more is made.
    full: bool,
    mistakes: Vec<Diagnostic>,
}

impl<'t> Elaborator<'t> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.mistakes.len() < MAX_MISTAKES {
            self.mistakes.push(diagnostic);
        } else if !self.full {
            let message = format!("more than {MAX_MISTAKES} mistakes; the rest is not shown");
            self.mistakes.push(
                Mistake::TooManyMistakes
                    .says(message)
                    .at(diagnostic.location),
            );
            self.full = true;
        }
    }

    /// A value about which everything was said.
    pub(super) fn poison(&mut self) -> Value {
        if let Some(value) = self.poison {
            return value;
        }
        let ty = TileType::scalar(ElementType::F32);
        let kind = OpKind::Const(Scalar::F32(0.0));
        let op = self
            .kernel
            .add_op(self.region, kind, vec![ty], diagnostics::Location::None);
        self.kernel.region_mut(self.region).ops.pop();
        let value = self.kernel.op(op).results[0];
        self.mark(value);
        self.poison = Some(value);
        value
    }

    fn mark(&mut self, value: Value) {
        if self.poisoned.len() <= value.index() {
            self.poisoned.resize(value.index() + 1, false);
        }
        self.poisoned[value.index()] = true;
    }

    pub(super) fn is_poisoned(&self, value: Value) -> bool {
        self.poisoned.get(value.index()) == Some(&true)
    }

    /// Appends an operation; its results' types are derived.
    fn push(&mut self, kind: OpKind, span: Span) -> Option<Op> {
        if self.kernel.ops().len() >= MAX_OPERATIONS {
            if !self.full {
                let message = format!("the kernel needs more than {MAX_OPERATIONS} operations");
                self.report(Mistake::TooManyOperations.says(message).at(span));
            }
            self.full = true;
            return None;
        }
        let (types, _) = infer(&self.kernel, &kind);
        let mut reported = kind
            .operands()
            .into_iter()
            .any(|value| self.is_poisoned(value));
        for region in kind.regions() {
            let yields = &self.kernel.region(region).yields;
            reported |= yields.iter().any(|&value| self.is_poisoned(value));
        }
        let op = self.kernel.add_op(self.region, kind, types, span.into());
        if reported {
            for result in self.kernel.op(op).results.clone() {
                self.mark(result);
            }
        }
        Some(op)
    }

    /// Appends an operation with one result.
    pub(super) fn make(&mut self, kind: OpKind, span: Span) -> Value {
        match self.push(kind, span) {
            Some(op) => self
                .kernel
                .op(op)
                .results
                .first()
                .copied()
                .unwrap_or_else(|| self.poison()),
            None => self.poison(),
        }
    }

    // Names.

    fn define(&mut self, name: Name<'t>, meaning: Meaning) {
        if let Some(&(_, first)) = self.names.get(name.text) {
            let diagnostic = Mistake::NameDefinedTwice
                .says(format!("`{}` is defined twice", name.text))
                .at(name.span)
                .with_label("defined again")
                .with_secondary(first, "first defined here")
                .with_help("give the second another name; names are not shadowed");
            self.report(diagnostic);
            return;
        }
        if let Meaning::Value(value) = meaning
            && self.kernel.value(value).name.is_none()
            && !self.is_poisoned(value)
        {
            self.kernel.name_value(value, name.text);
        }
        self.names.insert(name.text, (meaning, name.span));
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.text);
        }
    }

    fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn close_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some((_, span)) = self.names.remove(name) {
                self.left.insert(name, span);
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Span, what: &str) {
        let mut diagnostic = Mistake::UnknownName
            .says(format!("nothing visible here is called `{name}`"))
            .at(span)
            .with_label(format!("no such {what}"));
        let mut known: Vec<(&str, Span)> = self
            .names
            .iter()
            .map(|(&name, &(_, span))| (name, span))
            .collect();
        known.sort_by_key(|&(_, span)| span);
        if let Some(&place) = self.left.get(name) {
            diagnostic = diagnostic
                .with_secondary(place, "this one is visible in its own nest only")
                .with_help("`yield` it from the nest, or move the use into it");
        } else if let Some(close) = nearest(name, known.into_iter().map(|(name, _)| name)) {
            diagnostic = diagnostic.with_help(format!("did you mean `{close}`?"));
        } else if self.axes.contains_key(name) {
            diagnostic = diagnostic.with_help(format!("`{name}` is an axis: its size is `extent({name})`, its coordinates are `iota({name})`"));
        }
        self.report(diagnostic);
    }

    pub(super) fn axis(&mut self, name: Name<'t>) -> Option<Axis> {
        if let Some(&axis) = self.axes.get(name.text) {
            return Some(axis);
        }
        let mut diagnostic = Mistake::UnknownAxis
            .says(format!("no axis is called `{}`", name.text))
            .at(name.span);
        let known: Vec<String> = self
            .kernel
            .axes()
            .map(|axis| self.kernel.axis(axis).name.clone())
            .collect();
        diagnostic = match nearest(name.text, known.iter().map(String::as_str)) {
            Some(close) => diagnostic.with_help(format!("did you mean `{close}`?")),
            None => diagnostic.with_help(format!(
                "axes are declared by the dimensions of views, or in `where {} = 64`",
                name.text
            )),
        };
        self.report(diagnostic);
        None
    }

    // The head.

    fn head(&mut self, syntax: &KernelSyntax<'t>) {
        for param in &syntax.params {
            let kind = match &param.view {
                None => ParamKind::Scalar(param.element),
                Some(view) => ParamKind::View(self.view(param.element, view)),
            };
            let data = ParamData {
                name: param.name.text.to_owned(),
                kind,
                location: param.name.span.into(),
            };
            let key = self.kernel.add_param(data);
            // Two parameters of one name are the verifier's business.
            if !self.names.contains_key(param.name.text) {
                self.define(param.name, Meaning::Param(key));
            }
        }
        let mut listed: HashMap<&str, Span> = HashMap::new();
        for axis in &syntax.axes {
            let key = self.declare(axis.name);
            if let Some(first) = listed.insert(axis.name.text, axis.name.span) {
                let diagnostic = Mistake::AxisGivenTwice
                    .says(format!("`where` names axis `{}` twice", axis.name.text))
                    .at(axis.name.span)
                    .with_secondary(first, "first here");
                self.report(diagnostic);
            } else if let Some(extent) = axis.extent {
                self.kernel.set_extent(key, extent);
                self.kernel.axis_mut(key).location = axis.name.span.into();
            }
        }
    }

    fn declare(&mut self, name: Name<'t>) -> Axis {
        if let Some(&axis) = self.axes.get(name.text) {
            return axis;
        }
        let data = AxisData {
            name: name.text.to_owned(),
            extent: None,
            location: name.span.into(),
        };
        let axis = self.kernel.add_axis(data);
        self.axes.insert(name.text, axis);
        axis
    }

    fn view(&mut self, element: ElementType, view: &ViewSyntax<'t>) -> ViewType {
        let dims: Vec<Axis> = view.dims.iter().map(|&name| self.declare(name)).collect();
        let strides = match &view.strides {
            Some(list) => {
                let stride = |s: &Option<i64>| s.map_or(Stride::Any, Stride::Fixed);
                list.iter().map(stride).collect()
            }
            None => default_strides(dims.len()),
        };
        let wanted = element.compute_type();
        let fill = match &view.fill {
            None => Scalar::zero(element),
            Some(Expr {
                kind: ExprKind::Literal { text, negative },
                span,
            }) => {
                let hint = Some(wanted);
                self.literal(text, *negative, *span, hint)
                    .unwrap_or(Scalar::zero(element))
            }
            Some(other) => {
                if !matches!(other.kind, ExprKind::Wrong) {
                    let diagnostic = Mistake::Syntax
                        .says("the fill value is a literal")
                        .at(other.span);
                    self.report(diagnostic);
                }
                Scalar::zero(element)
            }
        };
        ViewType {
            element,
            dims,
            strides,
            fill,
            mutable: view.mutable,
        }
    }

    // Statements.

    /// The statements of a nest; what it yields.
    fn block(&mut self, block: &Block<'t>, yielding: Yielding) -> Vec<Value> {
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

    fn enter(&mut self) -> (Region, Region) {
        let region = self.kernel.add_region();
        let outer = std::mem::replace(&mut self.region, region);
        self.open_scope();
        (region, outer)
    }

    fn exit(&mut self, outer: Region) {
        self.close_scope();
        self.region = outer;
    }

    fn argument(&mut self, region: Region, name: Name<'t>, ty: TileType) -> Value {
        let value = self.kernel.add_arg(region, ty, None);
        self.define(name, Meaning::Value(value));
        value
    }

    fn coordinate(&mut self, region: Region, name: Name<'t>) {
        self.argument(region, name, TileType::scalar(ElementType::I32));
    }

    /// Defines the coordinates of a nest and gives its domain; `None` if an axis is unknown.
    fn domain(&mut self, region: Region, coordinates: &[Coordinate<'t>]) -> Option<Vec<Dim>> {
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

    // Accesses.

    fn view_param(&mut self, name: Name<'t>) -> Option<Param> {
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

    fn subscripts(
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

    // Expressions.

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
    fn values(&mut self, expr: &Expr<'t>) -> Vec<Value> {
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

    // Literals.

    /// Makes an unsuffixed float literal of another float type, as its surroundings ask.
    pub(super) fn adopt(&mut self, expr: &Expr<'t>, value: Value, element: ElementType) {
        let ExprKind::Literal { text, negative } = expr.kind else {
            return;
        };
        let Some(op) = self.kernel.defining_op(value) else {
            return;
        };
        if element != ElementType::F64 || !is_plain_float(text) || self.is_poisoned(value) {
            return;
        }
        if let Some(scalar @ Scalar::F64(_)) =
            self.literal(text, negative, expr.span, Some(element))
        {
            self.kernel.op_mut(op).kind = OpKind::Const(scalar);
            self.kernel.value_mut(value).ty = TileType::scalar(element);
        }
    }

    fn literal(
        &mut self,
        text: &str,
        negative: bool,
        span: Span,
        hint: Option<ElementType>,
    ) -> Option<Scalar> {
        let sign = if negative { "-" } else { "" };
        let wanted_float = if hint == Some(ElementType::F64) {
            ElementType::F64
        } else {
            ElementType::F32
        };
        let suffix = [ElementType::F32, ElementType::F64, ElementType::I32]
            .into_iter()
            .find(|element| text.len() > 3 && text.ends_with(element.name()));
        let (digits, element) = match (text, suffix) {
            ("true", _) => return Some(Scalar::Bool(true)),
            ("false", _) => return Some(Scalar::Bool(false)),
            // The sign of a NaN means nothing.
            ("nan", _) if wanted_float == ElementType::F64 => return Some(Scalar::F64(f64::NAN)),
            ("nan", _) => return Some(Scalar::F32(f32::NAN)),
            ("nan64", _) => return Some(Scalar::F64(f64::NAN)),
            ("inf", _) => ("inf", wanted_float),
            ("inf64", _) => ("inf", ElementType::F64),
            (_, Some(element)) => (&text[..text.len() - 3], element),
            (_, None) if is_plain_float(text) => (text, wanted_float),
            (_, None) => (text, ElementType::I32),
        };
        match Scalar::parse(&format!("{sign}{digits}"), element) {
            Ok(scalar) => Some(scalar),
            Err(error) => {
                let mut diagnostic = Mistake::BadNumber.says(error.to_string()).at(span);
                diagnostic = diagnostic.with_note("numbers are written `3`, `3i32`, `1.5`, `1e-5`, `2.0f64`; also `inf`, `nan`, `inf64`, `nan64`");
                self.report(diagnostic);
                None
            }
        }
    }

    // Calls.

    fn call(&mut self, name: Name<'t>, arguments: &[Argument<'t>], span: Span) -> Value {
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
    pub(super) fn contract(&mut self, expr: &Expr<'t>, span: Span) -> Value {
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

    /// Lets the literals among operands of one type adopt f64 where another operand has it.
    pub(super) fn adopt_all(&mut self, exprs: &[&Expr<'t>], values: &[Value]) {
        let is_f64 = |e: &Self| {
            values
                .iter()
                .any(|&v| e.kernel.ty(v).element == ElementType::F64)
        };
        if is_f64(self) {
            for (expr, &value) in exprs.iter().zip(values) {
                self.adopt(expr, value, ElementType::F64);
            }
        }
    }
}

fn is_plain_float(text: &str) -> bool {
    matches!(text, "inf" | "nan") || {
        let suffixed = ["f32", "f64", "i32"]
            .iter()
            .any(|suffix| text.ends_with(suffix));
        text.starts_with(|c: char| c.is_ascii_digit())
            && !suffixed
            && text.contains(['.', 'e', 'E'])
    }
}

fn body_start(span: Span, body: &Block<'_>) -> u32 {
    body.start.start.clamp(span.start, span.end)
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
