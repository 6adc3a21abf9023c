//! Differences that are never positive: `x - m`, where `m` is the maximum over a tile that `x` is an element of.
//!
//! Rounding is monotonic, so the computed difference is at most 0, or NaN. A softmax is full of these, and the
//! exponential of such a number is cheaper than of any number (`numerics::functions::exp_never_positive`), at the same
//! bits. The proof needs one tile value to be both what is reduced, whole, and what is read; a maximum propagates NaN, and
//! its initial value can only raise it.

use tile_ir::{BinaryOp, Definition, Kernel, OpKind, ReduceForm, ReduceOp, Value};

/// Whether no element of `value` is above zero, by its form. `false` means that nothing is known.
pub(crate) fn is_never_positive(kernel: &Kernel, value: Value) -> bool {
    let Some(OpKind::Binary(BinaryOp::Sub, minuend, subtrahend)) = defining(kernel, value) else {
        return false;
    };
    let Some(tile) = whole_maximum(kernel, *subtrahend) else {
        return false;
    };
    // Outside its tile an extract is NaN, and so is the difference.
    tile == *minuend
        || matches!(defining(kernel, *minuend), Some(OpKind::Extract { tile: of, .. }) if *of == tile)
}

/// The tile of which `value` is the maximum, over all its elements.
fn whole_maximum(kernel: &Kernel, value: Value) -> Option<Value> {
    let OpKind::Reduce {
        dims,
        form: ReduceForm::Closed(updates),
        body,
        ..
    } = defining(kernel, value)?
    else {
        return None;
    };
    let region = kernel.region(*body);
    let (&[ReduceOp::Max], &[contribution]) = (updates.as_slice(), region.yields.as_slice()) else {
        return None;
    };
    let OpKind::Extract { tile, at } = defining(kernel, contribution)? else {
        return None;
    };
    (*at == region.args && kernel.ty(*tile).dims == *dims).then_some(*tile)
}

fn defining(kernel: &Kernel, value: Value) -> Option<&OpKind> {
    match kernel.value(value).definition {
        Definition::Result { op, .. } => Some(&kernel.op(op).kind),
        Definition::Argument { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use tile_ir::{OpKind, UnaryOp, parse_verified};

    use super::is_never_positive;

    /// What is known about the argument of the one `exp` of a program over tiles `xs` and `ys`.
    fn known(body: &str) -> bool {
        let source = format!(
            "kernel k(x: view f32[row, col], z: view f32[row, col], y: mut view f32[row, col]) where col = 8 {{\n\
             parallel r: row {{ let xs = load x[r, :]\n let ys = load z[r, :]\n {body} }} }}"
        );
        let kernel = parse_verified(&source).expect("the kernel is valid");
        let mut arguments = kernel.ops().filter_map(|op| match &kernel.op(op).kind {
            OpKind::Unary(UnaryOp::Math(numerics::MathFunction::Exp), a) => Some(*a),
            _ => None,
        });
        is_never_positive(&kernel, arguments.next().expect("there is an exponential"))
    }

    #[test]
    fn the_distance_from_the_peak_is_known_and_nothing_like_it() {
        const PEAK: &str = "let m = reduce c: col tree max from -inf { yield xs[c] }";
        let store = |value: &str| known(&format!("{PEAK}\n store y[r, :] = {value}"));
        assert!(store("exp(xs - m)"));
        assert!(store(
            "xs * reduce c: col tree add from 0.0 { yield exp(xs[c] - m) }"
        ));
        assert!(!store("exp(m - xs)"), "the other way round");
        assert!(!store("exp(xs + m)"), "a sum");
        assert!(!store("exp(ys - m)"), "another tile");
        assert!(!store("exp(xs - m * 0.5)"), "not the peak");
        let other =
            |reduce: &str| known(&format!("let m = {reduce}\n store y[r, :] = exp(xs - m)"));
        assert!(!other("reduce c: col tree min from inf { yield xs[c] }"));
        assert!(!other(
            "reduce c: col tree max from -inf { yield xs[c] * 0.5 }"
        ));
        assert!(!other("reduce c: col tree max from -inf { yield xs[0] }"));
    }
}
