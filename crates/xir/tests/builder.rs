//! What the builder leaves out and what it adds by itself.

use xir::{Builder, ConvertOp, Elem, Inlining, Lanes, Program, Type, Value, verify};

const PARAMS: [Type; 4] = [
    Type::uniform(Elem::I64),
    Type::uniform(Elem::F32),
    Type::varying(Elem::F32),
    Type::uniform(Elem::Bool),
];

/// The text of the body that `build` makes; its parameters are an i64, an f32, an f32x and a bool.
fn body(build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Vec<String> {
    let mut program = Program::new("p", Lanes::WIDEST);
    let function = program.add_function("main", Inlining::Outline);
    let region = program.function(function).body;
    let params = PARAMS.map(|ty| program.add_arg(region, ty));
    let mut builder = Builder::new(&mut program, function);
    let yields = build(&mut builder, &params);
    builder.finish(yields);
    let text = match verify(program) {
        Ok(program) => program.compact().to_string(),
        Err(rejected) => panic!("{rejected}"),
    };
    text.lines()
        .skip(2)
        .map(|line| line.trim().to_owned())
        .filter(|line| line != "}")
        .collect()
}

#[test]
fn integers_fold_and_floats_do_not() {
    let made = body(|b, p| {
        let zero = b.i64(0);
        let same = b.add(p[0], zero);
        let offset = b.add_i64(same, 8);
        let offset = b.add_i64(offset, 8);
        let once = b.mul_i64(offset, 1);
        let float = b.f32(0.0);
        let sum = b.add(p[1], float);
        vec![once, sum]
    });
    assert_eq!(
        made[4..],
        [
            "v8 = const 16 : i64",
            "v9 = add v0, v8 : i64",
            "v10 = const 0.0 : f32",
            "v11 = add v1, v10 : f32",
            "return v9, v11",
        ]
    );
}

#[test]
fn uniform_operands_are_splatted() {
    let made = body(|b, p| {
        let sum = b.add(p[1], p[2]);
        let half = b.f32(0.5);
        vec![b.mul(sum, half), b.select(p[3], p[1], p[2])]
    });
    assert_eq!(
        made,
        [
            "v4 = splat v1 : f32x",
            "v5 = add v4, v2 : f32x",
            "v6 = const 0.5 : f32",
            "v7 = const 0.5 : f32x",
            "v8 = mul v5, v7 : f32x",
            "v9 = splat v1 : f32x",
            "v10 = select v3, v9, v2 : f32x",
            "return v8, v10",
        ]
    );
}

#[test]
fn short_loops_and_known_branches_leave_no_control() {
    let made = body(|b, p| {
        let (zero, four) = (b.i64(0), b.i64(4));
        let none = b.loop_(four, zero, 1, vec![p[1]], |b, _, carry| {
            vec![b.neg(carry[0])]
        });
        let once = b.loop_(zero, four, 4, vec![none[0]], |b, i, carry| {
            assert_eq!(b.i64_of(i), Some(0));
            vec![b.abs(carry[0])]
        });
        let yes = b.bool(true);
        b.if_(yes, |_| vec![once[0]], |b| vec![b.neg(once[0])])
    });
    assert_eq!(
        made[2..],
        ["v6 = abs v1 : f32", "v7 = const true : bool", "return v6"]
    );
}

#[test]
fn loops_and_branches_yield_one_shape() {
    let made = body(|b, p| {
        let lower = b.i64(0);
        let sums = b.loop_(lower, p[0], 2, vec![p[2]], |_, _, _| vec![p[1]]);
        b.if_(p[3], |_| vec![sums[0]], |_| vec![p[1]])
    });
    assert_eq!(
        made,
        [
            "v4 = const 0 : i64",
            "v5 = loop v6 = v4 .. v0 step 2 carry (v7: f32x = v2) {",
            "v8 = splat v1 : f32x",
            "yield v8",
            "v9 = if v3 : f32x {",
            "yield v5",
            "} else {",
            "v10 = splat v1 : f32x",
            "yield v10",
            "return v9",
        ]
    );
}

#[test]
fn lanes_of_splats_are_known() {
    let made = body(|b, p| {
        let splat = b.splat(p[1]);
        let mask = b.splat(p[3]);
        let three = b.splat_i32(3);
        let lane = b.lane(three, 1);
        vec![
            b.lane(splat, 5),
            b.any(mask),
            b.convert(ConvertOp::I32ToI64, lane),
        ]
    });
    assert_eq!(
        made.last().map(String::as_str),
        Some("return v1, v3, v8"),
        "{made:?}"
    );
}
