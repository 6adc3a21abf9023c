//! `realize`: a plan laid out over packets, before anything is emitted.
//!
//! The rule for values the plan doesn't name: a load is a snapshot; a pure tile is a recipe, unless it is costly and read
//! more than once, or read inside a nest that would evaluate it again and again; a carry of a loop is a private array.

use std::collections::BTreeMap;

use fusion_legality::{Admission, Outcome, Subject};
use numerics::TreeShape;
use tile_ir::{
    Axis, Definition, Dim, Kernel, Op, OpKind, Policy, Region, TileType, UnaryOp, Value, Verified,
};

use crate::plan::{Distribution, Materialization, PARTIALS, Plan, Reload, UNROLLS};
use crate::realization::{
    ArrayKey, FusedRead, Home, Nest, Placement, PrivateArray, Realization, Refusal, Representation,
    Spread, WORKSPACE_LIMIT, private_bytes,
};
use crate::reload::{Aliasing, may_reload};
use crate::structure::{Uses, distributes, in_nest, local_axis};
use crate::vary_between_lanes::vary_between_lanes;

/// Lays a plan out. Consumes the admission: one admission, one realization.
pub fn realize(admission: Admission, plan: &Plan) -> Result<Realization, Refusal> {
    if !PARTIALS.contains(&plan.partials) {
        return Err(Refusal::Partials {
            partials: plan.partials,
        });
    }
    if !UNROLLS.contains(&plan.unroll) {
        return Err(Refusal::Unroll {
            unroll: plan.unroll,
        });
    }
    let (kernel, candidates) = admission.into_parts();
    if let Some(axis) = open_axis(&kernel) {
        return Err(Refusal::OpenAxis {
            name: kernel.axis(axis).name.clone(),
        });
    }
    let mut admitted = BTreeMap::new();
    for candidate in &candidates {
        if let Outcome::Admitted(certificate) = &candidate.outcome {
            admitted.insert(candidate.subject, certificate);
        }
    }
    if let Some(&subject) = plan
        .fused
        .iter()
        .find(|subject| !admitted.contains_key(subject))
    {
        return Err(Refusal::NotAdmitted { subject });
    }
    let mut fused = BTreeMap::new();
    let mut places = BTreeMap::new();
    for subject in &plan.fused {
        let certificate = admitted[subject];
        fused.insert(*subject, (certificate.value, certificate.reduction));
        // The certificate's contract: chain and deferred recipes are evaluated where they are read, wrappers where they stand.
        for op in certificate.chain.iter().chain(&certificate.deferred) {
            places.extend(
                kernel
                    .op(*op)
                    .results
                    .iter()
                    .map(|&value| (value, Materialization::Recipe)),
            );
        }
        for op in &certificate.wrappers {
            places.extend(
                kernel
                    .op(*op)
                    .results
                    .iter()
                    .map(|&value| (value, Materialization::Snapshot)),
            );
        }
    }
    let places = Places {
        fused,
        required: places,
    };

    let local_axis = match plan.distribution {
        Distribution::PacketLocal => local_axis(&kernel),
        Distribution::WholeProgram => None,
    };
    let uses = Uses::of(&kernel);
    let varies = vary_between_lanes(&kernel, plan.distribution)?;
    let start = (Placement::default(), 0);
    let mut realization = lay_out(&kernel, plan, local_axis, &uses, &varies, &places, start)?;
    if realization.guarded {
        let plain = Plan {
            reload: Reload::Never,
            ..plan.clone()
        };
        let used = &realization.laid_out;
        let placement = Placement {
            stack_bytes: used.stack_bytes,
            worker_bytes: used.worker_bytes,
        };
        let fallback = lay_out(
            &kernel,
            &plain,
            local_axis,
            &uses,
            &varies,
            &places,
            (placement, 0),
        )?
        .laid_out;
        let main = &mut realization.laid_out;
        main.stack_bytes = fallback.stack_bytes;
        main.worker_bytes = fallback.worker_bytes;
        main.shared_bytes_per_packet = main
            .shared_bytes_per_packet
            .max(fallback.shared_bytes_per_packet);
        main.fallback = Some(Box::new(Realization {
            shared_bytes_per_packet: main.shared_bytes_per_packet,
            ..fallback
        }));
    }
    Ok(realization.laid_out)
}

/// What fusion settles about values before anything else is laid out.
struct Places {
    /// The value and the reduction of each fused subject.
    fused: BTreeMap<Subject, (Value, Op)>,
    /// What certificates require of values on the way.
    required: BTreeMap<Value, Materialization>,
}

/// A realization without its fallback, and whether it needs one.
struct LaidOut {
    laid_out: Realization,
    guarded: bool,
}

/// Lays out one body, its arrays placed after `start`.
fn lay_out(
    kernel: &Verified,
    plan: &Plan,
    local_axis: Option<Axis>,
    uses: &Uses,
    varies: &[bool],
    places: &Places,
    start: (Placement, u64),
) -> Result<LaidOut, Refusal> {
    let mut layout = Layout {
        kernel,
        plan,
        local_axis,
        uses,
        varies,
        places,
        guarded: false,
        values: vec![None; kernel.values().len()],
        arrays: Vec::new(),
        placement: start.0,
        shared_bytes: start.1,
        reads: BTreeMap::new(),
        crossing: Vec::new(),
    };
    let mut nests = Vec::new();
    for &op in &kernel.region(kernel.body()).ops {
        if let OpKind::Parallel { body, .. } = kernel.op(op).kind {
            nests.push(layout.nest(op, body)?);
        }
    }
    let Layout {
        values,
        arrays,
        placement,
        shared_bytes,
        reads,
        guarded,
        ..
    } = layout;
    let bytes = placement.worker_bytes + placement.stack_bytes;
    if bytes > WORKSPACE_LIMIT || shared_bytes > WORKSPACE_LIMIT {
        return Err(Refusal::TooLarge {
            bytes: bytes.max(shared_bytes),
        });
    }
    let laid_out = Realization {
        kernel: kernel.clone(),
        plan: plan.clone(),
        local_axis,
        values,
        varies: varies.to_vec(),
        arrays,
        trees: trees(kernel, plan, local_axis),
        fused: reads,
        nests,
        fallback: None,
        stack_bytes: placement.stack_bytes,
        worker_bytes: placement.worker_bytes,
        shared_bytes_per_packet: shared_bytes,
    };
    Ok(LaidOut { laid_out, guarded })
}

/// The tree each reduction takes under a plan. `local_axis` is what [`realize`] chose.
fn trees(kernel: &Kernel, plan: &Plan, local_axis: Option<Axis>) -> BTreeMap<Op, TreeShape> {
    let mut trees = BTreeMap::new();
    for op in kernel.ops() {
        let OpKind::Reduce { policy, dims, .. } = &kernel.op(op).kind else {
            continue;
        };
        let shape = match policy {
            Policy::Fold => continue,
            Policy::Tree => numerics::TREE,
            Policy::Unordered => {
                let distributed = local_axis.is_some_and(|axis| distributes(kernel, dims, axis))
                    && !in_nest(kernel, op);
                let width = if distributed {
                    plan.partials * plan.lanes.get()
                } else {
                    plan.partials
                };
                TreeShape::new(width, None).expect("partials and lanes are powers of two")
            }
        };
        trees.insert(op, shape);
    }
    trees
}

/// An axis that some tile, nest, iota or extent needs and that has no extent.
fn open_axis(kernel: &Kernel) -> Option<Axis> {
    kernel.open_axes().into_iter().next()
}

/// Work in progress of [`realize`].
struct Layout<'k> {
    kernel: &'k Verified,
    plan: &'k Plan,
    local_axis: Option<Axis>,
    uses: &'k Uses,
    varies: &'k [bool],
    places: &'k Places,
    values: Vec<Option<Representation>>,
    arrays: Vec<PrivateArray>,
    placement: Placement,
    shared_bytes: u64,
    reads: BTreeMap<Op, Vec<FusedRead>>,
    /// Whether some load is read again on the strength of the guard.
    guarded: bool,
    /// Values that must outlive a stage of the nest at hand.
    crossing: Vec<bool>,
}

impl Layout<'_> {
    fn nest(&mut self, op: Op, body: Region) -> Result<Nest, Refusal> {
        let mut segments = vec![Vec::new()];
        for &op in &self.kernel.region(body).ops {
            match self.kernel.op(op).kind {
                OpKind::Stage => segments.push(Vec::new()),
                _ => segments
                    .last_mut()
                    .expect("there is always a segment")
                    .push(op),
            }
        }
        self.crossing = self.values_that_cross(&segments);
        let shared_before = self.shared_bytes;
        for segment in &segments {
            for &op in segment {
                self.op(op)?;
            }
        }
        let mut carried_scalars = BTreeMap::new();
        for value in self.kernel.values() {
            let anew = self.kernel.defining_op(value).is_some_and(|op| {
                matches!(
                    self.kernel.op(op).kind,
                    OpKind::Const(_) | OpKind::Extent(_) | OpKind::ScalarParam(_)
                )
            });
            if self.crossing[value.index()]
                && self.values[value.index()] == Some(Representation::Scalar)
                && !anew
            {
                let lanes = if self.varies[value.index()] {
                    u64::from(self.plan.lanes.get())
                } else {
                    1
                };
                let bytes = private_bytes(self.kernel.ty(value).element) * lanes;
                carried_scalars.insert(value, self.shared_bytes);
                self.shared_bytes += bytes.next_multiple_of(64);
            }
        }
        debug_assert!(self.shared_bytes >= shared_before);
        Ok(Nest {
            op,
            segments,
            carried_scalars,
        })
    }

    /// Values defined in one segment whose elements a later segment reads, directly or through recipes.
    fn values_that_cross(&self, segments: &[Vec<Op>]) -> Vec<bool> {
        let mut crossing = vec![false; self.kernel.values().len()];
        if segments.len() < 2 {
            return crossing;
        }
        let mut segment_of = vec![usize::MAX; self.kernel.values().len()];
        for (index, segment) in segments.iter().enumerate() {
            for &op in segment {
                for &result in &self.kernel.op(op).results {
                    segment_of[result.index()] = index;
                }
            }
        }
        for (index, segment) in segments.iter().enumerate() {
            let mut pending = Vec::new();
            segment
                .iter()
                .for_each(|&op| self.free_operands(op, &mut pending));
            let mut seen = vec![false; self.kernel.values().len()];
            while let Some(value) = pending.pop() {
                if std::mem::replace(&mut seen[value.index()], true) {
                    continue;
                }
                if segment_of[value.index()] < index {
                    crossing[value.index()] = true;
                    // A recipe is evaluated again from what it reads.
                    if let Some(op) = self.kernel.defining_op(value) {
                        self.free_operands(op, &mut pending);
                    }
                }
            }
        }
        crossing
    }

    /// The operands of an operation and of everything nested in it.
    fn free_operands(&self, op: Op, out: &mut Vec<Value>) {
        let kind = &self.kernel.op(op).kind;
        out.extend(kind.operands());
        for region in kind.regions() {
            out.extend(&self.kernel.region(region).yields);
            for &inner in &self.kernel.region(region).ops {
                self.free_operands(inner, out);
            }
        }
    }

    fn op(&mut self, op: Op) -> Result<(), Refusal> {
        let kernel = self.kernel;
        let data = kernel.op(op);
        match &data.kind {
            OpKind::Load { .. } => self.load(op, data.results[0])?,
            OpKind::For { body, .. } => {
                let region = kernel.region(*body);
                self.values[region.args[0].index()] = Some(Representation::Scalar);
                for (arg, result) in region.args[1..].iter().zip(&data.results) {
                    let representation = if kernel.ty(*arg).is_scalar() {
                        Representation::Scalar
                    } else {
                        Representation::Private(self.array(*result))
                    };
                    self.values[arg.index()] = Some(representation);
                    self.values[result.index()] = Some(representation);
                }
                for &inner in &region.ops {
                    self.op(inner)?;
                }
            }
            _ => {
                for &result in &data.results {
                    let representation = self.pure(op, result)?;
                    self.values[result.index()] = Some(representation);
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, op: Op, value: Value) -> Result<(), Refusal> {
        let ty = self.kernel.ty(value);
        let representation = if ty.is_scalar() {
            Representation::Scalar
        } else if let Some(&(value, reduction)) = self.places.fused.get(&Subject::Load(op)) {
            self.fuse(Subject::Load(op), value, reduction)
        } else {
            match self.plan.materialization.get(&value) {
                None if self.may_reload_guarded(op, value) => Representation::Reload,
                None | Some(Materialization::Snapshot) => {
                    Representation::Private(self.array(value))
                }
                Some(Materialization::Recipe) => return Err(Refusal::NoRecipe { value }),
                Some(Materialization::Reload) => {
                    may_reload(self.kernel, op, value, Aliasing::Possible)
                        .map_err(|reason| Refusal::NoReload { value, reason })?;
                    Representation::Reload
                }
            }
        };
        self.values[value.index()] = Some(representation);
        Ok(())
    }

    /// Whether a load that the plan doesn't name is read again from its view.
    fn may_reload_guarded(&mut self, op: Op, value: Value) -> bool {
        if self.plan.reload == Reload::Never
            || may_reload(self.kernel, op, value, Aliasing::Excluded).is_err()
        {
            return false;
        }
        self.guarded |= may_reload(self.kernel, op, value, Aliasing::Possible).is_err();
        true
    }

    fn fuse(&mut self, subject: Subject, value: Value, reduction: Op) -> Representation {
        let save = self
            .is_read(value, Some(reduction))
            .then(|| self.array(value));
        self.reads.entry(reduction).or_default().push(FusedRead {
            subject,
            value,
            save,
        });
        Representation::Fused { reduction, save }
    }

    /// Whether anybody reads the value, but for the reduction it is fused into. A value that only dead recipes take isn't read.
    fn is_read(&self, value: Value, fused: Option<Op>) -> bool {
        let mut pending = vec![value];
        let mut seen = vec![false; self.kernel.values().len()];
        while let Some(value) = pending.pop() {
            if std::mem::replace(&mut seen[value.index()], true) {
                continue;
            }
            let definition = self.kernel.value(value).definition;
            if self.uses.is_yielded(value)
                && !fused.is_some_and(|reduction| self.inside(definition, reduction))
            {
                return true;
            }
            for &user in self.uses.users(value) {
                if fused
                    .is_some_and(|reduction| user == reduction || self.op_inside(user, reduction))
                {
                    continue;
                }
                match self.kernel.op(user).kind {
                    // A chain of recipes ends in whoever reads it.
                    OpKind::Unary(..)
                    | OpKind::Binary(..)
                    | OpKind::Compare(..)
                    | OpKind::Select { .. }
                    | OpKind::Fma(..)
                    | OpKind::Cast(..)
                    | OpKind::Broadcast(..)
                    | OpKind::Reshape(..)
                    | OpKind::Permute(..) => pending.extend(&self.kernel.op(user).results),
                    _ => return true,
                }
            }
        }
        false
    }

    fn inside(&self, definition: Definition, owner: Op) -> bool {
        match definition {
            Definition::Result { op, .. } => self.op_inside(op, owner),
            Definition::Argument { region, .. } => self
                .kernel
                .region(region)
                .owner
                .is_some_and(|op| op == owner || self.op_inside(op, owner)),
        }
    }

    fn op_inside(&self, op: Op, owner: Op) -> bool {
        let mut region = self.kernel.op(op).parent;
        while let Some(above) = self.kernel.region(region).owner {
            if above == owner {
                return true;
            }
            region = self.kernel.op(above).parent;
        }
        false
    }

    fn pure(&mut self, op: Op, value: Value) -> Result<Representation, Refusal> {
        if self.kernel.ty(value).is_scalar() {
            return Ok(Representation::Scalar);
        }
        if let Some(&(value, reduction)) = self.places.fused.get(&Subject::Expression(value)) {
            return Ok(self.fuse(Subject::Expression(value), value, reduction));
        }
        let wanted = self.plan.materialization.get(&value);
        let required = self.places.required.get(&value);
        if let (Some(wanted), Some(required)) = (wanted, required)
            && wanted != required
        {
            return Err(Refusal::FusionNeeds {
                value,
                required: *required,
            });
        }
        let materialize = match wanted.or(required) {
            // A wrapper runs its fused reduction where it stands, whoever reads what it makes.
            Some(Materialization::Snapshot) => required.is_some() || self.is_read(value, None),
            Some(Materialization::Recipe) => false,
            Some(Materialization::Reload) => {
                return Err(Refusal::NoReload {
                    value,
                    reason: "it is computed, not loaded",
                });
            }
            None => self.worth_an_array(op, value),
        };
        Ok(if materialize {
            Representation::Private(self.array(value))
        } else {
            Representation::Recipe
        })
    }

    /// The rule for pure tiles that the plan doesn't name.
    fn worth_an_array(&self, op: Op, value: Value) -> bool {
        if !self.costly(op) {
            return false;
        }
        let again = self
            .uses
            .users(value)
            .iter()
            .any(|&user| self.reads_again(user, value));
        (self.uses.count(value) > 1 || again) && self.is_read(value, None)
    }

    /// Whether evaluating one element of the operation's result is worth a private read.
    fn costly(&self, op: Op) -> bool {
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            let data = self.kernel.op(op);
            match &data.kind {
                OpKind::Unary(UnaryOp::Math(_) | UnaryOp::Sqrt | UnaryOp::Rsqrt, _)
                | OpKind::Reduce { .. } => return true,
                OpKind::Binary(tile_ir::BinaryOp::Div | tile_ir::BinaryOp::Rem, ..) => return true,
                _ => {}
            }
            for region in data.kind.regions() {
                pending.extend(&self.kernel.region(region).ops);
            }
            // Materialised operands cost a read only; they were settled before, in program order.
            for operand in data.kind.operands() {
                if self.values[operand.index()] == Some(Representation::Recipe) {
                    pending.extend(self.kernel.defining_op(operand));
                }
            }
        }
        false
    }

    /// Whether a reader may read some element more than once: it stands in a nest that has dimensions the value lacks, or in a loop
    /// the value was defined outside of.
    fn reads_again(&self, user: Op, value: Value) -> bool {
        let home = match self.kernel.value(value).definition {
            Definition::Result { op, .. } => self.kernel.op(op).parent,
            Definition::Argument { region, .. } => region,
        };
        let own: &TileType = self.kernel.ty(value);
        let mut region = self.kernel.op(user).parent;
        while region != home {
            let Some(owner) = self.kernel.region(region).owner else {
                return false;
            };
            match &self.kernel.op(owner).kind {
                OpKind::For { .. } => return true,
                OpKind::Map { dims, .. } | OpKind::Reduce { dims, .. }
                    if dims
                        .iter()
                        .any(|dim| *dim != Dim::Unit && !own.dims.contains(dim)) =>
                {
                    return true;
                }
                _ => {}
            }
            region = self.kernel.op(owner).parent;
        }
        match &self.kernel.op(user).kind {
            OpKind::Broadcast(..) => true,
            OpKind::Extract { at, .. } => !at.iter().all(|&v| self.is_coordinate(v)),
            _ => false,
        }
    }

    fn is_coordinate(&self, value: Value) -> bool {
        matches!(
            self.kernel.value(value).definition,
            Definition::Argument { .. }
        )
    }

    fn array(&mut self, value: Value) -> ArrayKey {
        let ty = self.kernel.ty(value);
        let lanes = u64::from(self.plan.lanes.get());
        let mut slots = 1u64;
        let mut spread = if self.varies[value.index()] {
            Spread::PerLane
        } else {
            Spread::Uniform
        };
        for &dim in &ty.dims {
            let extent = u64::from(self.kernel.extent(dim).expect("open axes were refused"));
            if self.local_axis.is_some_and(|axis| dim == Dim::Axis(axis)) {
                spread = Spread::Distributed;
                slots = slots.saturating_mul(extent.div_ceil(lanes));
            } else {
                slots = slots.saturating_mul(extent);
            }
        }
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let width = if spread == Spread::Uniform { 1 } else { lanes };
        let bytes = u64::from(slots).saturating_mul(private_bytes(ty.element) * width);
        let home = if self.crossing[value.index()] {
            let offset = self.shared_bytes;
            self.shared_bytes += bytes.next_multiple_of(64);
            Home::Shared(offset)
        } else {
            self.placement.place(bytes)
        };
        self.arrays.push(PrivateArray {
            value,
            element: ty.element,
            spread,
            slots,
            home,
        });
        ArrayKey(self.arrays.len() as u32 - 1)
    }
}
