//! Coordinates as functions of the program: `scale * root coordinate + .. + something in low ..= high`.
//!
//! Whether two programs can touch one element, and whether an access can leave its view, follow from how subscripts are
//! computed. Most are sums of root coordinates, constants and coordinates with known extents; this is their normal form.
//! The arithmetic of a kernel is i32 and wraps. Here nothing wraps: a form is given under the condition that no step does,
//! which static numbers decide here, and [`wrap_conditions`] hands over what only a launch can know.

use crate::kernel::{Definition, Dim, Kernel};
use crate::keys::{Axis, Value};
use crate::ops::{BinaryOp, OpKind, Subscript, UnaryOp};
use numerics::Scalar;

/// How many operations one question looks at before it gives up.
const BUDGET: u32 = 256;

/// One root coordinate times a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The coordinate's position among the axes of its `parallel`.
    pub coordinate: usize,
    /// The axis it runs along.
    pub axis: Axis,
    /// The factor; never 0.
    pub scale: i64,
}

/// `sum of terms + something in low ..= high`. What lies in the range may differ between programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The terms, one a root coordinate, in order of position.
    pub terms: Vec<Term>,
    /// The least remainder.
    pub low: i64,
    /// The greatest remainder.
    pub high: i64,
}

impl Affine {
    /// A number.
    pub fn constant(value: i64) -> Affine {
        Affine {
            terms: Vec::new(),
            low: value,
            high: value,
        }
    }

    /// The number it is in every program, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        (self.terms.is_empty() && self.low == self.high).then_some(self.low)
    }

    /// The least and greatest value over all programs, if the extents of the root axes are known.
    pub fn range(&self, kernel: &Kernel) -> Option<(i64, i64)> {
        self.terms
            .iter()
            .try_fold((self.low, self.high), |(low, high), term| {
                let reach = term
                    .scale
                    .checked_mul(i64::from(kernel.axis(term.axis).extent?) - 1)?;
                Some((
                    low.checked_add(reach.min(0))?,
                    high.checked_add(reach.max(0))?,
                ))
            })
    }

    /// The same terms with room for both remainders; `None` if the terms differ.
    pub fn hull(&self, other: &Affine) -> Option<Affine> {
        (self.terms == other.terms).then(|| Affine {
            terms: self.terms.clone(),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        })
    }

    fn plus(&self, other: &Affine, sign: i64) -> Option<Affine> {
        let other = other.times(sign)?;
        let mut terms = self.terms.clone();
        for term in other.terms {
            match terms
                .iter_mut()
                .find(|mine| mine.coordinate == term.coordinate)
            {
                Some(mine) => mine.scale = mine.scale.checked_add(term.scale)?,
                None => terms.push(term),
            }
        }
        terms.retain(|term| term.scale != 0);
        terms.sort_by_key(|term| term.coordinate);
        Some(Affine {
            terms,
            low: self.low.checked_add(other.low)?,
            high: self.high.checked_add(other.high)?,
        })
    }

    fn times(&self, factor: i64) -> Option<Affine> {
        let scaled = |term: &Term| {
            Some(Term {
                scale: term.scale.checked_mul(factor)?,
                ..*term
            })
        };
        let mut terms: Vec<Term> = self.terms.iter().map(scaled).collect::<Option<_>>()?;
        terms.retain(|term| term.scale != 0);
        let (a, b) = (
            self.low.checked_mul(factor)?,
            self.high.checked_mul(factor)?,
        );
        Some(Affine {
            terms,
            low: a.min(b),
            high: a.max(b),
        })
    }
}

/// A sum of root coordinates that a launch must keep within i32, so that the forms given by [`affine`] hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WrapCondition {
    /// The sum.
    pub sum: Affine,
}

impl WrapCondition {
    /// Whether it holds for the extents of a launch.
    pub fn holds(&self, extent: impl Fn(Axis) -> u32) -> bool {
        let fold = |(low, high): (i128, i128), term: &Term| {
            let reach = i128::from(term.scale) * (i128::from(extent(term.axis)) - 1).max(0);
            (low + reach.min(0), high + reach.max(0))
        };
        let start = (i128::from(self.sum.low), i128::from(self.sum.high));
        let (low, high) = self.sum.terms.iter().fold(start, fold);
        low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX)
    }
}

/// The form of an i32 scalar; `None` if it has none.
pub fn affine(kernel: &Kernel, value: Value) -> Option<Affine> {
    Forms {
        kernel,
        budget: BUDGET,
        conditions: None,
    }
    .of(value)
}

/// The coordinates a subscript addresses, windows from end to end. `None` if they have no form or an extent is open.
pub fn touched(kernel: &Kernel, subscript: Subscript) -> Option<Affine> {
    match subscript {
        Subscript::At(value) => affine(kernel, value),
        Subscript::Window { origin, axis, step } => {
            let mut form =
                origin.map_or(Some(Affine::constant(0)), |value| affine(kernel, value))?;
            let length = i64::from(kernel.axis(axis).extent?) - 1;
            form.high = form
                .high
                .checked_add(length.max(0).checked_mul(i64::from(step))?)?;
            Some(form)
        }
    }
}

/// What a launch must keep so that no subscript's arithmetic wraps, for every subscript that depends on the program. A
/// launch that breaks one is refused: its programs might meet.
pub fn wrap_conditions(kernel: &Kernel) -> Vec<WrapCondition> {
    let mut conditions = Vec::new();
    for op in kernel.ops() {
        if let OpKind::Load { at, .. } | OpKind::Store { at, .. } = &kernel.op(op).kind {
            for subscript in at {
                let value = match *subscript {
                    Subscript::At(value) => Some(value),
                    Subscript::Window { origin, .. } => origin,
                };
                if let Some(value) = value {
                    let mut forms = Forms {
                        kernel,
                        budget: BUDGET,
                        conditions: Some(Vec::new()),
                    };
                    if forms.of(value).is_some_and(|form| !form.terms.is_empty()) {
                        for sum in forms.conditions.unwrap_or_default() {
                            let condition = WrapCondition { sum };
                            if !conditions.contains(&condition) {
                                conditions.push(condition);
                            }
                        }
                    }
                }
            }
        }
    }
    conditions
}

/// The axis a value is a coordinate of: it lies in `0 .. extent` whatever the extent is.
pub fn coordinate_axis(kernel: &Kernel, value: Value) -> Option<Axis> {
    let Definition::Argument { region, index } = kernel.value(value).definition else {
        return None;
    };
    let index = index as usize;
    match &kernel.op(kernel.region(region).owner?).kind {
        OpKind::Parallel { axes, .. } => axes.get(index).copied(),
        OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } => match dims.get(index)? {
            Dim::Axis(axis) => Some(*axis),
            Dim::Unit => None,
        },
        OpKind::For { lower, upper, .. } if index == 0 => {
            let starts_inside = affine(kernel, *lower)?.range(kernel)?.0 >= 0;
            match kernel.op(kernel.defining_op(*upper)?).kind {
                OpKind::Extent(axis) if starts_inside => Some(axis),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a subscript of dimension `dim` of a view stays inside the view at every launch: a coordinate of that very axis,
/// the whole dimension, or numbers within static extents.
pub fn statically_in_bounds(
    kernel: &Kernel,
    view: crate::Param,
    dim: usize,
    subscript: Subscript,
) -> bool {
    let Some(axis) = kernel
        .view(view)
        .and_then(|view| view.dims.get(dim).copied())
    else {
        return false;
    };
    let inside = match subscript {
        Subscript::At(value) => coordinate_axis(kernel, value) == Some(axis),
        Subscript::Window {
            origin,
            axis: along,
            step,
        } => {
            along == axis
                && step == 1
                && origin.is_none_or(|v| affine(kernel, v) == Some(Affine::constant(0)))
        }
    };
    inside || {
        let bounds = touched(kernel, subscript).and_then(|form| form.range(kernel));
        match (bounds, kernel.axis(axis).extent) {
            (Some((low, high)), Some(extent)) => low >= 0 && high < i64::from(extent),
            _ => false,
        }
    }
}

struct Forms<'k> {
    kernel: &'k Kernel,
    budget: u32,
    /// Sums that depend on the program, if somebody collects them.
    conditions: Option<Vec<Affine>>,
}

impl Forms<'_> {
    fn of(&mut self, value: Value) -> Option<Affine> {
        self.budget = self.budget.checked_sub(1)?;
        let form = match self.kernel.value(value).definition {
            Definition::Argument { region, index } => self.argument(region, index as usize),
            Definition::Result { op, .. } => self.result(&self.kernel.op(op).kind),
        }?;
        if form.terms.is_empty() {
            let fits = form.low >= i64::from(i32::MIN) && form.high <= i64::from(i32::MAX);
            return fits.then_some(form);
        }
        let is_coordinate =
            form.low == 0 && form.high == 0 && matches!(form.terms[..], [Term { scale: 1, .. }]);
        if let (Some(conditions), false) = (&mut self.conditions, is_coordinate) {
            conditions.push(form.clone());
        }
        Some(form)
    }

    fn argument(&mut self, region: crate::Region, index: usize) -> Option<Affine> {
        match &self.kernel.op(self.kernel.region(region).owner?).kind {
            OpKind::Parallel { axes, .. } => {
                let term = Term {
                    coordinate: index,
                    axis: *axes.get(index)?,
                    scale: 1,
                };
                Some(Affine {
                    terms: vec![term],
                    low: 0,
                    high: 0,
                })
            }
            OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. } => {
                let extent = self.kernel.extent(*dims.get(index)?)?;
                Some(Affine {
                    terms: Vec::new(),
                    low: 0,
                    high: (i64::from(extent) - 1).max(0),
                })
            }
            OpKind::For { lower, upper, .. } if index == 0 => {
                let (lower, upper) = (self.of(*lower)?, self.of(*upper)?);
                if !(lower.terms.is_empty() && upper.terms.is_empty()) {
                    return None;
                }
                let high = (upper.high - 1).max(lower.low);
                Some(Affine {
                    terms: Vec::new(),
                    low: lower.low,
                    high,
                })
            }
            _ => None,
        }
    }

    fn result(&mut self, kind: &OpKind) -> Option<Affine> {
        match kind {
            OpKind::Const(Scalar::I32(number)) => Some(Affine::constant(i64::from(*number))),
            OpKind::Extent(axis) => {
                Some(Affine::constant(i64::from(self.kernel.axis(*axis).extent?)))
            }
            OpKind::Unary(UnaryOp::Neg, a) => self.of(*a)?.times(-1),
            OpKind::Binary(BinaryOp::Add, a, b) => {
                let a = self.of(*a)?;
                a.plus(&self.of(*b)?, 1)
            }
            OpKind::Binary(BinaryOp::Sub, a, b) => {
                let a = self.of(*a)?;
                a.plus(&self.of(*b)?, -1)
            }
            OpKind::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = (self.of(*a)?, self.of(*b)?);
                match (a.as_constant(), b.as_constant()) {
                    (_, Some(factor)) => a.times(factor),
                    (Some(factor), None) => b.times(factor),
                    (None, None) => None,
                }
            }
            OpKind::Binary(BinaryOp::Shl, a, b) => {
                let a = self.of(*a)?;
                a.times(1 << (self.of(*b)?.as_constant()? & 31))
            }
            _ => None,
        }
    }
}
