//! What a kernel asks of its caller, without the kernel: names, shapes, strides, and which views may be the same memory.

use kernel_abi::RecordLayout;
use numerics::ElementType;

/// One axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSignature {
    /// Its name.
    pub name: String,
    /// Its extent, if the code was compiled for one.
    pub extent: Option<u32>,
}

/// One view parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSignature {
    /// The element type in memory.
    pub element: ElementType,
    /// One axis (by index) a dimension.
    pub axes: Vec<usize>,
    /// One stride a dimension, in elements; `None` takes any.
    pub strides: Vec<Option<i64>>,
    /// Whether the kernel writes it.
    pub mutable: bool,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamSignature {
    /// Memory.
    View(ViewSignature),
    /// A number of this type.
    Scalar(ElementType),
}

/// A kernel's parameters and axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name.
    pub kernel: String,
    /// Name and kind of each parameter, in order.
    pub params: Vec<(String, ParamSignature)>,
    /// Each axis.
    pub axes: Vec<AxisSignature>,
    /// Pairs of view parameters (lower index first) that may be the very same memory: each program keeps to its own part of both.
    pub may_share: Vec<(usize, usize)>,
    /// Where everything goes in the launch record.
    pub layout: RecordLayout,
}

impl Signature {
    /// Whether two views may be the same memory.
    pub fn may_share(&self, a: usize, b: usize) -> bool {
        self.may_share.contains(&(a.min(b), a.max(b)))
    }

    /// The names of the dimensions of a view, as `[row, col]`.
    pub fn dims(&self, view: &ViewSignature) -> String {
        let names: Vec<&str> = view
            .axes
            .iter()
            .map(|&axis| self.axes[axis].name.as_str())
            .collect();
        format!("[{}]", names.join(", "))
    }
}
