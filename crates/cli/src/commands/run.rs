//! `tilewright run`: a kernel, on files.

use std::path::PathBuf;

use diagnostics::{Diagnostic, Diagnostics};
use tile_ir::Param;
use tilewright::Executable;
use tilewright::prelude::{Argument, View, ViewError};

use super::told;
use crate::arguments::{RunArguments, repeated};
use crate::bindings::{Bound, Prepared, prepare};
use crate::failure::Failure;
use crate::files::{Staged, cannot_write, is_dash, stage, write_stdout};
use crate::host_tensor::{Elements, ElementsMut, HostTensor};
use crate::kernel_source::KernelSource;
use crate::npy;

/// Reads, compiles, runs, saves.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    check_usage(arguments)?;
    let axes = arguments.compilation.axes()?;
    let source = KernelSource::read(&arguments.kernel)?;
    let kernel = source.parse()?;
    let mut prepared = prepare(&kernel, &arguments.bindings, &arguments.outputs, axes)
        .map_err(|mistakes| Failure::in_kernel(mistakes, &source))?;
    let executable = tilewright::compile(&prepared.kernel, &arguments.compilation.options())
        .map_err(|error| Failure::in_kernel(told(error), &source))?;
    launch(&executable, &mut prepared).map_err(|mistakes| Failure::in_kernel(mistakes, &source))?;
    save(&prepared)
}

/// What can be seen to be wrong without reading a file.
fn check_usage(arguments: &RunArguments) -> Result<(), Failure> {
    let names = arguments
        .bindings
        .iter()
        .map(|binding| binding.name.as_str());
    if let Some(name) = repeated(names) {
        return Err(Failure::Usage(format!("`{name}=` is given twice")));
    }
    let names = arguments
        .outputs
        .iter()
        .map(|binding| binding.name.as_str());
    if let Some(name) = repeated(names) {
        return Err(Failure::Usage(format!("`-o {name}=` is given twice")));
    }
    for (index, binding) in arguments.outputs.iter().enumerate() {
        if arguments.outputs[..index]
            .iter()
            .any(|other| other.value == binding.value)
        {
            return Err(Failure::Usage(format!(
                "two outputs go to `{}`",
                binding.value.display()
            )));
        }
    }
    let from_stdin = arguments
        .bindings
        .iter()
        .filter(|binding| binding.value == "-")
        .count();
    if from_stdin + usize::from(is_dash(&arguments.kernel)) > 1 {
        return Err(Failure::Usage(
            "stdin (`-`) can be read once only".to_owned(),
        ));
    }
    Ok(())
}

fn launch(executable: &Executable, prepared: &mut Prepared) -> Result<(), Diagnostics> {
    let kernel = &prepared.kernel;
    let mut named = Vec::new();
    for (param, bound) in kernel.params().zip(&mut prepared.bound) {
        let mutable = kernel.view(param).is_some_and(|view| view.mutable);
        let argument = match bound {
            Bound::Scalar(scalar) => Argument::Scalar(*scalar),
            Bound::Tensor(tensor) => {
                let view = if mutable {
                    view_mut(tensor)
                } else {
                    view(tensor)
                };
                let view =
                    view.map_err(|error| Diagnostic::error("argument", error.to_string()))?;
                Argument::View(view)
            }
        };
        named.push((kernel.param(param).name.clone(), argument));
    }
    executable
        .bind_with_extents(named, &prepared.extents)
        .map_err(told)?
        .launch();
    Ok(())
}

fn view(tensor: &HostTensor) -> Result<View<'_>, ViewError> {
    let shape = tensor.shape();
    match tensor.elements() {
        Elements::F32(memory) => View::new(memory, shape),
        Elements::F64(memory) => View::new(memory, shape),
        Elements::I32(memory) => View::new(memory, shape),
        Elements::Bool(memory) => View::new(memory, shape),
        Elements::F16(memory) => View::new(memory, shape),
        Elements::BF16(memory) => View::new(memory, shape),
    }
}

fn view_mut(tensor: &mut HostTensor) -> Result<View<'_>, ViewError> {
    let shape = tensor.shape().to_vec();
    match tensor.elements_mut() {
        ElementsMut::F32(memory) => View::new_mut(memory, &shape),
        ElementsMut::F64(memory) => View::new_mut(memory, &shape),
        ElementsMut::I32(memory) => View::new_mut(memory, &shape),
        ElementsMut::Bool(memory) => View::new_mut(memory, &shape),
        ElementsMut::F16(memory) => View::new_mut(memory, &shape),
        ElementsMut::BF16(memory) => View::new_mut(memory, &shape),
    }
}

/// Saves every output: first all are written beside their targets, then each gets its name. Stdout comes last.
fn save(prepared: &Prepared) -> Result<(), Failure> {
    let mut staged: Vec<(&PathBuf, Staged)> = Vec::new();
    let failed =
        |path: &PathBuf, error: &std::io::Error| Failure::without_source(cannot_write(path, error));
    let (to_stdout, to_files): (Vec<_>, Vec<_>) =
        prepared.outputs.iter().partition(|(_, path)| is_dash(path));
    for (param, path) in to_files {
        let tensor = tensor_of(prepared, *param);
        let file =
            stage(path, |out| npy::write(tensor, out)).map_err(|error| failed(path, &error))?;
        let Some(file) = file else { continue };
        if let Some((other, _)) = staged.iter().find(|(_, other)| other.same_target(&file)) {
            let message = format!(
                "outputs `{}` and `{}` are one file",
                other.display(),
                path.display()
            );
            let mistake = Diagnostic::error("one-file", message).with_help("give each its own");
            return Err(Failure::without_source(mistake));
        }
        staged.push((path, file));
    }
    for (path, file) in staged {
        file.publish().map_err(|error| failed(path, &error))?;
    }
    for (param, path) in to_stdout {
        let tensor = tensor_of(prepared, *param);
        write_stdout(|out| npy::write(tensor, out)).map_err(|error| failed(path, &error))?;
    }
    Ok(())
}

fn tensor_of(prepared: &Prepared, param: Param) -> &HostTensor {
    match &prepared.bound[param.index()] {
        Bound::Tensor(tensor) => tensor,
        Bound::Scalar(_) => unreachable!("only views are chosen as outputs"),
    }
}
