//! The extents of a kernel's axes, from whoever tells them.
//!
//! The kernel fixes some, options give some, and the shapes of arrays tell the rest. All who speak of an axis must agree.

use diagnostics::{Diagnostic, Diagnostics};
use tile_ir::{Axis, Kernel, Param, Verified, ViewType};

use super::{param_text, view_text};
use crate::host_tensor::shape_text;
use crate::nearest::nearest;

/// The most coordinates an axis has: they are i32.
const LIMIT: u64 = i32::MAX as u64;

/// Who told an extent.
#[derive(Clone, Debug)]
enum Teller {
    Kernel,
    Option,
    View { param: Param, shape: Vec<usize> },
}

#[derive(Clone, Debug)]
struct Told {
    extent: u32,
    teller: Teller,
}

/// What is known about each axis of a kernel.
pub(super) struct Extents<'k> {
    kernel: &'k Verified,
    /// Axes that some tile runs along, so that 0 coordinates mean nothing.
    of_tiles: Vec<Axis>,
    told: Vec<Option<Told>>,
}

impl<'k> Extents<'k> {
    /// What the kernel itself fixes.
    pub(super) fn of(kernel: &'k Verified) -> Extents<'k> {
        let fixed = |axis| {
            kernel.axis(axis).extent.map(|extent| Told {
                extent,
                teller: Teller::Kernel,
            })
        };
        Extents {
            kernel,
            of_tiles: kernel.open_axes(),
            told: kernel.axes().map(fixed).collect(),
        }
    }

    /// Takes an option's word.
    pub(super) fn tell_by_option(&mut self, name: &str, extent: u32, mistakes: &mut Diagnostics) {
        let Some(axis) = self.kernel.find_axis(name) else {
            mistakes.push(unknown_axis(self.kernel, name));
            return;
        };
        if let Err(mistake) = self.tell(axis, u64::from(extent), Teller::Option) {
            mistakes.push(mistake);
        }
    }

    /// Takes the word of an array's shape, one extent a dimension of the view.
    pub(super) fn tell_by_view(
        &mut self,
        param: Param,
        view: &ViewType,
        shape: &[usize],
        mistakes: &mut Diagnostics,
    ) {
        for (axis, extent) in view.dims.iter().zip(shape) {
            let teller = Teller::View {
                param,
                shape: shape.to_vec(),
            };
            if let Err(mistake) = self.tell(*axis, *extent as u64, teller) {
                mistakes.push(mistake);
            }
        }
    }

    fn tell(&mut self, axis: Axis, extent: u64, teller: Teller) -> Result<(), Diagnostic> {
        let name = &self.kernel.axis(axis).name;
        let is = format!("axis `{name}` is {extent} {}", self.by(&teller));
        let extent = match u32::try_from(extent) {
            Ok(extent) if u64::from(extent) <= LIMIT => extent,
            Ok(_) | Err(_) => {
                let mistake =
                    Diagnostic::error("extent-limit", format!("{is}; the limit is {LIMIT}"));
                return Err(self.place(mistake, axis, &teller));
            }
        };
        if let Some(known) = &self.told[axis.index()] {
            if known.extent == extent {
                return Ok(());
            }
            let was = format!("{} {}", known.extent, self.by(&known.teller));
            let mistake = Diagnostic::error(
                "extent-mismatch",
                format!("axis `{name}` is {was} and {extent} {}", self.by(&teller)),
            );
            let mistake = self.place(mistake, axis, &teller);
            let fixed = format!("`{name}` is fixed here");
            let mistake = match (&known.teller, &teller) {
                (Teller::Kernel, Teller::View { .. }) => {
                    mistake.with_secondary(self.kernel.axis(axis).location, fixed)
                }
                (Teller::Kernel, Teller::Kernel | Teller::Option) => mistake.with_label(fixed),
                (Teller::Option, _) => mistake,
                (Teller::View { param, .. }, _) => mistake.with_secondary(
                    self.kernel.param(*param).location,
                    param_text(self.kernel, *param),
                ),
            };
            let help = match (&known.teller, &teller) {
                (Teller::Kernel, _) => {
                    format!("give {} along `{name}`, or change the kernel", known.extent)
                }
                (Teller::Option, _) => format!(
                    "leave `--axis {name}={}` out, or give another array",
                    known.extent
                ),
                (Teller::View { .. }, _) => format!("give arrays that agree along `{name}`"),
            };
            return Err(mistake.with_help(help));
        }
        if extent == 0 && self.of_tiles.contains(&axis) {
            let mistake = Diagnostic::error(
                "zero-extent",
                format!("{is}, but tiles run along it and have at least one coordinate"),
            );
            // One complaint is enough; the axis counts as known.
            self.told[axis.index()] = Some(Told {
                extent,
                teller: teller.clone(),
            });
            return Err(self
                .place(mistake, axis, &teller)
                .with_help("an axis may be empty if `parallel` nests alone run along it"));
        }
        self.told[axis.index()] = Some(Told { extent, teller });
        Ok(())
    }

    /// Who told it, in words that follow the extent.
    fn by(&self, teller: &Teller) -> String {
        match teller {
            Teller::Kernel => "in the kernel".to_owned(),
            Teller::Option => "by `--axis`".to_owned(),
            Teller::View { param, shape } => {
                format!(
                    "in `{}` of shape {}",
                    self.kernel.param(*param).name,
                    shape_text(shape)
                )
            }
        }
    }

    fn place(&self, mistake: Diagnostic, axis: Axis, teller: &Teller) -> Diagnostic {
        match teller {
            Teller::Kernel | Teller::Option => mistake.at(self.kernel.axis(axis).location),
            Teller::View { param, .. } => {
                let label = param_text(self.kernel, *param);
                mistake
                    .at(self.kernel.param(*param).location)
                    .with_label(label)
            }
        }
    }

    /// Makes a mistake of every axis that nobody told.
    pub(super) fn demand_all(&self, mistakes: &mut Diagnostics) {
        for axis in self
            .kernel
            .axes()
            .filter(|axis| self.told[axis.index()].is_none())
        {
            let data = self.kernel.axis(axis);
            let name = &data.name;
            let mistake = Diagnostic::error(
                "extent-unknown",
                format!("nothing tells the extent of axis `{name}`"),
            )
            .at(data.location)
            .with_help(format!(
                "give `--axis {name}=N`{}",
                who_could_tell(self.kernel, axis)
            ));
            mistakes.push(mistake);
        }
    }

    /// The extents in the order of the axes, 0 for an axis nobody told.
    pub(super) fn known(&self) -> Vec<u32> {
        self.told
            .iter()
            .map(|told| told.as_ref().map_or(0, |told| told.extent))
            .collect()
    }
}

/// The view an array could be given for, to tell an axis.
fn who_could_tell(kernel: &Kernel, axis: Axis) -> String {
    let param = kernel.params().find(|param| {
        kernel
            .view(*param)
            .is_some_and(|view| view.dims.contains(&axis))
    });
    let Some((param, view)) = param.and_then(|param| Some((param, kernel.view(param)?))) else {
        return String::new();
    };
    format!(
        ", or an array for `{}`, which is {}",
        kernel.param(param).name,
        view_text(kernel, view)
    )
}

/// The mistake of naming an axis the kernel doesn't have.
pub(crate) fn unknown_axis(kernel: &Kernel, name: &str) -> Diagnostic {
    let names: Vec<&str> = kernel
        .axes()
        .map(|axis| kernel.axis(axis).name.as_str())
        .collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "it has no axes".to_owned(),
        None => format!("its axes: {}", names.join(", ")),
    };
    Diagnostic::error(
        "unknown-axis",
        format!("kernel `{}` has no axis `{name}`", kernel.name),
    )
    .with_help(help)
}
