//! Checks that can't fail are lies: each is fed a wrong thing here and has to say no.

use reference::Memory;
use simd_mapping::Plan;
use tests::case::RunCase;
use tests::corpus::split;
use tests::executors::{check_plan, run_case, same_memory};
use tests::lowered::interpret_lowered;
use tests::plans::plans;
use tests::random::{case_of, hold, random_case};
use tile_ir::generate::Flavour;
use tile_ir::{BinaryOp, OpKind};

const KERNEL: &str =
    "kernel sums(x: view f32[row, col], y: mut view f32[row, col], t: mut view f32[row])
where col = 6 {
  parallel r: row {
    let xs = load x[r, :]
    store y[r, :] = 0.5
    let s = sum(xs * xs, tree)
    store t[r] = s / 3.0
  }
}
//: axis row = 2
//: x = g 1
";

fn outcome(directives: &str) -> Result<Vec<String>, String> {
    let file = split(&format!("// ---- case\n{KERNEL}{directives}"));
    run_case(&file.cases[0])
}

#[track_caller]
fn refused(directives: &str, text: &str) {
    match outcome(directives) {
        Err(wrong) if wrong.contains(text) => {}
        other => panic!("`{text}` is not what is said: {other:?}"),
    }
}

#[test]
fn cases_that_say_wrong_things_fail() {
    assert!(outcome("").is_ok());
    assert!(outcome("//: near t ulp 4\n").is_ok());
    refused("//: near t abs 1e-30\n", "not near the oracle");
    refused(
        "//: near x ulp 1\n//: near t abs 1e-30\n",
        "`t` is not near",
    );
    refused("//: fused-differs xs s\n", "changes nothing");
    refused("//: y same x\n//: fused xs s\n", "buffer 1");
    refused(
        "//: launch refuses overlaps\n",
        "accepts what it should refuse",
    );
    refused(
        "//: y same x\n//: y offset 1\n//: launch refuses extent\n",
        "is not what is said",
    );
    refused("//: y same x\n//: y offset 1\n", "the launch refuses");
    refused("//: z = g 1\n", "no parameter `z`");
    refused("//: x = [1.0]\n", "1 values are given");
    refused("//: nonsense\n", "no directive");
}

fn some_plan(run: &RunCase) -> Plan {
    plans(&run.kernel)[2].clone()
}

/// A program that adds where the kernel multiplies is found by the interpreter of XIR.
#[test]
fn a_wrong_program_differs() {
    let file = split(&format!("// ---- case\n{KERNEL}"));
    let run = RunCase::read(&file.cases[0]).expect("a case");
    let wrong = KERNEL.replace("s / 3.0", "s / 3.0000005");
    let file = split(&format!("// ---- case\n{wrong}"));
    let other = RunCase::read(&file.cases[0]).expect("a case");
    let plan = some_plan(&run);
    check_plan(&run, &plan).expect("every executor agrees");
    let realization = tests::plans::realized(&run.kernel, &plan)
        .expect("fits")
        .expect("no loop");
    let meant = tests::executors::expected(&run, &realization).expect("runs");
    let realization = tests::plans::realized(&other.kernel, &plan)
        .expect("fits")
        .expect("no loop");
    let found = interpret_lowered(&run, lowering::lower(&realization)).expect("runs");
    assert!(same_memory(&run.elements, &meant, &found).is_err());
}

#[test]
fn memories_are_compared_by_bits() {
    let memory = |values: &[f32]| {
        let mut memory = Memory::new();
        memory.add_f32(values);
        memory
    };
    let same = |a: &[f32], b: &[f32]| {
        same_memory(&[numerics::ElementType::F32], &memory(a), &memory(b)).is_ok()
    };
    assert!(same(&[1.0, f32::NAN], &[1.0, -f32::NAN]));
    assert!(!same(&[0.0], &[-0.0]));
    assert!(!same(
        &[1.0, 2.0],
        &[1.0, f32::from_bits(2.0f32.to_bits() + 1)]
    ));
}

/// A law that doesn't hold is found broken, and the kernel that shows it is small.
#[test]
fn a_false_law_is_refuted_by_a_small_kernel() {
    let multiplies = |run: &RunCase| {
        let product = |op| matches!(run.kernel.op(op).kind, OpKind::Binary(BinaryOp::Mul, ..));
        run.kernel.ops().any(product)
    };
    let refuted = std::panic::catch_unwind(|| {
        hold(Flavour::default(), |run, _| {
            if multiplies(run) {
                Err("there is a product".to_owned())
            } else {
                Ok(())
            }
        });
    });
    let panic = refuted.expect_err("some random kernel multiplies");
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("there is a product"));
    assert!(text.lines().count() < 30, "not small:\n{text}");
}

/// The seed is the whole case.
#[test]
fn random_cases_are_repeated_by_their_seed() {
    for seed in 0..20 {
        let (one, two) = (
            random_case(seed, Flavour::default()),
            random_case(seed, Flavour::default()),
        );
        assert_eq!(one.kernel, two.kernel);
        assert_eq!((&one.memory, &one.arguments), (&two.memory, &two.arguments));
        assert_eq!(case_of(one.kernel.clone(), seed).memory, one.memory);
    }
}
