//! Law **same bits** of `VectorArithmetic`: an elementary function emitted as XIR computes what it computes on one number.

use numerics::{MathFunction, Plain};
use reference::xir_interpreter::{Buffers, Launch};
use xir::{Builder, Elem, Inlining, Lanes, Program, Shape, Type, VectorArithmetic, verify};

/// A function of one argument that applies `function`.
fn program_of(function: MathFunction, lanes: Lanes, shape: Shape) -> Program {
    let mut program = Program::new(function.name(), lanes);
    let ty = Type {
        elem: Elem::F32,
        shape,
    };
    Builder::define(
        &mut program,
        "apply",
        Inlining::Outline,
        &[ty],
        |b, args| vec![function.apply(&mut VectorArithmetic::new(b, shape), args[0])],
    );
    program
}

/// Floats of any bits, floats of moderate size, and the special ones.
fn arguments(count: u32) -> Vec<f32> {
    let spread = |index: u32| {
        index
            .wrapping_mul(0x9e37_79b9)
            .rotate_left(13)
            .wrapping_mul(0x85eb_ca6b)
    };
    let mut list: Vec<f32> = (0..count)
        .map(|index| f32::from_bits(spread(index)))
        .collect();
    list.extend((0..count).map(|index| spread(index).cast_signed() as f32 * 2e-8));
    list.extend((0..count).map(|index| spread(index).cast_signed() as f32 * 3e-3));
    list.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-45,
        -1e-40,
    ]);
    list.extend([f32::MAX, f32::MIN, 88.7, -103.9, 0.5, 16_777_216.0, 1e-8]);
    list
}

#[test]
fn emitted_functions_give_the_bits_of_plain_ones() {
    let lanes = Lanes::new(4).expect("four lanes");
    for function in MathFunction::ALL {
        for shape in [Shape::Uniform, Shape::Varying] {
            let program = program_of(function, lanes, shape);
            let name = program.functions().next().expect("apply");
            let verified =
                verify(program).unwrap_or_else(|rejected| panic!("{function}: {rejected}"));
            let mut memory = Buffers::new();
            let mut launch = Launch::new(&verified, &[], &mut memory);
            for chunk in arguments(400).chunks(4) {
                let mut packet = [0; 16];
                for (lane, x) in packet.iter_mut().zip(chunk) {
                    *lane = u64::from(x.to_bits());
                }
                let results = launch
                    .call(name, &[packet])
                    .unwrap_or_else(|f| panic!("{function}: {f}"));
                let checked = if shape == Shape::Uniform {
                    1
                } else {
                    chunk.len()
                };
                for (lane, &x) in chunk.iter().take(checked).enumerate() {
                    let expected = function.apply(&mut Plain, x);
                    let made = f32::from_bits(results[0][lane] as u32);
                    assert!(
                        made.to_bits() == expected.to_bits() || made.is_nan() && expected.is_nan(),
                        "{function}({x:e}) is {expected:e}, emitted {made:e}"
                    );
                }
            }
        }
    }
}
