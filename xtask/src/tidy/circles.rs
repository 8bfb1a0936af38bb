//! Circles of imports inside a crate: files or folders that import each other, so that a reader cannot understand
//! one of them alone.

use super::imports::{ModulePath, Modules};
use super::{Finding, SourceFile};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeSet;

/// Maximum number of files in one circle.
const FILES: usize = 5;
/// Crates whose top-level folders and files import one another in circles. In all other crates they form layers: no two
/// of them import each other, directly or through others. The list only gets shorter.
const CIRCULAR: [&str; 3] = ["crates/domain/src/", "crates/forms/src/", "crates/scim/src/"];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let sources = || files.iter().filter(|file| file.path.ends_with(".rs"));
    let folders: BTreeSet<&str> = sources().filter_map(|file| source_folder(&file.path)).collect();
    let of_crate = |folder: &str| {
        let modules = Modules::read(folder, sources());
        let is_layered = folder.starts_with("crates/") && !CIRCULAR.contains(&folder);
        let layers = if is_layered { circles_of_folders(folder, &modules) } else { vec![] };
        [circles_of_files(&modules), layers].concat()
    };
    folders.into_iter().flat_map(of_crate).collect()
}

/// Returns the source folder that contains a path, such as `crates/domain/src/`. `None` for a path outside of
/// source folders.
fn source_folder(path: &str) -> Option<&str> {
    path.find("/src/").map(|at| &path[..at + "/src/".len()])
}

fn circles_of_files(modules: &Modules<'_>) -> Vec<Finding> {
    let large = circles(modules.arrows()).into_iter().filter(|circle| circle.len() > FILES);
    let finding = |circle: Vec<&ModulePath>| {
        let file = modules.file(circle.first()?)?;
        let names = circle.iter().map(|path| path.join("::")).collect::<Vec<_>>().join(", ");
        let size = circle.len();
        let says = format!("{size} files import one another, at most {FILES} may: separate the code of {names}");
        Some(Finding::new(&file.path, 1, says))
    };
    large.filter_map(finding).collect()
}

fn circles_of_folders(folder: &str, modules: &Modules<'_>) -> Vec<Finding> {
    let arrows = modules.arrows().filter_map(|(from, to)| Some((from.first()?, to.first()?)));
    let folder_circles = circles(arrows.filter(|(from, to)| from != to));
    let finding = |circle: Vec<&String>| {
        let names = circle.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let says = format!("the folders {names} import one another: move down what the lower folder imports");
        Finding::new(&format!("{folder}lib.rs"), 1, says)
    };
    folder_circles.into_iter().map(finding).collect()
}

/// Returns the groups of at least two nodes that reach one another, each group sorted.
fn circles<'a, T: Ord + 'a>(arrows: impl Iterator<Item = (&'a T, &'a T)>) -> Vec<Vec<&'a T>> {
    let arrows: BTreeSet<(&T, &T)> = arrows.collect();
    let nodes: Vec<&T> =
        arrows.iter().flat_map(|(from, to)| [*from, *to]).collect::<BTreeSet<_>>().into_iter().collect();
    let number = |node: &T| nodes.binary_search(&node).unwrap_or_default();
    let graph = DiGraphMap::<usize, ()>::from_edges(arrows.iter().map(|(from, to)| (number(from), number(to))));
    let mut all_circles: Vec<Vec<&T>> = Vec::new();
    for mut group in tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1) {
        group.sort_unstable();
        all_circles.push(group.into_iter().filter_map(|at| nodes.get(at).copied()).collect());
    }
    all_circles.sort();
    all_circles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    /// Returns the files of a crate. Each file imports the next one, and the last file imports the first.
    fn ring(files: usize) -> Vec<SourceFile> {
        let import = |at: usize| format!("use crate::m{}::Name;", (at + 1) % files);
        (0..files).map(|at| file(&format!("{}m{at}.rs", CIRCULAR[0]), &import(at))).collect()
    }

    #[test]
    fn circle_of_more_than_five_files_is_a_finding() {
        assert_eq!(check(&ring(5)), []);
        let findings = check(&ring(6));
        assert!(matches!(&findings[..], [one] if one.says.starts_with("6 files import")), "{findings:?}");
    }

    #[test]
    fn folders_of_a_layered_crate_do_not_import_one_another() {
        let files = |last: &str| {
            let sources =
                [("sql.rs", last), ("commit/mod.rs", "use crate::sql::Sql;"), ("table.rs", "use crate::sql::Db;")];
            sources.map(|(path, text)| file(&format!("crates/store-sqlite/src/{path}"), text))
        };
        assert_eq!(check(&files("")), []);
        let findings = check(&files("use crate::commit::refusal;"));
        assert!(
            matches!(&findings[..], [one] if one.says.starts_with("the folders commit, sql import")),
            "{findings:?}"
        );
    }
}
