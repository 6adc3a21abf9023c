//! Kernels run as generated code in every mapping, each buffer between forbidden pages: one answer, or the test fails.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod library;

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use numerics::ElementType;
use runtime::guarded::{Guarded, Placement, Side};
use tilewright::prelude::*;

/// Both distributions; packets of one, two and four registers.
pub(crate) const PINS: [&str; 4] = [
    "width=4,local=4",
    "width=8,local=8",
    "width=16,local=16",
    "width=8,local=1",
];

/// What fills memory that no kernel may touch: a NaN that nothing computes.
pub(crate) const CANARY: u32 = 0x7fc0_dead;

/// An array in a buffer of its own: where its elements lie, and what is around them.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    bytes: Vec<u8>,
    element: ElementType,
    /// The byte of the first coordinate.
    origin: usize,
    pub(crate) shape: Vec<usize>,
    strides: Vec<i64>,
}

fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1) as i64;
    }
    strides
}

impl Array {
    fn dense(element: ElementType, bytes: Vec<u8>, shape: &[usize]) -> Array {
        assert_eq!(
            bytes.len(),
            shape.iter().product::<usize>() * element.size()
        );
        Array {
            bytes,
            element,
            origin: 0,
            shape: shape.to_vec(),
            strides: row_major(shape),
        }
    }

    /// Numbers in row-major order.
    pub(crate) fn f32(shape: &[usize], values: &[f32]) -> Array {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        Array::dense(ElementType::F32, bytes.collect(), shape)
    }

    /// Integers in row-major order.
    pub(crate) fn i32(shape: &[usize], values: &[i32]) -> Array {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        Array::dense(ElementType::I32, bytes.collect(), shape)
    }

    /// Truth values in row-major order.
    pub(crate) fn bool(shape: &[usize], values: &[bool]) -> Array {
        let bytes = values.iter().map(|&value| u8::from(value)).collect();
        Array::dense(ElementType::Bool, bytes, shape)
    }

    /// Upper halves of f32 numbers, which are bf16 if the lower halves are zero.
    pub(crate) fn bf16(shape: &[usize], values: &[f32]) -> Array {
        let bytes = values
            .iter()
            .flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes());
        Array::dense(ElementType::BF16, bytes.collect(), shape)
    }

    /// Numbers rounded to f16.
    pub(crate) fn f16(shape: &[usize], values: &[f32]) -> Array {
        let bytes = values
            .iter()
            .flat_map(|&value| numerics::half_types::f16_from_f32(value).to_le_bytes());
        Array::dense(ElementType::F16, bytes.collect(), shape)
    }

    /// An output, full of canaries.
    pub(crate) fn out(shape: &[usize]) -> Array {
        let count = shape.iter().product();
        Array::f32(shape, &vec![f32::from_bits(CANARY); count])
    }

    /// The same buffer seen with another shape and strides in elements.
    pub(crate) fn seen(mut self, shape: &[usize], strides: &[i64]) -> Array {
        (self.shape, self.strides) = (shape.to_vec(), strides.to_vec());
        self
    }

    /// The same elements as part of a larger buffer: `around` before, between and after the rows.
    pub(crate) fn embedded(&self, around: u32) -> Array {
        let size = self.element.size();
        let width = self.shape.last().copied().unwrap_or(1);
        let rows: usize = self.shape.iter().rev().skip(1).product();
        let (before, step) = (3, width + 5);
        let mut bytes: Vec<u8> =
            std::iter::repeat_n(around.to_le_bytes(), before + rows * step + 9)
                .flat_map(|word| word.into_iter().take(size))
                .collect();
        let mut strides = row_major(&self.shape);
        for stride in strides.iter_mut().rev().skip(1) {
            *stride = *stride / width.max(1) as i64 * step as i64;
        }
        for row in 0..rows {
            let (from, to) = (row * width * size, (before + row * step) * size);
            bytes[to..to + width * size].copy_from_slice(&self.bytes[from..from + width * size]);
        }
        Array {
            bytes,
            element: self.element,
            origin: before * size,
            shape: self.shape.clone(),
            strides,
        }
    }

    /// Where each element lies, in bytes, in row-major order.
    fn offsets(&self) -> Vec<usize> {
        let mut list = vec![self.origin as i64];
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let step = stride * self.element.size() as i64;
            list = list
                .iter()
                .flat_map(|&at| (0..extent as i64).map(move |i| at + i * step))
                .collect();
        }
        list.into_iter().map(|at| at as usize).collect()
    }

    /// The elements as f32, in row-major order; half types are not read.
    pub(crate) fn values(&self) -> Vec<f32> {
        let word = |at: usize| self.bytes[at..at + 4].try_into().expect("four bytes");
        self.offsets()
            .into_iter()
            .map(|at| match self.element {
                ElementType::F32 => f32::from_le_bytes(word(at)),
                ElementType::I32 => i32::from_le_bytes(word(at)) as f32,
                ElementType::Bool => f32::from(self.bytes[at]),
                ElementType::F64 | ElementType::F16 | ElementType::BF16 => {
                    panic!("tests read no {}", self.element)
                }
            })
            .collect()
    }

    /// The bytes that belong to no element.
    fn outside(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for at in self.offsets() {
            bytes[at..at + self.element.size()].fill(0);
        }
        bytes
    }
}

/// Arguments by name: arrays, each in a buffer of its own, and numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) arrays: Vec<(&'static str, Array)>,
    pub(crate) numbers: Vec<(&'static str, f32)>,
}

impl Arguments {
    pub(crate) fn new() -> Arguments {
        Arguments::default()
    }

    pub(crate) fn array(mut self, name: &'static str, array: Array) -> Arguments {
        self.arrays.push((name, array));
        self
    }

    pub(crate) fn number(mut self, name: &'static str, value: f32) -> Arguments {
        self.numbers.push((name, value));
        self
    }

    /// The array of this name.
    pub(crate) fn get(&self, name: &str) -> &Array {
        let found = self.arrays.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("no array `{name}`")).1
    }

    /// The elements of the array of this name.
    pub(crate) fn values(&self, name: &str) -> Vec<f32> {
        self.get(name).values()
    }

    /// Every array as part of a larger buffer.
    pub(crate) fn embedded(&self, around: u32) -> Arguments {
        let mut copy = self.clone();
        for (_, array) in &mut copy.arrays {
            *array = array.embedded(around);
        }
        copy
    }
}

/// A kernel of the library with extents.
pub(crate) fn library(name: &str, extents: &[(&str, u32)]) -> Verified {
    let kernel = kernels::find(name).unwrap_or_else(|| panic!("no kernel `{name}`"));
    kernel
        .specialized(extents)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel from its text, with extents.
pub(crate) fn text(text: &str, extents: &[(&str, u32)]) -> Verified {
    let kernel = tilewright::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
    tilewright::specialize(&kernel, extents).unwrap_or_else(|error| panic!("{error}"))
}

/// The code of a kernel at a plan. Tests share what they compile.
pub(crate) fn compiled(kernel: &Verified, pins: &str, rules: Rules) -> Executable {
    static KNOWN: OnceLock<Mutex<HashMap<String, Executable>>> = OnceLock::new();
    let key = format!("{pins} {rules:?}\n{}", tile_ir::print(kernel));
    let known = KNOWN.get_or_init(Mutex::default);
    if let Some(found) = known.lock().expect("no test panics inside").get(&key) {
        return found.clone();
    }
    let request = Request {
        pins: pins.parse().expect("pins are right"),
        rules,
    };
    let made = tilewright::compile(kernel, &CompileOptions { request })
        .unwrap_or_else(|error| panic!("{} at {pins}: {error}", kernel.name));
    known
        .lock()
        .expect("no test panics inside")
        .insert(key, made.clone());
    made
}

/// Every fusion that is legal.
pub(crate) fn fused() -> Rules {
    Rules::resolve(&Rule::ALL, &[])
}

/// One launch with every buffer between forbidden pages; the arrays afterwards. Checks that inputs and whatever lies around
/// elements are as they were.
pub(crate) fn launch(
    executable: &Executable,
    arguments: &Arguments,
    side: Side,
) -> Result<Arguments, Error> {
    let mut buffers: Vec<Guarded> = arguments
        .arrays
        .iter()
        .map(|(_, array)| Guarded::copy_of(&array.bytes, side).expect("memory"))
        .collect();
    let mut named: Vec<(String, Argument<'_>)> = Vec::new();
    for ((name, array), buffer) in arguments.arrays.iter().zip(&mut buffers) {
        let place = Placement {
            origin: array.origin,
            element: array.element,
            shape: &array.shape,
            strides: &array.strides,
            mutable: is_written(executable.kernel(), name),
        };
        let view = buffer
            .views(&[place])
            .expect("the place is inside")
            .remove(0);
        named.push((name.to_string(), view.into()));
    }
    for &(name, value) in &arguments.numbers {
        named.push((name.to_string(), value.into()));
    }
    executable.run(named)?;
    let mut after = arguments.clone();
    for ((name, array), buffer) in after.arrays.iter_mut().zip(&buffers) {
        let before = array.clone();
        array.bytes.copy_from_slice(buffer.bytes());
        let kernel = &executable.kernel().name;
        if is_written(executable.kernel(), name) {
            let beside = array.outside() != before.outside();
            assert!(!beside, "{kernel} wrote beside `{name}`");
        } else {
            let written = array.bytes != before.bytes;
            assert!(!written, "{kernel} wrote its input `{name}`");
        }
    }
    Ok(after)
}

fn is_written(kernel: &Verified, name: &str) -> bool {
    kernel
        .params()
        .find(|&param| kernel.param(param).name == name)
        .and_then(|param| kernel.view(param))
        .is_some_and(|view| view.mutable)
}

/// The arrays after a launch at every mapping, fused and not, at both ends of their pages: the same bits everywhere, which
/// holds for every kernel without `unordered` reductions.
pub(crate) fn run(kernel: &Verified, arguments: &Arguments) -> Arguments {
    let mut first: Option<Arguments> = None;
    for pins in PINS {
        for rules in [Rules::default(), fused()] {
            if rules == fused() && pins != PINS[1] {
                continue;
            }
            let executable = compiled(kernel, pins, rules);
            for side in Side::ALL {
                let found = launch(&executable, arguments, side)
                    .unwrap_or_else(|error| panic!("{} at {pins}: {error}", kernel.name));
                match &first {
                    Some(first) => same(&kernel.name, pins, first, &found),
                    None => first = Some(found),
                }
            }
        }
    }
    first.expect("there are pins")
}

/// Holds two results against each other, bit for bit; any NaN equals any NaN.
pub(crate) fn same(kernel: &str, pins: &str, expected: &Arguments, found: &Arguments) {
    for ((name, expected), (_, found)) in expected.arrays.iter().zip(&found.arrays) {
        if expected.element != ElementType::F32 || expected.bytes == found.bytes {
            continue;
        }
        for (index, (a, b)) in expected.values().iter().zip(found.values()).enumerate() {
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
                "{kernel} at {pins}: `{name}`[{index}] is {b:e}, and {a:e} elsewhere"
            );
        }
    }
}

/// Why a launch is refused; nothing was written.
pub(crate) fn refusal(kernel: &Verified, arguments: &Arguments) -> String {
    let executable = compiled(kernel, PINS[1], Rules::default());
    match launch(&executable, arguments, Side::End) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{} accepts what it should refuse", kernel.name),
    }
}

/// The generator of the case bank: `count` numbers of [-1, 1), exact in f32.
pub(crate) fn generated(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (2.0 * ((state >> 40) as f64 / f64::from(1 << 24)) - 1.0) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// Each value within `relative` of what is expected; zeros, infinities and NaN exactly (a zero of either sign).
#[track_caller]
pub(crate) fn near(actual: &[f32], expected: &[f64], relative: f64) {
    assert_eq!(actual.len(), expected.len());
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let actual = f64::from(actual);
        let right = actual.is_nan() && expected.is_nan()
            || actual == expected
            || (actual - expected).abs() <= relative * expected.abs();
        assert!(right, "number {index} is {actual:e}, not {expected:e}");
    }
}

/// Each value within `ulps` units in the last place (T1 of the case bank has 4).
#[track_caller]
pub(crate) fn within_ulps(actual: &[f32], expected: &[f64], ulps: f64) {
    assert_eq!(actual.len(), expected.len());
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let actual = f64::from(actual);
        // The bank's figures have nine digits.
        let given = 5e-9 * expected.abs();
        let unit = reference::compare::ulp(ElementType::F32, expected);
        let right = actual.is_nan() && expected.is_nan()
            || actual == expected
            || (actual - expected).abs() <= ulps * unit + given;
        assert!(right, "number {index} is {actual:e}, not {expected:e}");
    }
}

/// Each value within `absolute` of what is expected.
#[track_caller]
pub(crate) fn close(actual: &[f32], expected: &[f64], absolute: f64) {
    assert_eq!(actual.len(), expected.len());
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let difference = (f64::from(actual) - expected).abs();
        assert!(
            difference <= absolute,
            "number {index} is {actual:e}, not {expected:e}"
        );
    }
}

/// Each value has exactly these bits.
#[track_caller]
pub(crate) fn exactly(actual: &[f32], expected: &[f32]) {
    assert_eq!(actual.len(), expected.len());
    for (index, (a, b)) in actual.iter().zip(expected).enumerate() {
        assert!(
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            "number {index} is {a:e}, not {b:e}"
        );
    }
}
