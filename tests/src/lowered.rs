//! Lowered kernels in the interpreter of XIR, on a simulated memory.

use kernel_abi::RecordLayout;
use numerics::Scalar;
use reference::xir_interpreter::{Buffers, Launch};
use reference::{Argument, Memory};
use xir::{Program, Verified};

use crate::case::RunCase;

/// The launch record of a case whose buffers lie at `bases`.
#[must_use]
pub fn record(run: &RunCase, bases: &[u64]) -> Vec<u64> {
    let kernel = &run.kernel;
    let layout: RecordLayout = lowering::record_layout(kernel);
    let mut record = vec![0; layout.words() as usize];
    let mut extents: Vec<Option<u32>> =
        kernel.axes().map(|axis| kernel.axis(axis).extent).collect();
    for &(axis, extent) in &run.arguments.extents {
        extents[axis.index()] = Some(extent);
    }
    for (param, argument) in kernel.params().zip(&run.arguments.params) {
        let at = layout.param(param.index()) as usize;
        match (argument, kernel.view(param)) {
            (Argument::View(place), Some(view)) => {
                let size = view.element.size() as i64;
                record[at] = bases[place.buffer].wrapping_add_signed(place.offset * size);
                for dim in 0..place.shape.len() {
                    let extent = layout.extent(param.index(), dim) as usize;
                    let stride = layout.stride(param.index(), dim) as usize;
                    record[extent] = u64::from(place.shape[dim]);
                    record[stride] = (place.strides[dim] * size).cast_unsigned();
                    extents[view.dims[dim].index()] = Some(place.shape[dim]);
                }
            }
            (Argument::Scalar(value), _) => record[at] = word(*value),
            (Argument::View(_), None) => unreachable!("a case binds views to views"),
        }
    }
    for (axis, extent) in kernel.axes().zip(extents) {
        record[layout.axis(axis.index()) as usize] = u64::from(extent.unwrap_or(0));
    }
    record
}

/// A scalar as a word of the record.
fn word(value: Scalar) -> u64 {
    value.to_bits()
}

/// Runs a program in the interpreter of XIR; gives the memory afterwards.
///
/// # Errors
/// A rule of XIR that the program breaks, or what stopped it.
pub fn interpret_lowered(run: &RunCase, program: Program) -> Result<Memory, String> {
    let verified: Verified = xir::verify(program).map_err(|rejected| rejected.to_string())?;
    let mut simulated = Buffers::new();
    let bases: Vec<u64> = (0..run.memory.len())
        .map(|buffer| simulated.lend(run.memory.bytes(buffer).to_vec()))
        .collect();
    let record = record(run, &bases);
    Launch::new(&verified, &record, &mut simulated)
        .run_all()
        .map_err(|fault| fault.to_string())?;
    let mut memory = Memory::new();
    for buffer in 0..run.memory.len() {
        memory.add(simulated.bytes(buffer).to_vec());
    }
    Ok(memory)
}
