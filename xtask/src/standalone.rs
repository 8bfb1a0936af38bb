//! `cargo xtask standalone`: compiles the tests of packages with the features that their own manifests ask for.
//!
//! A build of the workspace unites the features that all of its packages ask of a dependency. A package whose
//! manifest lacks a feature compiles there, and fails in `cargo test -p PACKAGE`. That can only happen if a direct
//! dependency of the package has other features there, so all other packages are skipped. Packages share a build
//! if none of them changes the features of another one's direct dependencies.

use crate::process::{Outcome, cargo, output, run as run_program};
use crate::workspace::Workspace;
use std::collections::{BTreeMap, BTreeSet};

/// Features by package, such as `tokio v1.54.1`.
type Features = BTreeMap<String, BTreeSet<String>>;

/// A package of the workspace as cargo resolves it alone.
#[derive(Debug)]
struct Member {
    name: String,
    /// Features of the package and of all its direct and indirect dependencies.
    features: Features,
    /// The package itself and its direct dependencies: the features that its own code can rely on.
    relied_upon: BTreeSet<String>,
}

pub(crate) fn run() -> Outcome {
    let workspace = Workspace::load()?;
    let members: Vec<Member> =
        workspace.packages.iter().map(|package| member(&package.name)).collect::<Outcome<Vec<_>>>()?;
    for group in groups(&members) {
        let names: Vec<&str> = group.iter().map(|member| member.name.as_str()).collect();
        println!("compiling the tests of {}", names.join(", "));
        let mut command = cargo(&["check", "--quiet", "--locked", "--tests"]);
        command.args(names.iter().flat_map(|name| ["--package", name]));
        run_program(&mut command)?;
    }
    Ok(())
}

fn member(name: &str) -> Outcome<Member> {
    let tree = |depth: &[&str]| {
        let arguments =
            ["tree", "--locked", "--edges", "normal,dev,build", "--prefix", "none", "--format", "{p}|{f}"];
        output(cargo(&arguments).args(["--package", name]).args(depth))
    };
    let relied_upon = read(&tree(&["--depth", "1"])?).into_keys().collect();
    Ok(Member { name: name.to_owned(), features: read(&tree(&[])?), relied_upon })
}

/// Reads lines such as `tokio v1.54.1 (*)|fs,net`. A package that is built twice, for the host as well, has the
/// features of both.
fn read(tree: &str) -> Features {
    let mut all = Features::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        let package: Vec<&str> = package.split(' ').take(2).collect();
        let features = features.trim_end_matches("(*)").trim().split(',').filter(|feature| !feature.is_empty());
        all.entry(package.join(" ")).or_default().extend(features.map(str::to_owned));
    }
    all
}

/// Groups the packages whose direct dependencies have other features in the build of the workspace. In the build
/// of a group, every direct dependency has the features of a build of its package alone.
fn groups(members: &[Member]) -> Vec<Vec<&Member>> {
    let everything = unite_features(members.iter());
    let mut groups: Vec<Vec<&Member>> = vec![];
    for member in members.iter().filter(|member| !is_unchanged(member, &everything)) {
        let fits = |group: &&mut Vec<&Member>| {
            let united_features = unite_features(group.iter().copied().chain([member]));
            group.iter().chain([&member]).all(|one| is_unchanged(one, &united_features))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(member),
            None => groups.push(vec![member]),
        }
    }
    groups
}

fn unite_features<'m>(members: impl Iterator<Item = &'m Member>) -> Features {
    let mut all = Features::new();
    for (package, features) in members.flat_map(|member| &member.features) {
        all.entry(package.clone()).or_default().extend(features.iter().cloned());
    }
    all
}

fn is_unchanged(member: &Member, features: &Features) -> bool {
    member.relied_upon.iter().all(|package| member.features.get(package) == features.get(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, direct: &str, below: &str) -> Member {
        let relied_upon = read(direct).into_keys().collect();
        Member { name: name.to_owned(), features: read(&format!("{direct}\n{below}")), relied_upon }
    }

    fn names<'m>(groups: &[Vec<&'m Member>]) -> Vec<Vec<&'m str>> {
        groups.iter().map(|group| group.iter().map(|member| member.name.as_str()).collect()).collect()
    }

    #[test]
    fn tree_lines_are_read_with_united_features() {
        let tree =
            "a v1.0.0 (/src/a)|\n\nsyn v3.0.0 (proc-macro)|full\nsyn v3.0.0|parsing,full (*)\nb v2.0.0 (*)|";
        let read = read(tree);
        assert_eq!(read.keys().collect::<Vec<_>>(), ["a v1.0.0", "b v2.0.0", "syn v3.0.0"]);
        assert_eq!(read["syn v3.0.0"].iter().collect::<Vec<_>>(), ["full", "parsing"]);
        assert!(read["b v2.0.0"].is_empty());
    }

    #[test]
    fn package_with_all_features_of_the_workspace_is_left_out() {
        let members = [member("whole", "tokio v1|fs,net", ""), member("lacks", "tokio v1|net", "")];
        assert_eq!(names(&groups(&members)), [["lacks"]]);
    }

    #[test]
    fn packages_share_a_build_that_changes_neither() {
        let members = [
            member("whole", "tokio v1|fs,net\nserde v1|derive,rc", ""),
            member("one", "tokio v1|net", ""),
            member("two", "serde v1|derive", "tokio v1|net"),
            member("three", "serde v1|derive", "tokio v1|fs"),
        ];
        assert_eq!(names(&groups(&members)), [vec!["one", "two"], vec!["three"]]);
    }
}
