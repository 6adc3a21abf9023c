//! The results in double precision, and how far an arm's results are from them.
//!
//! Written as formulas over slices, with no line shared with any arm, and sums compensated, so that sixteen million terms
//! cost no accuracy.

use super::case::{Case, EPS, Kernel, Values};

/// Exact results.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    values: Vec<f64>,
    /// What errors are measured by, where the result is one sum: the sum of its terms' magnitudes.
    magnitude: Option<f64>,
}

impl Exact {
    pub(super) fn of(case: &Case, inputs: &[Values]) -> Exact {
        let cols = case.cols;
        let x = inputs[0].f32();
        let second = inputs.get(1).map_or(&[][..], Values::f32);
        let third = inputs.get(2).map_or(&[][..], Values::f32);
        let pointwise = |f: fn(f64, f64) -> f64| {
            let pairs = x.iter().zip(second);
            pairs.map(|(&a, &b)| f(a.into(), b.into())).collect()
        };
        let terms = |f: fn(f64, f64) -> f64, others: &[f32]| -> (f64, f64) {
            let all = || x.iter().zip(others).map(|(&a, &b)| f(a.into(), b.into()));
            (sum(all()), sum(all().map(f64::abs)))
        };
        let mut magnitude = None;
        let mut total = |(value, of): (f64, f64)| {
            magnitude = Some(of);
            vec![value]
        };
        let values = match case.kernel {
            Kernel::RmsNorm | Kernel::RmsNormRsqrt => each_row(x, cols, |_, row| {
                let rms = (sum(row.iter().map(|v| v * v)) / cols as f64 + f64::from(EPS)).sqrt();
                row.iter()
                    .zip(second)
                    .map(|(v, &w)| v / rms * f64::from(w))
                    .collect()
            }),
            Kernel::LayerNorm => each_row(x, cols, |_, row| {
                let mean = sum(row.iter().copied()) / cols as f64;
                let squares = sum(row.iter().map(|v| (v - mean) * (v - mean)));
                let scale = (squares / cols as f64 + f64::from(EPS)).sqrt();
                let affine = second.iter().zip(third);
                let row = row.iter().zip(affine);
                row.map(|(v, (&w, &b))| (v - mean) / scale * f64::from(w) + f64::from(b))
                    .collect()
            }),
            Kernel::SoftmaxAdditiveMask => each_row(x, cols, |r, row| {
                let mask = second[r * cols..][..cols].iter();
                softmax(
                    row.iter()
                        .zip(mask)
                        .map(|(v, &m)| v + f64::from(m))
                        .collect(),
                )
            }),
            Kernel::SoftmaxMasked => each_row(x, cols, |r, row| {
                let Values::Bool(live) = &inputs[1] else {
                    return Vec::new();
                };
                let live = live[r * cols..][..cols].iter();
                let of = |(v, &keep): (&f64, &bool)| if keep { *v } else { f64::NEG_INFINITY };
                softmax(row.iter().zip(live).map(of).collect())
            }),
            Kernel::Swiglu => pointwise(|g, u| g / (1.0 + (-g).exp()) * u),
            Kernel::GeluTanhResidual => pointwise(|x, residual| {
                let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                0.5 * x * (1.0 + u.tanh()) + residual
            }),
            Kernel::GeluErfResidual => pointwise(|x, residual| {
                0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2)) + residual
            }),
            Kernel::RopeHalf => each_row(x, cols, |r, row| {
                let half = cols / 2;
                let table = |of: &[f32], c: usize| f64::from(of[r * half + c % half]);
                let turned = |c: usize| {
                    if c < half {
                        -row[c + half]
                    } else {
                        row[c - half]
                    }
                };
                (0..cols)
                    .map(|c| row[c] * table(second, c) + turned(c) * table(third, c))
                    .collect()
            }),
            Kernel::Dot => total(terms(|a, b| a * b, second)),
            Kernel::SumOfSquares => total(terms(|a, _| a * a, x)),
            Kernel::MeanSquaredError => {
                let (value, _) = terms(|a, b| (a - b) * (a - b), second);
                let mean = value / case.elements() as f64;
                total((mean, mean))
            }
            Kernel::CrossEntropy => {
                let Values::I32(targets) = &inputs[1] else {
                    return Exact {
                        values: Vec::new(),
                        magnitude: None,
                    };
                };
                let losses = each_row(x, cols, |r, row| {
                    let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let rest = sum(row.iter().map(|v| (v - peak).exp())).ln();
                    vec![rest + peak - row[targets[r] as usize]]
                });
                let mean = sum(losses.iter().copied()) / case.rows as f64;
                total((mean, 1.0 + mean.abs()))
            }
        };
        Exact { values, magnitude }
    }

    /// The largest error of some results; infinite where one is missing or no number.
    pub(super) fn error_of(&self, results: &[f32]) -> f64 {
        if results.len() != self.values.len() {
            return f64::INFINITY;
        }
        let mut largest = 0.0f64;
        for (&result, &exact) in results.iter().zip(&self.values) {
            let error =
                (f64::from(result) - exact).abs() / self.magnitude.unwrap_or(1.0 + exact.abs());
            largest = if error.is_nan() {
                f64::INFINITY
            } else {
                largest.max(error)
            };
            if largest.is_infinite() {
                break;
            }
        }
        largest
    }
}

fn each_row(x: &[f32], cols: usize, of: impl Fn(usize, &[f64]) -> Vec<f64>) -> Vec<f64> {
    let rows = x.chunks_exact(cols).enumerate();
    rows.flat_map(|(r, row)| of(r, &row.iter().map(|&v| f64::from(v)).collect::<Vec<_>>()))
        .collect()
}

fn softmax(row: Vec<f64>) -> Vec<f64> {
    let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = row.iter().map(|v| (v - peak).exp()).collect();
    let total = sum(exponentials.iter().copied());
    exponentials.iter().map(|e| e / total).collect()
}

/// Neumaier's compensated sum.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = total + term;
        lost += if total.abs() >= term.abs() {
            (total - next) + term
        } else {
            (term - next) + total
        };
        total = next;
    }
    total + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_a_missing_one_and_a_nan_are_seen() {
        let case = Case {
            kernel: Kernel::SumOfSquares,
            rows: 1,
            cols: 2,
            of_fifteen: false,
        };
        let exact = Exact::of(&case, &[Values::F32(vec![3.0, 4.0])]);
        assert_eq!(exact.error_of(&[25.0]), 0.0);
        assert_eq!(exact.error_of(&[50.0]), 1.0);
        assert_eq!(exact.error_of(&[f32::NAN]), f64::INFINITY);
        assert_eq!(exact.error_of(&[]), f64::INFINITY);
    }

    #[test]
    fn softmax_of_masked_rows_adds_up_to_one() {
        let case = Case {
            kernel: Kernel::SoftmaxMasked,
            rows: 2,
            cols: 8,
            of_fifteen: false,
        };
        let exact = Exact::of(&case, &case.inputs());
        assert!((exact.values[..8].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(exact.values.contains(&0.0));
    }
}
