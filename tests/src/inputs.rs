//! Input values of cases: lists, and generators that give the same numbers everywhere.

use numerics::{ElementType, Scalar, casts};

/// Where the values of a view come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// These, one an element.
    List(Vec<Scalar>),
    /// The same for every element.
    Fill(Scalar),
    /// `start + step * i`, computed in f64.
    Ramp {
        /// The first.
        start: f64,
        /// The difference.
        step: f64,
    },
    /// Pseudo-random numbers of `g(seed)` times `scale` plus `offset`, computed in f64; a bool is true where positive.
    Random {
        /// The seed.
        seed: u64,
        /// The factor.
        scale: f64,
        /// What is added.
        offset: f64,
    },
    /// Numbers where arithmetic has corners, in turn, from number `from` of the list on.
    Special {
        /// The first.
        from: usize,
    },
}

/// The generator `g(seed)`: a 64-bit linear congruence whose upper 24 bits give numbers in -1 .. 1, exact in f32.
#[derive(Clone, Debug)]
pub struct Generator(u64);

impl Generator {
    /// The generator with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Generator {
        Generator(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        2.0 * ((self.0 >> 40) as f64 / f64::from(1 << 24)) - 1.0
    }
}

/// Floats where arithmetic has corners: zeros, infinities, NaN, the ends of the normal and subnormal ranges, edges of
/// integers, and a few plain numbers so that not every result is special.
pub const SPECIAL_FLOATS: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.5,
    1.5,
    -2.5,
    3.0e38,
    -3.0e38,
    1.401_298_464_324_817e-45,
    -1.401_298_464_324_817e-45,
    1.175_494_350_822_287_5e-38,
    1.175_494_210_692_441e-38,
    16_777_216.0,
    16_777_215.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    2_147_483_520.0,
    88.722_84,
    -103.972_08,
    0.000_123_4,
    -7.25,
    65_504.0,
];

/// Integers where arithmetic has corners.
pub const SPECIAL_INTEGERS: [i32; 13] = [
    0,
    1,
    -1,
    i32::MAX,
    i32::MIN,
    2,
    -2,
    31,
    32,
    33,
    16_777_217,
    -16_777_219,
    46_341,
];

impl Values {
    /// The first `count` values, of the type a load of `element` gives.
    ///
    /// # Errors
    /// If a list has another length.
    pub fn take(&self, element: ElementType, count: usize) -> Result<Vec<Scalar>, String> {
        let element = element.compute_type();
        let number = |value: f64| match element {
            ElementType::Bool => Scalar::Bool(value > 0.0),
            ElementType::F32
            | ElementType::F64
            | ElementType::I32
            | ElementType::F16
            | ElementType::BF16 => casts::cast(Scalar::F64(value), element),
        };
        Ok(match self {
            Values::List(values) if values.len() == count => values.clone(),
            Values::List(values) => {
                return Err(format!(
                    "{} values are given, the view has {count} elements",
                    values.len()
                ));
            }
            Values::Fill(value) => vec![*value; count],
            Values::Ramp { start, step } => (0..count)
                .map(|index| number(start + step * index as f64))
                .collect(),
            Values::Random {
                seed,
                scale,
                offset,
            } => {
                let mut generator = Generator::new(*seed);
                (0..count)
                    .map(|_| number(generator.next_number() * scale + offset))
                    .collect()
            }
            Values::Special { from } => (0..count)
                .map(|index| match element {
                    ElementType::F32 | ElementType::F64 | ElementType::F16 | ElementType::BF16 => {
                        number(SPECIAL_FLOATS[(from + index) % SPECIAL_FLOATS.len()])
                    }
                    ElementType::I32 => {
                        Scalar::I32(SPECIAL_INTEGERS[(from + index) % SPECIAL_INTEGERS.len()])
                    }
                    ElementType::Bool => Scalar::Bool((from + index) % 3 == 1),
                })
                .collect(),
        })
    }

    /// Reads values of a view with elements of type `element`.
    ///
    /// `[1.0, 2.0]`, `fill 1.0`, `ramp 0 1`, `g 7`, `g 7 scale 2 offset 1` (either may be absent), `special`, `special 5`.
    ///
    /// # Errors
    /// A sentence that says what can't be read.
    pub fn parse(text: &str, element: ElementType) -> Result<Values, String> {
        let text = text.trim();
        let scalar = |text: &str| {
            let text = text.trim();
            Scalar::parse(text, element.compute_type()).map_err(|error| error.to_string())
        };
        if let Some(list) = text.strip_prefix('[') {
            let list = list.strip_suffix(']').ok_or("a list ends with `]`")?;
            let items = list
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            return items
                .map(scalar)
                .collect::<Result<_, _>>()
                .map(Values::List);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let float = |text: &str| {
            text.parse::<f64>()
                .map_err(|_| format!("`{text}` is no number"))
        };
        let whole = |text: &str| {
            text.parse::<u64>()
                .map_err(|_| format!("`{text}` is no whole number"))
        };
        match words.as_slice() {
            ["fill", value] => Ok(Values::Fill(scalar(value)?)),
            ["ramp", start, step] => Ok(Values::Ramp {
                start: float(start)?,
                step: float(step)?,
            }),
            ["g", seed, rest @ ..] => {
                let (mut scale, mut offset) = (1.0, 0.0);
                for pair in rest.chunks(2) {
                    match *pair {
                        ["scale", value] => scale = float(value)?,
                        ["offset", value] => offset = float(value)?,
                        _ => return Err(format!("`{text}` has more than scale and offset")),
                    }
                }
                Ok(Values::Random {
                    seed: whole(seed)?,
                    scale,
                    offset,
                })
            }
            ["special"] => Ok(Values::Special { from: 0 }),
            ["special", from] => Ok(Values::Special {
                from: whole(from)? as usize,
            }),
            _ => Err(format!(
                "`{text}` is neither a list nor `fill`, `ramp`, `g` or `special`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_numbers_everybody_uses() {
        let mut generator = Generator::new(1);
        let found: Vec<f64> = (0..4).map(|_| generator.next_number()).collect();
        let expected = [
            -0.153_581_738_471_984_86,
            0.018_814_802_169_799_805,
            0.296_718_716_621_398_9,
            -0.234_273_314_476_013_18,
        ];
        assert_eq!(found, expected);
        assert!(found.iter().all(|&value| f64::from(value as f32) == value));
    }

    #[test]
    fn texts_are_read() {
        let parse = |text| Values::parse(text, ElementType::F32);
        assert_eq!(
            parse("[1.0, -0.0]"),
            Ok(Values::List(vec![Scalar::F32(1.0), Scalar::F32(-0.0)]))
        );
        assert_eq!(
            parse("g 3 scale 2"),
            Ok(Values::Random {
                seed: 3,
                scale: 2.0,
                offset: 0.0
            })
        );
        assert_eq!(
            Values::parse("fill true", ElementType::Bool),
            Ok(Values::Fill(Scalar::Bool(true)))
        );
        assert!(parse("[1.0").is_err() && parse("h 1").is_err() && parse("[one]").is_err());
        let list = parse("[1.0, 2.0]").expect("a list");
        assert!(list.take(ElementType::F32, 3).is_err());
    }
}
