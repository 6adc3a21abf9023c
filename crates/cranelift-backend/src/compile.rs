//! A program to machine code, function by function.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, ExternalName};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use kernel_abi::Workspaces;
use xir::{Function, Program, Verified};

use crate::code::{CallSite, Code, FunctionCode, entries_of};
use crate::emit::{Values, emit_function};
use crate::error::CompileError;
use crate::target::Target;

/// Most bytes of stack that the private arrays of one function may take: an eighth of what Rust gives a thread.
pub const STACK_LIMIT: u64 = 256 << 10;

/// Working memory of the code generator, kept from one compilation to the next of a thread.
struct Scratch {
    context: Context,
    builder: FunctionBuilderContext,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
        }
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Compiles a program. The same program and target give the same bytes.
///
/// # Errors
///
/// [`CompileError`] names kernel and function. A panic of the code generator is caught and becomes
/// [`CompileError::Panicked`].
pub fn compile(program: &Verified, target: &Target) -> Result<Code, CompileError> {
    let functions = with_each_function(program, target, |function, context, stack_bytes| {
        generate(program, target, function, context, stack_bytes)
    })?;
    Ok(Code {
        name: program.name.clone(),
        target: target.clone(),
        functions,
        entries: entries_of(program),
        workspaces: Workspaces {
            worker_bytes: program.worker_bytes,
            shared_bytes_per_packet: program.shared_bytes_per_packet,
        },
    })
}

/// What the code generator is given, as Cranelift prints it.
///
/// # Errors
///
/// As [`compile`], but for what is found when machine code is made.
pub fn clif_text(program: &Verified, target: &Target) -> Result<String, CompileError> {
    let texts = with_each_function(program, target, |function, context, _| {
        let name = &program.function(function).name;
        Ok(format!("; {name}\n{}", context.func.display()))
    })?;
    Ok(texts.join("\n"))
}

/// Emits each function of a program and hands it to `finish`, containing panics.
fn with_each_function<T>(
    program: &Program,
    target: &Target,
    mut finish: impl FnMut(Function, &mut Context, u64) -> Result<T, CompileError>,
) -> Result<Vec<T>, CompileError> {
    let mut scratch = SCRATCH.with_borrow_mut(std::mem::take);
    let mut values = Values::new(program);
    let mut done = Vec::new();
    for function in program.functions() {
        let result = catch_unwind(AssertUnwindSafe(|| {
            scratch.context.clear();
            let stack_bytes = emit_function(
                program,
                target,
                function,
                &mut scratch.context.func,
                &mut scratch.builder,
                &mut values,
            );
            finish(function, &mut scratch.context, stack_bytes)
        }));
        match result {
            Ok(result) => done.push(result?),
            // The scratch may be half changed: it is dropped, not given back.
            Err(panic) => {
                return Err(CompileError::Panicked {
                    kernel: program.name.clone(),
                    function: program.function(function).name.clone(),
                    reason: panic_message(&*panic),
                });
            }
        }
    }
    SCRATCH.with_borrow_mut(|kept| *kept = scratch);
    Ok(done)
}

fn generate(
    program: &Program,
    target: &Target,
    function: Function,
    context: &mut Context,
    stack_bytes: u64,
) -> Result<FunctionCode, CompileError> {
    let name = &program.function(function).name;
    if stack_bytes > STACK_LIMIT {
        return Err(CompileError::FrameTooLarge {
            kernel: program.name.clone(),
            function: name.clone(),
            bytes: stack_bytes,
            limit: STACK_LIMIT,
        });
    }
    if let Err(error) = context.compile(target.isa(), &mut ControlPlane::default()) {
        return Err(CompileError::Codegen {
            kernel: program.name.clone(),
            function: name.clone(),
            reason: error.inner.to_string(),
        });
    }
    let code = context.compiled_code().expect("compilation succeeded");
    let calls = code
        .buffer
        .relocs()
        .iter()
        .map(|reloc| call_site(&context.func, reloc))
        .collect::<Result<Vec<_>, String>>()
        .map_err(|symbol| CompileError::ForeignSymbol {
            kernel: program.name.clone(),
            function: name.clone(),
            symbol,
        })?;
    Ok(FunctionCode {
        name: name.clone(),
        bytes: code.code_buffer().to_vec(),
        alignment: u64::from(code.buffer.alignment),
        calls,
        stack_bytes,
    })
}

/// The function of this program that a relocation refers to, or the name of what it refers to instead.
fn call_site(function: &ir::Function, reloc: &FinalizedMachReloc) -> Result<CallSite, String> {
    match &reloc.target {
        FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => Ok(CallSite {
            offset: reloc.offset,
            kind: reloc.kind,
            addend: reloc.addend,
            callee: function.params.user_named_funcs()[*name].index as usize,
        }),
        FinalizedRelocTarget::ExternalName(name) => Err(format!("`{}`", name.display(None))),
        FinalizedRelocTarget::Func(offset) => Err(format!("of its own offset {offset}")),
    }
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}
