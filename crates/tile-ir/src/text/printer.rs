//! A kernel as text, one operation a line.

use std::fmt::Write;

use hashbrown::HashMap;
use numerics::Scalar;

use super::token::is_name;
use crate::kernel::{Dim, Kernel, ParamKind, Stride, ViewType, default_strides};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{OpKind, ReduceForm, Subscript, UnaryOp};

/// The text of a kernel that was verified, parsed or built. (A kernel made row by row may hold keys without rows, on which
/// this panics as every look-up does: verify it first.)
///
/// Values keep their names, with a number where two would be confused; a value without a name is `v` and its number.
pub fn print(kernel: &Kernel) -> String {
    let mut printer = Printer {
        kernel,
        out: String::new(),
        names: vec![String::new(); kernel.values().len()],
        taken: HashMap::new(),
        scopes: vec![Vec::new()],
        depth: 0,
    };
    printer.kernel();
    printer.out
}

/// A literal of the text format that reads back to the same bits, any NaN as the quiet one.
pub(crate) fn literal(scalar: Scalar) -> String {
    match scalar {
        Scalar::F64(value) if value.is_nan() => "nan64".to_owned(),
        Scalar::F64(value) if value.is_infinite() => format!("{value}64"),
        Scalar::F64(_) => format!("{scalar}f64"),
        Scalar::F32(_) | Scalar::I32(_) | Scalar::Bool(_) => scalar.to_string(),
    }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    out: String,
    /// By value.
    names: Vec<String>,
    /// Names visible now.
    taken: HashMap<String, ()>,
    /// The names each open region defined.
    scopes: Vec<Vec<String>>,
    depth: usize,
}

impl Printer<'_> {
    fn kernel(&mut self) {
        let kernel = self.kernel;
        let params: Vec<String> = kernel.params().map(|param| self.param(param)).collect();
        for param in kernel.params() {
            self.take(kernel.param(param).name.clone());
        }
        let _ = write!(self.out, "kernel {}({})", kernel.name, params.join(", "));
        let mut in_views = vec![false; kernel.axes().len()];
        for view in kernel.params().filter_map(|param| kernel.view(param)) {
            for axis in &view.dims {
                in_views[axis.index()] = true;
            }
        }
        let mut axes = Vec::new();
        for axis in kernel.axes() {
            let data = kernel.axis(axis);
            match data.extent {
                Some(extent) => axes.push(format!("{} = {extent}", data.name)),
                None if !in_views[axis.index()] => axes.push(data.name.clone()),
                None => {}
            }
        }
        if axes.is_empty() {
            self.out.push_str(" {\n");
        } else {
            let _ = writeln!(self.out, "\nwhere {} {{", axes.join(", "));
        }
        self.region(kernel.body());
        self.out.push_str("}\n");
    }

    fn param(&self, param: Param) -> String {
        let data = self.kernel.param(param);
        match &data.kind {
            ParamKind::Scalar(element) => format!("{}: {element}", data.name),
            ParamKind::View(view) => format!("{}: {}", data.name, self.view(view)),
        }
    }

    fn view(&self, view: &ViewType) -> String {
        let mutable = if view.mutable { "mut " } else { "" };
        let dims: Vec<&str> = view.dims.iter().map(|&axis| self.axis(axis)).collect();
        let mut text = format!("{mutable}view {}[{}]", view.element, dims.join(", "));
        if view.strides != default_strides(view.dims.len()) {
            let stride = |stride: &Stride| match stride {
                Stride::Any => "*".to_owned(),
                Stride::Fixed(distance) => distance.to_string(),
            };
            let strides: Vec<String> = view.strides.iter().map(stride).collect();
            let _ = write!(text, " strides [{}]", strides.join(", "));
        }
        if view.fill != Scalar::zero(view.element) {
            let _ = write!(text, " fill {}", literal(view.fill));
        }
        text
    }

    fn axis(&self, axis: Axis) -> &str {
        &self.kernel.axis(axis).name
    }

    // Names.

    fn take(&mut self, name: String) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.clone());
        }
        self.taken.insert(name, ());
    }

    fn define(&mut self, value: Value) {
        let given = self.kernel.value(value).name.as_deref();
        // `v` and a number belongs to values without a name.
        let numbered = |name: &str| {
            name.strip_prefix('v')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let base = match given {
            Some(name) if is_name(name) && !numbered(name) => name.to_owned(),
            _ => value.to_string(),
        };
        let mut name = base.clone();
        let mut number = 2;
        while self.taken.contains_key(&name) {
            // The suffix may not push a long name over the limit.
            let stem = &base[..base.len().min(crate::MAX_NAME - 12)];
            name = format!("{stem}_{number}");
            number += 1;
        }
        self.take(name.clone());
        self.names[value.index()] = name;
    }

    fn name(&self, value: Value) -> &str {
        &self.names[value.index()]
    }

    fn list(&self, values: &[Value]) -> String {
        values
            .iter()
            .map(|&value| self.name(value))
            .collect::<Vec<_>>()
            .join(", ")
    }

    // Operations.

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    fn region(&mut self, region: Region) {
        let kernel = self.kernel;
        self.depth += 1;
        for &op in &kernel.region(region).ops {
            self.operation(op);
        }
        let yields = &kernel.region(region).yields;
        if !yields.is_empty() {
            self.indent();
            let list = self.list(yields);
            let _ = writeln!(self.out, "yield {list}");
        }
        self.depth -= 1;
    }

    fn operation(&mut self, op: Op) {
        let kernel = self.kernel;
        let data = kernel.op(op);
        self.indent();
        // What a nest defines is visible inside it only, and its results only after it.
        let text = match data.kind.regions().first() {
            None => self.plain(&data.kind),
            Some(&body) => {
                self.scopes.push(Vec::new());
                for &arg in &kernel.region(body).args {
                    self.define(arg);
                }
                self.nest_head(&data.kind, body)
            }
        };
        if data.results.is_empty() {
            self.out.push_str(&text);
        } else {
            let hole = self.out.len();
            self.out.push_str(&text);
            self.finish_nest(&data.kind);
            for &result in &data.results {
                self.define(result);
            }
            let head = format!("let {} = ", self.list(&data.results));
            self.out.insert_str(hole, &head);
            self.out.push('\n');
            return;
        }
        self.finish_nest(&data.kind);
        self.out.push('\n');
    }

    fn finish_nest(&mut self, kind: &OpKind) {
        if let Some(&body) = kind.regions().first() {
            self.out.push_str(" {\n");
            self.region(body);
            self.indent();
            self.out.push('}');
            for name in self.scopes.pop().unwrap_or_default() {
                self.taken.remove(&name);
            }
        }
    }

    fn coordinates(&self, dims: &[Dim], body: Region) -> String {
        let args = &self.kernel.region(body).args;
        let one = |(&dim, &arg): (&Dim, &Value)| match dim {
            Dim::Axis(axis) => format!("{}: {}", self.name(arg), self.axis(axis)),
            Dim::Unit => format!("{}: 1", self.name(arg)),
        };
        dims.iter()
            .zip(args)
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn carries(&self, inits: &[Value], args: &[Value]) -> String {
        let one =
            |(&arg, &init): (&Value, &Value)| format!("{} = {}", self.name(arg), self.name(init));
        args.iter()
            .zip(inits)
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn nest_head(&self, kind: &OpKind, body: Region) -> String {
        let args = &self.kernel.region(body).args;
        match kind {
            OpKind::Map { dims, .. } => format!("map {}", self.coordinates(dims, body)),
            OpKind::Parallel { axes, .. } => {
                let dims: Vec<Dim> = axes.iter().map(|&axis| Dim::Axis(axis)).collect();
                format!("parallel {}", self.coordinates(&dims, body))
                    .trim_end()
                    .to_owned()
            }
            OpKind::Reduce {
                dims,
                policy,
                form,
                inits,
                ..
            } => {
                let carried = match form {
                    ReduceForm::Open => {
                        format!(
                            "carry ({})",
                            self.carries(inits, &args[dims.len().min(args.len())..])
                        )
                    }
                    ReduceForm::Closed(ops) => {
                        let one = |(op, &init): (&crate::ReduceOp, &Value)| {
                            format!("{} from {}", op.name(), self.name(init))
                        };
                        let list: Vec<String> = ops.iter().zip(inits).map(one).collect();
                        match &list[..] {
                            [one] => one.clone(),
                            _ => format!("({})", list.join(", ")),
                        }
                    }
                };
                format!(
                    "reduce {} {} {carried}",
                    self.coordinates(dims, body),
                    policy.name()
                )
            }
            OpKind::For {
                lower,
                upper,
                inits,
                ..
            } => {
                let variable = args.first().map_or("_", |&arg| self.name(arg));
                let mut text = format!(
                    "for {variable} in {} .. {}",
                    self.name(*lower),
                    self.name(*upper)
                );
                if !inits.is_empty() {
                    let _ = write!(
                        text,
                        " carry ({})",
                        self.carries(inits, &args[1.min(args.len())..])
                    );
                }
                text
            }
            _ => self.plain(kind),
        }
    }

    fn subscripts(&self, view: Param, at: &[Subscript]) -> String {
        let dims = self.kernel.view(view).map_or(&[][..], |view| &view.dims);
        let one = |(index, subscript): (usize, &Subscript)| match *subscript {
            Subscript::At(value) => self.name(value).to_owned(),
            Subscript::Window { origin, axis, step } => {
                if origin.is_none() && step == 1 && dims.get(index) == Some(&axis) {
                    return ":".to_owned();
                }
                let origin = origin.map_or(String::new(), |value| format!("{} ", self.name(value)));
                let step = if step == 1 {
                    String::new()
                } else {
                    format!(" : {step}")
                };
                format!("{origin}: {}{step}", self.axis(axis))
            }
        };
        at.iter()
            .enumerate()
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn plain(&self, kind: &OpKind) -> String {
        match kind {
            OpKind::Const(scalar) => literal(*scalar),
            OpKind::Extent(axis) => format!("extent({})", self.axis(*axis)),
            OpKind::ScalarParam(param) => self.kernel.param(*param).name.clone(),
            OpKind::Iota(axis) => format!("iota({})", self.axis(*axis)),
            OpKind::Unary(UnaryOp::Neg, a) => format!("-{}", self.name(*a)),
            OpKind::Unary(UnaryOp::Not, a) => format!("!{}", self.name(*a)),
            OpKind::Unary(op, a) => format!("{}({})", op.name(), self.name(*a)),
            OpKind::Binary(op, a, b) if op.is_infix() => {
                format!("{} {} {}", self.name(*a), op.name(), self.name(*b))
            }
            OpKind::Binary(op, a, b) => {
                format!("{}({}, {})", op.name(), self.name(*a), self.name(*b))
            }
            OpKind::Compare(op, a, b) => {
                format!("{} {} {}", self.name(*a), op.name(), self.name(*b))
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                format!("select({})", self.list(&[*condition, *then, *otherwise]))
            }
            OpKind::Fma(a, b, c) => format!("fma({})", self.list(&[*a, *b, *c])),
            OpKind::Cast(element, a) => format!("{element}({})", self.name(*a)),
            OpKind::Broadcast(a, dims) => {
                format!(
                    "broadcast({}, [{}])",
                    self.name(*a),
                    self.kernel.dim_names(dims)
                )
            }
            OpKind::Reshape(a, dims) => {
                format!(
                    "reshape({}, [{}])",
                    self.name(*a),
                    self.kernel.dim_names(dims)
                )
            }
            OpKind::Permute(a, order) => {
                format!("permute({}, [{}])", self.name(*a), self.order(*a, order))
            }
            OpKind::Extract { tile, at } => format!("{}[{}]", self.name(*tile), self.list(at)),
            OpKind::Load { view, at } => {
                format!(
                    "load {}[{}]",
                    self.kernel.param(*view).name,
                    self.subscripts(*view, at)
                )
            }
            OpKind::Store { view, at, value } => {
                let name = &self.kernel.param(*view).name;
                format!(
                    "store {name}[{}] = {}",
                    self.subscripts(*view, at),
                    self.name(*value)
                )
            }
            OpKind::Stage => "stage".to_owned(),
            OpKind::Opaque { id } => format!("opaque {id}"),
            OpKind::Map { .. }
            | OpKind::Reduce { .. }
            | OpKind::For { .. }
            | OpKind::Parallel { .. } => String::new(),
        }
    }

    /// Dimensions by name; by position where several unit dimensions have the same one.
    fn order(&self, a: Value, order: &[u32]) -> String {
        let dims = &self.kernel.ty(a).dims;
        let units = dims.iter().filter(|&&dim| dim == Dim::Unit).count();
        let by_name = units <= 1 && order.iter().all(|&index| (index as usize) < dims.len());
        let one = |&index: &u32| {
            if by_name {
                self.kernel.dim_names(&dims[index as usize..][..1])
            } else {
                format!("#{index}")
            }
        };
        order.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
