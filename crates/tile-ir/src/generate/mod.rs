//! Random kernels, valid by construction, and smaller ones made of them.
//!
//! Properties of a compiler are held against programs nobody thought of. A generator of texts would mostly produce
//! refusals; this one grows kernels from values that exist, so every one is accepted, and it reaches every operation: all
//! policies and forms, unit dimensions, permutations, windows beyond the bounds, loops of no, one and several rounds,
//! stages, views updated in place. Quickcheck and fuzz targets share it: choices come from a seed or from bytes.
//!
//! Law **generator**: every generated kernel is verified, and so is everything [`shrink`] makes of it.

mod choices;
mod grow;
mod shrink;

pub use choices::Choices;
pub use shrink::shrink;

use crate::keys::Axis;
use crate::verified::{Verified, verify};

/// What a generated kernel may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// How many statements a nest has at most, about.
    pub size: usize,
    /// Whether f64 occurs.
    pub doubles: bool,
    /// Whether `opaque` occurs: whoever runs the kernel needs a hook.
    pub opaque: bool,
    /// Whether stages and several root nests occur.
    pub stages: bool,
    /// Whether `for` occurs.
    pub loops: bool,
}

impl Default for Flavour {
    fn default() -> Flavour {
        Flavour {
            size: 12,
            doubles: true,
            opaque: false,
            stages: true,
            loops: true,
        }
    }
}

/// A random kernel. Its tile axes have extents in 1..=19; axes that only views and root nests know may be open.
pub fn kernel(choices: &mut Choices, flavour: Flavour) -> Verified {
    let kernel = grow::grow(choices, flavour);
    match verify(kernel) {
        Ok(kernel) => kernel,
        Err(rejected) => panic!("generator: {rejected}\n{}", crate::print(&rejected.kernel)),
    }
}

/// Extents in 0..=19 for the axes that a kernel leaves open, as a launch would give them (1..=19 for those that must be
/// known before).
pub fn extents(choices: &mut Choices, kernel: &crate::Kernel) -> Vec<(Axis, u32)> {
    let needed = kernel.open_axes();
    let open = kernel
        .axes()
        .filter(|&axis| kernel.axis(axis).extent.is_none());
    open.map(|axis| {
        let extent = grow::extent(choices);
        let none = !needed.contains(&axis) && choices.chance(5);
        (axis, if none { 0 } else { extent })
    })
    .collect()
}

/// A random kernel for quickcheck, which shrinks.
#[derive(Clone, Debug)]
pub struct AnyKernel(pub Verified);

impl quickcheck::Arbitrary for AnyKernel {
    fn arbitrary(g: &mut quickcheck::Gen) -> AnyKernel {
        let mut choices = Choices::from_seed(u64::arbitrary(g));
        let flavour = Flavour {
            size: 2 + choices.below(g.size().clamp(1, 24)),
            ..Flavour::default()
        };
        AnyKernel(kernel(&mut choices, flavour))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = AnyKernel>> {
        Box::new(shrink(&self.0).into_iter().map(AnyKernel))
    }
}
