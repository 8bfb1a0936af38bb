//! Errors of settings.

use std::path::PathBuf;

use super::setting::{Setting, SettingOrigin};
use candor_cli::error::{CommandFailure, FAILURE, IoError, WRONG_USAGE};

/// Problem of one setting, or of the file that holds settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The configuration names a setting that does not exist.
    #[error("{given} is not a setting; {}", did_you_mean(.hint.as_deref()))]
    Unknown {
        /// The unknown name, as written.
        given: String,
        /// The known setting with the most similar name.
        hint: Option<String>,
    },
    /// A setting has a value that requires another setting, and the other setting is missing or does not fit.
    #[error("{given} also needs {missing}; set {missing} to {what}")]
    Missing {
        /// The setting that has a value.
        given: &'static str,
        /// The setting that is missing or does not fit.
        missing: &'static str,
        /// Value to give the other setting, as a phrase.
        what: &'static str,
    },
    /// A setting has an invalid value.
    #[error("{setting} has the value {value:?}: {reason}; {remedy}")]
    Malformed {
        /// The setting, spelled as in its source: a variable or a line of a file.
        setting: String,
        /// The invalid value, with secrets masked; empty if it is not text.
        value: String,
        /// The expected form of the value.
        reason: String,
        /// Remedy, as an instruction to the operator.
        remedy: &'static str,
    },
    /// The configuration file sets a setting twice.
    #[error("{setting} is set twice, as a key and in a table; remove one of the two")]
    Twice {
        /// The setting, spelled as in the file.
        setting: String,
    },
    /// A flag has an invalid value.
    #[error("{setting} has the value {value:?}: {reason}; see `candor help`")]
    MalformedFlag {
        /// The flag, such as `--listen`.
        setting: String,
        /// The invalid value, with secrets masked; empty if it is not text.
        value: String,
        /// The expected form of the value.
        reason: String,
    },
    /// The configuration file is not valid TOML.
    #[error("the configuration file {}:{line} is not TOML: {reason}; correct that line", .path.display())]
    File {
        /// Path of the configuration file.
        path: PathBuf,
        /// Number of the invalid line, from 1.
        line: usize,
        /// Message of the TOML parser.
        reason: String,
    },
    /// The configuration file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] IoError),
}

impl SettingError {
    /// Creates the error for a setting with an invalid value.
    pub(super) fn new_malformed(
        setting: Setting,
        origin: &SettingOrigin,
        value: Option<String>,
        reason: &str,
    ) -> Self {
        let remedy = if setting == Setting::MasterKey {
            "correct the setting; with the embedded database you may remove the setting, because the key is then in \
             `master.key`"
        } else {
            "correct the setting, or remove it to get the default"
        };
        let (setting, value, reason) = (origin.spell(setting), value.unwrap_or_default(), reason.to_owned());
        match origin {
            SettingOrigin::Flag => Self::MalformedFlag { setting, value, reason },
            SettingOrigin::Default | SettingOrigin::File(_) | SettingOrigin::Environment => {
                Self::Malformed { setting, value, reason, remedy }
            }
        }
    }
}

impl CommandFailure for SettingError {}

/// Problems of the configuration. All are reported at once.
#[derive(Debug, thiserror::Error)]
#[error("the configuration has {} problems", .problems.len())]
pub struct ConfigurationError {
    /// One error per problem.
    pub problems: Vec<SettingError>,
    /// Warnings about ignored variables and lines; a mistyped name among them may explain the problems.
    pub warnings: Vec<String>,
    /// `true` if the command was `candor config`: it printed the settings, and the problems are its result.
    pub shown: bool,
}

impl CommandFailure for ConfigurationError {
    fn exit_status(&self) -> u8 {
        let is_usage = |problem: &SettingError| matches!(problem, SettingError::MalformedFlag { .. });
        if !self.shown && self.problems.iter().all(is_usage) { WRONG_USAGE } else { FAILURE }
    }

    fn texts(&self) -> Vec<String> {
        let problems = self.problems.iter().map(ToString::to_string);
        problems.chain(self.warnings.iter().map(|warning| format!("warning: {warning}"))).collect()
    }
}

fn did_you_mean(hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("did you mean {hint}? `candor config` shows all settings"),
        None => "remove it; `candor config` shows all settings".to_owned(),
    }
}
