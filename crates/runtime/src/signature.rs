//! What a kernel asks of its caller, in the fewest words that binding needs.

use kernel_abi::RecordLayout;
use numerics::ElementType;

/// A view parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSignature {
    /// The element type in memory.
    pub element: ElementType,
    /// One axis a dimension, outermost first: indices into [`Signature::axes`].
    pub axes: Vec<usize>,
    /// One stride a dimension, in elements; `None` for any.
    pub strides: Vec<Option<i64>>,
    /// Whether the kernel may write through it.
    pub mutable: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamSignature {
    /// Memory of the caller.
    View(ViewSignature),
    /// A number: f32, f64, i32 or bool.
    Scalar(ElementType),
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSignature {
    /// Its name.
    pub name: String,
    /// Its extent, if the code was compiled for one.
    pub extent: Option<u32>,
}

/// What a kernel asks of its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name.
    pub kernel: String,
    /// Names and kinds of the parameters, in order.
    pub params: Vec<(String, ParamSignature)>,
    /// The axes, in order.
    pub axes: Vec<AxisSignature>,
    /// Pairs of view parameters, the smaller index first, that may be the very same elements, because each program keeps
    /// to its own elements in both.
    pub may_share: Vec<(usize, usize)>,
    /// Where everything stands in the launch record.
    pub layout: RecordLayout,
}

impl Signature {
    /// Whether two parameters may be the very same elements.
    pub(crate) fn may_share(&self, a: usize, b: usize) -> bool {
        self.may_share.contains(&(a.min(b), a.max(b)))
    }

    pub(crate) fn axis_name(&self, axis: usize) -> &str {
        &self.axes[axis].name
    }
}
