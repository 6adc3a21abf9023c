//! What memory alone costs a case: benches/c/stream.c on the case's own arrays.

use std::path::Path;

use native_entry::{EntryError, Library};

use super::PeerError;
use super::arm::Arm;
use super::c::build;
use super::case::Kernel;
use super::workbench::Workbench;

/// The streaming loops, loaded.
pub struct Streams {
    library: Library,
}

impl Streams {
    /// Builds them with gcc.
    ///
    /// # Errors
    /// Where gcc does not start or refuses them.
    pub fn build(directory: &Path) -> Result<Streams, PeerError> {
        let flags = ["-O2", "-fno-tree-vectorize", "-march=native"];
        let path = build("gcc", flags, "stream.c", &directory.join("stream.so"))?;
        // SAFETY: the library was just built from our own source and has no initialisers.
        let library = unsafe { Library::open(&path)? };
        Ok(Streams { library })
    }

    /// One loop on some arrays of `count` floats each.
    ///
    /// # Errors
    /// Where there is no such loop on this machine.
    ///
    /// # Safety
    /// The loop takes this many arrays, and each is valid for `count` floats as long as the work is done.
    pub unsafe fn work(
        &self,
        symbol: &str,
        arrays: &[*mut u8],
        count: usize,
    ) -> Result<Box<dyn FnMut()>, EntryError> {
        let mut words = arrays.to_vec();
        // A count is passed as a pointer is.
        words.push(std::ptr::without_provenance_mut(count));
        // SAFETY: the caller vouches for the arrays; the count is the last argument of every loop.
        let mut entry = unsafe { self.library.entry(symbol, &words)? };
        Ok(Box::new(move || entry.call()))
    }
}

/// The arm that reads and writes the case's row-by-column arrays once. Weights and masks of bytes are left out; the two
/// half tables of a rotation count as one array.
///
/// # Errors
/// Where there is no such loop.
pub fn stream_arm<'b>(bench: &'b Workbench, streams: &Streams) -> Result<Arm<'b>, PeerError> {
    let count = bench.case.elements();
    let input = |number: usize| bench.inputs[number].pointer();
    let output = bench.output.pointer();
    let (symbol, arrays): (&str, Vec<*mut u8>) = match bench.case.kernel {
        Kernel::RmsNorm | Kernel::RmsNormRsqrt | Kernel::LayerNorm | Kernel::SoftmaxMasked => {
            ("copy", vec![input(0), output])
        }
        Kernel::SoftmaxAdditiveMask
        | Kernel::Swiglu
        | Kernel::GeluTanhResidual
        | Kernel::GeluErfResidual => ("add", vec![input(0), input(1), output]),
        Kernel::RopeHalf => {
            // The tables with whole rows are as long as the two half tables together.
            (
                "add",
                vec![input(0), bench.torch_inputs[0].1.pointer(), output],
            )
        }
        Kernel::Dot | Kernel::MeanSquaredError => ("read_two", vec![input(0), input(1)]),
        Kernel::SumOfSquares | Kernel::CrossEntropy => ("read_one", vec![input(0)]),
    };
    // SAFETY: each of these arrays holds a float an element of the case, and the bench outlives its arms.
    let work = unsafe { streams.work(symbol, &arrays, count)? };
    Ok(Arm {
        name: "stream".to_owned(),
        detail: format!("{symbol}, vectors of 128 bits"),
        error: 0.0,
        work,
    })
}
