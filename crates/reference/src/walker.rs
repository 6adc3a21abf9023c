//! Walks a kernel in program order and asks a number system what its operations give.
//!
//! A reference must be easy to believe, so nothing here is clever: a region's operations run one after another, a tile is
//! an array of its elements in row-major order, each element of a pure operation is computed from the elements it is
//! defined by, and a load copies. Programs of a nest run in row-major order, stage by stage: each keeps its own values,
//! and none goes on before all have reached the stage.
//!
//! In the fused mode ([`crate::fused`]) some values are left unread until a reduction reads them; everything else is the
//! same code.

mod reducing;
mod touching;

use std::cell::RefCell;
use std::rc::Rc;

use numerics::{Scalar, TREE, TreeShape};
use tile_ir::{
    Definition, Dim, Kernel, Op, OpData, OpKind, Param, Policy, ReduceForm, Region, Subscript,
    Value,
};

use crate::arguments::{Bound, BoundParam, BoundView};
use crate::fused::{Cell, Deferral, FusedMode, Source, Traversal};
use crate::interpreter::InterpretError;
use crate::meaning::{Meaning, Order, outside};

/// What a value holds while the kernel runs.
#[derive(Clone)]
pub(crate) enum Datum<I> {
    /// Nothing yet.
    Empty,
    /// A scalar.
    Scalar(I),
    /// The elements of a tile, row-major.
    Tile(Rc<[I]>),
    /// Fused mode: elements that are read, or computed, inside a reduction.
    Deferred(Rc<Deferral<I>>),
    /// Fused mode: a pure operation over deferred values; elements are computed when they are asked for.
    Recipe,
}

/// The values of one program (of the root: of the whole kernel), one slot a value.
pub(crate) type Environment<I> = Vec<Datum<I>>;

/// A load or store with its coordinates.
pub(crate) struct Access {
    op: Op,
    param: Param,
    /// One row a dimension of the view: first coordinate, step, and the tile's dimension that runs along it.
    dims: Vec<(i64, i64, Option<usize>)>,
    /// The extents of the tile.
    shape: Vec<usize>,
}

impl Access {
    /// How many elements there are.
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A kernel on its way through a number system.
pub(crate) struct Walker<'k, M: Meaning> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) bound: Bound,
    pub(crate) meaning: M,
    pub(crate) trees: &'k dyn Fn(Op) -> TreeShape,
    /// How many more operations may run.
    pub(crate) fuel: u64,
    pub(crate) fused: Option<FusedMode>,
    pub(crate) program: u64,
}

/// Errors are boxed: results of single elements pass through many hands.
type Done<T> = Result<T, Box<InterpretError>>;

#[cold]
fn out_of_fuel() -> Box<InterpretError> {
    Box::new(InterpretError::OutOfFuel)
}

impl<'k, M: Meaning> Walker<'k, M> {
    /// Runs the whole kernel.
    pub(crate) fn run(&mut self) -> Done<()> {
        let mut environment = Vec::with_capacity(self.kernel.values().len());
        environment.resize_with(self.kernel.values().len(), || Datum::Empty);
        self.run_ops(
            &mut environment,
            &self.kernel.region(self.kernel.body()).ops,
        )
    }

    fn run_ops(&mut self, environment: &mut Environment<M::Item>, ops: &'k [Op]) -> Done<()> {
        for &op in ops {
            self.fuel = self.fuel.checked_sub(1).ok_or_else(out_of_fuel)?;
            self.step(environment, op)?;
        }
        Ok(())
    }

    /// Runs a region whose arguments are set; its yields can be read afterwards.
    fn run_region(&mut self, environment: &mut Environment<M::Item>, region: Region) -> Done<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(out_of_fuel)?;
        self.run_ops(environment, &self.kernel.region(region).ops)
    }

    fn step(&mut self, environment: &mut Environment<M::Item>, op: Op) -> Done<()> {
        let data = self.kernel.op(op);
        match &data.kind {
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
            | OpKind::Extract { .. } => self.pure(environment, op, data),
            OpKind::Map { dims, body } => self.map(environment, op, data, dims, *body),
            OpKind::Reduce {
                dims,
                policy,
                form,
                inits,
                body,
            } => self.reduce(environment, op, dims, *policy, form, inits, *body),
            OpKind::For {
                lower,
                upper,
                inits,
                body,
            } => {
                let lower = self.integer(environment, *lower)?;
                let upper = self.integer(environment, *upper)?;
                self.repeat(environment, data, lower..upper, inits, *body)
            }
            OpKind::Parallel { axes, body } => {
                let extents: Vec<usize> = axes
                    .iter()
                    .map(|axis| self.bound.extents[axis.index()])
                    .collect();
                self.parallel(environment, &extents, *body)
            }
            OpKind::Load { view, at } => {
                let access = self.access(environment, op, *view, at)?;
                let result = data.results[0];
                environment[result.index()] = match self.defer(result, Source::Load(access)) {
                    Ok(deferred) => deferred,
                    Err(Source::Load(access)) => {
                        let count = access.count();
                        self.fill(result, count, |walker, index| walker.read(&access, index))?
                    }
                    Err(Source::Pure) => unreachable!("a load is deferred as a load"),
                };
                Ok(())
            }
            OpKind::Store { view, at, value } => {
                let access = self.access(environment, op, *view, at)?;
                for index in 0..access.count() {
                    let item = self.element(environment, *value, index)?;
                    self.write(&access, index, item)?;
                }
                Ok(())
            }
            // Every nest begins after the one before it has ended, and a stage inside a nest is seen by `parallel`.
            OpKind::Stage => Ok(()),
            OpKind::Opaque { id } => {
                self.meaning.opaque(*id, self.program);
                Ok(())
            }
        }
    }

    // ---- pure operations ----

    fn pure(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        data: &'k OpData,
    ) -> Done<()> {
        let result = data.results[0];
        if self.fused.is_some() {
            if let Ok(deferred) = self.defer(result, Source::Pure) {
                environment[result.index()] = deferred;
                return Ok(());
            }
            if self.stays_recipe(environment, op) {
                environment[result.index()] = Datum::Recipe;
                return Ok(());
            }
        }
        let count = self.count(&self.kernel.ty(result).dims);
        environment[result.index()] = self.fill(result, count, |walker, index| {
            walker.point(environment, data, 0, index)
        })?;
        Ok(())
    }

    /// A datum of `count` elements (a scalar if the value is one), each made by `element`.
    fn fill(
        &mut self,
        value: Value,
        count: usize,
        mut element: impl FnMut(&mut Self, usize) -> Done<M::Item>,
    ) -> Done<Datum<M::Item>> {
        if self.kernel.ty(value).is_scalar() {
            return Ok(Datum::Scalar(element(self, 0)?));
        }
        self.fuel = self
            .fuel
            .checked_sub(count as u64)
            .ok_or_else(out_of_fuel)?;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            items.push(element(self, index)?);
        }
        Ok(Datum::Tile(items.into()))
    }

    /// Element `index` of a value; a scalar gives itself for every index.
    pub(crate) fn element(
        &mut self,
        environment: &mut Environment<M::Item>,
        value: Value,
        index: usize,
    ) -> Done<M::Item> {
        match &environment[value.index()] {
            Datum::Scalar(item) => Ok(*item),
            Datum::Tile(items) => Ok(items[index]),
            Datum::Deferred(deferral) => {
                let deferral = Rc::clone(deferral);
                let index = if self.kernel.ty(value).is_scalar() {
                    0
                } else {
                    index
                };
                self.read_deferred(environment, &deferral, index)
            }
            Datum::Recipe => {
                let index = if self.kernel.ty(value).is_scalar() {
                    0
                } else {
                    index
                };
                self.compute(environment, value, index)
            }
            Datum::Empty => panic!("a verified kernel uses {value} before it is defined"),
        }
    }

    /// Element `index` of a pure operation's result, from its operands.
    fn compute(
        &mut self,
        environment: &mut Environment<M::Item>,
        value: Value,
        index: usize,
    ) -> Done<M::Item> {
        match self.kernel.value(value).definition {
            Definition::Result { op, index: result } => {
                self.point(environment, self.kernel.op(op), result as usize, index)
            }
            Definition::Argument { .. } => unreachable!("arguments of regions are never recipes"),
        }
    }

    /// Element `index` of result `result` of a pure operation.
    fn point(
        &mut self,
        environment: &mut Environment<M::Item>,
        data: &'k OpData,
        result: usize,
        index: usize,
    ) -> Done<M::Item> {
        match &data.kind {
            OpKind::Const(value) => Ok(self.meaning.constant(*value)),
            OpKind::Extent(axis) => Ok(self.coordinate(self.bound.extents[axis.index()])),
            OpKind::ScalarParam(param) => match self.bound.params[param.index()] {
                BoundParam::Scalar(value) => Ok(self.meaning.constant(value)),
                BoundParam::View(_) => {
                    panic!("a verified kernel reads {param} as a scalar, which is a view")
                }
            },
            OpKind::Iota(_) => Ok(self.coordinate(index)),
            OpKind::Unary(op, a) => {
                let a = self.element(environment, *a, index)?;
                Ok(self.meaning.unary(*op, a))
            }
            OpKind::Binary(op, a, b) => {
                let a = self.element(environment, *a, index)?;
                let b = self.element(environment, *b, index)?;
                Ok(self.meaning.binary(*op, a, b))
            }
            OpKind::Compare(op, a, b) => {
                let a = self.element(environment, *a, index)?;
                let b = self.element(environment, *b, index)?;
                Ok(self.meaning.compare(*op, a, b))
            }
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.element(environment, *condition, index)?;
                let then = self.element(environment, *then, index)?;
                let otherwise = self.element(environment, *otherwise, index)?;
                Ok(if self.meaning.truth(condition) {
                    then
                } else {
                    otherwise
                })
            }
            OpKind::Fma(a, b, c) => {
                let a = self.element(environment, *a, index)?;
                let b = self.element(environment, *b, index)?;
                let c = self.element(environment, *c, index)?;
                Ok(self.meaning.fma(a, b, c))
            }
            OpKind::Cast(to, a) => {
                let a = self.element(environment, *a, index)?;
                Ok(self.meaning.cast(*to, a))
            }
            OpKind::Broadcast(a, dims) => {
                let index = self.index_before_broadcast(*a, dims, index);
                self.element(environment, *a, index)
            }
            OpKind::Reshape(a, _) => self.element(environment, *a, index),
            OpKind::Permute(a, order) => {
                let index = self.index_before_permute(*a, order, index);
                self.element(environment, *a, index)
            }
            OpKind::Map { dims, body } => {
                self.set_coordinates(environment, *body, dims, index);
                self.run_region(environment, *body)?;
                self.element(environment, self.kernel.region(*body).yields[result], 0)
            }
            OpKind::Extract { tile, at } => {
                let dims = &self.kernel.ty(*tile).dims;
                let mut inner = 0;
                let mut inside = true;
                for (&dim, &coordinate) in dims.iter().zip(at) {
                    let extent = self.extent(dim);
                    let coordinate = self.integer(environment, coordinate)?;
                    let lawful = usize::try_from(coordinate)
                        .ok()
                        .filter(|&coordinate| coordinate < extent);
                    inside &= lawful.is_some();
                    inner = inner * extent + lawful.unwrap_or(0);
                }
                if inside {
                    self.element(environment, *tile, inner)
                } else {
                    Ok(self
                        .meaning
                        .constant(outside(self.kernel.ty(*tile).element)))
                }
            }
            OpKind::Reduce { .. }
            | OpKind::For { .. }
            | OpKind::Parallel { .. }
            | OpKind::Load { .. }
            | OpKind::Store { .. }
            | OpKind::Stage
            | OpKind::Opaque { .. } => unreachable!("not a pure elementwise operation"),
        }
    }

    fn map(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        data: &'k OpData,
        dims: &'k [Dim],
        body: Region,
    ) -> Done<()> {
        let mut left: Vec<Option<Datum<M::Item>>> = Vec::new();
        if self.fused.is_some() {
            let recipe = self.stays_recipe(environment, op).then_some(Datum::Recipe);
            let leave = |&result: &Value| {
                self.defer(result, Source::Pure)
                    .ok()
                    .or_else(|| recipe.clone())
            };
            left = data.results.iter().map(leave).collect();
        }
        left.resize_with(data.results.len(), || None);
        let count = self.count(dims);
        let yields = &self.kernel.region(body).yields;
        let mut items: Vec<Vec<M::Item>> = data
            .results
            .iter()
            .map(|_| Vec::with_capacity(count))
            .collect();
        let computes = left.iter().any(Option::is_none);
        for index in 0..if computes { count } else { 0 } {
            self.set_coordinates(environment, body, dims, index);
            self.run_region(environment, body)?;
            for ((items, &yielded), left) in items.iter_mut().zip(yields).zip(&left) {
                if left.is_none() {
                    items.push(self.element(environment, yielded, 0)?);
                }
            }
        }
        for ((&result, items), left) in data.results.iter().zip(items).zip(left) {
            environment[result.index()] = match left {
                Some(datum) => datum,
                None if self.kernel.ty(result).is_scalar() => Datum::Scalar(items[0]),
                None => Datum::Tile(items.into()),
            };
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        environment: &mut Environment<M::Item>,
        data: &'k OpData,
        range: std::ops::Range<i32>,
        inits: &'k [Value],
        body: Region,
    ) -> Done<()> {
        let region = self.kernel.region(body);
        let (counter, carries) = (region.args[0], &region.args[1..]);
        let mut values = self.settle_all(environment, inits)?;
        for iteration in range {
            environment[counter.index()] =
                Datum::Scalar(self.meaning.constant(Scalar::I32(iteration)));
            for (&carry, value) in carries.iter().zip(values) {
                environment[carry.index()] = value;
            }
            self.run_region(environment, body)?;
            values = self.settle_all(environment, &region.yields)?;
        }
        for (&result, value) in data.results.iter().zip(values) {
            environment[result.index()] = value;
        }
        Ok(())
    }

    /// The values of a loop's carries. What crosses an iteration has been read: nothing deferred gets out of its scope.
    fn settle_all(
        &mut self,
        environment: &mut Environment<M::Item>,
        values: &'k [Value],
    ) -> Done<Vec<Datum<M::Item>>> {
        values
            .iter()
            .map(|&value| match &environment[value.index()] {
                settled @ (Datum::Scalar(_) | Datum::Tile(_)) => Ok(settled.clone()),
                Datum::Deferred(_) | Datum::Recipe => {
                    let count = self.count(&self.kernel.ty(value).dims);
                    self.fill(value, count, |walker, index| {
                        walker.element(environment, value, index)
                    })
                }
                Datum::Empty => panic!("a verified kernel uses {value} before it is defined"),
            })
            .collect()
    }

    fn parallel(
        &mut self,
        environment: &mut Environment<M::Item>,
        extents: &[usize],
        body: Region,
    ) -> Done<()> {
        let region = self.kernel.region(body);
        let programs: usize = extents.iter().product();
        let is_stage = |&op: &Op| matches!(self.kernel.op(op).kind, OpKind::Stage);
        let mut stages = region.ops.split(is_stage);
        let first = stages.next().unwrap_or(&[]);
        let later: Vec<&'k [Op]> = stages.collect();
        if later.is_empty() {
            for program in 0..programs {
                self.program = program as u64;
                self.set_coordinates_of(environment, &region.args, extents, program);
                self.run_ops(environment, first)?;
            }
            return Ok(());
        }
        let mut environments: Vec<Environment<M::Item>> =
            (0..programs).map(|_| environment.clone()).collect();
        for (program, environment) in environments.iter_mut().enumerate() {
            self.set_coordinates_of(environment, &region.args, extents, program);
        }
        for ops in std::iter::once(first).chain(later) {
            for (program, environment) in environments.iter_mut().enumerate() {
                self.program = program as u64;
                self.run_ops(environment, ops)?;
            }
        }
        Ok(())
    }

    // ---- coordinates ----

    fn coordinate(&self, coordinate: usize) -> M::Item {
        self.meaning.constant(Scalar::I32(coordinate as i32))
    }

    fn integer(&mut self, environment: &mut Environment<M::Item>, value: Value) -> Done<i32> {
        let item = self.element(environment, value, 0)?;
        Ok(self.meaning.integer(item))
    }

    fn extent(&self, dim: Dim) -> usize {
        match dim {
            Dim::Axis(axis) => self.bound.extents[axis.index()],
            Dim::Unit => 1,
        }
    }

    fn count(&self, dims: &[Dim]) -> usize {
        dims.iter().map(|&dim| self.extent(dim)).product()
    }

    fn set_coordinates(
        &self,
        environment: &mut Environment<M::Item>,
        region: Region,
        dims: &[Dim],
        mut index: usize,
    ) {
        let args = &self.kernel.region(region).args[..dims.len()];
        for (&arg, &dim) in args.iter().zip(dims).rev() {
            let extent = self.extent(dim);
            environment[arg.index()] = Datum::Scalar(self.coordinate(index % extent));
            index /= extent;
        }
    }

    fn set_coordinates_of(
        &self,
        environment: &mut Environment<M::Item>,
        args: &[Value],
        extents: &[usize],
        mut index: usize,
    ) {
        for (&arg, &extent) in args.iter().zip(extents).rev() {
            environment[arg.index()] = Datum::Scalar(self.coordinate(index % extent));
            index /= extent;
        }
    }

    /// The operand's element that stands at element `index` of its broadcast.
    fn index_before_broadcast(&self, operand: Value, dims: &[Dim], index: usize) -> usize {
        let own = &self.kernel.ty(operand).dims;
        let mut inner = 0;
        for &dim in own {
            let coordinate = match dim {
                Dim::Unit => 0,
                Dim::Axis(_) => {
                    let after = dims.iter().rev().take_while(|&&other| other != dim);
                    let below: usize = after.map(|&other| self.extent(other)).product();
                    index / below % self.extent(dim)
                }
            };
            inner = inner * self.extent(dim) + coordinate;
        }
        inner
    }

    /// The operand's element that stands at element `index` of its permutation.
    fn index_before_permute(&self, operand: Value, order: &[u32], mut index: usize) -> usize {
        let own = &self.kernel.ty(operand).dims;
        let mut inner = 0;
        for &from in order.iter().rev() {
            let from = from as usize;
            let extent = self.extent(own[from]);
            inner += index % extent * self.count(&own[from + 1..]);
            index /= extent;
        }
        inner
    }

    // ---- memory ----

    /// A deferral if the value is the subject of a fusion; otherwise the source comes back.
    fn defer(&self, value: Value, source: Source) -> Result<Datum<M::Item>, Source> {
        let Some((reduction, save)) = self.fused.as_ref().and_then(|fused| fused.fusion_of(value))
        else {
            return Err(source);
        };
        let count = self.count(&self.kernel.ty(value).dims);
        let cells = RefCell::new((0..count).map(|_| Cell::Unread).collect());
        Ok(Datum::Deferred(Rc::new(Deferral {
            value,
            source,
            reduction,
            save,
            cells,
        })))
    }

    /// Whether a pure operation is left as a recipe: it takes deferred elements, has one consumer and reduces nothing.
    fn stays_recipe(&self, environment: &Environment<M::Item>, op: Op) -> bool {
        let Some(fused) = &self.fused else {
            return false;
        };
        let data = self.kernel.op(op);
        let lazy = |value: Value| {
            matches!(
                environment[value.index()],
                Datum::Deferred(_) | Datum::Recipe
            )
        };
        fused.has_one_consumer(&data.results)
            && match &data.kind {
                OpKind::Map { body, .. } => self.region_takes(*body, &lazy) == Some(true),
                // Asking for an element of a tile is reading it.
                OpKind::Extract { .. } => false,
                kind => kind.operands().into_iter().any(lazy),
            }
    }

    /// Whether a region uses a value of which `lazy` holds; `None` if it reduces something.
    fn region_takes(&self, region: Region, lazy: &dyn Fn(Value) -> bool) -> Option<bool> {
        let mut takes = self
            .kernel
            .region(region)
            .yields
            .iter()
            .any(|&value| lazy(value));
        for &op in &self.kernel.region(region).ops {
            let kind = &self.kernel.op(op).kind;
            if matches!(kind, OpKind::Reduce { .. }) {
                return None;
            }
            takes |= kind.operands().into_iter().any(lazy);
            for inner in kind.regions() {
                takes |= self.region_takes(inner, lazy)?;
            }
        }
        Some(takes)
    }

    fn read_deferred(
        &mut self,
        environment: &mut Environment<M::Item>,
        deferral: &Deferral<M::Item>,
        index: usize,
    ) -> Done<M::Item> {
        let active = self
            .fused
            .as_ref()
            .and_then(|fused| fused.contribution_of(deferral.reduction));
        if let Some(item) = deferral.recall(active, index)? {
            return Ok(item);
        }
        let item = match &deferral.source {
            Source::Load(access) => self.read(access, index)?,
            Source::Pure => self.compute(environment, deferral.value, index)?,
        };
        deferral.remember(active, index, item);
        Ok(item)
    }
}
