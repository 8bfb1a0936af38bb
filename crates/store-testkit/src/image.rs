//! One migrated SQLite file for all tests of a build. A test copies it, because migrations take longer than most
//! tests.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

/// Hash of the migrations with which the tests were compiled.
const MIGRATIONS: &str = env!("SQLITE_MIGRATIONS");

/// Returns the path of a file that `migrate` has filled in this process or an earlier one. Tests must not change
/// the file.
///
/// # Errors
/// The file cannot be created in the build's folder, or `migrate` fails.
pub fn sqlite_image<T, E: Display>(migrate: impl FnOnce(&Path) -> Result<T, E>) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let program = env::current_exe()?;
    // The program is in `target/debug/deps`.
    let build = program.ancestors().nth(2).ok_or(io::ErrorKind::NotFound)?;
    let folder = build.join("sqlite-images");
    let image = folder.join(format!("{MIGRATIONS}.db"));
    if !image.exists() {
        fs::create_dir_all(&folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let partial_image = folder.join(format!("{MIGRATIONS}-{}-{number}.db", process::id()));
        migrate(&partial_image).map_err(|error| io::Error::other(error.to_string()))?;
        // Another process may have been first. Both files have the same content.
        fs::rename(&partial_image, &image)?;
    }
    Ok(image)
}
