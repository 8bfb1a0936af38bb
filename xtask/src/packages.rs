//! Packages of other languages for checks: installed under the target folder, in the versions that lock files
//! name.

use crate::process::{Outcome, output, program, root, run as run_program};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Oldest version of Node.js that all packages of the checks support.
const NODE: (u32, u32) = (20, 19);

/// Returns a virtual environment, created if it is missing, with the packages of `requirements.txt` in `folder`.
pub(crate) fn python(target: &Path, folder: &str) -> Outcome<PathBuf> {
    let versions = format!("{folder}/requirements.txt");
    let environment = folder_for(target, &versions)?;
    let complete = environment.join("complete");
    if !complete.exists() {
        println!("installing {versions}");
        run_program(&mut program("python3", &["-m", "venv", "--clear", &environment.to_string_lossy()]))
            .map_err(|problem| format!("{problem}: Python 3 with its venv module is needed"))?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", &versions];
        run_program(&mut program(environment.join("bin/python"), &install))?;
        File::create(complete)?;
    }
    Ok(environment)
}

/// Returns an installation of the packages that `package-lock.json` in `folder` names. Installs the packages if the
/// installation is missing.
pub(crate) fn node(target: &Path, folder: &str) -> Outcome<PathBuf> {
    let version = output(&mut program("node", &["--version"])).map_err(|_| "Node.js is needed")?;
    if !is_recent(&version) {
        return Err(format!("Node.js {}.{} or later is needed, this is {}", NODE.0, NODE.1, version.trim()).into());
    }
    let versions = format!("{folder}/package-lock.json");
    let package_folder = folder_for(target, &versions)?;
    let complete = package_folder.join("complete");
    if !complete.exists() {
        println!("installing {versions}");
        fs::create_dir_all(&package_folder)?;
        for name in ["package.json", "package-lock.json"] {
            fs::copy(root().join(folder).join(name), package_folder.join(name))?;
        }
        let install = ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
        run_program(program("npm", &install).current_dir(&package_folder))
            .map_err(|problem| format!("{problem}: npm is needed, and its registry"))?;
        File::create(complete)?;
    }
    Ok(package_folder)
}

fn is_recent(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|numbers| numbers >= NODE)
}

/// Returns a folder whose name changes with the list of packages.
fn folder_for(target: &Path, versions: &str) -> Outcome<PathBuf> {
    let sum = fingerprint(&fs::read(root().join(versions))?);
    let name = versions.trim_start_matches("tests/outside/").trim_start_matches("xtask/").replace('/', "-");
    Ok(target.join(format!("{name}-{sum:016x}")))
}

/// Returns the FNV-1a sum of these bytes: enough to distinguish two states of a file.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::is_recent;

    #[test]
    fn an_old_node_is_told_from_a_recent_one() {
        for (version, recent) in
            [("v20.19.0\n", true), ("v22.1.0", true), ("v20.18.3", false), ("v18.20.4", false)]
        {
            assert_eq!(is_recent(version), recent, "{version}");
        }
        assert!(!is_recent("unknown"));
    }
}
