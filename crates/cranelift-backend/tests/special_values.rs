//! Every elementwise operation on every combination of special values, at every width, uniform and varying: the bits are
//! those of the interpreter, which are those of `numerics`.

#![allow(unsafe_code, reason = "generated code is called directly")]

mod support;

use cranelift_backend::{Target, load};
use reference::xir_interpreter::{Buffers, Launch};
use support::kernels::single;
use support::{code, record, run, targets_of_this_host};
use xir::{
    Access, BinaryOp, Builder, CompareOp, Constant, ConvertOp, Elem, MemElem, Shape, Type, UnaryOp,
    Value, Verified,
};

/// Elements of each array: all pairs of special values, and some more to make it a multiple of every width.
const COUNT: usize = 576;
/// Bytes from one output array to the next.
const APART: usize = 8 * COUNT;

const FLOATS: [f32; 23] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0e9,
    -3.0e9,
    2_147_483_648.0,
    -2_147_483_648.0,
    8_388_609.0,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    3.0e-39,
];

const INTEGERS: [i32; 23] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    -7,
    31,
    32,
    33,
    63,
    64,
    -31,
    255,
    65_536,
    16_777_217,
    -16_777_219,
    0x4000_0000,
    i32::MAX,
    i32::MIN,
    i32::MIN + 1,
    0x7fc0_0001,
];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// Against a constant; which side it stands on changes with its sign.
    Bounded(BinaryOp, f32),
    Compare(CompareOp),
    Convert(ConvertOp),
    SelectLess,
    SelectGreater,
    Select,
    Fma,
}

fn operations(elem: Elem) -> Vec<Operation> {
    use Operation::{
        Binary, Bounded, Compare, Convert, Fma, Select, SelectGreater, SelectLess, Unary,
    };
    let float = matches!(elem, Elem::F32 | Elem::F64);
    let integer = matches!(elem, Elem::I32 | Elem::I64);
    let bits = integer || elem == Elem::Bool;
    let mut list = vec![Compare(CompareOp::Eq), Compare(CompareOp::Ne), Select];
    if float || integer {
        list.extend([UnaryOp::Neg, UnaryOp::Abs].map(Unary));
        list.extend(
            [
                BinaryOp::Add,
                BinaryOp::Sub,
                BinaryOp::Mul,
                BinaryOp::Div,
                BinaryOp::Min,
                BinaryOp::Max,
            ]
            .map(Binary),
        );
        list.extend([CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge].map(Compare));
        list.extend([SelectLess, SelectGreater]);
    }
    if float {
        list.extend(
            [
                UnaryOp::Sqrt,
                UnaryOp::Floor,
                UnaryOp::Ceil,
                UnaryOp::Trunc,
                UnaryOp::Nearest,
            ]
            .map(Unary),
        );
        list.extend([Binary(BinaryOp::CopySign), Fma]);
        for op in [BinaryOp::Min, BinaryOp::Max] {
            let bounds = [
                0.0,
                -0.0,
                1.0,
                -2.5,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::NAN,
            ];
            list.extend(bounds.map(|bound| Bounded(op, bound)));
        }
    }
    if integer {
        list.extend([BinaryOp::Rem, BinaryOp::Shl, BinaryOp::ShrS, BinaryOp::ShrU].map(Binary));
    }
    if bits {
        list.push(Unary(UnaryOp::Not));
        list.extend([BinaryOp::And, BinaryOp::Or, BinaryOp::Xor].map(Binary));
    }
    list.extend(
        ConvertOp::ALL
            .into_iter()
            .filter(|op| op.types().0 == elem)
            .map(Convert),
    );
    list
}

fn access(b: &Builder<'_>, shape: Shape) -> Access {
    match shape {
        Shape::Uniform => Access::Scalar,
        Shape::Varying => Access::Contiguous { live: b.lanes() },
    }
}

/// The elements at `index`. An i64 is two arrays of i32, low halves first; a bool is an i32 that is not 0.
fn input(b: &mut Builder<'_>, ty: Type, word: u32, index: Value) -> Value {
    let base = b.record(word, Elem::I64);
    let access = access(b, ty.shape);
    let wide = ty.elem == Elem::F64;
    let offset = b.mul_i64(index, if wide { 8 } else { 4 });
    let address = b.add(base, offset);
    let load = |b: &mut Builder<'_>, mem, at| b.load(mem, access, address, at, None, false);
    match ty.elem {
        Elem::F32 => load(b, MemElem::F32, 0),
        Elem::F64 => load(b, MemElem::F64, 0),
        Elem::I32 => load(b, MemElem::I32, 0),
        Elem::Bool => {
            let number = load(b, MemElem::I32, 0);
            let zero = b.i32(0);
            b.ne(number, zero)
        }
        Elem::I64 => {
            let low = load(b, MemElem::I32, 0);
            let high = load(b, MemElem::I32, 4 * COUNT as i32);
            let (low, high) = (
                b.convert(ConvertOp::I32ToI64, low),
                b.convert(ConvertOp::I32ToI64, high),
            );
            let amount = b.i64(32);
            let high = b.shl(high, amount);
            let mask = b.i64(0xffff_ffff);
            let low = b.and(low, mask);
            b.or(high, low)
        }
    }
}

fn output(b: &mut Builder<'_>, value: Value, array: usize, index: Value) {
    let base = b.record(3, Elem::I64);
    let ty = b.ty(value);
    let access = access(b, ty.shape);
    let wide = ty.elem == Elem::F64;
    let offset = b.mul_i64(index, if wide { 8 } else { 4 });
    let address = b.add(base, offset);
    let at = (array * APART) as i32;
    match ty.elem {
        Elem::F32 => b.store(MemElem::F32, access, address, at, None, value),
        Elem::F64 => b.store(MemElem::F64, access, address, at, None, value),
        Elem::I32 => b.store(MemElem::I32, access, address, at, None, value),
        Elem::Bool => {
            let number = b.convert(ConvertOp::BoolToI32, value);
            b.store(MemElem::I32, access, address, at, None, number);
        }
        Elem::I64 => {
            let low = b.convert(ConvertOp::I64ToI32, value);
            b.store(MemElem::I32, access, address, at, None, low);
            let amount = b.i64(32);
            let high = b.shr_s(value, amount);
            let high = b.convert(ConvertOp::I64ToI32, high);
            b.store(
                MemElem::I32,
                access,
                address,
                at + 4 * COUNT as i32,
                None,
                high,
            );
        }
    }
}

fn apply(b: &mut Builder<'_>, operation: Operation, [x, y, z]: [Value; 3]) -> Value {
    match operation {
        Operation::Unary(op) => b.unary(op, x),
        Operation::Binary(op) => b.binary(op, x, y),
        Operation::Bounded(op, bound) => {
            let ty = b.ty(x);
            let constant = match ty.elem {
                Elem::F64 => Constant::f64(f64::from(bound)),
                _ => Constant::f32(bound),
            };
            let constant = b.constant(constant, ty.shape);
            if bound.is_sign_negative() {
                b.binary(op, x, constant)
            } else {
                b.binary(op, constant, x)
            }
        }
        Operation::Compare(op) => b.compare(op, x, y),
        Operation::Convert(op) => b.convert(op, x),
        Operation::Fma => b.fma(x, y, z),
        Operation::Select => {
            let condition = b.eq(y, z);
            b.select(condition, x, y)
        }
        Operation::SelectLess => {
            let condition = b.lt(x, y);
            b.select(condition, x, y)
        }
        Operation::SelectGreater => {
            let condition = b.gt(x, y);
            b.select(condition, x, y)
        }
    }
}

fn kernel(ty: Type, lanes: u32, operations: &[Operation]) -> Verified {
    single("special", lanes, |b| {
        let step = match ty.shape {
            Shape::Uniform => 1,
            Shape::Varying => i64::from(lanes),
        };
        let (zero, count) = (b.i64(0), b.i64(COUNT as i64));
        b.loop_(zero, count, step, Vec::new(), |b, i, _| {
            let operands = [0, 1, 2].map(|word| input(b, ty, word, i));
            for (array, &operation) in operations.iter().enumerate() {
                let value = apply(b, operation, operands);
                output(b, value, array, i);
            }
            Vec::new()
        });
    })
}

/// Arrays `a`, `b` and `c`: all pairs of special values in the first two, every one in the third.
fn inputs(elem: Elem) -> [Vec<u8>; 3] {
    let pick = |index: usize, which: usize| match which {
        0 => index % 24,
        1 => index / 24,
        _ => (index * 7 + index / 24) % 23,
    };
    [0, 1, 2].map(|which| {
        let numbers = (0..COUNT).map(|index| pick(index, which));
        match elem {
            Elem::F32 => numbers
                .flat_map(|n| FLOATS.get(n).unwrap_or(&0.7).to_le_bytes())
                .collect(),
            Elem::F64 => numbers
                .flat_map(|n| {
                    let special = [
                        f64::MIN_POSITIVE,
                        5e-324,
                        f64::MAX,
                        4_503_599_627_370_497.5,
                        1e-40,
                        2_147_483_647.6,
                    ];
                    let value = FLOATS.get(n).map_or(0.7, |&value| f64::from(value));
                    let value = if n >= 17 && n != 18 {
                        special[(n - 17) % 6]
                    } else {
                        value
                    };
                    value.to_le_bytes()
                })
                .collect(),
            Elem::I32 => numbers
                .flat_map(|n| INTEGERS.get(n).unwrap_or(&5).to_le_bytes())
                .collect(),
            Elem::Bool => numbers.flat_map(|n| (n as i32 % 2).to_le_bytes()).collect(),
            Elem::I64 => {
                let low = numbers
                    .clone()
                    .flat_map(|n| INTEGERS.get(n).unwrap_or(&5).to_le_bytes());
                let high = numbers.flat_map(|n| match n % 4 {
                    0 | 1 => INTEGERS.get(n).map_or(0, |n| n >> 31).to_le_bytes(),
                    2 => i32::MIN.to_le_bytes(),
                    _ => INTEGERS[(n + 5) % 23].to_le_bytes(),
                });
                low.chain(high).collect()
            }
        }
    })
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    match elem {
        Elem::F32 => f32::from_le_bytes(bytes.try_into().expect("four bytes")).is_nan(),
        Elem::F64 => f64::from_le_bytes(bytes.try_into().expect("eight bytes")).is_nan(),
        Elem::I32 | Elem::I64 | Elem::Bool => false,
    }
}

fn check(elem: Elem, shape: Shape, lanes: u32, target: &Target) {
    let ty = Type { elem, shape };
    let operations = operations(elem);
    let program = kernel(ty, lanes, &operations);
    let inputs = inputs(elem);
    let size = APART * operations.len();

    let mut memory = Buffers::new();
    let mut words: Vec<u64> = inputs
        .iter()
        .map(|bytes| memory.lend_read_only(bytes.clone()))
        .collect();
    words.push(memory.lend(vec![0; size]));
    let simulated = record(None, &words);
    Launch::new(&program, &simulated, &mut memory)
        .run_all()
        .unwrap_or_else(|fault| panic!("{fault}"));
    let expected = memory.bytes(3);

    let mut out = vec![0u8; size];
    let mut words: Vec<u64> = inputs.iter().map(|bytes| bytes.as_ptr() as u64).collect();
    words.push(out.as_mut_ptr() as u64);
    let executable = load(&code(&program, target)).expect("executable memory");
    // SAFETY: the record lends the three inputs and the output, which are as large as the program expects.
    unsafe { run(&executable, &record(None, &words)) };

    for (array, operation) in operations.iter().enumerate() {
        let result = match operation {
            Operation::Compare(_) => Elem::Bool,
            Operation::Convert(op) => op.types().1,
            _ => elem,
        };
        let bytes = if result == Elem::F64 { 8 } else { 4 };
        let count = if result == Elem::I64 {
            2 * COUNT
        } else {
            COUNT
        };
        for index in 0..count {
            let at = array * APART + index * bytes;
            let (want, got) = (&expected[at..at + bytes], &out[at..at + bytes]);
            let same = want == got || (is_nan(result, want) && is_nan(result, got));
            assert!(
                same,
                "{operation:?} of {elem} {shape:?} at W{lanes}, element {index}: {want:02x?} expected, {got:02x?} found"
            );
        }
    }
}

#[test]
fn same_bits_on_special_values() {
    for target in targets_of_this_host() {
        for elem in [Elem::F32, Elem::F64, Elem::I32, Elem::I64, Elem::Bool] {
            check(elem, Shape::Uniform, 4, &target);
            for lanes in [2, 4, 8, 16] {
                check(elem, Shape::Varying, lanes, &target);
            }
        }
    }
}
