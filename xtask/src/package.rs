//! `cargo xtask package`: what a release consists of, from a binary that is built: the package for Debian, an archive, the
//! bill of materials, and the check sums of all of them.

use crate::deploy::tools;
use crate::process::{Outcome, cargo, output, program, root, run as run_program};
use crate::workspace::Workspace;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a release is built with.
const PROFILE: &str = "release";
const FEATURES: &str = "otlp";
/// The tools, in the versions that were tried.
const CARGO_DEB: &str = "3.8.0";
const CARGO_CYCLONEDX: &str = "0.5.9";
/// The package of the program.
const APP: &str = "candor-app";
/// The check sums of the other files.
const SUMS: &str = "SHA256SUMS";
/// The shells for which there are completions.
const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];

pub(crate) fn run() -> Outcome {
    run_program(&mut cargo(&["build", "--locked", "--profile", PROFILE, "--features", FEATURES]))?;
    let target = Workspace::load()?.target_directory;
    let folder = target.join("package");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    println!("{}", folder.display());
    release(&target, PROFILE, &folder)?.iter().for_each(|file| println!("  {}", file.display()));
    Ok(())
}

/// Everything that a release consists of, of the binary that a profile has; answers the names.
pub(crate) fn release(target: &Path, profile: &str, folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files =
        vec![debian(target, profile, folder)?, archive(target, profile, folder)?, materials(target, folder)?];
    sums(folder, &files)?;
    files.push(SUMS.into());
    Ok(files)
}

/// The folder of a profile's builds.
fn built(target: &Path, profile: &str) -> PathBuf {
    target.join(if profile == "dev" { "debug" } else { profile })
}

/// The package for Debian of the binary that a profile has; answers its name.
fn debian(target: &Path, profile: &str, folder: &Path) -> Outcome<PathBuf> {
    described(&built(target, profile))?;
    let tool = tools::subcommand(target, "deb", CARGO_DEB)?;
    let version = output(&mut cargo(&["pkgid", "--package", APP]))?;
    let version = version.trim().rsplit(['#', '@']).next().unwrap_or_default();
    let file = folder.join(format!("candor_{version}_{}.deb", architecture()?));
    let mut command = program(tool, &["deb", "--quiet", "--no-build", "--no-strip", "--package", APP]);
    // The compression of a release takes half a minute, and proves nothing.
    if profile != PROFILE {
        command.arg("--fast");
    }
    run_program(command.args(["--profile", profile, "--deb-revision=", "--output"]).arg(&file))?;
    Ok(file.file_name().map(PathBuf::from).unwrap_or_default())
}

fn architecture() -> Outcome<String> {
    Ok(output(&mut program("dpkg", &["--print-architecture"]))?.trim().to_owned())
}

/// The page of the manual and the completions, beside the binary that says them.
fn described(built: &Path) -> Outcome {
    let folder = built.join("package");
    fs::create_dir_all(&folder)?;
    let says = |arguments: &[&str]| output(Command::new(built.join("candor")).env_clear().args(arguments));
    fs::write(folder.join("candor.1"), says(&["manual"])?)?;
    for shell in SHELLS {
        fs::write(folder.join(format!("candor.{shell}")), says(&["completions", shell])?)?;
    }
    Ok(())
}

/// The binary with what is needed to set it up, for machines without Debian.
fn archive(target: &Path, profile: &str, folder: &Path) -> Outcome<PathBuf> {
    let name = format!("candor-{}-linux.tar.gz", std::env::consts::ARCH);
    let built = built(target, profile);
    let mut command = program("tar", &["--create", "--gzip", "--owner=0", "--group=0", "--sort=name", "--file"]);
    command.arg(folder.join(&name)).arg("--directory").arg(&built).args(["candor", "package"]).arg("--directory");
    run_program(command.arg(root()).args(["docs/deploy", "docs/operations.md", "LICENSE-APACHE", "LICENSE-MIT"]))?;
    Ok(name.into())
}

/// Everything that is in the binary, in the form of CycloneDX, as of the last commit.
fn materials(target: &Path, folder: &Path) -> Outcome<PathBuf> {
    let tool = tools::subcommand(target, "cyclonedx", CARGO_CYCLONEDX)?;
    // It writes beside every manifest, so it gets a copy of them.
    let copy = target.join("package-source");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(&copy)?;
    let shell = "git archive HEAD | tar --extract --directory \"$0\"";
    run_program(program("sh", &["-c", shell]).arg(&copy))?;
    let asked = ["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5", "--features", FEATURES];
    run_program(program(tool, &asked).current_dir(copy.join("crates/app")))?;
    let text = fs::read_to_string(copy.join("crates/app").join(format!("{APP}.cdx.json")))?;
    fs::remove_dir_all(&copy)?;
    let text = text.replace(&format!("path+file://{}/", copy.display()), "path+file:///");
    lists_everything(&serde_json::from_str(&text)?)?;
    let name = PathBuf::from("candor.cdx.json");
    fs::write(folder.join(&name), text)?;
    Ok(name)
}

/// Every package that cargo builds into the binary is in the bill.
fn lists_everything(bill: &Value) -> Outcome {
    let tree = ["tree", "--package", APP, "--features", FEATURES, "--edges", "normal", "--prefix", "none", "--format"];
    let tree = output(cargo(&tree).arg("{p}"))?;
    let listed: Vec<(&str, &str)> = bill["components"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| Some((it["name"].as_str()?, it["version"].as_str()?)))
        .collect();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        if name != APP && !listed.contains(&(name, version.trim_start_matches('v'))) {
            return Err(format!("the bill of materials lacks {name} {version}").into());
        }
    }
    Ok(())
}

/// What `sha256sum --check` reads.
fn sums(folder: &Path, files: &[PathBuf]) -> Outcome {
    let text = output(program("sha256sum", &[]).args(files).current_dir(folder))?;
    fs::write(folder.join(SUMS), text)?;
    run_program(program("sha256sum", &["--check", "--quiet", SUMS]).current_dir(folder))
}
