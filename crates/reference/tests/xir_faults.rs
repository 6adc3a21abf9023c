//! What the interpreter of XIR stops at: one small program a fault.

use reference::xir_interpreter::{Buffers, Fault, Launch, Memory, Problem, packets};
use xir::{Extent, Verified, parse, verify};

/// A program of one entry whose single packet runs `body`; words 0 and 1 are buffers of 16 floats, the first read-only.
fn program(body: &str) -> Verified {
    let text = format!(
        "program p lanes 4 {{
           worker 256 bytes
           shared 64 bytes per packet
           a stack_array: f32x[2] stack
           b worker_array: f32[2] worker + 64
           entry main() by 1
           fn main(begin: i64, end: i64) outline {{
             zero = const 0 : i64
             x = record 0 : i64
             y = record 1 : i64
             one = const 1.0 : f32x
             {body}
           }}
         }}"
    );
    let program = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(program).unwrap_or_else(|rejected| panic!("{rejected}\n{text}"))
}

fn run(body: &str) -> Result<Vec<f32>, Fault> {
    let program = program(body);
    let mut memory = Buffers::new();
    let floats = |first: f32| {
        (0..16)
            .flat_map(|i| (first + i as f32).to_le_bytes())
            .collect()
    };
    let record = [
        memory.lend_read_only(floats(0.0)),
        memory.lend(floats(100.0)),
    ];
    Launch::new(&program, &record, &mut memory)
        .with_fuel(10_000)
        .run_all()?;
    let read = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    Ok(memory.bytes(1).chunks(4).map(read).collect())
}

fn problem(body: &str) -> Problem {
    run(body).expect_err("the program goes wrong").problem
}

#[test]
fn a_program_that_does_nothing_wrong_runs() {
    let made = run("v = load f32 contiguous 4 at x + 48 : f32x
                    w = add v, one : f32x
                    store f32 contiguous 3 at y = w
                    set a[zero + 1] = w
                    p = address a : i64
                    u = load f32 scalar at p + 28 : f32
                    store f32 scalar at y + 60 = u");
    let made = made.expect("no fault");
    assert_eq!(made[..4], [13.0, 14.0, 15.0, 103.0]);
    assert_eq!(made[15], 16.0);
}

#[test]
fn strays_are_named_with_their_operation() {
    let fault = run("v = load f32 contiguous 4 at x + 52 : f32x").expect_err("a byte too far");
    assert!(matches!(fault.problem, Problem::StrayRead(stray) if stray.bytes == 4));
    assert!(fault.operation.contains("contiguous 4"), "{fault}");
    assert!(matches!(
        problem("v = load f32 scalar at x - 1 : f32"),
        Problem::StrayRead(_)
    ));
    assert!(matches!(
        problem("store f32 contiguous 4 at x = one"),
        Problem::StrayWrite(_)
    ));
    assert!(matches!(
        problem("store f32 contiguous 4 at y + 56 = one"),
        Problem::StrayWrite(_)
    ));
    let body = "w = workspace worker : i64\nstore f32 contiguous 4 at w + 244 = one";
    assert!(matches!(problem(body), Problem::StrayWrite(_)));
}

#[test]
fn lanes_that_take_no_part_touch_nothing() {
    let made = run("l = lane_index : i32x
                    two = const 2 : i32x
                    m = lt l, two : boolx
                    v = load f32 contiguous 4 at x + 56 if m : f32x
                    store f32 contiguous 4 at y = v");
    assert_eq!(made.expect("no fault")[..4], [14.0, 15.0, 0.0, 0.0]);
    assert!(run("v = load f32 contiguous 2 at x + 56 : f32x").is_ok());
}

#[test]
fn what_nothing_wrote_is_poison() {
    assert_eq!(
        problem("v = get a[zero + 1] : f32x"),
        Problem::UnwrittenSlot { slot: 1 }
    );
    assert_eq!(
        problem("v = get b[zero + 0] : f32"),
        Problem::UnwrittenSlot { slot: 0 }
    );
    let body = "p = address a : i64\nv = load f32 scalar at p : f32";
    assert!(matches!(problem(body), Problem::UnwrittenWorkspace { .. }));
    let body = "w = workspace shared : i64\nv = load f32 scalar at w : f32";
    assert!(matches!(problem(body), Problem::UnwrittenWorkspace { .. }));
    let body = "w = workspace worker : i64
                store f32 contiguous 3 at w = one
                v = load f32 contiguous 4 at w : f32x";
    assert!(matches!(problem(body), Problem::UnwrittenWorkspace { .. }));
}

#[test]
fn slots_end_where_their_array_ends() {
    let body = "n = record 0 : i64\nv = get a[n + 0] : f32x";
    assert!(matches!(problem(body), Problem::NoSuchSlot { .. }));
}

#[test]
fn lanes_of_one_store_agree() {
    let body = "l = lane_index : i32x
                f = i32_to_f32 l : f32x
                s = const 2 : i64
                store f32 strided s at y = f";
    assert!(matches!(problem(body), Problem::LanesDisagree { .. }));
    assert!(
        run("store f32 strided zero at y = one").is_ok(),
        "equal values may meet"
    );
}

#[test]
fn invariant_means_that_nothing_writes() {
    let before = "v = load f32 scalar at y invariant : f32\nstore f32 contiguous 4 at y = one";
    assert!(matches!(problem(before), Problem::NotInvariant { .. }));
    let after = "store f32 contiguous 4 at y = one\nv = load f32 scalar at y + 12 invariant : f32";
    assert!(matches!(problem(after), Problem::NotInvariant { .. }));
    assert!(
        run("v = load f32 scalar at y + 16 invariant : f32\nstore f32 contiguous 4 at y = one")
            .is_ok()
    );
}

#[test]
fn words_and_fuel_end() {
    assert_eq!(
        problem("v = record 2 : i64"),
        Problem::NoSuchWord { word: 2 }
    );
    let body = "n = const 9223372036854775807 : i64\nloop i = zero .. n step 1 {\n}";
    assert_eq!(problem(body), Problem::OutOfFuel);
}

#[test]
fn the_last_iteration_may_end_at_the_last_number() {
    let body = "a = const 9223372036854775806 : i64
                n = const 9223372036854775807 : i64
                loop i = a .. n step 7 {
                  store f32 contiguous 4 at y = one
                }";
    assert_eq!(run(body).expect("no fault")[0], 1.0);
}

#[test]
fn hooks_are_told_and_may_change_memory() {
    let program = program(
        "n = const 3 : i64\nopaque 7 at zero count n\nv = load f32 contiguous 4 at y : f32x\nstore f32 contiguous 4 at y + 16 = v",
    );
    let mut memory = Buffers::new();
    let record = [memory.lend(vec![0; 64]), memory.lend(vec![0; 64])];
    let mut told = Vec::new();
    let mut hook = |id, first, count, memory: &mut dyn Memory| {
        told.push((id, first, count));
        memory
            .write(record[1], &2.5_f32.to_le_bytes())
            .expect("lent memory");
    };
    let mut launch = Launch::new(&program, &record, &mut memory).with_hook(&mut hook);
    launch.run_all().expect("no fault");
    assert_eq!(told, [(7, 0, 3)]);
    assert_eq!(memory.bytes(1)[16..20], 2.5_f32.to_le_bytes());
}

#[test]
fn packets_are_counted_row_by_row() {
    let mut entry = program("").entries[0].clone();
    assert_eq!(packets(&entry, &[]), 1);
    entry.programs_per_packet = 4;
    entry.extents = vec![Extent::Fixed(3), Extent::Word(1)];
    assert_eq!(packets(&entry, &[0, 9]), 9);
    assert_eq!(packets(&entry, &[0, 0]), 0);
}
