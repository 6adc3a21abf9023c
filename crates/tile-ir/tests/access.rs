//! What programs touch: forms of subscripts, bounds, privacy, and what a launch must keep.

use tile_ir::{
    Kernel, OpKind, Param, Subscript, Verified, accesses, affine, coordinate_axis, may_share,
    parse_verified, program_private, statically_in_bounds, wrap_conditions,
};

fn kernel(text: &str) -> Verified {
    match parse_verified(text) {
        Ok(kernel) => kernel,
        Err(found) => panic!(
            "{}",
            diagnostics::render(&found, "kernel.tile", text, false)
        ),
    }
}

fn at(kernel: &Kernel, access: usize) -> Vec<Subscript> {
    let op = accesses(kernel)[access].op;
    match &kernel.op(op).kind {
        OpKind::Load { at, .. } | OpKind::Store { at, .. } => at.clone(),
        other => panic!("{other:?} is no access"),
    }
}

/// The forms of an access' single coordinates: `scale * coordinate + .. + low..=high`.
fn forms(kernel: &Kernel, access: usize) -> Vec<String> {
    at(kernel, access)
        .into_iter()
        .map(|subscript| {
            let Subscript::At(value) = subscript else {
                return "window".to_owned();
            };
            let Some(form) = affine(kernel, value) else {
                return "other".to_owned();
            };
            let terms: Vec<String> = form
                .terms
                .iter()
                .map(|term| format!("{}*c{}", term.scale, term.coordinate))
                .collect();
            format!("{} {}..={}", terms.join(" + "), form.low, form.high)
                .trim_start()
                .to_owned()
        })
        .collect()
}

#[test]
fn subscripts_have_forms() {
    let k = kernel(
        "kernel k(x: view f32[a, b, c, d], s: i32, y: mut view f32[a, b])
        where b = 10, five = 5, block {
          parallel i: a, j: block {
            for t in 2 .. extent(five) {
              let one = load x[i, j * 4 + t, 7 - i, -(j << 3)]
              let two = load x[s, i * j, i - i, (i + j) * 2 - j]
              let three = load x[t * t, 2147483647 + 1, extent(five) * 2, i32(t)]
            }
            store y[i, j] = 1.0
          }
        }",
    );
    assert_eq!(
        forms(&k, 0),
        ["1*c0 0..=0", "4*c1 2..=4", "-1*c0 7..=7", "-8*c1 0..=0"]
    );
    assert_eq!(
        forms(&k, 1),
        ["other", "other", "0..=0", "2*c0 + 1*c1 0..=0"]
    );
    assert_eq!(forms(&k, 2), ["other", "other", "10..=10", "other"]);
}

#[test]
fn long_computations_are_given_up_soon() {
    let mut body = String::from("let a0 = i\n");
    for n in 1..600 {
        body += &format!("let a{n} = a{} + a{}\n", n - 1, n - 1);
    }
    let k = kernel(&format!(
        "kernel k(x: view f32[n], y: mut view f32[n]) {{ parallel i: n {{ {body} store y[i] = load x[a599] }} }}"
    ));
    assert_eq!(forms(&k, 0), ["other"]);
}

#[test]
fn accesses_that_stay_inside_are_known() {
    let k = kernel(
        "kernel k(x: view f32[a, b], y: mut view f32[a, b])
        where b = 10, five = 5 {
          parallel i: a {
            let whole = load x[i, :]
            let low = load x[i, 0 : five]
            let high = load x[i, 5 : five]
            let beyond = load x[i, 6 : five]
            let strided = load x[i, 1 : five : 2]
            let far = load x[i, 2 : five : 2]
            let before = load x[i, -1]
            let last = load x[i, 9]
            for t in 0 .. extent(b) { store y[i, t] = 1.0 }
            for t in 0 .. extent(a) { let other = load x[t, t] }
            for t in 1 .. 11 { store y[i, t] = 1.0 }
          }
        }",
    );
    let inside = |access: usize, dim: usize| {
        let view = accesses(&k)[access].view;
        statically_in_bounds(&k, view, dim, at(&k, access)[dim])
    };
    let second: Vec<bool> = (0..8).map(|access| inside(access, 1)).collect();
    assert_eq!(second, [true, true, true, false, true, false, false, true]);
    assert!(
        (0..8).all(|access| inside(access, 0)),
        "a coordinate of the very axis"
    );
    assert!(inside(8, 0) && inside(8, 1), "a loop over the axis' extent");
    assert!(
        inside(9, 0) && !inside(9, 1),
        "a loop over another axis' extent"
    );
    assert!(!inside(10, 1));
    assert!(
        !statically_in_bounds(&k, Param::from_index(0), 5, at(&k, 0)[0]),
        "there is no such dimension"
    );
    let Subscript::At(row) = at(&k, 0)[0] else {
        panic!("a coordinate")
    };
    assert_eq!(coordinate_axis(&k, row), k.find_axis("a"));
}

#[test]
fn views_used_row_by_row_may_share_memory() {
    let k = kernel(
        "kernel k(x: view f32[row, col], w: view f32[col], t: view f32[row, col], y: mut view f32[row, col],
           z: mut view f32[row, col], idle: view f32[row, col])
        where col = 8 {
          parallel r: row {
            let xs = load x[r, :]
            store y[r, :] = xs * load w[:]
            store z[r, 0] = sum(load t[r + 1, :])
          }
        }",
    );
    let param = |name: &str| k.find_param(name).expect("it is declared");
    let [x, w, t, y, z, idle] = ["x", "w", "t", "y", "z", "idle"].map(param);
    assert!(
        may_share(&k, x, y) && may_share(&k, y, z) && may_share(&k, x, z),
        "rows of their own"
    );
    assert!(
        !may_share(&k, w, y),
        "another rank, and read by every program"
    );
    assert!(!may_share(&k, t, y), "the next program's row");
    assert!(may_share(&k, x, t), "both are only read");
    assert!(may_share(&k, idle, y), "one is not used at all");
    let (px, py) = (
        program_private(&k, x).expect("its rows"),
        program_private(&k, y).expect("its rows"),
    );
    assert_eq!(px, py);
    assert_eq!(px.stages.len(), 1);
    assert_eq!(px.stages[0].dims.len(), 1);
    assert_eq!(px.stages[0].dims[0].dim, 0);
    assert!(program_private(&k, w).is_none());
    assert_ne!(
        program_private(&k, t),
        Some(py),
        "private, but shifted by a row"
    );
    assert!(
        program_private(&k, idle)
            .expect("nothing to keep apart")
            .stages
            .is_empty()
    );
}

#[test]
fn a_stage_parts_what_may_not_meet() {
    let text = |middle: &str| {
        format!(
            "kernel k(x: view f32[row, col], y: mut view f32[row, col], out: mut view f32[row])
            where col = 8 {{
              parallel r: row {{
                store y[r, :] = load x[r, :]
                {middle}
                store out[r] = sum(load x[0, :])
              }}
            }}"
        )
    };
    let (together, apart) = (kernel(&text("")), kernel(&text("stage")));
    let [x, y] = [0, 1].map(Param::from_index);
    assert!(
        !may_share(&together, x, y),
        "row 0 is read while its program writes it"
    );
    assert!(
        may_share(&apart, x, y),
        "it is read when all rows are written"
    );
    assert_eq!(
        accesses(&apart)
            .iter()
            .map(|access| access.stage)
            .collect::<Vec<_>>(),
        [0, 0, 1, 1]
    );
    assert!(program_private(&together, y).is_some());
}

#[test]
fn one_program_has_nobody_to_meet() {
    let k = kernel(
        "kernel k(x: view f32[n], y: mut view f32[n], only: view f32[one, n])
        where n = 8, one = 1 {
          parallel { store y[:] = load x[:] }
          parallel i: one { store y[0 : n] = load x[i : n] }
        }",
    );
    assert!(may_share(&k, Param::from_index(0), Param::from_index(1)));
    assert!(program_private(&k, Param::from_index(1)).is_some());
}

#[test]
fn digits_of_an_index_keep_programs_apart() {
    let good = "kernel k(y: mut view f32[n]) where head = 3, lane = 5, block {
      parallel b: block, h: head { store y[(b * 3 + h) * 5 : lane] = 1.0 }
    }";
    kernel(good);
    for (was, is) in [("b * 3", "b * 2"), ("* 5", "* 4"), ("head = 3", "head")] {
        let found = parse_verified(&good.replace(was, is)).expect_err("programs meet");
        assert_eq!(found.as_slice()[0].code, "programs-collide", "{is}");
    }
}

#[test]
fn a_launch_keeps_subscripts_from_wrapping() {
    let k = kernel(
        "kernel k(y: mut view f32[n]) where lane = 64, block {
          parallel b: block { store y[b * 64 : lane] = 1.0 }
        }",
    );
    let conditions = wrap_conditions(&k);
    assert_eq!(conditions.len(), 1);
    let limit = 1 << 25;
    assert!(
        conditions[0].holds(|_| limit),
        "the last block begins below 2^31"
    );
    assert!(
        !conditions[0].holds(|_| limit + 1),
        "and the next would begin at it"
    );
    assert!(conditions[0].holds(|_| 0), "no program, no wrapping");
    let plain = kernel("kernel k(y: mut view f32[n]) { parallel i: n { store y[i] = 1.0 } }");
    assert!(wrap_conditions(&plain).is_empty());
}
