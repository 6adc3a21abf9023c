//! Why memory is no array, and why arguments don't fit a kernel: each says what was given, what was wanted, what to do.

use std::fmt;

use numerics::{ElementType, Scalar};

use crate::view::View;

/// A shape as people write it: `[64, 256]`.
fn list<T: fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("[{}]", items.join(", "))
}

fn dimensions(count: usize) -> String {
    match count {
        1 => "1 dimension".to_owned(),
        count => format!("{count} dimensions"),
    }
}

/// Why memory can't be seen as an array of this shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The data has another number of elements than the shape.
    #[error(
        "shape {} of {element} has {} elements, and the data has {have}; give a shape with {have} elements, or strides",
        list(shape),
        wanted.map_or("more than 2^128".to_owned(), |n| n.to_string())
    )]
    Length {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        element: ElementType,
        /// How many elements it has; `None` if 128 bits can't say.
        wanted: Option<u128>,
        /// How many whole elements there are.
        have: usize,
    },
    /// Some coordinate lies outside the data.
    #[error(
        "shape {} with strides {} covers bytes {first}..{end}, and the data has {bytes}; use a smaller shape or strides, \
         or another origin",
        list(shape),
        list(strides)
    )]
    Outside {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<i64>,
        /// First byte of any element.
        first: i128,
        /// Past the last byte of any element.
        end: i128,
        /// Bytes of the data.
        bytes: usize,
    },
    /// Shape and strides have different lengths.
    #[error("shape {} has {} dimensions, and there are {} strides {}; give one stride a dimension", list(shape), shape.len(), strides.len(), list(strides))]
    StrideCount {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// An extent is too large.
    #[error(
        "dimension {dim} of shape {} has {} elements, more than {}; split it",
        list(shape),
        shape[*dim],
        i32::MAX
    )]
    Extent {
        /// The shape.
        shape: Vec<usize>,
        /// The dimension.
        dim: usize,
    },
    /// Byte offsets leave 64 bits.
    #[error(
        "shape {} with strides {} is too large: its byte offsets don't fit 64 bits",
        list(shape),
        list(strides)
    )]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// A null pointer with elements behind it.
    #[error("a null pointer can't be an array of shape {}", list(shape))]
    Null {
        /// The shape.
        shape: Vec<usize>,
    },
}

/// What an error says of a view: name, element type, shape and strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewText {
    /// The parameter it was given for.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
}

impl ViewText {
    pub(crate) fn new(name: &str, view: &View<'_>) -> ViewText {
        ViewText {
            name: name.to_owned(),
            element: view.element(),
            shape: view.shape().to_vec(),
            strides: view.strides().to_vec(),
        }
    }
}

impl fmt::Display for ViewText {
    /// `` `x`: f32[64, 256] with strides [256, 1] ``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}`: {}{} with strides {}",
            self.name,
            self.element,
            list(&self.shape),
            list(&self.strides)
        )
    }
}

/// Why arguments don't fit a kernel. Nothing was written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    /// An argument has a name no parameter has.
    #[error("kernel `{kernel}` has no parameter `{name}`; its parameters are {}", params.join(", "))]
    UnknownName {
        /// The kernel.
        kernel: String,
        /// The name given.
        name: String,
        /// The names there are.
        params: Vec<String>,
    },
    /// Two arguments have one name.
    #[error("argument `{name}` is given twice; give it once")]
    GivenTwice {
        /// The name.
        name: String,
    },
    /// A parameter has no argument.
    #[error("kernel `{kernel}` needs {}, which {} not given", missing.join(", "), if missing.len() == 1 { "is" } else { "are" })]
    Missing {
        /// The kernel.
        kernel: String,
        /// Each missing parameter with its type, as `` `x`: f32[row, col] ``.
        missing: Vec<String>,
    },
    /// An array for a number, or the other way round.
    #[error("parameter {wanted}, and it is given {given}")]
    Kind {
        /// The parameter with its type.
        wanted: String,
        /// What was given.
        given: &'static str,
    },
    /// A number that the parameter's type can't hold.
    #[error(
        "parameter `{name}` has type {wanted}, which can't hold {given}; give a value of type {wanted}"
    )]
    Number {
        /// The parameter.
        name: String,
        /// Its type.
        wanted: ElementType,
        /// What was given.
        given: Scalar,
    },
    /// An array of another element type.
    #[error(
        "{given} is given where the kernel wants {wanted} elements; convert the data, or change the parameter's type"
    )]
    Element {
        /// What was given.
        given: ViewText,
        /// The parameter's element type.
        wanted: ElementType,
    },
    /// A read-only array where the kernel writes.
    #[error("{given} is read-only, and the kernel writes to it; give a mutable view")]
    ReadOnly {
        /// What was given.
        given: ViewText,
    },
    /// An array of another rank.
    #[error(
        "{given} has {} where the kernel wants [{}]; reshape it to {}",
        dimensions(given.shape.len()),
        axes.join(", "),
        dimensions(axes.len())
    )]
    Rank {
        /// What was given.
        given: ViewText,
        /// Names of the axes the parameter runs along.
        axes: Vec<String>,
    },
    /// An extent other than the code was compiled for.
    #[error(
        "dimension {dim} of {given} runs along axis `{axis}`, which has extent {wanted}; give {wanted} elements there, or \
         compile the kernel for {}",
        given.shape[*dim]
    )]
    FixedExtent {
        /// What was given.
        given: ViewText,
        /// The dimension.
        dim: usize,
        /// The axis.
        axis: String,
        /// Its extent.
        wanted: u32,
    },
    /// Two views disagree about an axis.
    #[error(
        "axis `{axis}` has extent {} in dimension {second_dim} of {second}, but {} in dimension {first_dim} of {first}; \
         give both the same extent",
        second.shape[*second_dim],
        first.shape[*first_dim]
    )]
    Extents {
        /// The axis.
        axis: String,
        /// The view that fixed the extent.
        first: Box<ViewText>,
        /// Its dimension.
        first_dim: usize,
        /// The view that has another one.
        second: Box<ViewText>,
        /// Its dimension.
        second_dim: usize,
    },
    /// A given extent contradicts the kernel.
    #[error(
        "axis `{axis}` has extent {fixed} in the compiled kernel, and {given} is asked for; compile it for {given}"
    )]
    GivenExtent {
        /// The axis.
        axis: String,
        /// Its extent in the code.
        fixed: u32,
        /// The extent given by name.
        given: u32,
    },
    /// A given extent contradicts a view.
    #[error(
        "axis `{axis}` is given extent {given}, but has {} in dimension {dim} of {view}; leave the extent out, or give \
         that many elements",
        view.shape[*dim]
    )]
    GivenExtentAndView {
        /// The axis.
        axis: String,
        /// The extent given by name.
        given: u32,
        /// The view.
        view: Box<ViewText>,
        /// Its dimension.
        dim: usize,
    },
    /// A given extent is too large.
    #[error("axis `{axis}` is given extent {given}, more than {}", i32::MAX)]
    ExtentTooLarge {
        /// The axis.
        axis: String,
        /// The extent given.
        given: u32,
    },
    /// No view tells an extent.
    #[error("nothing tells the extent of axis `{axis}`; give it by name")]
    OpenAxis {
        /// The axis.
        axis: String,
    },
    /// An axis of that number does not exist.
    #[error("kernel `{kernel}` has no axis number {axis}")]
    NoSuchAxis {
        /// The kernel.
        kernel: String,
        /// The number.
        axis: usize,
    },
    /// A stride other than the kernel states.
    #[error(
        "{given} has stride {} in dimension {dim} where the kernel wants {wanted}; copy the data so that neighbours there \
         are {wanted} apart, or declare the parameter's strides as `*`",
        given.strides[*dim]
    )]
    Stride {
        /// What was given.
        given: ViewText,
        /// The dimension.
        dim: usize,
        /// The stride the kernel states.
        wanted: i64,
    },
    /// An output reaches one element by two coordinates, or may do so.
    #[error(
        "{given} is written, and its strides don't keep its elements apart, so one element would get several values; give \
         an output whose elements are distinct"
    )]
    OverlapsItself {
        /// What was given.
        given: ViewText,
    },
    /// An output overlaps another view, and not as the very same elements.
    #[error(
        "{written} is written and overlaps {other}; give memory that doesn't overlap, or the very same elements"
    )]
    Overlap {
        /// The view that is written.
        written: Box<ViewText>,
        /// The other.
        other: Box<ViewText>,
    },
    /// An output is the very memory of another view, and programs read what others write.
    #[error(
        "{written} and {other} are the same memory, and one program would see what another one wrote; give the output \
         memory of its own"
    )]
    SharedByPrograms {
        /// The view that is written.
        written: Box<ViewText>,
        /// The other.
        other: Box<ViewText>,
    },
    /// There are more packets or workspace bytes than 64 bits count.
    #[error("a launch of kernel `{kernel}` over these extents is too large to count")]
    TooLarge {
        /// The kernel.
        kernel: String,
    },
    /// There is no memory for the workspace.
    #[error(
        "a launch of kernel `{kernel}` needs {bytes} bytes of workspace, and there is no memory for it"
    )]
    NoWorkspace {
        /// The kernel.
        kernel: String,
        /// How many bytes.
        bytes: u64,
    },
}
