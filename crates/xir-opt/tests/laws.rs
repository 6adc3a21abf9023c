//! Law **same bits**: no pass changes what a program computes, shown on random programs.
//!
//! `TILEWRIGHT_CASES` sets how many programs are drawn; 300 if it is not set.

use reference::xir_interpreter::{Buffers, Fault, Launch, Memory};
use xir::generate::{self, Inputs, Random};
use xir::{Program, Verified, verify};
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
