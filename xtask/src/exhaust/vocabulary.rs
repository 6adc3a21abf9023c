//! Every program of a size: sequences of statements over two buffers, each statement with every tile it can name.
//!
//! A program is a list. `Loop` opens a loop of two rounds that `EndLoop`, or the end of the program, closes; the size counts
//! every statement but `EndLoop`. Tiles are named by their place among those in scope.

use std::ops::ControlFlow;

/// One of the two buffers' views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    A,
    B,
}

/// What a store writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Constant,
    Tile(usize),
}

/// A reduction of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nest {
    /// `unordered`, of the elements.
    Sum,
    /// `tree`, of the squares.
    TreeOfSquares,
    /// `fold`, of the elements.
    Fold,
    /// `unordered`, two carries.
    TwoCarries,
    /// `unordered`, with a tile that is squared in the body.
    TileInBody,
    /// `unordered`, element 0 at every point.
    FixedElement,
    /// `unordered`, over an axis that the tile lacks as well.
    ExtraAxis,
    /// `unordered`, in a `map` of one point.
    InUnitMap,
    /// `unordered`, in a `map` of two points.
    InMap,
}

impl Nest {
    pub(crate) const ALL: [Nest; 9] = [
        Nest::Sum,
        Nest::TreeOfSquares,
        Nest::Fold,
        Nest::TwoCarries,
        Nest::TileInBody,
        Nest::FixedElement,
        Nest::ExtraAxis,
        Nest::InUnitMap,
        Nest::InMap,
    ];
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Makes a tile: a window of a view from this origin. From 1 it reaches beyond the bounds.
    Load(View, i32),
    /// Writes a whole row of a view.
    Store(View, Stored),
    Stage,
    Opaque,
    /// Makes a tile: the square of another.
    Square(usize),
    /// Makes a tile: the sum of two others.
    Add(usize, usize),
    /// Makes a tile: the square of another, by a `map`.
    MapSquare(usize),
    Reduce(Nest, usize),
    /// `unordered`, of the products of two tiles.
    Dot(usize, usize),
    /// One element of a tile.
    Element(usize),
    Loop,
    EndLoop,
}

/// What is in scope while a program is written.
#[derive(Clone, Copy)]
struct Scope {
    tiles: usize,
    /// In a loop: how many tiles there were before it, and whether it has a statement yet.
    outside: Option<(usize, bool)>,
}

/// Calls `visit` with every program of exactly `size` statements.
pub(crate) fn every_program(
    size: usize,
    visit: &mut dyn FnMut(&[Statement]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let scope = Scope {
        tiles: 0,
        outside: None,
    };
    extend(&mut Vec::with_capacity(2 * size), scope, size, visit)
}

fn extend(
    program: &mut Vec<Statement>,
    scope: Scope,
    left: usize,
    visit: &mut dyn FnMut(&[Statement]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if left == 0 {
        return visit(program);
    }
    let mut go = |statement: Statement, scope: Scope, left: usize| {
        program.push(statement);
        let end = extend(program, scope, left, visit);
        program.pop();
        end
    };
    if let Some((tiles, true)) = scope.outside {
        go(
            Statement::EndLoop,
            Scope {
                tiles,
                outside: None,
            },
            left,
        )?;
    }
    if scope.outside.is_none() && left >= 2 {
        go(
            Statement::Loop,
            Scope {
                tiles: scope.tiles,
                outside: Some((scope.tiles, false)),
            },
            left - 1,
        )?;
    }
    let outside = scope.outside.map(|(tiles, _)| (tiles, true));
    let same = Scope {
        tiles: scope.tiles,
        outside,
    };
    let more = Scope {
        tiles: scope.tiles + 1,
        outside,
    };
    let left = left - 1;
    for view in [View::A, View::B] {
        for origin in [0, 1] {
            go(Statement::Load(view, origin), more, left)?;
        }
        go(Statement::Store(view, Stored::Constant), same, left)?;
        for tile in 0..scope.tiles {
            go(Statement::Store(view, Stored::Tile(tile)), same, left)?;
        }
    }
    if scope.outside.is_none() {
        go(Statement::Stage, same, left)?;
    }
    go(Statement::Opaque, same, left)?;
    for tile in 0..scope.tiles {
        go(Statement::Square(tile), more, left)?;
        go(Statement::MapSquare(tile), more, left)?;
        for nest in Nest::ALL {
            go(Statement::Reduce(nest, tile), same, left)?;
        }
        go(Statement::Element(tile), same, left)?;
        for other in 0..tile {
            go(Statement::Add(other, tile), more, left)?;
            go(Statement::Dot(other, tile), same, left)?;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(size: usize) -> usize {
        let mut count = 0;
        let end = every_program(size, &mut |program| {
            let statements = program
                .iter()
                .filter(|&&statement| statement != Statement::EndLoop)
                .count();
            assert_eq!(statements, size);
            count += 1;
            ControlFlow::Continue(())
        });
        assert!(end.is_continue());
        count
    }

    #[test]
    fn programs_are_counted_by_hand() {
        // Four loads, two stores of a constant, a stage, an opaque effect.
        assert_eq!(count(1), 8);
        // After a load (four) there is one tile: two stores, two recipes, nine nests and an element more. After anything
        // else (four) the eight again. A loop has one of seven in it, for a stage may not stand there.
        assert_eq!(count(2), 4 * (8 + 2 + 2 + 9 + 1) + 4 * 8 + 7);
    }

    #[test]
    fn no_program_comes_twice() {
        let mut programs = Vec::new();
        let end = every_program(3, &mut |program| {
            programs.push(format!("{program:?}"));
            ControlFlow::Continue(())
        });
        assert!(end.is_continue());
        let count = programs.len();
        programs.sort();
        programs.dedup();
        assert_eq!(programs.len(), count);
    }
}
