//! A run as Markdown, and its place in a page.

use super::case::TOLERANCE;
use super::record::{Record, Row};

/// The columns, in order; those that no row has are left out.
const COLUMNS: [&str; 7] = [
    "ours",
    "inductor",
    "inductor 256",
    "gcc",
    "clang",
    "gcc poly",
    "clang poly",
];

/// A run as a table with the summary under it.
pub fn markdown(record: &Record) -> String {
    let rows = &record.rows;
    let present = |name: &&str| rows.iter().any(|row| row.arm(name).is_some());
    let columns: Vec<&str> = COLUMNS.into_iter().filter(present).collect();
    let rivals = &columns[1..];
    let environment = &record.environment;
    let mut text = format!(
        "{}: {} ({}), {}, {}. {}.\n\n",
        environment.date,
        environment.processor,
        environment.vectors,
        environment.system,
        environment.quiet,
        record.protocol
    );
    text.push_str("| case |");
    for column in &columns {
        text.push_str(&format!(" {column} us |"));
    }
    for rival in rivals {
        text.push_str(&format!(" ours / {rival} |"));
    }
    text.push_str(" ours / stream |\n|---|");
    text.push_str(&"---:|".repeat(columns.len() + rivals.len() + 1));
    text.push('\n');
    for row in rows {
        text.push_str(&line(row, &columns));
    }
    text.push('\n');
    for rival in rivals {
        text.push_str(&summary(rows, rival));
    }
    let wrong: Vec<String> = rows
        .iter()
        .flat_map(|row| row.arms.iter().map(move |arm| (row, arm)))
        .filter(|(_, arm)| arm.error > TOLERANCE)
        .map(|(row, arm)| format!("{} on {} ({:.1e})", arm.name, row.case, arm.error))
        .collect();
    if wrong.is_empty() {
        text.push_str(&format!(
            "- Every arm's results are within {TOLERANCE:.0e} of double precision.\n"
        ));
    } else {
        text.push_str(&format!(
            "- Further than {TOLERANCE:.0e} from double precision (marked *): {}.\n",
            wrong.join(", ")
        ));
    }
    text.push_str("\nPlans that were chosen:\n\n");
    for row in rows {
        if let Some(ours) = row.arm("ours") {
            text.push_str(&format!(
                "- `{}`: `{}`, of {} programs tried; {} bytes of code\n",
                row.case, ours.detail, row.plans_tried, row.code_bytes
            ));
        }
    }
    text
}

fn line(row: &Row, columns: &[&str]) -> String {
    let mut text = format!(
        "| {}{} |",
        row.case,
        if row.of.of_fifteen { "" } else { " †" }
    );
    for column in columns {
        match row.arm(column) {
            Some(arm) => {
                let mark = if arm.error > TOLERANCE { "*" } else { "" };
                text.push_str(&format!(
                    " {} ({}){mark} |",
                    time(arm.median()),
                    time(arm.least())
                ));
            }
            None => text.push_str(" |"),
        }
    }
    for name in columns[1..].iter().chain(&["stream"]) {
        match row.ratio(name) {
            Some(ratio) => text.push_str(&format!(" {ratio:.2} |")),
            None => text.push_str(" |"),
        }
    }
    text.push('\n');
    text
}

fn time(nanoseconds: f64) -> String {
    let microseconds = nanoseconds / 1e3;
    match microseconds {
        small if small < 10.0 => format!("{small:.3}"),
        middle if middle < 1000.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

/// Geometric means against a rival, over the fifteen cases and over all, and where ours is slower.
fn summary(rows: &[Row], rival: &str) -> String {
    let ratios = |fifteen: bool| -> Vec<f64> {
        let some = rows.iter().filter(|row| !fifteen || row.of.of_fifteen);
        some.filter_map(|row| row.ratio(rival)).collect()
    };
    let least = |row: &Row| Some(row.arm("ours")?.least() / row.arm(rival)?.least());
    let (fifteen, all) = (ratios(true), ratios(false));
    let leasts: Vec<f64> = rows
        .iter()
        .filter(|row| row.of.of_fifteen)
        .filter_map(least)
        .collect();
    let slower: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            row.ratio(rival)
                .filter(|&ratio| ratio > 1.0)
                .map(|ratio| (row, ratio))
        })
        .map(|(row, ratio)| format!("{} ({ratio:.2})", row.case))
        .collect();
    format!(
        "- ours / {rival}: geometric mean {:.3} over {} of the fifteen cases ({:.3} by least times), {:.3} over all {}; \
         slower in {}{}{}\n",
        geometric_mean(&fifteen),
        fifteen.len(),
        geometric_mean(&leasts),
        geometric_mean(&all),
        all.len(),
        slower.len(),
        if slower.is_empty() { "" } else { ": " },
        slower.join(", ")
    )
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// A page with what stands between two marker comments, `<!-- NAME: begin -->` and `<!-- NAME: end -->`, replaced.
///
/// # Errors
/// What is wrong with the markers.
pub fn replace_between(page: &str, name: &str, text: &str) -> Result<String, String> {
    let begin = format!("<!-- {name}: begin -->");
    let end = format!("<!-- {name}: end -->");
    let missing = |marker: &str| format!("the page has no line `{marker}`");
    let (before, rest) = page.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    Ok(format!(
        "{before}{begin}\n\n{}\n\n{end}{after}",
        text.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_markers_is_replaced_and_a_missing_marker_is_told() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = replace_between(page, "x", "new\n").expect("both markers are there");
        assert_eq!(new, "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n");
        assert_eq!(replace_between(&new, "x", "new").expect("still there"), new);
        assert!(
            replace_between(page, "y", "")
                .expect_err("none")
                .contains("y: begin")
        );
    }

    #[test]
    fn the_geometric_mean_of_inverse_ratios_is_one() {
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }
}
