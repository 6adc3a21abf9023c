//! One aarch64 instruction, by yaxpeax-arm.

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

use super::{Decoded, Flow};

pub(super) fn decode_one(bytes: &[u8], offset: u64) -> Decoded {
    let Some(&[a, b, c, d]) = bytes.first_chunk::<4>() else {
        return Decoded {
            offset,
            length: bytes.len() as u64,
            text: format!("data {bytes:02x?}"),
            flow: Flow::Next,
            constant: None,
        };
    };
    let word = u32::from_le_bytes([a, b, c, d]);
    let text = match InstDecoder::default().decode(&mut U8Reader::new(bytes)) {
        Ok(instruction) => instruction.to_string(),
        Err(_) => format!("data {word:#010x}"),
    };
    let flow = flow(word, offset);
    let text = match flow {
        Flow::Branch(to) | Flow::Jump(to) => with_target(&text, to),
        Flow::Next | Flow::Leave => text,
    };
    Decoded {
        offset,
        length: 4,
        text,
        flow,
        constant: literal(word).map(|distance| offset.wrapping_add_signed(distance)),
    }
}

/// Branch targets as offsets of the function, as labels are.
fn with_target(text: &str, to: u64) -> String {
    match text.split_once('$') {
        Some((before, _)) => format!("{before}{to:#x}"),
        None => text.to_owned(),
    }
}

/// A field of `bits` bits at `at`, signed, in words of four bytes.
fn distance(word: u32, at: u32, bits: u32) -> i64 {
    i64::from((word << (32 - at - bits)).cast_signed() >> (32 - bits)) * 4
}

/// Encodings of the branches (Arm Architecture Reference Manual, C4.1: "branches, exception generating and system
/// instructions").
fn flow(word: u32, offset: u64) -> Flow {
    let to = |at, bits| offset.wrapping_add_signed(distance(word, at, bits));
    if word & 0xfc00_0000 == 0x1400_0000 {
        Flow::Jump(to(0, 26)) // b
    } else if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        Flow::Branch(to(5, 19)) // b.cond, cbz, cbnz
    } else if word & 0x7e00_0000 == 0x3600_0000 {
        Flow::Branch(to(5, 14)) // tbz, tbnz
    } else if word & 0xffff_fc1f == 0xd65f_0000 || word & 0xffff_fc1f == 0xd61f_0000 {
        Flow::Leave // ret, br
    } else {
        Flow::Next
    }
}

/// How far from a literal load its constant is: `ldr` of a general or vector register.
fn literal(word: u32) -> Option<i64> {
    (word & 0x3b00_0000 == 0x1800_0000).then(|| distance(word, 5, 19))
}
