//! The table of operations: what each takes, makes and does to memory. Printer, parser, verifier and interpreters read it.

use numerics::{ElementType, MathFunction, Scalar};

use crate::kernel::Dim;
use crate::keys::{Axis, Param, Region, Value};

/// Elementwise operations of one operand; the result has the operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Sign flipped (floats), two's complement (i32, wrapping).
    Neg,
    /// Sign cleared; i32 wraps at the minimum.
    Abs,
    /// Correctly rounded square root.
    Sqrt,
    /// `1 / sqrt(x)`, two roundings.
    Rsqrt,
    /// Round to an integer, towards minus infinity.
    Floor,
    /// Round to an integer, towards plus infinity.
    Ceil,
    /// Round to an integer, towards zero.
    Trunc,
    /// Round to an integer, ties to even.
    Round,
    /// Bitwise complement (i32), logical negation (bool).
    Not,
    /// A function of `numerics` (f32 only).
    Math(MathFunction),
}

impl UnaryOp {
    /// Every operation, math functions last.
    pub fn all() -> impl Iterator<Item = UnaryOp> {
        [
            UnaryOp::Neg,
            UnaryOp::Abs,
            UnaryOp::Sqrt,
            UnaryOp::Rsqrt,
            UnaryOp::Floor,
            UnaryOp::Ceil,
            UnaryOp::Trunc,
            UnaryOp::Round,
            UnaryOp::Not,
        ]
        .into_iter()
        .chain(MathFunction::ALL.into_iter().map(UnaryOp::Math))
    }

    /// The name people read; in the text it is a function, but for `neg` and `not`, which are written `-` and `!`.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Trunc => "trunc",
            UnaryOp::Round => "round",
            UnaryOp::Not => "not",
            UnaryOp::Math(function) => function.name(),
        }
    }

    /// Whether it takes and makes this element type.
    pub fn accepts(self, element: ElementType) -> bool {
        match self {
            UnaryOp::Neg | UnaryOp::Abs => {
                matches!(
                    element,
                    ElementType::F32 | ElementType::F64 | ElementType::I32
                )
            }
            UnaryOp::Sqrt
            | UnaryOp::Rsqrt
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::Round => matches!(element, ElementType::F32 | ElementType::F64),
            UnaryOp::Not => matches!(element, ElementType::I32 | ElementType::Bool),
            UnaryOp::Math(_) => element == ElementType::F32,
        }
    }
}

/// Elementwise operations of two operands of one type; the result has that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum; i32 wraps.
    Add,
    /// Difference; i32 wraps.
    Sub,
    /// Product; i32 wraps.
    Mul,
    /// Quotient; i32 division truncates, `x / 0 = 0` and `MIN / -1 = MIN`.
    Div,
    /// Remainder of i32 division, `x % 0 = x` and `MIN % -1 = 0`.
    Rem,
    /// IEEE 754-2019 minimum; NaN propagates, -0 is below +0.
    Min,
    /// IEEE 754-2019 maximum.
    Max,
    /// Magnitude of the first, sign of the second (floats). A NaN counts as positive there: its sign bit is nobody's result.
    CopySign,
    /// Bitwise (i32) or logical (bool) and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
    /// i32 shift left, amount modulo 32.
    Shl,
    /// i32 arithmetic shift right, amount modulo 32.
    Shr,
}

impl BinaryOp {
    /// Every operation.
    pub const ALL: [BinaryOp; 13] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Min,
        BinaryOp::Max,
        BinaryOp::CopySign,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::Shr,
    ];

    /// What the text writes: an infix symbol, or the name of a function ([`BinaryOp::is_infix`] says which).
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::CopySign => "copysign",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
        }
    }

    /// Whether it is written between its operands.
    pub fn is_infix(self) -> bool {
        !matches!(self, BinaryOp::Min | BinaryOp::Max | BinaryOp::CopySign)
    }

    /// Whether it takes and makes this element type.
    pub fn accepts(self, element: ElementType) -> bool {
        let float = matches!(element, ElementType::F32 | ElementType::F64);
        match self {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Min
            | BinaryOp::Max => float || element == ElementType::I32,
            BinaryOp::CopySign => float,
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => element == ElementType::I32,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                matches!(element, ElementType::I32 | ElementType::Bool)
            }
        }
    }
}

/// Comparisons of f32, f64 or i32; the result is bool. Every comparison with NaN is false, but `Ne` which is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl CompareOp {
    /// Every comparison.
    pub const ALL: [CompareOp; 6] = [
        CompareOp::Eq,
        CompareOp::Ne,
        CompareOp::Lt,
        CompareOp::Le,
        CompareOp::Gt,
        CompareOp::Ge,
    ];

    /// The infix symbol.
    pub fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

/// How a closed reduction combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// IEEE 754-2019 minimum.
    Min,
    /// IEEE 754-2019 maximum.
    Max,
}

impl ReduceOp {
    /// Every operation.
    pub const ALL: [ReduceOp; 4] = [ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max];

    /// The word in the text.
    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Add => "add",
            ReduceOp::Mul => "mul",
            ReduceOp::Min => "min",
            ReduceOp::Max => "max",
        }
    }

    /// Whether it combines values of this element type: f32, f64 and i32.
    pub fn accepts(self, element: ElementType) -> bool {
        self.binary().accepts(element)
    }

    /// The value that changes nothing: 0, 1, infinity or the greatest i32, minus infinity or the least i32.
    /// `None` for types it does not combine.
    pub fn neutral(self, element: ElementType) -> Option<Scalar> {
        let (f, i) = match self {
            ReduceOp::Add => (0.0, 0),
            ReduceOp::Mul => (1.0, 1),
            ReduceOp::Min => (f64::INFINITY, i32::MAX),
            ReduceOp::Max => (f64::NEG_INFINITY, i32::MIN),
        };
        match element {
            ElementType::F32 => Some(Scalar::F32(f as f32)),
            ElementType::F64 => Some(Scalar::F64(f)),
            ElementType::I32 => Some(Scalar::I32(i)),
            ElementType::Bool | ElementType::F16 | ElementType::BF16 => None,
        }
    }

    /// The reduction that combines as an elementwise operation does, if there is one.
    pub fn of_binary(op: BinaryOp) -> Option<ReduceOp> {
        ReduceOp::ALL
            .into_iter()
            .find(|reduce| reduce.binary() == op)
    }

    /// The elementwise operation that combines two values.
    pub fn binary(self) -> BinaryOp {
        match self {
            ReduceOp::Add => BinaryOp::Add,
            ReduceOp::Mul => BinaryOp::Mul,
            ReduceOp::Min => BinaryOp::Min,
            ReduceOp::Max => BinaryOp::Max,
        }
    }
}

/// In what order a reduction combines its contributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The plan chooses the tree and records it.
    Unordered,
    /// One fixed tree, chosen by the extent alone (`numerics::TREE`).
    Tree,
    /// Strict, left to right, in row-major order of the coordinates.
    Fold,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 3] = [Policy::Unordered, Policy::Tree, Policy::Fold];

    /// The word in the text.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Unordered => "unordered",
            Policy::Tree => "tree",
            Policy::Fold => "fold",
        }
    }
}

/// What a reduction carries.
#[derive(Clone, Debug, PartialEq)]
pub enum ReduceForm {
    /// One operation a carry; the body yields one contribution a carry and can't see the carries.
    Closed(Vec<ReduceOp>),
    /// The carries are arguments of the body after the coordinates, and it yields their next values. Policy `fold` only.
    Open,
}

/// How one dimension of a view is addressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subscript {
    /// One coordinate (an i32 scalar); the dimension disappears. May lie outside the bounds.
    At(Value),
    /// `extent(axis)` coordinates `origin + step * i`; the tile gets dimension `axis`. `origin` of `None` is 0.
    /// The text `:` stands for the dimension's own axis, origin 0, step 1.
    Window {
        /// The first coordinate, an i32 scalar.
        origin: Option<Value>,
        /// The axis of the tile that runs along the window.
        axis: Axis,
        /// The distance between neighbours, at least 1.
        step: u32,
    },
}

impl Subscript {
    /// The whole of a dimension: what the text writes `:`.
    pub fn whole(axis: Axis) -> Subscript {
        Subscript::Window {
            origin: None,
            axis,
            step: 1,
        }
    }
}

/// An operation with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// A constant scalar.
    Const(Scalar),
    /// The extent of an axis as an i32 scalar.
    Extent(Axis),
    /// The value of a scalar parameter.
    ScalarParam(Param),
    /// The i32 tile `[axis]` that holds its own coordinates.
    Iota(Axis),
    /// Elementwise, one operand.
    Unary(UnaryOp, Value),
    /// Elementwise, two operands of equal type, or one a scalar that is broadcast.
    Binary(BinaryOp, Value, Value),
    /// Elementwise comparison; operands as for `Binary`.
    Compare(CompareOp, Value, Value),
    /// `condition ? then : otherwise`; scalars broadcast; the two values have one element type.
    Select {
        /// A bool tile or scalar.
        condition: Value,
        /// The value where the condition holds.
        then: Value,
        /// The value where it doesn't.
        otherwise: Value,
    },
    /// `a * b + c` with one rounding; scalars broadcast. (`contract(a * b + c)` in the text is this operation.)
    Fma(Value, Value, Value),
    /// Elementwise conversion to another element type (rules in `numerics`).
    Cast(ElementType, Value),
    /// The operand repeated along the axes it lacks; its own dimensions keep their order among `dims`.
    Broadcast(Value, Vec<Dim>),
    /// The operand with unit dimensions inserted or dropped; the axes keep their order.
    Reshape(Value, Vec<Dim>),
    /// The operand's dimensions in another order; `order[i]` is the operand's dimension that becomes dimension `i`.
    Permute(Value, Vec<u32>),
    /// A tile built point by point: the region takes one coordinate an axis and yields one scalar a result.
    Map {
        /// The axes of the result, outermost first. `Dim::Unit` gives a unit dimension and a coordinate that is 0.
        dims: Vec<Dim>,
        /// One point.
        body: Region,
    },
    /// Scalars combined over a domain. Operand `inits` enter exactly once.
    Reduce {
        /// The domain, outermost first.
        dims: Vec<Dim>,
        /// The order.
        policy: Policy,
        /// What is carried.
        form: ReduceForm,
        /// One initial value (a scalar) a carry.
        inits: Vec<Value>,
        /// One contribution.
        body: Region,
    },
    /// Element of a tile at coordinates, one i32 scalar a dimension. Outside the tile it is NaN, 0 or false.
    Extract {
        /// The tile.
        tile: Value,
        /// The coordinates, outermost first.
        at: Vec<Value>,
    },
    /// `for i in lower .. upper` with carries; the region takes `i`, then the carries, and may have effects.
    For {
        /// First value of `i`, an i32 scalar.
        lower: Value,
        /// One past the last, an i32 scalar.
        upper: Value,
        /// Initial carries, of any tile type.
        inits: Vec<Value>,
        /// One iteration.
        body: Region,
    },
    /// Independent programs, one a point of the domain; at the root only. The region takes one coordinate an axis.
    Parallel {
        /// The root domain, outermost first. Empty: one program.
        axes: Vec<Axis>,
        /// One program.
        body: Region,
    },
    /// Reads a snapshot; outside the bounds it holds the view's fill value.
    Load {
        /// The view.
        view: Param,
        /// One subscript a dimension.
        at: Vec<Subscript>,
    },
    /// Writes a tile; coordinates outside the bounds are left out.
    Store {
        /// The view, which is mutable.
        view: Param,
        /// One subscript a dimension; the windows' axes in order are the tile's dimensions.
        at: Vec<Subscript>,
        /// The tile; a scalar is broadcast.
        value: Value,
    },
    /// Every program reaches this point before any goes on.
    Stage,
    /// An effect about which nothing is known; the caller's hook number `id` runs here.
    Opaque {
        /// What the hook is told.
        id: u32,
    },
}

/// What an operation does beyond its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// Reads a view.
    Read(Param),
    /// Writes a view.
    Write(Param),
    /// Waits for all programs.
    Stage,
    /// Anything.
    Unknown,
    /// Whatever its region does.
    Nested,
}

impl OpKind {
    /// The values it takes, in order (subscript coordinates included, yields of regions not).
    pub fn operands(&self) -> Vec<Value> {
        fn coordinates(at: &[Subscript]) -> impl Iterator<Item = Value> + '_ {
            at.iter().filter_map(|s| match *s {
                Subscript::At(v) => Some(v),
                Subscript::Window { origin, .. } => origin,
            })
        }
        match self {
            OpKind::Const(_) | OpKind::Extent(_) | OpKind::ScalarParam(_) | OpKind::Iota(_) => {
                Vec::new()
            }
            OpKind::Map { .. }
            | OpKind::Parallel { .. }
            | OpKind::Stage
            | OpKind::Opaque { .. } => Vec::new(),
            OpKind::Unary(_, a) | OpKind::Cast(_, a) => vec![*a],
            OpKind::Broadcast(a, _) | OpKind::Reshape(a, _) | OpKind::Permute(a, _) => vec![*a],
            OpKind::Binary(_, a, b) | OpKind::Compare(_, a, b) => vec![*a, *b],
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => vec![*condition, *then, *otherwise],
            OpKind::Fma(a, b, c) => vec![*a, *b, *c],
            OpKind::Reduce { inits, .. } => inits.clone(),
            OpKind::Extract { tile, at } => {
                std::iter::once(*tile).chain(at.iter().copied()).collect()
            }
            OpKind::For {
                lower,
                upper,
                inits,
                ..
            } => [*lower, *upper]
                .into_iter()
                .chain(inits.iter().copied())
                .collect(),
            OpKind::Load { at, .. } => coordinates(at).collect(),
            OpKind::Store { at, value, .. } => coordinates(at).chain([*value]).collect(),
        }
    }

    /// The regions it owns.
    pub fn regions(&self) -> Vec<Region> {
        match self {
            OpKind::Map { body, .. }
            | OpKind::Reduce { body, .. }
            | OpKind::For { body, .. }
            | OpKind::Parallel { body, .. } => vec![*body],
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
            | OpKind::Opaque { .. } => Vec::new(),
        }
    }

    /// What it does beyond its results.
    pub fn effect(&self) -> Effect {
        match self {
            OpKind::Load { view, .. } => Effect::Read(*view),
            OpKind::Store { view, .. } => Effect::Write(*view),
            OpKind::Stage => Effect::Stage,
            OpKind::Opaque { .. } => Effect::Unknown,
            OpKind::For { .. } | OpKind::Parallel { .. } => Effect::Nested,
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
            | OpKind::Map { .. }
            | OpKind::Reduce { .. }
            | OpKind::Extract { .. } => Effect::Pure,
        }
    }

    /// The same operation over other keys.
    pub fn with_keys(&self, keys: &mut impl Rekey) -> OpKind {
        fn dims(keys: &mut impl Rekey, dims: &[Dim]) -> Vec<Dim> {
            let one = |dim: &Dim| match *dim {
                Dim::Axis(axis) => Dim::Axis(keys.axis(axis)),
                Dim::Unit => Dim::Unit,
            };
            dims.iter().map(one).collect()
        }
        fn values(keys: &mut impl Rekey, values: &[Value]) -> Vec<Value> {
            values.iter().map(|&value| keys.value(value)).collect()
        }
        fn subscripts(keys: &mut impl Rekey, at: &[Subscript]) -> Vec<Subscript> {
            let one = |subscript: &Subscript| match *subscript {
                Subscript::At(value) => Subscript::At(keys.value(value)),
                Subscript::Window { origin, axis, step } => Subscript::Window {
                    origin: origin.map(|value| keys.value(value)),
                    axis: keys.axis(axis),
                    step,
                },
            };
            at.iter().map(one).collect()
        }
        match self {
            OpKind::Const(scalar) => OpKind::Const(*scalar),
            OpKind::Extent(axis) => OpKind::Extent(keys.axis(*axis)),
            OpKind::ScalarParam(param) => OpKind::ScalarParam(keys.param(*param)),
            OpKind::Iota(axis) => OpKind::Iota(keys.axis(*axis)),
            OpKind::Unary(op, a) => OpKind::Unary(*op, keys.value(*a)),
            OpKind::Binary(op, a, b) => OpKind::Binary(*op, keys.value(*a), keys.value(*b)),
            OpKind::Compare(op, a, b) => OpKind::Compare(*op, keys.value(*a), keys.value(*b)),
            OpKind::Select {
                condition,
                then,
                otherwise,
            } => OpKind::Select {
                condition: keys.value(*condition),
                then: keys.value(*then),
                otherwise: keys.value(*otherwise),
            },
            OpKind::Fma(a, b, c) => OpKind::Fma(keys.value(*a), keys.value(*b), keys.value(*c)),
            OpKind::Cast(element, a) => OpKind::Cast(*element, keys.value(*a)),
            OpKind::Broadcast(a, to) => OpKind::Broadcast(keys.value(*a), dims(keys, to)),
            OpKind::Reshape(a, to) => OpKind::Reshape(keys.value(*a), dims(keys, to)),
            OpKind::Permute(a, order) => OpKind::Permute(keys.value(*a), order.clone()),
            OpKind::Map { dims: over, body } => OpKind::Map {
                dims: dims(keys, over),
                body: keys.region(*body),
            },
            OpKind::Reduce {
                dims: over,
                policy,
                form,
                inits,
                body,
            } => OpKind::Reduce {
                dims: dims(keys, over),
                policy: *policy,
                form: form.clone(),
                inits: values(keys, inits),
                body: keys.region(*body),
            },
            OpKind::Extract { tile, at } => OpKind::Extract {
                tile: keys.value(*tile),
                at: values(keys, at),
            },
            OpKind::For {
                lower,
                upper,
                inits,
                body,
            } => OpKind::For {
                lower: keys.value(*lower),
                upper: keys.value(*upper),
                inits: values(keys, inits),
                body: keys.region(*body),
            },
            OpKind::Parallel { axes, body } => OpKind::Parallel {
                axes: axes.iter().map(|&axis| keys.axis(axis)).collect(),
                body: keys.region(*body),
            },
            OpKind::Load { view, at } => OpKind::Load {
                view: keys.param(*view),
                at: subscripts(keys, at),
            },
            OpKind::Store { view, at, value } => OpKind::Store {
                view: keys.param(*view),
                at: subscripts(keys, at),
                value: keys.value(*value),
            },
            OpKind::Stage => OpKind::Stage,
            OpKind::Opaque { id } => OpKind::Opaque { id: *id },
        }
    }
}

/// Where the keys of an operation lead in another kernel (or in the same one, renumbered).
pub trait Rekey {
    /// The new key of an axis.
    fn axis(&mut self, axis: Axis) -> Axis;
    /// The new key of a parameter.
    fn param(&mut self, param: Param) -> Param;
    /// The new key of a value.
    fn value(&mut self, value: Value) -> Value;
    /// The new key of a region.
    fn region(&mut self, region: Region) -> Region;
}
