//! A `run` case: a kernel, and what it is run on.
//!
//! Directives, one a line after `//:`:
//!
//! - `axis col = 8`: the extent of an axis which the kernel leaves open; root extents stay a matter of the launch.
//! - `x = VALUES`: the values of a view or a scalar; a mutable view needs none and then starts as zeros.
//! - `x strides [16, 2]`, `x offset 5`: where the view lies in its buffer (in elements); dense from the start otherwise.
//! - `y same x`: the view shares the buffer of an earlier parameter.
//! - `near y ulp 4` (`abs`, `rel`; several pairs): the oracle says what is right, within this. Values of integers and
//!   truth must be equal.
//! - `fused x sum`: also run with the value named `x` fused into the reduction whose result is named `sum` (add `save` if
//!   it is used afterwards); the bits must not change. `fused-differs` in its place says that they do, or that it fails.
//! - `launch refuses TEXT`: a launch refuses these arguments with a message that holds the text.
//! - `interpreter only`: generated code can't run this (say why in a comment).
//!
//! Expected output: one line for each mutable view, its elements in row-major order; beyond 64 elements the first eight and
//! a hash of all bits.

use numerics::{ElementType, Scalar};
use reference::{Argument, Arguments, Memory, Place, Tolerance};
use tile_ir::{Axis, Kernel, Param, ParamKind, Verified, ViewType};

use crate::corpus::Case;
use crate::inputs::Values;

/// A kernel with its arguments and what is asked of it.
#[derive(Clone, Debug)]
pub struct RunCase {
    /// The kernel, with every extent that compilation needs.
    pub kernel: Verified,
    /// What it is run on.
    pub memory: Memory,
    /// Where the views lie.
    pub arguments: Arguments,
    /// The element type each buffer is compared as.
    pub elements: Vec<ElementType>,
    /// How near the oracle results must be.
    pub near: Vec<(Param, Tolerance)>,
    /// Fusions to try: names of subject and reduction result, whether to save, whether the bits must stay.
    pub fusions: Vec<FusionCase>,
    /// What a launch says, if it refuses.
    pub refusal: Option<String>,
    /// Whether only the interpreter runs it.
    pub interpreter_only: bool,
}

/// A fusion to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionCase {
    /// The name of the value that is read in the reduction.
    pub subject: String,
    /// The name of the reduction's first result.
    pub reduction: String,
    /// Whether elements are kept.
    pub save: bool,
    /// Whether the fusion is legal.
    pub same: bool,
}

/// What is said of one parameter.
#[derive(Clone, Debug, Default)]
struct Said {
    values: Option<String>,
    strides: Option<Vec<i64>>,
    offset: i64,
    same: Option<String>,
}

/// Bytes beside a view in its buffer: a pattern no result has by chance.
const CANARY: u8 = 0xa5;

impl RunCase {
    /// Reads a case.
    ///
    /// # Errors
    /// Diagnostics of the kernel, or a sentence about a directive.
    pub fn read(case: &Case) -> Result<RunCase, String> {
        let kernel = tile_ir::parse(&case.input).map_err(|diagnostics| {
            diagnostics::render(&diagnostics, &case.name, &case.input, false)
        })?;
        let mut run = Reader {
            kernel: &kernel,
            extents: Vec::new(),
            said: vec![Said::default(); kernel.params().len()],
        };
        let mut near = Vec::new();
        let mut fusions = Vec::new();
        let mut refusal = None;
        let mut interpreter_only = false;
        for directive in &case.directives {
            let words: Vec<&str> = directive.split_whitespace().collect();
            match words.as_slice() {
                ["axis", name, "=", extent] => run.axis(name, extent)?,
                ["near", name, bounds @ ..] => near.push((run.param(name)?, tolerance(bounds)?)),
                [
                    how @ ("fused" | "fused-differs"),
                    subject,
                    reduction,
                    save @ ..,
                ] => fusions.push(FusionCase {
                    subject: (*subject).to_owned(),
                    reduction: (*reduction).to_owned(),
                    save: *save == ["save"],
                    same: *how == "fused",
                }),
                ["launch", "refuses", ..] => {
                    let text = directive
                        .split_once("refuses")
                        .map_or("", |(_, text)| text.trim());
                    refusal = Some(text.to_owned());
                }
                ["interpreter", "only"] => interpreter_only = true,
                [name, "same", other] => run.said(name)?.same = Some((*other).to_owned()),
                [name, "strides", ..] => {
                    let list = directive.split_once("strides").map_or("", |(_, list)| list);
                    run.said(name)?.strides = Some(integers(list)?);
                }
                [name, "offset", offset] => {
                    run.said(name)?.offset = offset
                        .parse()
                        .map_err(|_| format!("`{offset}` is no offset"))?;
                }
                [name, "=", ..] => {
                    let values = directive
                        .split_once('=')
                        .map_or("", |(_, values)| values.trim());
                    run.said(name)?.values = Some(values.to_owned());
                }
                _ => return Err(format!("`{directive}` is no directive")),
            }
        }
        // What a launch can say is left to it; what compilation needs is fixed.
        let open = kernel.open_axes();
        let extents: Vec<(Axis, u32)> = run
            .extents
            .iter()
            .copied()
            .filter(|(axis, _)| open.contains(axis))
            .collect();
        let (memory, arguments, elements) = run.arrange()?;
        let kernel = kernel
            .specialize(&extents)
            .map_err(|error| error.to_string())?;
        let kernel = tile_ir::verify(kernel).map_err(|rejected| {
            diagnostics::render(&rejected.diagnostics, &case.name, &case.input, false)
        })?;
        Ok(RunCase {
            kernel,
            memory,
            arguments,
            elements,
            near,
            fusions,
            refusal,
            interpreter_only,
        })
    }

    /// Where a view lies; `None` for a scalar.
    #[must_use]
    pub fn place(&self, param: Param) -> Option<&Place> {
        match &self.arguments.params[param.index()] {
            Argument::View(place) => Some(place),
            Argument::Scalar(_) => None,
        }
    }
}

struct Reader<'k> {
    kernel: &'k Kernel,
    extents: Vec<(Axis, u32)>,
    said: Vec<Said>,
}

impl Reader<'_> {
    fn param(&self, name: &str) -> Result<Param, String> {
        self.kernel
            .find_param(name)
            .ok_or_else(|| format!("the kernel has no parameter `{name}`"))
    }

    fn said(&mut self, name: &str) -> Result<&mut Said, String> {
        let param = self.param(name)?;
        Ok(&mut self.said[param.index()])
    }

    fn axis(&mut self, name: &str, extent: &str) -> Result<(), String> {
        let axis = self
            .kernel
            .find_axis(name)
            .ok_or_else(|| format!("the kernel has no axis `{name}`"))?;
        let extent = extent
            .parse()
            .map_err(|_| format!("`{extent}` is no extent"))?;
        self.extents.push((axis, extent));
        Ok(())
    }

    fn extent(&self, axis: Axis) -> Result<u32, String> {
        let given = self
            .extents
            .iter()
            .find(|(other, _)| *other == axis)
            .map(|&(_, extent)| extent);
        self.kernel.axis(axis).extent.or(given).ok_or_else(|| {
            let name = &self.kernel.axis(axis).name;
            format!("axis `{name}` has no extent; write `//: axis {name} = 8`")
        })
    }

    /// Lays all views out in buffers and fills them.
    fn arrange(&self) -> Result<(Memory, Arguments, Vec<ElementType>), String> {
        let mut params = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        for param in self.kernel.params() {
            let data = self.kernel.param(param);
            let said = &self.said[param.index()];
            params.push(match &data.kind {
                ParamKind::Scalar(element) => {
                    let text = said
                        .values
                        .as_deref()
                        .ok_or_else(|| format!("scalar `{}` has no value", data.name))?;
                    Argument::Scalar(
                        Scalar::parse(text, *element).map_err(|error| error.to_string())?,
                    )
                }
                ParamKind::View(view) => {
                    Argument::View(self.place(view, said, &params, &mut spans)?)
                }
            });
        }
        let mut memory = Memory::new();
        for span in &spans {
            memory.add(vec![CANARY; span.elements * span.element.size()]);
        }
        // A view without values clears its place, unless it shares the buffer of another.
        for (param, argument) in self.kernel.params().zip(&params) {
            let (Some(view), Argument::View(place)) = (self.kernel.view(param), argument) else {
                continue;
            };
            let said = &self.said[param.index()];
            let values = match &said.values {
                Some(text) => Values::parse(text, view.element)
                    .map_err(|error| format!("`{}`: {error}", self.kernel.param(param).name))?,
                None if said.same.is_some() => continue,
                None if view.mutable => Values::Fill(Scalar::zero(view.element)),
                None => {
                    return Err(format!(
                        "view `{}` has no values",
                        self.kernel.param(param).name
                    ));
                }
            };
            let count = place.shape.iter().map(|&extent| extent as usize).product();
            let values = values.take(view.element, count)?;
            for (index, value) in elements(place).zip(values) {
                memory
                    .write(place.buffer, index, view.element, value)
                    .ok_or_else(|| {
                        format!("view `{}` leaves its buffer", self.kernel.param(param).name)
                    })?;
            }
        }
        let extents = self.extents.clone();
        let elements = spans.iter().map(|span| span.element).collect();
        Ok((memory, Arguments { params, extents }, elements))
    }

    fn place(
        &self,
        view: &ViewType,
        said: &Said,
        before: &[Argument],
        spans: &mut Vec<Span>,
    ) -> Result<Place, String> {
        let shape = view
            .dims
            .iter()
            .map(|&axis| self.extent(axis))
            .collect::<Result<Vec<u32>, _>>()?;
        let mut place = Place::dense(0, &shape);
        if let Some(strides) = &said.strides {
            place.strides.clone_from(strides);
        }
        if place.strides.len() != shape.len() {
            return Err(format!(
                "{} strides for {} dimensions",
                place.strides.len(),
                shape.len()
            ));
        }
        place.offset = said.offset;
        let reach = elements(&place)
            .max()
            .map_or(0, |last| last + 1)
            .max(place.offset) as usize;
        match &said.same {
            Some(other) => {
                let other = self.param(other)?;
                let Some(Argument::View(shared)) = before.get(other.index()) else {
                    return Err(format!(
                        "`{}` is no earlier view",
                        self.kernel.param(other).name
                    ));
                };
                place.buffer = shared.buffer;
                let span = &mut spans[place.buffer];
                if span.element.size() != view.element.size() {
                    return Err("views that share a buffer have elements of one size".to_owned());
                }
                span.elements = span.elements.max(reach);
            }
            None => {
                place.buffer = spans.len();
                spans.push(Span {
                    element: view.element,
                    elements: reach,
                });
            }
        }
        Ok(place)
    }
}

/// A buffer to be.
struct Span {
    element: ElementType,
    elements: usize,
}

/// The elements of its buffer that a view stands for, in row-major order.
pub fn elements(place: &Place) -> impl Iterator<Item = i64> + '_ {
    let count: usize = place.shape.iter().map(|&extent| extent as usize).product();
    (0..count).map(|mut index| {
        let mut at = place.offset;
        for (&extent, &stride) in place.shape.iter().zip(&place.strides).rev() {
            at += (index % extent as usize) as i64 * stride;
            index /= extent as usize;
        }
        at
    })
}

/// The contents of a view, in row-major order.
#[must_use]
pub fn contents(memory: &Memory, place: &Place, element: ElementType) -> Vec<Scalar> {
    elements(place)
        .filter_map(|index| memory.read(place.buffer, index, element))
        .collect()
}

fn integers(text: &str) -> Result<Vec<i64>, String> {
    let text = text.trim();
    let list = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let list = list.ok_or_else(|| format!("`{text}` is no list"))?;
    let items = list
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    items
        .map(|item| {
            item.parse()
                .map_err(|_| format!("`{item}` is no whole number"))
        })
        .collect()
}

fn tolerance(words: &[&str]) -> Result<Tolerance, String> {
    let mut tolerance = Tolerance::default();
    for pair in words.chunks(2) {
        let [kind, value] = pair else {
            return Err(format!("{words:?} is no list of bounds"));
        };
        let value: f64 = value
            .parse()
            .map_err(|_| format!("`{value}` is no bound"))?;
        match *kind {
            "abs" => tolerance.absolute = value,
            "rel" => tolerance.relative = value,
            "ulp" => tolerance.ulp = value,
            other => return Err(format!("`{other}` is none of abs, rel and ulp")),
        }
    }
    Ok(tolerance)
}
