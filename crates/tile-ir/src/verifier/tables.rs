//! Soundness of the tables: what every later check, and every reader of a verified kernel, takes for granted.

use diagnostics::Diagnostic;
use numerics::ElementType;

use super::rule::Rule;
use crate::canonical::defines;
use crate::kernel::{Dim, Kernel, TileType};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{OpKind, ReduceForm, Rekey};
use crate::{MAX_NESTING, MAX_OPERATIONS};

/// The first unsound row, if there is one. Rows that the body does not reach are not looked at.
pub(crate) fn check_tables(kernel: &Kernel) -> Result<(), Diagnostic> {
    if kernel.ops().len() > MAX_OPERATIONS {
        let message = format!(
            "{} operations; the limit is {MAX_OPERATIONS}",
            kernel.ops().len()
        );
        return Err(Rule::OperationLimit.says(message));
    }
    for param in kernel.params() {
        if let Some(view) = kernel.view(param) {
            let known = view
                .dims
                .iter()
                .all(|axis| axis.index() < kernel.axes().len());
            require(known, || {
                format!("{param} has a dimension along no axis of the kernel")
            })?;
        }
    }
    let body = kernel.region(kernel.body());
    require(body.owner.is_none(), || {
        "the body of the kernel belongs to an operation".to_owned()
    })?;
    require(body.args.is_empty(), || {
        "the body of the kernel has arguments".to_owned()
    })?;
    require(body.yields.is_empty(), || {
        "the body of the kernel yields values".to_owned()
    })?;

    let mut seen_ops = vec![false; kernel.ops().len()];
    let mut seen_regions = vec![false; kernel.regions().len()];
    seen_regions[kernel.body().index()] = true;
    let mut pending = vec![(kernel.body(), 0)];
    while let Some((region, depth)) = pending.pop() {
        if depth > MAX_NESTING {
            return Err(Rule::NestingLimit.says(format!("regions nest deeper than {MAX_NESTING}")));
        }
        for (index, &arg) in kernel.region(region).args.iter().enumerate() {
            check_value(kernel, arg)?;
            let position = crate::Definition::Argument {
                region,
                index: index as u32,
            };
            require(kernel.value(arg).definition == position, || {
                format!("{arg} stands among the arguments of {region} and says otherwise")
            })?;
        }
        for &value in &kernel.region(region).yields {
            check_value(kernel, value)?;
        }
        for &op in &kernel.region(region).ops {
            require(op.index() < seen_ops.len(), || {
                format!("{region} lists {op}, which has no row")
            })?;
            require(!std::mem::replace(&mut seen_ops[op.index()], true), || {
                format!("{op} is listed twice")
            })?;
            check_op(kernel, region, op)?;
            for inner in kernel.op(op).kind.regions() {
                require(
                    !std::mem::replace(&mut seen_regions[inner.index()], true),
                    || format!("{inner} belongs to two operations"),
                )?;
                pending.push((inner, depth + 1));
            }
        }
    }
    Ok(())
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Result<(), Diagnostic> {
    if holds {
        Ok(())
    } else {
        Err(Rule::BrokenTables.says(message()))
    }
}

fn check_value(kernel: &Kernel, value: Value) -> Result<(), Diagnostic> {
    require(value.index() < kernel.values().len(), || {
        format!("{value} has no row")
    })?;
    require(defines(kernel, value), || {
        format!("nothing defines {value}")
    })?;
    let ty = kernel.ty(value);
    let known = ty.dims.iter().all(|dim| match dim {
        Dim::Axis(axis) => axis.index() < kernel.axes().len(),
        Dim::Unit => true,
    });
    require(known, || {
        format!("{value} has a dimension along no axis of the kernel")
    })?;
    require(!ty.element.storage_only(), || {
        format!("{value} is of the storage type {}", ty.element)
    })
}

fn check_op(kernel: &Kernel, region: Region, op: Op) -> Result<(), Diagnostic> {
    let data = kernel.op(op);
    let result = (|| {
        require(data.parent == region, || {
            format!("{op} stands in {region} and says otherwise")
        })?;
        let mut keys = Reach {
            kernel,
            missing: None,
        };
        data.kind.with_keys(&mut keys);
        if let Some(missing) = keys.missing {
            return require(false, || {
                format!("{op} refers to {missing}, which has no row")
            });
        }
        for value in data
            .kind
            .operands()
            .into_iter()
            .chain(data.results.iter().copied())
        {
            check_value(kernel, value)?;
        }
        for (index, &result) in data.results.iter().enumerate() {
            let position = crate::Definition::Result {
                op,
                index: index as u32,
            };
            require(kernel.value(result).definition == position, || {
                format!("{result} stands among the results of {op} and says otherwise")
            })?;
        }
        for inner in data.kind.regions() {
            require(kernel.region(inner).owner == Some(op), || {
                format!("{op} owns {inner}, which says otherwise")
            })?;
        }
        check_arguments(kernel, op)
    })();
    result.map_err(|diagnostic| diagnostic.at(data.location))
}

/// The arguments of an operation's region: coordinates, then carries.
fn check_arguments(kernel: &Kernel, op: Op) -> Result<(), Diagnostic> {
    let (body, coordinates, carries): (Region, usize, &[Value]) = match &kernel.op(op).kind {
        OpKind::Map { dims, body } => (*body, dims.len(), &[]),
        OpKind::Parallel { axes, body } => (*body, axes.len(), &[]),
        OpKind::For { inits, body, .. } => (*body, 1, inits),
        OpKind::Reduce {
            dims,
            form,
            inits,
            body,
            ..
        } => match form {
            ReduceForm::Closed(ops) => {
                let equal = ops.len() == inits.len();
                require(equal, || {
                    format!(
                        "{op} has {} operations for {} carries",
                        ops.len(),
                        inits.len()
                    )
                })?;
                require(!inits.is_empty(), || format!("{op} carries nothing"))?;
                (*body, dims.len(), &[])
            }
            ReduceForm::Open => {
                require(!inits.is_empty(), || format!("{op} carries nothing"))?;
                (*body, dims.len(), inits)
            }
        },
        OpKind::Const(_)
        | OpKind::Extent(_)
        | OpKind::ScalarParam(_)
        | OpKind::Iota(_)
        | OpKind::Unary(..)
        | OpKind::Binary(..)
        | OpKind::Compare(..)
        | OpKind::Select { .. }
        | OpKind::Fma(..)
        | OpKind::Cast(..)
        | OpKind::Broadcast(..)
        | OpKind::Reshape(..)
        | OpKind::Permute(..)
        | OpKind::Extract { .. }
        | OpKind::Load { .. }
        | OpKind::Store { .. }
        | OpKind::Stage
        | OpKind::Opaque { .. } => return Ok(()),
    };
    let args = &kernel.region(body).args;
    require(args.len() == coordinates + carries.len(), || {
        format!(
            "{body} has {} arguments and {op} gives {}",
            args.len(),
            coordinates + carries.len()
        )
    })?;
    let coordinate = TileType::scalar(ElementType::I32);
    let types = std::iter::repeat_n(&coordinate, coordinates)
        .chain(carries.iter().map(|&init| kernel.ty(init)));
    for (&arg, ty) in args.iter().zip(types) {
        require(arg.index() < kernel.values().len(), || {
            format!("{arg} has no row")
        })?;
        require(kernel.ty(arg) == ty, || {
            format!(
                "argument {arg} of {body} is {}, not {}",
                kernel.type_name(kernel.ty(arg)),
                kernel.type_name(ty)
            )
        })?;
    }
    Ok(())
}

/// Looks for keys without rows.
struct Reach<'k> {
    kernel: &'k Kernel,
    missing: Option<String>,
}

impl Reach<'_> {
    fn look(&mut self, known: bool, key: impl std::fmt::Display) {
        if !known && self.missing.is_none() {
            self.missing = Some(key.to_string());
        }
    }
}

impl Rekey for Reach<'_> {
    fn axis(&mut self, axis: Axis) -> Axis {
        self.look(axis.index() < self.kernel.axes().len(), axis);
        axis
    }

    fn param(&mut self, param: Param) -> Param {
        self.look(param.index() < self.kernel.params().len(), param);
        param
    }

    fn value(&mut self, value: Value) -> Value {
        self.look(value.index() < self.kernel.values().len(), value);
        value
    }

    fn region(&mut self, region: Region) -> Region {
        self.look(region.index() < self.kernel.regions().len(), region);
        region
    }
}
