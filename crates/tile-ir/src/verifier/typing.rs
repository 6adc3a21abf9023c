//! What types an operation makes of what types: the table that parser, builder and verifier share.
//!
//! A parser must know the type of a subexpression before the kernel is whole, and a verifier must judge it. So there is
//! one function: it always answers with types (a guess, where the operands are wrong) and says what is wrong on the side.

use diagnostics::Diagnostic;
use numerics::ElementType;

use super::rule::Rule;
use crate::kernel::{Dim, Kernel, ParamKind, TileType};
use crate::keys::{Axis, Param, Region, Value};
use crate::ops::{BinaryOp, OpKind, ReduceForm, Subscript, UnaryOp};
use crate::{MAX_RANK, Policy};

/// The types of an operation's results, and what is wrong with its operands (diagnostics without a place).
///
/// Regions of the operation are complete: their yields say what `map` makes.
pub(crate) fn infer(kernel: &Kernel, kind: &OpKind) -> (Vec<TileType>, Vec<Diagnostic>) {
    let mut typing = Typing {
        kernel,
        found: Vec::new(),
    };
    let types = typing.results(kind);
    (types, typing.found)
}

struct Typing<'k> {
    kernel: &'k Kernel,
    found: Vec<Diagnostic>,
}

impl Typing<'_> {
    fn results(&mut self, kind: &OpKind) -> Vec<TileType> {
        match kind {
            OpKind::Const(scalar) => vec![TileType::scalar(scalar.element())],
            OpKind::Extent(_) => vec![TileType::scalar(ElementType::I32)],
            OpKind::ScalarParam(param) => vec![self.scalar_param(*param)],
            OpKind::Iota(axis) => {
                vec![TileType {
                    element: ElementType::I32,
                    dims: vec![Dim::Axis(*axis)],
                }]
            }
            OpKind::Unary(op, a) => vec![self.unary(*op, *a)],
            OpKind::Binary(op, a, b) => vec![self.binary(*op, *a, *b)],
            OpKind::Compare(op, a, b) => vec![self.compare(op.name(), *a, *b)],
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                vec![self.select(*condition, *then, *otherwise)]
            }
            OpKind::Fma(a, b, c) => vec![self.fma(*a, *b, *c)],
            OpKind::Cast(element, a) => vec![self.cast(*element, *a)],
            OpKind::Broadcast(a, dims) => vec![self.broadcast(*a, dims)],
            OpKind::Reshape(a, dims) => vec![self.reshape(*a, dims)],
            OpKind::Permute(a, order) => vec![self.permute(*a, order)],
            OpKind::Map { dims, body } => self.map(dims, *body),
            OpKind::Reduce {
                dims,
                policy,
                form,
                inits,
                body,
            } => self.reduce(dims, *policy, form, inits, *body),
            OpKind::Extract { tile, at } => vec![self.extract(*tile, at)],
            OpKind::For {
                lower,
                upper,
                inits,
                body,
            } => self.for_loop(*lower, *upper, inits, *body),
            OpKind::Parallel { axes, .. } => {
                let dims: Vec<Dim> = axes.iter().map(|&axis| Dim::Axis(axis)).collect();
                self.dims("the root domain", &dims);
                Vec::new()
            }
            OpKind::Load { view, at } => self.load(*view, at).into_iter().collect(),
            OpKind::Store { view, at, value } => {
                self.store(*view, at, *value);
                Vec::new()
            }
            OpKind::Stage | OpKind::Opaque { .. } => Vec::new(),
        }
    }

    fn say(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    fn ty(&self, value: Value) -> &TileType {
        self.kernel.ty(value)
    }

    fn name(&self, value: Value) -> String {
        self.kernel.type_name(self.kernel.ty(value))
    }

    fn scalar_param(&mut self, param: Param) -> TileType {
        let data = self.kernel.param(param);
        match &data.kind {
            ParamKind::Scalar(element) => TileType::scalar(element.compute_type()),
            ParamKind::View(view) => {
                let element = view.element.compute_type();
                let colons = vec![":"; view.dims.len()].join(", ");
                let message = format!("`{}` is a view, not a value", data.name);
                let help = format!("read it first: `load {}[{colons}]`", data.name);
                self.say(Rule::NotAScalar.says(message).with_help(help));
                TileType::scalar(element)
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, a: Value) -> TileType {
        let ty = self.ty(a).clone();
        if !op.accepts(ty.element) {
            let diagnostic = match op {
                UnaryOp::Math(function) => {
                    let message =
                        format!("`{function}` takes f32, and here it gets {}", self.name(a));
                    Rule::MathNeedsF32
                        .says(message)
                        .with_help(format!("convert the operand: `{function}(f32(x))`"))
                }
                UnaryOp::Neg => self.wrong_element("-", ty.element, |element| op.accepts(element)),
                UnaryOp::Not => self.wrong_element("!", ty.element, |element| op.accepts(element)),
                _ => self.wrong_element(op.name(), ty.element, |element| op.accepts(element)),
            };
            self.say(diagnostic);
        }
        ty
    }

    fn wrong_element(
        &self,
        name: &str,
        element: ElementType,
        accepts: impl Fn(ElementType) -> bool,
    ) -> Diagnostic {
        let taken: Vec<&str> = ElementType::ALL
            .into_iter()
            .filter(|&e| accepts(e))
            .map(ElementType::name)
            .collect();
        let message = format!(
            "`{name}` is not defined for {element}; it takes {}",
            list(&taken)
        );
        Rule::ElementType.says(message)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> TileType {
        let ty = self.common(op.name(), &[a, b]);
        if !op.accepts(ty.element) {
            let mut diagnostic = self.wrong_element(op.name(), ty.element, |e| op.accepts(e));
            if op == BinaryOp::Rem && ty.element.is_float() {
                diagnostic = diagnostic.with_help("write `x - trunc(x / y) * y`");
            }
            self.say(diagnostic);
        }
        ty
    }

    fn compare(&mut self, name: &str, a: Value, b: Value) -> TileType {
        let ty = self.common(name, &[a, b]);
        if ty.element == ElementType::Bool {
            let diagnostic = self
                .wrong_element(name, ty.element, |e| {
                    e != ElementType::Bool && !e.storage_only()
                })
                .with_help("combine truth values with `&`, `|`, `^` and `!`");
            self.say(diagnostic);
        }
        TileType {
            element: ElementType::Bool,
            dims: ty.dims,
        }
    }

    fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> TileType {
        let values = self.common("select", &[then, otherwise]);
        let test = self.ty(condition).clone();
        if test.element != ElementType::Bool {
            let message = format!(
                "the condition of `select` is {}, not bool",
                self.name(condition)
            );
            let help = "compare it: `select(x != 0.0, a, b)`, or convert it: `bool(x)`";
            self.say(Rule::ConditionType.says(message).with_help(help));
        }
        let dims = if values.is_scalar() {
            test.dims.clone()
        } else {
            values.dims.clone()
        };
        if !test.is_scalar() && test.dims != dims {
            let message = format!(
                "the condition of `select` is {} and its values are {}",
                self.name(condition),
                self.kernel.type_name(&values)
            );
            self.say(Rule::OperandMismatch.says(message).with_help(MATCH_DIMS));
        }
        TileType {
            element: values.element,
            dims,
        }
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> TileType {
        let ty = self.common("fma", &[a, b, c]);
        let accepts = |e| matches!(e, ElementType::F32 | ElementType::F64);
        if !accepts(ty.element) {
            let diagnostic = self.wrong_element("fma", ty.element, accepts);
            self.say(diagnostic.with_help("write `a * b + c`"));
        }
        ty
    }

    /// The type elementwise operands share: one element type, the dimensions of those that are no scalars.
    fn common(&mut self, name: &str, operands: &[Value]) -> TileType {
        let element = self.ty(operands[0]).element;
        let tiles = |kernel: &Kernel| {
            operands
                .iter()
                .copied()
                .find(|&value| !kernel.ty(value).is_scalar())
        };
        let dims = tiles(self.kernel).map_or(Vec::new(), |tile| self.ty(tile).dims.clone());
        let agree = |ty: &TileType| ty.element == element && (ty.is_scalar() || ty.dims == dims);
        if !operands.iter().all(|&value| agree(self.ty(value))) {
            let types: Vec<String> = operands.iter().map(|&value| self.name(value)).collect();
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            let same_element = operands
                .iter()
                .all(|&value| self.ty(value).element == element);
            let message = format!("the operands of `{name}` are {}", list(&types));
            let mut diagnostic = Rule::OperandMismatch.says(message);
            diagnostic = if same_element {
                diagnostic.with_help(MATCH_DIMS)
            } else {
                diagnostic.with_help(self.element_help(operands))
            };
            for &operand in operands {
                if let Some(op) = self.kernel.defining_op(operand) {
                    let label = format!("this is {}", self.name(operand));
                    diagnostic = diagnostic.with_secondary(self.kernel.op(op).location, label);
                }
            }
            self.say(diagnostic);
        }
        TileType { element, dims }
    }

    fn element_help(&self, operands: &[Value]) -> String {
        let float = operands
            .iter()
            .map(|&v| self.ty(v).element)
            .find(|e| e.is_float());
        let integer_literal = operands.iter().find_map(|&v| {
            match self
                .kernel
                .defining_op(v)
                .map(|op| &self.kernel.op(op).kind)
            {
                Some(OpKind::Const(numerics::Scalar::I32(n))) => Some(*n),
                _ => None,
            }
        });
        match (float, integer_literal) {
            (Some(ElementType::F64), Some(n)) => {
                format!("an integer literal is i32; write `{n}.0f64`")
            }
            (Some(_), Some(n)) => format!("an integer literal is i32; write `{n}.0`"),
            (Some(element), None) => format!("convert one of them, such as `{element}(x)`"),
            (None, _) => "convert one of them, such as `i32(x)` or `bool(x)`".to_owned(),
        }
    }

    fn cast(&mut self, element: ElementType, a: Value) -> TileType {
        if element.storage_only() {
            let message = format!("{element} lives in views only; no value has that type");
            let help = "store an f32 value to a view of that type: the store rounds";
            self.say(Rule::StorageOnly.says(message).with_help(help));
        }
        TileType {
            element: element.compute_type(),
            dims: self.ty(a).dims.clone(),
        }
    }

    /// Rank and uniqueness of axes.
    fn dims(&mut self, what: &str, dims: &[Dim]) {
        if dims.len() > MAX_RANK {
            let message = format!(
                "{what} has {} dimensions; the limit is {MAX_RANK}",
                dims.len()
            );
            self.say(Rule::RankLimit.says(message));
            return;
        }
        for (index, dim) in dims.iter().enumerate() {
            if let Dim::Axis(axis) = *dim
                && dims[..index].contains(dim)
            {
                let name = &self.kernel.axis(axis).name;
                let message = format!("axis `{name}` occurs twice in {what}");
                let help = format!(
                    "declare a second axis of the same extent in `where`, such as `{name}2`, and use it for one of the two"
                );
                self.say(Rule::RepeatedAxis.says(message).with_help(help));
                return;
            }
        }
    }

    fn broadcast(&mut self, a: Value, dims: &[Dim]) -> TileType {
        self.dims("the broadcast tile", dims);
        let ty = self.ty(a).clone();
        let mut rest = dims.iter();
        if !ty.dims.iter().all(|dim| rest.any(|other| other == dim)) {
            let message = format!(
                "{} can't be broadcast to [{}]: its dimensions don't stand there in order",
                self.name(a),
                self.kernel.dim_names(dims)
            );
            let help = "reorder it first with `permute`, or drop unit dimensions with `reshape`";
            self.say(Rule::BroadcastDims.says(message).with_help(help));
        }
        TileType {
            element: ty.element,
            dims: dims.to_vec(),
        }
    }

    fn reshape(&mut self, a: Value, dims: &[Dim]) -> TileType {
        self.dims("the reshaped tile", dims);
        let ty = self.ty(a).clone();
        let axes = |dims: &[Dim]| -> Vec<Axis> {
            let axis = |dim: &Dim| match *dim {
                Dim::Axis(axis) => Some(axis),
                Dim::Unit => None,
            };
            dims.iter().filter_map(axis).collect()
        };
        if axes(&ty.dims) != axes(dims) {
            let message = format!(
                "{} can't be reshaped to [{}]: only unit dimensions may come and go",
                self.name(a),
                self.kernel.dim_names(dims)
            );
            let help =
                "use `broadcast` to add an axis, `permute` to reorder, a reduction to drop one";
            self.say(Rule::ReshapeDims.says(message).with_help(help));
        }
        TileType {
            element: ty.element,
            dims: dims.to_vec(),
        }
    }

    fn permute(&mut self, a: Value, order: &[u32]) -> TileType {
        let ty = self.ty(a).clone();
        let mut seen = vec![false; ty.dims.len()];
        let fresh = |&index: &u32| {
            seen.get_mut(index as usize)
                .is_some_and(|seen| !std::mem::replace(seen, true))
        };
        if order.len() != ty.dims.len() || !order.iter().all(fresh) {
            let message = format!(
                "`permute` of {} must name each of its {} dimensions once",
                self.name(a),
                ty.dims.len()
            );
            self.say(Rule::PermuteOrder.says(message));
            return ty;
        }
        let dims = order.iter().map(|&index| ty.dims[index as usize]).collect();
        TileType {
            element: ty.element,
            dims,
        }
    }

    fn map(&mut self, dims: &[Dim], body: Region) -> Vec<TileType> {
        self.domain("map", dims);
        let yields = &self.kernel.region(body).yields;
        if yields.is_empty() {
            let diagnostic = Rule::YieldCount.says("the body of `map` yields nothing");
            self.say(diagnostic.with_help("end it with `yield` and the element at this point"));
        }
        let mut results = Vec::with_capacity(yields.len());
        for &value in yields {
            self.yields_scalar("map", value);
            results.push(TileType {
                element: self.ty(value).element,
                dims: dims.to_vec(),
            });
        }
        results
    }

    fn yields_scalar(&mut self, name: &str, value: Value) {
        if !self.ty(value).is_scalar() {
            let message = format!(
                "the body of `{name}` runs at one point and yields scalars; here it yields {}",
                self.name(value)
            );
            let help = "take the element at the nest's coordinates, such as `xs[c]`";
            self.say(Rule::YieldType.says(message).with_help(help));
        }
    }

    fn domain(&mut self, name: &str, dims: &[Dim]) {
        if dims.is_empty() {
            let message = format!("`{name}` has no dimension to run over");
            let help = format!("name at least one: `{name} c: col`; a single point is `u: 1`");
            self.say(Rule::EmptyDomain.says(message).with_help(help));
        }
        self.dims(&format!("the domain of `{name}`"), dims);
    }

    fn reduce(
        &mut self,
        dims: &[Dim],
        policy: Policy,
        form: &ReduceForm,
        inits: &[Value],
        body: Region,
    ) -> Vec<TileType> {
        self.domain("reduce", dims);
        let results: Vec<TileType> = inits
            .iter()
            .map(|&init| TileType::scalar(self.ty(init).element))
            .collect();
        for &init in inits {
            if !self.ty(init).is_scalar() {
                let message = format!(
                    "a reduction carries scalars; this initial value is {}",
                    self.name(init)
                );
                let help = "use `for` with a carry to combine whole tiles";
                self.say(Rule::CarryType.says(message).with_help(help));
            }
        }
        if let ReduceForm::Closed(ops) = form {
            for (op, &init) in ops.iter().zip(inits) {
                let element = self.ty(init).element;
                if !op.accepts(element) {
                    let message = format!("`reduce ... {}` does not combine {element}", op.name());
                    let help = "count with i32: `i32(condition)` is 0 or 1, and `max` or `min` of it says whether any or all hold";
                    self.say(Rule::ReduceType.says(message).with_help(help));
                }
            }
        }
        if policy != Policy::Fold && *form == ReduceForm::Open {
            let diagnostic = self.open_form(policy, body);
            self.say(diagnostic);
        }
        self.yields("reduce", body, &results);
        results
    }

    fn open_form(&self, policy: Policy, body: Region) -> Diagnostic {
        let policy = policy.name();
        let mut diagnostic = Rule::NeedsClosedForm
            .says(format!("`{policy}` may combine in any order, which this body does not allow"))
            .with_label("each carry must be updated by exactly one `+`, `*`, `min` or `max`")
            .with_help(format!(
                "write `reduce ... {policy} add from 0.0 {{ yield contribution }}`, or use `fold` for a strict order"
            ));
        let yields = &self.kernel.region(body).yields;
        for &value in yields {
            if let Some(op) = self.kernel.defining_op(value) {
                diagnostic =
                    diagnostic.with_secondary(self.kernel.op(op).location, "this is the update");
            }
        }
        diagnostic
    }

    /// Whether a body yields exactly these types.
    fn yields(&mut self, name: &str, body: Region, types: &[TileType]) {
        let yields = &self.kernel.region(body).yields;
        if yields.len() != types.len() {
            let message = format!(
                "the body of `{name}` yields {}, and it carries {}",
                count(yields.len(), "value"),
                types.len()
            );
            let help = format!(
                "end the body with one `yield` of {}",
                count(types.len(), "value")
            );
            self.say(Rule::YieldCount.says(message).with_help(help));
            return;
        }
        for (&value, ty) in yields.iter().zip(types) {
            if self.ty(value) != ty {
                let message = format!(
                    "the body of `{name}` yields {} for a carry of type {}",
                    self.name(value),
                    self.kernel.type_name(ty)
                );
                let mut diagnostic = Rule::YieldType.says(message);
                if let Some(op) = self.kernel.defining_op(value) {
                    let label = format!("this is {}", self.name(value));
                    diagnostic = diagnostic.with_secondary(self.kernel.op(op).location, label);
                }
                self.say(diagnostic);
            }
        }
    }

    fn coordinate(&mut self, what: &str, value: Value) {
        let ty = self.ty(value);
        if *ty != TileType::scalar(ElementType::I32) {
            let message = format!("{what} is an i32 scalar; here it is {}", self.name(value));
            let mut diagnostic = Rule::CoordinateType.says(message);
            if ty.is_scalar() {
                diagnostic = diagnostic.with_help("convert it: `i32(x)`");
            } else {
                diagnostic = diagnostic.with_help(
                    "index point by point in a `map`: `map c: col { yield table[index[c]] }`",
                );
            }
            self.say(diagnostic);
        }
    }

    fn extract(&mut self, tile: Value, at: &[Value]) -> TileType {
        let ty = self.ty(tile).clone();
        if ty.is_scalar() {
            self.say(Rule::SubscriptCount.says("a scalar has no elements to index"));
        } else if at.len() != ty.dims.len() {
            let message = format!(
                "{} has {}, and {} given",
                self.name(tile),
                count(ty.dims.len(), "dimension"),
                are(at.len(), "coordinate")
            );
            self.say(Rule::SubscriptCount.says(message));
        }
        for &value in at {
            self.coordinate("a coordinate", value);
        }
        TileType::scalar(ty.element)
    }

    fn for_loop(
        &mut self,
        lower: Value,
        upper: Value,
        inits: &[Value],
        body: Region,
    ) -> Vec<TileType> {
        self.coordinate("the lower bound of `for`", lower);
        self.coordinate("the upper bound of `for`", upper);
        let types: Vec<TileType> = inits.iter().map(|&init| self.ty(init).clone()).collect();
        self.yields("for", body, &types);
        types
    }

    /// The axes of the windows, in order, after checking the subscripts against the view; `None` for a scalar parameter.
    fn access(&mut self, verb: &str, param: Param, at: &[Subscript]) -> Option<Vec<Dim>> {
        let kernel = self.kernel;
        let data = kernel.param(param);
        let Some(view) = kernel.view(param) else {
            let message = format!("`{verb}` needs a view, and `{}` is a scalar", data.name);
            let help = format!("use `{}` as a value", data.name);
            let diagnostic = Rule::NotAView
                .says(message)
                .with_secondary(data.location, "declared here");
            self.say(if verb == "load" {
                diagnostic.with_help(help)
            } else {
                diagnostic
            });
            return None;
        };
        if at.len() != view.dims.len() {
            let dims: Vec<Dim> = view.dims.iter().map(|&axis| Dim::Axis(axis)).collect();
            let message = format!(
                "view `{}` has {} [{}], and {} given",
                data.name,
                count(dims.len(), "dimension"),
                kernel.dim_names(&dims),
                are(at.len(), "subscript")
            );
            let help = "a `:` takes a whole dimension";
            let diagnostic = Rule::SubscriptCount.says(message).with_help(help);
            self.say(diagnostic.with_secondary(data.location, "declared here"));
        }
        let mut dims = Vec::new();
        for subscript in at {
            match *subscript {
                Subscript::At(value) => self.coordinate("a subscript", value),
                Subscript::Window { origin, axis, step } => {
                    if let Some(origin) = origin {
                        self.coordinate("the origin of a window", origin);
                    }
                    if step == 0 {
                        self.say(Rule::StepZero.says("the step of a window is at least 1"));
                    }
                    dims.push(Dim::Axis(axis));
                }
            }
        }
        self.dims("the accessed tile", &dims);
        Some(dims)
    }

    fn load(&mut self, param: Param, at: &[Subscript]) -> Option<TileType> {
        let element = match &self.kernel.param(param).kind {
            ParamKind::View(view) => view.element.compute_type(),
            ParamKind::Scalar(element) => element.compute_type(),
        };
        let dims = self.access("load", param, at).unwrap_or_default();
        Some(TileType { element, dims })
    }

    fn store(&mut self, param: Param, at: &[Subscript], value: Value) {
        let Some(dims) = self.access("store", param, at) else {
            return;
        };
        let kernel = self.kernel;
        let Some(view) = kernel.view(param) else {
            return;
        };
        let data = kernel.param(param);
        if !view.mutable {
            let message = format!("view `{}` is read-only", data.name);
            let help = format!("declare it `{}: mut view ...`", data.name);
            let diagnostic = Rule::ReadOnlyView.says(message).with_help(help);
            self.say(diagnostic.with_secondary(data.location, "declared here"));
        }
        let wanted = TileType {
            element: view.element.compute_type(),
            dims,
        };
        let ty = kernel.ty(value);
        if ty.element != wanted.element || !(ty.is_scalar() || ty.dims == wanted.dims) {
            let message = format!(
                "this store to `{}` takes {} (or a scalar), and the value is {}",
                data.name,
                kernel.type_name(&wanted),
                kernel.type_name(ty)
            );
            let help = if ty.element != wanted.element {
                format!("convert it: `{}(x)`", wanted.element)
            } else {
                "windows give the tile its dimensions, in order: use `reshape`, `permute` or `broadcast` on the tile, or other subscripts".to_owned()
            };
            self.say(Rule::StoreType.says(message).with_help(help));
        }
    }
}

const MATCH_DIMS: &str = "tiles of one operation have the same dimensions; use `broadcast(x, [..])`, `reshape(x, [..])` or `permute(x, [..])`";

/// `a, b and c`.
fn list(items: &[&str]) -> String {
    match items {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 value`, `3 values`.
fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `1 value is`, `3 values are`.
fn are(n: usize, noun: &str) -> String {
    format!("{} {}", count(n, noun), if n == 1 { "is" } else { "are" })
}
