//! One x86-64 instruction, by iced-x86.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter};

use super::{Decoded, Flow};

pub(super) fn decode_one(bytes: &[u8], offset: u64) -> Decoded {
    let mut decoder = Decoder::with_ip(64, bytes, offset, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_rip_relative_addresses(false);
    options.set_branch_leading_zeros(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_space_after_operand_separator(true);
    formatter.format(&instruction, &mut text);
    Decoded {
        offset,
        length: instruction.len() as u64,
        text,
        flow: flow(&instruction),
        constant: instruction
            .is_ip_rel_memory_operand()
            .then(|| instruction.ip_rel_memory_address()),
    }
}

fn flow(instruction: &Instruction) -> Flow {
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => Flow::Branch(instruction.near_branch_target()),
        FlowControl::UnconditionalBranch => Flow::Jump(instruction.near_branch_target()),
        FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Exception => Flow::Leave,
        FlowControl::Next
        | FlowControl::Call
        | FlowControl::IndirectCall
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend => Flow::Next,
    }
}
