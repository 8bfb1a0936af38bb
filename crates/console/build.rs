//! Packs the files of the console: as they are, they would be a fiftieth of the program.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folder of the files. The page in it is embedded by itself.
const FOLDER: &str = "web";
const PAGE: &str = "index.html";
const BEST_LEVEL: i32 = 19;

/// Writes the text of all files, each behind a line with its name and the number of its bytes.
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut paths = Vec::new();
    collect(Path::new(FOLDER), &mut paths)?;
    paths.sort();
    let mut pack = Vec::new();
    for path in paths {
        let name = path.strip_prefix(FOLDER).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        let text = fs::read(&path)?;
        if name != PAGE && !name.contains(".d.") {
            pack.extend(format!("{name} {}\n", text.len()).into_bytes());
            pack.extend(text);
        }
    }
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    fs::write(folder.join("files.zst"), zstd::bulk::compress(&pack, BEST_LEVEL)?)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
