//! The name somebody probably meant.

/// The candidate that differs in at most two letters (one, for names of two or three letters), the closest first; ties go to the first.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    // Any letter is one letter away from any other; long names and long lists don't come from people.
    let limit = match name.len() {
        2..=3 => 1,
        4..=64 => 2,
        _ => return None,
    };
    candidates
        .take(1000)
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit && *candidate != name)
        .map(|candidate| (distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, dropped or replaced (Levenshtein 1966).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn close_names_are_found_and_others_are_not() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(nearest("xz", ["xs", "ys"].into_iter()), Some("xs"));
        assert_eq!(
            nearest("sigmiod", ["sigmoid", "sqrt"].into_iter()),
            Some("sigmoid")
        );
        assert_eq!(nearest("a", ["b"].into_iter()), None);
        assert_eq!(nearest("zebra", ["xs", "ws"].into_iter()), None);
    }
}
