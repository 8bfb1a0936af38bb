//! The map of the code in docs/ARCHITECTURE.md: each crate and folder with the first sentence of its module doc.

use super::{ARCHITECTURE, Finding, SourceFile, table_rows};
use std::collections::{BTreeMap, BTreeSet};

const HEADING: &str = "## Crates and folders";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let page = files.iter().find(|file| file.path == ARCHITECTURE).map_or("", |file| file.text.as_str());
    let mut rows: BTreeMap<&str, (usize, &str)> = table_rows(page, HEADING)
        .filter_map(|(number, cells)| Some((cells.first()?.trim_matches('`'), (number, *cells.get(1)?))))
        .collect();
    let mut findings = Vec::new();
    for (path, purpose) in purposes(files) {
        let says = format!("the map needs the row | `{path}` | {purpose} |, as the module doc says");
        match rows.remove(path) {
            Some((_, text)) if text == purpose => {}
            row => findings.push(Finding::new(ARCHITECTURE, row.map_or(1, |(number, _)| number), says)),
        }
    }
    let unknown = rows.into_iter().map(|(path, (number, _))| {
        Finding::new(ARCHITECTURE, number, format!("{path} is no crate and no folder of sources, remove its row"))
    });
    findings.extend(unknown);
    findings
}

/// Returns each crate and each folder directly below its sources, with the first sentence of its module doc. A
/// folder that has only the tests of the module beside it is not listed.
fn purposes(files: &[SourceFile]) -> BTreeMap<&str, String> {
    let sources = files.iter().filter(|file| file.path.ends_with(".rs") && !file.path.ends_with("/tests.rs"));
    let places: BTreeSet<&str> = sources.filter_map(|file| place(&file.path)).collect();
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let purpose = |place: &str| {
        let modules = ["/src/lib.rs", "/src/main.rs", "/mod.rs", ".rs"];
        modules.iter().find_map(|end| text(&format!("{place}{end}"))).map_or(String::new(), first_sentence)
    };
    places.into_iter().map(|place| (place, purpose(place))).collect()
}

/// Returns the crate of a source, or the folder below `src` that has the source.
fn place(path: &str) -> Option<&str> {
    let (package, rest) = path.split_once("/src/")?;
    let end = rest.find('/').map_or(package.len(), |end| package.len() + "/src/".len() + end);
    Some(&path[..end])
}

/// Returns the first sentence of a module doc without its full stop.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    paragraph.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn row_that_differs_from_the_module_doc_is_found() {
        let page = "## Crates and folders\n\n| `a` | Reads\n| `a/src/b` | Rows of a table |\n| `a/src/c` | Cells |\n\
                    | `a/src/e` | Files |\n\n## Data\n\n| `a/src/f` | Columns |\n";
        let files = [
            file(ARCHITECTURE, page),
            file("a/src/b/mod.rs", "//! Rows\n//! of a table. Second sentence.\n"),
            file("a/src/c.rs", "//! Names of cells.\n//!\n//! More.\n"),
            file("a/src/c/d.rs", ""),
            file("a/src/lib.rs", "//! Reads.\n"),
            file("a/src/lib/tests.rs", ""),
            file("g/src/main.rs", "//! `g`: writes.\n"),
        ];
        let findings = check(&files).into_iter().map(|finding| (finding.line, finding.says));
        let needs = |row: &str| format!("the map needs the row {row}, as the module doc says");
        let expected_findings = [
            (5, needs("| `a/src/c` | Names of cells |")),
            (1, needs("| `g` | `g`: writes |")),
            (6, "a/src/e is no crate and no folder of sources, remove its row".to_owned()),
        ];
        assert_eq!(findings.collect::<Vec<_>>(), expected_findings);
    }
}
