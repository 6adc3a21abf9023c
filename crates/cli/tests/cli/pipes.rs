//! P66, and other things that happen at pipes.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use super::sandbox::{COPY, RMSNORM, Said, Sandbox, npy_f32, same};

/// Reads some bytes of what a command prints, closes the pipe, and asserts that the program ends without complaint.
#[track_caller]
fn reader_goes_away(sandbox: &Sandbox, line: &str, bytes: usize) {
    let mut command = sandbox.command(line.split_whitespace());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut vec![0; bytes]).unwrap();
    drop(pipe);
    Said::from(child.wait_with_output().unwrap()).succeeds();
}

#[test]
fn p66_a_closed_pipe_is_no_error() {
    let sandbox = Sandbox::new();
    // Far more text than a pipe holds.
    let lines: String = (0..6000)
        .map(|n| format!("    let a{n} = sqrt(xs * {n}.5)\n"))
        .collect();
    sandbox.write(
        "large.tile",
        RMSNORM.replace("    let ws", &format!("{lines}    let ws")),
    );
    sandbox.write("k.tile", RMSNORM);
    for bytes in [0, 1, 80] {
        reader_goes_away(&sandbox, "emit --stage tile large.tile", bytes);
        reader_goes_away(&sandbox, "fmt large.tile", bytes);
        reader_goes_away(&sandbox, "emit --stage clif k.tile --axis col=64", bytes);
        reader_goes_away(&sandbox, "emit --stage asm k.tile --axis col=64", bytes);
        reader_goes_away(&sandbox, "--help", bytes);
        reader_goes_away(&sandbox, "run --help", bytes);
    }
}

#[test]
fn p66_results_to_a_closed_pipe() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    sandbox.write("x.npy", npy_f32(&[500, 500], &vec![1.0; 250_000]));
    reader_goes_away(&sandbox, "run k.tile x=x.npy -o y=-", 1);
}

fn with_stdin(sandbox: &Sandbox, line: &str, input: &[u8]) -> Said {
    let mut command = sandbox.command(line.split_whitespace());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let said = child.wait_with_output().unwrap().into();
    // The program may have had enough before all was written.
    let _ = writer.join().unwrap();
    said
}

#[test]
fn a_dash_is_stdin_or_stdout() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let values: Vec<f32> = (0..100_000).map(|n| n as f32).collect();
    let file = npy_f32(&[1000, 100], &values);
    same(
        with_stdin(&sandbox, "run k.tile x=- -o y=-", &file).succeeds(),
        &file,
    );
    sandbox.write("x.npy", &file);
    same(
        with_stdin(&sandbox, "run - x=x.npy -o y=-", COPY.as_bytes()).succeeds(),
        &file,
    );
    assert_eq!(
        with_stdin(&sandbox, "fmt -", COPY.as_bytes()).succeeds(),
        COPY.as_bytes()
    );
    let said = with_stdin(&sandbox, "check -", b"kernel").fails(1);
    assert!(said.contains("<stdin>:1:"), "{said}");
    let said = with_stdin(&sandbox, "run k.tile x=- -o y=-", &file[..200]).fails(1);
    assert!(
        said.contains(
            "`<stdin>`: its shape [1000, 100] takes 400000 bytes; the file has 72 bytes of data"
        ),
        "{said}"
    );
}

#[test]
fn errors_have_no_colour_codes_in_a_pipe() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", "kernel k() { parallel { let a = b } }");
    for (name, value) in [("NO_COLOR", "1"), ("NO_COLOR", "")] {
        let output = sandbox
            .command(["check", "k.tile"])
            .env(name, value)
            .output()
            .unwrap();
        assert!(!output.stderr.contains(&0x1b));
    }
}

/// A stdout that can't take more is an error, not a quiet end.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    sandbox.write("x.npy", npy_f32(&[1, 1], &[1.0]));
    for line in [
        "fmt k.tile",
        "run k.tile x=x.npy -o y=-",
        "run k.tile x=x.npy -o y=/dev/full",
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = sandbox
            .command(line.split_whitespace())
            .stdout(full)
            .output()
            .unwrap();
        let said = Said::from(output).fails(1);
        assert!(
            said.starts_with("error[cannot-write]: cannot write "),
            "{said}"
        );
        assert!(
            said.ends_with("No space left on device (os error 28)\n"),
            "{said}"
        );
    }
}

/// A file that claims more than there is costs no more memory than there is.
#[cfg(target_os = "linux")]
#[test]
fn p61_a_lying_header_is_refused_with_little_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("k.tile", COPY);
    let mut lies = b"\x93NUMPY\x02\x00".to_vec();
    lies.extend(0xffff_fff0u32.to_le_bytes());
    sandbox.write("length.npy", lies);
    let mut shape = npy_f32(&[1, 1], &[1.0]);
    let at = shape
        .windows(4)
        .position(|window| window == b"(1, ")
        .unwrap();
    shape[at..at + 40].copy_from_slice(b"(99999999, 99999), }                    ");
    sandbox.write("shape.npy", shape);
    let mut tensor = u64::from(u32::MAX).to_le_bytes().to_vec();
    tensor.extend(b"{}");
    sandbox.write("length.safetensors", tensor);
    for (value, expected) in [
        (
            "length.npy",
            "its header says it is 4294967280 bytes long; the file has 0 bytes after that",
        ),
        (
            "shape.npy",
            "its shape [99999999, 99999] takes 39999599600004 bytes; the file has 4 bytes of data",
        ),
        (
            "length.safetensors:t",
            "its header says it is 4294967295 bytes long; the file has 2 bytes after that",
        ),
    ] {
        // A gigabyte of address space: less than any of the claims.
        let script = format!("ulimit -v 1000000; exec \"$0\" run k.tile x={value} -o y=y.npy");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, super::sandbox::PROGRAM])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        let said = Said::from(output).fails(1);
        assert!(said.contains(expected), "{said}");
    }
}
