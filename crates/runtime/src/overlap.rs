//! Whether elements of views are distinct, as far as shapes and strides can prove it.
//!
//! Elements of one view are `base + i * s + j * t + ..`. Sorted by magnitude, strides keep elements apart if each exceeds
//! the reach of all smaller ones together, as the digits of a number do; every array that people make is of this form.
//! Two views are apart if their address ranges are, or if both are made of rows of one distance and keep to different
//! columns. Both tests may say no of views that are distinct; they never say yes of views that are not.

use crate::view::View;

/// Whether no element of the view is reached by two coordinates.
pub(crate) fn is_injective(view: &View<'_>) -> bool {
    if view.is_empty() {
        return true;
    }
    let mut dims = steps(view);
    dims.sort_unstable();
    let mut reach = 0u128;
    for (step, extent) in dims {
        if step <= reach {
            return false;
        }
        reach += step * (extent - 1);
    }
    true
}

/// How two views lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// No byte belongs to both.
    Apart,
    /// They are the very same elements at the same coordinates.
    Same,
    /// Some bytes belong to both, or it can't be told.
    Overlapping,
}

/// How two views lie to each other.
pub(crate) fn relation(a: &View<'_>, b: &View<'_>) -> Relation {
    if a.is_empty() || b.is_empty() {
        return Relation::Apart;
    }
    let ((a_low, a_high), (b_low, b_high)) = (a.range(), b.range());
    if a_high <= b_low || b_high <= a_low {
        return Relation::Apart;
    }
    let same_strides = a
        .shape()
        .iter()
        .zip(a.strides().iter().zip(b.strides()))
        .all(|(&extent, (a, b))| extent == 1 || a == b);
    if a.base() == b.base() && a.element() == b.element() && a.shape() == b.shape() && same_strides
    {
        return Relation::Same;
    }
    if in_different_columns(a, b) {
        return Relation::Apart;
    }
    Relation::Overlapping
}

/// Steps in elements and extents of the dimensions that have more than one coordinate.
fn steps(view: &View<'_>) -> Vec<(u128, u128)> {
    view.shape()
        .iter()
        .zip(view.strides())
        .filter(|&(&extent, _)| extent > 1)
        .map(|(&extent, &stride)| (u128::from(stride.unsigned_abs()), extent as u128))
        .collect()
}

/// Whether both views consist of rows a common distance apart and keep to different columns of it: what slices of the last
/// dimension of one matrix do.
fn in_different_columns(a: &View<'_>, b: &View<'_>) -> bool {
    // The distance is one of the steps of `a`; try each.
    bytes_of(a).iter().any(|&(distance, _)| {
        let (Some(a), Some(b)) = (columns(a, distance), columns(b, distance)) else {
            return false;
        };
        // Rows of `a` begin with its own first byte; seen from there `b` has to begin behind it and end before the next row.
        let offset = (b.first - a.first).rem_euclid(distance);
        a.width <= offset && offset + b.width <= distance
    })
}

/// Steps in bytes and extents.
fn bytes_of(view: &View<'_>) -> Vec<(i128, i128)> {
    let size = view.element().size() as i128;
    steps(view)
        .into_iter()
        .map(|(step, extent)| (step as i128 * size, extent as i128))
        .collect()
}

/// The bytes that elements of a view lie in, if they repeat from row to row.
struct Columns {
    /// The address of the first byte in some row.
    first: i128,
    /// From the first byte to past the last one of that row.
    width: i128,
}

/// The columns of a view whose rows are `distance` bytes apart.
fn columns(view: &View<'_>, distance: i128) -> Option<Columns> {
    if distance == 0 {
        return None;
    }
    let mut width = view.element().size() as i128;
    let mut first = view.base() as usize as i128;
    for (&extent, &stride) in view.shape().iter().zip(view.strides()) {
        let step = i128::from(stride) * view.element().size() as i128;
        if extent <= 1 || step % distance == 0 {
            continue;
        }
        let reach = (extent as i128 - 1) * step;
        width += reach.abs();
        first += reach.min(0);
    }
    Some(Columns { first, width })
}

#[cfg(test)]
mod tests {
    use super::{Relation, is_injective, relation};
    use crate::view::View;

    fn view<'a>(data: &'a [f32], origin: usize, shape: &[usize], strides: &[i64]) -> View<'a> {
        View::strided(data, origin, shape, strides).expect("a view inside the data")
    }

    /// Offsets of all elements, by enumeration.
    fn offsets(view: &View<'_>) -> Vec<i64> {
        let mut list = vec![0];
        for (&extent, &stride) in view.shape().iter().zip(view.strides()) {
            list = list
                .iter()
                .flat_map(|&at| (0..extent as i64).map(move |i| at + i * stride))
                .collect();
        }
        list
    }

    #[test]
    fn both_tests_agree_with_enumeration_where_they_say_yes() {
        let data = vec![0.0f32; 64];
        let mut views = Vec::new();
        for origin in [20, 22, 24, 27] {
            for (s, e) in [
                (1i64, 3usize),
                (2, 2),
                (4, 3),
                (8, 2),
                (0, 2),
                (-1, 3),
                (3, 1),
            ] {
                for (t, f) in [(1i64, 2usize), (3, 2), (4, 2), (8, 3), (-4, 2), (6, 2)] {
                    views.push((origin, view(&data, origin, &[e, f], &[s, t])));
                }
            }
        }
        let (mut injective, mut apart) = (0, 0);
        for (a_origin, a) in &views {
            let mut seen: Vec<i64> = offsets(a).iter().map(|at| at + *a_origin as i64).collect();
            seen.sort_unstable();
            let distinct = seen.windows(2).all(|pair| pair[0] != pair[1]);
            if is_injective(a) {
                injective += 1;
                assert!(distinct, "{a:?}");
            }
            for (b_origin, b) in &views {
                if relation(a, b) == Relation::Apart {
                    apart += 1;
                    let other: Vec<i64> =
                        offsets(b).iter().map(|at| at + *b_origin as i64).collect();
                    assert!(
                        seen.iter().all(|at| !other.contains(at)),
                        "{a_origin} {a:?} and {b_origin} {b:?}"
                    );
                }
            }
        }
        assert!(injective > 50 && apart > 1000, "{injective} {apart}");
    }

    #[test]
    fn slices_of_columns_are_apart() {
        let data = vec![0.0f32; 4 * 12];
        let q = view(&data, 0, &[4, 4], &[12, 1]);
        let k = view(&data, 4, &[4, 4], &[12, 1]);
        let wide = view(&data, 3, &[4, 4], &[12, 1]);
        assert_eq!(relation(&q, &k), Relation::Apart);
        assert_eq!(relation(&q, &wide), Relation::Overlapping);
        assert_eq!(
            relation(&q, &view(&data, 0, &[4, 4], &[12, 1])),
            Relation::Same
        );
        assert_eq!(
            relation(&q, &view(&data, 0, &[4, 3], &[12, 1])),
            Relation::Overlapping
        );
    }
}
