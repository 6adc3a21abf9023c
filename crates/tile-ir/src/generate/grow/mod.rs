//! A kernel grown statement by statement from the values that are visible.

mod memory;
mod nests;
mod operations;

use diagnostics::Location;
use numerics::{ElementType, Scalar};

use super::Flavour;
use super::choices::Choices;
use crate::kernel::{
    AxisData, Kernel, ParamData, ParamKind, Stride, TileType, ViewType, default_strides,
};
use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::{BinaryOp, OpKind};
use crate::verifier::infer;

const COMPUTED: [ElementType; 4] = [
    ElementType::F32,
    ElementType::I32,
    ElementType::Bool,
    ElementType::F64,
];

/// The extents that find mistakes: one, powers of two, their neighbours, nothing above 19.
const EXTENTS: [u32; 12] = [4, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 19];

pub(super) fn extent(choices: &mut Choices) -> u32 {
    choices.pick(&EXTENTS)
}

/// How the programs of a kernel keep apart in a view that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// The first dimensions run along the root axes, and each program uses its own coordinates.
    Rows,
    /// One dimension, of which each program uses a block of this many elements.
    Blocks(u32),
}

#[derive(Clone)]
struct Written {
    view: Param,
    keeping: Keeping,
    /// Whether the stage that is grown stores through it.
    now: bool,
}

pub(super) fn grow(choices: &mut Choices, flavour: Flavour) -> Kernel {
    let mut grower = Grower {
        choices,
        flavour,
        kernel: Kernel::new("random"),
        region: Region::from_index(0),
        scope: Vec::new(),
        tile_axes: Vec::new(),
        root_axes: Vec::new(),
        coordinates: Vec::new(),
        inputs: Vec::new(),
        written: Vec::new(),
        scalars: Vec::new(),
        fuel: 0,
    };
    grower.declare();
    let nests = if flavour.stages && grower.choices.chance(20) {
        2
    } else {
        1
    };
    for _ in 0..nests {
        grower.root_nest();
    }
    grower.kernel
}

struct Grower<'c> {
    choices: &'c mut Choices,
    flavour: Flavour,
    kernel: Kernel,
    region: Region,
    /// Values that are visible.
    scope: Vec<Value>,
    tile_axes: Vec<Axis>,
    root_axes: Vec<Axis>,
    /// The root coordinates of the nest.
    coordinates: Vec<Value>,
    inputs: Vec<Param>,
    written: Vec<Written>,
    scalars: Vec<Param>,
    /// How many more statements there may be, nests included.
    fuel: usize,
}

impl Grower<'_> {
    // The head.

    fn axis(&mut self, name: String, extent: Option<u32>) -> Axis {
        self.kernel.add_axis(AxisData {
            name,
            extent,
            location: Location::None,
        })
    }

    fn declare(&mut self) {
        for index in 0..self.choices.below(3) {
            let fixed = self.choices.chance(30).then(|| extent(self.choices));
            let axis = self.axis(format!("r{index}"), fixed);
            self.root_axes.push(axis);
        }
        for index in 0..1 + self.choices.below(3) {
            let fixed = extent(self.choices);
            let axis = self.axis(format!("t{index}"), Some(fixed));
            self.tile_axes.push(axis);
        }
        for index in 0..1 + self.choices.below(3) {
            let mut dims = Vec::new();
            for axis in self.root_axes.clone() {
                if self.choices.chance(70) {
                    dims.push(axis);
                }
            }
            dims.extend(self.some_axes(2));
            if self.choices.chance(15) {
                dims.reverse();
            }
            let view = self.view(format!("x{index}"), dims, false);
            self.inputs.push(view);
        }
        for index in 0..1 + self.choices.below(2) {
            let blocks = self.root_axes.len() == 1 && self.choices.chance(25);
            let (dims, keeping) = if blocks {
                let flat = self.axis(format!("n{index}"), None);
                (
                    vec![flat],
                    Keeping::Blocks(self.choices.pick(&[4, 8, 19, 20])),
                )
            } else {
                let mut dims = self.root_axes.clone();
                dims.extend(self.some_axes(2));
                (dims, Keeping::Rows)
            };
            let view = self.view(format!("y{index}"), dims, true);
            self.written.push(Written {
                view,
                keeping,
                now: false,
            });
        }
        for index in 0..self.choices.below(3) {
            let element = self.element();
            let kind = ParamKind::Scalar(element);
            let data = ParamData {
                name: format!("s{index}"),
                kind,
                location: Location::None,
            };
            let param = self.kernel.add_param(data);
            self.scalars.push(param);
        }
    }

    fn view(&mut self, name: String, dims: Vec<Axis>, mutable: bool) -> Param {
        let element = match self.choices.below(10) {
            8 => ElementType::F16,
            9 => ElementType::BF16,
            _ => self.element(),
        };
        let mut strides = default_strides(dims.len());
        if let Some(last) = strides.last_mut()
            && self.choices.chance(15)
        {
            *last = self
                .choices
                .pick(&[Stride::Any, Stride::Fixed(2), Stride::Fixed(3)]);
        }
        let fill = if self.choices.chance(30) {
            self.constant(element.compute_type())
        } else {
            Scalar::zero(element)
        };
        let kind = ParamKind::View(ViewType {
            element,
            dims,
            strides,
            fill,
            mutable,
        });
        self.kernel.add_param(ParamData {
            name,
            kind,
            location: Location::None,
        })
    }

    fn element(&mut self) -> ElementType {
        match self.choices.below(20) {
            0..=12 => ElementType::F32,
            13..=15 => ElementType::I32,
            16..=17 => ElementType::Bool,
            _ if self.flavour.doubles => ElementType::F64,
            _ => ElementType::F32,
        }
    }

    /// At most this many tile axes, each once, in any order.
    fn some_axes(&mut self, most: usize) -> Vec<Axis> {
        let mut rest = self.tile_axes.clone();
        let count = self.choices.below(most + 1).min(rest.len());
        (0..count)
            .map(|_| rest.swap_remove(self.choices.below(rest.len())))
            .collect()
    }

    fn constant(&mut self, element: ElementType) -> Scalar {
        match element {
            ElementType::I32 => {
                Scalar::I32(
                    self.choices
                        .pick(&[0, 1, 2, 3, -1, 5, -7, 100, i32::MAX, i32::MIN]),
                )
            }
            ElementType::Bool => Scalar::Bool(self.choices.chance(50)),
            ElementType::F64 => Scalar::F64(self.choices.pick(&[
                0.0,
                1.0,
                -0.0,
                0.1,
                -3.5,
                1e300,
                5e-324,
                f64::INFINITY,
                f64::NAN,
            ])),
            ElementType::F32 | ElementType::F16 | ElementType::BF16 => {
                Scalar::F32(self.choices.pick(&[
                    0.0,
                    1.0,
                    -0.0,
                    0.5,
                    2.0,
                    -1.5,
                    0.1,
                    1e-5,
                    3e38,
                    1e-45,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    f32::NAN,
                ]))
            }
        }
    }

    // Rows.

    fn push(&mut self, kind: OpKind) -> Op {
        let (types, _) = infer(&self.kernel, &kind);
        self.kernel.add_op(self.region, kind, types, Location::None)
    }

    /// Appends an operation and makes its results visible.
    fn make(&mut self, kind: OpKind) -> Value {
        let op = self.push(kind);
        let results = self.kernel.op(op).results.clone();
        self.scope.extend(&results);
        results[0]
    }

    fn make_constant(&mut self, element: ElementType) -> Value {
        let scalar = self.constant(element);
        self.make(OpKind::Const(scalar))
    }

    fn i32(&mut self, number: i32) -> Value {
        self.make(OpKind::Const(Scalar::I32(number)))
    }

    fn ty(&self, value: Value) -> &TileType {
        self.kernel.ty(value)
    }

    fn enter(&mut self) -> (Region, usize) {
        let region = self.kernel.add_region();
        (
            std::mem::replace(&mut self.region, region),
            self.scope.len(),
        )
    }

    fn exit(&mut self, (outer, visible): (Region, usize), yields: Vec<Value>) -> Region {
        self.kernel.set_yields(self.region, yields);
        self.scope.truncate(visible);
        std::mem::replace(&mut self.region, outer)
    }

    fn argument(&mut self, ty: TileType) -> Value {
        let value = self.kernel.add_arg(self.region, ty, None);
        self.scope.push(value);
        value
    }

    fn coordinate(&mut self) -> Value {
        self.argument(TileType::scalar(ElementType::I32))
    }

    // Choosing operands.

    fn choose(&mut self, suits: impl Fn(&TileType) -> bool) -> Option<Value> {
        let fitting: Vec<Value> = self
            .scope
            .iter()
            .copied()
            .filter(|&value| suits(self.kernel.ty(value)))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        // Late values are better: chains grow.
        let back = self
            .choices
            .below(fitting.len())
            .min(self.choices.below(fitting.len()));
        Some(fitting[fitting.len() - 1 - back])
    }

    /// A value of this element type, a new constant if there is none.
    fn any_of(&mut self, element: ElementType) -> Value {
        match self.choose(|ty| ty.element == element) {
            Some(value) => value,
            None => self.make_constant(element),
        }
    }

    fn scalar_of(&mut self, element: ElementType) -> Value {
        match self.choose(|ty| ty.is_scalar() && ty.element == element) {
            Some(value) if !self.choices.chance(25) => value,
            _ => self.make_constant(element),
        }
    }

    /// Something that goes with `other` elementwise, of an element type.
    fn beside(&mut self, other: Value, element: ElementType) -> Value {
        let dims = self.ty(other).dims.clone();
        match self.choose(|ty| ty.element == element && (ty.dims == dims || ty.is_scalar())) {
            Some(value) => value,
            None => self.make_constant(element),
        }
    }

    /// A coordinate: one that exists, a small number, or their sum. Windows and elements may lie outside.
    fn place(&mut self) -> Value {
        let small = self.choices.pick(&[0, 1, 2, 5, -1, -3, 18]);
        match self.choices.below(3) {
            0 => self.i32(small),
            1 => self.scalar_of(ElementType::I32),
            _ => {
                let base = self.scalar_of(ElementType::I32);
                let offset = self.i32(small);
                self.make(OpKind::Binary(BinaryOp::Add, base, offset))
            }
        }
    }
}
