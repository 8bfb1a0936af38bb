//! Allowed dependencies between the crates, which a table of docs/ARCHITECTURE.md declares.

use super::{ARCHITECTURE, Finding, SourceFile, code_spans, table_rows};
use crate::process::{Outcome, cargo, output, root};
use crate::workspace::{Kind, Package, Workspace};

/// Heading of the table: a row for each package with the crates of the workspace that it may name under
/// `[dependencies]`, the packages that it must not reach through any chain of normal dependencies, and the packages
/// of other projects that it may name. All names are without `candor-`.
const HEADING: &str = "## Dependencies between crates";
/// Beginning of the names of this project's crates.
const PREFIX: &str = "candor-";
/// Content of the last cell if a package may name every package of other projects.
const ANY: &str = "any";

/// Rule for the dependencies of one package.
struct Rule<'a> {
    package: &'a str,
    may: Vec<&'a str>,
    never: Vec<&'a str>,
    /// Packages of other projects; `None` allows all.
    only: Option<Vec<&'a str>>,
}

/// Returns the rules of the page. Rows without four cells are no rules, so their packages have none.
fn rules(page: &str) -> Vec<Rule<'_>> {
    let rows = table_rows(page, HEADING).filter_map(|(_, cells)| <[&str; 4]>::try_from(cells).ok());
    let rules = rows.filter_map(|[package, may, never, only]| {
        let only = (only != ANY).then(|| code_spans(only).collect());
        let package = code_spans(package).next()?;
        Some(Rule { package, may: code_spans(may).collect(), never: code_spans(never).collect(), only })
    });
    rules.collect()
}

pub(super) fn check(workspace: &Workspace, files: &[SourceFile]) -> Outcome<Vec<Finding>> {
    let page = files.iter().find(|file| file.path == ARCHITECTURE).map_or("", |file| file.text.as_str());
    let rules = rules(page);
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = Manifest::find(package, files);
        let Some(rule) = rules.iter().find(|rule| rule.package == short(&package.name)) else {
            let says = format!("the package has no row below \"{HEADING}\" of {ARCHITECTURE}, add one");
            findings.push(manifest.to_finding("name", &says));
            continue;
        };
        findings.extend(check_direct(package, rule, &manifest));
        if !rule.never.is_empty() {
            findings.extend(check_indirect(rule, &tree(&package.name)?, &manifest));
        }
    }
    Ok(findings)
}

/// Returns the name of a package as in the table.
fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// Returns findings for the dependencies in the manifest. Ignores dev-dependencies.
fn check_direct(package: &Package, rule: &Rule<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let checked_dependencies = package.dependencies.iter().filter(|one| one.kind != Kind::Dev);
    let wrong = checked_dependencies.filter_map(|one| {
        let (name, accepted) = match one.name.strip_prefix(PREFIX) {
            Some(ours) => (ours, &rule.may),
            None => (one.name.as_str(), rule.only.as_ref()?),
        };
        let says = || format!("{} may not depend on {name}, only on: {}", rule.package, list(accepted));
        (!accepted.contains(&name)).then(|| manifest.to_finding(&one.name, &says()))
    });
    wrong.collect()
}

/// Returns findings for forbidden packages that the crate reaches, directly or through other packages.
fn check_indirect(rule: &Rule<'_>, tree: &str, manifest: &Manifest<'_>) -> Vec<Finding> {
    let is_reached = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    let wrong = rule.never.iter().filter(|name| is_reached(name)).map(|name| {
        let how = format!("`cargo tree -e normal -i {name}` shows the packages between them");
        manifest.to_finding(name, &format!("{} must not reach {name} through any dependency: {how}", rule.package))
    });
    wrong.collect()
}

/// Returns a line for each package that `package` reaches through normal dependencies: name, version and path.
fn tree(package: &str) -> Outcome<String> {
    output(&mut cargo(&["tree", "--quiet", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}"]))
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Path and text of a manifest, to locate the line that names a dependency.
struct Manifest<'a> {
    path: String,
    text: &'a str,
}

impl<'a> Manifest<'a> {
    fn find(package: &Package, files: &'a [SourceFile]) -> Self {
        let path =
            package.manifest.strip_prefix(root()).unwrap_or(&package.manifest).to_string_lossy().into_owned();
        let text = files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
        Self { path, text }
    }

    fn to_finding(&self, key: &str, says: &str) -> Finding {
        let is_entry = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
        let line = self.text.lines().position(is_entry).map_or(1, |at| at + 1);
        Finding::new(&self.path, line, says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;
    use std::path::PathBuf;

    const PAGE: &str = include_str!("../../../docs/ARCHITECTURE.md");
    const TEXT: &str = "[package]\nname = \"x\"\n[dependencies]\ntokio.workspace = true\n";

    fn manifest() -> Manifest<'static> {
        Manifest { path: "crates/x/Cargo.toml".to_owned(), text: TEXT }
    }

    fn wrong_dependencies(package: &str, dependency: &str, kind: Kind) -> Vec<Finding> {
        let dependencies = vec![Dependency { name: dependency.to_owned(), kind }];
        let manifest_path = PathBuf::from("Cargo.toml");
        let test_package =
            Package { name: package.to_owned(), manifest: manifest_path, has_library: true, dependencies };
        let rules = rules(PAGE);
        check_direct(&test_package, rules.iter().find(|rule| rule.package == package).unwrap(), &manifest())
    }

    #[test]
    fn only_dependencies_of_the_table_are_allowed() {
        for (package, dependency, right) in [
            ("service", "candor-domain", true),
            ("service", "candor-port-storage", true),
            ("service", "candor-http", false),
            ("port-storage", "candor-tables", true),
            ("tables", "candor-port-storage", false),
            ("search-index", "candor-tables", false),
            ("http", "candor-store-sqlite", false),
            ("store-sqlite", "candor-store-postgres", false),
            ("domain", "candor-port-clock", false),
            ("domain", "serde", true),
            ("domain", "tokio", false),
            ("app", "candor-store-postgres", true),
            ("app", "candor-store-testkit", false),
            ("webhooks", "candor-service", false),
        ] {
            assert_eq!(
                wrong_dependencies(package, dependency, Kind::Normal).is_empty(),
                right,
                "{package} → {dependency}"
            );
            assert_eq!(wrong_dependencies(package, dependency, Kind::Dev), [], "{package} → {dependency}");
        }
    }

    #[test]
    fn indirect_dependency_is_found_by_its_whole_name() {
        let rules = rules(PAGE);
        let domain = rules.iter().find(|rule| rule.package == "domain").unwrap();
        assert_eq!(check_indirect(domain, "candor-domain v0.1.0\ntokio-util v0.7.0\n", &manifest()), []);
        let findings = check_indirect(domain, "candor-domain v0.1.0\ntokio v1.0.0\n", &manifest());
        assert_eq!((findings.len(), findings[0].line), (1, 4));
    }

    #[test]
    fn crate_may_only_use_crates_above_in_the_table() {
        let rules = rules(PAGE);
        let place = |name: &str| rules.iter().position(|rule| rule.package == name);
        for (at, rule) in rules.iter().enumerate() {
            assert!(rule.may.iter().all(|name| place(name).is_some_and(|above| above < at)), "{}", rule.package);
        }
    }
}
