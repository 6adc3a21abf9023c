//! Machine code back to text, so that people and tests can see what was emitted.
//!
//! A function's bytes are instructions followed by constants, and nothing marks the border: constants decoded as
//! instructions look like instructions. But every constant is there because an instruction reads it relative to itself.
//! So the border is the lowest address that some instruction reads that way, and alignment before it is zeros.

use std::collections::BTreeMap;
use std::fmt::Write;

use machine::Architecture;

use crate::code::{Code, FunctionCode};

mod aarch64;
mod x86_64;

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction follows.
    Next,
    /// It may go to this offset of the function instead.
    Branch(u64),
    /// It goes to this offset of the function.
    Jump(u64),
    /// It leaves the function.
    Leave,
}

/// One decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    /// Bytes from the start of the function.
    pub(crate) offset: u64,
    /// Bytes it takes.
    pub(crate) length: u64,
    /// As the maker's manual spells it.
    pub(crate) text: String,
    /// Where it goes.
    pub(crate) flow: Flow,
    /// The offset of the constant it reads.
    pub(crate) constant: Option<u64>,
}

/// The instructions of a function, and where its constants begin.
pub(crate) fn decode(function: &FunctionCode, architecture: Architecture) -> (Vec<Decoded>, u64) {
    let bytes = &function.bytes;
    let decode_one = match architecture {
        Architecture::X86_64 => x86_64::decode_one,
        Architecture::Aarch64 => aarch64::decode_one,
    };
    let mut list: Vec<Decoded> = Vec::new();
    let mut border = bytes.len() as u64;
    let mut offset = 0u64;
    while offset < border {
        let rest = &bytes[offset as usize..border as usize];
        if border < bytes.len() as u64 && rest.len() < 16 && rest.iter().all(|&byte| byte == 0) {
            break;
        }
        let decoded = decode_one(rest, offset);
        if let Some(constant) = decoded.constant {
            border = border.min(constant.max(offset));
        }
        offset += decoded.length.max(1);
        list.push(decoded);
    }
    (list, border)
}

/// The code of every function as text: one instruction a line, labels where branches go, loops marked, constants in
/// hexadecimal.
pub fn disassemble(code: &Code) -> String {
    let mut text = String::new();
    for function in code.functions() {
        let _ = writeln!(text, "{}:", function.name());
        write_function(&mut text, code, function);
        text.push('\n');
    }
    text
}

fn write_function(text: &mut String, code: &Code, function: &FunctionCode) {
    let (instructions, border) = decode(function, code.target().architecture());
    // Offset of each label, and whether a branch from below goes there.
    let mut labels: BTreeMap<u64, bool> = BTreeMap::new();
    for instruction in &instructions {
        if let Flow::Branch(to) | Flow::Jump(to) = instruction.flow {
            *labels.entry(to).or_default() |= to <= instruction.offset;
        }
    }
    let calls: BTreeMap<u64, &str> = function
        .calls
        .iter()
        .map(|call| {
            let callee = code.functions()[call.callee].name();
            (u64::from(call.offset), callee)
        })
        .collect();
    for instruction in &instructions {
        if let Some(&is_loop) = labels.get(&instruction.offset) {
            let mark = if is_loop { "  ; loop" } else { "" };
            let _ = writeln!(text, "L{:x}:{mark}", instruction.offset);
        }
        let end = instruction.offset + instruction.length;
        let callee = calls
            .range(instruction.offset..end)
            .next()
            .map(|(_, callee)| format!("  ; calls {callee}"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "  {:5x}  {}{callee}",
            instruction.offset, instruction.text
        );
    }
    for (index, constant) in function.bytes[border as usize..].chunks(16).enumerate() {
        let words: Vec<String> = constant
            .chunks(4)
            .map(|word| {
                let value = word
                    .iter()
                    .rev()
                    .fold(0u32, |value, &byte| value << 8 | u32::from(byte));
                format!("{value:#010x}")
            })
            .collect();
        let _ = writeln!(
            text,
            "  {:5x}  constant {}",
            border + 16 * index as u64,
            words.join(" ")
        );
    }
}
