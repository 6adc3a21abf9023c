//! Inductor's kernels: made by benches/python/inductor.py, called here without Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use native_entry::{Entry, Library, Memory};
use serde::{Deserialize, Serialize};

use super::PeerError;
use super::arm::Arm;
use super::case::Case;
use super::workbench::Workbench;

/// Inductor at one width of vectors.
#[derive(Clone, Debug)]
pub struct Flavour {
    /// The column.
    pub name: &'static str,
    /// Bits of a vector; Inductor's own choice if none are said.
    bits: Option<u32>,
    directory: PathBuf,
    libraries: Vec<PathBuf>,
    torch: String,
}

#[derive(Serialize)]
struct Wanted<'c> {
    name: String,
    kernel: &'c str,
    rows: usize,
    cols: usize,
}

#[derive(Deserialize)]
struct Preload {
    torch: String,
    libraries: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Manifest {
    scratch: Vec<usize>,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    library: String,
    symbol: String,
    arguments: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    input: Option<usize>,
    scratch: Option<usize>,
    output: Option<bool>,
    offset: usize,
}

/// Makes the kernels of `cases` that are not there yet, with Inductor's own choice of vectors and with 256 bits, below
/// `directory`. A case is kept until the script changes.
///
/// # Errors
/// Where Python, torch or the script fails.
pub fn prepare(python: &Path, cases: &[Case], directory: &Path) -> Result<Vec<Flavour>, PeerError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/inductor.py");
    let text = fs::read_to_string(&script).map_err(PeerError::file(&script))?;
    let mut flavours = Vec::new();
    for (name, bits) in [("inductor", None), ("inductor 256", Some(256))] {
        let out = directory.join(name.replace(' ', "-"));
        forget_if_changed(&out, &text)?;
        let missing = |case: &&Case| !out.join(case.name()).join("manifest.json").exists();
        let missing: Vec<&Case> = cases.iter().filter(missing).collect();
        if !missing.is_empty() || !out.join("preload.json").exists() {
            eprintln!("compiling {} cases for the arm `{name}`", missing.len());
            run(python, &script, &missing, &out, bits)?;
        }
        let preload: Preload = read(&out.join("preload.json"))?;
        flavours.push(Flavour {
            name,
            bits,
            directory: out,
            libraries: preload.libraries,
            torch: preload.torch,
        });
    }
    Ok(flavours)
}

/// Kernels made by another version of the script are made again.
fn forget_if_changed(out: &Path, script: &str) -> Result<(), PeerError> {
    let kept = out.join("script.py");
    if fs::read_to_string(&kept).is_ok_and(|kept| kept == script) {
        return Ok(());
    }
    if out.exists() {
        fs::remove_dir_all(out).map_err(PeerError::file(out))?;
    }
    fs::create_dir_all(out).map_err(PeerError::file(out))?;
    fs::write(&kept, script).map_err(PeerError::file(&kept))
}

fn run(
    python: &Path,
    script: &Path,
    cases: &[&Case],
    out: &Path,
    bits: Option<u32>,
) -> Result<(), PeerError> {
    let wanted: Vec<Wanted<'_>> = cases
        .iter()
        .map(|case| Wanted {
            name: case.name(),
            kernel: case.kernel.name(),
            rows: case.rows,
            cols: case.cols,
        })
        .collect();
    let list = out.join("cases.json");
    let text = serde_json::to_string(&wanted).map_err(|error| PeerError::Content {
        path: list.display().to_string(),
        message: error.to_string(),
    })?;
    fs::write(&list, text).map_err(PeerError::file(&list))?;
    let mut command = Command::new(python);
    command.arg(script).arg(&list).arg(out);
    if let Some(bits) = bits {
        command.arg("--simdlen").arg(bits.to_string());
    }
    let status = command.status().map_err(PeerError::file(python))?;
    if status.success() {
        Ok(())
    } else {
        Err(PeerError::Content {
            path: python.display().to_string(),
            message: format!(
                "benches/python/inductor.py: {status}; it needs torch and a C++ compiler"
            ),
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, PeerError> {
    let text = fs::read_to_string(path).map_err(PeerError::file(path))?;
    serde_json::from_str(&text).map_err(|error| PeerError::Content {
        path: path.display().to_string(),
        message: error.to_string(),
    })
}

impl Flavour {
    /// Its arm on a case.
    ///
    /// # Errors
    /// Where a library or a pointer's place is not as the manifest says.
    pub fn arm<'b>(&self, bench: &'b Workbench) -> Result<Arm<'b>, PeerError> {
        let directory = self.directory.join(bench.case.name());
        let path = directory.join("manifest.json");
        let manifest: Manifest = read(&path)?;
        let scratch: Vec<Memory> = (0..manifest.scratch.len())
            .map(|number| Memory::zeroed(manifest.scratch[number], 8 + number))
            .collect();
        let mut entries: Vec<Entry> = Vec::new();
        // Python's and torch's libraries offer what the kernels' libraries only name.
        for library in &self.libraries {
            // SAFETY: torch's own libraries, which Python loads in the same way.
            std::mem::forget(unsafe { Library::open_for_all(library)? });
        }
        for call in &manifest.calls {
            let mut pointers = Vec::new();
            for place in &call.arguments {
                pointers.push(place.pointer(bench, &scratch).ok_or_else(|| {
                    PeerError::Content {
                        path: path.display().to_string(),
                        message: "a pointer leads nowhere".to_owned(),
                    }
                })?);
            }
            // SAFETY: the script recorded a call of this function with pointers to arrays of these sizes, in this order.
            entries.push(unsafe {
                Library::open(&directory.join(&call.library))?.entry(&call.symbol, &pointers)?
            });
        }
        let width = self
            .bits
            .map_or("its own choice of vectors".to_owned(), |bits| {
                format!("{bits} bits")
            });
        Ok(bench.arm(
            self.name,
            format!("torch {}, {width}", self.torch),
            Box::new(move || {
                // The entries point into it.
                let _ = &scratch;
                for entry in &mut entries {
                    entry.call();
                }
            }),
        ))
    }
}

impl Place {
    fn pointer(&self, bench: &Workbench, scratch: &[Memory]) -> Option<*mut u8> {
        let memory = match (self.input, self.scratch, self.output) {
            (Some(number), None, None) => bench
                .torch_inputs
                .iter()
                .find(|(other, _)| *other == number)
                .map(|(_, memory)| memory)
                .or_else(|| bench.inputs.get(number))?,
            (None, Some(number), None) => scratch.get(number)?,
            (None, None, Some(true)) => &bench.output,
            _ => return None,
        };
        (self.offset <= memory.len()).then(|| memory.pointer().wrapping_add(self.offset))
    }
}
