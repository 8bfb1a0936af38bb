//! Tests that documents name as proof, such as `crates/forms/src/window.rs::refused_request_is_not_counted`: each
//! must exist, and each promise of docs/promises.md must name at least one.

use super::wording::test_names;
use super::{Finding, SourceFile, code_spans};

/// Page of the promises. Each section of the second level is a promise.
const PROMISES: &str = "docs/promises.md";
/// End of the path of a test's file.
const FILE_END: &str = ".rs";
/// Sign between the file of a test and the name of its function.
const SEPARATOR: &str = "::";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    let mut findings: Vec<_> = documents.flat_map(|document| unknown_tests(document, files)).collect();
    findings.extend(files.iter().filter(|file| file.path == PROMISES).flat_map(find_unproven));
    findings
}

/// Returns a finding for each test that the document names and the project does not have.
fn unknown_tests(document: &SourceFile, files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(document.text.lines()) {
        for (path, name) in named_tests(line) {
            let says = match files.iter().find(|file| file.path == path) {
                None => format!("{path} is no file of the project, name the file of a test"),
                Some(file) if test_names(&file.text).all(|(_, test)| test != name) => {
                    format!("{path} has no test {name}, name a test that it has, or remove the statement")
                }
                Some(_) => continue,
            };
            findings.push(Finding::new(&document.path, number, says));
        }
    }
    findings
}

/// Returns the tests in the spans of code of a line: the path of the file and the name of the function.
fn named_tests(line: &str) -> impl Iterator<Item = (&str, &str)> {
    code_spans(line).filter_map(|span| span.split_once(SEPARATOR)).filter(|(path, _)| path.ends_with(FILE_END))
}

/// Returns a finding for each promise of the page that names no test.
fn find_unproven(page: &SourceFile) -> Vec<Finding> {
    let mut promises: Vec<(usize, &str, bool)> = Vec::new();
    for (number, line) in (1..).zip(page.text.lines()) {
        if let Some(title) = line.strip_prefix("## ") {
            promises.push((number, title, false));
        }
        if let Some((_, _, has_test)) = promises.last_mut() {
            *has_test |= named_tests(line).next().is_some();
        }
    }
    let unproven = promises.into_iter().filter(|(.., has_test)| !has_test);
    let says = |title| format!("the promise \"{title}\" names no test, add `path.rs::name` of one that proves it");
    unproven.map(|(number, title, _)| Finding::new(&page.path, number, says(title))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    const SOURCE: &str = "#[test]\nfn key_is_kept() {}\nfn helper() {}\nCase::new(row_is_read),\n";

    /// Returns the lines and the first words of the findings about a page.
    fn find_lines(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&[file("a/b.rs", SOURCE), file(path, text)]);
        let first = |says: &str| says.split(',').next().unwrap_or_default().to_owned();
        findings.into_iter().map(|finding| (finding.line, first(&finding.says))).collect()
    }

    #[test]
    fn test_of_a_document_exists_in_its_file() {
        let text = "| `a/b.rs::key_is_kept`, `a/b.rs::row_is_read` | `a::b` |\n`x.rs` and a/b.rs::text\n";
        assert_eq!(find_lines("docs/a.md", text), []);
        let text = "`a/b.rs::helper`\n`a/b.rs::key_is`\n`a/c.rs::key_is_kept`\n";
        let expected_findings = [
            (1, "a/b.rs has no test helper".to_owned()),
            (2, "a/b.rs has no test key_is".to_owned()),
            (3, "a/c.rs is no file of the project".to_owned()),
        ];
        assert_eq!(find_lines("docs/a.md", text), expected_findings);
        assert_eq!(find_lines("a.json", text), []);
    }

    #[test]
    fn promise_without_a_test_is_found() {
        let text = "# Promises\n\n## Kept\n\n### Proof\n\n`a/b.rs::key_is_kept`\n\n## Not kept\n\n`b.rs`\n";
        assert_eq!(find_lines(PROMISES, text), [(9, "the promise \"Not kept\" names no test".to_owned())]);
        assert_eq!(find_lines("docs/other.md", text), []);
    }
}
