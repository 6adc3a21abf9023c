//! The checker: holds a certificate against the kernel, and shares no code with the rule that made it.
//!
//! A rule that is wrong makes certificates that are wrong, and a checker that repeats the rule agrees with them. So this one
//! goes the other way. It does not search for a first consumer: it is told the reduction, and walks the program once from
//! the subject to the end of its scope, noting every operation that would need an element ([`sweep`]). The reduction must
//! come first in that list. What lies on the way is found backwards, from the reduction's element reads to the subject.
//! Then each field is derived anew from the kernel, and must be what the certificate says, exactly.

mod sweep;

use std::collections::BTreeSet;

use tile_ir::{Axis, Definition, Dim, Kernel, Op, OpKind, Policy, ReduceForm, Value, Verified};

use crate::admission::Subject;
use crate::certificate::{Certificate, Coordinate, Later};
use sweep::{Event, Sweep, is_elementwise, is_pointwise_body};

/// What is wrong with a certificate, named after the field that does not agree with the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// A key leads to no row of the kernel.
    #[error("{key} is no key of the kernel")]
    ForeignKey {
        /// The key, as dumps show it.
        key: String,
    },
    /// The subject is no load, or no expression with several consumers that is elementwise or a `map` of scalar math.
    #[error("{subject} is not a candidate: {reason}")]
    Subject {
        /// The subject.
        subject: Subject,
        /// What it lacks.
        reason: &'static str,
    },
    /// The value is not what the subject makes.
    #[error("{value} is not what the subject makes")]
    Value {
        /// The value.
        value: Value,
    },
    /// The reduction is not a closed `unordered` or `tree` reduction with one carry.
    #[error("{reduction} does not qualify: {reason}")]
    Reduction {
        /// The reduction.
        reduction: Op,
        /// What it lacks.
        reason: &'static str,
    },
    /// Another operation reads the value first, or nothing does.
    #[error("the reduction is not the first consumer: {found}")]
    FirstConsumer {
        /// The operation that comes first; or that there is none.
        found: String,
    },
    /// A field says something else than the kernel.
    #[error("`{field}` should be {expected}")]
    Field {
        /// The name of the field, with its place within a list.
        field: String,
        /// What the kernel says.
        expected: String,
    },
    /// An element is read at a coordinate that may differ from the nest's own.
    #[error("{extract} does not read along dimension {dim} at the nest's own coordinate")]
    Coordinate {
        /// The element read.
        extract: Op,
        /// The dimension of the tile it reads.
        dim: usize,
    },
    /// A dimension of one side has no counterpart on the other.
    #[error("{axis} occurs on one side only")]
    Unmatched {
        /// Its axis.
        axis: Axis,
    },
    /// The extent of an axis is not known.
    #[error("the extent of {axis} is not known")]
    Open {
        /// The axis.
        axis: Axis,
    },
    /// A nest around the reduction does not run exactly once.
    #[error("{nest} around the reduction does not run exactly once")]
    Wrapper {
        /// The nest.
        nest: Op,
    },
    /// Something in between may change what the load reads.
    #[error("{effect} lies between the load and the reduction")]
    Between {
        /// The operation.
        effect: Op,
    },
    /// The domain has not as many points as the value has elements, or more than can be counted.
    #[error("the domain's points and the value's elements can't be counted one to one")]
    Count,
}

type Checked = Result<(), Objection>;

/// Whether every field of a certificate is what the kernel says, and all of it together makes the fusion unobservable.
///
/// # Errors
/// The first [`Objection`] found. Any certificate may be given, also one for another kernel.
pub fn check(kernel: &Verified, certificate: &Certificate) -> Checked {
    check_keys(kernel, certificate)?;
    let start = check_subject(kernel, certificate)?;
    let reduction = check_reduction(kernel, certificate.reduction)?;
    check_wrappers(kernel, certificate, start)?;

    let sweep = Sweep::of(kernel, start, certificate.value);
    check_first(certificate, &sweep)?;
    check_recipes(kernel, certificate, &sweep)?;
    check_axes(kernel, certificate, reduction.dims)?;
    check_interval(kernel, certificate, start)?;
    check_once(kernel, certificate, reduction.dims)?;
    check_later(certificate, &sweep)
}

/// Refuses what does not agree; `expected` is what the kernel says.
fn agree<T: PartialEq + std::fmt::Debug>(field: &str, found: &T, expected: &T) -> Checked {
    if found == expected {
        return Ok(());
    }
    Err(Objection::Field {
        field: field.to_owned(),
        expected: format!("{expected:?}"),
    })
}

/// Every key of the certificate leads to a row; after this, tables may be asked without fear.
fn check_keys(kernel: &Kernel, certificate: &Certificate) -> Checked {
    let foreign = |key: &dyn std::fmt::Display| Objection::ForeignKey {
        key: key.to_string(),
    };
    let op = |key: Op| {
        (key.index() < kernel.ops().len())
            .then_some(())
            .ok_or_else(|| foreign(&key))
    };
    let value = |key: Value| {
        (key.index() < kernel.values().len())
            .then_some(())
            .ok_or_else(|| foreign(&key))
    };
    match certificate.subject {
        Subject::Load(load) => op(load)?,
        Subject::Expression(expression) => value(expression)?,
    }
    value(certificate.value)?;
    op(certificate.reduction)
}

/// The subject is a candidate and makes the value. Gives the operation that does.
fn check_subject(kernel: &Kernel, certificate: &Certificate) -> Result<Op, Objection> {
    let subject = certificate.subject;
    let lacks = |reason| Objection::Subject { subject, reason };
    let wrong = Objection::Value {
        value: certificate.value,
    };
    let tile = !kernel.ty(certificate.value).dims.is_empty();
    match subject {
        Subject::Load(load) => {
            let OpKind::Load { .. } = kernel.op(load).kind else {
                return Err(lacks("it is no load"));
            };
            if kernel.op(load).results != [certificate.value] {
                return Err(wrong);
            }
            if !tile {
                return Err(lacks("it makes a scalar"));
            }
            Ok(load)
        }
        Subject::Expression(value) => {
            if value != certificate.value {
                return Err(wrong);
            }
            let Definition::Result { op, .. } = kernel.value(value).definition else {
                return Err(lacks("it is no result"));
            };
            let plain = match &kernel.op(op).kind {
                OpKind::Map { body, .. } => {
                    is_pointwise_body(kernel, *body) && kernel.op(op).results.len() == 1
                }
                kind => is_elementwise(kind),
            };
            if !tile || !plain {
                return Err(lacks("it is no tile made by math on scalars"));
            }
            if inside_nest(kernel, op) {
                return Err(lacks("it belongs to a nest"));
            }
            Ok(op)
        }
    }
}

/// Whether an operation stands in the body of a `map` or `reduce`.
fn inside_nest(kernel: &Kernel, op: Op) -> bool {
    let mut at = op;
    while let Some(owner) = kernel.region(kernel.op(at).parent).owner {
        if let OpKind::Map { .. } | OpKind::Reduce { .. } = kernel.op(owner).kind {
            return true;
        }
        at = owner;
    }
    false
}

/// The parts of a reduction that the checker needs.
struct Reduction<'k> {
    dims: &'k [Dim],
}

/// Condition 1: closed, one carry, free order.
fn check_reduction(kernel: &Kernel, reduction: Op) -> Result<Reduction<'_>, Objection> {
    let lacks = |reason| Objection::Reduction { reduction, reason };
    let OpKind::Reduce {
        dims,
        policy,
        form,
        body,
        ..
    } = &kernel.op(reduction).kind
    else {
        return Err(lacks("it is no reduction"));
    };
    if *policy == Policy::Fold {
        return Err(lacks("its order is fixed"));
    }
    match form {
        ReduceForm::Open => return Err(lacks("its body sees the carries")),
        ReduceForm::Closed(carries) if carries.len() != 1 => {
            return Err(lacks("it has several carries"));
        }
        ReduceForm::Closed(_) => {}
    }
    if !is_pointwise_body(kernel, *body) {
        return Err(lacks("its body is more than math on scalars"));
    }
    Ok(Reduction { dims })
}

/// The reduction stands in the subject's scope, but for nests that run once.
fn check_wrappers(kernel: &Kernel, certificate: &Certificate, start: Op) -> Checked {
    let home = kernel.op(start).parent;
    let mut inwards = Vec::new();
    let mut region = kernel.op(certificate.reduction).parent;
    while region != home {
        let Some(nest) = kernel.region(region).owner else {
            return Err(Objection::FirstConsumer {
                found: "it stands outside of the subject's scope".to_owned(),
            });
        };
        let once = match &kernel.op(nest).kind {
            OpKind::Map { dims, .. } => dims.iter().all(|&dim| kernel.extent(dim) == Some(1)),
            _ => false,
        };
        if !once {
            return Err(Objection::Wrapper { nest });
        }
        inwards.insert(0, nest);
        region = kernel.op(nest).parent;
    }
    agree("wrappers", &certificate.wrappers, &inwards)
}

/// Nothing reads before the reduction does, and the reduction reads elements only.
fn check_first(certificate: &Certificate, sweep: &Sweep<'_>) -> Checked {
    let found = match sweep.events.first() {
        Some(Event::Reads(op)) if *op == certificate.reduction => None,
        Some(Event::Reads(op)) => Some(format!("{op} comes before")),
        Some(Event::Leaves(op)) => Some(format!("it is carried by {op}")),
        None => Some("nothing reads the value".to_owned()),
    };
    match found {
        Some(found) => Err(Objection::FirstConsumer { found }),
        None => Ok(()),
    }
}

/// The recipes: those between subject and reduction, those that wait until after it, and where elements are read.
fn check_recipes(kernel: &Kernel, certificate: &Certificate, sweep: &Sweep<'_>) -> Checked {
    let OpKind::Reduce { body, .. } = kernel.op(certificate.reduction).kind else {
        return Ok(());
    };
    let mut on_the_way: BTreeSet<Op> = BTreeSet::new();
    let mut reads: BTreeSet<Op> = sweep.element_reads(body);
    let mut pending: Vec<Op> = reads.iter().copied().collect();
    while let Some(op) = pending.pop() {
        for operand in kernel.op(op).kind.operands() {
            let Definition::Result { op: recipe, .. } = kernel.value(operand).definition else {
                continue;
            };
            if sweep.recipes.contains(&recipe) && on_the_way.insert(recipe) {
                match kernel.op(recipe).kind {
                    OpKind::Map { body, .. } => {
                        let inner = sweep.element_reads(body);
                        pending.extend(&inner);
                        reads.extend(inner);
                    }
                    _ => pending.push(recipe),
                }
            }
        }
    }
    let chain: Vec<Op> = on_the_way.iter().copied().collect();
    agree("chain", &certificate.chain, &chain)?;
    let waits = |&&recipe: &&Op| {
        recipe < certificate.reduction && !on_the_way.contains(&recipe) && sweep.is_read(recipe)
    };
    let deferred: Vec<Op> = sweep.recipes.iter().filter(waits).copied().collect();
    agree("deferred", &certificate.deferred, &deferred)?;

    agree("extracts' count", &certificate.extracts.len(), &reads.len())?;
    for (row, (map, &read)) in certificate.extracts.iter().zip(&reads).enumerate() {
        agree(&format!("extracts[{row}].extract"), &map.extract, &read)?;
        let OpKind::Extract { tile, at } = &kernel.op(read).kind else {
            continue;
        };
        agree(&format!("extracts[{row}].tile"), &map.tile, tile)?;
        let mut coordinates = Vec::new();
        for (dim, &coordinate) in at.iter().enumerate() {
            let found = own_coordinate(kernel, read, kernel.ty(*tile).dims[dim], coordinate);
            coordinates.push(found.ok_or(Objection::Coordinate { extract: read, dim })?);
        }
        agree(
            &format!("extracts[{row}].coordinates"),
            &map.coordinates,
            &coordinates,
        )?;
    }
    Ok(())
}

/// What a coordinate is to the nest an element read stands in, if it is the right one for this dimension of the tile.
fn own_coordinate(kernel: &Kernel, read: Op, dim: Dim, coordinate: Value) -> Option<Coordinate> {
    let origin = match kernel.value(coordinate).definition {
        Definition::Result { op, .. } => {
            let zero = OpKind::Const(numerics::Scalar::I32(0));
            return (kernel.extent(dim) == Some(1) && kernel.op(op).kind == zero)
                .then_some(Coordinate::Zero);
        }
        Definition::Argument { region, index } => (region, index as usize),
    };
    let (region, index) = origin;
    let runs_along = match &kernel.op(kernel.region(region).owner?).kind {
        OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } => dims.get(index).copied(),
        OpKind::Parallel { axes, .. } => axes.get(index).map(|&axis| Dim::Axis(axis)),
        _ => None,
    }?;
    match (kernel.extent(dim)?, kernel.extent(runs_along)?) {
        (1, 1) => Some(Coordinate::Zero),
        (1, _) | (_, 1) => None,
        _ if runs_along == dim && region == kernel.op(read).parent => Some(Coordinate::Nest(index)),
        _ => None,
    }
}

/// Condition 2: the dimensions that are not units pair up, each with the one along the same axis.
fn check_axes(kernel: &Kernel, certificate: &Certificate, reduction: &[Dim]) -> Checked {
    let tile = &kernel.ty(certificate.value).dims;
    let tile_sides = sides(kernel, tile)?;
    let reduction_sides = sides(kernel, reduction)?;
    let axes_of = |sides: &Sides| -> BTreeSet<Axis> {
        sides.along.iter().map(|&(_, axis, _)| axis).collect()
    };
    let (here, there) = (axes_of(&tile_sides), axes_of(&reduction_sides));
    if let Some(&axis) = here.symmetric_difference(&there).next() {
        return Err(Objection::Unmatched { axis });
    }
    agree(
        "axes' count",
        &certificate.axes.len(),
        &tile_sides.along.len(),
    )?;
    for (row, (found, &(dim, axis, extent))) in
        certificate.axes.iter().zip(&tile_sides.along).enumerate()
    {
        let partners = reduction_sides.along.iter().filter(|side| side.1 == axis);
        for &(partner, _, _) in partners {
            agree(
                &format!("axes[{row}]"),
                &(
                    found.tile_dim,
                    found.reduction_dim,
                    found.axis,
                    found.extent,
                ),
                &(dim, partner, axis, extent),
            )?;
        }
    }
    agree("units.tile", &certificate.units.tile, &tile_sides.units)?;
    agree(
        "units.reduction",
        &certificate.units.reduction,
        &reduction_sides.units,
    )
}

/// The dimensions of a tile or domain, taken apart: number, axis and extent of those that run, numbers of the units.
struct Sides {
    along: Vec<(usize, Axis, u32)>,
    units: Vec<usize>,
}

fn sides(kernel: &Kernel, dims: &[Dim]) -> Result<Sides, Objection> {
    let mut sides = Sides {
        along: Vec::new(),
        units: Vec::new(),
    };
    for (number, &dim) in dims.iter().enumerate() {
        match dim {
            Dim::Unit => sides.units.push(number),
            Dim::Axis(axis) => match kernel.axis(axis).extent {
                None => return Err(Objection::Open { axis }),
                Some(1) => sides.units.push(number),
                Some(extent) => sides.along.push((number, axis, extent)),
            },
        }
    }
    Ok(sides)
}

/// Condition 3: what happens in between, and that none of it writes if memory is read.
fn check_interval(kernel: &Kernel, certificate: &Certificate, start: Op) -> Checked {
    let interval = &certificate.interval;
    agree("interval.from", &interval.from, &start)?;
    agree("interval.to", &interval.to, &certificate.reduction)?;
    let mut effects = Vec::new();
    for number in start.index() + 1..certificate.reduction.index() {
        let op = Op::from_index(number);
        match kernel.op(op).kind {
            OpKind::Load { .. } => effects.push(op),
            OpKind::Store { .. } | OpKind::Stage | OpKind::Opaque { .. } => {
                if let Subject::Load(_) = certificate.subject {
                    return Err(Objection::Between { effect: op });
                }
                effects.push(op);
            }
            _ => {}
        }
    }
    agree("interval.effects", &interval.effects, &effects)
}

/// Condition 4, first half: as many points as elements.
fn check_once(kernel: &Kernel, certificate: &Certificate, reduction: &[Dim]) -> Checked {
    let product = |dims: &[Dim]| {
        let mut product: u64 = 1;
        for &dim in dims {
            let extent = kernel.extent(dim).ok_or(Objection::Count)?;
            product = product
                .checked_mul(u64::from(extent))
                .ok_or(Objection::Count)?;
        }
        Ok(product)
    };
    let points = product(reduction)?;
    let elements = product(&kernel.ty(certificate.value).dims)?;
    if points != elements {
        return Err(Objection::Count);
    }
    agree("once.points", &certificate.once.points, &points)?;
    agree("once.elements", &certificate.once.elements, &elements)
}

/// Condition 4, second half: whoever reads later finds the elements saved. An expression that one operation alone reads
/// is a recipe, and no candidate.
fn check_later(certificate: &Certificate, sweep: &Sweep<'_>) -> Checked {
    if let Subject::Expression(_) = certificate.subject
        && sweep.consumers_of_subject < 2
    {
        return Err(Objection::Subject {
            subject: certificate.subject,
            reason: "it has one consumer",
        });
    }
    let consumers: Vec<Op> = sweep.events[1..]
        .iter()
        .map(|event| match *event {
            Event::Reads(op) | Event::Leaves(op) => op,
        })
        .collect();
    let later = if consumers.is_empty() {
        Later::Elide
    } else {
        Later::SaveSnapshot(consumers)
    };
    agree("later", &certificate.later, &later)
}
