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

#[test]
fn a_kernel_is_read_as_it_is_meant() {
    round_trip(
        "kernel layernorm(x: view f16[row, col], g: view f32[col], b: view f32[col], y: mut view f16[row, col], eps: f32)
where col = 64 {
  parallel r: row {
    let xs = load x[r, :]
    let total, squares = reduce c: col tree (add from 0.0, add from 0.0) { yield xs[c], xs[c] * xs[c] }
    let mean = total / f32(extent(col))
    let variance = squares / 64.0 - mean * mean
    let scaled = map c: col { yield (xs[c] - mean) / sqrt(variance + eps) }
    store y[r, :] = fma(scaled, load g[:], load b[:])
  }
}",
    );
    round_trip(
        "kernel rope(x: mut view f32[row, head, d] strides [*, *, 1], angle: view f32[row, half])
where head = 2, half = 4, d = 8 {
  parallel r: row {
    for h in 0 .. extent(head) {
      let a = load x[r, h, 0 : half]
      let b = load x[r, h, 4 : half]
      let t = load angle[r, :]
      store x[r, h, 0 : half] = a * cos(t) - b * sin(t)
      store x[r, h, 4 : half] = a * sin(t) + b * cos(t)
    }
  }
}",
    );
}

/// Names that a text could confuse come out apart, and those that are like numbers of values as such.
#[test]
fn printed_names_are_distinct() {
    let printed = round_trip(
        "kernel k(v0: f32, v9: mut view f32[v1]) where v1 = 3 {
  parallel v4: v1 {
    let v3 = v0 + v0
    let a = reduce v3x: v1 fold add from v3 { let b = f32(v3x); yield b }
    let b = reduce v3x: v1 fold add from a { yield f32(v3x) }
    let c = b
    store v9[v4] = c
  }
}",
    );
    assert_eq!(
        printed,
        "\
kernel k(v0: f32, v9: mut view f32[v1])
where v1 = 3 {
  parallel v0_2: v1 {
    let v1 = v0
    let v2 = v0
    let v3 = v1 + v2
    let a = reduce v3x: v1 fold add from v3 {
      let b = f32(v3x)
      yield b
    }
    let b = reduce v3x: v1 fold add from a {
      let v9_2 = f32(v3x)
      yield v9_2
    }
    store v9[v0_2] = b
  }
}
"
    );
}

#[test]
fn the_formatter_keeps_words_comments_and_lines() {
    let messy = "// Copyright nobody.
kernel  k( x :view f32[ row,col ]strides[* ,1] fill-1.0,   y: mut view f32[row,col],eps:f32 )
where col=256  ,half  {   // open


    parallel r:row{
// a comment
  let xs=load x[ r,: ]    // trailing   spaces


  let s , m = reduce c : col tree(add from 0.0,max from -inf){ yield xs[c]*xs[c],-xs[c] }
        let long = s+
 m*2.0 -
(eps
+1.0)
  for i in 0..3carry(a=long){yield a;}
  store y[r,1:half : 2]=select(!(m<s)&true, - s,m)
   let t = permute( reshape(xs,[1,col]) ,[#1,#0] )
  }
}
// the end";
    let tidy = "\
// Copyright nobody.
kernel k(x: view f32[row, col] strides [*, 1] fill -1.0, y: mut view f32[row, col], eps: f32)
where col = 256, half { // open

  parallel r: row {
    // a comment
    let xs = load x[r, :] // trailing   spaces

    let s, m = reduce c: col tree (add from 0.0, max from -inf) { yield xs[c] * xs[c], -xs[c] }
    let long = s +
      m * 2.0 -
      (eps
      + 1.0)
    for i in 0 .. 3 carry (a = long) { yield a; }
    store y[r, 1 : half : 2] = select(!(m < s) & true, -s, m)
    let t = permute(reshape(xs, [1, col]), [#1, #0])
  }
}
// the end
";
    assert_eq!(
        format_text(&messy.replace("3carry", "3 carry")).expect("it follows the grammar"),
        tidy
    );
    assert_eq!(format_text(tidy).expect("it is tidy"), tidy);
    assert!(format_text("kernel k( {").is_err());
}

/// The page of the grammar names every function, every limit and every reserved word, and its example is a kernel.
#[test]
fn the_grammar_page_is_complete() {
    let page = include_str!("../../../docs/grammar.md");
    let functions = tile_ir::UnaryOp::all()
        .filter(|op| !matches!(op, tile_ir::UnaryOp::Neg | tile_ir::UnaryOp::Not))
        .map(|op| op.name())
        .chain(
            tile_ir::BinaryOp::ALL
                .into_iter()
                .filter(|op| !op.is_infix())
                .map(|op| op.name()),
        )
        .chain([
            "select",
            "fma",
            "contract",
            "extent",
            "iota",
            "broadcast",
            "reshape",
            "permute",
        ])
        .chain([
            "sum", "product", "minimum", "maximum", "f32", "f64", "i32", "bool",
        ]);
    for function in functions {
        assert!(page.contains(&format!("`{function}(")), "{function}");
    }
    for op in tile_ir::BinaryOp::ALL
        .into_iter()
        .filter(|op| op.is_infix())
    {
        assert!(
            page.contains(&format!("\"{}\"", op.name())),
            "{}",
            op.name()
        );
    }
    for limit in [
        tile_ir::MAX_NESTING,
        tile_ir::MAX_OPERATIONS,
        tile_ir::MAX_RANK,
        tile_ir::MAX_NAME,
        tile_ir::MAX_NUMBER,
        tile_ir::MAX_ITEMS,
        tile_ir::MAX_MISTAKES,
        i32::MAX as usize,
    ] {
        assert!(page.contains(&format!("{limit}")), "{limit}");
    }
    assert!(page.contains("16 MiB") && tile_ir::MAX_SOURCE_BYTES == 16 << 20);
    let example = page
        .split("```text")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    round_trip(example.expect("the page begins with an example"));
}
