//! The wheel: a package of Python whose script is the binary, as `uvx` and `pip` install it.
//!
//! The wheel is made from the binary that is built already. maturin would build another one, with the features of
//! the crate alone, so that the wheel and the archive of a release would differ.

use super::platform::Platform;
use super::{LICENCES, SUMMARY, remove, version};
use crate::packages;
use crate::process::{Outcome, program, root, run as run_program};
use std::fs;
use std::path::{Path, PathBuf};

/// Folder with the versions of Python's tools, and the description of the packages.
pub(super) const FOLDER: &str = "xtask/package";
/// Name on PyPI. Another project has the name `candor` there.
pub(super) const NAME: &str = "candor-app";
/// Name in file names, where a dash separates the parts.
const FILE_NAME: &str = "candor_app";

/// Returns the Python that packs wheels.
pub(super) fn python(target: &Path) -> Outcome<PathBuf> {
    Ok(packages::python(target, FOLDER)?.join("bin/python"))
}

/// Makes the wheel of a binary; returns its file name.
pub(super) fn build(python: &Path, platform: Platform, binary: &Path, folder: &Path) -> Outcome<PathBuf> {
    let (version, tag) = (version()?, platform.wheel_tag(binary)?);
    let name = format!("{FILE_NAME}-{version}-py3-none-{tag}.whl");
    let stage = folder.join("wheel");
    remove(&stage)?;
    let scripts = stage.join(format!("{FILE_NAME}-{version}.data/scripts"));
    let information = stage.join(format!("{FILE_NAME}-{version}.dist-info"));
    fs::create_dir_all(&scripts)?;
    fs::create_dir_all(information.join("licenses"))?;
    fs::copy(binary, scripts.join("candor"))?;
    for licence in LICENCES {
        fs::copy(root().join(licence), information.join("licenses").join(licence))?;
    }
    let description = fs::read_to_string(root().join(FOLDER).join("README.md"))?;
    fs::write(information.join("METADATA"), metadata(&version, &description))?;
    fs::write(information.join("WHEEL"), wheel(&tag))?;
    let mut pack = program(python, &["-m", "wheel", "pack", "--dest-dir"]);
    // The oldest time that a zip file can hold: equal contents make equal wheels.
    pack.env("SOURCE_DATE_EPOCH", "315532800").stdout(std::process::Stdio::null());
    run_program(pack.args([folder, &stage]))?;
    remove(&stage)?;
    if !folder.join(&name).exists() {
        return Err(format!("`wheel pack` has not made {name}").into());
    }
    Ok(name.into())
}

fn metadata(version: &str, description: &str) -> String {
    let licences: String = LICENCES.iter().map(|licence| format!("License-File: {licence}\n")).collect();
    format!(
        "Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n\
         License-Expression: MIT OR Apache-2.0\n{licences}Requires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{description}"
    )
}

fn wheel(tag: &str) -> String {
    format!("Wheel-Version: 1.0\nGenerator: cargo xtask package\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n")
}
