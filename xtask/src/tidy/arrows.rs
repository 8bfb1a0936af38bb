//! Allowed dependencies between the crates: the table of docs/ARCHITECTURE.md, as code.

use super::{Finding, SourceFile};
use crate::process::{Outcome, cargo, output, root};
use crate::workspace::{Kind, Package, Workspace};

const PORTS: [&str; 5] = [
    "candor-port-clock",
    "candor-port-storage",
    "candor-port-events",
    "candor-port-identity",
    "candor-port-limits",
];
const STORES: [&str; 2] = ["candor-store-postgres", "candor-store-sqlite"];
/// Crates for tests. A crate without them in `Rule::may` may have them as dev-dependencies only.
const FOR_TESTS: [&str; 8] = [
    "candor-store-testkit",
    "candor-test-explore",
    "candor-test-faults",
    "candor-test-identity",
    "candor-test-postgres",
    "candor-test-redis",
    "candor-test-smtp",
    "candor-e2e",
];
/// Libraries below the ports and the stores: the tables of resources, the full-text index, fair shares of work.
const SHARED: [&str; 3] = ["candor-search-index", "candor-tables", "candor-fair-share"];
/// Adapters between the service and other systems.
const ADAPTERS: [&str; 5] =
    ["candor-http", "candor-webhooks", "candor-identity", "candor-mail", "candor-limits-redis"];

/// Rule for the dependencies of one crate.
struct Rule {
    package: &'static str,
    /// Crates of the workspace that the crate may name under `[dependencies]`.
    may: Vec<&'static str>,
    /// Packages that the crate must not reach through any chain of normal dependencies.
    never: &'static [&'static str],
    /// Packages of other projects that the crate may name; `None` allows all.
    only: Option<&'static [&'static str]>,
}

impl Rule {
    fn new(package: &'static str, may: &[&[&'static str]], never: &'static [&'static str]) -> Self {
        Self { package, may: may.concat(), never, only: None }
    }
}

const DOMAIN: &[&str] = &["candor-domain"];

fn table() -> Vec<Rule> {
    pure_crates().into_iter().chain(service()).chain(outside_crates()).chain(tools()).collect()
}

/// Crates of rules and values, which reach nothing outside of the process.
fn pure_crates() -> [Rule; 2] {
    let never: &[&str] = &["tokio", "diesel", "actix-web", "hyper", "tracing"];
    let forms = Rule {
        only: Some(&[
            "base64",
            "chrono",
            "idna",
            "ring",
            "schemars",
            "serde",
            "serde_json",
            "strsim",
            "strum",
            "thiserror",
            "ulid",
            "unicode-normalization",
            "url",
            "validator",
        ]),
        ..Rule::new("candor-forms", &[], never)
    };
    let domain = Rule {
        only: Some(&[
            "base64",
            "chrono",
            "crc32fast",
            "csv",
            "httpdate",
            "idna",
            "ipnet",
            "ring",
            "schemars",
            "serde",
            "serde_json",
            "strsim",
            "strum",
            "thiserror",
            "ulid",
            "unicode-normalization",
            "unicode-properties",
            "url",
        ]),
        ..Rule::new("candor-domain", &[&["candor-forms"]], never)
    };
    [forms, domain]
}

/// Crates of the service, and of its tests.
fn service() -> Vec<Rule> {
    let databases: &[&str] = &["diesel", "tokio-postgres", "libsqlite3-sys"];
    let store: &[&str] = &["actix-web", "hyper"];
    vec![
        Rule::new("candor-port-clock", &[DOMAIN], &["tokio", "diesel", "actix-web", "hyper"]),
        // Pure libraries: they compute, and depend on few crates of the workspace.
        Rule { only: Some(&[]), ..Rule::new("candor-search-index", &[DOMAIN], &["tokio"]) },
        Rule {
            only: Some(&["base64", "ring", "serde", "serde_json", "thiserror"]),
            ..Rule::new("candor-tables", &[DOMAIN], &["tokio"])
        },
        Rule::new("candor-port-storage", &[DOMAIN, &["candor-search-index", "candor-tables"]], databases),
        Rule::new("candor-fair-share", &[DOMAIN, &["candor-tables", "candor-port-storage"]], databases),
        Rule::new("candor-port-events", &[DOMAIN], &["tokio", "actix-web", "hyper", "diesel"]),
        Rule::new("candor-port-identity", &[DOMAIN], &["tokio", "actix-web", "hyper", "diesel"]),
        Rule::new("candor-port-limits", &[DOMAIN], &["tokio", "redis", "actix-web", "hyper", "diesel"]),
        // A pure state machine: it knows deliveries and claims, and no crate that executes them.
        Rule {
            only: Some(&[]),
            ..Rule::new("candor-dispatch", &[DOMAIN, &["candor-port-storage"]], &["diesel", "actix-web", "hyper"])
        },
        Rule::new(
            "candor-service",
            &[DOMAIN, &PORTS, &SHARED, &["candor-dispatch"]],
            &["actix-web", "hyper", "diesel", "redis"],
        ),
        Rule::new("candor-store-postgres", &[DOMAIN, &PORTS, &SHARED], store),
        Rule::new("candor-store-sqlite", &[DOMAIN, &PORTS, &SHARED], store),
        Rule::new("candor-store-testkit", &[DOMAIN, &PORTS, &SHARED], databases),
    ]
}

/// Adapters to other systems, the client library, the program, and the tests of the program.
fn outside_crates() -> Vec<Rule> {
    vec![
        Rule { only: Some(&[]), ..Rule::new("candor-console", &[], &[]) },
        Rule::new(
            "candor-http",
            &[DOMAIN, &PORTS, &["candor-fair-share", "candor-service", "candor-console"]],
            &["diesel", "hyper"],
        ),
        // Connections to other systems, which the adapters share.
        Rule::new("candor-outbound", &[DOMAIN], &["actix-web", "diesel", "aws-lc-rs", "openssl"]),
        Rule::new(
            "candor-webhooks",
            &[DOMAIN, &["candor-outbound", "candor-port-events"]],
            &["actix-web", "diesel", "aws-lc-rs", "openssl"],
        ),
        Rule::new(
            "candor-identity",
            &[DOMAIN, &["candor-outbound", "candor-port-identity"]],
            &["actix-web", "diesel", "aws-lc-rs", "openssl"],
        ),
        Rule::new(
            "candor-mail",
            &[DOMAIN, &["candor-port-events"]],
            &["actix-web", "hyper", "diesel", "aws-lc-rs", "openssl", "native-tls"],
        ),
        Rule::new(
            "candor-limits-redis",
            &[DOMAIN, &["candor-port-limits"]],
            &["actix-web", "hyper", "diesel", "aws-lc-rs", "openssl", "native-tls"],
        ),
        // The client library stands alone, because programs of other projects depend on it.
        Rule::new("candor-client", &[], &["actix-web", "diesel", "aws-lc-rs", "openssl", "native-tls", "h2"]),
        // Commands that call a service: what they know of it is its API.
        Rule::new(
            "candor-cli",
            &[DOMAIN, &["candor-port-clock", "candor-client"]],
            &["actix-web", "diesel", "aws-lc-rs", "openssl"],
        ),
        Rule::new(
            "candor-app",
            &[
                DOMAIN,
                &PORTS,
                &STORES,
                &ADAPTERS,
                &["candor-outbound", "candor-service", "candor-client", "candor-cli"],
            ],
            &["aws-lc-rs"],
        ),
        Rule::new(
            "candor-e2e",
            &[DOMAIN, &PORTS, &STORES, &ADAPTERS, &FOR_TESTS, &["candor-service", "candor-app"]],
            &[],
        ),
    ]
}

/// Tools beside the service.
fn tools() -> Vec<Rule> {
    vec![
        Rule { only: Some(&[]), ..Rule::new("candor-test-explore", &[], &[]) },
        Rule::new("candor-test-faults", &[], &["tokio", "diesel", "actix-web"]),
        Rule::new("candor-test-identity", &[], &["tokio", "diesel", "actix-web"]),
        Rule::new("candor-test-postgres", &[], &["diesel", "actix-web"]),
        Rule::new("candor-test-redis", &[], &["tokio", "redis", "diesel", "actix-web"]),
        Rule::new("candor-test-smtp", &[], &["tokio", "diesel", "actix-web"]),
        Rule::new(
            "candor-bench",
            &[DOMAIN, &FOR_TESTS, &["candor-tables", "candor-port-events", "candor-webhooks"]],
            &["actix-web"],
        ),
        Rule::new(
            "candor-simulate",
            &[DOMAIN, &["candor-port-storage", "candor-dispatch"]],
            &["diesel", "actix-web", "hyper"],
        ),
        Rule::new("xtask", &[&["candor-test-explore", "candor-test-postgres"]], &["diesel", "actix-web"]),
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
        let why = if ours && FOR_TESTS.contains(&name) && !row.may.contains(&name) {
            format!("{name} is for tests, name it under [dev-dependencies]")
        } else if ours && !row.may.contains(&name) {
            format!("{} may not depend on {name}, only on: {}", row.package, list(&row.may))
        } else if let Some(only) = row.only.filter(|only| !ours && !only.contains(&name)) {
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
    let wrong = row.never.iter().filter(|name| is_reached(name)).map(|name| {
        let package = row.package;
        let how = format!("`cargo tree -p {package} -e normal -i {name}` shows the way");
        manifest.to_finding(name, &format!("{package} must not reach {name} through any dependency: {how}"))
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
            assert!(row.may.iter().all(|name| place(name).is_some_and(|above| above < at)), "{}", row.package);
        }
    }
}
