//! Sets `SQLITE_MIGRATIONS` to a hash of SQLite's migrations, so that tests with other migrations make another file.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

const MIGRATIONS: &str = "../../migrations/sqlite";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={MIGRATIONS}");
    let folders = fs::read_dir(Path::new(MIGRATIONS))?.map(|entry| entry.map(|entry| entry.path()));
    let mut folders: Vec<PathBuf> = folders.collect::<io::Result<_>>()?;
    folders.sort();
    let mut hasher = DefaultHasher::new();
    for folder in folders {
        folder.file_name().hash(&mut hasher);
        fs::read(folder.join("up.sql"))?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=SQLITE_MIGRATIONS={:016x}", hasher.finish());
    Ok(())
}
