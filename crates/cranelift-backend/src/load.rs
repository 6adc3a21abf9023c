//! Code into executable memory of this process.
//!
//! Cranelift's JIT module lays functions out and patches calls between them; the memory is this crate's own, because the
//! module's never gives it back, and leaves synchronising the instruction cache to the kernel's goodwill. One kernel is
//! one mapping: written, made executable, never both at once, and unmapped with the last handle. Kernels call nothing
//! outside their mapping, so it doesn't matter how far from anything it lies.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cranelift_codegen::ir::Signature;
use cranelift_jit::{BranchProtection, JITBuilder, JITMemoryKind, JITMemoryProvider, JITModule};
use cranelift_module::{
    FuncId, Linkage, Module, ModuleError, ModuleReloc, ModuleRelocTarget, ModuleResult,
    default_libcall_names,
};
use kernel_abi::{EntryPoint, Executable};
use machine::{Architecture, System};

use crate::code::{Code, FunctionCode};
use crate::compile::panic_message;
use crate::error::LoadError;
use crate::mapping::Mapping;

/// Loads code into this process.
///
/// # Errors
///
/// [`LoadError`] says whether the code is for another machine, or the system gives no executable memory.
pub fn load(code: &Code) -> Result<Executable, LoadError> {
    check_host(code)?;
    let bytes = needed_bytes(&code.functions);
    let mapping = Mapping::new(bytes).map_err(|source| LoadError::NoMemory { bytes, source })?;
    let shared = Arc::new(Mutex::new(Pages {
        mapping: Some(mapping),
        used: 0,
        failure: None,
    }));
    let linked = catch_unwind(AssertUnwindSafe(|| link(code, shared.clone())));
    let mut pages = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let addresses = match linked {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => {
            return Err(match pages.failure.take() {
                Some(source) => LoadError::NotExecutable { source },
                None => LoadError::Link { reason: error },
            });
        }
        Err(panic) => {
            return Err(LoadError::Link {
                reason: panic_message(&*panic),
            });
        }
    };
    let mapping = pages.mapping.take().ok_or_else(|| LoadError::Link {
        reason: "the module gave its memory up".to_owned(),
    })?;
    let entries = code
        .entries
        .iter()
        .map(|(function, domain)| {
            // SAFETY: the address is where this function's code was put, inside `mapping`, which is executable now. The
            // function has the signature of an entry point: `emit` gives every function of `begin` and `end` that one.
            let entry =
                unsafe { std::mem::transmute::<*const u8, EntryPoint>(addresses[*function]) };
            (entry, domain.clone())
        })
        .collect();
    // SAFETY: the code obeys the entry point's contract by construction, has no state of its own, and stays mapped as long
    // as `mapping` lives.
    Ok(unsafe { Executable::new(entries, code.workspaces, Box::new(mapping)) })
}

fn check_host(code: &Code) -> Result<(), LoadError> {
    let target = &code.target;
    let host = if cfg!(target_arch = "x86_64") {
        Some(Architecture::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Architecture::Aarch64)
    } else {
        None
    };
    if host != Some(target.architecture()) {
        return Err(LoadError::OtherArchitecture {
            code: target.architecture(),
            host: std::env::consts::ARCH,
        });
    }
    let system = if cfg!(target_os = "macos") {
        System::Darwin
    } else {
        System::Linux
    };
    if system != target.system() {
        return Err(LoadError::OtherSystem {
            code: target.system(),
        });
    }
    let has = machine::Machine::host()
        .map(|host| host.features)
        .unwrap_or(machine::Features::NONE);
    let missing = target.features().without(has);
    if missing.is_empty() {
        Ok(())
    } else {
        Err(LoadError::MissingFeatures { missing })
    }
}

/// Bytes for all functions, each at its alignment.
fn needed_bytes(functions: &[FunctionCode]) -> usize {
    functions.iter().fold(0usize, |at, function| {
        at.next_multiple_of(function.alignment as usize) + function.bytes.len()
    })
}

/// Lays the functions out; gives the address of each.
fn link(code: &Code, pages: Arc<Mutex<Pages>>) -> Result<Vec<*const u8>, String> {
    let mut builder = JITBuilder::with_isa(code.target.owned_isa(), default_libcall_names());
    builder.memory_provider(Box::new(Provider(pages)));
    let mut module = JITModule::new(builder);
    let signature = Signature::new(code.target.isa().default_call_conv());
    let ids = (0..code.functions.len())
        .map(|index| {
            declare(
                &mut module,
                &format!("fn{index}"),
                Linkage::Local,
                &signature,
            )
        })
        .collect::<Result<Vec<FuncId>, String>>()?;
    for (function, &id) in code.functions.iter().zip(&ids) {
        define(&mut module, function, id, &ids)?;
    }
    module
        .finalize_definitions()
        .map_err(|error| error.to_string())?;
    Ok(ids
        .iter()
        .map(|&id| module.get_finalized_function(id))
        .collect())
}

/// Declares a function to a module; its error in words.
pub(crate) fn declare(
    module: &mut dyn Module,
    name: &str,
    linkage: Linkage,
    signature: &Signature,
) -> Result<FuncId, String> {
    module
        .declare_function(name, linkage, signature)
        .map_err(|error| error.to_string())
}

/// Puts a compiled function into a module that has declared all of `ids`.
pub(crate) fn define(
    module: &mut dyn Module,
    function: &FunctionCode,
    id: FuncId,
    ids: &[FuncId],
) -> Result<(), String> {
    let relocs: Vec<ModuleReloc> = function
        .calls
        .iter()
        .map(|call| ModuleReloc {
            offset: call.offset,
            kind: call.kind,
            name: ModuleRelocTarget::from(ids[call.callee]),
            addend: call.addend,
        })
        .collect();
    module
        .define_function_bytes(id, function.alignment, &function.bytes, &relocs)
        .map_err(|error| error.to_string())
}

/// One mapping, handed out piece by piece.
struct Pages {
    mapping: Option<Mapping>,
    used: usize,
    failure: Option<io::Error>,
}

/// The module's view of the pages; they outlive it.
struct Provider(Arc<Mutex<Pages>>);

impl JITMemoryProvider for Provider {
    fn allocate(&mut self, size: usize, align: u64, _: JITMemoryKind) -> io::Result<*mut u8> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pages.used.next_multiple_of(align as usize);
        let mapping = pages.mapping.as_mut().ok_or(io::ErrorKind::OutOfMemory)?;
        if at + size > mapping.len() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let start = mapping.writable().map(|start| start.wrapping_add(at))?;
        pages.used = at + size;
        Ok(start)
    }

    unsafe fn free_memory(&mut self) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.mapping = None;
    }

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mapping) = pages.mapping.as_mut() else {
            return Ok(());
        };
        mapping.make_executable().map_err(|source| {
            pages.failure = Some(io::Error::new(source.kind(), source.to_string()));
            ModuleError::Allocation { err: source }
        })
    }
}
