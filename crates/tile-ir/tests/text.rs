//! The text form: what people may write, and that a printed kernel reads back as itself.

use tile_ir::{format_text, parse, parse_verified, print};

/// Parses, verifies, prints, parses again; gives the printed text.
fn round_trip(text: &str) -> String {
    let kernel = match parse_verified(text) {
        Ok(kernel) => kernel,
        Err(found) => panic!(
            "{}",
            diagnostics::render(&found, "kernel.tile", text, false)
        ),
    };
    let printed = print(&kernel);
    let again = match parse(&printed) {
        Ok(again) => again,
        Err(found) => panic!(
            "{}",
            diagnostics::render(&found, "printed.tile", &printed, false)
        ),
    };
    assert_eq!(again, *kernel, "{printed}");
    assert_eq!(print(&again), printed);
    let formatted = format_text(text).expect("it was parsed");
    assert_eq!(
        format_text(&formatted).expect("it was formatted"),
        formatted
    );
    assert_eq!(
        parse(&formatted).expect("it was formatted"),
        *kernel,
        "{formatted}"
    );
    printed
}

const RMSNORM: &str = "
kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
where col = 256 {
  parallel r: row {
    let xs  = load x[r, :]                        // tile f32[col], a snapshot
    let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
    let rms = sqrt(sum / 256.0 + eps)
    let ws  = load w[:]
    store y[r, :] = xs / rms * ws
  }
}
";

#[test]
fn rmsnorm_is_printed_flat() {
    let expected = "\
kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
where col = 256 {
  parallel r: row {
    let xs = load x[r, :]
    let v2 = 0.0
    let sum = reduce c: col unordered add from v2 {
      let v5 = xs[c]
      let v6 = xs[c]
      let v7 = v5 * v6
      yield v7
    }
    let v8 = 256.0
    let v9 = sum / v8
    let v10 = eps
    let v11 = v9 + v10
    let rms = sqrt(v11)
    let ws = load w[:]
    let v14 = xs / rms
    let v15 = v14 * ws
    store y[r, :] = v15
  }
}
";
    assert_eq!(round_trip(RMSNORM), expected);
}
