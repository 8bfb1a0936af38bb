//! Compresses the code samples, which repeat themselves: 211 kB are 15 kB.

use std::path::PathBuf;
use std::{env, fs, io};

const SAMPLES: &str = "assets/samples.json";
const BEST_LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={SAMPLES}");
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    fs::write(folder.join("samples.json.zst"), zstd::bulk::compress(&fs::read(SAMPLES)?, BEST_LEVEL)?)
}
