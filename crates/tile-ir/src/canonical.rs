//! Canonical numbering: the rows of a kernel in the order of its text.
//!
//! A text has no keys, so what it says can only be numbered by its order. Two kernels that say the same must be equal, so
//! everything verified is numbered the same way: axes by first mention in the views (the rest as they stood), and
//! operations, values and regions in text order, an operation before the contents of its regions, its results before the
//! arguments of its regions. Rows that nothing reaches are dropped. A NaN constant becomes the quiet NaN without payload,
//! for that is what its text says. A kernel that is already canonical keeps every key.

use std::collections::BTreeMap;

use numerics::Scalar;

use crate::kernel::{Definition, Kernel, ParamKind, ViewType};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{OpKind, Rekey};

/// The kernel in canonical numbering. The tables must be sound (regions owned once, no cycles): the verifier sees to that.
pub(crate) fn canonical(kernel: Kernel) -> Kernel {
    if is_canonical(&kernel) {
        return kernel;
    }
    let mut to = Kernel::new(kernel.name.clone());
    let mut keys = NewKeys {
        axes: vec![None; kernel.axes().len()],
        values: vec![None; kernel.values().len()],
        regions: BTreeMap::from([(kernel.body(), to.body())]),
    };
    for axis in axis_order(&kernel) {
        keys.axes[axis.index()] = Some(to.add_axis(kernel.axis(axis).clone()));
    }
    for param in kernel.params() {
        let mut data = kernel.param(param).clone();
        if let ParamKind::View(view) = &mut data.kind {
            for axis in &mut view.dims {
                *axis = keys.axis(*axis);
            }
            view.fill = quiet(view.fill);
        }
        to.add_param(data);
    }
    copy_region(&kernel, kernel.body(), &mut to, &mut keys);
    to
}

fn copy_region(from: &Kernel, region: Region, to: &mut Kernel, keys: &mut NewKeys) {
    let new_region = keys.region(region);
    let name = |to: &mut Kernel, old: Value, new: Value| {
        if let Some(name) = &from.value(old).name {
            to.name_value(new, name.clone());
        }
    };
    for &arg in &from.region(region).args {
        let new = to.add_arg(new_region, keys.ty(from, arg), None);
        name(to, arg, new);
        keys.values[arg.index()] = Some(new);
    }
    for &op in &from.region(region).ops {
        let data = from.op(op);
        for inner in data.kind.regions() {
            keys.regions.insert(inner, to.add_region());
        }
        let kind = match data.kind.with_keys(keys) {
            OpKind::Const(scalar) => OpKind::Const(quiet(scalar)),
            other => other,
        };
        let types = data
            .results
            .iter()
            .map(|&result| keys.ty(from, result))
            .collect();
        let new_op = to.add_op(new_region, kind, types, data.location);
        for (index, &old) in data.results.iter().enumerate() {
            let new = to.op(new_op).results[index];
            name(to, old, new);
            keys.values[old.index()] = Some(new);
        }
        for inner in data.kind.regions() {
            copy_region(from, inner, to, keys);
        }
    }
    let yields = from
        .region(region)
        .yields
        .iter()
        .map(|&value| keys.value(value))
        .collect();
    to.set_yields(new_region, yields);
}

struct NewKeys {
    axes: Vec<Option<Axis>>,
    values: Vec<Option<Value>>,
    regions: BTreeMap<Region, Region>,
}

impl NewKeys {
    fn ty(&mut self, from: &Kernel, value: Value) -> crate::TileType {
        let mut ty = from.ty(value).clone();
        for dim in &mut ty.dims {
            if let crate::Dim::Axis(axis) = dim {
                *axis = self.axis(*axis);
            }
        }
        ty
    }
}

impl Rekey for NewKeys {
    fn axis(&mut self, axis: Axis) -> Axis {
        self.axes[axis.index()].expect("broken-tables: every axis has a new key before it is used")
    }

    fn param(&mut self, param: Param) -> Param {
        param
    }

    fn value(&mut self, value: Value) -> Value {
        self.values[value.index()].expect("scope: a value is defined before it is used")
    }

    fn region(&mut self, region: Region) -> Region {
        self.regions[&region]
    }
}

/// Axes of the views in order of first mention, then the others.
fn axis_order(kernel: &Kernel) -> Vec<Axis> {
    let mut order = Vec::with_capacity(kernel.axes().len());
    let mut placed = vec![false; kernel.axes().len()];
    let views = kernel.params().filter_map(|param| kernel.view(param));
    for axis in views
        .flat_map(|view: &ViewType| view.dims.iter().copied())
        .chain(kernel.axes())
    {
        if !std::mem::replace(&mut placed[axis.index()], true) {
            order.push(axis);
        }
    }
    order
}

fn quiet(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::F32(value) if value.is_nan() => Scalar::F32(f32::NAN),
        Scalar::F64(value) if value.is_nan() => Scalar::F64(f64::NAN),
        other => other,
    }
}

/// Whether [`canonical`] would change nothing.
fn is_canonical(kernel: &Kernel) -> bool {
    let axes = axis_order(kernel).into_iter().eq(kernel.axes());
    let fills = kernel
        .params()
        .filter_map(|param| kernel.view(param))
        .all(|view| quiet(view.fill) == view.fill);
    let mut next = Next {
        op: 0,
        value: 0,
        region: 1,
    };
    axes && fills
        && next.walk(kernel, kernel.body())
        && next.op == kernel.ops().len()
        && next.value == kernel.values().len()
        && next.region == kernel.regions().len()
}

struct Next {
    op: usize,
    value: usize,
    region: usize,
}

impl Next {
    fn walk(&mut self, kernel: &Kernel, region: Region) -> bool {
        let data = kernel.region(region);
        data.args.iter().all(|&arg| self.takes_value(arg))
            && data.ops.iter().all(|&op| {
                let row = kernel.op(op);
                let constant = match row.kind {
                    OpKind::Const(scalar) => quiet(scalar) == scalar,
                    _ => true,
                };
                constant
                    && self.takes_op(op)
                    && row.results.iter().all(|&result| self.takes_value(result))
                    && row.kind.regions().into_iter().all(|inner| {
                        self.region += 1;
                        inner.index() + 1 == self.region && self.walk(kernel, inner)
                    })
            })
    }

    fn takes_value(&mut self, value: Value) -> bool {
        self.value += 1;
        value.index() + 1 == self.value
    }

    fn takes_op(&mut self, op: Op) -> bool {
        self.op += 1;
        op.index() + 1 == self.op
    }
}

/// Whether the row of a value says who makes it.
pub(crate) fn defines(kernel: &Kernel, value: Value) -> bool {
    match kernel.value(value).definition {
        Definition::Result { op, index } => {
            op.index() < kernel.ops().len()
                && kernel.op(op).results.get(index as usize) == Some(&value)
        }
        Definition::Argument { region, index } => {
            region.index() < kernel.regions().len()
                && kernel.region(region).args.get(index as usize) == Some(&value)
        }
    }
}
