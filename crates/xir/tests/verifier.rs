//! Each rule of the verifier has an example that breaks it, and only it.

use std::path::Path;

use xir::{
    ArrayData, BinaryOp, Builder, Constant, Elem, Inlining, Lanes, Op, OpKind, Program, Rule,
    Shape, Space, Type, Value, parse, verify,
};

/// Text can't say these: the parser makes the tables.
const NOT_IN_TEXT: [Rule; 2] = [Rule::ForeignKey, Rule::OneHome];

fn codes(program: Program) -> Vec<&'static str> {
    match verify(program) {
        Ok(_) => Vec::new(),
        Err(rejected) => rejected.diagnostics.iter().map(|one| one.code).collect(),
    }
}

#[test]
fn every_rule_has_an_example_that_breaks_it_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/verify-xir");
    for rule in Rule::ALL {
        if NOT_IN_TEXT.contains(&rule) {
            continue;
        }
        let path = folder.join(rule.code()).with_extension("xir");
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let program = parse(&text).unwrap_or_else(|found| panic!("{}: {found}", path.display()));
        let mut broken = codes(program);
        broken.dedup();
        assert_eq!(broken, [rule.code()], "{}", path.display());
    }
}

#[test]
fn examples_are_of_rules_there_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/files/verify-xir");
    for file in std::fs::read_dir(folder).expect("the folder of examples") {
        let path = file.expect("a file").path();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("");
        assert!(
            Rule::ALL.iter().any(|rule| rule.code() == stem),
            "{}",
            path.display()
        );
    }
}

fn small() -> (Program, Value) {
    let mut program = Program::new("small", Lanes::WIDEST);
    let function = program.add_function("main", Inlining::Outline);
    let mut builder = Builder::new(&mut program, function);
    let value = builder.f32(1.0);
    builder.finish(vec![]);
    (program, value)
}

#[test]
fn foreign_keys_are_refused() {
    let far = Value::from_index(99);
    let (mut program, value) = small();
    let body = program
        .function(program.functions().next().expect("main"))
        .body;
    program.append(
        body,
        OpKind::Binary(BinaryOp::Add, value, far),
        &[Type::uniform(Elem::F32)],
    );
    assert_eq!(codes(program), [Rule::ForeignKey.code()]);

    let (mut program, _) = small();
    program.region_mut(body).ops.push(Op::from_index(99));
    assert_eq!(codes(program), [Rule::ForeignKey.code()]);

    let (mut program, _) = small();
    program.region_mut(body).yields.push(far);
    assert_eq!(codes(program), [Rule::ForeignKey.code()]);

    let (mut program, _) = small();
    let data = ArrayData {
        name: "gone".to_owned(),
        elem: Elem::F32,
        shape: Shape::Varying,
        slots: 1,
        space: Space::Stack,
    };
    let array = Program::new("other", Lanes::WIDEST).add_array(data);
    program.append(
        body,
        OpKind::PrivateAddress(array),
        &[Type::uniform(Elem::I64)],
    );
    assert_eq!(codes(program), [Rule::ForeignKey.code()]);
}

#[test]
fn rows_have_one_home() {
    let (mut program, _) = small();
    let body = program
        .function(program.functions().next().expect("main"))
        .body;
    let op = program.region(body).ops[0];
    program.region_mut(body).ops.push(op);
    assert_eq!(codes(program), [Rule::OneHome.code()]);

    let (mut program, value) = small();
    let kind = OpKind::Const(Constant::f32(2.0), Shape::Uniform);
    let other = program.append(body, kind, &[Type::uniform(Elem::F32)]);
    program.op_mut(other).results[0] = value;
    assert_eq!(codes(program), [Rule::OneHome.code()]);

    let (mut program, _) = small();
    let condition = program.append(
        body,
        OpKind::Const(Constant::Bool(true), Shape::Uniform),
        &[Type::uniform(Elem::Bool)],
    );
    let condition = program.op(condition).results[0];
    let arm = program.add_region();
    program.append(
        body,
        OpKind::If {
            condition,
            then: arm,
            otherwise: arm,
        },
        &[],
    );
    assert_eq!(codes(program), [Rule::OneHome.code()]);
}

#[test]
fn a_rejected_program_comes_back() {
    let (mut program, value) = small();
    let body = program
        .function(program.functions().next().expect("main"))
        .body;
    program.append(body, OpKind::Splat(value), &[Type::uniform(Elem::F32)]);
    let before = program.clone();
    let rejected = verify(program).expect_err("the splat has a wrong type");
    assert_eq!(*rejected.program, before);
    assert!(rejected.to_string().contains("splat v0"));
}
