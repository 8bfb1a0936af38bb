//! Both stores have the same migrations, and each migration can be reverted.

use super::Finding;
use std::collections::{BTreeMap, BTreeSet};

const STORES: [&str; 2] = ["postgres", "sqlite"];
const FILES: [&str; 2] = ["up.sql", "down.sql"];

pub(super) fn check<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let mut files_by_migration: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        let mut parts = path.split('/');
        if let (Some("migrations"), Some(store), Some(name), Some(file), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        {
            files_by_migration.entry((store, name)).or_default().insert(file);
        }
    }
    let names: BTreeSet<&str> = files_by_migration.keys().map(|(_, name)| *name).collect();
    let misnamed_folders = names.iter().filter(|name| !is_migration_name(name)).map(|name| {
        let path = format!("migrations/{}/{name}", STORES[0]);
        Finding::new(&path, 1, "the name is not of the form NNNN_words, use the next free number and words")
    });
    let places = STORES.iter().flat_map(|store| names.iter().map(move |name| (*store, *name)));
    let missing = places.flat_map(|(store, name)| {
        let known_files = files_by_migration.get(&(store, name));
        FILES.iter().filter(move |file| known_files.is_none_or(|files| !files.contains(*file))).map(move |file| {
            let path = format!("migrations/{store}/{name}/{file}");
            Finding::new(&path, 1, "the file is missing, add it: each store has each migration, up and down")
        })
    });
    misnamed_folders.chain(missing).collect()
}

fn is_migration_name(name: &str) -> bool {
    const DIGITS: usize = 4;
    name.split_once('_').is_some_and(|(number, words)| {
        number.len() == DIGITS
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !words.is_empty()
            && words.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_found(paths: &[&str]) -> Vec<String> {
        check(paths.iter().copied()).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn both_stores_have_every_migration_up_and_down() {
        let whole = [
            "migrations/README.md",
            "migrations/postgres/0001_people/up.sql",
            "migrations/postgres/0001_people/down.sql",
            "migrations/sqlite/0001_people/up.sql",
            "migrations/sqlite/0001_people/down.sql",
        ];
        assert_eq!(paths_found(&whole), [""; 0]);
        assert_eq!(paths_found(&whole[..4]), ["migrations/sqlite/0001_people/down.sql"]);
        assert_eq!(
            paths_found(&whole[..3]),
            ["migrations/sqlite/0001_people/up.sql", "migrations/sqlite/0001_people/down.sql"]
        );
    }

    #[test]
    fn names_are_a_number_and_words() {
        assert!(is_migration_name("0012_reporting_lines"));
        for name in ["12_a", "00012_a", "0012", "0012_", "0012_Lines", "0012-lines", "abcd_lines"] {
            assert!(!is_migration_name(name), "{name}");
        }
    }
}
