//! References to the contract, such as `§4.1` and `A13`: each must lead to a heading of docs/contract.

use super::{Finding, SourceFile};
use std::collections::BTreeSet;

/// Folder of the contract, whose headings are the valid references.
const CONTRACT: &str = "docs/contract/";
/// First letters of decisions, such as the `A` of `A13`.
const SECTIONS_OF_DECISIONS: std::ops::RangeInclusive<char> = 'A'..='H';

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let headings: BTreeSet<&str> =
        files.iter().filter(|file| file.path.starts_with(CONTRACT)).flat_map(headings).collect();
    files
        .iter()
        .filter(|file| may_refer(&file.path))
        .flat_map(|file| unresolved_references(file, &headings))
        .collect()
}

/// Returns `true` for Rust code, SQL statements and documents.
fn may_refer(path: &str) -> bool {
    [".rs", ".sql", ".md"].iter().any(|ending| path.ends_with(ending))
}

/// Returns the first words of a file's headings, such as `§4.1`, `A13` and `G`.
fn headings(file: &SourceFile) -> impl Iterator<Item = &str> {
    let titles = file.text.lines().filter(|line| line.starts_with('#'));
    titles.filter_map(|line| line.trim_start_matches('#').split_whitespace().next())
}

fn unresolved_references(file: &SourceFile, headings: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let prose = if file.path.ends_with(".rs") { comment(line) } else { line };
        let references = sections(prose).into_iter().chain(decisions(prose));
        let dead_references = references.filter(|reference| !headings.contains(reference.as_str()));
        findings.extend(dead_references.map(|reference| {
            let says = format!("{reference} is no heading of {CONTRACT}, name another heading, or add this one");
            Finding::new(&file.path, number, says)
        }));
    }
    findings
}

/// Returns the text of a comment; empty for a line without one.
fn comment(line: &str) -> &str {
    line.find("//").map_or("", |at| line[at..].trim_start_matches('/'))
}

/// Returns every `§` with its number, except behind the word `RFC` in the line.
fn sections(prose: &str) -> Vec<String> {
    let places = prose.match_indices('§').filter(|(at, _)| !prose[..*at].contains("RFC"));
    places
        .map(|(at, sign)| {
            let rest = prose[at + sign.len()..].trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest[..end].trim_end_matches('.')
        })
        .filter(|number| !number.is_empty())
        .map(|number| format!("§{number}"))
        .collect()
}

/// Returns every word such as `A13`: a letter of the decisions and a number.
fn decisions(prose: &str) -> Vec<String> {
    let words = prose.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_decision = |word: &&str| {
        let mut letters = word.chars();
        let begins = letters.next().is_some_and(|c| SECTIONS_OF_DECISIONS.contains(&c));
        let number = letters.as_str();
        begins
            && !number.starts_with('0')
            && matches!(number.len(), 1..=2)
            && number.chars().all(|c| c.is_ascii_digit())
    };
    words.filter(is_decision).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn lost_references(path: &str, text: &str) -> Vec<String> {
        let contract =
            file("docs/contract/decisions.md", "# Decisions\n\n## §4.1 Observations\n\n### A13 Order\n");
        let findings = check(&[contract, file(path, text)]);
        findings.into_iter().map(|finding| finding.says.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn reference_without_a_heading_is_found() {
        assert_eq!(lost_references("a.rs", "//! Lists (§4.1, decision A13).\n"), [""; 0]);
        assert_eq!(lost_references("a.rs", "/// As decisions A13 and A14 say (§4.1, § 4.2).\n"), ["§4.2", "A14"]);
        assert_eq!(lost_references("a.sql", "-- see §4.\n"), ["§4"]);
        assert_eq!(lost_references("a.md", "The order is (A12)."), ["A12"]);
    }

    #[test]
    fn other_text_is_not_a_reference() {
        assert_eq!(
            lost_references("a.rs", "let A14 = \"§5\"; // RFC 9110 §13.1, C0 controls, A100, FA14\n"),
            [""; 0]
        );
        assert_eq!(lost_references("a.json", "\"A14\""), [""; 0]);
    }
}
