//! The rules of TileIR, and what checks them.
//!
//! **Tables.** Every key leads to a row. Every operation is listed once, in its parent; every region belongs to one
//! operation; values say who makes them. A region's arguments are the coordinates of its operation (i32 scalars), then
//! its carries. Regions nest at most [`MAX_NESTING`](crate::MAX_NESTING) deep, and a kernel has at most
//! [`MAX_OPERATIONS`](crate::MAX_OPERATIONS) operations. Kernels made by the parser or the builder are sound by
//! construction; the checks guard those made row by row.
//!
//! **Names and extents.** Names of kernel, axes and parameters are identifiers, and no two axes or parameters share one.
//! A fixed extent lies in `1 ..= i32::MAX`. An axis may stay open; [`Kernel::open_axes`] says which must be fixed before
//! the kernel can be lowered.
//!
//! **Types.** `typing` holds them as one table. Elementwise operands have one element type and the same dimensions, or are
//! scalars. Functions such as `exp` take f32 alone. Nothing is converted silently.
//!
//! **Scope.** A value is used after its definition, in its own region or in one nested there.
//!
//! **Effects.** The root holds `parallel` nests and stages. `load`, `store` and `opaque` stand in the body of a `parallel`
//! or in a `for` there; `map` and `reduce` are pure; `stage` divides a `parallel` body and stands in no loop.
//!
//! **Reductions.** `unordered` and `tree` may combine in another order than the text's, so they take the closed form: one
//! add, mul, min or max a carry, whose operand the body yields without seeing the carry.
//!
//! **Independence.** The programs of a `parallel` run in any order, at once. So within one stage no two of them write the
//! same element through one parameter, and none reads what another writes through the same parameter. It is shown by
//! subscripts that depend on the root coordinates and can't meet: see [`access`](crate::access). (Whether two
//! *parameters* overlap in memory is asked when they are bound, with [`may_share`](crate::access::may_share).)

mod rule;
mod tables;
mod typing;

use diagnostics::{Diagnostic, Diagnostics, Location};
use hashbrown::HashMap;

pub use rule::Rule;
pub(crate) use typing::infer;

use crate::access;
use crate::kernel::{Kernel, ParamKind};
use crate::keys::{Op, Region, Value};
use crate::ops::{Effect, OpKind};
use crate::text::is_name;
use crate::{MAX_MISTAKES, MAX_RANK};

/// Everything wrong with a kernel, in order of place. Values marked in `poisoned` (by index; a short list stands for
/// `false`) were reported before: nothing is said about operations that use them.
pub(crate) fn violations(kernel: &Kernel, poisoned: &[bool]) -> Diagnostics {
    if let Err(diagnostic) = tables::check_tables(kernel) {
        return Diagnostics::from(diagnostic);
    }
    let mut poison = poisoned.to_vec();
    poison.resize(kernel.values().len(), false);
    let mut checker = Checker {
        kernel,
        poisoned: poison,
        suspect: vec![false; kernel.ops().len()],
        visible: vec![false; kernel.values().len()],
        found: Diagnostics::new(),
    };
    checker.names();
    checker.axes();
    checker.params();
    checker.region(kernel.body(), Place::Root);
    let Checker {
        mut found, suspect, ..
    } = checker;
    access::check_independence(kernel, &suspect, &mut found);
    found.sort_by_place();
    found.into_iter().take(MAX_MISTAKES).collect()
}

/// Where a region stands, as far as effects are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The body of the kernel.
    Root,
    /// The body of a `parallel`.
    Program,
    /// The body of a `for` in a program.
    Loop,
    /// Inside a `map` or `reduce`.
    Pure,
}

struct Checker<'k> {
    kernel: &'k Kernel,
    poisoned: Vec<bool>,
    suspect: Vec<bool>,
    visible: Vec<bool>,
    found: Diagnostics,
}

impl Checker<'_> {
    /// Adds a diagnostic, up to the number that anybody reads.
    fn say(&mut self, diagnostic: Diagnostic) {
        if self.found.len() < MAX_MISTAKES {
            self.found.push(diagnostic);
        }
    }

    fn names(&mut self) {
        let kernel = self.kernel;
        let axes = kernel.axes().map(|axis| {
            let data = kernel.axis(axis);
            ("axis", data.name.as_str(), data.location)
        });
        let params = kernel.params().map(|param| {
            let data = kernel.param(param);
            ("parameter", data.name.as_str(), data.location)
        });
        let mut first: HashMap<(&str, &str), Location> = HashMap::new();
        for (what, name, location) in [("kernel", kernel.name.as_str(), Location::None)]
            .into_iter()
            .chain(axes)
            .chain(params)
        {
            if !is_name(name) {
                let message = format!("{what} {name:?} has a name that can't be written in a text");
                let help = "a name is a letter or `_`, then letters, digits and `_`, at most 255, and no reserved word";
                self.found
                    .push(Rule::BadName.says(message).at(location).with_help(help));
            } else if let Some(place) = first.insert((what, name), location) {
                let message = format!("two {} are called `{name}`", plural(what));
                let diagnostic = Rule::DefinedTwice
                    .says(message)
                    .at(location)
                    .with_label("defined again")
                    .with_secondary(place, "first defined here")
                    .with_help("give one of them another name");
                self.say(diagnostic);
            }
        }
    }

    fn axes(&mut self) {
        for axis in self.kernel.axes() {
            let data = self.kernel.axis(axis);
            let Some(extent) = data.extent else { continue };
            let diagnostic = if extent == 0 {
                Rule::ExtentZero
                    .says(format!("axis `{}` has extent 0", data.name))
                    .with_help("a tile has at least one coordinate along each axis; leave the extent out to give it at launch")
            } else if extent > i32::MAX as u32 {
                let message = format!("axis `{}` has extent {extent}", data.name);
                Rule::ExtentTooLarge
                    .says(message)
                    .with_help(format!("the limit is {}", i32::MAX))
            } else {
                continue;
            };
            self.say(diagnostic.at(data.location));
        }
    }

    fn params(&mut self) {
        for param in self.kernel.params() {
            let data = self.kernel.param(param);
            let mut say = |diagnostic: Diagnostic| self.say(diagnostic.at(data.location));
            match &data.kind {
                ParamKind::Scalar(element) => {
                    if element.storage_only() {
                        let message = format!(
                            "scalar `{}` is {element}, which lives in views only",
                            data.name
                        );
                        say(Rule::StorageOnly.says(message).with_help("declare it f32"));
                    }
                }
                ParamKind::View(view) => {
                    if view.dims.len() > MAX_RANK {
                        let message = format!(
                            "view `{}` has {} dimensions; the limit is {MAX_RANK}",
                            data.name,
                            view.dims.len()
                        );
                        say(Rule::RankLimit.says(message));
                    }
                    if view.strides.len() != view.dims.len() {
                        let message = format!(
                            "view `{}` has {} dimensions and {} strides",
                            data.name,
                            view.dims.len(),
                            view.strides.len()
                        );
                        let help = "state one stride a dimension; `*` is any stride";
                        say(Rule::StrideCount.says(message).with_help(help));
                    }
                    let wanted = view.element.compute_type();
                    if view.fill.element() != wanted {
                        let message = format!(
                            "the fill value of `{}` is {}, and a load gives {wanted}",
                            data.name,
                            view.fill.element()
                        );
                        let help = format!("write a literal of type {wanted}");
                        say(Rule::FillType.says(message).with_help(help));
                    }
                }
            }
        }
    }

    fn region(&mut self, region: Region, place: Place) {
        let data = self.kernel.region(region);
        for &arg in &data.args {
            self.visible[arg.index()] = true;
        }
        for &op in &data.ops {
            self.operation(op, place);
        }
        let location = data
            .owner
            .map_or(Location::None, |op| self.kernel.op(op).location);
        for &value in &data.yields {
            self.in_scope(value, location);
        }
        let results = data.ops.iter().flat_map(|&op| &self.kernel.op(op).results);
        for value in data.args.iter().chain(results) {
            self.visible[value.index()] = false;
        }
    }

    fn in_scope(&mut self, value: Value, location: Location) {
        if !self.visible[value.index()] && !self.poisoned[value.index()] {
            let name = self.kernel.value(value).name.clone();
            let name = name.unwrap_or_else(|| value.to_string());
            let message = format!("`{name}` is used where it is not defined");
            let help = "define it before its use, in the same nest or in one around it; yield it from a nest to use it outside";
            self.found
                .push(Rule::Scope.says(message).at(location).with_help(help));
        }
    }

    fn operation(&mut self, op: Op, place: Place) {
        let data = self.kernel.op(op);
        for value in data.kind.operands() {
            self.in_scope(value, data.location);
        }
        self.placement(op, place);

        let inner = match &data.kind {
            OpKind::Parallel { .. } => Place::Program,
            OpKind::For { .. } if place == Place::Pure => Place::Pure,
            OpKind::For { .. } => Place::Loop,
            _ => Place::Pure,
        };
        let regions = data.kind.regions();
        if let OpKind::For { inits, body, .. } = &data.kind {
            self.poison_carries(inits, *body, 1);
        }
        if let OpKind::Reduce {
            inits, body, dims, ..
        } = &data.kind
        {
            self.poison_carries(inits, *body, dims.len());
        }
        for &region in &regions {
            self.region(region, inner);
        }

        let yields = regions
            .iter()
            .flat_map(|&region| &self.kernel.region(region).yields);
        let mut inputs = data.kind.operands().into_iter().chain(yields.copied());
        let reported = inputs.any(|value| self.poisoned[value.index()]);
        let mut wrong = reported;
        if !reported {
            let (types, found) = infer(self.kernel, &data.kind);
            wrong = !found.is_empty();
            for mut diagnostic in found {
                diagnostic
                    .secondary
                    .retain(|(place, _)| *place != data.location);
                self.say(diagnostic.at(data.location));
            }
            if !wrong
                && !types
                    .iter()
                    .eq(data.results.iter().map(|&result| self.kernel.ty(result)))
            {
                let message = format!("{op} states other types for its results than it makes");
                self.found
                    .push(Rule::BrokenTables.says(message).at(data.location));
            }
        }
        self.suspect[op.index()] = wrong;
        for &result in &data.results {
            self.visible[result.index()] = true;
            self.poisoned[result.index()] |= wrong;
        }
    }

    /// A carry whose initial value was reported is not to be reported again.
    fn poison_carries(&mut self, inits: &[Value], body: Region, coordinates: usize) {
        let carries = self.kernel.region(body).args.iter().skip(coordinates);
        for (&carry, &init) in carries.zip(inits) {
            self.poisoned[carry.index()] |= self.poisoned[init.index()];
        }
    }

    fn placement(&mut self, op: Op, place: Place) {
        let kind = &self.kernel.op(op).kind;
        let diagnostic = match (kind, kind.effect(), place) {
            (OpKind::Parallel { .. }, _, Place::Root) => None,
            (OpKind::Parallel { .. }, _, _) => Some(
                Rule::ParallelPlace
                    .says("`parallel` stands inside another nest")
                    .with_help("name several axes in one nest: `parallel r: row, h: head { ... }`, or use `for`"),
            ),
            (_, Effect::Stage, Place::Root | Place::Program) => None,
            (_, Effect::Stage, Place::Loop | Place::Pure) => Some(
                Rule::StagePlace
                    .says("`stage` stands inside a loop or nest")
                    .with_help("all programs must reach it the same number of times: put it directly in the body of `parallel`"),
            ),
            (_, _, Place::Root) => Some(
                Rule::RootContent
                    .says("only `parallel` and `stage` stand at the root of a kernel")
                    .with_help("put it into a `parallel { ... }` nest; without axes it is one program"),
            ),
            (_, Effect::Read(_) | Effect::Write(_) | Effect::Unknown, Place::Pure) => Some(
                Rule::EffectInNest
                    .says("`map` and `reduce` have no effects, and their body is evaluated in any order")
                    .with_help("load before the nest and index the tile; store the nest's result after it"),
            ),
            (_, Effect::Read(_) | Effect::Write(_) | Effect::Unknown, Place::Program | Place::Loop) => {
                None
            }
            (_, Effect::Pure | Effect::Nested, Place::Program | Place::Loop | Place::Pure) => None,
        };
        if let Some(diagnostic) = diagnostic {
            self.say(diagnostic.at(self.kernel.op(op).location));
        }
    }
}

fn plural(what: &str) -> String {
    match what {
        "axis" => "axes".to_owned(),
        other => format!("{other}s"),
    }
}
