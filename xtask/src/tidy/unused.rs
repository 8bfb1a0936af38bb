//! Unused dependencies, which no source names, and unused snapshots, which no test asserts.

use super::{Finding, SourceFile};
use crate::process::root;
use crate::text::has_word;
use crate::workspace::{Package, Workspace};
use std::path::Path;

/// Packages, each with a dependency that none of its sources names, but that it needs for linking or features.
const NAMELESS: [(&str, &str); 1] = [("candor-bench", "libsqlite3-sys")];

pub(super) fn check(workspace: &Workspace, files: &[SourceFile]) -> Vec<Finding> {
    let packages = workspace.packages.iter();
    let dependency_findings = packages.flat_map(|package| find_unused_dependencies(package, files));
    dependency_findings.chain(find_unused_snapshots(files)).collect()
}

/// Returns a finding for each dependency that no source of the package names.
fn find_unused_dependencies(package: &Package, files: &[SourceFile]) -> Vec<Finding> {
    let manifest = package.manifest.strip_prefix(root()).unwrap_or(&package.manifest);
    let folder = manifest.parent().unwrap_or_else(|| Path::new(""));
    let sources: Vec<&SourceFile> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && Path::new(&file.path).starts_with(folder))
        .collect();
    let is_used = |name: &str| {
        let word = name.replace('-', "_");
        sources.iter().any(|file| has_word(&file.text, &word))
    };
    let unused_dependencies = package
        .dependencies
        .iter()
        .filter(|one| !NAMELESS.contains(&(package.name.as_str(), one.name.as_str())) && !is_used(&one.name));
    let findings = unused_dependencies.map(|one| {
        Finding::new(
            &manifest.to_string_lossy(),
            1,
            format!("no source names the dependency {}, remove it", one.name),
        )
    });
    findings.collect()
}

/// Returns a finding for each snapshot whose name no test in its folder contains.
fn find_unused_snapshots(files: &[SourceFile]) -> Vec<Finding> {
    let orphans = files.iter().filter(|file| file.path.ends_with(".snap")).filter(|snapshot| {
        let Some((folder, file)) = snapshot.path.rsplit_once("/snapshots/") else { return true };
        let Some(name) = file.strip_suffix(".snap").and_then(|stem| stem.rsplit("__").next()) else { return true };
        let assertion = format!("\"{name}\"");
        let is_test = |file: &&SourceFile| file.path.ends_with(".rs") && file.path.starts_with(folder);
        !files.iter().filter(is_test).any(|file| file.text.contains(&assertion))
    });
    orphans.map(|snapshot| Finding::new(&snapshot.path, 1, "no test asserts this snapshot, remove it")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;
    use crate::workspace::{Dependency, Kind};

    #[test]
    fn dependency_without_a_name_in_a_source_is_found() {
        let dependency = |name: &str| Dependency { name: name.to_owned(), kind: Kind::Normal };
        let package = Package {
            name: "a".to_owned(),
            manifest: root().join("crates/a/Cargo.toml"),
            has_library: true,
            dependencies: vec![dependency("serde-json"), dependency("url"), dependency("ring")],
        };
        let sources = [
            file("crates/a/src/lib.rs", "use serde_json::Value;\nfn curl() {}"),
            file("crates/a/tests/it.rs", "ring::digest();"),
            file("crates/ab/src/lib.rs", "use url::Url;"),
        ];
        let findings = find_unused_dependencies(&package, &sources);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].says.contains(" url,"), "{findings:?}");
    }

    #[test]
    fn snapshot_without_a_test_is_found() {
        let sources = [
            file("crates/a/tests/api/snapshots.rs", "assert_snapshot!(\"me\", it);"),
            file("crates/a/tests/api/snapshots/api__snapshots__me.snap", ""),
            file("crates/a/tests/api/snapshots/api__snapshots__gone.snap", ""),
            file("crates/b/tests/api/main.rs", "\"gone\""),
        ];
        let paths: Vec<_> = find_unused_snapshots(&sources).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/a/tests/api/snapshots/api__snapshots__gone.snap"]);
    }
}
