//! The Rust types whose slices a view can show.

use numerics::ElementType;

mod sealed {
    pub trait Sealed {}
}

/// A type that lies in memory as an element of a tensor does.
///
/// Sealed: generated code writes any bit pattern into floats and integers, and 0 or 1 into a `bool`.
pub trait Element: Copy + sealed::Sealed + 'static {
    /// The element type of a view of this type.
    const TYPE: ElementType;
}

macro_rules! element {
    ($($rust:ty => $element:ident),*) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Element for $rust {
                const TYPE: ElementType = ElementType::$element;
            }
        )*
    };
}

element!(f32 => F32, f64 => F64, i32 => I32, bool => Bool, half::f16 => F16, half::bf16 => BF16);
