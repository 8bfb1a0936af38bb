//! `cargo xtask reference`: the reference of the built binary, read as a reader does, with a headless Chromium.

use crate::packages;
use crate::process::{Outcome, program, root, run as run_program, succeeds};
use crate::service::Service;
use crate::test;
use crate::workspace::Workspace;
use std::fs;
use std::path::PathBuf;

/// What is installed, in which version, and what is looked at.
const FOLDER: &str = "xtask/reference";
const READER: &str = "read.cjs";
/// The names under which Chromium is installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub(crate) fn run() -> Outcome {
    let Some(browser) = BROWSERS.iter().find_map(|it| installed(it)) else {
        println!("skipped: Chromium is not installed");
        return Ok(());
    };
    if !succeeds(&mut program("node", &["--version"])) {
        println!("skipped: Node.js is not installed");
        return Ok(());
    }
    test::build_everything()?;
    let target = Workspace::load()?.target_directory;
    let folder = packages::node(&target, FOLDER)?;
    fs::copy(root().join(FOLDER).join(READER), folder.join(READER))?;
    let pictures = target.join("reference-pictures");
    fs::create_dir_all(&pictures)?;
    let service = Service::start(&target.join("debug/candor"), &[])?;
    let arguments = [service.url(""), browser.to_string_lossy().into_owned(), pictures.to_string_lossy().into_owned()];
    run_program(program("node", &[READER]).current_dir(folder).args(arguments))
        .map_err(|problem| format!("{problem}; pictures of each step are in {}", pictures.display()))?;
    println!(
        "an operation, a guide, samples, search, folded patterns, and 390 pixels; nothing but the service was asked"
    );
    Ok(())
}

fn installed(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|it| it.join(name)).find(|it| it.is_file())
}
