//! The elementary functions in arithmetics other than the plain one: one that uses every default, and one that counts.

use numerics::functions::MathFunction;
use numerics::{Arithmetic, Plain};

/// Passes the required methods on to [`Plain`] after a word with the observer.
macro_rules! forward {
    ($observe:ident: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&mut self, $($argument: $type),*) -> $result {
            self.$observe();
            Plain.$name($($argument),*)
        })*
    };
}

/// Implements the required methods of [`Arithmetic`] over plain numbers; constants are free.
macro_rules! required_methods {
    () => {
        type F = f32;
        type I = i32;
        type M = bool;
        forward! { one_constant:
            constant(value: f32) -> f32;
            constant_i32(value: i32) -> i32;
        }
        forward! { one_reinterpretation:
            bits(a: f32) -> i32;
            float_from_bits(a: i32) -> f32;
        }
        forward! { one_operation:
            add(a: f32, b: f32) -> f32;
            sub(a: f32, b: f32) -> f32;
            mul(a: f32, b: f32) -> f32;
            div(a: f32, b: f32) -> f32;
            fma(a: f32, b: f32, c: f32) -> f32;
            neg(a: f32) -> f32;
            abs(a: f32) -> f32;
            sqrt(a: f32) -> f32;
            i32_to_f32(a: i32) -> f32;
            add_i32(a: i32, b: i32) -> i32;
            sub_i32(a: i32, b: i32) -> i32;
            and_i32(a: i32, b: i32) -> i32;
            or_i32(a: i32, b: i32) -> i32;
            xor_i32(a: i32, b: i32) -> i32;
            shl_i32(a: i32, bits: u32) -> i32;
            shr_logical_i32(a: i32, bits: u32) -> i32;
            shr_arithmetic_i32(a: i32, bits: u32) -> i32;
            lt(a: f32, b: f32) -> bool;
            le(a: f32, b: f32) -> bool;
            eq(a: f32, b: f32) -> bool;
            ne(a: f32, b: f32) -> bool;
            eq_i32(a: i32, b: i32) -> bool;
            lt_i32(a: i32, b: i32) -> bool;
            mask_and(a: bool, b: bool) -> bool;
            mask_or(a: bool, b: bool) -> bool;
            mask_not(a: bool) -> bool;
            select(mask: bool, a: f32, b: f32) -> f32;
            select_i32(mask: bool, a: i32, b: i32) -> i32;
        }
    };
}

/// Plain numbers with every default method, so that rare paths are always computed and selected.
#[derive(Default)]
struct Defaults;

impl Defaults {
    fn one_constant(&mut self) {}
    fn one_reinterpretation(&mut self) {}
    fn one_operation(&mut self) {}
}

impl Arithmetic for Defaults {
    required_methods!();
}

/// Counts the operations of the path nearly always taken; a clamp counts as one, a rare path as its test.
#[derive(Default)]
struct Counting {
    operations: usize,
}

impl Counting {
    fn one_constant(&mut self) {}
    fn one_reinterpretation(&mut self) {}
    fn one_operation(&mut self) {
        self.operations += 1;
    }
}

impl Arithmetic for Counting {
    required_methods!();

    fn at_most(&mut self, a: f32, bound: f32) -> f32 {
        self.operations += 1;
        Plain.at_most(a, bound)
    }

    fn at_least(&mut self, a: f32, bound: f32) -> f32 {
        self.operations += 1;
        Plain.at_least(a, bound)
    }

    fn rarely(
        &mut self,
        _: bool,
        common: (f32, i32),
        _: impl FnOnce(&mut Counting) -> (f32, i32),
    ) -> (f32, i32) {
        common
    }
}

#[test]
fn computing_rare_paths_always_changes_no_bit() {
    for function in MathFunction::ALL {
        for bits in (0..=u32::MAX).step_by(50_021) {
            let x = f32::from_bits(bits);
            let (skipped, computed) = (function.evaluate(x), function.apply(&mut Defaults, x));
            let same =
                skipped.to_bits() == computed.to_bits() || (skipped.is_nan() && computed.is_nan());
            assert!(same, "{function}({x:?}): {skipped:?}, {computed:?}");
        }
    }
}

/// The number of operations is part of what a function costs; `docs/numerics.md` lists these.
#[test]
fn operation_counts() {
    for function in MathFunction::ALL {
        let mut counting = Counting::default();
        function.apply(&mut counting, 1.5);
        let expected = match function {
            MathFunction::Exp => 18,
            MathFunction::Exp2 => 17,
            MathFunction::Log => 27,
            MathFunction::Log1p => 29,
            MathFunction::Expm1 => 19,
            MathFunction::Sigmoid => 16,
            MathFunction::Tanh => 18,
            MathFunction::Erf => 28,
            MathFunction::Erfc => 41,
            MathFunction::NormalCdf => 41,
            MathFunction::Sin => 22,
            MathFunction::Cos => 23,
        };
        assert_eq!(counting.operations, expected, "{function}");
    }
}
