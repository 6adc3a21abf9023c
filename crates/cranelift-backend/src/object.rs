//! Code as a relocatable object file that stands alone.
//!
//! Every entry point is a global symbol, `<prefix><kernel>_entry<number>`, numbered in the order in which a launch runs
//! them, and so is every constant; everything else is local. Nothing is undefined.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::ir::Signature;
use cranelift_module::{DataDescription, FuncId, Linkage, Module as _, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};

use crate::code::Code;
use crate::compile::panic_message;
use crate::error::ObjectError;
use crate::load::{declare, define};
use crate::target::Target;

/// Bytes that an object shows to its user under a global symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The symbol.
    pub symbol: String,
    /// Its bytes, aligned to 8.
    pub bytes: Vec<u8>,
}

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
    emit_object_with(first.target(), codes, prefix, &[])
}

/// As [`emit_object`], with constants beside the code. There may be no kernel at all.
///
/// # Errors
///
/// As [`emit_object`].
pub fn emit_object_with(
    target: &Target,
    codes: &[&Code],
    prefix: &str,
    constants: &[Constant],
) -> Result<Vec<u8>, ObjectError> {
    for code in codes {
        if code.target().identity() != target.identity() {
            return Err(ObjectError::MixedTargets {
                first: target.identity().to_owned(),
                second: code.target().identity().to_owned(),
            });
        }
    }
    check_symbols(codes, prefix, constants)?;
    let written = catch_unwind(AssertUnwindSafe(|| write(target, codes, prefix, constants)));
    match written {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(reason)) => Err(ObjectError::Writer { reason }),
        Err(panic) => Err(ObjectError::Writer {
            reason: panic_message(&*panic),
        }),
    }
}

fn check_symbols(codes: &[&Code], prefix: &str, constants: &[Constant]) -> Result<(), ObjectError> {
    let mut seen = BTreeMap::new();
    for constant in constants {
        check_word(&constant.symbol)?;
        let symbol = constant.symbol.clone();
        if seen.insert(symbol.clone(), ()).is_some() {
            return Err(ObjectError::DuplicateSymbol { symbol });
        }
    }
    for code in codes {
        check_word(&format!("{prefix}{}", code.name()))?;
        check_word(code.name())?;
        for entry in 0..code.entries.len() {
            let symbol = entry_symbol(prefix, code.name(), entry);
            if seen.insert(symbol.clone(), ()).is_some() {
                return Err(ObjectError::DuplicateSymbol { symbol });
            }
        }
    }
    Ok(())
}

/// Whether a name can be an identifier of C.
fn check_word(name: &str) -> Result<(), ObjectError> {
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word || name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        return Err(ObjectError::BadName {
            name: name.to_owned(),
        });
    }
    Ok(())
}

fn write(
    target: &Target,
    codes: &[&Code],
    prefix: &str,
    constants: &[Constant],
) -> Result<Vec<u8>, String> {
    let builder = ObjectBuilder::new(target.owned_isa(), "tilewright", default_libcall_names())
        .map_err(|error| error.to_string())?;
    let mut module = ObjectModule::new(builder);
    for code in codes {
        write_kernel(&mut module, code, prefix)?;
    }
    for constant in constants {
        let id = module
            .declare_data(&constant.symbol, Linkage::Export, false, false)
            .map_err(|error| error.to_string())?;
        let mut data = DataDescription::new();
        data.define(constant.bytes.clone().into_boxed_slice());
        data.set_align(8);
        module
            .define_data(id, &data)
            .map_err(|error| error.to_string())?;
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
