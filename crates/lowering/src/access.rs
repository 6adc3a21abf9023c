//! Reads and writes of views and private arrays: from the form of the coordinates to the class of the access.

use numerics::{ElementType, Scalar};
use simd_mapping::{ArrayKey, Home, Spread};
use tile_ir::{Param, Stride, Subscript, TileType};
use xir::{Access, BinaryOp, CompareOp, ConvertOp, Elem, MemElem, Shape, Value};

use crate::arithmetic::Emitting;
use crate::coordinate::Coord;
use crate::lowerer::{Lowerer, constant_of, elem_of};

/// Distance between neighbours along one dimension, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Known.
    Bytes(i64),
    /// A uniform i64.
    Value(Value),
}

/// What lanes add to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanePart {
    /// Nothing: all lanes share it.
    None,
    /// `lane * step`.
    Step(Step),
    /// A varying i64 in bytes.
    Offsets(Value),
}

/// One dimension of a captured window.
#[derive(Clone, Debug)]
struct Window {
    step: Step,
    /// First coordinate, distance, extent of the view: present if a coordinate may lie outside.
    bounds: Option<(Coord, i64, Value)>,
}

/// Buffer, origin, bounds and fill of a view as they were where the load stands.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    element: ElementType,
    address: Value,
    lanes: LanePart,
    windows: Vec<Window>,
    inside: Option<Value>,
    fill: Scalar,
}

/// An address, ready to be read or written.
struct Place {
    address: Value,
    displacement: i64,
    lanes: LanePart,
}

fn mem_of(element: ElementType) -> MemElem {
    match element {
        ElementType::F32 => MemElem::F32,
        ElementType::F64 => MemElem::F64,
        ElementType::I32 => MemElem::I32,
        ElementType::Bool => MemElem::U8,
        ElementType::F16 | ElementType::BF16 => MemElem::U16,
    }
}

/// How an element lies in private memory that is read as plain memory.
fn private_mem(element: ElementType) -> MemElem {
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => MemElem::F32,
        ElementType::F64 => MemElem::F64,
        ElementType::I32 | ElementType::Bool => MemElem::I32,
    }
}

impl Lowerer<'_> {
    /// Captures a view at subscripts: everything a read needs that is known where the load stands.
    pub(crate) fn capture(&mut self, param: Param, at: &[Subscript]) -> Captured {
        let view = self.kernel.view(param).expect("only views are subscripted");
        let size = i64::from(mem_of(view.element).bytes());
        let address = self
            .emit
            .record(self.layout.param(param.index()), Elem::I64);
        let mut place = Place {
            address,
            displacement: 0,
            lanes: LanePart::None,
        };
        let mut windows = Vec::new();
        let mut inside: Option<Value> = None;
        for (dim, &subscript) in at.iter().enumerate() {
            let stride = match view.strides[dim] {
                Stride::Fixed(n) => Step::Bytes(n * size),
                Stride::Any => Step::Value(
                    self.emit
                        .record(self.layout.stride(param.index(), dim), Elem::I64),
                ),
            };
            let safe = tile_ir::statically_in_bounds(self.kernel, param, dim, subscript);
            let extent = (!safe).then(|| {
                self.emit
                    .record(self.layout.extent(param.index(), dim), Elem::I64)
            });
            match subscript {
                Subscript::At(value) => {
                    let coord = self.coordinate(value);
                    self.advance(&mut place, coord, stride);
                    if let Some(extent) = extent {
                        let ok = self.within(coord, extent);
                        inside = Some(match inside {
                            Some(before) => self.emit.binary(BinaryOp::And, before, ok),
                            None => ok,
                        });
                    }
                }
                Subscript::Window { origin, step, .. } => {
                    let origin = match origin {
                        Some(value) => self.coordinate(value),
                        None => Coord::fixed(0),
                    };
                    self.advance(&mut place, origin, stride);
                    let step_elements = i64::from(step);
                    let step = match stride {
                        Step::Bytes(n) => Step::Bytes(n * step_elements),
                        Step::Value(v) => Step::Value(self.emit.mul_i64(v, step_elements)),
                    };
                    windows.push(Window {
                        step,
                        bounds: extent.map(|extent| (origin, step_elements, extent)),
                    });
                }
            }
        }
        let address = self.emit.add_i64(place.address, place.displacement);
        Captured {
            element: view.element,
            address,
            lanes: place.lanes,
            windows,
            inside,
            fill: view.fill,
        }
    }

    /// Moves a place by `coord` steps.
    fn advance(&mut self, place: &mut Place, coord: Coord, step: Step) {
        let Some((base, add, lane)) = self.affine(coord) else {
            let value = self.general(coord);
            let by = self.step_value(step);
            let offsets = self.emit.binary(BinaryOp::Mul, value, by);
            self.add_lanes(place, LanePart::Offsets(offsets));
            return;
        };
        match step {
            Step::Bytes(n) => {
                place.displacement += add * n;
                if let Some(base) = base {
                    let by = self.emit.mul_i64(base, n);
                    place.address = self.emit.add(place.address, by);
                }
                if lane * n != 0 {
                    self.add_lanes(place, LanePart::Step(Step::Bytes(lane * n)));
                }
            }
            Step::Value(v) => {
                let mut count = None;
                if add != 0 {
                    count = Some(self.emit.i64(add));
                }
                if let Some(base) = base {
                    count = Some(match count {
                        Some(add) => self.emit.add(base, add),
                        None => base,
                    });
                }
                if let Some(count) = count {
                    let by = self.emit.binary(BinaryOp::Mul, count, v);
                    place.address = self.emit.add(place.address, by);
                }
                if lane != 0 {
                    let by = self.emit.mul_i64(v, lane);
                    self.add_lanes(place, LanePart::Step(Step::Value(by)));
                }
            }
        }
    }

    fn step_value(&mut self, step: Step) -> Value {
        match step {
            Step::Bytes(n) => self.emit.i64(n),
            Step::Value(v) => v,
        }
    }

    fn add_lanes(&mut self, place: &mut Place, part: LanePart) {
        place.lanes = match (place.lanes, part) {
            (LanePart::None, part) | (part, LanePart::None) => part,
            (LanePart::Step(Step::Bytes(a)), LanePart::Step(Step::Bytes(b))) if a + b != 0 => {
                LanePart::Step(Step::Bytes(a + b))
            }
            (a, b) => {
                let (a, b) = (self.offsets(a), self.offsets(b));
                LanePart::Offsets(self.emit.add(a, b))
            }
        };
    }

    /// What lanes add, as a varying i64 in bytes.
    fn offsets(&mut self, part: LanePart) -> Value {
        match part {
            LanePart::None => self.emit.constant(xir::Constant::I64(0), Shape::Varying),
            LanePart::Offsets(value) => value,
            LanePart::Step(step) => {
                let lane = self.lane_index_i64();
                let step = self.step_value(step);
                self.emit.binary(BinaryOp::Mul, lane, step)
            }
        }
    }

    /// Where the element at `index` of a captured window lies, and which lanes may touch it.
    fn place(&mut self, view: &Captured, index: &[Coord]) -> (Place, Option<Value>) {
        let mut place = Place {
            address: view.address,
            displacement: 0,
            lanes: view.lanes,
        };
        let mut mask = view.inside;
        for (window, &coord) in view.windows.iter().zip(index) {
            self.advance(&mut place, coord, window.step);
            if let Some((origin, step, extent)) = window.bounds {
                let scaled = self.scale_coord(coord, step);
                let at = self.add_coords(origin, scaled);
                let ok = self.within(at, extent);
                mask = Some(match mask {
                    Some(before) => self.emit.binary(BinaryOp::And, before, ok),
                    None => ok,
                });
            }
        }
        (place, mask)
    }

    /// The access class of a place, its address, its displacement and its mask.
    fn access(
        &mut self,
        place: Place,
        size: u32,
        mask: Option<Value>,
    ) -> (Access, Value, i32, Option<Value>) {
        let Place {
            mut address,
            displacement,
            lanes,
        } = place;
        let displacement = match i32::try_from(displacement) {
            Ok(n) => n,
            Err(_) => {
                address = self.emit.add_i64(address, displacement);
                0
            }
        };
        let live = self.live.unwrap_or(self.emit.lanes());
        match lanes {
            LanePart::None => match mask {
                Some(mask) if self.emit.ty(mask).is_varying() => {
                    let offsets = self.offsets(LanePart::None);
                    let mask = self.with_live(Some(mask));
                    (Access::Gather { offsets }, address, displacement, mask)
                }
                _ => (Access::Scalar, address, displacement, mask),
            },
            LanePart::Step(Step::Bytes(n)) if n == i64::from(size) => {
                let mask = mask.map(|mask| self.emit.splat(mask));
                (Access::Contiguous { live }, address, displacement, mask)
            }
            LanePart::Step(step) => {
                let stride = self.step_value(step);
                let mask = self.varying_mask(mask);
                (Access::Strided { stride }, address, displacement, mask)
            }
            LanePart::Offsets(offsets) => {
                let mask = self.varying_mask(mask);
                (Access::Gather { offsets }, address, displacement, mask)
            }
        }
    }

    fn varying_mask(&mut self, mask: Option<Value>) -> Option<Value> {
        let mask = self.with_live(mask)?;
        Some(self.emit.splat(mask))
    }

    /// Reads one element (a packet of elements) of a captured view.
    pub(crate) fn read_view(&mut self, view: &Captured, index: &[Coord]) -> Value {
        let mem = mem_of(view.element);
        let (place, mask) = self.place(view, index);
        let (access, address, displacement, mask) = self.access(place, mem.bytes(), mask);
        let raw = self.emit.load(mem, access, address, displacement, mask);
        let value = self.widen_from_memory(view.element, raw);
        match mask {
            Some(mask) => {
                let shape = self.emit.ty(value).shape;
                let fill = self.emit.constant(constant_of(view.fill), shape);
                self.emit.select(mask, value, fill)
            }
            None => value,
        }
    }

    /// Writes one element (a packet of elements) of a captured view.
    pub(crate) fn write_view(&mut self, view: &Captured, index: &[Coord], value: Value) {
        let mem = mem_of(view.element);
        let (place, mask) = self.place(view, index);
        let (access, address, displacement, mask) = self.access(place, mem.bytes(), mask);
        let mut value = self.narrow_for_memory(view.element, value);
        match access {
            // Lanes that share the one address run the same program, so any of them will do.
            Access::Scalar => {
                value = if self.emit.ty(value).is_varying() {
                    self.emit.lane(value, 0)
                } else {
                    value
                }
            }
            Access::Contiguous { .. } | Access::Strided { .. } | Access::Gather { .. } => {
                value = self.emit.splat(value)
            }
        }
        self.emit
            .store(mem, access, address, displacement, mask, value);
    }

    fn widen_from_memory(&mut self, element: ElementType, raw: Value) -> Value {
        match element {
            ElementType::F32 | ElementType::F64 | ElementType::I32 => raw,
            ElementType::Bool => {
                let zero = self.emit.i32(0);
                self.emit.compare(CompareOp::Ne, raw, zero)
            }
            ElementType::F16 => numerics::half_types::widen_f16(&mut Emitting(&mut self.emit), raw),
            ElementType::BF16 => {
                numerics::half_types::widen_bf16(&mut Emitting(&mut self.emit), raw)
            }
        }
    }

    fn narrow_for_memory(&mut self, element: ElementType, value: Value) -> Value {
        match element {
            ElementType::F32 | ElementType::F64 | ElementType::I32 => value,
            ElementType::Bool => self.emit.convert(ConvertOp::BoolToI32, value),
            ElementType::F16 => {
                numerics::half_types::narrow_f16(&mut Emitting(&mut self.emit), value)
            }
            ElementType::BF16 => {
                numerics::half_types::narrow_bf16(&mut Emitting(&mut self.emit), value)
            }
        }
    }

    // Private arrays.

    /// Slots to step for each dimension of a tile in its array; `None` for the local axis of a distributed array.
    fn slot_steps(&self, ty: &TileType, spread: Spread) -> Vec<Option<i64>> {
        let mut steps = vec![None; ty.dims.len()];
        let mut step = 1;
        if spread == Spread::Distributed {
            let axis = self
                .realization
                .local_axis
                .expect("a distributed array has a local axis");
            let extent = i64::from(self.kernel.axis(axis).extent.expect("extents are known"));
            step = (extent + self.lanes() - 1) / self.lanes();
        }
        for (dim, slot) in ty.dims.iter().zip(&mut steps).rev() {
            if spread == Spread::Distributed
                && Some(*dim) == self.realization.local_axis.map(tile_ir::Dim::Axis)
            {
                continue;
            }
            *slot = Some(step);
            step *= i64::from(self.kernel.extent(*dim).expect("extents are known"));
        }
        steps
    }

    /// The slot of an index, if every lane finds its element there: `(base, add)`.
    pub(crate) fn slot(&mut self, key: ArrayKey, index: &[Coord]) -> Option<(Option<Value>, i64)> {
        let array = self.realization.array(key);
        let (spread, ty) = (array.spread, self.kernel.ty(array.value));
        let steps = self.slot_steps(ty, spread);
        let mut total = Coord::fixed(0);
        for (&coord, step) in index.iter().zip(steps) {
            let part = match (step, coord) {
                (Some(step), Coord::Uniform { .. }) => self.scale_coord(coord, step),
                (None, Coord::Local { slot, add }) => Coord::Uniform { base: slot, add },
                _ => return None,
            };
            total = self.add_coords(total, part);
        }
        match total {
            Coord::Uniform { base, add } => Some((base, add)),
            Coord::Local { .. } | Coord::Lanes { .. } | Coord::General(_) => None,
        }
    }

    /// The position of an index in the array's memory, in elements.
    fn position(&mut self, key: ArrayKey, index: &[Coord]) -> Coord {
        let array = self.realization.array(key);
        let (spread, ty) = (array.spread, self.kernel.ty(array.value));
        let lanes = self.lanes();
        let mut total = match spread {
            Spread::PerLane => Coord::Lanes {
                base: None,
                add: 0,
                step: 1,
            },
            Spread::Uniform | Spread::Distributed => Coord::fixed(0),
        };
        for (&coord, step) in index.iter().zip(self.slot_steps(ty, spread)) {
            let by = match (spread, step) {
                (Spread::Uniform, Some(step)) => step,
                (Spread::PerLane | Spread::Distributed, Some(step)) => step * lanes,
                (_, None) => 1,
            };
            let part = self.scale_coord(coord, by);
            total = self.add_coords(total, part);
        }
        total
    }

    fn memory_address(&mut self, key: ArrayKey) -> Value {
        match self.realization.array(key).home {
            Home::Shared(offset) => self.shared_address(offset),
            Home::Stack | Home::Worker(_) => {
                let array = self.array(key);
                self.emit.private_address(array)
            }
        }
    }

    pub(crate) fn slot_operands(&mut self, base: Option<Value>, add: i64) -> (Value, u32) {
        match (base, u32::try_from(add)) {
            (Some(base), Ok(offset)) => (base, offset),
            (None, Ok(offset)) => (self.emit.i64(0), offset),
            (Some(base), Err(_)) => (self.emit.add_i64(base, add), 0),
            (None, Err(_)) => (self.emit.i64(add), 0),
        }
    }

    /// Reads one element (a packet of elements) of a private array. The coordinates lie inside the tile.
    pub(crate) fn read_array(&mut self, key: ArrayKey, index: &[Coord]) -> Value {
        let data = self.realization.array(key);
        let (element, shared) = (data.element, matches!(data.home, Home::Shared(_)));
        if !shared && let Some((base, add)) = self.slot(key, index) {
            let array = self.array(key);
            let (slot, offset) = self.slot_operands(base, add);
            return self.emit.private_load(array, slot, offset);
        }
        let mem = private_mem(element);
        let position = self.position(key, index);
        let address = self.memory_address(key);
        let mut place = Place {
            address,
            displacement: 0,
            lanes: LanePart::None,
        };
        self.advance(&mut place, position, Step::Bytes(i64::from(mem.bytes())));
        let (access, address, displacement, mask) = self.access(place, mem.bytes(), None);
        let raw = self.emit.load(mem, access, address, displacement, mask);
        if elem_of(element) == Elem::Bool {
            let zero = self.emit.i32(0);
            return self.emit.compare(CompareOp::Ne, raw, zero);
        }
        raw
    }

    /// Writes one element (a packet of elements) of a private array, at the place a traversal has reached.
    pub(crate) fn write_array(&mut self, key: ArrayKey, index: &[Coord], value: Value) {
        let data = self.realization.array(key);
        let (element, shared) = (data.element, matches!(data.home, Home::Shared(_)));
        if !shared && let Some((base, add)) = self.slot(key, index) {
            let array = self.array(key);
            let (slot, offset) = self.slot_operands(base, add);
            self.emit.private_store(array, slot, offset, value);
            return;
        }
        let mem = private_mem(element);
        let position = self.position(key, index);
        let address = self.memory_address(key);
        let mut place = Place {
            address,
            displacement: 0,
            lanes: LanePart::None,
        };
        self.advance(&mut place, position, Step::Bytes(i64::from(mem.bytes())));
        let (access, address, displacement, mask) = self.access(place, mem.bytes(), None);
        let value = if elem_of(element) == Elem::Bool {
            self.emit.convert(ConvertOp::BoolToI32, value)
        } else {
            value
        };
        let value = if matches!(access, Access::Scalar) {
            value
        } else {
            self.emit.splat(value)
        };
        self.emit
            .store(mem, access, address, displacement, mask, value);
    }
}
