//! `Tile`: a value while its kernel is being built, with the operations that make others of it.

use diagnostics::Location;
use numerics::{ElementType, MathFunction};

use super::KernelBuilder;
use super::operand::{Operand, ScalarParam};
use crate::kernel::{Dim, TileType};
use crate::keys::Value;
use crate::ops::{BinaryOp, CompareOp, OpKind, Policy, ReduceOp, UnaryOp};

/// A value of the kernel that is being built. Operations on it are appended to the nest that is open.
///
/// `+ - * / % & | ^ << >>`, `-x` and `!x` are elementwise operations; the other side may be a tile, a [`ScalarParam`], or a
/// number. Mistakes are told by [`KernelBuilder::finish`], with the line that made them.
#[derive(Clone, Copy)]
pub struct Tile<'k> {
    pub(super) builder: &'k KernelBuilder,
    pub(super) value: Value,
}

impl std::fmt::Debug for Tile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.value)
    }
}

macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident => $op:expr;)*) => {
        impl<'k> Tile<'k> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self) -> Tile<'k> {
                    self.unary($op, Location::caller())
                }
            )*
        }
    };
}

unary_methods! {
    /// Sign cleared; i32 wraps at the minimum.
    abs => UnaryOp::Abs;
    /// Correctly rounded square root.
    sqrt => UnaryOp::Sqrt;
    /// `1 / sqrt(x)`, two roundings.
    rsqrt => UnaryOp::Rsqrt;
    /// Rounded to an integer towards minus infinity.
    floor => UnaryOp::Floor;
    /// Rounded to an integer towards plus infinity.
    ceil => UnaryOp::Ceil;
    /// Rounded to an integer towards zero.
    trunc => UnaryOp::Trunc;
    /// Rounded to an integer, ties to even.
    round => UnaryOp::Round;
    /// `e^x`, f32.
    exp => UnaryOp::Math(MathFunction::Exp);
    /// `2^x`, f32.
    exp2 => UnaryOp::Math(MathFunction::Exp2);
    /// Natural logarithm, f32.
    log => UnaryOp::Math(MathFunction::Log);
    /// `log(1 + x)`, f32.
    log1p => UnaryOp::Math(MathFunction::Log1p);
    /// `e^x - 1`, f32.
    expm1 => UnaryOp::Math(MathFunction::Expm1);
    /// `1 / (1 + e^-x)`, f32.
    sigmoid => UnaryOp::Math(MathFunction::Sigmoid);
    /// Hyperbolic tangent, f32.
    tanh => UnaryOp::Math(MathFunction::Tanh);
    /// Error function, f32.
    erf => UnaryOp::Math(MathFunction::Erf);
    /// `1 - erf(x)`, f32.
    erfc => UnaryOp::Math(MathFunction::Erfc);
    /// Normal distribution function, f32.
    normal_cdf => UnaryOp::Math(MathFunction::NormalCdf);
    /// Sine, f32.
    sin => UnaryOp::Math(MathFunction::Sin);
    /// Cosine, f32.
    cos => UnaryOp::Math(MathFunction::Cos);
}

macro_rules! binary_methods {
    ($($(#[$doc:meta])* $name:ident => $make:expr;)*) => {
        impl<'k> Tile<'k> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, other: impl Operand<'k>) -> Tile<'k> {
                    self.with(other, $make, Location::caller())
                }
            )*
        }
    };
}

binary_methods! {
    /// IEEE 754-2019 minimum: NaN propagates, -0 is below +0.
    min => |a, b| OpKind::Binary(BinaryOp::Min, a, b);
    /// IEEE 754-2019 maximum: NaN propagates, -0 is below +0.
    max => |a, b| OpKind::Binary(BinaryOp::Max, a, b);
    /// The magnitude of this, the sign of the other.
    copysign => |a, b| OpKind::Binary(BinaryOp::CopySign, a, b);
    /// `==`, as bool.
    equal => |a, b| OpKind::Compare(CompareOp::Eq, a, b);
    /// `!=`, as bool; true where one is NaN.
    not_equal => |a, b| OpKind::Compare(CompareOp::Ne, a, b);
    /// `<`, as bool.
    less => |a, b| OpKind::Compare(CompareOp::Lt, a, b);
    /// `<=`, as bool.
    less_equal => |a, b| OpKind::Compare(CompareOp::Le, a, b);
    /// `>`, as bool.
    greater => |a, b| OpKind::Compare(CompareOp::Gt, a, b);
    /// `>=`, as bool.
    greater_equal => |a, b| OpKind::Compare(CompareOp::Ge, a, b);
}

impl<'k> Tile<'k> {
    /// Its key while the kernel is being built. [`finish`](KernelBuilder::finish) numbers anew.
    pub fn value(self) -> Value {
        self.value
    }

    /// Its type.
    pub fn ty(self) -> TileType {
        self.builder.state.borrow().kernel.ty(self.value).clone()
    }

    /// The same tile with a name for people.
    pub fn named(self, name: &str) -> Tile<'k> {
        self.builder
            .state
            .borrow_mut()
            .kernel
            .name_value(self.value, name);
        self
    }

    fn unary(self, op: UnaryOp, location: Location) -> Tile<'k> {
        self.builder.tile(OpKind::Unary(op, self.value), location)
    }

    fn with(
        self,
        other: impl Operand<'k>,
        make: impl FnOnce(Value, Value) -> OpKind,
        location: Location,
    ) -> Tile<'k> {
        let other = other.term().value(self.builder, location);
        self.builder.tile(make(self.value, other), location)
    }

    /// The element at coordinates, one a dimension: `x[a, b]`.
    #[track_caller]
    pub fn at<C: Operand<'k>, const N: usize>(self, coordinates: [C; N]) -> Tile<'k> {
        let location = Location::caller();
        let at = coordinates
            .into_iter()
            .map(|c| c.term().value(self.builder, location))
            .collect();
        self.builder.tile(
            OpKind::Extract {
                tile: self.value,
                at,
            },
            location,
        )
    }

    /// `self ? then : otherwise`, elementwise; this is bool.
    #[track_caller]
    pub fn select(self, then: impl Operand<'k>, otherwise: impl Operand<'k>) -> Tile<'k> {
        let location = Location::caller();
        let then = then.term().value(self.builder, location);
        let otherwise = otherwise.term().value(self.builder, location);
        self.builder.tile(
            OpKind::Select {
                condition: self.value,
                then,
                otherwise,
            },
            location,
        )
    }

    /// `self * factor + term`, rounded once.
    #[track_caller]
    pub fn fma(self, factor: impl Operand<'k>, term: impl Operand<'k>) -> Tile<'k> {
        let location = Location::caller();
        let factor = factor.term().value(self.builder, location);
        let term = term.term().value(self.builder, location);
        self.builder
            .tile(OpKind::Fma(self.value, factor, term), location)
    }

    /// Converted to another element type.
    #[track_caller]
    pub fn cast(self, element: ElementType) -> Tile<'k> {
        self.builder
            .tile(OpKind::Cast(element, self.value), Location::caller())
    }

    /// Repeated along the dimensions it lacks.
    #[track_caller]
    pub fn broadcast<D: Into<Dim>, const N: usize>(self, dims: [D; N]) -> Tile<'k> {
        self.shaped(
            dims.map(Into::into).to_vec(),
            OpKind::Broadcast,
            Location::caller(),
        )
    }

    /// With unit dimensions inserted or dropped.
    #[track_caller]
    pub fn reshape<D: Into<Dim>, const N: usize>(self, dims: [D; N]) -> Tile<'k> {
        self.shaped(
            dims.map(Into::into).to_vec(),
            OpKind::Reshape,
            Location::caller(),
        )
    }

    fn shaped(
        self,
        dims: Vec<Dim>,
        make: impl FnOnce(Value, Vec<Dim>) -> OpKind,
        location: Location,
    ) -> Tile<'k> {
        if self.builder.knows_dims(&dims, location) {
            self.builder.tile(make(self.value, dims), location)
        } else {
            self.builder.poisoned()
        }
    }

    /// With its dimensions in another order: `order[i]` is the dimension of this that becomes dimension `i`.
    #[track_caller]
    pub fn permute<const N: usize>(self, order: [u32; N]) -> Tile<'k> {
        self.builder.tile(
            OpKind::Permute(self.value, order.to_vec()),
            Location::caller(),
        )
    }

    /// The sum of all elements, in an order that the plan chooses.
    #[track_caller]
    pub fn sum(self) -> Tile<'k> {
        self.all_elements(ReduceOp::Add, Policy::Unordered, Location::caller())
    }

    /// The product of all elements, in an order that the plan chooses.
    #[track_caller]
    pub fn product(self) -> Tile<'k> {
        self.all_elements(ReduceOp::Mul, Policy::Unordered, Location::caller())
    }

    /// The minimum of all elements.
    #[track_caller]
    pub fn minimum(self) -> Tile<'k> {
        self.all_elements(ReduceOp::Min, Policy::Unordered, Location::caller())
    }

    /// The maximum of all elements.
    #[track_caller]
    pub fn maximum(self) -> Tile<'k> {
        self.all_elements(ReduceOp::Max, Policy::Unordered, Location::caller())
    }

    /// All elements combined under a policy, from the operation's neutral value: the very reduction a nest would be.
    #[track_caller]
    pub fn reduce_all(self, op: ReduceOp, policy: Policy) -> Tile<'k> {
        self.all_elements(op, policy, Location::caller())
    }

    fn all_elements(self, op: ReduceOp, policy: Policy, location: Location) -> Tile<'k> {
        let value = self
            .builder
            .state
            .borrow_mut()
            .reduce_tile(op, policy, self.value, location);
        Tile {
            builder: self.builder,
            value,
        }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {
        $(
            operators!(@tile $trait $method $op, Tile<'k>, ScalarParam, f32, i32, bool);
            operators!(@left $trait $method $op, ScalarParam, f32, i32, bool);
        )*
    };
    (@tile $trait:ident $method:ident $op:ident, $($other:ty),*) => {
        $(
            impl<'k> std::ops::$trait<$other> for Tile<'k> {
                type Output = Tile<'k>;

                #[track_caller]
                fn $method(self, other: $other) -> Tile<'k> {
                    self.with(other, |a, b| OpKind::Binary(BinaryOp::$op, a, b), Location::caller())
                }
            }
        )*
    };
    (@left $trait:ident $method:ident $op:ident, $($other:ty),*) => {
        $(
            impl<'k> std::ops::$trait<Tile<'k>> for $other {
                type Output = Tile<'k>;

                #[track_caller]
                fn $method(self, tile: Tile<'k>) -> Tile<'k> {
                    tile.with(self, |a, b| OpKind::Binary(BinaryOp::$op, b, a), Location::caller())
                }
            }
        )*
    };
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Rem;
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
    Shl shl Shl;
    Shr shr Shr;
}

impl<'k> std::ops::Neg for Tile<'k> {
    type Output = Tile<'k>;

    #[track_caller]
    fn neg(self) -> Tile<'k> {
        self.unary(UnaryOp::Neg, Location::caller())
    }
}

impl<'k> std::ops::Not for Tile<'k> {
    type Output = Tile<'k>;

    #[track_caller]
    fn not(self) -> Tile<'k> {
        self.unary(UnaryOp::Not, Location::caller())
    }
}
