//! The reader is total: whatever the bytes, it ends within a second with a kernel or with diagnostics (P67).

use std::time::{Duration, Instant};

use tile_ir::{MAX_SOURCE_BYTES, format_text, parse, parse_verified, print};

/// How long this thread has run; on a machine shared with others that says more than a clock.
fn running_time(start: Instant) -> Duration {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Does something within a second (some more without the optimisations that users get).
fn soon<T>(what: &str, act: impl FnOnce() -> T) -> T {
    let limit = if cfg!(debug_assertions) {
        Duration::from_secs(6)
    } else {
        Duration::from_secs(1)
    };
    let start = Instant::now();
    let before = running_time(start);
    let result = act();
    let time = running_time(start).saturating_sub(before);
    assert!(time < limit, "{what}: {time:?}");
    result
}

/// What is said first about a text, by reader and formatter.
fn ends(what: &str, text: &str) -> Option<&'static str> {
    let found = soon(what, || parse_verified(text).err());
    if let Some(found) = &found {
        assert!(found.has_errors(), "{what}");
        let rendered = diagnostics::render(found, "kernel.tile", text, false);
        assert!(
            rendered.len() < 200_000,
            "{what}: {} bytes are said",
            rendered.len()
        );
    }
    let _ = soon(what, || format_text(text));
    found.and_then(|found| found.iter().next().map(|one| one.code))
}

fn kernel(body: &str) -> String {
    format!("kernel k(y: mut view f32[n]) {{ parallel i: n {{ {body} }} }}")
}

#[test]
fn p67_deep_nesting_is_an_error_with_a_place() {
    let deep = 100_000;
    let parens = kernel(&format!(
        "store y[i] = {}1.0{}",
        "(".repeat(deep),
        ")".repeat(deep)
    ));
    assert_eq!(ends("parentheses", &parens), Some("too-deep"));
    let regions = kernel(&"for j in 0 .. 1 { ".repeat(deep));
    assert_eq!(ends("regions", &regions), Some("too-deep"));
    let brackets = kernel(&format!("store y[i] = {}", "y[".repeat(deep)));
    assert_eq!(ends("brackets", &brackets), Some("too-deep"));
    let signs = kernel(&format!("store y[i] = {}i", "- ".repeat(deep)));
    assert_eq!(ends("signs", &signs), Some("too-deep"));
    let calls = kernel(&format!("store y[i] = {}", "exp(".repeat(deep)));
    assert_eq!(ends("calls", &calls), Some("too-deep"));
    let reduces = kernel(&format!(
        "store y[i] = {}",
        "reduce c: n fold add from 0.0 { yield ".repeat(deep)
    ));
    assert_eq!(ends("reductions", &reduces), Some("too-deep"));
}

#[test]
fn p67_ten_megabytes_in_one_line_end_soon() {
    let many = 10 << 20;
    let code = |what, text: String| ends(what, &text);
    assert_eq!(code("one letter", "a".repeat(many)), Some("name-too-long"));
    assert_eq!(
        code(
            "one number",
            kernel(&format!("let a = {}", "1".repeat(many)))
        ),
        Some("bad-number")
    );
    assert_eq!(code("braces", "{".repeat(many)), Some("syntax"));
    assert_eq!(
        code("parentheses", kernel(&"(".repeat(many))),
        Some("syntax")
    );
    assert_eq!(code("quotes", "\"".repeat(many)), Some("unknown-character"));
    assert_eq!(code("zeros", "\0".repeat(many)), Some("unknown-character"));
    assert_eq!(
        code("quotes apart", "\" ".repeat(many / 2)),
        Some("unknown-character")
    );
    assert_eq!(
        code(
            "a long sum",
            kernel(&format!("let a = i{}", " + i".repeat(many / 4)))
        ),
        Some("too-many-operations")
    );
    assert_eq!(
        code("many statements", kernel(&"let a = 1 ".repeat(many / 10))),
        Some("name-defined-twice")
    );
    assert_eq!(
        code(
            "many parameters",
            format!("kernel k({})", "a: f32, ".repeat(many / 8))
        ),
        Some("list-too-long")
    );
    assert_eq!(
        code(
            "many parameters of one name",
            format!("kernel k({}) {{}}", "a: f32, ".repeat(many / 8))
        ),
        Some("list-too-long")
    );
    assert_eq!(
        code(
            "many dimensions",
            format!("kernel k(x: view f32[{}]) {{}}", "a,".repeat(many / 2))
        ),
        Some("list-too-long")
    );
    assert_eq!(
        code("a comment", format!("//{}", "x".repeat(many))),
        Some("syntax")
    );
    assert_eq!(
        code(
            "many names",
            kernel(&format!("let {} = 1", vec!["a"; many / 3].join(", ")))
        ),
        Some("list-too-long")
    );
    assert_eq!(
        code(
            "many yields",
            kernel(&format!("yield {}", "i, ".repeat(many / 3)))
        ),
        Some("list-too-long")
    );
    assert_eq!(code("spaces", " ".repeat(many)), Some("syntax"));
    let huge = " ".repeat(MAX_SOURCE_BYTES + 1);
    assert_eq!(ends("too large", &huge), Some("source-too-large"));
}

#[test]
fn p67_odd_bytes_are_read_or_refused() {
    let plain = kernel("store y[i] = 1.0");
    let expected = parse(&plain).expect("it is right");
    let carriage = "kernel k(y: mut view f32[n]) {\r\n  parallel i: n {\r\n    store y[i] = 1.0 // one\r\n  }\r\n}\r\n";
    assert_eq!(
        parse(carriage).expect("line breaks of both kinds"),
        expected
    );
    let formatted = format_text(carriage).expect("it is right");
    assert!(
        !formatted.contains('\r') && formatted.contains("// one\n"),
        "{formatted:?}"
    );
    let marked = format!("\u{feff}{plain}");
    assert_eq!(parse(&marked).expect("a byte order mark"), expected);
    assert!(
        !format_text(&marked)
            .expect("it is right")
            .contains('\u{feff}')
    );
    assert_eq!(ends("NUL", &kernel("\0")), Some("unknown-character"));
    assert_eq!(
        ends("a string that does not end", &kernel("let a = \"abc")),
        Some("unknown-character")
    );
    assert_eq!(
        ends("a mark in the middle", &kernel("\u{feff}")),
        Some("unknown-character")
    );
    assert_eq!(ends("nothing", ""), Some("syntax"));
}

/// A linear congruence: the same texts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.max(1) as u64) as usize
    }
}

const SEEDS: [&str; 3] = [
    "kernel rmsnorm(x: view f32[row, col], w: view f32[col] strides [2] fill -inf, y: mut view f32[row, col], eps: f32)
where col = 256, half {
  parallel r: row {
    let xs = load x[r, :] // a snapshot
    let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let rms = sqrt(sum / 256.0 + eps)
    store y[r, :] = xs / rms * load w[0 : col : 2]
    stage
  }
}",
    "kernel k(x: mut view f64[a, b], n: i32, t: bool) where a = 3, b = 4 {
  parallel {
    let xs = load x[:, :]
    let p, q = reduce i: a, j: b tree carry (u = 0.0f64, v = inf64) { yield u + xs[i, j], min(xs[i, j], v) }
    let m = map i: a, one: 1 { let s = select(t, p, q); yield contract(s * 2.0 + xs[i, 0]) }
    let g = for k in 0 .. n carry (acc = m) { opaque 3; yield acc + 1e-3 }
    store x[: , : ] = broadcast(reshape(g, [a]), [a, b]) + permute(permute(xs, [b, a]), [#1, #0])
  }
}",
    "kernel k(y: mut view i32[n]) { parallel i: n { store y[i] = -i & !3 ^ 7 << 1 >> 2 | i32(sum(iota(n), fold)) % extent(n) } }",
];

#[test]
fn mutated_texts_never_break_the_reader() {
    let words = [
        "let",
        "store",
        "yield",
        "parallel",
        "reduce",
        "map",
        "for",
        "load",
        "carry",
        "from",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        ",",
        "=",
        "-",
        "+",
        "*",
        "1",
        "0.0",
        "x",
        "y",
        "a",
        "nan",
        "..",
        "#",
        "\0",
        "é",
        "//",
        "\n",
        "view",
        "f64",
        "1e",
        "99999999999",
        "tree",
        "unordered",
        "where",
    ];
    let mut random = Random(7);
    let rounds = if cfg!(debug_assertions) {
        3_000
    } else {
        30_000
    };
    for round in 0..rounds {
        let mut text = SEEDS[round % SEEDS.len()].to_owned();
        for _ in 0..=random.below(4) {
            let boundaries: Vec<usize> = (0..=text.len())
                .filter(|&at| text.is_char_boundary(at))
                .collect();
            let a = boundaries[random.below(boundaries.len())];
            let b = boundaries[random.below(boundaries.len())];
            let (start, end) = (a.min(b), a.max(b));
            match random.below(4) {
                0 => text.insert_str(start, words[random.below(words.len())]),
                1 if end - start < 40 => text.replace_range(start..end, ""),
                1 => {}
                2 => {
                    let piece = text[start..end].to_owned();
                    text.insert_str(start, &piece);
                }
                _ => text.truncate(end),
            }
        }
        if let Ok(kernel) = parse_verified(&text) {
            assert_eq!(
                parse(&print(&kernel)).expect("it was printed"),
                *kernel,
                "{text}"
            );
        }
        if let Ok(formatted) = format_text(&text) {
            assert_eq!(format_text(&formatted).as_ref(), Ok(&formatted), "{text}");
        }
    }
}
