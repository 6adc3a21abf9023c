//! What the walker asks of a number system.
//!
//! A kernel says which operations happen on what; it takes a number system to say what they give. The interpreter brings
//! the bits of the machine ([`crate::bits`]), the oracle brings binary64 for everything ([`crate::oracle`]). The walk over
//! the kernel is the same, so the two can differ in nothing but arithmetic.

use numerics::{ElementType, Scalar, TreeShape};
use tile_ir::{BinaryOp, CompareOp, ReduceOp, UnaryOp};

/// In what order a closed reduction combines its contributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Left to right; the initial value comes first.
    Fold,
    /// By this tree; the initial value comes last.
    Tree(TreeShape),
}

/// Numbers, what operations on them give, and the memory they live in.
pub(crate) trait Meaning {
    /// One number of any element type.
    type Item: Copy;

    /// The number a constant stands for.
    fn constant(&self, value: Scalar) -> Self::Item;
    /// An integer; the walker only asks it of i32 values.
    fn integer(&self, item: Self::Item) -> i32;
    /// A truth value; the walker only asks it of bool values.
    fn truth(&self, item: Self::Item) -> bool;

    fn unary(&self, op: UnaryOp, a: Self::Item) -> Self::Item;
    fn binary(&self, op: BinaryOp, a: Self::Item, b: Self::Item) -> Self::Item;
    fn compare(&self, op: CompareOp, a: Self::Item, b: Self::Item) -> Self::Item;
    fn fma(&self, a: Self::Item, b: Self::Item, c: Self::Item) -> Self::Item;
    fn cast(&self, to: ElementType, a: Self::Item) -> Self::Item;
    /// Combines all contributions of a closed reduction.
    fn reduce(
        &self,
        op: ReduceOp,
        order: Order,
        init: Self::Item,
        items: &[Self::Item],
    ) -> Self::Item;

    /// Element `index` of a buffer, counted in elements of the given type; `None` outside the buffer.
    fn read(&self, buffer: usize, index: i64, element: ElementType) -> Option<Self::Item>;
    /// Writes an element; `None` outside the buffer, and nothing is written.
    fn write(
        &mut self,
        buffer: usize,
        index: i64,
        element: ElementType,
        item: Self::Item,
    ) -> Option<()>;
    /// Runs the hook of an `opaque` operation in program number `program` of its nest.
    fn opaque(&mut self, id: u32, program: u64);
}

/// The value an `extract` outside its tile gives: NaN, 0 or false.
pub(crate) fn outside(element: ElementType) -> Scalar {
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::BF16 => Scalar::F32(f32::NAN),
        ElementType::F64 => Scalar::F64(f64::NAN),
        ElementType::I32 => Scalar::I32(0),
        ElementType::Bool => Scalar::Bool(false),
    }
}

/// Says that a value has a type which the verifier rules out.
#[cold]
pub(crate) fn ill_typed(what: impl std::fmt::Debug) -> ! {
    panic!("a verified kernel holds an ill-typed operation: {what:?}")
}
