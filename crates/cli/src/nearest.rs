//! The name somebody may have meant.

/// The candidate fewest edits away from `name`, if that is few enough to be a slip; the first of equals.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let allowed = (name.chars().count() / 4).max(1);
    let near = |candidate: &'n str| Some((edits(name, candidate, allowed)?, candidate));
    candidates
        .into_iter()
        .filter_map(near)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// How many characters to insert, drop or change, or `None` if more than `limit` (Wagner and Fischer, 1974).
fn edits(from: &str, to: &str, limit: usize) -> Option<usize> {
    let to: Vec<char> = to.chars().collect();
    let from: Vec<char> = from.chars().collect();
    if from.len().abs_diff(to.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Some(row[to.len()]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_only() {
        assert_eq!(nearest("wieght", ["bias", "weight"]), None);
        assert_eq!(
            nearest("norm.wieght", ["norm.bias", "norm.weight"]),
            Some("norm.weight")
        );
        assert_eq!(nearest("X", ["y", "x"]), Some("y"));
        assert_eq!(nearest("eps", ["x", "w"]), None);
        assert_eq!(nearest("", ["a"]), Some("a"));
    }
}
