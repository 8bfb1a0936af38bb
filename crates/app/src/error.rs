//! What can go wrong for an operator: what, why, and what to do, in one line.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use candor_domain::id::WebhookId;
use candor_domain::refusal::Refusal;

use crate::config::{Origin, Setting};

/// Wrong usage, as against failure.
const WRONG_USAGE: u8 = 2;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// There is no such setting.
    #[error("{given} is not a setting; {}", did_you_mean(.hint.as_deref()))]
    UnknownSetting {
        /// As it was given.
        given: String,
        /// The setting that was probably meant.
        hint: Option<String>,
    },
    /// A setting has a value that is not understood.
    #[error("{setting} has the value {value:?}: {reason}; correct it, or remove it to get the default")]
    Malformed {
        /// As it was given.
        setting: String,
        /// The value, if it may be shown.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// A flag has a value that is not understood.
    #[error("{setting} has the value {value:?}: {reason}; see `candor help`")]
    MalformedFlag {
        /// The flag.
        setting: String,
        /// The value, if it may be shown.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// The configuration file is no TOML.
    #[error("the configuration file {}:{line} is not TOML: {reason}; correct that line", .path.display())]
    ConfigurationFile {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A file or socket could not be used.
    #[error("cannot {what}: {source}; check that it exists and that this user may use it")]
    Io {
        /// Verb and object.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; stop what uses it, or set {} to another address", .setting.variable())]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The setting it came from.
        setting: Setting,
        /// The system's answer.
        source: io::Error,
    },
    /// On Postgres nothing is generated, because every instance needs the same.
    #[error(
        "CANDOR_MASTER_KEY is not set: with Postgres every instance needs the same one; \
         make one with: echo \"k1:$(head -c 32 /dev/urandom | base64)\""
    )]
    NoMasterKey,
    /// The file with the generated master key holds something else.
    #[error("{} does not hold a key ring; restore it from a backup: what it sealed cannot be opened without it", .0.display())]
    MasterKeyFile(PathBuf),
    /// A secret was sealed with a key that is not in the ring.
    #[error(
        "cannot open the secrets of {0}: none of the keys in CANDOR_MASTER_KEY sealed them; put the key that did behind \
         the first one, or delete this webhook, and run this again"
    )]
    NoKeyFor(WebhookId),
    /// `candor dev` is for the embedded database only.
    #[error("candor dev runs on the embedded database only; use `candor migrate` and `candor serve` with {0}")]
    DevOnServer(String),
    /// The schema is older than the program.
    #[error("the schema of {database} is older than this program: it lacks {}; run `candor migrate` first", .pending.join(", "))]
    SchemaOld {
        /// Which database.
        database: String,
        /// The migrations that are missing.
        pending: Vec<String>,
    },
    /// The database does not answer, or not as it should.
    #[error("cannot use the database {database}: {reason}; check that it runs and that CANDOR_DATABASE_URL is right")]
    Database {
        /// Which database.
        database: String,
        /// What it said.
        reason: String,
    },
    /// Webhooks cannot be sent from this machine.
    #[error("cannot send webhooks: {0}; check the name servers and the certificates of this machine")]
    Webhooks(#[from] candor_webhooks::SetupError),
    /// A use case refused.
    #[error("cannot {what}: {reason}; {remedy}")]
    Refused {
        /// Verb and object.
        what: String,
        /// Why.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Nobody said with which key to import.
    #[error("{0} is not set; it must hold an API key with the scope employees:write")]
    NoApiKey(&'static str),
    /// The file to import cannot be read as one.
    #[error("cannot import {}: {reason}; correct the file and try again", .path.display())]
    NotAFileOfPeople {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The service did not take the file.
    #[error("cannot import through {url}: {reason}; what went in stays, and the same file can be imported again")]
    NotImported {
        /// Where it was sent.
        url: String,
        /// What the service, or the way to it, said.
        reason: String,
    },
    /// Some rows were not applied.
    #[error("{failed} rows {}; correct them and import the file again: rows that are in are skipped", if *.dry_run { "would fail" } else { "failed" })]
    RowsFailed {
        /// How many.
        failed: usize,
        /// Whether it was only tried.
        dry_run: bool,
    },
    /// An argument is not of the form wanted.
    #[error("{argument} is {value:?}: {wanted}; see `candor help`")]
    Argument {
        /// Which argument.
        argument: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        wanted: String,
    },
    /// A thing of the program itself did not come up.
    #[error("cannot {what}: {reason}; this is a defect, please report it")]
    Defect {
        /// Verb and object.
        what: &'static str,
        /// What happened.
        reason: String,
    },
}

impl Error {
    /// Completes an I/O error with what was tried.
    pub(crate) fn io(verb: &str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{verb} {}", path.as_ref().display());
        move |source| Self::Io { what, source }
    }

    /// A setting whose value is not understood.
    pub(crate) fn malformed(setting: Setting, origin: &Origin, value: Option<String>, reason: &str) -> Self {
        let (setting, value, reason) = (origin.spell(setting), value.unwrap_or_default(), reason.to_owned());
        match origin {
            Origin::Flag => Self::MalformedFlag { setting, value, reason },
            Origin::Default | Origin::File(_) | Origin::Environment => Self::Malformed { setting, value, reason },
        }
    }

    /// What a use case of the operator's said, in the operator's words.
    pub(crate) fn refused(what: impl Into<String>) -> impl FnOnce(candor_service::Error) -> Self {
        use candor_service::Error as Service;
        let what = what.into();
        move |error| {
            let (reason, remedy) = match error {
                Service::Refused(refusal) => (explained(refusal), "correct the arguments and try again"),
                Service::Unavailable(cause) => (cause, "check the database and try again"),
                Service::Contended => ("others keep changing the same thing".to_owned(), "try again"),
                other @ (Service::Bug(_)
                | Service::Malformed(_)
                | Service::PreconditionFailed
                | Service::KeyReused(_)) => (other.to_string(), "this is a defect, please report it"),
            };
            Self::Refused { what, reason, remedy }
        }
    }

    /// The exit status that tells scripts what happened.
    #[must_use]
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::MalformedFlag { .. } | Self::Argument { .. } => ExitCode::from(WRONG_USAGE),
            _ => ExitCode::FAILURE,
        }
    }
}

fn explained(refusal: Refusal) -> String {
    match refusal {
        Refusal::NotFound => "there is none with this id".to_owned(),
        Refusal::Invalid(problems) | Refusal::Unprocessable(problems) => {
            let each = problems.as_slice().iter().map(|it| format!("{} {}", it.field, it.message));
            each.collect::<Vec<_>>().join(", ")
        }
        Refusal::Denied(denied) => denied.message().trim_end_matches('.').to_owned(),
        Refusal::Conflict(conflict) => match conflict.attempted_transition {
            Some(attempted) => {
                format!("{} is {}, which does not go with {attempted}", conflict.field, conflict.current)
            }
            None => format!("{} is taken", conflict.field),
        },
    }
}

fn did_you_mean(hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("did you mean {hint}? `candor config` shows all there are"),
        None => "remove it; `candor config` shows all there are".to_owned(),
    }
}
