//! Locates the PostgreSQL server programs of this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders with one installation per version: parent, prefix of the installation's name, path of the programs
/// in it.
const VERSIONED: [(&str, &str, &str); 6] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/Library/PostgreSQL", "", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// Returns the first folder with `initdb` and `postgres`. Search order: `PG_BIN_DIR`, `PATH`, the folder of
/// `pg_config`, then the usual folders, newest version first. `None` if no folder has both.
pub(crate) fn find() -> Option<PathBuf> {
    let named_folder = env::var_os("PG_BIN_DIR").map(PathBuf::from);
    let path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    named_folder.into_iter().chain(path).find_map(|folder| complete(&folder)).or_else(|| {
        pg_config().into_iter().chain(VERSIONED.iter().flat_map(newest_first)).find_map(|folder| complete(&folder))
    })
}

/// Returns the folder with both programs. Follows links, because distributions link only one of them. `None` if no
/// folder has both.
fn complete(folder: &Path) -> Option<PathBuf> {
    let holds_both = |folder: &Path| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    if holds_both(folder) {
        return Some(folder.to_path_buf());
    }
    let target = fs::canonicalize(folder.join("initdb")).ok()?;
    target.parent().filter(|folder| holds_both(folder)).map(Path::to_path_buf)
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}

fn newest_first((parent, prefix, programs): &(&str, &str, &str)) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut versions: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((version(name.strip_prefix(prefix)?), entry.path().join(programs)))
        })
        .collect();
    versions.sort_by(|one, other| other.cmp(one));
    versions.into_iter().map(|(_, path)| path).collect()
}

/// Returns the numbers in a folder's name, so that 16 sorts above 9.6.
fn version(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn newer_version_sorts_above_an_older_one() {
        assert!(version("16") > version("9.6"));
        assert!(version("@17") > version("@16"));
        assert!(version("16.4") > version("16"));
        assert!(version("") < version("9"));
    }
}
