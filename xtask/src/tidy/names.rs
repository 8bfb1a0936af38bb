//! Names of public types are unique, so that each name has one meaning.

use super::{Finding, SourceFile};
use std::collections::BTreeMap;

/// Names that each resource has, used with their modules: `observation::Draft`, `people::Filter`.
const RESOURCE_NAMES: [&str; 8] = ["Action", "Draft", "Expand", "Filter", "Patch", "References", "Status", "Type"];

const KINDS: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_source(&file.path)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some(name) = type_name(line).filter(|name| !RESOURCE_NAMES.contains(name)) else { continue };
            match first.get(name) {
                None => drop(first.insert(name, &file.path)),
                Some(other) => {
                    findings.push(Finding::new(
                        &file.path,
                        number,
                        format!("{other} also has a public type {name}; rename one of the types"),
                    ));
                }
            }
        }
    }
    findings
}

/// Returns `true` for sources whose types need unique names. Tests, tools and the client library are exempt. The
/// types of the client library have the names of the API.
fn is_source(path: &str) -> bool {
    path.starts_with("crates/")
        && !path.starts_with("crates/client/")
        && path.contains("/src/")
        && path.ends_with(".rs")
}

/// Returns the name of the public type whose declaration the line begins. `None` for other lines.
fn type_name(line: &str) -> Option<&str> {
    let rest = KINDS.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn second_public_type_with_the_same_name_is_found() {
        let files = [
            file("crates/a/src/lib.rs", "pub struct Plan<'a> {\n}\npub struct Draft;\n"),
            file("crates/b/src/plan.rs", "//! Plans.\npub enum Plan {}\nstruct Row;\npub(crate) struct Row2;\n"),
            file("crates/b/src/other.rs", "pub struct Draft;\npub type Row = u8;\n"),
            file("crates/b/tests/it.rs", "pub struct Plan;\n"),
        ];
        let places: Vec<_> = check(&files).into_iter().map(|finding| (finding.path, finding.line)).collect();
        assert_eq!(places, [("crates/b/src/plan.rs".to_owned(), 2)]);
    }
}
