//! Manifests: the root sets lints and versions for all packages.

use super::{Finding, SourceFile};

/// The sections whose entries name other packages.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Manifests below the root that may name features of a dependency, with the dependency and the reason. All other
/// features stand in the root: a build of the workspace unites the features of all manifests, so it hides that a
/// package lacks a feature. `cargo xtask standalone` compiles each package alone.
const OWN_FEATURES: [(&str, &str, &str); 7] = [
    ("crates/store-sqlite/Cargo.toml", "diesel", "the other store must not link SQLite"),
    ("crates/http/Cargo.toml", "diesel", "tests read the rows of SQLite"),
    ("crates/store-postgres/Cargo.toml", "diesel", "the other store has no types of PostgreSQL"),
    ("crates/webhooks/Cargo.toml", "tokio", "tests start programs; the service never does"),
    ("tests/Cargo.toml", "candor-app", "the tests cover what is packaged"),
    ("tests/Cargo.toml", "candor-client", "the binary has no typed operations, the tests call each of them"),
    ("xtask/bench/Cargo.toml", "diesel", "measures write rows of SQLite"),
];

pub(super) fn check(file: &SourceFile) -> Vec<Finding> {
    if file.text.lines().any(|line| line.trim() == "[workspace]") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut section = String::new();
    let mut lints = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
            if is_dependency_table(&section) {
                findings.push(Finding::new(
                    &file.path,
                    number,
                    "a table for one dependency, write it as one line",
                ));
            }
        } else if section == "lints" && line == "workspace = true" {
            lints = true;
        } else if is_dependency_list(&section) && !line.is_empty() && !line.starts_with('#') && !is_inherited(line)
        {
            let says = format!(
                "`{line}` does not take its version from the root, write `….workspace = true` and the version \
                 there"
            );
            findings.push(Finding::new(&file.path, number, says));
        } else if is_dependency_list(&section) && line.contains("features") && !may_name_features(&file.path, line)
        {
            let says = "a dependency with features of its own, name them in the root manifest";
            findings.push(Finding::new(&file.path, number, says));
        }
    }
    if !lints {
        findings.push(Finding::new(
            &file.path,
            1,
            "the workspace's lints are not on, add [lints] with workspace = true",
        ));
    }
    findings
}

fn may_name_features(path: &str, line: &str) -> bool {
    let name = line.split(['=', '.']).next().unwrap_or(line).trim();
    OWN_FEATURES.iter().any(|(manifest, dependency, _)| (*manifest, *dependency) == (path, name))
}

fn is_dependency_list(section: &str) -> bool {
    DEPENDENCIES
        .iter()
        .any(|name| section.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Returns `true` for a table of one dependency, such as `[dependencies.serde]`, and `false` for a list of them.
fn is_dependency_table(section: &str) -> bool {
    !is_dependency_list(section) && DEPENDENCIES.iter().any(|name| section.split('.').any(|part| part == *name))
}

fn is_inherited(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, value)| {
        let value = value.trim();
        (name.trim().ends_with(".workspace") && value == "true")
            || value.trim_start_matches('{').trim_start().starts_with("workspace = true")
    })
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines_found(text: &str) -> Vec<usize> {
        check(&file("crates/a/Cargo.toml", text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn versions_come_from_the_root() {
        let lints = "[lints]\nworkspace = true\n";
        let good = "[dependencies]\na.workspace = true\nb = { workspace = true }\n\n# why\n";
        assert_eq!(lines_found(&format!("{lints}{good}")), NONE);
        for bad in ["a = \"1\"", "a = { path = \"../a\" }", "a = { version = \"1\", workspace = false }"] {
            for section in ["dependencies", "dev-dependencies", "target.'cfg(unix)'.dependencies"] {
                assert_eq!(lines_found(&format!("{lints}[{section}]\n{bad}\n")), [4], "{section}: {bad}");
            }
        }
        assert_eq!(lines_found(&format!("{lints}[dependencies.a]\nversion = \"1\"\n")), [3]);
    }

    #[test]
    fn features_stand_in_the_root() {
        let text =
            "[lints]\nworkspace = true\n[dev-dependencies]\ndiesel = { workspace = true, features = [\"x\"] }\n";
        assert_eq!(lines_found(text), [4]);
        assert_eq!(check(&file("crates/store-sqlite/Cargo.toml", text)), []);
    }

    #[test]
    fn every_crate_takes_the_lints() {
        assert_eq!(lines_found("[package]\nname = \"a\"\n"), [1]);
        assert_eq!(lines_found("[workspace]\nmembers = []\n"), NONE);
    }
}
