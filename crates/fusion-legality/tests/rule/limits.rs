//! The search is bounded, on both sides of each bound, and the bound keeps large kernels quick.

use std::time::{Duration, Instant};

use fusion_legality::{Admission, Code, MAX_DEPTH, MAX_VISITS, Outcome, admit, check};

fn admission(body: &str) -> Admission {
    let text = format!(
        "kernel k(x: view f32[row, col], y: mut view f32[row, col], z: mut view f32[row]) where col = 8 {{
           parallel r: row {{
             {body}
           }}
         }}"
    );
    admit(&tile_ir::parse_verified(&text).unwrap_or_else(|mistake| panic!("{mistake}")))
}

/// Whether the first candidate is admitted, or refused for its size alone.
fn within_limits(admission: &Admission) -> bool {
    let candidate = &admission.candidates()[0];
    match &candidate.outcome {
        Outcome::Admitted(certificate) => {
            check(admission.kernel(), certificate)
                .unwrap_or_else(|objection| panic!("{objection}"));
            true
        }
        Outcome::Refused(refusals) => {
            let codes: Vec<Code> = refusals.iter().map(|refusal| refusal.code).collect();
            assert_eq!(codes, [Code::LimitReached]);
            false
        }
    }
}

#[test]
fn a_chain_may_have_max_depth_recipes() {
    let chain = |length| {
        admission(&format!(
            "let xs = load x[r, :]\n store z[r] = sum(xs{})",
            " + 1.0".repeat(length)
        ))
    };
    assert!(within_limits(&chain(MAX_DEPTH)));
    assert!(!within_limits(&chain(MAX_DEPTH + 1)));
}

#[test]
fn max_visits_consumers_may_read() {
    // The sum is the first consumer, and each store is one more.
    let stores = |count| {
        let stores = "store y[r, :] = xs\n".repeat(count);
        admission(&format!(
            "let xs = load x[r, :]\n store z[r] = sum(xs)\n {stores}"
        ))
    };
    assert!(within_limits(&stores(MAX_VISITS - 1)));
    assert!(!within_limits(&stores(MAX_VISITS)));
}

#[test]
fn max_visits_loads_may_lie_between() {
    let loads = |count| {
        let loads: String = (0..count)
            .map(|number| format!("let l{number} = load y[r, :]\n"))
            .collect();
        admission(&format!(
            "let xs = load x[r, :]\n {loads} store z[r] = sum(xs)"
        ))
    };
    assert!(within_limits(&loads(MAX_VISITS)));
    assert!(!within_limits(&loads(MAX_VISITS + 1)));
}

#[test]
fn a_domain_that_cannot_be_counted_is_refused() {
    let text = "kernel k(x: view f32[a, b, c], z: mut view f32[]) where a = 2147483647, b = 2147483647, c = 2147483647 {
        parallel { let xs = load x[:, :, :]  store z[] = sum(xs) }
    }";
    let kernel = tile_ir::parse_verified(&text.replace("  store", "\n store"))
        .unwrap_or_else(|mistake| panic!("{mistake}"));
    assert!(!within_limits(&admit(&kernel)));
}

/// Kernels made so that something grows with the square of their size, if anything does.
#[test]
fn large_kernels_are_decided_quickly() {
    let count = 6000;
    let numbered =
        |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>().join("\n");
    let loads = numbered(&|n| format!("let l{n} = load x[r, :]"));
    let shapes = [
        // One sum reads everything.
        format!(
            "{loads}\n let s = reduce c: col unordered add from 0.0 {{\n{}\n yield f32(c)\n }}",
            numbered(&|n| format!("let e{n} = l{n}[c]"))
        ),
        // Many stores between loads and sums.
        format!(
            "{loads}\n{}\n{}",
            numbered(&|_| "store y[r, :] = 0.0".to_owned()),
            numbered(&|n| format!("let s{n} = sum(l{n})"))
        ),
        // One load with many readers.
        format!(
            "let xs = load x[r, :]\n{}",
            numbered(&|n| format!("let s{n} = sum(xs)"))
        ),
        // A long chain.
        format!(
            "let m0 = load x[r, :]\n{}",
            numbered(&|n| format!("let m{} = m{n} + 1.0", n + 1))
        ),
        // A recipe with many consumers, made of one load, over and over.
        format!(
            "let xs = load x[r, :]\n let double = xs + xs\n{}",
            numbered(&|n| format!("let m{n} = double * {n}.0"))
        ),
        // One map reads everything and has many consumers.
        format!(
            "{loads}\n let m = map c: col {{\n{}\n yield f32(c)\n }}\n{}",
            numbered(&|n| format!("let e{n} = l{n}[c]")),
            numbered(&|n| format!("let s{n} = sum(m)"))
        ),
    ];
    for (number, body) in shapes.iter().enumerate() {
        let text = format!(
            "kernel k(x: view f32[row, col], y: mut view f32[row, col]) where col = 8 {{\n parallel r: row {{\n{body}\n }}\n}}"
        );
        let kernel = tile_ir::parse_verified(&text)
            .unwrap_or_else(|mistake| panic!("shape {number}: {mistake}"));
        let start = Instant::now();
        let admission = admit(&kernel);
        let took = start.elapsed();
        assert!(!admission.candidates().is_empty());
        assert!(
            took < Duration::from_secs(3),
            "shape {number} took {took:?}"
        );
    }
}
