//! Random programs with what they are launched with, and what the interpreter makes of them.

use reference::xir_interpreter::{Launch, Memory, Stray};
use xir::generate::{Inputs, Random, program};
use xir::{Verified, verify};

use super::{past_the_hook, record};

/// One call of the hook: number, first program, count of programs.
pub(crate) type HookCall = (u32, u64, u64);

/// A program whose record holds four buffers, of which it may write all but the first, and three numbers.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Verified,
    pub(crate) inputs: Inputs,
}

impl Case {
    /// The random program of a seed.
    pub(crate) fn of_seed(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let size = 4 + random.below(60);
        let mut program = past_the_hook(program(&mut random, size));
        program.name = format!("random{seed}");
        Case::new(
            format!("seed {seed}"),
            verify(program).unwrap_or_else(|error| panic!("seed {seed}: {error}")),
            &mut random,
        )
    }

    /// A program with random inputs.
    pub(crate) fn new(name: String, program: Verified, random: &mut Random) -> Case {
        let inputs = Inputs::random(random);
        Case {
            name,
            program,
            inputs,
        }
    }

    /// What the buffers hold afterwards, and the calls of the hook. A program may compute with the buffers' addresses, so
    /// they are those that the code was run with.
    pub(crate) fn interpret(&self, addresses: [u64; 4]) -> (Vec<Vec<u8>>, Vec<HookCall>) {
        let mut memory = Addressed {
            addresses,
            buffers: self.inputs.buffers.clone(),
        };
        let mut words = addresses.to_vec();
        words.extend(self.inputs.scalars);
        let mut calls: Vec<HookCall> = Vec::new();
        let simulated = record(None, &words);
        let mut hook = |id: u32, first: u64, count: u64, _: &mut dyn Memory| {
            calls.push((id, first, count));
        };
        let outcome = Launch::new(&self.program, &simulated, &mut memory)
            .with_hook(&mut hook)
            .run_all();
        if let Err(fault) = outcome {
            panic!("{}: {fault}\n{}", self.name, *self.program);
        }
        (memory.buffers.to_vec(), calls)
    }

    /// Holds buffers and calls of generated code against the interpreter's.
    pub(crate) fn compare(&self, addresses: [u64; 4], buffers: &[&[u8]], calls: &[HookCall]) {
        let (expected, expected_calls) = self.interpret(addresses);
        for (index, (want, got)) in expected.iter().zip(buffers).enumerate() {
            if let Some(at) = differs(index, want, got) {
                panic!(
                    "{}: buffer {index} at byte {at}: interpreted {:02x?}, generated {:02x?}\n{}",
                    self.name,
                    &want[at..(at + 8).min(want.len())],
                    &got[at..(at + 8).min(want.len())],
                    *self.program
                );
            }
        }
        assert_eq!(expected_calls, calls, "{}: calls of the hook", self.name);
    }
}

/// Copies of buffers at the addresses of the buffers; all but the first may be written.
struct Addressed {
    addresses: [u64; 4],
    buffers: [Vec<u8>; 4],
}

impl Addressed {
    /// The bytes at an address, if one buffer holds them all.
    fn find(&mut self, address: u64, length: usize, from: usize) -> Result<&mut [u8], Stray> {
        let stray = Stray {
            address,
            bytes: length as u32,
        };
        let buffers = self.buffers.iter_mut().zip(self.addresses).skip(from);
        for (buffer, start) in buffers {
            let offset = address.wrapping_sub(start);
            if offset < buffer.len() as u64 && length <= buffer.len() - offset as usize {
                return Ok(&mut buffer[offset as usize..][..length]);
            }
        }
        Err(stray)
    }
}

impl Memory for Addressed {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Stray> {
        let length = bytes.len();
        bytes.copy_from_slice(self.find(address, length, 0)?);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stray> {
        self.find(address, bytes.len(), 1)?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Where two contents of a buffer differ; any NaN is equal to any NaN. Buffers 0 and 1 hold f32, 2 i32, 3 f64.
fn differs(buffer: usize, a: &[u8], b: &[u8]) -> Option<usize> {
    let step = if buffer == 3 { 8 } else { 4 };
    (0..a.len()).step_by(step).find(|&at| {
        let (a, b) = (&a[at..at + step], &b[at..at + step]);
        let both_nan = match buffer {
            2 => false,
            3 => [a, b].iter().all(|bytes| {
                f64::from_le_bytes((*bytes).try_into().expect("eight bytes")).is_nan()
            }),
            _ => [a, b]
                .iter()
                .all(|bytes| f32::from_le_bytes((*bytes).try_into().expect("four bytes")).is_nan()),
        };
        a != b && !both_nan
    })
}
