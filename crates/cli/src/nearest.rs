//! The name somebody may have meant.

/// The candidate fewest edits away from `name`, upper or lower case alike, if that is few enough to be a slip: one edit for
/// three characters, so that names of one letter are never mistaken for each other. The first of equals.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let name = name.to_lowercase();
    let near = |candidate: &'n str| {
        let allowed = name.chars().count().max(candidate.chars().count()) / 3;
        Some((edits(&name, &candidate.to_lowercase(), allowed)?, candidate))
    };
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
        assert_eq!(nearest("wieght", ["bias", "weight"]), Some("weight"));
        assert_eq!(
            nearest("norm.wieght", ["norm.bias", "norm.weight"]),
            Some("norm.weight")
        );
        assert_eq!(nearest("X", ["y", "x"]), Some("x"));
        assert_eq!(nearest("z", ["y", "x"]), None);
        assert_eq!(nearest("ep", ["x", "eps"]), Some("eps"));
        assert_eq!(nearest("eps", ["x", "w"]), None);
        assert_eq!(nearest("", ["a"]), None);
    }
}
