//! The corpus `tests/files/admit`: kernels in, admissions out, as text; and every code with an example that is refused so.

use std::collections::BTreeSet;

use crate::corpus_files::{blessing, cases, rewrite};
use fusion_legality::{Code, Outcome, admit, check, print};

#[test]
fn admissions_are_as_written() {
    let mut wrong = Vec::new();
    for file in cases() {
        let mut found = Vec::new();
        for case in &file.cases {
            let output: Vec<String> = print(&admit(&case.kernel))
                .lines()
                .map(str::to_owned)
                .collect();
            if output != case.expected {
                wrong.push(format!(
                    "{}: {}\n{}",
                    file.name,
                    case.name,
                    output.join("\n")
                ));
            }
            found.push(output);
        }
        if blessing() {
            rewrite(&file, &found);
        }
    }
    assert!(
        wrong.is_empty() || blessing(),
        "BLESS=1 accepts these:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_code_has_a_file_with_its_examples() {
    let files = cases();
    for code in Code::ALL {
        let file = files
            .iter()
            .find(|file| file.name == format!("{code}.tile"));
        let file = file.unwrap_or_else(|| panic!("no tests/files/admit/{code}.tile"));
        for case in &file.cases {
            let admission = admit(&case.kernel);
            let refused = admission
                .candidates()
                .iter()
                .any(|candidate| match &candidate.outcome {
                    Outcome::Refused(refusals) => {
                        refusals.iter().any(|refusal| refusal.code == *code)
                    }
                    Outcome::Admitted(_) => false,
                });
            assert!(
                refused,
                "{}: {} is not refused as {code}",
                file.name, case.name
            );
        }
    }
}

#[test]
fn codes_are_distinct_and_lead_back() {
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for &code in Code::ALL {
        assert_eq!(Code::from_name(code.name()), Some(code));
        assert!(code.sentence().ends_with('.'), "{code}");
    }
    assert_eq!(Code::from_name("slow"), None);
}

#[test]
fn refusals_are_sorted_and_never_empty() {
    for case in cases().iter().flat_map(|file| &file.cases) {
        for candidate in admit(&case.kernel).candidates() {
            if let Outcome::Refused(refusals) = &candidate.outcome {
                assert!(!refusals.is_empty(), "{}", case.name);
                assert!(refusals.is_sorted(), "{}", case.name);
            }
        }
    }
}

#[test]
fn what_admit_certifies_check_accepts() {
    let mut count = 0;
    for case in cases().iter().flat_map(|file| &file.cases) {
        for certificate in admit(&case.kernel)
            .candidates()
            .iter()
            .filter_map(|candidate| candidate.certificate())
        {
            count += 1;
            check(&case.kernel, certificate)
                .unwrap_or_else(|objection| panic!("{}: {objection}", case.name));
        }
    }
    assert!(count >= 30, "{count} certificates");
}

/// `sum()` and a nest written by hand are the same to the rule, also within a `map` of one point.
#[test]
fn library_and_nest_are_judged_alike() {
    let kernel = |total: &str| {
        let text = format!(
            "kernel k(x: view f32[row, col], z: mut view f32[row]) where col = 8 {{
               parallel r: row {{
                 let xs = load x[r, :]
                 {total}
               }}
             }}"
        );
        tile_ir::parse_verified(&text).unwrap_or_else(|mistake| panic!("{mistake}"))
    };
    let library = kernel("store z[r] = sum(xs)");
    let nest =
        kernel("let s = reduce c: col unordered add from 0.0 { yield xs[c] }\n store z[r] = s");
    assert_eq!(admit(&library).candidates(), admit(&nest).candidates());

    let wrapped = kernel(
        "let t = map u: 1 { let s = reduce c: col unordered add from 0.0 { yield xs[c] }\n yield s }\n store z[r] = t[0]",
    );
    let plain = admit(&nest);
    let within = admit(&wrapped);
    let [plain, within] =
        [&plain, &within].map(|admission| admission.candidates()[0].certificate());
    let (plain, within) = (plain.expect("admitted"), within.expect("admitted"));
    assert_eq!(
        (&plain.axes, &plain.later, plain.once),
        (&within.axes, &within.later, within.once)
    );
    assert_eq!((plain.wrappers.len(), within.wrappers.len()), (0, 1));
}
