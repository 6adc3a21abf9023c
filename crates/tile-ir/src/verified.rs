//! `Verified`: a kernel that keeps every rule, and the only kind that anything downstream takes.

use std::ops::Deref;
use std::sync::Arc;

use diagnostics::Diagnostics;

use crate::canonical::canonical;
use crate::kernel::Kernel;
use crate::keys::Axis;
use crate::specialize::SpecializeError;
use crate::verifier::violations;

/// A kernel that keeps every [`Rule`](crate::Rule), in canonical numbering (crate doc, "Numbering"). Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified(Arc<Kernel>);

/// A kernel that breaks a rule, given back with what is wrong with it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("kernel `{}` is refused: {diagnostics}", kernel.name)]
pub struct Rejected {
    /// The kernel, as it came.
    pub kernel: Box<Kernel>,
    /// Every mistake, in order of place.
    pub diagnostics: Diagnostics,
}

/// Checks a kernel against every rule.
///
/// # Errors
/// [`Rejected`] gives the kernel back with all its mistakes.
pub fn verify(kernel: Kernel) -> Result<Verified, Rejected> {
    let diagnostics = violations(&kernel, &[]);
    if diagnostics.has_errors() {
        return Err(Rejected {
            kernel: Box::new(kernel),
            diagnostics,
        });
    }
    Ok(Verified(Arc::new(canonical(kernel))))
}

impl Verified {
    /// The kernel with some open extents fixed; keys stay what they are.
    ///
    /// # Errors
    /// As [`Kernel::specialize`]. Knowing more extents never breaks a rule.
    pub fn specialize(&self, extents: &[(Axis, u32)]) -> Result<Verified, SpecializeError> {
        Ok(Verified(Arc::new(self.0.specialize(extents)?)))
    }

    /// The kernel, to change; what comes out must be verified anew.
    pub fn into_kernel(self) -> Kernel {
        Arc::unwrap_or_clone(self.0)
    }
}

impl Deref for Verified {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}
