//! The build that packages are made from.

use super::platform::Platform;
use crate::process::{Outcome, cargo, program, run as run_program, succeeds};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profile of a release.
const RELEASE: &str = "release";
/// The features of a release.
pub(super) const FEATURES: &str = "otlp";

/// A binary in the target folder: its profile and its platform.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Build {
    pub(super) target: PathBuf,
    pub(super) profile: String,
    pub(super) platform: Platform,
    /// `true` if cargo gets the option `--target`: it then builds into a folder with the name of the target.
    names_target: bool,
}

impl Build {
    /// Returns the build of a profile for this machine.
    pub(crate) fn with_profile(target: &Path, profile: &str) -> Outcome<Self> {
        let platform = Platform::host()?;
        Ok(Self { target: target.to_path_buf(), profile: profile.to_owned(), platform, names_target: false })
    }

    /// Reads `--profile NAME` and `--target TRIPLE`. Without arguments, returns the release build for this machine.
    pub(super) fn from_arguments(target: &Path, arguments: &[String]) -> Outcome<Self> {
        let mut build = Self::with_profile(target, RELEASE)?;
        for pair in arguments.chunks(2) {
            match pair {
                [option, profile] if option == "--profile" => build.profile.clone_from(profile),
                [option, triple] if option == "--target" => {
                    build.platform = Platform::from_triple(triple)?;
                    build.names_target = true;
                }
                _ => return Err("the only arguments are --profile NAME, --target TRIPLE, and --test alone".into()),
            }
        }
        Ok(build)
    }

    pub(super) fn compile(&self) -> Outcome {
        let mut command = cargo(&["build", "--locked", "--profile", &self.profile, "--features", FEATURES]);
        self.add_target_to(&mut command);
        run_program(&mut command)
    }

    /// Adds the target to a command of cargo, if the build has one.
    pub(super) fn add_target_to(&self, command: &mut Command) {
        if self.names_target {
            command.args(["--target", self.platform.triple()]);
        }
    }

    pub(super) fn is_release(&self) -> bool {
        self.profile == RELEASE
    }

    /// Returns the folder with the binary.
    pub(super) fn folder(&self) -> PathBuf {
        let target =
            if self.names_target { self.target.join(self.platform.triple()) } else { self.target.clone() };
        target.join(if self.profile == "dev" { "debug" } else { &self.profile })
    }

    /// Returns the path of the binary. For profiles other than `release`, this is a copy without debug information,
    /// which would make the binary five times as large. If `strip` is not installed, no copy is made.
    pub(super) fn without_debug_information(&self) -> Outcome<PathBuf> {
        let binary = self.folder().join("candor");
        if self.is_release() || !succeeds(&mut program("strip", &["--version"])) {
            return Ok(binary);
        }
        let stripped_program = self.folder().join("package/candor");
        fs::create_dir_all(self.folder().join("package"))?;
        run_program(program("strip", &["-S", "-o"]).args([&stripped_program, &binary]))?;
        Ok(stripped_program)
    }
}

#[cfg(test)]
mod tests {
    use super::Build;
    use std::path::Path;

    fn folder(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let build = Build::from_arguments(Path::new("t"), &arguments).map_err(|problem| problem.to_string())?;
        Ok(build.folder().display().to_string())
    }

    #[test]
    fn arguments_choose_the_folder_of_the_binary() {
        assert_eq!(folder(&[]).unwrap(), "t/release");
        assert_eq!(folder(&["--profile", "dev"]).unwrap(), "t/debug");
        let musl = folder(&["--target", "x86_64-unknown-linux-musl"]).unwrap();
        assert_eq!(musl, "t/x86_64-unknown-linux-musl/release");
    }

    #[test]
    fn unknown_argument_is_refused() {
        for arguments in [&["--profile"][..], &["--release", "yes"], &["--target", "wasm32-wasip1"]] {
            assert!(folder(arguments).is_err(), "{arguments:?}");
        }
    }
}
