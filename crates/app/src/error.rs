//! The errors that an operator sees: each says in one line what went wrong, why, and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use candor_domain::id::WebhookId;
use candor_domain::refusal::Refusal;

use candor_service::context::master_key::WrongKey;

use crate::commands::backup::BackupFailure;
use crate::commands::copy::CopyFailure;
use crate::commands::import::ImportOutcome;
use crate::config::{Config, Origin, Setting};

/// The exit status for a command line or a setting that is wrong.
const WRONG_USAGE: u8 = 2;
/// The exit status of `candor migrate --check` where migrations are pending.
const PENDING: u8 = 3;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// There is no such setting.
    #[error("{given} is not a setting; {}", did_you_mean(.hint.as_deref()))]
    UnknownSetting {
        /// The name as it was written.
        given: String,
        /// The setting that was probably meant.
        hint: Option<String>,
    },
    /// The setting needs another one beside it.
    #[error("{given} needs {missing} beside it; set that to {what}")]
    MissingSetting {
        /// The setting that has a value.
        given: &'static str,
        /// The setting that has none.
        missing: &'static str,
        /// What the missing one is to be set to.
        what: &'static str,
    },
    /// The configuration has problems, of which all are told at once.
    #[error("the configuration has {} problems", .problems.len())]
    Configuration {
        /// Each of them.
        problems: Vec<Error>,
        /// Variables and lines that were ignored; a mistyped name among them may explain the problems.
        warnings: Vec<String>,
        /// Whether the command was to show the settings: then it has done its work, and the problems are its answer.
        shown: bool,
    },
    /// A setting has a value that is not understood.
    #[error("{setting} has the value {value:?}: {reason}; correct it, or remove it to get the default")]
    Malformed {
        /// The setting, named as whoever set it wrote it: a flag, a variable or a line of a file.
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
    /// Another process serves the embedded database.
    #[error(
        "another process{} serves {database}; stop it first, or use PostgreSQL, which any number of processes may share",
        named(.process)
    )]
    AlreadyServed {
        /// Which database.
        database: String,
        /// The process's number, if it is known.
        process: String,
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
    /// The file with the generated master key is gone, and the database that it belongs to is not.
    #[error(
        "{} is missing, and {database} is not empty: a new key would not open what is sealed in it; put the file back, or \
         set CANDOR_MASTER_KEY to the key that it held; if that is lost for good, set it to a new one and run \
         `candor rekey --accept-loss`", .path.display()
    )]
    MasterKeyGone {
        /// The file.
        path: PathBuf,
        /// Which database.
        database: String,
    },
    /// The database was sealed with another master key.
    #[error(
        "the master key does not fit {database}: {reason}; set CANDOR_MASTER_KEY to the ring that it was sealed with, with \
         a new key in front of the old one or without; if the old key is lost for good, `candor rekey --accept-loss` gives \
         up what it sealed"
    )]
    WrongMasterKey {
        /// Which database.
        database: String,
        /// The keys of both.
        reason: String,
    },
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
    #[error("the schema of {database} is older than this program: it lacks {}; run `candor migrate` first, on a cluster with `--distribute`", .pending.join(", "))]
    SchemaOld {
        /// Which database.
        database: String,
        /// The migrations that are missing.
        pending: Vec<String>,
    },
    /// `candor migrate --check` was asked whether migrations are pending, and some are.
    #[error("{database} lacks {count} migrations; apply them with `candor migrate`, on a cluster with `--distribute`")]
    Pending {
        /// Which database.
        database: String,
        /// How many.
        count: usize,
    },
    /// There is no embedded database, and this command makes none.
    #[error(
        "there is no database at {}; run this in the folder of the service, give --data-dir or CANDOR_DATABASE_URL, or \
         make a new database with `candor migrate`", .0.display()
    )]
    NoDatabase(PathBuf),
    /// The doctor found something broken.
    #[error("problems found: {0}; the output above names the remedies")]
    Unwell(String),
    /// The service that `candor healthcheck` asked does not answer, or is not ready.
    #[error("the service at {address} is not healthy: {reason}; see its log, or run `candor doctor`")]
    Unhealthy {
        /// Where it was asked.
        address: std::net::SocketAddr,
        /// What it said.
        reason: String,
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
    /// Mails cannot be sent from this machine.
    #[error("{0}; check the certificates of this machine")]
    Mail(#[from] candor_mail::TlsSetupError),
    /// A copy of everything was not made, or is not complete.
    #[error(transparent)]
    Copy(#[from] CopyFailure),
    /// A backup was not made, or not restored.
    #[error(transparent)]
    Backup(#[from] BackupFailure),
    /// The service refused what a command asked for, such as an invalid name.
    #[error("cannot {what}: {reason}; {remedy}")]
    Refused {
        /// Verb and object.
        what: String,
        /// Why.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// `candor import` was given no API key.
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
    #[error("cannot import through {url}: {reason}; {outcome}")]
    NotImported {
        /// Where it was sent.
        url: String,
        /// What the service, or the way to it, said.
        reason: String,
        /// What went in.
        outcome: ImportOutcome,
    },
    /// A signal ended an import.
    #[error("stopped by {signal}; {outcome}")]
    Interrupted {
        /// Its name.
        signal: &'static str,
        /// The exit status that shells expect then: 128 and the signal's number.
        status: u8,
        /// What went in.
        outcome: ImportOutcome,
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
    /// Something failed that only a defect of the program can explain.
    #[error("cannot {what}: {reason}; this is a defect, please report it")]
    Defect {
        /// What was tried, as a verb and its object.
        what: &'static str,
        /// What happened.
        reason: String,
    },
}

impl Error {
    /// Turns an I/O error into one that says what was tried.
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

    /// Adds the name of the database to an error of comparing the master key with it.
    pub(crate) fn wrong_master_key(config: &Config) -> impl FnOnce(WrongKey) -> Self {
        let database = config.database.masked();
        move |error| match error {
            WrongKey::Lacking { .. } | WrongKey::NothingOpens { .. } => {
                Self::WrongMasterKey { database, reason: error.to_string() }
            }
            WrongKey::Failed(error) => Self::refused("compare the master key with the database")(error),
        }
    }

    /// The error of an operator's use case, worded for somebody at a command line.
    pub(crate) fn refused(what: impl Into<String>) -> impl FnOnce(candor_service::Error) -> Self {
        use candor_service::Error as Service;
        let what = what.into();
        move |error| {
            let (reason, remedy) = match error {
                Service::Refused(refusal) => (explained(refusal), "correct the arguments and try again"),
                Service::Unavailable(cause) | Service::TooSlow(cause) => (cause, "check the database and try again"),
                Service::Contended => ("too many concurrent changes to this resource".to_owned(), "try again"),
                other @ (Service::Bug(_)
                | Service::NotIndexed
                | Service::Malformed(_)
                | Service::PreconditionFailed
                | Service::KeyReused(_)) => (other.to_string(), "this is a defect, please report it"),
            };
            Self::Refused { what, reason, remedy }
        }
    }

    /// What is written to standard error: a line for each thing that is wrong, whatever a database put into its answer.
    #[must_use]
    pub(crate) fn lines(&self) -> Vec<String> {
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Self::Configuration { problems, warnings, .. } = self else { return vec![one_line(self.to_string())] };
        let problems = problems.iter().map(|it| one_line(it.to_string()));
        problems.chain(warnings.iter().map(|it| format!("warning: {it}"))).collect()
    }

    /// The exit status that tells scripts what happened.
    #[must_use]
    pub(crate) fn exit_code(&self) -> ExitCode {
        if let Self::Interrupted { status, .. } = self {
            return ExitCode::from(*status);
        }
        if matches!(self, Self::Pending { .. }) {
            return ExitCode::from(PENDING);
        }
        if self.is_wrong_usage() { ExitCode::from(WRONG_USAGE) } else { ExitCode::FAILURE }
    }

    fn is_wrong_usage(&self) -> bool {
        if let Self::Configuration { problems, shown: false, .. } = self {
            return problems.iter().all(Self::is_wrong_usage);
        }
        matches!(self, Self::MalformedFlag { .. } | Self::Argument { .. })
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

fn named(process: &str) -> String {
    if process.is_empty() { String::new() } else { format!(" (process {process})") }
}

fn did_you_mean(hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("did you mean {hint}? `candor config` shows all there are"),
        None => "remove it; `candor config` shows all there are".to_owned(),
    }
}
