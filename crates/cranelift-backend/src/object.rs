//! Code as a relocatable object file that stands alone.
//!
//! Every entry point is a global symbol, `<prefix><kernel>_entry<number>`, numbered in the order in which a launch runs
//! them; everything else is local. Nothing is undefined.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::ir::Signature;
use cranelift_module::{FuncId, Linkage, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};

use crate::code::Code;
use crate::compile::panic_message;
use crate::error::ObjectError;
use crate::load::{declare, define};

/// The symbol of an entry point in an object.
pub fn entry_symbol(prefix: &str, kernel: &str, entry: usize) -> String {
    format!("{prefix}{kernel}_entry{entry}")
}

/// Writes the code of several kernels into one object: ELF for Linux, Mach-O for Darwin.
///
/// The same code gives the same bytes. There has to be at least one kernel.
///
/// # Errors
///
/// [`ObjectError`] when names clash or can't be symbols, or the targets differ.
pub fn emit_object(codes: &[&Code], prefix: &str) -> Result<Vec<u8>, ObjectError> {
    let Some(first) = codes.first() else {
        return Err(ObjectError::Writer {
            reason: "there is no kernel to write".to_owned(),
        });
    };
    let target = first.target();
    for code in codes {
        if code.target().identity() != target.identity() {
            return Err(ObjectError::MixedTargets {
                first: target.identity().to_owned(),
                second: code.target().identity().to_owned(),
            });
        }
    }
    check_symbols(codes, prefix)?;
    let written = catch_unwind(AssertUnwindSafe(|| write(codes, prefix)));
    match written {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(reason)) => Err(ObjectError::Writer { reason }),
        Err(panic) => Err(ObjectError::Writer {
            reason: panic_message(&*panic),
        }),
    }
}

fn check_symbols(codes: &[&Code], prefix: &str) -> Result<(), ObjectError> {
    let mut seen = BTreeMap::new();
    for code in codes {
        for name in [format!("{prefix}{}", code.name()), code.name().to_owned()] {
            let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_word || name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
                return Err(ObjectError::BadName { name });
            }
        }
        for entry in 0..code.entries.len() {
            let symbol = entry_symbol(prefix, code.name(), entry);
            if seen.insert(symbol.clone(), ()).is_some() {
                return Err(ObjectError::DuplicateSymbol { symbol });
            }
        }
    }
    Ok(())
}

fn write(codes: &[&Code], prefix: &str) -> Result<Vec<u8>, String> {
    let target = codes[0].target();
    let builder = ObjectBuilder::new(target.owned_isa(), "tilewright", default_libcall_names())
        .map_err(|error| error.to_string())?;
    let mut module = ObjectModule::new(builder);
    for code in codes {
        write_kernel(&mut module, code, prefix)?;
    }
    module.finish().emit().map_err(|error| error.to_string())
}

fn write_kernel(module: &mut ObjectModule, code: &Code, prefix: &str) -> Result<(), String> {
    let signature = Signature::new(code.target().isa().default_call_conv());
    let mut ids: Vec<FuncId> = Vec::with_capacity(code.functions.len());
    for index in 0..code.functions.len() {
        let entry = code
            .entries
            .iter()
            .position(|&(function, _)| function == index);
        let id = match entry {
            Some(entry) => declare(
                module,
                &entry_symbol(prefix, code.name(), entry),
                Linkage::Export,
                &signature,
            )?,
            None => declare(
                module,
                &format!("{prefix}{}_function{index}", code.name()),
                Linkage::Local,
                &signature,
            )?,
        };
        ids.push(id);
    }
    for (function, &id) in code.functions.iter().zip(&ids) {
        define(module, function, id, &ids)?;
    }
    // A function that is an entry twice has two symbols, and so two copies.
    for (entry, &(function, _)) in code.entries.iter().enumerate() {
        if code.entries[..entry]
            .iter()
            .any(|&(other, _)| other == function)
        {
            let symbol = entry_symbol(prefix, code.name(), entry);
            let id = declare(module, &symbol, Linkage::Export, &signature)?;
            define(module, &code.functions[function], id, &ids)?;
        }
    }
    Ok(())
}
