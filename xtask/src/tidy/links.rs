//! Links between documents: each must lead to a file of the repository. A link with a heading must lead to a heading
//! of that file. A path in a span of code, such as `crates/app/src/main.rs`, must exist too.

use super::{Finding, SourceFile, code_spans};
use std::collections::{BTreeMap, BTreeSet};

/// Endings of images. Links to images are not checked.
const IMAGES: [&str; 2] = [".png", ".svg"];

/// Checks the links of all pages.
pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.clone().map(|page| (page.path.as_str(), anchors(&page.text))).collect();
    let paths: BTreeSet<&str> = files.iter().flat_map(|file| with_folders_above(&file.path)).collect();
    let dead_links = pages.clone().flat_map(|page| check_page(page, &anchors, &paths));
    dead_links.chain(pages.flat_map(|page| lost_paths(page, &paths))).collect()
}

/// Returns a finding for each path in a span of code that begins with a folder of the root and does not exist. The
/// changelog may name former files.
fn lost_paths(page: &SourceFile, paths: &BTreeSet<&str>) -> Vec<Finding> {
    let is_path = |span: &str| {
        let is_pattern = span.contains(['<', '*', ' ']);
        !is_pattern && span.split_once('/').is_some_and(|(folder, _)| paths.contains(folder))
    };
    let lines = prose(&page.text).filter(|_| page.path != "CHANGELOG.md");
    let spans = lines.flat_map(|(number, line)| code_spans(line).map(move |span| (number, span)));
    let files = spans.map(|(number, span)| (number, span.split("::").next().unwrap_or(span)));
    let lost_files = files.filter(|(_, path)| is_path(path) && !paths.contains(path.trim_end_matches('/')));
    lost_files
        .map(|(number, path)| Finding::new(&page.path, number, format!("{path} is no file of the project")))
        .collect()
}

fn check_page(
    page: &SourceFile,
    anchors: &BTreeMap<&str, BTreeSet<String>>,
    paths: &BTreeSet<&str>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose(&page.text) {
        for target in targets(line) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { page.path.clone() } else { join_link(&page.path, path) };
            let has_heading = |known: &BTreeSet<String>| heading.is_empty() || known.contains(heading);
            if !paths.contains(path.as_str()) && !IMAGES.iter().any(|ending| path.ends_with(ending)) {
                findings.push(Finding::new(&page.path, number, format!("the link {target} leads to no file")));
            } else if anchors.get(path.as_str()).is_some_and(|known| !has_heading(known)) {
                findings.push(Finding::new(&page.path, number, format!("the link {target} leads to no heading")));
            }
        }
    }
    findings
}

/// Returns a path and all folders above it.
fn with_folders_above(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    folders.chain([path])
}

/// Returns the lines outside of code blocks with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the targets of links into the repository.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:") && !target.contains(' '))
}

/// Returns the path, from the root of the repository, to which a link on `page` leads.
fn join_link(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let is_kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    let slug = |heading: &str| -> String { heading.to_lowercase().chars().filter(is_kept).collect() };
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| slug(line.trim_start_matches('#').trim()).replace(' ', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn links_to_missing_files_and_headings_are_found() {
        let page = "# One page\n\n[a](b.md) [b](b.md#two-words-404) [c](#one-page) [d](../code) [e](../x.png)\n\
                    [f](https://example.com/y#z)\n```\n[g](no.md)\n```\n[h](c.md) [i](b.md#three) [j](#two)\n";
        let files = [
            file("docs/a.md", page),
            file("docs/b.md", "# B\n\n## Two words: 404\n```\n# three\n```\n"),
            file("code/main.rs", ""),
        ];
        let findings: Vec<_> = check(&files).into_iter().map(|finding| (finding.line, finding.says)).collect();
        let says = |target: &str, what: &str| (8, format!("the link {target} leads to no {what}"));
        assert_eq!(findings, [says("c.md", "file"), says("b.md#three", "heading"), says("#two", "heading")]);
    }

    #[test]
    fn path_that_does_not_exist_is_found() {
        let page = "`code/main.rs`, `code/`, `code/old.rs` and `code/<name>.rs`\n`text/x`, `code/old.rs::test`\n";
        let lines = |path: &str| {
            let findings = check(&[file(path, page), file("code/main.rs", "")]);
            findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("docs/a.md"), [1, 2]);
        assert_eq!(lines("CHANGELOG.md"), [0_usize; 0]);
    }
}
