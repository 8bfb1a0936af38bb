//! Profiles: URLs and API keys that `candor login` stores in the user's configuration folder.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{ApiKey, RemoteError};
use crate::error::CommandError;
use crate::private_file;

/// File of the profiles, in the folder `candor` of the configuration folder.
const FILE: &str = "candor/profiles.toml";
/// Permission bits that give other users access.
const OTHERS: u32 = 0o077;
/// Maximum length of the name of a profile, in characters.
const MAX_NAME: usize = 64;

/// Name of a profile: letters, digits, `-`, `_` and `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileName(String);

impl ProfileName {
    /// Name of the profile that commands use without another choice.
    pub(crate) const DEFAULT: &str = "default";
}

impl Default for ProfileName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl FromStr for ProfileName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected 1 to 64 letters, digits, -, _ or ., such as staging")
        }
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A service and the key for it. They are stored together, so that no key reaches another service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// URL of the service, without `/v1`.
    pub(crate) url: String,
    pub(crate) key: ApiKey,
    /// `true` if the key is the session of a person who signed in in the browser, which a logout ends.
    #[serde(default, rename = "session", skip_serializing_if = "is_false")]
    pub(crate) is_session: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Profile {
    /// Creates the profile of an API key.
    pub(crate) const fn with_key(url: String, key: ApiKey) -> Self {
        Self { url, key, is_session: false }
    }
}

/// All profiles of the user, as in the file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiles {
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    /// Returns the path of the file: below `XDG_CONFIG_HOME`, or else below `.config` of the home folder.
    ///
    /// # Errors
    /// [`RemoteError::NoConfigurationFolder`] if neither variable names a folder.
    pub(crate) fn path(variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf, RemoteError> {
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        folder.map(|folder| folder.join(FILE)).ok_or(RemoteError::NoConfigurationFolder)
    }

    /// Reads the file. A missing file counts as one without profiles.
    ///
    /// # Errors
    /// [`RemoteError::OpenToOthers`], [`RemoteError::FolderOpenToOthers`] and
    /// [`RemoteError::MalformedProfiles`]; [`CommandError::Io`].
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let Some(text) = private_file::read(path).map_err(CommandError::io("read", path))? else {
            return Ok(Self::default());
        };
        if private_file::grants(path, OTHERS) {
            return Err(RemoteError::OpenToOthers(path.to_owned()).into());
        }
        if let Some(folder) = path.parent().filter(|folder| private_file::open_to_others(folder) != 0) {
            return Err(RemoteError::FolderOpenToOthers(folder.to_owned()).into());
        }
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            RemoteError::MalformedProfiles { path: path.to_owned(), line }.into()
        })
    }

    /// Writes the file, which only its owner can read.
    ///
    /// # Errors
    /// [`CommandError::Io`] if the file or its folder cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CommandError> {
        let defect = |error: toml::ser::Error| CommandError::Defect {
            what: "write the profiles",
            reason: error.to_string(),
        };
        let text = toml::to_string(self).map_err(defect)?;
        if let Some(folder) = path.parent() {
            private_file::create_folder(folder).map_err(CommandError::io("create", folder))?;
        }
        private_file::replace(path, &text).map_err(CommandError::io("write", path))
    }

    /// Adds a profile, or replaces the one with this name.
    pub(crate) fn insert(&mut self, name: &ProfileName, profile: Profile) {
        self.profiles.insert(name.0.clone(), profile);
    }

    /// Returns the profiles by their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Profile)> {
        self.profiles.iter().map(|(name, profile)| (name.as_str(), profile))
    }

    /// Removes and returns the profile with this name.
    ///
    /// # Errors
    /// [`RemoteError::UnknownProfile`], with the names of the stored profiles.
    pub(crate) fn remove(&mut self, name: &ProfileName) -> Result<Profile, RemoteError> {
        self.profiles.remove(&name.0).ok_or_else(|| RemoteError::UnknownProfile {
            name: name.clone(),
            known: self.profiles.keys().cloned().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn profile(url: &str) -> Profile {
        Profile::with_key(url.to_owned(), ApiKey::parse("cdr_live_abc").unwrap())
    }

    #[test]
    fn profiles_are_kept_owner_only_and_read_back() {
        let folder = std::env::temp_dir().join(format!("candor-profiles-{}", std::process::id()));
        let path = folder.join(FILE);
        assert_eq!(Profiles::read(&path).unwrap(), Profiles::default());
        let mut profiles = Profiles::default();
        for (name, url) in [("default", "http://a"), ("eu.live-1", "https://b"), ("default", "https://c")] {
            profiles.insert(&name.parse().unwrap(), profile(url));
        }
        profiles.insert(&"session".parse().unwrap(), Profile { is_session: true, ..profile("https://d") });
        profiles.write(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(Profiles::read(&path).unwrap(), profiles);
        assert_eq!(Profiles::read(&path).unwrap().remove(&ProfileName::default()).unwrap(), profile("https://c"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let open = Profiles::read(&path).unwrap_err().to_string();
        assert!(open.contains("chmod 600"), "{open}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
        let open = Profiles::read(&path).unwrap_err().to_string();
        assert!(open.contains("chmod 700"), "{open}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn malformed_file_is_named_by_line_without_its_text() {
        let folder = std::env::temp_dir().join(format!("candor-profiles-malformed-{}", std::process::id()));
        private_file::create_folder(&folder).unwrap();
        let path = folder.join("profiles.toml");
        for text in [
            "[profiles]\ndefault = \"cdr_live_abc\"\n",
            "\n[profiles.default]\nurl = \"http://a\"\nkey = \"hunter2\"\n",
            "[profiles.default]\nurl = \"http://a\"\nsecret = \"cdr_live_abc\"\n",
        ] {
            private_file::replace(&path, text).unwrap();
            let error = Profiles::read(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("{}:", path.display())), "{error}");
            assert!(!error.contains("cdr_live_abc") && !error.contains("hunter2"), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn configuration_folder_is_that_of_xdg_or_of_the_home() {
        let path = |variables: &[(&str, &str)]| {
            let find = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
            };
            Profiles::path(find).ok().map(|path| path.display().to_string())
        };
        let home = ("HOME", "/u/ada");
        assert_eq!(path(&[home]).as_deref(), Some("/u/ada/.config/candor/profiles.toml"));
        assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "/cfg")]).as_deref(), Some("/cfg/candor/profiles.toml"));
        assert_eq!(path(&[home, ("XDG_CONFIG_HOME", "relative")]), path(&[home]));
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn profile_name_has_letters_digits_and_few_signs() {
        for name in ["", "a b", "a/b", "ä", &"x".repeat(65)] {
            assert!(name.parse::<ProfileName>().is_err(), "{name}");
        }
    }
}
