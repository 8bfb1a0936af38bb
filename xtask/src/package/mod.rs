//! `cargo xtask package`: builds the files of a release. These are the Debian package, an archive, the bill of
//! materials, a wheel, npm packages and checksums.

mod build;
mod materials;
mod npm;
mod platform;
mod trial;
mod wheel;

use crate::deploy::tools;
use crate::process::{Outcome, cargo, output, program, root, run as run_program, succeeds};
use crate::workspace::Workspace;
pub(crate) use build::Build;
use platform::System;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
pub(crate) use trial::run as test;

/// Version of cargo-deb that the package was tried with.
const CARGO_DEB: &str = "3.8.0";
/// The crate with the program.
const APP: &str = "candor-app";
/// File with the checksums of the other files.
const SUMS: &str = "SHA256SUMS";
/// The shells for which there are completions.
const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];
const SUMMARY: &str = "Performance feedback as an HTTP service";
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if arguments == ["--test"] {
        return test();
    }
    let target = Workspace::load()?.target_directory;
    let build = Build::from_arguments(&target, arguments)?;
    build.compile()?;
    let folder = target.join("package");
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let mut files = for_machines(&build, &folder)?;
    files.extend(for_registries(&build, &folder)?);
    files.push(sums(&folder, &files)?);
    println!("{}", folder.display());
    files.iter().for_each(|file| println!("  {}", file.display()));
    trial::install_and_start(&build, &folder, &files)
}

/// Makes the archive, bill of materials and, where possible, Debian package of a build; returns the file names.
pub(crate) fn for_machines(build: &Build, folder: &Path) -> Outcome<Vec<PathBuf>> {
    write_descriptions(&build.folder())?;
    let mut files = Vec::new();
    if build.platform.system == System::LinuxGnu && succeeds(&mut program("dpkg", &["--version"])) {
        files.push(debian(build, folder)?);
    } else {
        println!("skipped: the Debian package: it needs dpkg and a target with glibc");
    }
    files.extend([archive(build, folder)?, materials::write(build, folder)?]);
    Ok(files)
}

/// Makes the wheel and the npm packages of a build, as far as their tools are installed; returns the file names.
fn for_registries(build: &Build, folder: &Path) -> Outcome<Vec<PathBuf>> {
    let binary = build.without_debug_information()?;
    let mut files = Vec::new();
    match wheel::python(&build.target) {
        Ok(python) => files.push(wheel::build(&python, build.platform, &binary, folder)?),
        Err(problem) => println!("skipped: the wheel: {problem}"),
    }
    if npm::is_installed() {
        files.extend(npm::build(build, &binary, folder)?);
    } else {
        println!("skipped: the npm packages: npm is not installed");
    }
    Ok(files)
}

/// Returns the version of the program.
fn version() -> Outcome<String> {
    let id = output(&mut cargo(&["pkgid", "--package", APP]))?;
    Ok(id.trim().rsplit(['#', '@']).next().unwrap_or_default().to_owned())
}

/// Makes the Debian package; returns its file name.
fn debian(build: &Build, folder: &Path) -> Outcome<PathBuf> {
    let tool = tools::subcommand(&build.target, "deb", CARGO_DEB)?;
    let file = folder.join(format!("candor_{}_{}.deb", version()?, architecture()?));
    let mut command = program(tool, &["deb", "--quiet", "--no-build", "--no-strip", "--package", APP]);
    // Full compression takes half a minute and only matters for releases.
    if !build.is_release() {
        command.arg("--fast");
    }
    build.add_target_to(&mut command);
    run_program(command.args(["--profile", &build.profile, "--deb-revision=", "--output"]).arg(&file))?;
    Ok(file.file_name().map(PathBuf::from).unwrap_or_default())
}

fn architecture() -> Outcome<String> {
    Ok(output(&mut program("dpkg", &["--print-architecture"]))?.trim().to_owned())
}

/// Writes the manual page and the completions beside the binary that prints them.
fn write_descriptions(built: &Path) -> Outcome {
    let folder = built.join("package");
    fs::create_dir_all(&folder)?;
    let print = |arguments: &[&str]| output(Command::new(built.join("candor")).env_clear().args(arguments));
    fs::write(folder.join("candor.1"), print(&["manual"])?)?;
    for shell in SHELLS {
        fs::write(folder.join(format!("candor.{shell}")), print(&["completions", shell])?)?;
    }
    Ok(())
}

/// Packs the binary with the files to set it up, for machines without Debian.
fn archive(build: &Build, folder: &Path) -> Outcome<PathBuf> {
    let name = format!("candor-{}.tar.gz", build.platform.suffix());
    // The tar of macOS lacks options that make archives equal for equal contents.
    let tar = if succeeds(&mut program("gtar", &["--version"])) { "gtar" } else { "tar" };
    let mut command = program(tar, &["--create", "--gzip", "--owner=0", "--group=0", "--sort=name", "--file"]);
    command.arg(folder.join(&name)).arg("--directory").arg(build.folder()).args(["candor", "package"]);
    command
        .arg("--directory")
        .arg(root())
        .args(["docs/deploy", "docs/operations.md", "docs/settings.md", "docs/command-line.md"])
        .args(LICENCES);
    run_program(&mut command)?;
    Ok(name.into())
}

/// Writes the file that `sha256sum --check` reads; returns its file name.
pub(crate) fn sums(folder: &Path, files: &[PathBuf]) -> Outcome<PathBuf> {
    // On macOS, the program `sha256sum` has other options.
    let mut sum = if cfg!(target_os = "macos") {
        program("shasum", &["--algorithm", "256"])
    } else {
        program("sha256sum", &[])
    };
    fs::write(folder.join(SUMS), output(sum.args(files).current_dir(folder))?)?;
    Ok(SUMS.into())
}

fn remove(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}
