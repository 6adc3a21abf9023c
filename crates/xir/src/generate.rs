//! Random programs, valid by construction and free of faults, for property tests and fuzzing.
//!
//! A property of a pass ("the result keeps its bits") says something only if programs reach every operation, with
//! operands that matter. So programs are drawn with everything in them: all operations and shapes, loops that run zero,
//! one and several times, ifs, calls, private arrays, masks, special constants, values used twice and not at all. What
//! they touch is in bounds, what they read was written, and no bit of a NaN reaches anything but a NaN, so that two
//! faultless executions agree.
//!
//! Programs read and write what [`Inputs`] lends: record word 0 is the address of read-only f32, words 1 to 3 of f32, i32
//! and f64 for reading and writing, of [`BUFFER_BYTES`] each; word 4 is a number from 0 to 6, word 5 an f32, word 6 an
//! i32.

mod draw;
mod elementwise;
mod random;

use draw::Draw;
pub use random::{Inputs, Random};

use crate::builder::Builder;
use crate::keys::Value;
use crate::ops::{Elem, OpKind, Shape, Type};
use crate::program::{Entry, Extent, Inlining, Lanes, Program};

/// Bytes of each of the four buffers.
pub const BUFFER_BYTES: usize = 4096;

/// Largest index a program makes; index times 8 bytes times 16 lanes stays inside a buffer.
const MOST: u32 = 12;

/// A random valid program of about `size` statements.
pub fn program(random: &mut Random, size: u32) -> Program {
    let lanes = random.pick(&Lanes::ALL);
    let mut program = Program::new("random", lanes);
    program.worker_bytes = 12288;
    program.shared_bytes_per_packet = 1024;
    let mut helpers = Vec::new();
    for index in 0..random.below(3) {
        let inlining = random.pick(&[Inlining::Inline, Inlining::Outline]);
        let params: Vec<Type> = (0..random.below(3)).map(|_| random_type(random)).collect();
        let budget = size / 4;
        let name = format!("helper{index}");
        let function = program.add_function(name, inlining);
        let body = program.function(function).body;
        let args: Vec<Value> = params.iter().map(|&ty| program.add_arg(body, ty)).collect();
        let mut draw = Draw::new(
            random,
            Builder::new(&mut program, function),
            &helpers,
            index,
        );
        draw.pool.extend(args);
        draw.fill_arrays();
        draw.statements(budget, 0);
        let yields: Vec<Value> = (0..draw.random.below(3))
            .map(|_| draw.any_value())
            .collect();
        draw.builder.finish(yields);
        helpers.push(function);
    }
    for entry in 0..1 + random.below(2) {
        let function = program.add_function(format!("entry{entry}"), Inlining::Outline);
        let body = program.function(function).body;
        let packets = [program.add_arg(body, I64), program.add_arg(body, I64)];
        let mut draw = Draw::new(
            random,
            Builder::new(&mut program, function),
            &helpers,
            10 + entry,
        );
        draw.fill_arrays();
        let kept = draw.enter();
        let body = draw.builder.region();
        let packet = draw.builder.program_mut().add_arg(body, I64);
        draw.indices.push((packet, 3));
        draw.pool.push(packet);
        draw.statements(size, 1);
        for _ in 0..3 {
            let value = draw.any_value();
            draw.observe(value);
        }
        let body = draw.leave(kept, Vec::new());
        let [lower, upper] = packets;
        draw.builder.push(
            OpKind::Loop {
                lower,
                upper,
                step: 1,
                inits: Vec::new(),
                body,
            },
            &[],
        );
        draw.builder.finish(Vec::new());
        let programs_per_packet = lanes.get();
        let extents = vec![Extent::Fixed(1 + 2 * programs_per_packet)];
        program.entries.push(Entry {
            function,
            extents,
            programs_per_packet,
        });
    }
    program
}

const I64: Type = Type::uniform(Elem::I64);

fn random_type(random: &mut Random) -> Type {
    let elem = random.pick(&[
        Elem::F32,
        Elem::F32,
        Elem::F64,
        Elem::I32,
        Elem::I64,
        Elem::Bool,
    ]);
    let shape = random.pick(&[Shape::Uniform, Shape::Varying, Shape::Varying]);
    Type { elem, shape }
}
