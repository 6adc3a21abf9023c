//! The state of one lowering, and the forms that coordinates take.

use hashbrown::HashMap;
use kernel_abi::RecordLayout;
use numerics::{ElementType, Scalar};
use simd_mapping::{
    ArrayKey, Distribution, Home, Placement, Realization, Representation, Spread, private_bytes,
};
use tile_ir::{Kernel, Op, Region as TileRegion, Value as TileValue};
use xir::{ArrayData, BinaryOp, CompareOp, Constant, ConvertOp, Elem, Shape, Space, Value};

use crate::access::Captured;
use crate::coordinate::Coord;
use crate::emitter::Emitter;

/// One lowering. It owns the realization's reader and dies with it, so nothing known of one kernel can reach the next.
pub(crate) struct Lowerer<'r> {
    pub(crate) realization: &'r Realization,
    pub(crate) kernel: &'r Kernel,
    pub(crate) layout: &'r RecordLayout,
    pub(crate) emit: Emitter,
    pub(crate) placement: Placement,
    /// Values of scalars outside nests, and of carries inside them.
    pub(crate) scalars: HashMap<TileValue, Value>,
    /// Coordinates bound to arguments of regions.
    pub(crate) coords: HashMap<TileValue, Coord>,
    /// What was evaluated already, innermost XIR region last.
    pub(crate) memo: Vec<HashMap<(TileValue, Vec<Coord>), Value>>,
    /// Views captured by loads.
    pub(crate) captured: HashMap<Op, Captured>,
    /// Live lanes of the packet at hand, if it is the last, partial one of the local axis.
    pub(crate) live: Option<u32>,
    /// Whether the packets at hand lie along the local axis.
    pub(crate) in_local: bool,
    /// Whether reductions walk the local axis element by element, because they stand inside a nest.
    pub(crate) serial: bool,
    /// The reductions whose traversals are being written.
    pub(crate) active: Vec<Op>,
    /// The index of the packet, and of its part of the shared workspace.
    pub(crate) packet: Option<Value>,
    /// First program of the packet, and how many it runs.
    pub(crate) programs: Option<(Value, Value)>,
    /// Arrays of the function at hand.
    arrays: HashMap<ArrayKey, xir::Array>,
    scratch: HashMap<(Op, u32, Shape), xir::Array>,
}

/// What a lane holds of an element type.
pub(crate) fn elem_of(element: ElementType) -> Elem {
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => Elem::F32,
        ElementType::F64 => Elem::F64,
        ElementType::I32 => Elem::I32,
        ElementType::Bool => Elem::Bool,
    }
}

/// A scalar as a constant.
pub(crate) fn constant_of(scalar: Scalar) -> Constant {
    match scalar {
        Scalar::F32(x) => Constant::f32(x),
        Scalar::F64(x) => Constant::f64(x),
        Scalar::I32(n) => Constant::I32(n),
        Scalar::Bool(b) => Constant::Bool(b),
    }
}

impl<'r> Lowerer<'r> {
    pub(crate) fn new(
        realization: &'r Realization,
        layout: &'r RecordLayout,
        emit: Emitter,
    ) -> Lowerer<'r> {
        Lowerer {
            realization,
            kernel: &realization.kernel,
            layout,
            emit,
            placement: Placement {
                stack_bytes: realization.stack_bytes,
                worker_bytes: realization.worker_bytes,
            },
            scalars: HashMap::new(),
            coords: HashMap::new(),
            memo: Vec::new(),
            captured: HashMap::new(),
            live: None,
            in_local: false,
            serial: false,
            active: Vec::new(),
            packet: None,
            programs: None,
            arrays: HashMap::new(),
            scratch: HashMap::new(),
        }
    }

    /// Forgets everything that belongs to one function.
    pub(crate) fn forget_function(&mut self) {
        self.forget_body();
        // An array in the worker's workspace serves every function; one on the stack belongs to a frame.
        let program = self.emit.program();
        let in_workspace =
            |array: xir::Array| matches!(program.array(array).space, Space::Worker { .. });
        self.arrays.retain(|_, &mut array| in_workspace(array));
        self.scratch.retain(|_, &mut array| in_workspace(array));
    }

    /// Goes on with another realization of the same kernel: the fallback of a guard, or back.
    pub(crate) fn switch_to(&mut self, realization: &'r Realization) {
        self.realization = realization;
        self.arrays.clear();
        self.forget_body();
    }

    /// Forgets everything that belongs to one body of a program.
    pub(crate) fn forget_body(&mut self) {
        self.scalars.clear();
        self.coords.clear();
        self.memo.clear();
        self.memo.push(HashMap::new());
        self.captured.clear();
        debug_assert!(self.live.is_none() && !self.in_local && self.active.is_empty());
    }

    pub(crate) fn lanes(&self) -> i64 {
        i64::from(self.emit.lanes())
    }

    pub(crate) fn packet_local(&self) -> bool {
        self.realization.plan.distribution == Distribution::PacketLocal
    }

    pub(crate) fn representation(&self, value: TileValue) -> Option<Representation> {
        self.realization.representation(value)
    }

    /// Runs `f` in a new scope of what was evaluated.
    pub(crate) fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.memo.push(HashMap::new());
        let result = f(self);
        self.memo.pop();
        result
    }

    /// Binds the leading arguments of a region to coordinates and runs `f` in a new scope.
    pub(crate) fn bound<T>(
        &mut self,
        region: TileRegion,
        index: &[Coord],
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let kernel = self.kernel;
        let args = &kernel.region(region).args;
        let before: Vec<Option<Coord>> = args
            .iter()
            .zip(index)
            .map(|(&arg, &coord)| self.coords.insert(arg, coord))
            .collect();
        let result = self.scoped(f);
        for (&arg, old) in args.iter().zip(before) {
            match old {
                Some(coord) => self.coords.insert(arg, coord),
                None => self.coords.remove(&arg),
            };
        }
        result
    }

    /// The XIR array of a private array that lives on the stack or in the worker's workspace.
    pub(crate) fn array(&mut self, key: ArrayKey) -> xir::Array {
        if let Some(&array) = self.arrays.get(&key) {
            return array;
        }
        let data = self.realization.array(key);
        let space = match data.home {
            Home::Stack => Space::Stack,
            Home::Worker(offset) => Space::Worker { offset },
            Home::Shared(_) => unreachable!("shared arrays are plain memory"),
        };
        let shape = match data.spread {
            Spread::Uniform => Shape::Uniform,
            Spread::PerLane | Spread::Distributed => Shape::Varying,
        };
        let name = self
            .kernel
            .value(data.value)
            .name
            .clone()
            .unwrap_or_else(|| data.value.to_string());
        let slots = data.slots;
        let array = self.emit.array(ArrayData {
            name,
            elem: elem_of(data.element),
            shape,
            slots,
            space,
        });
        self.arrays.insert(key, array);
        array
    }

    /// Scratch memory number `which` of a reduction, the same each time it is asked for in one function.
    pub(crate) fn scratch(
        &mut self,
        op: Op,
        which: u32,
        elem: Elem,
        shape: Shape,
        slots: u32,
    ) -> xir::Array {
        if let Some(&array) = self.scratch.get(&(op, which, shape))
            && self.emit.program().array(array).slots >= slots
        {
            return array;
        }
        let element = match elem {
            Elem::F64 | Elem::I64 => ElementType::F64,
            Elem::F32 | Elem::I32 | Elem::Bool => ElementType::F32,
        };
        let width = if shape == Shape::Varying {
            u64::from(self.emit.lanes())
        } else {
            1
        };
        let space = match self
            .placement
            .place(private_bytes(element) * width * u64::from(slots))
        {
            Home::Stack => Space::Stack,
            Home::Worker(offset) | Home::Shared(offset) => Space::Worker { offset },
        };
        let array = self.emit.array(ArrayData {
            name: format!("{op}.{which}"),
            elem,
            shape,
            slots,
            space,
        });
        self.scratch.insert((op, which, shape), array);
        array
    }

    /// The part of the shared workspace that belongs to the packet, plus an offset.
    pub(crate) fn shared_address(&mut self, offset: u64) -> Value {
        let base = self.emit.workspace(xir::Workspace::Shared);
        let packet = self.packet.expect("a body has a packet");
        let part = self
            .emit
            .mul_i64(packet, self.realization.shared_bytes_per_packet as i64);
        let address = self.emit.add(base, part);
        self.emit.add_i64(address, offset as i64)
    }

    // Coordinates.

    fn base_plus(&mut self, base: Option<Value>, add: i64) -> Value {
        match base {
            Some(base) => self.emit.add_i64(base, add),
            None => self.emit.i64(add),
        }
    }

    fn scaled(&mut self, base: Option<Value>, by: i64) -> Option<Value> {
        base.map(|base| self.emit.mul_i64(base, by))
    }

    fn sum(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.emit.add(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A uniform coordinate as a uniform i64.
    pub(crate) fn uniform_i64(&mut self, coord: Coord) -> Option<Value> {
        match coord {
            Coord::Uniform { base, add } => Some(self.base_plus(base, add)),
            Coord::Local { .. } | Coord::Lanes { .. } | Coord::General(_) => None,
        }
    }

    /// The form `base + add + step * lane` of a coordinate that has one.
    pub(crate) fn affine(&mut self, coord: Coord) -> Option<(Option<Value>, i64, i64)> {
        match coord {
            Coord::Uniform { base, add } => Some((base, add, 0)),
            Coord::Local { slot, add } => {
                let lanes = self.lanes();
                Some((self.scaled(slot, lanes), add * lanes, 1))
            }
            Coord::Lanes { base, add, step } => Some((base, add, step)),
            Coord::General(_) => None,
        }
    }

    pub(crate) fn lane_index_i64(&mut self) -> Value {
        let lane = self.emit.lane_index();
        self.emit.convert(ConvertOp::I32ToI64, lane)
    }

    /// Any coordinate as a varying i64.
    pub(crate) fn general(&mut self, coord: Coord) -> Value {
        if let Coord::General(value) = coord {
            return value;
        }
        let (base, add, step) = self
            .affine(coord)
            .expect("only a general coordinate has no affine form");
        let start = self.base_plus(base, add);
        if step == 0 {
            return self.emit.splat(start);
        }
        let lane = self.lane_index_i64();
        let step = self.emit.i64(step);
        let lanes = self.emit.binary(BinaryOp::Mul, lane, step);
        self.emit.add(start, lanes)
    }

    pub(crate) fn add_coords(&mut self, a: Coord, b: Coord) -> Coord {
        match (self.affine(a), self.affine(b)) {
            (Some((x, i, s)), Some((y, j, t))) => {
                let base = self.sum(x, y);
                if s + t == 0 {
                    Coord::Uniform { base, add: i + j }
                } else {
                    Coord::Lanes {
                        base,
                        add: i + j,
                        step: s + t,
                    }
                }
            }
            _ => {
                let (a, b) = (self.general(a), self.general(b));
                Coord::General(self.emit.add(a, b))
            }
        }
    }

    pub(crate) fn scale_coord(&mut self, coord: Coord, by: i64) -> Coord {
        if by == 1 {
            return coord;
        }
        match self.affine(coord) {
            Some((base, add, step)) => {
                let base = self.scaled(base, by);
                if step * by == 0 {
                    Coord::Uniform {
                        base,
                        add: add * by,
                    }
                } else {
                    Coord::Lanes {
                        base,
                        add: add * by,
                        step: step * by,
                    }
                }
            }
            None => {
                let value = self.general(coord);
                let by = self.emit.i64(by);
                Coord::General(self.emit.binary(BinaryOp::Mul, value, by))
            }
        }
    }

    /// A coordinate as an i32 value.
    pub(crate) fn coord_i32(&mut self, coord: Coord) -> Value {
        match self.affine(coord) {
            Some((base, add, step)) => {
                let start = self.base_plus(base, add);
                let start = self.emit.convert(ConvertOp::I64ToI32, start);
                if step == 0 {
                    return start;
                }
                let mut lane = self.emit.lane_index();
                if step != 1 {
                    let step = self.emit.i32(step as i32);
                    lane = self.emit.binary(BinaryOp::Mul, lane, step);
                }
                self.emit.add(start, lane)
            }
            None => {
                let value = self.general(coord);
                self.emit.convert(ConvertOp::I64ToI32, value)
            }
        }
    }

    /// Whether a coordinate lies in `0 .. extent`, as a uniform or varying bool.
    pub(crate) fn within(&mut self, coord: Coord, extent: Value) -> Value {
        let zero = self.emit.i64(0);
        match self.affine(coord) {
            Some((base, add, 0)) => {
                let at = self.base_plus(base, add);
                let low = self.emit.compare(CompareOp::Ge, at, zero);
                let high = self.emit.compare(CompareOp::Lt, at, extent);
                self.emit.binary(BinaryOp::And, low, high)
            }
            Some((base, add, 1)) => {
                // Lane `l` is inside iff `-at <= l < extent - at`; clamped to a packet both bounds are small numbers.
                let at = self.base_plus(base, add);
                let lanes = self.emit.i64(i64::from(self.emit.lanes()));
                let bound = |this: &mut Self, from: Value| {
                    let distance = this.emit.binary(BinaryOp::Sub, from, at);
                    let distance = this.emit.binary(BinaryOp::Max, distance, zero);
                    let distance = this.emit.binary(BinaryOp::Min, distance, lanes);
                    this.emit.convert(ConvertOp::I64ToI32, distance)
                };
                let low = bound(self, zero);
                let high = bound(self, extent);
                let lane = self.emit.lane_index();
                let low = self.emit.compare(CompareOp::Ge, lane, low);
                let high = self.emit.compare(CompareOp::Lt, lane, high);
                self.emit.binary(BinaryOp::And, low, high)
            }
            Some(_) | None => {
                let at = self.general(coord);
                let low = self.emit.compare(CompareOp::Ge, at, zero);
                let high = self.emit.compare(CompareOp::Lt, at, extent);
                self.emit.binary(BinaryOp::And, low, high)
            }
        }
    }

    /// The mask of lanes that take part in the packet at hand, joined with another mask.
    pub(crate) fn with_live(&mut self, mask: Option<Value>) -> Option<Value> {
        let Some(live) = self.live else { return mask };
        let lanes = self.emit.first_lanes(live);
        Some(match mask {
            Some(mask) => self.emit.binary(BinaryOp::And, lanes, mask),
            None => lanes,
        })
    }
}
