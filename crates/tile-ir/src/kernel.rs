//! A kernel as dense tables: axes, parameters, values, operations and regions.
//!
//! The tables can hold nonsense; [`verify`](crate::verify) turns a `Kernel` into a [`Verified`](crate::Verified), and
//! everything downstream takes only that.

use diagnostics::Location;
use numerics::{ElementType, Scalar};

use crate::keys::{Axis, Op, Param, Region, Value};
use crate::ops::OpKind;

/// One axis: a name for people, and an extent once it is known.
#[derive(Clone, Debug)]
pub struct AxisData {
    /// The name the text form shows.
    pub name: String,
    /// The number of coordinates, if the kernel fixes it; at most `i32::MAX`.
    pub extent: Option<u32>,
    /// Where its extent is fixed; where the axis is first named, if the kernel leaves it open.
    pub location: Location,
}

/// One dimension of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Runs along an axis.
    Axis(Axis),
    /// Has extent one and no identity.
    Unit,
}

/// The type of a value: an element type and dimensions. Rank 0 is a scalar.
///
/// Invariant **computable**: the element is f32, f64, i32 or bool; f16 and bf16 live in views only. No axis occurs twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileType {
    /// The element type.
    pub element: ElementType,
    /// The dimensions, outermost first.
    pub dims: Vec<Dim>,
}

impl TileType {
    /// The type of a scalar.
    pub fn scalar(element: ElementType) -> TileType {
        TileType {
            element,
            dims: Vec::new(),
        }
    }

    /// Whether the rank is zero.
    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }
}

/// What a launch must say about the distance between neighbours along one dimension of a view, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Any distance, read from the launch record.
    Any,
    /// Exactly this distance.
    Fixed(i64),
}

/// The strides of a view that states none: the innermost dimension is dense, the others are anything.
pub(crate) fn default_strides(rank: usize) -> Vec<Stride> {
    let stride = |index| {
        if index + 1 == rank {
            Stride::Fixed(1)
        } else {
            Stride::Any
        }
    };
    (0..rank).map(stride).collect()
}

/// A view parameter: memory of the caller seen as an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewType {
    /// The element type in memory.
    pub element: ElementType,
    /// One axis a dimension, outermost first; the extents of the axes are the bounds.
    pub dims: Vec<Axis>,
    /// One stride a dimension. By default the innermost is `Fixed(1)` and the others are `Any`.
    pub strides: Vec<Stride>,
    /// What a read outside the bounds gives (of the type that a load of this view computes with).
    pub fill: Scalar,
    /// Whether the kernel may store through the view.
    pub mutable: bool,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A view.
    View(ViewType),
    /// A scalar (f32, f64, i32 or bool) passed by value.
    Scalar(ElementType),
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct ParamData {
    /// The name callers bind by.
    pub name: String,
    /// View or scalar.
    pub kind: ParamKind,
    /// Where it is declared.
    pub location: Location,
}

/// Who makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Result number `index` of an operation.
    Result {
        /// The operation.
        op: Op,
        /// Which of its results.
        index: u32,
    },
    /// Argument number `index` of a region: coordinates first, then carries.
    Argument {
        /// The region.
        region: Region,
        /// Which of its arguments.
        index: u32,
    },
}

/// One value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: TileType,
    /// Who makes it.
    pub definition: Definition,
    /// The name people gave it, if any. Names never decide anything.
    pub name: Option<String>,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct OpData {
    /// What it does, with operands and nested regions.
    pub kind: OpKind,
    /// What it makes.
    pub results: Vec<Value>,
    /// The region it stands in.
    pub parent: Region,
    /// Where it was written.
    pub location: Location,
}

/// One region.
#[derive(Clone, Debug, Default)]
pub struct RegionData {
    /// Coordinates (i32 scalars), then carries.
    pub args: Vec<Value>,
    /// The operations, in program order.
    pub ops: Vec<Op>,
    /// What the region yields to the operation that owns it.
    pub yields: Vec<Value>,
    /// The operation that owns it; `None` for the body of the kernel.
    pub owner: Option<Op>,
}

/// A kernel over whole tiles. Two kernels are equal if they say the same; locations and value names don't count.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    axes: Vec<AxisData>,
    params: Vec<ParamData>,
    values: Vec<ValueData>,
    ops: Vec<OpData>,
    regions: Vec<RegionData>,
}

impl Kernel {
    /// An empty kernel; its body is region 0.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            axes: Vec::new(),
            params: Vec::new(),
            values: Vec::new(),
            ops: Vec::new(),
            regions: vec![RegionData::default()],
        }
    }

    /// The region that holds the root nests (`parallel`) and the stages between them.
    pub fn body(&self) -> Region {
        Region::from_index(0)
    }

    /// Adds an axis.
    pub fn add_axis(&mut self, data: AxisData) -> Axis {
        self.axes.push(data);
        Axis::from_index(self.axes.len() - 1)
    }

    /// Adds a parameter.
    pub fn add_param(&mut self, data: ParamData) -> Param {
        self.params.push(data);
        Param::from_index(self.params.len() - 1)
    }

    /// Adds an empty region; an operation that takes it as operand becomes its owner.
    pub fn add_region(&mut self) -> Region {
        self.regions.push(RegionData::default());
        Region::from_index(self.regions.len() - 1)
    }

    /// Adds an argument to a region.
    pub fn add_arg(&mut self, region: Region, ty: TileType, name: Option<String>) -> Value {
        let index = self.regions[region.index()].args.len() as u32;
        let value = Value::from_index(self.values.len());
        self.values.push(ValueData {
            ty,
            definition: Definition::Argument { region, index },
            name,
        });
        self.regions[region.index()].args.push(value);
        value
    }

    /// Appends an operation to `parent` with results of the given types, and takes ownership of its regions.
    pub fn add_op(
        &mut self,
        parent: Region,
        kind: OpKind,
        results: Vec<TileType>,
        location: Location,
    ) -> Op {
        let op = Op::from_index(self.ops.len());
        for region in kind.regions() {
            self.regions[region.index()].owner = Some(op);
        }
        let results = results
            .into_iter()
            .enumerate()
            .map(|(index, ty)| {
                let definition = Definition::Result {
                    op,
                    index: index as u32,
                };
                self.values.push(ValueData {
                    ty,
                    definition,
                    name: None,
                });
                Value::from_index(self.values.len() - 1)
            })
            .collect();
        self.ops.push(OpData {
            kind,
            results,
            parent,
            location,
        });
        self.regions[parent.index()].ops.push(op);
        op
    }

    /// Sets what a region yields.
    pub fn set_yields(&mut self, region: Region, yields: Vec<Value>) {
        self.regions[region.index()].yields = yields;
    }

    /// Names a value for people.
    pub fn name_value(&mut self, value: Value, name: impl Into<String>) {
        self.values[value.index()].name = Some(name.into());
    }

    /// Fixes the extent of an axis.
    pub fn set_extent(&mut self, axis: Axis, extent: u32) {
        self.axes[axis.index()].extent = Some(extent);
    }

    /// One axis.
    pub fn axis(&self, axis: Axis) -> &AxisData {
        &self.axes[axis.index()]
    }

    /// One parameter.
    pub fn param(&self, param: Param) -> &ParamData {
        &self.params[param.index()]
    }

    /// The type of a view parameter; `None` for a scalar.
    pub fn view(&self, param: Param) -> Option<&ViewType> {
        match &self.param(param).kind {
            ParamKind::View(view) => Some(view),
            ParamKind::Scalar(_) => None,
        }
    }

    /// One value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &TileType {
        &self.value(value).ty
    }

    /// One operation.
    pub fn op(&self, op: Op) -> &OpData {
        &self.ops[op.index()]
    }

    /// An operation, to change.
    pub fn op_mut(&mut self, op: Op) -> &mut OpData {
        &mut self.ops[op.index()]
    }

    /// One region.
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region.index()]
    }

    /// The operation that makes a value, unless it is an argument.
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.value(value).definition {
            Definition::Result { op, .. } => Some(op),
            Definition::Argument { .. } => None,
        }
    }

    /// An axis, to change.
    pub(crate) fn axis_mut(&mut self, axis: Axis) -> &mut AxisData {
        &mut self.axes[axis.index()]
    }

    /// A region, to change.
    pub(crate) fn region_mut(&mut self, region: Region) -> &mut RegionData {
        &mut self.regions[region.index()]
    }

    /// A value, to change.
    pub(crate) fn value_mut(&mut self, value: Value) -> &mut ValueData {
        &mut self.values[value.index()]
    }

    /// A type as people write it: `f32[row, 1]`, or `f32` for a scalar.
    pub fn type_name(&self, ty: &TileType) -> String {
        if ty.is_scalar() {
            return ty.element.to_string();
        }
        format!("{}[{}]", ty.element, self.dim_names(&ty.dims))
    }

    /// Dimensions as people write them, without brackets: `row, 1`.
    pub fn dim_names(&self, dims: &[Dim]) -> String {
        let name = |dim: &Dim| match *dim {
            Dim::Axis(axis) => self.axis(axis).name.as_str(),
            Dim::Unit => "1",
        };
        dims.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Every axis, in order.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = Axis> + use<> {
        (0..self.axes.len()).map(Axis::from_index)
    }

    /// Every parameter, in order.
    pub fn params(&self) -> impl ExactSizeIterator<Item = Param> + use<> {
        (0..self.params.len()).map(Param::from_index)
    }

    /// Every value, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value> + use<> {
        (0..self.values.len()).map(Value::from_index)
    }

    /// Every operation, in order of creation; in a [`Verified`](crate::Verified) kernel that is program order, an
    /// operation before the contents of its regions.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = Op> + use<> {
        (0..self.ops.len()).map(Op::from_index)
    }

    /// Every region, in order of creation.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = Region> + use<> {
        (0..self.regions.len()).map(Region::from_index)
    }

    /// The extent of a dimension, if known; 1 for a unit dimension.
    pub fn extent(&self, dim: Dim) -> Option<u32> {
        match dim {
            Dim::Axis(axis) => self.axis(axis).extent,
            Dim::Unit => Some(1),
        }
    }

    /// Looks an axis up by name.
    pub fn find_axis(&self, name: &str) -> Option<Axis> {
        self.axes().find(|&axis| self.axis(axis).name == name)
    }

    /// Looks a parameter up by name.
    pub fn find_param(&self, name: &str) -> Option<Param> {
        self.params().find(|&param| self.param(param).name == name)
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Kernel) -> bool {
        let axes = |k: &Kernel| {
            k.axes
                .iter()
                .map(|a| (a.name.clone(), a.extent))
                .collect::<Vec<_>>()
        };
        let params = |k: &Kernel| {
            k.params
                .iter()
                .map(|p| (p.name.clone(), p.kind.clone()))
                .collect::<Vec<_>>()
        };
        let values = |k: &Kernel| {
            k.values
                .iter()
                .map(|v| (v.ty.clone(), v.definition))
                .collect::<Vec<_>>()
        };
        let regions = |k: &Kernel| {
            let row = |r: &RegionData| (r.args.clone(), r.ops.clone(), r.yields.clone(), r.owner);
            k.regions.iter().map(row).collect::<Vec<_>>()
        };
        let ops = |k: &Kernel| {
            let row = |o: &OpData| (o.kind.clone(), o.results.clone(), o.parent);
            k.ops.iter().map(row).collect::<Vec<_>>()
        };
        self.name == other.name
            && axes(self) == axes(other)
            && params(self) == params(other)
            && values(self) == values(other)
            && ops(self) == ops(other)
            && regions(self) == regions(other)
    }
}
