//! What a caller gives for a parameter.

use numerics::Scalar;

use crate::view::View;

/// One argument: memory, or a number.
#[derive(Debug)]
pub enum Argument<'a> {
    /// Memory for a view parameter.
    View(View<'a>),
    /// A number for a scalar parameter. It is taken if the parameter's type can hold it: an integer exactly, a float
    /// rounded once, if it doesn't overflow.
    Scalar(Scalar),
}

impl Argument<'_> {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Argument::View(_) => "an array",
            Argument::Scalar(_) => "a number",
        }
    }
}

impl<'a> From<View<'a>> for Argument<'a> {
    fn from(view: View<'a>) -> Argument<'a> {
        Argument::View(view)
    }
}

impl From<Scalar> for Argument<'_> {
    fn from(scalar: Scalar) -> Self {
        Argument::Scalar(scalar)
    }
}

impl From<f32> for Argument<'_> {
    fn from(value: f32) -> Self {
        Argument::Scalar(Scalar::F32(value))
    }
}

impl From<f64> for Argument<'_> {
    fn from(value: f64) -> Self {
        Argument::Scalar(Scalar::F64(value))
    }
}

impl From<i32> for Argument<'_> {
    fn from(value: i32) -> Self {
        Argument::Scalar(Scalar::I32(value))
    }
}

impl From<bool> for Argument<'_> {
    fn from(value: bool) -> Self {
        Argument::Scalar(Scalar::Bool(value))
    }
}
