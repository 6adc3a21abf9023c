//! The memory of one case, and the check of what arms write there.

use native_entry::Memory;

use super::arm::{Arm, Timed, in_turn};
use super::case::{Case, Values};
use super::exact::Exact;
use crate::Protocol;

/// A case with its inputs in memory. Every arm reads these inputs and writes this output.
pub struct Workbench {
    /// The case.
    pub case: Case,
    pub(super) inputs: Vec<Memory>,
    /// Inputs that Inductor's kernel takes in another form, by number.
    pub(super) torch_inputs: Vec<(usize, Memory)>,
    pub(super) output: Memory,
    exact: Exact,
}

impl Workbench {
    /// Draws the inputs and computes the exact results.
    pub fn new(case: Case) -> Workbench {
        let inputs = case.inputs();
        let exact = Exact::of(&case, &inputs);
        let count = inputs.len();
        let torch_inputs = case.torch_inputs().into_iter();
        Workbench {
            case,
            output: Memory::zeroed(4 * case.results(), count),
            torch_inputs: torch_inputs
                .map(|(number, values)| (number, memory(&values, count + 1 + number)))
                .collect(),
            inputs: inputs
                .iter()
                .enumerate()
                .map(|(number, values)| memory(values, number))
                .collect(),
            exact,
        }
    }

    /// An arm, after one call on an output of NaN whose error it carries.
    pub(super) fn arm<'a>(
        &'a self,
        name: impl Into<String>,
        detail: impl Into<String>,
        mut work: Box<dyn FnMut() + 'a>,
    ) -> Arm<'a> {
        let error = self.error_of(&mut work);
        Arm {
            name: name.into(),
            detail: detail.into(),
            error,
            work,
        }
    }

    pub(super) fn error_of(&self, work: &mut dyn FnMut()) -> f64 {
        let end = self.output.len();
        // SAFETY: the output is this bench's own, `end` bytes long, and no arm runs now.
        unsafe { std::ptr::write_bytes(self.output.pointer(), 0xff, end) };
        work();
        self.exact.error_of(&self.output.to_f32())
    }

    /// Times the arms in turn.
    pub fn time(&self, protocol: &Protocol, arms: &mut [Arm<'_>]) -> Vec<Timed> {
        in_turn(protocol, arms)
    }
}

fn memory(values: &Values, stagger: usize) -> Memory {
    match values {
        Values::F32(values) => Memory::of_f32(values, stagger),
        Values::I32(values) => Memory::of_i32(values, stagger),
        Values::I64(values) => Memory::of_i64(values, stagger),
        Values::Bool(values) => Memory::of_bool(values, stagger),
    }
}
