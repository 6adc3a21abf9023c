//! The order in which a reduction combines its elements.
//!
//! Floating-point addition is not associative, so the order of a sum decides its bits. A strictly sequential order is
//! slow, an order that follows the machine gives different bits on different machines. So the order is a value, a
//! [`TreeShape`], and the rule below is the only place that says what it means.
//!
//! The rule, for `n` elements `e_0 .. e_{n-1}` and a width `K`: partial `j` folds `e_j, e_{j+K}, e_{j+2K}, ...` left to
//! right, beginning with its first element (a partial with `j >= n` does not exist); partials merge by halving, for
//! `h = K/2, K/4, .., 1`: `p_j = p_j op p_{j+h}` for every `j < h` where `p_{j+h}` exists. With a block `B` and more than
//! `B` elements, each run of `B` consecutive elements (the last may be shorter) is reduced by that rule, and the results
//! of the blocks form a new sequence to which the whole rule is applied again. The initial value enters once, last.
//!
//! Law **tree**: the shape and the number of elements alone decide which operations are applied to what.

/// How many partial results a reduction keeps, and in what blocks it takes its elements.
///
/// Invariant **finite**: the width is a power of two and a block has at least two elements, so that every tree ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeShape {
    width: u32,
    block: Option<u32>,
}

/// The one tree of the `tree` policy: 32 partials, blocks of 4096 elements.
///
/// 32 partials are four registers of eight lanes, or two per lane of sixteen: enough to hide the latency of an addition
/// on every mapping. 4096 elements bound a sequential chain to 127 additions and an element's way into
/// the result of a block to 127 + 5, and are the unit in which threads can share a long sum.
pub const TREE: TreeShape = TreeShape {
    width: 32,
    block: Some(4096),
};

impl TreeShape {
    /// A shape of `width` partials, in blocks of `block` elements if given; `None` unless the width is a power of two and
    /// the block at least two.
    #[must_use]
    pub const fn new(width: u32, block: Option<u32>) -> Option<TreeShape> {
        let ends = match block {
            Some(block) => block >= 2,
            None => true,
        };
        if width.is_power_of_two() && ends {
            Some(TreeShape { width, block })
        } else {
            None
        }
    }

    /// How many partials there are; a power of two.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width
    }

    /// How many consecutive elements form a block, at least two; `None` if the sequence is never cut.
    #[must_use]
    pub const fn block(self) -> Option<u32> {
        self.block
    }
}

/// Reduces a slice by the rule of this module: `init op total`, or `init` if there are no elements.
pub fn reduce_with_shape<T: Clone>(
    shape: TreeShape,
    items: &[T],
    init: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    match total(shape, items, &mut op) {
        Some(total) => op(init, total),
        None => init,
    }
}

fn total<T: Clone>(shape: TreeShape, items: &[T], op: &mut impl FnMut(T, T) -> T) -> Option<T> {
    match shape.block {
        Some(block) if items.len() > block as usize => {
            let blocks: Vec<T> = items
                .chunks(block as usize)
                .filter_map(|chunk| lanes(shape.width, chunk, op))
                .collect();
            total(shape, &blocks, op)
        }
        Some(_) | None => lanes(shape.width, items, op),
    }
}

fn lanes<T: Clone>(width: u32, items: &[T], op: &mut impl FnMut(T, T) -> T) -> Option<T> {
    let width = width as usize;
    let mut partials: Vec<T> = items.iter().take(width).cloned().collect();
    for (index, item) in items.iter().enumerate().skip(width) {
        let partial = &mut partials[index % width];
        *partial = op(partial.clone(), item.clone());
    }
    merge_by_halving(width, &mut partials, op)
}

/// Merges at most `width` partials; `None` if there are none.
fn merge_by_halving<T: Clone>(
    width: usize,
    partials: &mut Vec<T>,
    op: &mut impl FnMut(T, T) -> T,
) -> Option<T> {
    let mut half = width / 2;
    while half > 0 {
        for upper in half..partials.len() {
            partials[upper - half] = op(partials[upper - half].clone(), partials[upper].clone());
        }
        partials.truncate(half);
        half /= 2;
    }
    partials.pop()
}

/// Reduces elements as they come, with the same result as [`reduce_with_shape`] on the whole sequence; keeps one row of
/// partials for each level of blocks, whatever the length.
pub fn reduce_iterator_with_shape<T: Clone>(
    shape: TreeShape,
    items: impl IntoIterator<Item = T>,
    init: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let mut levels: Vec<Level<T>> = vec![Level::empty()];
    for item in items {
        take(shape, &mut levels, 0, item, &mut op);
    }
    let mut depth = 0;
    loop {
        let Some(total) = levels[depth].finish(shape, &mut op) else {
            return init;
        };
        depth += 1;
        if depth == levels.len() {
            return op(init, total);
        }
        take(shape, &mut levels, depth, total, &mut op);
    }
}

/// The block that is being filled on one level.
struct Level<T> {
    partials: Vec<T>,
    taken: usize,
}

impl<T: Clone> Level<T> {
    fn empty() -> Level<T> {
        Level {
            partials: Vec::new(),
            taken: 0,
        }
    }

    fn finish(&mut self, shape: TreeShape, op: &mut impl FnMut(T, T) -> T) -> Option<T> {
        self.taken = 0;
        let mut partials = std::mem::take(&mut self.partials);
        merge_by_halving(shape.width as usize, &mut partials, op)
    }
}

/// Adds an element to a level. A full block is closed only when an element beyond it arrives: until then the sequence
/// may end exactly there, without a further level.
fn take<T: Clone>(
    shape: TreeShape,
    levels: &mut Vec<Level<T>>,
    depth: usize,
    item: T,
    op: &mut impl FnMut(T, T) -> T,
) {
    if shape
        .block
        .is_some_and(|block| levels[depth].taken == block as usize)
        && let Some(total) = levels[depth].finish(shape, op)
    {
        if depth + 1 == levels.len() {
            levels.push(Level::empty());
        }
        take(shape, levels, depth + 1, total, op);
    }
    let level = &mut levels[depth];
    let width = shape.width as usize;
    if level.taken < width {
        level.partials.push(item);
    } else {
        let partial = &mut level.partials[level.taken % width];
        *partial = op(partial.clone(), item);
    }
    level.taken += 1;
}

#[cfg(test)]
mod tests {
    use super::{TREE, TreeShape, reduce_iterator_with_shape, reduce_with_shape};

    fn written(shape: TreeShape, count: usize) -> String {
        let names: Vec<String> = (0..count).map(|index| index.to_string()).collect();
        reduce_with_shape(shape, &names, "i".to_owned(), |left, right| {
            format!("({left} {right})")
        })
    }

    fn shape(width: u32, block: Option<u32>) -> TreeShape {
        TreeShape::new(width, block).expect("a lawful shape")
    }

    #[test]
    fn trees_written_out() {
        assert_eq!(written(shape(4, None), 0), "i");
        assert_eq!(written(shape(4, None), 1), "(i 0)");
        assert_eq!(written(shape(4, None), 2), "(i (0 1))");
        assert_eq!(written(shape(4, None), 3), "(i ((0 2) 1))");
        assert_eq!(written(shape(4, None), 4), "(i ((0 2) (1 3)))");
        assert_eq!(written(shape(4, None), 6), "(i (((0 4) 2) ((1 5) 3)))");
        assert_eq!(written(shape(1, None), 4), "(i (((0 1) 2) 3))");
        assert_eq!(written(shape(2, Some(4)), 4), "(i ((0 2) (1 3)))");
        assert_eq!(written(shape(2, Some(4)), 5), "(i (((0 2) (1 3)) 4))");
        assert_eq!(written(shape(1, Some(2)), 5), "(i (((0 1) (2 3)) 4))");
    }

    #[test]
    fn streaming_gives_the_same_tree() {
        for width in [1, 2, 4, 8] {
            for block in [None, Some(2), Some(3), Some(4), Some(9)] {
                for count in 0..100 {
                    let shape = shape(width, block);
                    let names = (0..count).map(|index: usize| index.to_string());
                    let streamed =
                        reduce_iterator_with_shape(shape, names, "i".to_owned(), |l, r| {
                            format!("({l} {r})")
                        });
                    assert_eq!(streamed, written(shape, count), "{shape:?} {count}");
                }
            }
        }
        for count in [4095, 4096, 4097, 8192, 10_000, 4096 * 33 + 5] {
            let values: Vec<f32> = (0..count).map(|index| 1.0 / (index as f32 + 1.5)).collect();
            let whole = reduce_with_shape(TREE, &values, 0.5, |left, right| left + right);
            let streamed =
                reduce_iterator_with_shape(TREE, values.iter().copied(), 0.5, |left, right| {
                    left + right
                });
            assert_eq!(whole.to_bits(), streamed.to_bits());
        }
    }

    #[test]
    fn every_element_enters_once_and_shapes_have_an_end() {
        for count in [0usize, 1, 31, 32, 33, 4096, 4097, 4096 * 2 + 1] {
            let ones = vec![1u64; count];
            assert_eq!(
                reduce_with_shape(TREE, &ones, 0, |left, right| left + right),
                count as u64
            );
        }
        assert_eq!(TreeShape::new(6, None), None);
        assert_eq!(TreeShape::new(0, None), None);
        assert_eq!(TreeShape::new(4, Some(1)), None);
        assert_eq!(TreeShape::new(32, Some(4096)), Some(TREE));
    }
}
