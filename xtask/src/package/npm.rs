//! The npm packages: a small one that users install, and for each platform one with the binary. npm installs only
//! the one for the user's platform.

use super::build::Build;
use super::platform::{Platform, TRIPLES};
use super::wheel::FOLDER;
use super::{LICENCES, SUMMARY, remove, version};
use crate::process::{Outcome, output, program, root, succeeds};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the package that users install.
const NAME: &str = "candor";
/// Oldest Node.js that the script runs on.
const NODE: &str = ">=20";
/// The script that runs the binary of the platform's package.
const SCRIPT: &str = "candor.js";

pub(super) fn is_installed() -> bool {
    succeeds(&mut program("npm", &["--version"]))
}

/// Makes the main package and the package of the build's platform; returns their file names.
pub(super) fn build(build: &Build, binary: &Path, folder: &Path) -> Outcome<Vec<PathBuf>> {
    let version = version()?;
    let main = pack(folder, &main_manifest(&version)?, &root().join(FOLDER).join("npm").join(SCRIPT), SCRIPT)?;
    let platform = pack(folder, &platform_manifest(&version, build.platform), binary, NAME)?;
    Ok(vec![main, platform])
}

/// Packs a package of a manifest and one file; returns the file name of the archive.
fn pack(folder: &Path, manifest: &Value, file: &Path, name: &str) -> Outcome<PathBuf> {
    let stage = folder.join("npm");
    remove(&stage)?;
    fs::create_dir_all(&stage)?;
    fs::write(stage.join("package.json"), format!("{manifest:#}\n"))?;
    fs::copy(file, stage.join(name))?;
    fs::copy(root().join(FOLDER).join("README.md"), stage.join("README.md"))?;
    for licence in LICENCES {
        fs::copy(root().join(licence), stage.join(licence))?;
    }
    let archive_name =
        output(program("npm", &["pack", "--silent", "--pack-destination"]).arg(folder).current_dir(&stage))?;
    remove(&stage)?;
    Ok(archive_name.trim().into())
}

fn main_manifest(version: &str) -> Outcome<Value> {
    let platforms = TRIPLES.iter().map(|triple| Ok((Platform::from_triple(triple)?.npm_name(), version.into())));
    let platforms = platforms.collect::<Outcome<Map<String, Value>>>()?;
    let mut manifest = manifest(NAME, version);
    manifest["bin"] = json!({ NAME: SCRIPT });
    manifest["optionalDependencies"] = platforms.into();
    Ok(manifest)
}

fn platform_manifest(version: &str, platform: Platform) -> Value {
    let (os, cpu, libc) = platform.npm();
    let mut manifest = manifest(&platform.npm_name(), version);
    // Package managers that keep packages zipped must unpack this one, because the script starts the binary as a
    // file.
    manifest["preferUnplugged"] = true.into();
    manifest["os"] = json!([os]);
    manifest["cpu"] = json!([cpu]);
    if let Some(libc) = libc {
        manifest["libc"] = json!([libc]);
    }
    manifest
}

fn manifest(name: &str, version: &str) -> Value {
    json!({
        "name": name,
        "version": version,
        "description": SUMMARY,
        "license": "(MIT OR Apache-2.0)",
        "files": [NAME, SCRIPT, LICENCES[0], LICENCES[1]],
        "engines": {"node": NODE},
        "publishConfig": {"access": "public"},
    })
}

#[cfg(test)]
mod tests {
    use super::{Platform, TRIPLES, main_manifest, platform_manifest};

    #[test]
    fn main_package_depends_on_each_platform_package() {
        let main = main_manifest("1.2.3").unwrap();
        for triple in TRIPLES {
            let platform = platform_manifest("1.2.3", Platform::from_triple(triple).unwrap());
            let name = platform["name"].as_str().unwrap();
            assert_eq!(main["optionalDependencies"][name], platform["version"], "{name}");
        }
        assert_eq!(main["optionalDependencies"].as_object().unwrap().len(), TRIPLES.len());
    }

    #[test]
    fn platform_package_names_its_c_library_on_linux_only() {
        let manifest = |triple| platform_manifest("1.2.3", Platform::from_triple(triple).unwrap());
        assert_eq!(manifest("x86_64-unknown-linux-musl")["libc"][0], "musl");
        assert_eq!(manifest("aarch64-apple-darwin").get("libc"), None);
        assert_eq!(manifest("aarch64-apple-darwin")["cpu"][0], "arm64");
    }
}
