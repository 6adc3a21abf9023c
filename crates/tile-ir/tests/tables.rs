//! Kernels made row by row: what only they can break, and the numbering they get.

use diagnostics::Location;
use numerics::{ElementType, Scalar};
use tile_ir::{
    Axis, AxisData, BinaryOp, Dim, Kernel, MAX_NESTING, MAX_OPERATIONS, Op, OpKind, Param,
    ParamData, ParamKind, Policy, ReduceForm, ReduceOp, Region, Rule, Stride, Subscript, TileType,
    Value, Verified, ViewType, parse, print, verify,
};

const F32: ElementType = ElementType::F32;

fn scalar(element: ElementType) -> TileType {
    TileType::scalar(element)
}

fn constant(kernel: &mut Kernel, region: Region, number: Scalar) -> Value {
    let op = kernel.add_op(
        region,
        OpKind::Const(number),
        vec![scalar(number.element())],
        Location::None,
    );
    kernel.op(op).results[0]
}

fn axis(kernel: &mut Kernel, name: &str, extent: Option<u32>) -> Axis {
    kernel.add_axis(AxisData {
        name: name.to_owned(),
        extent,
        location: Location::None,
    })
}

fn view(kernel: &mut Kernel, name: &str, dims: Vec<Axis>) -> Param {
    let strides = vec![Stride::Fixed(1); dims.len()];
    let kind = ParamKind::View(ViewType {
        element: F32,
        dims,
        strides,
        fill: Scalar::F32(0.0),
        mutable: true,
    });
    kernel.add_param(ParamData {
        name: name.to_owned(),
        kind,
        location: Location::None,
    })
}

/// `store y[i] = 1.0` for every `i`: the kernel, its nest's body and the store.
fn plain() -> (Kernel, Region, Op) {
    let mut kernel = Kernel::new("plain");
    let n = axis(&mut kernel, "n", None);
    let y = view(&mut kernel, "y", vec![n]);
    let body = kernel.add_region();
    let root = kernel.body();
    kernel.add_op(
        root,
        OpKind::Parallel {
            axes: vec![n],
            body,
        },
        Vec::new(),
        Location::None,
    );
    let i = kernel.add_arg(body, scalar(ElementType::I32), Some("i".to_owned()));
    let one = constant(&mut kernel, body, Scalar::F32(1.0));
    let at = vec![Subscript::At(i)];
    let store = kernel.add_op(
        body,
        OpKind::Store {
            view: y,
            at,
            value: one,
        },
        Vec::new(),
        Location::None,
    );
    (kernel, body, store)
}

fn codes(kernel: Kernel) -> Vec<&'static str> {
    let rejected = verify(kernel.clone()).expect_err("it breaks a rule");
    assert_eq!(
        *rejected.kernel, kernel,
        "the kernel is given back as it came"
    );
    rejected.diagnostics.iter().map(|one| one.code).collect()
}

#[test]
fn a_sound_kernel_keeps_its_keys() {
    let (kernel, _, _) = plain();
    let verified = verify(kernel.clone()).expect("it keeps the rules");
    assert_eq!(*verified, kernel);
    assert_eq!(parse(&print(&verified)).expect("it was printed"), kernel);
}

#[test]
fn broken_tables_are_refused_without_a_panic() {
    let broken = |change: &dyn Fn(&mut Kernel, Region, Op)| {
        let (mut kernel, body, store) = plain();
        change(&mut kernel, body, store);
        assert_eq!(codes(kernel), [Rule::BrokenTables.code()]);
    };
    let far = Value::from_index(99);
    broken(&|k, _, store| {
        k.op_mut(store).kind = OpKind::Store {
            view: Param::from_index(0),
            at: vec![Subscript::At(far)],
            value: far,
        };
    });
    broken(&|k, _, store| {
        let value = Value::from_index(1);
        k.op_mut(store).kind = OpKind::Store {
            view: Param::from_index(7),
            at: Vec::new(),
            value,
        };
    });
    broken(&|k, _, store| k.op_mut(store).kind = OpKind::Iota(Axis::from_index(5)));
    broken(&|k, _, store| {
        k.op_mut(store).kind = OpKind::Map {
            dims: vec![Dim::Unit],
            body: Region::from_index(42),
        };
    });
    broken(&|k, body, store| {
        k.op_mut(store).kind = OpKind::Map {
            dims: vec![Dim::Unit],
            body,
        }
    });
    broken(&|k, _, store| k.op_mut(store).parent = Region::from_index(0));
    broken(&|k, body, _| k.set_yields(body, vec![far]));
    broken(&|k, _, _| k.set_yields(k.body(), vec![Value::from_index(1)]));
    broken(&|k, body, _| {
        k.add_arg(body, scalar(ElementType::I32), None);
    });
    broken(&|k, body, store| {
        let stated = k.op(Op::from_index(1)).results.clone();
        k.op_mut(store).results = stated;
        let _ = body;
    });
    // An operation that owns the region it stands in.
    broken(&|k, body, _| {
        k.add_op(
            body,
            OpKind::Map {
                dims: Vec::new(),
                body,
            },
            Vec::new(),
            Location::None,
        );
    });
    // A stated type that is not the derived one.
    broken(&|k, body, _| {
        k.add_op(
            body,
            OpKind::Const(Scalar::F32(0.0)),
            vec![scalar(ElementType::I32)],
            Location::None,
        );
    });
    broken(&|k, body, _| {
        k.add_op(
            body,
            OpKind::Const(Scalar::F32(0.0)),
            vec![scalar(ElementType::F16)],
            Location::None,
        );
    });
    // A coordinate that is no i32, a reduction without carries.
    broken(&|k, body, _| {
        let inner = k.add_region();
        let f = k.add_arg(inner, scalar(F32), None);
        k.set_yields(inner, vec![f]);
        let ty = TileType {
            element: F32,
            dims: vec![Dim::Unit],
        };
        k.add_op(
            body,
            OpKind::Map {
                dims: vec![Dim::Unit],
                body: inner,
            },
            vec![ty],
            Location::None,
        );
    });
    broken(&|k, body, _| {
        let inner = k.add_region();
        k.add_arg(inner, scalar(ElementType::I32), None);
        let form = ReduceForm::Closed(vec![ReduceOp::Add]);
        let kind = OpKind::Reduce {
            dims: vec![Dim::Unit],
            policy: Policy::Tree,
            form,
            inits: Vec::new(),
            body: inner,
        };
        k.add_op(body, kind, Vec::new(), Location::None);
    });
    // A view along an axis there is not.
    broken(&|k, _, _| {
        view(k, "z", vec![Axis::from_index(9)]);
    });
}

#[test]
fn limits_hold_for_kernels_made_by_hand() {
    let (mut deep, body, _) = plain();
    let zero = constant(&mut deep, body, Scalar::I32(0));
    let mut region = body;
    for _ in 0..=MAX_NESTING {
        let inner = deep.add_region();
        let kind = OpKind::For {
            lower: zero,
            upper: zero,
            inits: Vec::new(),
            body: inner,
        };
        deep.add_op(region, kind, Vec::new(), Location::None);
        deep.add_arg(inner, scalar(ElementType::I32), None);
        region = inner;
    }
    assert_eq!(codes(deep), [Rule::NestingLimit.code()]);

    let (mut long, body, _) = plain();
    for _ in 0..MAX_OPERATIONS {
        constant(&mut long, body, Scalar::I32(0));
    }
    assert_eq!(codes(long), [Rule::OperationLimit.code()]);
}

#[test]
fn names_must_fit_into_a_text() {
    for name in ["", "load", "two words", "1st", "größe", &"n".repeat(256)] {
        let (mut kernel, _, _) = plain();
        axis(&mut kernel, name, Some(3));
        assert_eq!(codes(kernel), [Rule::BadName.code()], "{name}");
    }
    let mut kernel = Kernel::new("yield");
    kernel.add_region();
    assert_eq!(codes(kernel), [Rule::BadName.code()]);
}

#[test]
fn values_are_used_where_they_are_visible() {
    // Before its definition.
    let (mut kernel, body, _) = plain();
    let one = constant(&mut kernel, body, Scalar::F32(1.0));
    let early = kernel.add_op(
        body,
        OpKind::Binary(BinaryOp::Add, one, one),
        vec![scalar(F32)],
        Location::None,
    );
    let late = constant(&mut kernel, body, Scalar::F32(2.0));
    kernel.op_mut(early).kind = OpKind::Binary(BinaryOp::Add, one, late);
    assert_eq!(codes(kernel), [Rule::Scope.code()]);

    // Of a nest that ended, and of itself.
    let (mut kernel, body, _) = plain();
    let inner = kernel.add_region();
    let i = kernel.add_arg(inner, scalar(ElementType::I32), None);
    kernel.set_yields(inner, vec![i]);
    let ty = TileType {
        element: ElementType::I32,
        dims: vec![Dim::Unit],
    };
    let map = kernel.add_op(
        body,
        OpKind::Map {
            dims: vec![Dim::Unit],
            body: inner,
        },
        vec![ty.clone()],
        Location::None,
    );
    let sum = kernel.add_op(
        body,
        OpKind::Binary(BinaryOp::Add, i, i),
        vec![scalar(ElementType::I32)],
        Location::None,
    );
    assert_eq!(
        codes(kernel.clone()),
        [Rule::Scope.code(), Rule::Scope.code()]
    );
    let itself = kernel.op(sum).results[0];
    kernel.op_mut(sum).kind = OpKind::Binary(BinaryOp::Add, itself, itself);
    assert_eq!(
        codes(kernel.clone()),
        [Rule::Scope.code(), Rule::Scope.code()]
    );
    let result = kernel.op(map).results[0];
    kernel.op_mut(sum).kind = OpKind::Extract {
        tile: result,
        at: vec![result],
    };
    assert_eq!(codes(kernel), [Rule::CoordinateType.code()]);
}

/// Bodies made before their operations, axes in another order than the views name them, a NaN with a payload, a row that
/// nothing reaches: the same kernel as its text.
#[test]
fn verified_kernels_are_numbered_like_their_text() {
    let mut kernel = Kernel::new("anyhow");
    let unused = kernel.add_region();
    constant(&mut kernel, unused, Scalar::I32(7));
    let col = axis(&mut kernel, "col", Some(4));
    let row = axis(&mut kernel, "row", None);
    let x = view(&mut kernel, "x", vec![row, col]);
    let body = kernel.add_region();
    let inner = kernel.add_region();
    let r = kernel.add_arg(body, scalar(ElementType::I32), Some("r".to_owned()));
    let c = kernel.add_arg(inner, scalar(ElementType::I32), Some("c".to_owned()));
    let load = OpKind::Load {
        view: x,
        at: vec![Subscript::At(r), Subscript::whole(col)],
    };
    let ty = TileType {
        element: F32,
        dims: vec![Dim::Axis(col)],
    };
    let load = kernel.add_op(body, load, vec![ty.clone()], Location::None);
    let xs = kernel.op(load).results[0];
    kernel.name_value(xs, "v12");
    let nan = constant(&mut kernel, inner, Scalar::F32(f32::from_bits(0xffc1_2345)));
    let element = kernel.add_op(
        inner,
        OpKind::Extract {
            tile: xs,
            at: vec![c],
        },
        vec![scalar(F32)],
        Location::None,
    );
    let element = kernel.op(element).results[0];
    let most = kernel.add_op(
        inner,
        OpKind::Binary(BinaryOp::Max, element, nan),
        vec![scalar(F32)],
        Location::None,
    );
    let most = kernel.op(most).results[0];
    kernel.set_yields(inner, vec![most]);
    let map = kernel.add_op(
        body,
        OpKind::Map {
            dims: vec![Dim::Axis(col)],
            body: inner,
        },
        vec![ty],
        Location::None,
    );
    let value = kernel.op(map).results[0];
    let at = vec![Subscript::At(r), Subscript::whole(col)];
    kernel.add_op(
        body,
        OpKind::Store { view: x, at, value },
        Vec::new(),
        Location::None,
    );
    let root = kernel.body();
    kernel.add_op(
        root,
        OpKind::Parallel {
            axes: vec![row],
            body,
        },
        Vec::new(),
        Location::None,
    );

    let verified: Verified = verify(kernel.clone()).expect("it keeps the rules");
    let text = "kernel anyhow(x: mut view f32[row, col] strides [1, 1])
where col = 4 {
  parallel r: row {
    let v1 = load x[r, :]
    let v2 = map c: col {
      let v4 = nan
      let v5 = v1[c]
      let v6 = max(v5, v4)
      yield v6
    }
    store x[r, :] = v2
  }
}
";
    assert_eq!(print(&verified), text);
    assert_eq!(parse(text).expect("it was printed"), *verified);
    assert_ne!(*verified, kernel);
    assert_eq!(
        verify(verified.clone().into_kernel()).expect("it was verified"),
        verified
    );
    assert_eq!(verified.regions().len(), 3);
}

#[test]
fn every_rule_that_no_text_breaks_is_broken_here() {
    let here = [
        Rule::BrokenTables,
        Rule::NestingLimit,
        Rule::OperationLimit,
        Rule::BadName,
        Rule::Scope,
    ];
    let guarded: Vec<Rule> = Rule::ALL
        .iter()
        .copied()
        .filter(|rule| !rule.breakable_in_text())
        .collect();
    assert_eq!(guarded, here);
    for rule in Rule::ALL {
        assert_eq!(Rule::from_code(rule.code()), Some(*rule));
    }
}

#[test]
fn extents_are_fixed_once() {
    let (kernel, _, _) = plain();
    let n = Axis::from_index(0);
    let verified = verify(kernel).expect("it keeps the rules");
    assert_eq!(
        verified.open_axes(),
        [],
        "a root axis stays open until launch"
    );
    let fixed = verified
        .specialize(&[(n, 5), (n, 5)])
        .expect("it agrees with itself");
    assert_eq!(fixed.axis(n).extent, Some(5));
    for (extents, message) in [
        (
            vec![(n, 0)],
            "axis `n` is given extent 0; a tile has at least one coordinate along each axis",
        ),
        (
            vec![(n, u32::MAX)],
            "axis `n` is given extent 4294967295; the limit is 2147483647",
        ),
        (vec![(n, 5), (n, 6)], "axis `n` has extent 5 and is given 6"),
        (
            vec![(Axis::from_index(3), 1)],
            "the kernel has no axis3; it has 1 axes",
        ),
    ] {
        assert_eq!(
            verified
                .specialize(&extents)
                .expect_err("it is wrong")
                .to_string(),
            message
        );
    }
}
