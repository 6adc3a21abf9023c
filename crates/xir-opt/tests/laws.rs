//! Law **same bits**: no pass changes what a program computes, shown on random programs.
//!
//! `TILEWRIGHT_CASES` sets how many programs are drawn; 300 if it is not set.

use reference::xir_interpreter::{Buffers, Fault, Launch, Memory};
use xir::generate::{self, Inputs, Random};
use xir::{
    BinaryOp, Constant, Definition, Elem, Op, OpKind, Program, Region, Type, Verified, verify,
};
use xir_opt::{PASSES, optimise};

fn cases() -> u64 {
    std::env::var("TILEWRIGHT_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(300)
}

/// What a run leaves: the buffers and what the hook was told.
#[derive(Debug, PartialEq)]
struct Outcome {
    buffers: [Vec<u64>; 4],
    hooks: Vec<(u32, u64, u64)>,
}

/// The elements of a buffer, each NaN as one bit pattern.
fn elements(bytes: &[u8], size: usize, float: bool) -> Vec<u64> {
    let element = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(word);
        let nan = float
            && match size {
                4 => f32::from_bits(bits as u32).is_nan(),
                _ => f64::from_bits(bits).is_nan(),
            };
        if nan { u64::MAX } else { bits }
    };
    bytes.chunks(size).map(element).collect()
}

fn run(program: &Verified, inputs: &Inputs) -> Result<Outcome, Fault> {
    let mut memory = Buffers::new();
    let mut record = vec![memory.lend_read_only(inputs.buffers[0].clone())];
    for buffer in &inputs.buffers[1..] {
        record.push(memory.lend(buffer.clone()));
    }
    record.extend(inputs.scalars);
    let mut hooks = Vec::new();
    let mut hook = |id, first, count, _: &mut dyn Memory| hooks.push((id, first, count));
    Launch::new(program, &record, &mut memory)
        .with_hook(&mut hook)
        .run_all()?;
    let buffers = [
        elements(memory.bytes(0), 4, true),
        elements(memory.bytes(1), 4, true),
        elements(memory.bytes(2), 4, false),
        elements(memory.bytes(3), 8, true),
    ];
    Ok(Outcome { buffers, hooks })
}

fn drawn(seed: u64) -> (Verified, Inputs, Outcome) {
    let mut random = Random::new(seed);
    let size = 3 + random.below(40);
    let program = generate::program(&mut random, size);
    let inputs = Inputs::random(&mut random);
    let text = program.to_string();
    let program =
        verify(program).unwrap_or_else(|rejected| panic!("seed {seed}: {rejected}\n{text}"));
    let outcome =
        run(&program, &inputs).unwrap_or_else(|fault| panic!("seed {seed}: {fault}\n{text}"));
    (program, inputs, outcome)
}

fn compare(
    seed: u64,
    pass: &str,
    before: &Verified,
    after: &Program,
    inputs: &Inputs,
    expected: &Outcome,
) {
    let text = || {
        format!(
            "before:\n{}\nafter {pass}:\n{}",
            before.compact(),
            after.compact()
        )
    };
    let verified = match verify(after.clone()) {
        Ok(verified) => verified,
        Err(rejected) => panic!("seed {seed}: {pass} breaks a rule: {rejected}\n{}", text()),
    };
    match run(&verified, inputs) {
        Err(fault) => panic!("seed {seed}: after {pass}: {fault}\n{}", text()),
        Ok(outcome) => assert!(
            outcome == *expected,
            "seed {seed}: {pass} changes results\n{}",
            text()
        ),
    }
}

#[test]
fn each_pass_keeps_the_bits() {
    for seed in 0..cases() {
        let (program, inputs, expected) = drawn(seed);
        for pass in PASSES {
            let mut after = program.program().clone();
            (pass.run)(&mut after);
            compare(seed, pass.name, &program, &after, &inputs, &expected);
        }
    }
}

#[test]
fn the_recipe_keeps_the_bits_at_every_step() {
    for seed in 0..cases() {
        let (program, inputs, expected) = drawn(seed + 1_000_000);
        let mut after = program.program().clone();
        let mut check = |name: &str, now: &Program| {
            compare(seed, name, &program, now, &inputs, &expected);
        };
        optimise(&mut after, Some(&mut check));
        compare(seed, "optimise", &program, &after, &inputs, &expected);
    }
}

#[test]
fn the_recipe_gives_the_same_program_each_time() {
    for seed in 0..cases() / 3 {
        let mut random = Random::new(seed);
        let program = generate::program(&mut random, 30);
        let (mut one, mut other) = (program.clone(), program);
        optimise(&mut one, None);
        optimise(&mut other, None);
        assert_eq!(one.to_string(), other.to_string(), "seed {seed}");
    }
}

/// Changes every operation of a program.
fn change(program: &mut Program, mut f: impl FnMut(&Program, &OpKind) -> Option<OpKind>) {
    for op in (0..program.op_count()).map(Op::from_index) {
        if let Some(kind) = f(program, &program.op(op).kind) {
            program.op_mut(op).kind = kind;
        }
    }
}

/// Whether some random program shows that a pass is wrong.
fn is_noticed(pass: impl Fn(&mut Program)) -> bool {
    (0..cases()).any(|seed| {
        let (program, inputs, expected) = drawn(seed);
        let mut after = program.program().clone();
        pass(&mut after);
        match verify(after) {
            Ok(after) => run(&after, &inputs).as_ref() != Ok(&expected),
            Err(_) => true,
        }
    })
}

#[test]
fn a_wrong_pass_is_noticed() {
    assert!(!is_noticed(|_| {}), "a pass that does nothing is right");
    assert!(is_noticed(|program| change(
        program,
        |_, kind| match *kind {
            OpKind::Binary(BinaryOp::Sub, a, b) => Some(OpKind::Binary(BinaryOp::Sub, b, a)),
            _ => None,
        }
    )));
    // x + 0.0 = x, wrong for x = -0.0.
    assert!(is_noticed(|program| change(
        program,
        |program, kind| match *kind {
            OpKind::Binary(BinaryOp::Add, a, _) if program.ty(a) == Type::varying(Elem::F32) => {
                let zero = |op: &OpKind| matches!(op, OpKind::Const(Constant::F32(0), _));
                let OpKind::Binary(_, _, b) = *kind else {
                    return None;
                };
                match program.value(b).definition {
                    Definition::Result { op, .. } if zero(&program.op(op).kind) => {
                        Some(OpKind::Binary(BinaryOp::Max, a, a))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    )));
    // A contraction: two roundings are not one.
    assert!(is_noticed(|program| change(
        program,
        |program, kind| match *kind {
            OpKind::Binary(BinaryOp::Add, a, c) => match program.value(a).definition {
                Definition::Result { op, .. } => match program.op(op).kind {
                    OpKind::Binary(BinaryOp::Mul, x, y) if program.ty(a).elem == Elem::F32 => {
                        Some(OpKind::Fma(x, y, c))
                    }
                    _ => None,
                },
                Definition::Argument { .. } => None,
            },
            _ => None,
        }
    )));
    // A mask that is ignored.
    assert!(is_noticed(|program| change(
        program,
        |_, kind| match kind.clone() {
            OpKind::Store {
                mem,
                access,
                address,
                displacement,
                mask: Some(_),
                value,
            } => {
                Some(OpKind::Store {
                    mem,
                    access,
                    address,
                    displacement,
                    mask: None,
                    value,
                })
            }
            _ => None,
        }
    )));
    // A store that is lost.
    assert!(is_noticed(|program| {
        for region in (0..program.region_count()).map(Region::from_index) {
            let ops = program.region(region).ops.clone();
            let last = ops.iter().rposition(|&op| {
                matches!(
                    program.op(op).kind,
                    OpKind::Store { .. } | OpKind::PrivateStore { .. }
                )
            });
            if let Some(last) = last {
                program.region_mut(region).ops.remove(last);
            }
        }
    }));
    // Carries that change places.
    assert!(is_noticed(|program| {
        for region in (0..program.region_count()).map(Region::from_index) {
            let yields = program.region(region).yields.clone();
            if let [a, b] = yields[..]
                && program.ty(a) == program.ty(b)
            {
                program.region_mut(region).yields = vec![b, a];
            }
        }
    }));
}
