//! One argument read: a number, or an array out of a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use diagnostics::Diagnostic;
use numerics::{ElementType, Scalar};
use tile_ir::{Kernel, Param, ParamKind, ViewType};

use super::{Given, Read, example, param_text, view_text};
use crate::arguments::{Binding, split_at_byte};
use crate::files::{cannot_read, is_dash, open};
use crate::host_tensor::{HostTensor, shape_text};
use crate::npy::{self, NpyError};
use crate::safetensors::{self, SafetensorsError};

/// The end of the path of a file with named tensors.
const SAFETENSORS: &str = ".safetensors";

/// Reads what a binding gives for a parameter, and holds it against the parameter's type.
pub(super) fn read(kernel: &Kernel, param: Param, binding: &Binding) -> Result<Given, Diagnostic> {
    match &kernel.param(param).kind {
        ParamKind::Scalar(element) => {
            scalar(kernel, param, *element, &binding.value).map(Given::Scalar)
        }
        ParamKind::View(view) => {
            let source =
                Source::of(&binding.value).map_err(|mistake| at(kernel, param, mistake))?;
            let tensor = source.read().map_err(|mistake| {
                let is_number = binding
                    .value
                    .to_str()
                    .is_some_and(|text| text.parse::<f64>().is_ok());
                if is_number {
                    at(kernel, param, mistake).with_help("a view takes a file")
                } else {
                    mistake
                }
            })?;
            let read = Read {
                tensor,
                origin: source.to_string(),
            };
            check(kernel, param, view, &read)?;
            Ok(Given::Tensor(read))
        }
    }
}

fn at(kernel: &Kernel, param: Param, mistake: Diagnostic) -> Diagnostic {
    mistake
        .at(kernel.param(param).location)
        .with_label(param_text(kernel, param))
}

fn scalar(
    kernel: &Kernel,
    param: Param,
    element: ElementType,
    value: &OsStr,
) -> Result<Scalar, Diagnostic> {
    let text = value.to_string_lossy();
    Scalar::parse(&text, element).map_err(|error| {
        let name = &kernel.param(param).name;
        let mistake = Diagnostic::error("not-a-number", format!("`{name}={text}`: {error}"));
        at(kernel, param, mistake).with_help(format!(
            "write a number such as `{name}={}`",
            example(element)
        ))
    })
}

/// Where an array comes from.
enum Source {
    Stdin,
    Npy(PathBuf),
    Tensor { path: PathBuf, name: String },
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Stdin => formatter.write_str("<stdin>"),
            Source::Npy(path) => path.display().fmt(formatter),
            Source::Tensor { path, name } => write!(formatter, "{}:{name}", path.display()),
        }
    }
}

impl Source {
    fn of(value: &OsStr) -> Result<Source, Diagnostic> {
        if is_dash(Path::new(value)) {
            return Ok(Source::Stdin);
        }
        if let Some((mut path, name)) = split_at_byte(value, b".safetensors:") {
            path.push(SAFETENSORS);
            return match name.to_str() {
                Some(name) => Ok(Source::Tensor {
                    path: path.into(),
                    name: name.to_owned(),
                }),
                None => {
                    let message = format!("`{}`: the tensor's name is not UTF-8", name.display());
                    Err(Diagnostic::error("safetensors", message))
                }
            };
        }
        if value.as_encoded_bytes().ends_with(SAFETENSORS.as_bytes()) {
            let message = format!(
                "`{}` holds several tensors, and none is named",
                value.display()
            );
            let help = format!("name one: `{}:NAME`", value.display());
            return Err(Diagnostic::error("safetensors", message).with_help(help));
        }
        Ok(Source::Npy(value.into()))
    }

    fn read(&self) -> Result<HostTensor, Diagnostic> {
        match self {
            Source::Stdin => npy::read(&mut std::io::stdin().lock(), None)
                .map_err(|error| self.npy_mistake(Path::new("-"), &error)),
            Source::Npy(path) => {
                let mut file = open(path).map_err(|error| cannot_read(path, &error))?;
                let metadata = file.metadata().map_err(|error| cannot_read(path, &error))?;
                let length = metadata.is_file().then_some(metadata.len());
                npy::read(&mut file, length).map_err(|error| self.npy_mistake(path, &error))
            }
            Source::Tensor { path, name } => {
                let mut file = open(path).map_err(|error| cannot_read(path, &error))?;
                let metadata = file.metadata().map_err(|error| cannot_read(path, &error))?;
                if !metadata.is_file() {
                    let message = format!(
                        "`{}` is a pipe or a device; tensors are read from regular files",
                        path.display()
                    );
                    return Err(Diagnostic::error("safetensors", message));
                }
                safetensors::read(&mut file, name).map_err(|error| tensor_mistake(path, &error))
            }
        }
    }

    fn npy_mistake(&self, path: &Path, error: &NpyError) -> Diagnostic {
        match error {
            NpyError::Read(error) => cannot_read(path, error),
            error => {
                let mistake = Diagnostic::error("npy", format!("`{self}`: {error}"));
                with_advice(mistake, error.advice())
            }
        }
    }
}

fn tensor_mistake(path: &Path, error: &SafetensorsError) -> Diagnostic {
    match error {
        SafetensorsError::Read(error) => cannot_read(path, error),
        error => {
            let mistake =
                Diagnostic::error("safetensors", format!("`{}`: {error}", path.display()));
            with_advice(mistake, error.advice())
        }
    }
}

fn with_advice(mistake: Diagnostic, advice: Option<String>) -> Diagnostic {
    match advice {
        Some(advice) => mistake.with_help(advice),
        None => mistake,
    }
}

/// Holds an array against a view's element type and rank.
fn check(kernel: &Kernel, param: Param, view: &ViewType, read: &Read) -> Result<(), Diagnostic> {
    let name = &kernel.param(param).name;
    let found = read.tensor.element();
    let (origin, shape) = (&read.origin, shape_text(read.tensor.shape()));
    let expected = view_text(kernel, view);
    if found != view.element {
        let message = format!("`{name}` is a view {expected}, but `{origin}` holds {found}");
        let mistake = Diagnostic::error("element-type", message);
        let help = match numpy_name(view.element) {
            Some(numpy) => format!("save it as `a.astype('{numpy}')`, or declare the view {found}"),
            None => format!(
                "convert it to {} where it is made, or declare the view {found}",
                view.element
            ),
        };
        return Err(at(kernel, param, mistake).with_help(help));
    }
    if read.tensor.shape().len() != view.dims.len() {
        let (has, wants) = (
            dimensions(read.tensor.shape().len()),
            dimensions(view.dims.len()),
        );
        let message = format!(
            "`{name}` is a view {expected} with {wants}, but `{origin}` has shape {shape} with {has}"
        );
        let help =
            format!("save it with {wants} (`a.reshape(...)`), or declare the view with {has}");
        return Err(at(kernel, param, Diagnostic::error("rank", message)).with_help(help));
    }
    Ok(())
}

fn numpy_name(element: ElementType) -> Option<&'static str> {
    match element {
        ElementType::F32 => Some("float32"),
        ElementType::F64 => Some("float64"),
        ElementType::I32 => Some("int32"),
        ElementType::Bool => Some("bool"),
        ElementType::F16 => Some("float16"),
        ElementType::BF16 => None,
    }
}

fn dimensions(count: usize) -> String {
    match count {
        1 => "1 dimension".to_owned(),
        count => format!("{count} dimensions"),
    }
}
