//! Names: one public type each, so that a name means one thing wherever it is read.

use super::{Finding, SourceFile};
use std::collections::BTreeMap;

/// What every resource has one of, always read with its module: `observation::Draft`, `people::Filter`.
const OF_A_RESOURCE: [&str; 8] = ["Action", "Draft", "Expand", "Filter", "Patch", "References", "Status", "Type"];

const KINDS: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|it| is_source(&it.path)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some(name) = named(line).filter(|it| !OF_A_RESOURCE.contains(it)) else { continue };
            match first.get(name) {
                None => drop(first.insert(name, &file.path)),
                Some(other) => {
                    findings.push(Finding::new(
                        &file.path,
                        number,
                        format!("{name} is a type of {other}, too; name it apart"),
                    ));
                }
            }
        }
    }
    findings
}

/// The sources of libraries; tests and programs of the project itself name things for themselves. The client library has
/// the names of the API, and no other crate's types beside its own.
fn is_source(path: &str) -> bool {
    path.starts_with("crates/")
        && !path.starts_with("crates/client/")
        && path.contains("/src/")
        && path.ends_with(".rs")
}

/// The public type that the line begins, if it begins one.
fn named(line: &str) -> Option<&str> {
    let rest = KINDS.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|it: char| !it.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn a_second_public_type_of_a_name_is_found_wherever_it_is() {
        let files = [
            file("crates/a/src/lib.rs", "pub struct Plan<'a> {\n}\npub struct Draft;\n"),
            file("crates/b/src/plan.rs", "//! Plans.\npub enum Plan {}\nstruct Row;\npub(crate) struct Row2;\n"),
            file("crates/b/src/other.rs", "pub struct Draft;\npub type Row = u8;\n"),
            file("crates/b/tests/it.rs", "pub struct Plan;\n"),
        ];
        let found: Vec<_> = check(&files).into_iter().map(|it| (it.path, it.line)).collect();
        assert_eq!(found, [("crates/b/src/plan.rs".to_owned(), 2)]);
    }
}
