//! Platforms of a release, and their names in each kind of package.

use crate::process::{Outcome, output, program};
use std::path::Path;

/// Targets of a release, as rustc names them.
pub(super) const TRIPLES: [&str; 6] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];
/// Version of musl that wheels name. Binaries for musl are static and need none.
const MUSL: &str = "1_2";

/// A processor, an operating system, and on Linux a C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    triple: &'static str,
    is_x86: bool,
    pub(super) system: System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    LinuxGnu,
    LinuxMusl,
    MacOs,
}

impl Platform {
    /// Returns the platform of one of the release's targets.
    pub(super) fn from_triple(triple: &str) -> Outcome<Self> {
        let known_triple = TRIPLES.into_iter().find(|known| *known == triple);
        let triple = known_triple
            .ok_or_else(|| format!("no packages for {triple}: choose one of {}", TRIPLES.join(", ")))?;
        let system = if triple.ends_with("-darwin") {
            System::MacOs
        } else if triple.ends_with("-musl") {
            System::LinuxMusl
        } else {
            System::LinuxGnu
        };
        Ok(Self { triple, is_x86: triple.starts_with("x86_64"), system })
    }

    /// Returns the platform that the compiler runs on.
    pub(super) fn host() -> Outcome<Self> {
        let version = output(&mut program("rustc", &["--version", "--verbose"]))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        Self::from_triple(host.ok_or("rustc names no host")?)
    }

    pub(super) const fn triple(self) -> &'static str {
        self.triple
    }

    const fn cpu(self) -> &'static str {
        if self.is_x86 { "x86_64" } else { "aarch64" }
    }

    /// Returns the end of file names: `x86_64-linux`, `x86_64-linux-musl` or `aarch64-macos`.
    pub(super) fn suffix(self) -> String {
        let system = match self.system {
            System::LinuxGnu => "linux",
            System::LinuxMusl => "linux-musl",
            System::MacOs => "macos",
        };
        format!("{}-{system}", self.cpu())
    }

    /// Returns the values of `os`, `cpu` and `libc` in a `package.json`.
    pub(super) const fn npm(self) -> (&'static str, &'static str, Option<&'static str>) {
        let cpu = if self.is_x86 { "x64" } else { "arm64" };
        match self.system {
            System::LinuxGnu => ("linux", cpu, Some("glibc")),
            System::LinuxMusl => ("linux", cpu, Some("musl")),
            System::MacOs => ("darwin", cpu, None),
        }
    }

    /// Returns the name of the npm package with the binary; `candor.js` builds the same name at run time.
    pub(super) fn npm_name(self) -> String {
        let (os, cpu, libc) = self.npm();
        let libc = match libc {
            Some("glibc") => "-gnu",
            Some(_) => "-musl",
            None => "",
        };
        format!("@candor/{os}-{cpu}{libc}")
    }

    /// Returns the tag of a wheel with this binary: the platform, with the oldest C library or system on which the
    /// binary runs.
    pub(super) fn wheel_tag(self, binary: &Path) -> Outcome<String> {
        match self.system {
            System::LinuxGnu => {
                let read = ["--version-info", "--wide", &binary.to_string_lossy()];
                let version = required_glibc(&output(&mut program("readelf", &read))?)
                    .ok_or_else(|| format!("{} names no version of glibc", binary.display()))?;
                Ok(format!("manylinux_{}_{}_{}", version.0, version.1, self.cpu()))
            }
            System::LinuxMusl => Ok(format!("musllinux_{MUSL}_{}", self.cpu())),
            System::MacOs => {
                let target =
                    output(&mut program("rustc", &["--print", "deployment-target", "--target", self.triple]))?;
                Ok(format!("macosx_{}_{}", macos_version(&target)?, if self.is_x86 { "x86_64" } else { "arm64" }))
            }
        }
    }
}

/// Returns the newest version of glibc among the symbols of a binary, or 2.17 if that is newer: tags of older
/// versions are not in use. `None` if the symbols name no version.
fn required_glibc(version_info: &str) -> Option<(u32, u32)> {
    let versions = version_info.split("GLIBC_").skip(1).filter_map(|rest| {
        let version = rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    versions.max().map(|newest| newest.max((2, 17)))
}

/// Returns the version in `MACOSX_DEPLOYMENT_TARGET=11.0`, as wheels write it.
fn macos_version(printed: &str) -> Outcome<String> {
    let version = printed.trim().rsplit('=').next().and_then(|version| version.split_once('.'));
    let (major, minor) = version.ok_or_else(|| format!("unknown version of macOS: {printed}"))?;
    Ok(format!("{major}_{minor}"))
}

#[cfg(test)]
mod tests {
    use super::{Platform, TRIPLES, macos_version, required_glibc};

    #[test]
    fn each_target_has_names_of_its_own() {
        let names = TRIPLES.map(|triple| {
            let platform = Platform::from_triple(triple).unwrap();
            (platform.suffix(), platform.npm_name())
        });
        let expected_names = [
            ("x86_64-linux", "@candor/linux-x64-gnu"),
            ("x86_64-linux-musl", "@candor/linux-x64-musl"),
            ("aarch64-linux", "@candor/linux-arm64-gnu"),
            ("aarch64-linux-musl", "@candor/linux-arm64-musl"),
            ("x86_64-macos", "@candor/darwin-x64"),
            ("aarch64-macos", "@candor/darwin-arm64"),
        ];
        assert_eq!(names, expected_names.map(|(suffix, name)| (suffix.to_owned(), name.to_owned())));
    }

    #[test]
    fn target_without_packages_is_refused() {
        let problem = Platform::from_triple("x86_64-pc-windows-msvc").unwrap_err().to_string();
        assert!(problem.contains("choose one of x86_64-unknown-linux-gnu"), "{problem}");
    }

    #[test]
    fn newest_symbol_decides_about_the_required_glibc() {
        let text = "  0x0010:   Name: GLIBC_2.9  Flags: none\n  Name: GLIBC_2.34  Flags\n  Name: GLIBC_2.2.5  Flags: none";
        assert_eq!(required_glibc(text), Some((2, 34)));
        assert_eq!(required_glibc("Name: GLIBC_2.2.5"), Some((2, 17)));
        assert_eq!(required_glibc("Name: GCC_3.0"), None);
    }

    #[test]
    fn oldest_macos_is_written_with_underscores() {
        assert_eq!(macos_version("MACOSX_DEPLOYMENT_TARGET=10.12\n").unwrap(), "10_12");
        assert!(macos_version("").is_err());
    }
}
