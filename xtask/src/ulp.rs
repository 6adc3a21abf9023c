//! The figures of docs/numerics.md: each elementary function over all 2^32 arguments.

use std::sync::atomic::{AtomicU64, Ordering};

use numerics::MathFunction;
use numerics::ulp::measure_all;

/// Measures the functions of these names, or all of them, and prints a row of the table for each; some minutes a
/// function. Nothing is measured when a name is unknown.
pub(crate) fn measure(names: &[String]) -> Result<(), String> {
    let functions = functions(names)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "| function | max ULP | worst argument | its bits | arguments |\n|---|---|---|---|---|"
    );
    for function in functions {
        let done = AtomicU64::new(0);
        let report = measure_all(function, threads, |count| {
            let before = done.fetch_add(count, Ordering::Relaxed);
            let percent = |count: u64| (count * 100) >> 32;
            if percent(before) != percent(before + count) {
                eprint!("\r{} {} %", function.name(), percent(before + count));
            }
        });
        eprintln!();
        println!(
            "| `{}` | {:.4} | {:e} | {:#010x} | {} |",
            function.name(),
            report.max_ulp,
            report.worst_input,
            report.worst_input.to_bits(),
            report.count
        );
    }
    Ok(())
}

fn functions(names: &[String]) -> Result<Vec<MathFunction>, String> {
    if names.is_empty() {
        return Ok(MathFunction::ALL.to_vec());
    }
    let known = MathFunction::ALL.map(MathFunction::name).join(", ");
    names
        .iter()
        .map(|name| {
            MathFunction::from_name(name)
                .ok_or_else(|| format!("no function is called `{name}`; there are {known}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_functions_and_an_unknown_one_is_refused() {
        assert_eq!(functions(&[]), Ok(MathFunction::ALL.to_vec()));
        assert_eq!(functions(&["exp".to_owned()]), Ok(vec![MathFunction::Exp]));
        let error = functions(&["exp3".to_owned()]).expect_err("no such function");
        assert!(
            error.contains("`exp3`") && error.contains("tanh"),
            "{error}"
        );
    }
}
