//! The operator library: kernels in the public language, each a text that says what it computes.
//!
//! Nothing here is privileged: a kernel of this crate is what a user could write. Extents of rows are launch-time values; the axes of a tile
//! (`col`, `half`, ...) are fixed with [`LibraryKernel::specialized`], or by the inputs when the command line runs a kernel.
//!
//! ```
//! let softmax = kernels::find("softmax").expect("the library has it");
//! let kernel = softmax.specialized(&[("col", 5)])?;
//! let executable = tilewright::compile(&kernel, &Default::default())?;
//! let x = [0.0f32; 5];
//! let mut y = [0.0f32; 5];
//! executable.run(vec![
//!     ("x".into(), tilewright::prelude::View::new(&x, &[1, 5])?.into()),
//!     ("y".into(), tilewright::prelude::View::new_mut(&mut y, &[1, 5])?.into()),
//! ])?;
//! assert_eq!(y, [0.2; 5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tilewright::Error;
use tilewright::prelude::Verified;

/// One kernel of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryKernel {
    /// The kernel's name, which is the name of its file too.
    pub name: &'static str,
    /// Its text; the comment at its head gives formula and corner cases.
    pub text: &'static str,
}

macro_rules! library {
    ($($name:literal),* $(,)?) => {
        /// Every kernel, by name.
        pub const ALL: &[LibraryKernel] = &[
            $(LibraryKernel { name: $name, text: include_str!(concat!("../tile/", $name, ".tile")) },)*
        ];
    };
}

library!(
    "bias_silu",
    "cross_entropy",
    "dot",
    "gelu_erf_residual",
    "gelu_tanh_residual",
    "l2_normalize",
    "layer_norm",
    "log_softmax",
    "log_sum_exp",
    "mean_squared_error",
    "residual_rms_norm",
    "rms_norm",
    "rms_norm_rsqrt",
    "rope_half",
    "rope_interleaved",
    "softmax",
    "softmax_additive_mask",
    "softmax_masked",
    "sum_of_squares",
    "swiglu",
);

/// The kernel of this name.
pub fn find(name: &str) -> Option<LibraryKernel> {
    ALL.iter().copied().find(|kernel| kernel.name == name)
}

impl LibraryKernel {
    /// What it computes: the comment at the head of its text, as one paragraph.
    pub fn description(&self) -> String {
        let lines = self
            .text
            .lines()
            .map_while(|line| line.strip_prefix("//"))
            .map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    }

    /// The kernel, with the extents of its tiles still open.
    pub fn kernel(&self) -> Verified {
        tilewright::parse(self.text)
            .unwrap_or_else(|mistakes| panic!("library kernel {} is wrong: {mistakes}", self.name))
    }

    /// The kernel with extents fixed, by axis name.
    ///
    /// # Errors
    /// A name the kernel doesn't have, an extent of 0 or above `i32::MAX`.
    pub fn specialized(&self, extents: &[(&str, u32)]) -> Result<Verified, Error> {
        tilewright::specialize(&self.kernel(), extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_right_and_says_what_it_does() {
        for library in ALL {
            let kernel = library.kernel();
            assert_eq!(kernel.name, library.name);
            assert!(library.description().len() > 20, "{}", library.name);
        }
    }

    #[test]
    fn every_file_is_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tile");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the kernels lie there")
            .map(|file| {
                file.expect("it can be read")
                    .path()
                    .file_stem()
                    .expect("it has a name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        files.sort();
        assert_eq!(
            files,
            ALL.iter().map(|kernel| kernel.name).collect::<Vec<_>>()
        );
    }
}
