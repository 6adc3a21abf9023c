//! Object files that stand alone, for every target, and aarch64 code run under emulation.

#![allow(unsafe_code, reason = "the shared support calls generated code")]

mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cranelift_backend::{Code, ObjectError, emit_object, entry_symbol};
use object::{Architecture, BinaryFormat, Object, ObjectSection, ObjectSymbol};
use support::random::{Case, HookCall};
use support::{code, kernels, named};

fn all(cases: &[Case], machine: &str) -> Vec<Code> {
    let target = named(machine);
    cases
        .iter()
        .map(|case| code(&case.program, &target))
        .collect()
}

#[test]
fn objects_define_their_entries_and_need_nothing() {
    let cases: Vec<Case> = (0..12).map(Case::of_seed).collect();
    for (machine, format, architecture) in [
        ("x86_64-linux", BinaryFormat::Elf, Architecture::X86_64),
        ("aarch64-linux", BinaryFormat::Elf, Architecture::Aarch64),
        (
            "aarch64-apple-darwin",
            BinaryFormat::MachO,
            Architecture::Aarch64,
        ),
    ] {
        let codes = all(&cases, machine);
        let list: Vec<&Code> = codes.iter().collect();
        let bytes = emit_object(&list, "tw_").expect("an object");
        assert_eq!(
            bytes,
            emit_object(&list, "tw_").expect("an object"),
            "the same bytes"
        );
        let file = object::File::parse(&*bytes).expect("an object file");
        assert_eq!((file.format(), file.architecture()), (format, architecture));
        let undefined: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.is_undefined() && symbol.name() != Ok(""))
            .collect();
        assert!(undefined.is_empty(), "{undefined:?}");
        let mut globals: Vec<String> = file
            .symbols()
            .filter(|symbol| symbol.is_global())
            .map(|symbol| symbol.name().expect("a name").to_owned())
            .collect();
        globals.sort();
        let underscore = if format == BinaryFormat::MachO {
            "_"
        } else {
            ""
        };
        let mut expected: Vec<String> = codes
            .iter()
            .flat_map(|code| {
                (0..code.entries().len()).map(move |entry| {
                    underscore.to_owned() + &entry_symbol("tw_", code.name(), entry)
                })
            })
            .collect();
        expected.sort();
        assert_eq!(globals, expected);
        if format == BinaryFormat::Elf {
            assert!(
                file.section_by_name(".note.GNU-stack").is_some(),
                "a stack that isn't executable"
            );
        }
        // Calls inside the object are the only relocations.
        for section in file.sections() {
            for (_, relocation) in section.relocations() {
                let object::RelocationTarget::Symbol(symbol) = relocation.target() else {
                    continue;
                };
                let symbol = file.symbol_by_index(symbol).expect("a symbol");
                assert!(symbol.is_definition(), "{symbol:?}");
            }
        }
    }
}

#[test]
fn names_that_clash_or_are_no_symbols_are_refused() {
    let target = named("aarch64-linux");
    let copy = code(&kernels::copy(4, 1), &target);
    assert!(matches!(
        emit_object(&[&copy, &copy], "tw_"),
        Err(ObjectError::DuplicateSymbol { symbol }) if symbol == "tw_copy_entry0"
    ));
    for prefix in ["1", "a-b", "a b"] {
        assert!(
            matches!(
                emit_object(&[&copy], prefix),
                Err(ObjectError::BadName { .. })
            ),
            "{prefix}"
        );
    }
    let other = code(&kernels::copy(4, 1), &named("x86_64-linux"));
    assert!(matches!(
        emit_object(&[&copy, &other], "tw_"),
        Err(ObjectError::MixedTargets { .. })
    ));
    assert!(emit_object(&[], "tw_").is_err());
}

const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";

/// Where the C side puts the buffers.
const ADDRESSES: [u64; 4] = [
    0x5000_0000_0001,
    0x5000_0010_0001,
    0x5000_0020_0001,
    0x5000_0030_0001,
];

/// The C side: reads the inputs of every case, runs its entries, writes the buffers and the calls of the hook.
fn driver(codes: &[Code]) -> String {
    let mut text = String::from(
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n\
         typedef void entry_t(const uint64_t *, uint64_t, uint64_t, void *, void *);\n\
         static uint64_t calls[3 * 4096], count;\n\
         static void hook(void *context, uint32_t id, uint64_t first, uint64_t programs) {\n\
         uint64_t *call = (uint64_t *)context + 3 * count++;\n\
         call[0] = id; call[1] = first; call[2] = programs; }\n\
         static void run(FILE *in, FILE *out, uint64_t worker, uint64_t shared, int n, entry_t **entries, const uint64_t *packets) {\n\
         unsigned char *buffers[4];\n\
         uint64_t record[9] = {(uint64_t)hook, (uint64_t)calls};\n\
         count = 0;\n\
         for (int i = 0; i < 4; i++) {\n\
         buffers[i] = mmap((void *)(0x500000000000 + i * 0x100000), 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);\n\
         if (buffers[i] == MAP_FAILED || fread(buffers[i] + 1, 1, 4096, in) != 4096) exit(2);\n\
         record[2 + i] = (uint64_t)(buffers[i] + 1); }\n\
         if (fread(record + 6, 8, 3, in) != 3) exit(2);\n\
         void *w = aligned_alloc(64, worker), *s = aligned_alloc(64, shared);\n\
         memset(w, 255, worker); memset(s, 255, shared);\n\
         for (int i = 0; i < n; i++) entries[i](record, 0, packets[i], w, s);\n\
         for (int i = 0; i < 4; i++) fwrite(buffers[i] + 1, 1, 4096, out);\n\
         fwrite(&count, 8, 1, out); fwrite(calls, 24, count, out); free(w); free(s); }\n",
    );
    for code in codes {
        for entry in 0..code.entries().len() {
            let _ = writeln!(
                text,
                "extern entry_t {};",
                entry_symbol("", code.name(), entry)
            );
        }
    }
    text.push_str(
        "int main(int argc, char **argv) { (void)argc;\n\
         FILE *in = fopen(argv[1], \"rb\"), *out = fopen(argv[2], \"wb\");\n",
    );
    for code in codes {
        let entries: Vec<String> = (0..code.entries().len())
            .map(|entry| entry_symbol("", code.name(), entry))
            .collect();
        let counts: Vec<u64> = code
            .entries()
            .map(|domain| domain.packets(&[]).expect("a fixed domain"))
            .collect();
        let packets: Vec<String> = counts.iter().map(u64::to_string).collect();
        let workspaces = code.workspaces();
        let most = counts.iter().max().copied().unwrap_or(1);
        let _ = writeln!(
            text,
            "run(in, out, {}, {}, {}, (entry_t *[]){{{}}}, (const uint64_t[]){{{}}});",
            workspaces.worker_bytes.next_multiple_of(64) + 64,
            (workspaces.shared_bytes_per_packet * most).next_multiple_of(64) + 64,
            entries.len(),
            entries.join(", "),
            packets.join(", ")
        );
    }
    text.push_str("return fclose(out); }\n");
    text
}

fn works(tool: &str) -> bool {
    Command::new(tool)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

fn must_succeed(command: &mut Command) {
    let output = command.output().expect("the tool starts");
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Law **same bits** on aarch64: random programs and large frames, in one object, under emulation.
#[test]
fn aarch64_code_gives_the_same_bits() {
    if !works(LINKER) || !works(EMULATOR) {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{LINKER} and {EMULATOR} have to be installed where CI=true"
        );
        eprintln!("SKIPPED: aarch64 code was not run: {LINKER} or {EMULATOR} is not installed");
        return;
    }
    let mut cases: Vec<Case> = (1000..1120).map(Case::of_seed).collect();
    cases.extend(kernels::stack_frames());
    for (index, case) in cases.iter_mut().enumerate() {
        // Frames are all called `entry` of a kernel with a name of its own; random programs too.
        let mut program = case.program.clone().into_program();
        program.name = format!("case{index}");
        case.program = xir::verify(program).expect("it was valid before");
    }
    let codes = all(&cases, "aarch64-linux");
    let list: Vec<&Code> = codes.iter().collect();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aarch64");
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = |name: &str| directory.join(name);
    std::fs::write(file("code.o"), emit_object(&list, "").expect("an object")).expect("a file");
    std::fs::write(file("driver.c"), driver(&codes)).expect("a file");
    let mut input = Vec::new();
    for case in &cases {
        for buffer in &case.inputs.buffers {
            input.extend_from_slice(buffer);
        }
        for scalar in case.inputs.scalars {
            input.extend_from_slice(&scalar.to_le_bytes());
        }
    }
    std::fs::write(file("input"), input).expect("a file");
    must_succeed(
        Command::new(LINKER)
            .args(["-O1", "-static", "-Wall", "-Werror", "-o"])
            .args([file("driver"), file("driver.c"), file("code.o")]),
    );
    must_succeed(Command::new(EMULATOR).args([file("driver"), file("input"), file("output")]));
    let output = std::fs::read(file("output")).expect("the driver's output");
    let mut rest = &output[..];
    let mut take = |bytes: usize| {
        let (first, last) = rest.split_at(bytes);
        rest = last;
        first
    };
    for case in &cases {
        let buffers: Vec<&[u8]> = (0..4).map(|_| take(4096)).collect();
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let count = number(take(8));
        let calls: Vec<HookCall> = (0..count)
            .map(|_| (number(take(8)) as u32, number(take(8)), number(take(8))))
            .collect();
        case.compare(ADDRESSES, &buffers, &calls);
    }
}
