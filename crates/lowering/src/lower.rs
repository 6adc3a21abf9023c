//! `lower`: a realization written as XIR, one entry for each segment between stages.

use kernel_abi::{ParamShape, RecordLayout};
use simd_mapping::{Distribution, FullPackets, Nest, Realization, Representation, private_bytes};
use tile_ir::{
    Axis, Dim, Kernel, Op, OpKind, ParamKind, Region as TileRegion, Subscript, Value as TileValue,
};
use xir::{
    Access, BinaryOp, CompareOp, ConvertOp, Elem, Entry, Extent, Inlining, MemElem, Program, Value,
};

use crate::coordinate::Coord;
use crate::emitter::Emitter;
use crate::lowerer::{Lowerer, elem_of};

/// The launch record of a kernel: its parameters, then its axes.
pub fn record_layout(kernel: &Kernel) -> RecordLayout {
    let params: Vec<ParamShape> = kernel
        .params()
        .map(|param| match &kernel.param(param).kind {
            ParamKind::View(view) => ParamShape::View {
                rank: view.dims.len() as u32,
            },
            ParamKind::Scalar(_) => ParamShape::Scalar,
        })
        .collect();
    RecordLayout::new(&params, kernel.axes().len() as u32)
}

/// Writes a realization as XIR. Keeps every decision of the realization, and makes none of its own but the order of instructions.
pub fn lower(realization: &Realization) -> Program {
    let kernel: &Kernel = &realization.kernel;
    let layout = record_layout(kernel);
    let program = Program::new(kernel.name.clone(), realization.plan.lanes);
    let mut lowerer = Lowerer::new(realization, &layout, Emitter::new(program));
    for n in 0..realization.nests.len() {
        for segment in 0..realization.nests[n].segments.len() {
            lowerer.entry(n, segment);
        }
    }
    let placement = lowerer.placement;
    let mut program = lowerer.emit.into_program();
    program.worker_bytes = placement.worker_bytes;
    program.shared_bytes_per_packet = realization.shared_bytes_per_packet;
    program
}

impl<'r> Lowerer<'r> {
    /// One segment of a nest, as an entry over packets.
    fn entry(&mut self, number: usize, segment: usize) {
        let main = self.realization;
        let OpKind::Parallel { axes, body } = &self.kernel.op(main.nests[number].op).kind else {
            unreachable!("a nest is a parallel operation");
        };
        let name = format!("{}_{number}_{segment}", self.kernel.name);
        let programs_per_packet = match main.plan.distribution {
            Distribution::WholeProgram => self.emit.lanes(),
            Distribution::PacketLocal => 1,
        };
        let outlined = self.outlined_body(&name, &main.nests[number], segment, axes, *body);
        let (function, args) = self.emit.begin_function(name, Inlining::Outline, 2);
        self.forget_function();
        match &main.fallback {
            None => self.packets_of(main, number, segment, axes, *body, &args, outlined),
            Some(fallback) => {
                let disjoint = self.written_views_are_disjoint();
                let then = self.emit.begin_side();
                self.packets_of(main, number, segment, axes, *body, &args, outlined);
                self.emit.end_side();
                let otherwise = self.emit.begin_side();
                self.switch_to(fallback);
                self.packets_of(fallback, number, segment, axes, *body, &args, None);
                self.switch_to(main);
                self.emit.end_side();
                self.emit.end_if(disjoint, then, otherwise);
            }
        }
        self.emit.end_function();
        let extents = axes
            .iter()
            .map(|&axis| match self.kernel.axis(axis).extent {
                Some(extent) => Extent::Fixed(extent),
                None => Extent::Word(self.layout.axis(axis.index())),
            })
            .collect();
        self.emit.program_mut().entries.push(Entry {
            function,
            extents,
            programs_per_packet,
        });
    }

    /// The loop over the packets of one segment.
    #[expect(
        clippy::too_many_arguments,
        reason = "a segment is its nest, its number and where it stands"
    )]
    fn packets_of(
        &mut self,
        realization: &'r Realization,
        number: usize,
        segment: usize,
        axes: &[Axis],
        body: TileRegion,
        range: &[Value],
        outlined: Option<xir::Function>,
    ) {
        let nest = &realization.nests[number];
        let extents: Vec<Value> = axes.iter().map(|&axis| self.extent_of(axis)).collect();
        // How many packets lie along each axis.
        let mut counts = extents.clone();
        if realization.plan.distribution == Distribution::WholeProgram
            && let Some(last) = counts.last_mut()
        {
            let lanes = self.emit.lanes();
            let up = self.emit.add_i64(*last, i64::from(lanes) - 1);
            let shift = self.emit.i64(i64::from(lanes.trailing_zeros()));
            *last = self.emit.binary(BinaryOp::ShrS, up, shift);
        }
        let start = self.first_coordinates(range[0], &counts);
        self.repeat_between(range[0], range[1], 1, start, &mut |this, packet, at| {
            this.packet_body(nest, segment, body, packet, &extents, &at, outlined);
            this.next_coordinates(at, &counts)
        });
    }

    /// Whether no written view shares a byte with any other view: the guard of reloads. Views are taken as ranges of addresses, so
    /// interleaved views count as overlapping; the fallback is right for them too.
    fn written_views_are_disjoint(&mut self) -> Value {
        let kernel = self.kernel;
        let views: Vec<(tile_ir::Param, bool)> = kernel
            .params()
            .filter_map(|param| kernel.view(param).map(|view| (param, view.mutable)))
            .collect();
        let ranges: Vec<(Value, Value)> = views
            .iter()
            .map(|&(param, _)| self.address_range(param))
            .collect();
        let mut disjoint: Option<Value> = None;
        for (i, &(_, mutable)) in views.iter().enumerate() {
            for (j, &(_, other_mutable)) in views.iter().enumerate() {
                if i == j || !mutable || (other_mutable && j < i) {
                    continue;
                }
                let before = self.emit.compare(CompareOp::Le, ranges[i].1, ranges[j].0);
                let after = self.emit.compare(CompareOp::Le, ranges[j].1, ranges[i].0);
                let apart = self.emit.binary(BinaryOp::Or, before, after);
                disjoint = Some(match disjoint {
                    Some(so_far) => self.emit.binary(BinaryOp::And, so_far, apart),
                    None => apart,
                });
            }
        }
        disjoint.unwrap_or_else(|| {
            self.emit
                .constant(xir::Constant::Bool(true), xir::Shape::Uniform)
        })
    }

    /// First address of a view and the one behind its last byte. User addresses fit a signed number.
    fn address_range(&mut self, param: tile_ir::Param) -> (Value, Value) {
        let view = self.kernel.view(param).expect("only views have addresses");
        let base = self
            .emit
            .record(self.layout.param(param.index()), Elem::I64);
        let zero = self.emit.i64(0);
        let (mut low, mut high) = (base, self.emit.add_i64(base, view.element.size() as i64));
        for dim in 0..view.dims.len() {
            let extent = self
                .emit
                .record(self.layout.extent(param.index(), dim), Elem::I64);
            let stride = self
                .emit
                .record(self.layout.stride(param.index(), dim), Elem::I64);
            let last = self.emit.add_i64(extent, -1);
            let span = self.emit.binary(BinaryOp::Mul, last, stride);
            let down = self.emit.binary(BinaryOp::Min, span, zero);
            let up = self.emit.binary(BinaryOp::Max, span, zero);
            low = self.emit.add(low, down);
            high = self.emit.add(high, up);
        }
        (low, high)
    }

    fn extent_of(&mut self, axis: Axis) -> Value {
        match self.kernel.axis(axis).extent {
            Some(extent) => self.emit.i64(i64::from(extent)),
            None => self.emit.record(self.layout.axis(axis.index()), Elem::I64),
        }
    }

    /// The coordinates of a packet; with at most one axis the packet's number itself, and nothing is carried.
    fn first_coordinates(&mut self, packet: Value, counts: &[Value]) -> Vec<Value> {
        if counts.len() < 2 {
            return Vec::new();
        }
        let mut rest = packet;
        let mut at = Vec::new();
        for &count in counts[1..].iter().rev() {
            at.push(self.emit.binary(BinaryOp::Rem, rest, count));
            rest = self.emit.binary(BinaryOp::Div, rest, count);
        }
        at.push(rest);
        at.reverse();
        at
    }

    /// The coordinates of the next packet, without a division.
    fn next_coordinates(&mut self, at: Vec<Value>, counts: &[Value]) -> Vec<Value> {
        let mut next = at.clone();
        let mut carry: Option<Value> = None;
        for i in (0..at.len()).rev() {
            let plus = self.emit.add_i64(at[i], 1);
            let moved = match carry {
                None => plus,
                Some(carry) => self.emit.select(carry, plus, at[i]),
            };
            if i == 0 {
                next[i] = moved;
                break;
            }
            let full = self.emit.compare(CompareOp::Ge, moved, counts[i]);
            let zero = self.emit.i64(0);
            next[i] = self.emit.select(full, zero, moved);
            carry = Some(full);
        }
        next
    }

    /// The body of full packets as a function of its own, if the plan wants one: it takes the packet and the coordinates.
    fn outlined_body(
        &mut self,
        name: &str,
        nest: &Nest,
        segment: usize,
        axes: &[Axis],
        body: TileRegion,
    ) -> Option<xir::Function> {
        let plan = &self.realization.plan;
        let wanted = plan.full_packets == FullPackets::Outlined
            && plan.distribution == Distribution::WholeProgram;
        if !wanted || axes.is_empty() {
            return None;
        }
        let (function, args) =
            self.emit
                .begin_function(format!("{name}_full"), Inlining::Outline, 1 + axes.len());
        self.forget_function();
        self.packet = Some(args[0]);
        let at = &args[1..];
        let lanes = self.lanes();
        let last = self.emit.mul_i64(at[at.len() - 1], lanes);
        let mut coords: Vec<Coord> = at[..at.len() - 1]
            .iter()
            .map(|&v| Coord::uniform(v))
            .collect();
        coords.push(Coord::Lanes {
            base: Some(last),
            add: 0,
            step: 1,
        });
        let count = self.emit.i64(lanes);
        self.programs = None;
        let extents: Vec<Value> = axes.iter().map(|&axis| self.extent_of(axis)).collect();
        let first = self.program_number(&extents, at, Some(last));
        self.programs = Some((first, count));
        self.body(nest, segment, body, &coords);
        self.emit.end_function();
        Some(function)
    }

    /// The row-major number of a program: outer coordinates as given, the innermost replaced by `last` if given.
    fn program_number(&mut self, extents: &[Value], at: &[Value], last: Option<Value>) -> Value {
        let mut number = self.emit.i64(0);
        for (i, (&extent, &coord)) in extents.iter().zip(at).enumerate() {
            let scaled = self.emit.binary(BinaryOp::Mul, number, extent);
            let coord = if i + 1 == at.len() {
                last.unwrap_or(coord)
            } else {
                coord
            };
            number = self.emit.add(scaled, coord);
        }
        number
    }

    /// One packet of programs.
    #[expect(
        clippy::too_many_arguments,
        reason = "a packet is its number, its coordinates and where it stands"
    )]
    fn packet_body(
        &mut self,
        nest: &Nest,
        segment: usize,
        body: TileRegion,
        packet: Value,
        extents: &[Value],
        carried: &[Value],
        outlined: Option<xir::Function>,
    ) {
        self.packet = Some(packet);
        let single = [packet];
        let at: &[Value] = if extents.is_empty() {
            &[]
        } else if carried.is_empty() {
            &single
        } else {
            carried
        };
        let one = self.emit.i64(1);
        if self.packet_local() || at.is_empty() {
            let first = self.program_number(extents, at, None);
            self.programs = Some((first, one));
            let coords: Vec<Coord> = at.iter().map(|&v| Coord::uniform(v)).collect();
            self.body(nest, segment, body, &coords);
            return;
        }
        let lanes = self.lanes();
        let (&inner, outer) = at.split_last().expect("there is an axis");
        let extent = *extents.last().expect("there is an axis");
        let base = self.emit.mul_i64(inner, lanes);
        let first = self.program_number(extents, at, Some(base));
        let outer: Vec<Coord> = outer.iter().map(|&v| Coord::uniform(v)).collect();
        let all = self.emit.i64(lanes);
        let rest = self.emit.binary(BinaryOp::Sub, extent, base);
        let count = self.emit.binary(BinaryOp::Min, rest, all);
        let shared = self.realization.plan.full_packets == FullPackets::Shared;
        if !shared {
            let full = self.emit.compare(CompareOp::Ge, rest, all);
            let then = self.emit.begin_side();
            match outlined {
                Some(function) => {
                    let mut args = vec![packet];
                    args.extend_from_slice(at);
                    self.emit.call(function, args);
                }
                None => {
                    let mut coords = outer.clone();
                    coords.push(Coord::Lanes {
                        base: Some(base),
                        add: 0,
                        step: 1,
                    });
                    self.programs = Some((first, all));
                    self.body(nest, segment, body, &coords);
                }
            }
            self.emit.end_side();
            let otherwise = self.emit.begin_side();
            self.shadowing_body(nest, segment, body, outer, base, extent, first, count);
            self.emit.end_side();
            self.emit.end_if(full, then, otherwise);
        } else {
            self.shadowing_body(nest, segment, body, outer, base, extent, first, count);
        }
    }

    /// A packet whose dead lanes shadow the last live program: they read and write what it reads and writes.
    #[expect(
        clippy::too_many_arguments,
        reason = "a packet is its number, its coordinates and where it stands"
    )]
    fn shadowing_body(
        &mut self,
        nest: &Nest,
        segment: usize,
        body: TileRegion,
        mut coords: Vec<Coord>,
        base: Value,
        extent: Value,
        first: Value,
        count: Value,
    ) {
        let lane = self.emit.lane_index();
        let live = self.emit.convert(ConvertOp::I64ToI32, count);
        let one = self.emit.i32(1);
        let last = self.emit.binary(BinaryOp::Sub, live, one);
        let lane = self.emit.binary(BinaryOp::Min, lane, last);
        let lane = self.emit.convert(ConvertOp::I32ToI64, lane);
        let at = self.emit.add(base, lane);
        debug_assert!(self.emit.ty(extent).elem == Elem::I64);
        coords.push(Coord::General(at));
        self.programs = Some((first, count));
        self.body(nest, segment, body, &coords);
    }

    /// The operations of one segment for one packet.
    fn body(&mut self, nest: &Nest, segment: usize, body: TileRegion, coords: &[Coord]) {
        self.forget_body();
        let kernel = self.kernel;
        for (&arg, &coord) in kernel.region(body).args.iter().zip(coords) {
            self.coords.insert(arg, coord);
        }
        if segment > 0 {
            for (&value, &offset) in &nest.carried_scalars {
                let defined = self.segment_of(nest, value);
                if defined < segment {
                    let number = self.reload_scalar(value, offset);
                    self.scalars.insert(value, number);
                }
            }
        }
        for &op in &nest.segments[segment] {
            self.step(op);
            for &result in &kernel.op(op).results {
                if let (Some(&offset), Some(&value)) =
                    (nest.carried_scalars.get(&result), self.scalars.get(&result))
                {
                    self.keep_scalar(result, offset, value);
                }
            }
        }
    }

    fn segment_of(&self, nest: &Nest, value: TileValue) -> usize {
        let op = self.kernel.defining_op(value);
        nest.segments
            .iter()
            .position(|ops| op.is_some_and(|op| ops.contains(&op)))
            .unwrap_or(usize::MAX)
    }

    fn scalar_memory(&mut self, value: TileValue, offset: u64) -> (MemElem, Access, Value) {
        let elem = elem_of(self.kernel.ty(value).element);
        let mem = match elem {
            Elem::F32 => MemElem::F32,
            Elem::F64 => MemElem::F64,
            Elem::I32 | Elem::Bool | Elem::I64 => MemElem::I32,
        };
        debug_assert_eq!(
            u64::from(mem.bytes()),
            private_bytes(self.kernel.ty(value).element)
        );
        let live = self.emit.lanes();
        let access = if self.realization.varies(value) {
            Access::Contiguous { live }
        } else {
            Access::Scalar
        };
        (mem, access, self.shared_address(offset))
    }

    fn reload_scalar(&mut self, value: TileValue, offset: u64) -> Value {
        let (mem, access, address) = self.scalar_memory(value, offset);
        let raw = self.emit.load(mem, access, address, 0, None);
        if elem_of(self.kernel.ty(value).element) == Elem::Bool {
            let zero = self.emit.i32(0);
            return self.emit.compare(CompareOp::Ne, raw, zero);
        }
        raw
    }

    fn keep_scalar(&mut self, value: TileValue, offset: u64, number: Value) {
        let (mem, access, address) = self.scalar_memory(value, offset);
        let number = if self.emit.ty(number).elem == Elem::Bool {
            self.emit.convert(ConvertOp::BoolToI32, number)
        } else {
            number
        };
        let number = if matches!(access, Access::Scalar) {
            number
        } else {
            self.emit.splat(number)
        };
        self.emit.store(mem, access, address, 0, None, number);
    }

    /// One operation outside nests, where it stands.
    fn step(&mut self, op: Op) {
        let kernel = self.kernel;
        let data = kernel.op(op);
        match &data.kind {
            OpKind::Load { view, at } => {
                let captured = self.capture(*view, at);
                let value = data.results[0];
                match self.representation(value) {
                    Some(Representation::Scalar) => {
                        let number = self.read_view(&captured, &[]);
                        self.scalars.insert(value, number);
                    }
                    Some(Representation::Private(key)) => {
                        let dims = kernel.ty(value).dims.clone();
                        self.traverse(&dims, &mut |this, index| {
                            let element = this.read_view(&captured, index);
                            this.write_array(key, index, element);
                        });
                    }
                    Some(Representation::Fused { .. } | Representation::Reload) => {
                        self.captured.insert(op, captured);
                    }
                    Some(Representation::Recipe) | None => unreachable!("a load has a place"),
                }
            }
            OpKind::Store { view, at, value } => {
                let captured = self.capture(*view, at);
                let dims = window_dims(at);
                let scalar = kernel.ty(*value).is_scalar();
                self.traverse(&dims, &mut |this, index| {
                    let element = if scalar {
                        this.scalar(*value)
                    } else {
                        this.element(*value, index)
                    };
                    this.write_view(&captured, index, element);
                });
            }
            OpKind::For {
                lower,
                upper,
                inits,
                body,
            } => self.for_loop(op, *lower, *upper, inits, *body),
            OpKind::Opaque { id } => {
                let (first, count) = self.programs.expect("a body has programs");
                self.emit.opaque(*id, first, count);
            }
            OpKind::Reduce { .. } => {
                let values = self.scoped(|this| this.reduce(op));
                for (&result, value) in data.results.iter().zip(values) {
                    self.scalars.insert(result, value);
                }
            }
            _ => {
                for &result in &data.results {
                    match self.representation(result) {
                        Some(Representation::Scalar) => {
                            let value = self.element(result, &[]);
                            self.scalars.insert(result, value);
                        }
                        Some(Representation::Private(key)) => self.materialise(op, result, key),
                        Some(
                            Representation::Recipe
                            | Representation::Fused { .. }
                            | Representation::Reload,
                        )
                        | None => {}
                    }
                }
            }
        }
    }

    /// Writes every element of a pure value to its array.
    fn materialise(&mut self, op: Op, value: TileValue, key: simd_mapping::ArrayKey) {
        let kernel = self.kernel;
        let dims = kernel.ty(value).dims.clone();
        let result = kernel
            .op(op)
            .results
            .iter()
            .position(|&v| v == value)
            .expect("the operation makes it");
        self.traverse(&dims, &mut |this, index| {
            let element = this.unfold(op, result, index);
            this.write_array(key, index, element);
        });
    }

    fn for_loop(
        &mut self,
        op: Op,
        lower: TileValue,
        upper: TileValue,
        inits: &[TileValue],
        body: TileRegion,
    ) {
        let kernel = self.kernel;
        let region = kernel.region(body);
        let results = kernel.op(op).results.clone();
        let carried: Vec<TileValue> = region.args[1..].to_vec();
        let mut scalar_inits = Vec::new();
        for (&init, &result) in inits.iter().zip(&results) {
            match self.representation(result) {
                Some(Representation::Private(key)) => self.copy_to(init, key),
                _ => {
                    let value = self.scalar(init);
                    scalar_inits.push(if self.realization.varies(result) {
                        self.emit.splat(value)
                    } else {
                        value
                    });
                }
            }
        }
        let bounds = [lower, upper].map(|bound| {
            let number = self.scalar(bound);
            self.emit.convert(ConvertOp::I32ToI64, number)
        });
        let totals = self.repeat_between(
            bounds[0],
            bounds[1],
            1,
            scalar_inits,
            &mut |this, i, carries| {
                let number = this.emit.convert(ConvertOp::I64ToI32, i);
                this.scalars.insert(region.args[0], number);
                let scalar_args = carried.iter().filter(|&&arg| kernel.ty(arg).is_scalar());
                for (&arg, value) in scalar_args.zip(carries) {
                    this.scalars.insert(arg, value);
                }
                for &inner in &region.ops {
                    this.step(inner);
                }
                this.next_carries(op, &region.yields, &results)
            },
        );
        let scalar_results = results
            .iter()
            .filter(|&&result| kernel.ty(result).is_scalar());
        for (&result, value) in scalar_results.zip(totals) {
            self.scalars.insert(result, value);
        }
    }

    /// The next scalar carries; tile carries go through scratch memory, for the next value may read the last one anywhere.
    fn next_carries(&mut self, op: Op, yields: &[TileValue], results: &[TileValue]) -> Vec<Value> {
        let mut next = Vec::new();
        let mut copies = Vec::new();
        for (which, (&value, &result)) in yields.iter().zip(results).enumerate() {
            let Some(Representation::Private(key)) = self.representation(result) else {
                let number = self.scalar(value);
                next.push(if self.realization.varies(result) {
                    self.emit.splat(number)
                } else {
                    number
                });
                continue;
            };
            let dims = self.kernel.ty(value).dims.clone();
            let array = self.realization.array(key);
            let (elem, slots) = (elem_of(array.element), array.slots);
            let shape = match array.spread {
                simd_mapping::Spread::Uniform => xir::Shape::Uniform,
                simd_mapping::Spread::PerLane | simd_mapping::Spread::Distributed => {
                    xir::Shape::Varying
                }
            };
            let scratch = self.scratch(op, which as u32, elem, shape, slots);
            self.traverse(&dims, &mut |this, index| {
                let element = this.element(value, index);
                let (base, add) = this.slot(key, index).expect("a traversal reaches slots");
                let (slot, offset) = this.slot_operands(base, add);
                this.emit.private_store(scratch, slot, offset, element);
            });
            copies.push((key, scratch, dims));
        }
        for (key, scratch, dims) in copies {
            self.traverse(&dims, &mut |this, index| {
                let (base, add) = this.slot(key, index).expect("a traversal reaches slots");
                let (slot, offset) = this.slot_operands(base, add);
                let element = this.emit.private_load(scratch, slot, offset);
                this.write_array(key, index, element);
            });
        }
        next
    }

    fn copy_to(&mut self, value: TileValue, key: simd_mapping::ArrayKey) {
        let dims = self.kernel.ty(value).dims.clone();
        self.traverse(&dims, &mut |this, index| {
            let element = this.element(value, index);
            this.write_array(key, index, element);
        });
    }
}

/// The dimensions of the tile that goes through subscripts.
fn window_dims(at: &[Subscript]) -> Vec<Dim> {
    at.iter()
        .filter_map(|subscript| match *subscript {
            Subscript::At(_) => None,
            Subscript::Window { axis, .. } => Some(Dim::Axis(axis)),
        })
        .collect()
}
