//! Allowed dependencies between the crates: the table of docs/ARCHITECTURE.md, as code.

use super::{Finding, SourceFile};
use crate::process::{Outcome, cargo, output, root};
use crate::workspace::{Kind, Package, Workspace};

const PORTS: &str =
    "candor-port-clock candor-port-storage candor-port-events candor-port-identity candor-port-limits";
const STORES: &str = "candor-store-postgres candor-store-sqlite";
/// Crates for tests. A crate without them in `Rule::may` may have them as dev-dependencies only.
const FOR_TESTS: &str = "candor-store-testkit candor-test-explore candor-test-faults candor-test-postgres \
    candor-test-redis candor-test-smtp candor-e2e";
/// Libraries below the ports and the stores: the tables of resources, the full-text index, fair shares of work.
const SHARED: &str = "candor-search-index candor-tables candor-fair-share";
/// Adapters between the service and other systems.
const ADAPTERS: &str = "candor-http candor-webhooks candor-identity candor-mail candor-limits-redis";
const DOMAIN: &str = "candor-domain";

/// Rule for the dependencies of one crate. Each list is a text of names with spaces between them.
struct Rule {
    package: &'static str,
    /// Crates of the workspace that the crate may name under `[dependencies]`.
    may: String,
    /// Packages that the crate must not reach through any chain of normal dependencies.
    never: &'static str,
    /// Packages of other projects that the crate may name; `None` allows all.
    only: Option<&'static str>,
}

impl Rule {
    fn new(package: &'static str, may: &[&str], never: &'static str) -> Self {
        Self { package, may: may.join(" "), never, only: None }
    }

    /// Allows only these packages of other projects.
    fn only(self, packages: &'static str) -> Self {
        Self { only: Some(packages), ..self }
    }

    fn allows(&self, name: &str) -> bool {
        has_name(&self.may, name)
    }
}

fn has_name(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

fn table() -> Vec<Rule> {
    pure_crates().into_iter().chain(service()).chain(outside_crates()).chain(tools()).collect()
}

/// Returns the rules for the crates of domain rules and values, which reach nothing outside of the process.
fn pure_crates() -> [Rule; 2] {
    let never = "tokio diesel actix-web hyper tracing";
    [
        Rule::new("candor-forms", &[], never).only(
            "base64 chrono idna ring schemars serde serde_json strsim strum thiserror ulid unicode-normalization url \
             validator",
        ),
        Rule::new("candor-domain", &["candor-forms"], never).only(
            "base64 chrono crc32fast csv httpdate idna ipnet ring schemars serde serde_json strsim strum thiserror \
             ulid unicode-normalization unicode-properties url",
        ),
    ]
}

/// Returns the rules for the crates of the service, and of its tests.
fn service() -> Vec<Rule> {
    let databases = "diesel tokio-postgres libsqlite3-sys";
    let port = "tokio actix-web hyper diesel";
    let store = "actix-web hyper";
    vec![
        Rule::new("candor-port-clock", &[DOMAIN], port),
        // Pure libraries: they compute, and depend on few crates of the workspace.
        Rule::new("candor-search-index", &[DOMAIN], "tokio").only(""),
        Rule::new("candor-tables", &[DOMAIN], "tokio").only("base64 ring serde serde_json thiserror"),
        Rule::new("candor-port-storage", &[DOMAIN, "candor-search-index candor-tables"], databases),
        Rule::new("candor-fair-share", &[DOMAIN, "candor-tables candor-port-storage"], databases),
        Rule::new("candor-port-events", &[DOMAIN], port),
        Rule::new("candor-port-identity", &[DOMAIN], port),
        Rule::new("candor-port-limits", &[DOMAIN], "tokio redis actix-web hyper diesel"),
        // A pure state machine: it knows deliveries and claims, and no crate that executes them.
        Rule::new("candor-dispatch", &[DOMAIN, "candor-port-storage"], "diesel actix-web hyper").only(""),
        Rule::new("candor-service", &[DOMAIN, PORTS, SHARED, "candor-dispatch"], "actix-web hyper diesel redis"),
        Rule::new("candor-store-postgres", &[DOMAIN, PORTS, SHARED], store),
        Rule::new("candor-store-sqlite", &[DOMAIN, PORTS, SHARED], store),
        Rule::new("candor-store-testkit", &[DOMAIN, PORTS, SHARED], databases),
    ]
}

/// Returns the rules for the adapters to other systems, the client library, the program, and the tests of the program.
fn outside_crates() -> Vec<Rule> {
    let connections = "actix-web diesel aws-lc-rs openssl";
    let protocols = "actix-web hyper diesel aws-lc-rs openssl native-tls";
    vec![
        Rule::new("candor-console", &[], "").only(""),
        Rule::new(
            "candor-http",
            &[DOMAIN, PORTS, "candor-fair-share candor-service candor-console"],
            "diesel hyper",
        ),
        // Connections to other systems, which the adapters share.
        Rule::new("candor-outbound", &[DOMAIN], connections),
        Rule::new("candor-webhooks", &[DOMAIN, "candor-outbound candor-port-events"], connections),
        Rule::new("candor-identity", &[DOMAIN, "candor-outbound candor-port-identity"], connections),
        Rule::new("candor-mail", &[DOMAIN, "candor-port-events"], protocols),
        Rule::new("candor-limits-redis", &[DOMAIN, "candor-port-limits"], protocols),
        // The client library stands alone, because programs of other projects depend on it.
        Rule::new("candor-client", &[], "actix-web diesel aws-lc-rs openssl native-tls h2"),
        // Commands that call a service: they know only its API.
        Rule::new("candor-cli", &[DOMAIN, "candor-port-clock candor-client"], connections),
        Rule::new(
            "candor-app",
            &[DOMAIN, PORTS, STORES, ADAPTERS, "candor-outbound candor-service candor-client candor-cli"],
            "aws-lc-rs",
        ),
        Rule::new("candor-e2e", &[DOMAIN, PORTS, STORES, ADAPTERS, FOR_TESTS, "candor-service candor-app"], ""),
    ]
}

/// Returns the rules for the tools beside the service.
fn tools() -> Vec<Rule> {
    vec![
        Rule::new("candor-test-explore", &[], "").only(""),
        Rule::new("candor-test-faults", &[], "tokio diesel actix-web"),
        Rule::new("candor-test-postgres", &[], "diesel actix-web"),
        Rule::new("candor-test-redis", &[], "tokio redis diesel actix-web"),
        Rule::new("candor-test-smtp", &[], "tokio diesel actix-web"),
        Rule::new(
            "candor-bench",
            &[DOMAIN, "candor-tables candor-port-events candor-webhooks candor-test-postgres"],
            "actix-web",
        ),
        Rule::new("candor-simulate", &[DOMAIN, "candor-port-storage candor-dispatch"], "diesel actix-web hyper"),
        Rule::new("xtask", &["candor-test-explore candor-test-postgres"], "diesel actix-web"),
    ]
}

pub(super) fn check(workspace: &Workspace, files: &[SourceFile]) -> Outcome<Vec<Finding>> {
    let table = table();
    let names: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = Manifest::find(package, files);
        let Some(row) = table.iter().find(|row| row.package == package.name) else {
            findings
                .push(manifest.to_finding("name", "the package has no row in xtask/src/tidy/arrows.rs, add one"));
            continue;
        };
        findings.extend(check_direct(package, row, &names, &manifest));
        if !row.never.is_empty() {
            findings.extend(check_indirect(row, &tree(row.package)?, &manifest));
        }
    }
    Ok(findings)
}

/// Returns findings for the dependencies in the manifest. Ignores dev-dependencies.
fn check_direct(package: &Package, row: &Rule, workspace: &[&str], manifest: &Manifest) -> Vec<Finding> {
    let checked_names =
        package.dependencies.iter().filter(|one| one.kind != Kind::Dev).map(|one| one.name.as_str());
    let wrong = checked_names.filter_map(|name| {
        let ours = workspace.contains(&name);
        let why = if ours && has_name(FOR_TESTS, name) && !row.allows(name) {
            format!("{name} is for tests, name it under [dev-dependencies]")
        } else if ours && !row.allows(name) {
            format!("{} may not depend on {name}, only on: {}", row.package, list(&row.may))
        } else if let Some(only) = row.only.filter(|only| !ours && !has_name(only, name)) {
            format!("{} may not depend on {name}, only on: {}", row.package, list(only))
        } else {
            return None;
        };
        Some(manifest.to_finding(name, &why))
    });
    wrong.collect()
}

/// Returns findings for forbidden packages that the crate reaches, directly or through other packages.
fn check_indirect(row: &Rule, tree: &str, manifest: &Manifest) -> Vec<Finding> {
    let is_reached = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    let wrong = row.never.split_whitespace().filter(|name| is_reached(name)).map(|name| {
        let package = row.package;
        let how = format!("`cargo tree -p {package} -e normal -i {name}` shows the packages between them");
        manifest.to_finding(name, &format!("{package} must not reach {name} through any dependency: {how}"))
    });
    wrong.collect()
}

/// Returns a line for each package that `package` reaches through normal dependencies: name, version and path.
fn tree(package: &str) -> Outcome<String> {
    output(&mut cargo(&["tree", "--quiet", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}"]))
}

fn list(names: &str) -> String {
    if names.is_empty() { "none".to_owned() } else { names.replace(' ', ", ") }
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

    const TEXT: &str = "[package]\nname = \"x\"\n[dependencies]\ntokio.workspace = true\n";

    fn manifest() -> Manifest<'static> {
        Manifest { path: "crates/x/Cargo.toml".to_owned(), text: TEXT }
    }

    fn wrong_dependencies(package: &str, dependency: &str, kind: Kind) -> Vec<Finding> {
        let dependencies = vec![Dependency { name: dependency.to_owned(), kind }];
        let manifest_path = PathBuf::from("Cargo.toml");
        let test_package =
            Package { name: package.to_owned(), manifest: manifest_path, has_library: true, dependencies };
        let table = table();
        let names: Vec<&str> = table.iter().map(|row| row.package).collect();
        check_direct(&test_package, table.iter().find(|row| row.package == package).unwrap(), &names, &manifest())
    }

    #[test]
    fn only_dependencies_of_the_table_are_allowed() {
        for (package, dependency, right) in [
            ("candor-service", "candor-domain", true),
            ("candor-service", "candor-port-storage", true),
            ("candor-service", "candor-http", false),
            ("candor-port-storage", "candor-tables", true),
            ("candor-tables", "candor-port-storage", false),
            ("candor-search-index", "candor-tables", false),
            ("candor-http", "candor-store-sqlite", false),
            ("candor-store-sqlite", "candor-store-postgres", false),
            ("candor-domain", "candor-port-clock", false),
            ("candor-domain", "serde", true),
            ("candor-domain", "tokio", false),
            ("candor-app", "candor-store-postgres", true),
            ("candor-app", "candor-store-testkit", false),
            ("candor-webhooks", "candor-service", false),
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
        let table = table();
        let domain = &table[0];
        assert_eq!(check_indirect(domain, "candor-domain v0.1.0\ntokio-util v0.7.0\n", &manifest()), []);
        let findings = check_indirect(domain, "candor-domain v0.1.0\ntokio v1.0.0\n", &manifest());
        assert_eq!((findings.len(), findings[0].line), (1, 4));
    }

    #[test]
    fn crate_may_only_use_crates_above_in_the_table() {
        let table = table();
        let place = |name: &str| table.iter().position(|row| row.package == name);
        for (at, row) in table
            .iter()
            .enumerate()
            .filter(|(_, row)| row.package.starts_with("candor-") && row.package != "candor-e2e")
        {
            assert!(
                row.may.split_whitespace().all(|name| place(name).is_some_and(|above| above < at)),
                "{}",
                row.package
            );
        }
    }
}
