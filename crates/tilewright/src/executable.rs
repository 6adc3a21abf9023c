//! A compiled kernel, and the calls that run it.

use std::sync::{Arc, OnceLock};

use cranelift_backend::Target;
use machine::Machine;
use numerics::ElementType;
use runtime::{Argument, AxisSignature, Bound, ParamSignature, Signature, ViewSignature};
use simd_mapping::Realization;
use tile_ir::{Kernel, ParamKind, Stride, Verified};

use crate::error::Error;
use crate::options::CompileOptions;
use crate::translate::{Trace, Translation, translate};

/// A compiled kernel: a handle that can be cloned, sent and shared. The last one frees the code.
#[derive(Clone, Debug)]
pub struct Executable {
    contents: Arc<Contents>,
}

#[derive(Debug)]
struct Contents {
    translation: Translation,
    signature: Signature,
    /// What a launch must keep so that no coordinate wraps.
    conditions: Vec<tile_ir::WrapCondition>,
    code_bytes: usize,
    code: kernel_abi::Executable,
}

/// Compiles a kernel for the machine it runs on.
///
/// # Errors
/// [`Error`]: an axis without extent, a pin that can't be kept, a plan that can't be realised, a machine that lacks what the kernel needs.
pub fn compile(kernel: &Verified, options: &CompileOptions) -> Result<Executable, Error> {
    compile_traced(kernel, options, None)
}

/// As [`compile`]; `trace` sees the program after lowering and after each pass.
///
/// # Errors
/// As [`compile`].
pub fn compile_traced(
    kernel: &Verified,
    options: &CompileOptions,
    trace: Option<Trace<'_>>,
) -> Result<Executable, Error> {
    let target = host_target()?;
    let translation = translate(kernel, &options.request, trace)?;
    let code = cranelift_backend::compile(&translation.program, target)?;
    let signature = signature(kernel);
    let contents = Contents {
        translation,
        signature,
        conditions: tile_ir::wrap_conditions(kernel),
        code_bytes: code.size(),
        code: cranelift_backend::load(&code)?,
    };
    Ok(Executable {
        contents: Arc::new(contents),
    })
}

/// This machine as a target. Asking the system what it is takes as long as lowering a kernel, and it does not change.
fn host_target() -> Result<&'static Target, Error> {
    static HOST: OnceLock<Target> = OnceLock::new();
    if let Some(target) = HOST.get() {
        return Ok(target);
    }
    let target = Target::new(&Machine::host()?)?;
    Ok(HOST.get_or_init(|| target))
}

impl Executable {
    /// The kernel it was compiled from, extents fixed.
    pub fn kernel(&self) -> &Verified {
        &self.contents.translation.realization.kernel
    }

    /// What was decided: plan, representations, trees.
    pub fn realization(&self) -> &Realization {
        &self.contents.translation.realization
    }

    /// The program behind the code.
    pub fn program(&self) -> &xir::Verified {
        &self.contents.translation.program
    }

    /// What it asks of a caller.
    pub fn signature(&self) -> &Signature {
        &self.contents.signature
    }

    /// Bytes of machine code and constants.
    pub fn code_bytes(&self) -> usize {
        self.contents.code_bytes
    }

    /// The code itself, for callers that uphold the contract of `kernel-abi` by hand.
    pub fn code(&self) -> &kernel_abi::Executable {
        &self.contents.code
    }

    /// Checks named arguments; what comes back may be launched again and again. Nothing is written.
    ///
    /// # Errors
    /// [`Error::Bind`] says which argument doesn't fit, and what would.
    pub fn bind<'a>(&self, arguments: Vec<(String, Argument<'a>)>) -> Result<Bound<'a>, Error> {
        self.bind_with_extents(arguments, &[])
    }

    /// As [`Executable::bind`], with extents by name for axes that no view tells.
    ///
    /// # Errors
    /// As [`Executable::bind`].
    pub fn bind_with_extents<'a>(
        &self,
        arguments: Vec<(String, Argument<'a>)>,
        extents: &[(String, u32)],
    ) -> Result<Bound<'a>, Error> {
        let axes = &self.contents.signature.axes;
        let extents = extents
            .iter()
            .map(|(name, extent)| {
                let index = axes.iter().position(|axis| axis.name == *name);
                index
                    .map(|index| (index, *extent))
                    .ok_or_else(|| Error::UnknownAxis { axis: name.clone() })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let signature = &self.contents.signature;
        let bound = runtime::bind(&self.contents.code, signature, arguments, &extents)?;
        // Programs are proved apart for coordinates that don't wrap: the launch's extents have to keep that.
        let extent = |axis: tile_ir::Axis| {
            bound.record()[signature.layout.axis(axis.index()) as usize] as u32
        };
        if self
            .contents
            .conditions
            .iter()
            .all(|condition| condition.holds(extent))
        {
            Ok(bound)
        } else {
            Err(Error::CoordinatesWrap {
                kernel: self.kernel().name.clone(),
            })
        }
    }

    /// Binds and launches once.
    ///
    /// # Errors
    /// As [`Executable::bind`].
    pub fn run(&self, arguments: Vec<(String, Argument<'_>)>) -> Result<(), Error> {
        self.bind(arguments)?.launch();
        Ok(())
    }
}

/// What a kernel asks of its caller.
pub fn signature(kernel: &Kernel) -> Signature {
    let params = kernel
        .params()
        .map(|param| {
            let data = kernel.param(param);
            let kind = match &data.kind {
                ParamKind::View(view) => ParamSignature::View(ViewSignature {
                    element: view.element,
                    axes: view.dims.iter().map(|axis| axis.index()).collect(),
                    strides: view
                        .strides
                        .iter()
                        .map(|stride| match *stride {
                            Stride::Any => None,
                            Stride::Fixed(n) => Some(n),
                        })
                        .collect(),
                    mutable: view.mutable,
                }),
                ParamKind::Scalar(element) => ParamSignature::Scalar(computed(*element)),
            };
            (data.name.clone(), kind)
        })
        .collect();
    let axes = kernel
        .axes()
        .map(|axis| AxisSignature {
            name: kernel.axis(axis).name.clone(),
            extent: kernel.axis(axis).extent,
        })
        .collect();
    let mut may_share = Vec::new();
    for a in kernel.params() {
        for b in kernel.params().filter(|b| *b > a) {
            let mutable = |param| kernel.view(param).is_some_and(|view| view.mutable);
            if (mutable(a) || mutable(b)) && tile_ir::may_share(kernel, a, b) {
                may_share.push((a.index(), b.index()));
            }
        }
    }
    Signature {
        kernel: kernel.name.clone(),
        params,
        axes,
        may_share,
        layout: lowering::record_layout(kernel),
    }
}

/// The type a number of this element type is computed with.
fn computed(element: ElementType) -> ElementType {
    if element.storage_only() {
        ElementType::F32
    } else {
        element
    }
}
