//! Who reads the elements of a tile: the search along single-use chains of pure recipes.
//!
//! Elementwise math over a tile reads nothing by itself: as long as the result has one consumer it is a recipe, evaluated
//! there. So the search goes on to that consumer. It ends at whatever needs elements where it stands: a reduction, a store,
//! a lone element read, a loop that takes the tile as a carry, or a recipe with several consumers, which becomes an array.
//!
//! Operations are taken in program order, each once; operands come before users, so a recipe is met after all recipes it
//! is made of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tile_ir::{Op, Region, Value};

use crate::conditions::{Condition, Rule};
use crate::facts::{Facts, Role, Use, role};
use crate::{MAX_DEPTH, MAX_VISITS};

/// When something is read: by an operation, or at the end of the region that it owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    op: Op,
    at_end: bool,
}

/// In what way a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is a reduction whose body reads elements.
    Reduction,
    /// It is a recipe with several consumers, made as an array.
    Materialised,
    /// It carries the tile into a loop, out of one, or round it.
    Carry,
    /// It reads elements where it stands.
    Here,
}

/// An operation that reads elements of the tile.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) moment: Moment,
    pub(crate) op: Op,
    pub(crate) manner: Manner,
    /// The nests around it, from the region of the tile on, outermost first.
    pub(crate) wrappers: Vec<Op>,
    /// Where a reduction reads: element reads in its own body first, in program order.
    pub(crate) extracts: Vec<Op>,
    /// Something in a reduction's body uses the tile in another way than by an element read of its own.
    pub(crate) stray: bool,
}

/// Everybody who reads a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readers {
    /// In the order in which they read.
    pub(crate) list: Vec<Reader>,
    /// The recipes on the way, in program order.
    pub(crate) recipes: BTreeMap<Op, Recipe>,
}

/// A recipe on the way to a reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recipe {
    /// The number of the reader in which it ends; `None` if nobody reads its result.
    pub(crate) end: Option<usize>,
    /// If it is a `map`: where its body reads elements of the tile or of recipes over it.
    pub(crate) extracts: Vec<Op>,
}

/// The search went beyond its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit;

/// Who takes a value, seen from the region of its definition.
struct Consumer {
    /// The operation that counts as one consumer.
    op: Op,
    kind: Kind,
}

enum Kind {
    /// The body of a reduction; the element read if it stands directly in the body.
    Reduction(Option<Op>),
    /// The body of a `map` of scalar operations, by this element read.
    Map(Op),
    /// An operation.
    Plain,
    /// The end of a loop's body.
    End,
}

fn consumer(facts: &Facts<'_>, home: Region, user: Use) -> Consumer {
    let kernel = facts.kernel;
    let op = match user {
        Use::Operand(op) => op,
        // Only loops yield tiles; the body of the kernel has no owner, and yields nothing.
        Use::Yield(region) => match kernel.region(region).owner {
            Some(owner) if matches!(role(&kernel.op(owner).kind), Role::Control(_)) => {
                return Consumer {
                    op: owner,
                    kind: Kind::End,
                };
            }
            Some(owner) => owner,
            None => {
                return Consumer {
                    op: Op::from_index(0),
                    kind: Kind::End,
                };
            }
        },
    };
    let data = kernel.op(op);
    let owners = facts.owners(home, data.parent);
    let is_extract = matches!(role(&data.kind), Role::Extract);
    let reduces = |&owner: &Op| matches!(role(&kernel.op(owner).kind), Role::Reduce(_));
    if let Some(depth) = owners.iter().position(reduces) {
        let direct = depth + 1 == owners.len() && is_extract;
        return Consumer {
            op: owners[depth],
            kind: Kind::Reduction(direct.then_some(op)),
        };
    }
    match owners.last() {
        Some(&nest)
            if matches!(role(&kernel.op(nest).kind), Role::Map(_)) && facts.is_pointwise(nest) =>
        {
            Consumer {
                op: nest,
                kind: Kind::Map(op),
            }
        }
        Some(_) | None => Consumer {
            op,
            kind: Kind::Plain,
        },
    }
}

/// How many consumers the results of an operation have together. Reads in one body count once: they share the scalar.
pub(crate) fn count_consumers(facts: &Facts<'_>, op: Op) -> usize {
    let data = facts.kernel.op(op);
    let mut consumers = BTreeSet::new();
    for &result in &data.results {
        for &user in facts.uses(result) {
            let found = consumer(facts, data.parent, user);
            consumers.insert((found.op, matches!(found.kind, Kind::End)));
        }
    }
    consumers.len()
}

struct Search<'f, 'k> {
    facts: &'f Facts<'k>,
    rule: Rule,
    home: Region,
    /// Recipes that are not taken up yet, with their depth.
    pending: BTreeMap<Op, usize>,
    visits: usize,
    readers: BTreeMap<Key, Reader>,
    recipes: BTreeMap<Op, Recipe>,
    /// Where each recipe goes: to another recipe, or to a reader.
    goes_to: BTreeMap<Op, Goal>,
}

/// Readers in the order in which they read. Of two loops that end at once, the inner one ends first.
type Key = (Moment, Reverse<Op>);

#[derive(Clone, Copy)]
enum Goal {
    Recipe(Op),
    Reader(Key),
}

/// Finds everybody who reads `value`, which is defined in region `home`.
pub(crate) fn find_readers(
    facts: &Facts<'_>,
    rule: Rule,
    home: Region,
    value: Value,
) -> Result<Readers, Limit> {
    let mut search = Search {
        facts,
        rule,
        home,
        pending: BTreeMap::new(),
        visits: 0,
        readers: BTreeMap::new(),
        recipes: BTreeMap::new(),
        goes_to: BTreeMap::new(),
    };
    search.follow(value, None, 0)?;
    while let Some((recipe, depth)) = search.pending.pop_first() {
        search.recipe(recipe, depth)?;
    }
    let Search {
        readers,
        mut recipes,
        goes_to,
        ..
    } = search;
    let order: Vec<Key> = readers.keys().copied().collect();
    let mut ends: BTreeMap<Op, Option<usize>> = BTreeMap::new();
    for (&op, goal) in goes_to.iter().rev() {
        let end = match goal {
            Goal::Recipe(next) => ends.get(next).copied().flatten(),
            Goal::Reader(key) => order.binary_search(key).ok(),
        };
        ends.insert(op, end);
    }
    for (op, recipe) in &mut recipes {
        recipe.end = ends.get(op).copied().flatten();
    }
    Ok(Readers {
        list: readers.into_values().collect(),
        recipes,
    })
}

impl Search<'_, '_> {
    fn visit(&mut self) -> Result<(), Limit> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(Limit);
        }
        Ok(())
    }

    /// Takes up a recipe: either its result is followed, or it is itself the reader.
    fn recipe(&mut self, recipe: Op, depth: usize) -> Result<(), Limit> {
        self.visit()?;
        if depth > MAX_DEPTH {
            return Err(Limit);
        }
        if self.facts.is_shared(recipe) && self.rule.keeps(Condition::SingleUseRecipes) {
            self.recipes.remove(&recipe);
            let key = self.read(recipe, Manner::Materialised, false);
            self.goes_to.insert(recipe, Goal::Reader(key));
            return Ok(());
        }
        for &result in &self.facts.kernel.op(recipe).results {
            self.follow(result, Some(recipe), depth)?;
        }
        Ok(())
    }

    /// Takes up every use of a tile.
    fn follow(&mut self, value: Value, from: Option<Op>, depth: usize) -> Result<(), Limit> {
        let kernel = self.facts.kernel;
        let home = from.map_or(self.home, |recipe| kernel.op(recipe).parent);
        for &user in self.facts.uses(value) {
            self.visit()?;
            let Consumer { op, kind } = consumer(self.facts, home, user);
            let goal = match kind {
                Kind::Reduction(extract) => {
                    let key = self.read(op, Manner::Reduction, false);
                    if let Some(reader) = self.readers.get_mut(&key) {
                        match extract {
                            Some(extract) => reader.extracts.push(extract),
                            None => reader.stray = true,
                        }
                    }
                    Goal::Reader(key)
                }
                Kind::Map(extract) => {
                    self.go_on(op, depth).extracts.push(extract);
                    Goal::Recipe(op)
                }
                Kind::Plain if self.makes_tile(op) => {
                    self.go_on(op, depth);
                    Goal::Recipe(op)
                }
                Kind::Plain => {
                    let enters = matches!(role(&kernel.op(op).kind), Role::Control(_));
                    let manner = if enters { Manner::Carry } else { Manner::Here };
                    Goal::Reader(self.read(op, manner, false))
                }
                Kind::End => Goal::Reader(self.read(op, Manner::Carry, true)),
            };
            if let Some(recipe) = from {
                // Where the rule is whole a recipe has one consumer; without that condition the first one counts.
                self.goes_to.entry(recipe).or_insert(goal);
            }
        }
        Ok(())
    }

    /// Whether an operation turns tiles into a tile, element by element.
    fn makes_tile(&self, op: Op) -> bool {
        let data = self.facts.kernel.op(op);
        let tile = data
            .results
            .iter()
            .any(|&result| !self.facts.kernel.ty(result).is_scalar());
        tile && matches!(role(&data.kind), Role::Elementwise | Role::Movement)
    }

    fn go_on(&mut self, recipe: Op, depth: usize) -> &mut Recipe {
        let known = self.pending.entry(recipe).or_insert(0);
        *known = (*known).max(depth + 1);
        self.recipes.entry(recipe).or_default()
    }

    fn read(&mut self, op: Op, manner: Manner, at_end: bool) -> Key {
        let place = if at_end {
            self.facts.last_within(op)
        } else {
            op
        };
        let moment = Moment { op: place, at_end };
        // What leaves a loop's body at its end is read from inside.
        let wrappers = if at_end {
            Vec::new()
        } else {
            self.facts
                .owners(self.home, self.facts.kernel.op(op).parent)
        };
        let key = (moment, Reverse(op));
        self.readers.entry(key).or_insert(Reader {
            moment,
            op,
            manner,
            wrappers,
            extracts: Vec::new(),
            stray: false,
        });
        key
    }
}
