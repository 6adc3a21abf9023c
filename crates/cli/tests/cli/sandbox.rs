//! A directory of its own for each test, and the program run in it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tilewright");

/// Copies any matrix of f32.
pub(crate) const COPY: &str = "kernel copy(x: view f32[row, col], y: mut view f32[row, col]) {
  parallel r: row, c: col {
    store y[r, c] = load x[r, c]
  }
}
";

/// The kernel the walk-through runs.
pub(crate) const RMSNORM: &str = include_str!("../../../../examples/rmsnorm.tile");

pub(crate) struct Sandbox {
    directory: TempDir,
}

/// What a run said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.directory.path().join(name.as_ref())
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Every file's name, sorted.
    pub(crate) fn names(&self) -> Vec<OsString> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// The program, in this directory, with nothing on stdin.
    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs words that hold no spaces themselves.
    pub(crate) fn line(&self, words: &str) -> Said {
        self.run(words.split_whitespace())
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let stderr = String::from_utf8(output.stderr).expect("stderr is UTF-8");
        Said {
            code: output.status.code(),
            stdout: output.stdout,
            stderr,
        }
    }
}

impl Said {
    /// Asserts that all went well and nothing was said.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Vec<u8> {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
        self.stdout
    }

    /// Asserts the exit code, and that nothing went to stdout; what was said.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert!(self.stdout.is_empty(), "{:?}", self.stdout);
        self.stderr
    }
}

/// An .npy file of version 1.0 in C order.
pub(crate) fn npy(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = extents.join(", ");
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// Asserts that two files are the same, without printing them whole.
#[track_caller]
pub(crate) fn same(left: impl AsRef<[u8]>, right: impl AsRef<[u8]>) {
    let (left, right) = (left.as_ref(), right.as_ref());
    let differs = left
        .iter()
        .zip(right)
        .position(|(left, right)| left != right);
    assert_eq!(
        (left.len(), differs),
        (right.len(), None),
        "length, first difference"
    );
}

/// An .npy file of f32.
pub(crate) fn npy_f32(shape: &[usize], values: &[f32]) -> Vec<u8> {
    assert_eq!(shape.iter().product::<usize>(), values.len());
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy("<f4", shape, &data)
}

/// The f32 data at the end of a file with a header of 128 bytes, as this program writes them for small shapes.
pub(crate) fn f32s(file: &[u8]) -> Vec<f32> {
    let (words, rest) = file[128..].as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// A .safetensors file.
pub(crate) fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    file
}
