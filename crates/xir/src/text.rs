//! XIR as text: what dumps show and tests are written in.
//!
//! One operation stands on a line, results first, types last: `v3 = fma v1, v2, v0 : f32x`. A varying type ends in `x`.
//! `docs/xir.md` has the whole form with examples.
//!
//! Law **text**: `parse(print(p)) == p` for every compact, verified program.

mod lexer;
mod parser;
mod printer;

pub use parser::parse;

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::generate::{self, Random};
    use crate::verifier::verify;

    #[test]
    fn text_reads_back_as_the_same_program() {
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let program = generate::program(&mut random, 4 + seed as u32 % 40).compact();
            assert_eq!(program.compact(), program, "seed {seed}");
            let text = program.to_string();
            match parse(&text) {
                Ok(read) => assert_eq!(read, program, "seed {seed}:\n{text}"),
                Err(found) => panic!("seed {seed}: {found}\n{text}"),
            }
            if let Err(rejected) = verify(program) {
                panic!("seed {seed}: {rejected}\n{text}");
            }
        }
    }

    #[test]
    fn mutated_text_is_read_or_refused_without_a_panic() {
        let mut random = Random::new(7);
        for seed in 0..200 {
            let program = generate::program(&mut Random::new(seed), 12);
            let mut text = program.to_string().into_bytes();
            for _ in 0..1 + random.below(4) {
                let at = random.below(text.len() as u32) as usize;
                match random.below(4) {
                    0 => text[at] = b" {}()[],:=+-.\"\n09azx\0"[random.below(20) as usize],
                    1 => text.truncate(at.max(1)),
                    2 => {
                        let _ = text.remove(at);
                    }
                    _ => {
                        let other = random.below(text.len() as u32) as usize;
                        text.swap(at, other);
                    }
                }
            }
            let text = String::from_utf8_lossy(&text).into_owned();
            if let Ok(program) = parse(&text) {
                let _ = verify(program);
            }
        }
    }

    #[test]
    fn constants_keep_their_bits() {
        let text = "program bits lanes 4 {\n  fn main() inline {\n    v0 = const -0.0 : f32\n    \
                    v1 = const nan : f32\n    v2 = const nan(0xffc00001) : f32x\n    \
                    v3 = const -inf : f64\n    v4 = const 1e-45 : f32\n    v5 = const -9223372036854775808 : i64\n    \
                    v6 = const nan(0x7ff0000000000001) : f64\n  }\n}\n";
        let program = parse(text).expect("a program");
        assert_eq!(program.to_string(), text);
    }

    #[test]
    fn every_mistake_of_form_is_reported_at_once() {
        let text = "program wrong lanes 4 {\n  fn main(a: f32, a: f32) inline {\n    b = frob a : f32\n    \
                    c = add a, missing : f32\n    d = const 1.5 : i32\n    d = const 99999999999 : i32\n  }\n}\n";
        let found = parse(text).expect_err("five mistakes");
        let codes: Vec<&str> = found.iter().map(|one| one.code).collect();
        assert_eq!(
            codes,
            [
                "defined-twice",
                "unknown-operation",
                "unknown-name",
                "malformed-constant",
                "malformed-constant"
            ]
        );
    }
}
