//! The builder says what the text says, and tells every mistake with the line that made it.

use diagnostics::Location;
use numerics::ElementType::{BF16, Bool, F32, F64, I32};
use numerics::Scalar;
use tile_ir::builder::{KernelBuilder, ViewSpec, all, along, at, window};
use tile_ir::{Dim, Policy, ReduceOp, Stride, parse, print, verify};

fn same(builder: KernelBuilder, text: &str) {
    let built = builder.finish().expect("the kernel keeps the rules");
    let parsed = parse(text).expect("the text is right");
    assert_eq!(
        built,
        parsed,
        "built:\n{}\nparsed:\n{}",
        print(&built),
        print(&parsed)
    );
    let verified = verify(built.clone()).expect("finish checked it");
    assert_eq!(*verified, built);
}

#[test]
fn rmsnorm_is_the_kernel_of_its_text() {
    let k = KernelBuilder::new("rmsnorm");
    let row = k.axis("row");
    let col = k.axis_of("col", 256);
    let x = k.view("x", F32, [row, col]);
    let w = k.view("w", F32, [col]);
    let y = k.view_mut("y", F32, [row, col]);
    let eps = k.scalar("eps", F32);
    k.parallel([row], |p, [r]| {
        let xs = p.load(x, [at(r), all()]);
        let sum = p.reduce([col], Policy::Unordered, ReduceOp::Add, 0.0, |_, [c]| {
            xs.at([c]) * xs.at([c])
        });
        let rms = (sum / 256.0 + eps).sqrt();
        let ws = p.load(w, [all()]);
        p.store(y, [at(r), all()], xs / rms * ws);
    });
    same(
        k,
        "kernel rmsnorm(x: view f32[row, col], w: view f32[col], y: mut view f32[row, col], eps: f32)
        where col = 256 {
          parallel r: row {
            let xs = load x[r, :]
            let sum = reduce c: col unordered add from 0.0 { yield xs[c] * xs[c] }
            let rms = sqrt(sum / 256.0 + eps)
            let ws = load w[:]
            store y[r, :] = xs / rms * ws
          }
        }",
    );
}

#[test]
fn every_construct_is_that_of_its_text() {
    let k = KernelBuilder::new("all_kinds");
    let n = k.axis("n");
    let m = k.axis_of("m", 6);
    let half = k.axis_of("half", 3);
    let x = k.view_with(
        ViewSpec::new("x", F32, [n, m])
            .strides([Stride::Any, Stride::Fixed(2)])
            .fill(f32::NEG_INFINITY),
    );
    let h = k.view("h", BF16, [m]);
    let d = k.view_mut("d", F64, [n]);
    let y = k.view_mut("y", F32, [n, m]);
    let flags = k.view_mut("flags", Bool, [n]);
    let count = k.scalar("count", I32);
    k.parallel([n], |p, [i]| {
        let xs = p.load(x, [at(i), along(m)]).named("xs");
        let odd = p.load(x, [at(i), window(1, half).step(2)]);
        let hs = p.load(h, [all()]);
        let (big, total) = {
            let [big, total] = p.reduce_many(
                [m],
                Policy::Tree,
                [(ReduceOp::Max, f32::NEG_INFINITY), (ReduceOp::Add, 0.0)],
                |_, [c]| [xs.at([c]), xs.at([c])],
            );
            (big, total)
        };
        let [product] = p.reduce_carry([half], Policy::Unordered, [1.0], |_, [c], [acc]| {
            [odd.at([c]) * acc]
        });
        let [last] = p.reduce_carry([m], Policy::Fold, [0.0], |_, [c], [acc]| {
            [acc * 0.5 + xs.at([c])]
        });
        let [low, high] = p.map([m], |_, [c]| [xs.at([c]).min(big), xs.at([c]).max(last)]);
        let column = p.map([Dim::Axis(m), Dim::Unit], |b, [c, u]| {
            let wide = b.value(c) + u;
            wide.cast(F32) * b.f32(2.0)
        });
        let flat = column.permute([1, 0]).reshape([m]);
        let [grown] = p.repeat_with(0, count, [low + high + flat], |_, j, [acc]| {
            [acc + j.cast(F32)]
        });
        p.repeat(0, 2, |b, _| b.opaque(3));
        p.stage();
        let positive = hs.greater(0.0) & !xs.less_equal(total);
        let chosen = positive.select(grown, -xs).fma(product, 1.0);
        p.store(y, [at(i), all()], chosen);
        let position = ((p.iota(m) + p.extent(m)) % 5) << 1;
        p.store(d, [at(i)], position.sum().cast(F64) * p.f64(0.1));
        p.store(flags, [at(i)], true);
        let _ = last.broadcast([m]).exp().copysign(xs);
    });
    same(
        k,
        "kernel all_kinds(x: view f32[n, m] strides [*, 2] fill -inf, h: view bf16[m], d: mut view f64[n],
           y: mut view f32[n, m], flags: mut view bool[n], count: i32)
        where m = 6, half = 3 {
          parallel i: n {
            let xs = load x[i, : m]
            let odd = load x[i, 1 : half : 2]
            let hs = load h[:]
            let big, total = reduce c: m tree (max from -inf, add from 0.0) { yield xs[c], xs[c] }
            let product = reduce c: half unordered carry (acc = 1.0) { yield odd[c] * acc }
            let last = reduce c: m fold carry (acc = 0.0) { yield acc * 0.5 + xs[c] }
            let low, high = map c: m { yield min(xs[c], big), max(xs[c], last) }
            let column = map c: m, u: 1 { yield f32(c + u) * 2.0 }
            let flat = reshape(permute(column, [1, m]), [m])
            let start = low + high + flat
            let grown = for j in 0 .. count carry (acc = start) { yield acc + f32(j) }
            for j in 0 .. 2 { opaque 3 }
            stage
            let positive = (hs > 0.0) & !(xs <= total)
            let chosen = fma(select(positive, grown, -xs), product, 1.0)
            store y[i, :] = chosen
            let position = (iota(m) + extent(m)) % 5 << 1
            store d[i] = f64(sum(position)) * 0.1f64
            let yes = true
            store flags[i] = yes
            let unused = copysign(exp(broadcast(last, [m])), xs)
          }
        }",
    );
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let other = KernelBuilder::new("other");
    let far = other.axis("far");
    let _ = (other.axis("a"), other.axis("b"));
    let stray_axis = other.axis("c");
    let k = KernelBuilder::new("mistakes");
    let n = k.axis("n");
    let x = k.view("x", F32, [n]);
    let lines = std::cell::RefCell::new(Vec::new());
    let leaked = std::cell::Cell::new(None);
    k.parallel([n], |p, [i]| {
        let one = p.load(x, [at(i)]);
        lines.borrow_mut().push((line!() + 1, "read-only-view"));
        p.store(x, [at(i)], one);
        lines.borrow_mut().push((line!() + 1, "operand-mismatch"));
        let _ = one + 1;
        lines.borrow_mut().push((line!() + 1, "foreign-handle"));
        let _ = p.iota(stray_axis);
        lines.borrow_mut().push((line!() + 1, "subscript-count"));
        let _ = p.load(x, [at(i), all()]);
        leaked.set(Some(p.reduce(
            [n],
            Policy::Fold,
            ReduceOp::Add,
            0.0,
            |_, [c]| {
                let inner = c.cast(F32);
                leaked.set(Some(inner));
                inner
            },
        )));
        let _ = p.map([n], |_, [c]| {
            leaked.set(Some(c));
            c
        });
        lines.borrow_mut().push((line!() + 1, "scope"));
        let _ = leaked.get().expect("it was set") + 1;
    });
    let found = k.finish().expect_err("it is full of mistakes");
    let mut told: Vec<(u32, &str)> = found
        .iter()
        .map(|one| match one.location {
            Location::Caller { line, file, .. } => {
                assert!(file.ends_with("builder.rs"), "{file}");
                (line, one.code)
            }
            Location::Text(_) | Location::None => panic!("{one} has no line"),
        })
        .collect();
    told.sort_unstable();
    assert_eq!(told, lines.into_inner());
    let _ = far;
}

#[test]
fn a_tile_of_another_kernel_is_refused() {
    let other = KernelBuilder::new("other");
    let k = KernelBuilder::new("mine");
    let n = k.axis_of("n", 4);
    let y = k.view_mut("y", F32, [n]);
    other.parallel([], |q, []| {
        let foreign = q.f32(1.0);
        k.parallel([n], |p, [i]| {
            p.store(y, [at(i)], foreign);
        });
    });
    let found = k.finish().expect_err("the tile is foreign");
    assert_eq!(
        found
            .as_slice()
            .iter()
            .map(|one| one.code)
            .collect::<Vec<_>>(),
        ["foreign-handle"]
    );
}

#[test]
fn fill_values_are_scalars_of_any_kind() {
    let k = KernelBuilder::new("fills");
    let n = k.axis("n");
    k.view_with(ViewSpec::new("a", F64, [n]).fill(-0.0f64));
    k.view_with(ViewSpec::new("b", I32, [n]).fill(7));
    k.view_with(ViewSpec::new("c", Bool, [n]).fill(Scalar::Bool(true)));
    same(
        k,
        "kernel fills(a: view f64[n] fill -0.0, b: view i32[n] fill 7, c: view bool[n] fill true) {}",
    );
}
