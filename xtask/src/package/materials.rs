//! The bill of materials: every package that is built into the binary.

use super::build::{Build, FEATURES};
use super::{APP, remove};
use crate::deploy::tools;
use crate::process::{Outcome, cargo, output, program, run as run_program};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Version of cargo-cyclonedx that is known to write a complete bill.
const CARGO_CYCLONEDX: &str = "0.5.9";

/// Writes the bill of materials of the last commit in the CycloneDX format; returns its file name.
pub(super) fn write(build: &Build, folder: &Path) -> Outcome<PathBuf> {
    let tool = tools::subcommand(&build.target, "cyclonedx", CARGO_CYCLONEDX)?;
    // The tool writes a file beside every manifest, so it gets a copy of the sources.
    let copy = build.target.join("package-source");
    remove(&copy)?;
    fs::create_dir_all(&copy)?;
    let shell = "git archive HEAD | tar --extract --directory \"$0\"";
    run_program(program("sh", &["-c", shell]).arg(&copy))?;
    let triple = build.platform.triple();
    let arguments = ["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5", "--target", triple];
    run_program(program(tool, &arguments).args(["--features", FEATURES]).current_dir(copy.join("crates/app")))?;
    let text = fs::read_to_string(copy.join("crates/app").join(format!("{APP}.cdx.json")))?;
    fs::remove_dir_all(&copy)?;
    let text = text.replace(&format!("path+file://{}/", copy.display()), "path+file:///");
    check_completeness(&serde_json::from_str(&text)?, triple)?;
    let name = PathBuf::from(format!("candor-{}.cdx.json", build.platform.suffix()));
    fs::write(folder.join(&name), text)?;
    Ok(name)
}

/// Fails if the bill lacks a package that cargo builds into the binary.
fn check_completeness(bill: &Value, triple: &str) -> Outcome {
    let tree = ["tree", "--package", APP, "--features", FEATURES, "--target", triple, "--edges", "normal"];
    let tree = output(cargo(&tree).args(["--prefix", "none", "--format", "{p}"]))?;
    let listed_crates: Vec<(&str, &str)> = bill["components"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|part| Some((part["name"].as_str()?, part["version"].as_str()?)))
        .collect();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        if name != APP && !listed_crates.contains(&(name, version.trim_start_matches('v'))) {
            return Err(format!("the bill of materials lacks {name} {version}").into());
        }
    }
    Ok(())
}
