//! What is compared: kernels, sizes, inputs.

use crate::values;

/// A compared kernel, under its name in the library (but [`Kernel::CrossEntropy`], whose mean is taken here).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the names say it; the library's texts define them"
)]
pub enum Kernel {
    RmsNorm,
    RmsNormRsqrt,
    LayerNorm,
    SoftmaxAdditiveMask,
    SoftmaxMasked,
    Swiglu,
    GeluTanhResidual,
    GeluErfResidual,
    RopeHalf,
    Dot,
    SumOfSquares,
    MeanSquaredError,
    CrossEntropy,
}

/// One kernel at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is computed.
    pub kernel: Kernel,
    /// Rows of its main array.
    pub rows: usize,
    /// Columns of its main array.
    pub cols: usize,
    /// Whether it is one of the fifteen cases of docs/design.md, section 10.
    pub of_fifteen: bool,
}

/// Largest error an arm may have: relative to 1 + |exact| for each element, or to the sum of absolute terms for one sum.
pub const TOLERANCE: f64 = 1e-5;

/// The regulariser of norms.
pub(super) const EPS: f32 = 1e-6;

/// Every case, in the order of the table.
pub fn all_cases() -> Vec<Case> {
    use Kernel::*;
    let fifteen: [(Kernel, &[(usize, usize)]); 7] = [
        (
            RmsNorm,
            &[(1, 4096), (17, 65), (17, 16384), (64, 256), (1024, 4096)],
        ),
        (LayerNorm, &[(1, 4096), (17, 16384), (1024, 4096)]),
        (SoftmaxAdditiveMask, &[(64, 4096)]),
        (Swiglu, &[(17, 65), (1024, 4096)]),
        (GeluTanhResidual, &[(17, 65), (1024, 4096)]),
        (RopeHalf, &[(17, 66), (64, 128)]),
        (GeluErfResidual, &[]),
    ];
    let beside: [(Kernel, &[(usize, usize)]); 7] = [
        (
            RmsNormRsqrt,
            &[(1, 4096), (17, 65), (17, 16384), (64, 256), (1024, 4096)],
        ),
        (SoftmaxMasked, &[(64, 4096)]),
        (GeluErfResidual, &[(17, 65), (1024, 4096)]),
        (Dot, &[(1, 65536), (1, 1 << 24)]),
        (SumOfSquares, &[(1, 65536), (1, 1 << 24)]),
        (MeanSquaredError, &[(1024, 4096)]),
        (CrossEntropy, &[(64, 4096)]),
    ];
    let listed = |list: [(Kernel, &'static [(usize, usize)]); 7], of_fifteen| {
        list.into_iter().flat_map(move |(kernel, sizes)| {
            sizes.iter().map(move |&(rows, cols)| Case {
                kernel,
                rows,
                cols,
                of_fifteen,
            })
        })
    };
    listed(fifteen, true).chain(listed(beside, false)).collect()
}

/// Values of one array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    F32(Vec<f32>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
}

impl Values {
    pub(super) fn f32(&self) -> &[f32] {
        match self {
            Values::F32(values) => values,
            Values::I32(_) | Values::I64(_) | Values::Bool(_) => &[],
        }
    }
}

impl Kernel {
    /// Its name in the library, in C and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::RmsNorm => "rms_norm",
            Kernel::RmsNormRsqrt => "rms_norm_rsqrt",
            Kernel::LayerNorm => "layer_norm",
            Kernel::SoftmaxAdditiveMask => "softmax_additive_mask",
            Kernel::SoftmaxMasked => "softmax_masked",
            Kernel::Swiglu => "swiglu",
            Kernel::GeluTanhResidual => "gelu_tanh_residual",
            Kernel::GeluErfResidual => "gelu_erf_residual",
            Kernel::RopeHalf => "rope_half",
            Kernel::Dot => "dot",
            Kernel::SumOfSquares => "sum_of_squares",
            Kernel::MeanSquaredError => "mean_squared_error",
            Kernel::CrossEntropy => "cross_entropy",
        }
    }

    /// Whether the C program has a call of an elementary function for each element.
    pub(super) fn calls_functions(self) -> bool {
        match self {
            Kernel::SoftmaxAdditiveMask
            | Kernel::SoftmaxMasked
            | Kernel::Swiglu
            | Kernel::GeluTanhResidual
            | Kernel::GeluErfResidual
            | Kernel::CrossEntropy => true,
            Kernel::RmsNorm
            | Kernel::RmsNormRsqrt
            | Kernel::LayerNorm
            | Kernel::RopeHalf
            | Kernel::Dot
            | Kernel::SumOfSquares
            | Kernel::MeanSquaredError => false,
        }
    }

    /// Whether its result is one number.
    pub(super) fn is_total(self) -> bool {
        matches!(
            self,
            Kernel::Dot | Kernel::SumOfSquares | Kernel::MeanSquaredError | Kernel::CrossEntropy
        )
    }
}

impl Case {
    /// `rms_norm_64x256`.
    pub fn name(&self) -> String {
        format!("{}_{}x{}", self.kernel.name(), self.rows, self.cols)
    }

    /// Elements of the main array.
    pub fn elements(&self) -> usize {
        self.rows * self.cols
    }

    /// Elements of the result.
    pub(super) fn results(&self) -> usize {
        if self.kernel.is_total() {
            1
        } else {
            self.elements()
        }
    }

    /// The inputs of our kernel and of the C program, in order.
    pub(super) fn inputs(&self) -> Vec<Values> {
        let (rows, cols) = (self.rows, self.cols);
        let table = |seed| Values::F32(drawn(seed, rows * cols));
        let row = |seed| Values::F32(drawn(seed, cols));
        match self.kernel {
            Kernel::RmsNorm | Kernel::RmsNormRsqrt => vec![table(1), row(2)],
            Kernel::LayerNorm => vec![table(1), row(2), row(3)],
            Kernel::SoftmaxAdditiveMask => {
                let mask = values(2, rows * cols).into_iter();
                let mask = mask.map(|value| if value < -0.5 { -1e9 } else { 0.0 });
                vec![table(1), Values::F32(mask.collect())]
            }
            Kernel::SoftmaxMasked => {
                let live = values(2, rows * cols)
                    .into_iter()
                    .map(|value| value >= -0.5);
                vec![table(1), Values::Bool(live.collect())]
            }
            Kernel::Swiglu
            | Kernel::GeluTanhResidual
            | Kernel::GeluErfResidual
            | Kernel::Dot
            | Kernel::MeanSquaredError => vec![table(1), table(2)],
            Kernel::SumOfSquares => vec![table(1)],
            Kernel::RopeHalf => vec![
                table(1),
                Values::F32(self.angles(cols / 2, f64::cos)),
                Values::F32(self.angles(cols / 2, f64::sin)),
            ],
            Kernel::CrossEntropy => {
                vec![
                    table(1),
                    Values::I32(self.targets().map(|one| one as i32).collect()),
                ]
            }
        }
    }

    /// What Inductor's kernel takes in place of our inputs, by their numbers: tables of whole rows, 64-bit classes.
    pub(super) fn torch_inputs(&self) -> Vec<(usize, Values)> {
        match self.kernel {
            Kernel::RopeHalf => vec![
                (1, Values::F32(self.angles(self.cols, f64::cos))),
                (2, Values::F32(self.angles(self.cols, f64::sin))),
            ],
            Kernel::CrossEntropy => {
                vec![(
                    1,
                    Values::I64(self.targets().map(|one| one as i64).collect()),
                )]
            }
            _ => Vec::new(),
        }
    }

    /// A table of a function of each row's angles, `width` columns wide; the angles repeat after half a row.
    fn angles(&self, width: usize, function: fn(f64) -> f64) -> Vec<f32> {
        let half = self.cols / 2;
        let of = |row: usize, column: usize| {
            let rate = 10000f64.powf(-((column % half) as f64) / half as f64);
            function(row as f64 * rate) as f32
        };
        (0..self.rows)
            .flat_map(|row| (0..width).map(move |column| of(row, column)))
            .collect()
    }

    fn targets(&self) -> impl Iterator<Item = usize> {
        let cols = self.cols;
        values(2, self.rows)
            .into_iter()
            .map(move |value| ((f64::from(value) + 1.0) / 2.0 * cols as f64) as usize % cols)
    }
}

/// Numbers in [-2, 2).
fn drawn(seed: u64, count: usize) -> Vec<f32> {
    values(seed, count)
        .into_iter()
        .map(|value| 2.0 * value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fifteen_cases_and_names_are_unique() {
        let cases = all_cases();
        assert_eq!(cases.iter().filter(|case| case.of_fifteen).count(), 15);
        let mut names: Vec<String> = cases.iter().map(Case::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cases.len());
    }

    #[test]
    fn classes_lie_in_the_row_and_tables_repeat_after_half_a_row() {
        let case = |kernel, rows, cols| Case {
            kernel,
            rows,
            cols,
            of_fifteen: false,
        };
        let Values::I32(targets) = &case(Kernel::CrossEntropy, 64, 10).inputs()[1] else {
            panic!("classes are whole numbers");
        };
        assert!(targets.iter().all(|&one| (0..10).contains(&one)));
        let rope = case(Kernel::RopeHalf, 3, 6);
        let whole = rope.torch_inputs().remove(0).1;
        assert_eq!(whole.f32()[6..9], whole.f32()[9..12]);
        assert_eq!(whole.f32()[6..9], rope.inputs()[1].f32()[3..6]);
    }
}
