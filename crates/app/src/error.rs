//! Errors that the operator sees. Each states in one line the failure, its cause and the remedy.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use candor_domain::id::WebhookId;
use candor_domain::refusal::DomainError;

use candor_service::context::master_key::WrongKey;

use crate::commands::backup::BackupFailure;
use crate::commands::copy::CopyFailure;
use crate::commands::import::ImportOutcome;
use crate::config::{Config, Origin, Setting};

/// Exit status for a wrong command line or flag.
const WRONG_USAGE: u8 = 2;
/// Exit status of `candor migrate --check` when migrations are pending.
const PENDING: u8 = 3;

/// Failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The configuration names a setting that does not exist.
    #[error("{given} is not a setting; {}", did_you_mean(.hint.as_deref()))]
    UnknownSetting {
        /// The unknown name, as written.
        given: String,
        /// The known setting with the most similar name.
        hint: Option<String>,
    },
    /// A setting has a value that requires another setting, and that one is missing.
    #[error("{given} needs {missing} beside it; set that to {what}")]
    MissingSetting {
        /// The setting that has a value.
        given: &'static str,
        /// The setting that is missing.
        missing: &'static str,
        /// Value to give the missing setting, as a phrase.
        what: &'static str,
    },
    /// The configuration has several problems. All are reported at once.
    #[error("the configuration has {} problems", .problems.len())]
    Configuration {
        /// One error per problem.
        problems: Vec<Error>,
        /// Warnings about ignored variables and lines; a mistyped name among them may explain the problems.
        warnings: Vec<String>,
        /// `true` if the command was `candor config`: it printed the settings, and the problems are its result.
        shown: bool,
    },
    /// A setting has an invalid value.
    #[error("{setting} has the value {value:?}: {reason}; correct it, or remove it to get the default")]
    Malformed {
        /// The setting, spelled as in its source: a flag, a variable or a line of a file.
        setting: String,
        /// The invalid value, with secrets masked; empty if it is not text.
        value: String,
        /// The expected form of the value.
        reason: String,
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
    ConfigurationFile {
        /// Path of the configuration file.
        path: PathBuf,
        /// Number of the invalid line, from 1.
        line: usize,
        /// Message of the TOML parser.
        reason: String,
    },
    /// Another process serves the embedded database.
    #[error(
        "another process{} serves {database}; stop it first, or use PostgreSQL, which any number of processes may share",
        named(.process)
    )]
    AlreadyServed {
        /// Path of the database.
        database: String,
        /// The other process's id; empty if it is unknown.
        process: String,
    },
    /// A file or socket operation failed.
    #[error("cannot {what}: {source}; check that it exists and that this user may use it")]
    Io {
        /// The operation, as a verb and its object.
        what: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The listener could not be bound.
    #[error("cannot listen on {address}: {source}; stop what uses it, or set {} to another address", .setting.variable())]
    Listen {
        /// The address that could not be bound.
        address: std::net::SocketAddr,
        /// The setting that the address came from.
        setting: Setting,
        /// Error of the operating system.
        source: io::Error,
    },
    /// `CANDOR_MASTER_KEY` is missing. On PostgreSQL no key is generated, because all instances need the same
    /// one.
    #[error(
        "CANDOR_MASTER_KEY is not set: with Postgres every instance needs the same one; \
         make one with: echo \"k1:$(head -c 32 /dev/urandom | base64)\""
    )]
    NoMasterKey,
    /// The file of the generated master key does not contain a key ring.
    #[error("{} does not hold a key ring; restore it from a backup: what it sealed cannot be opened without it", .0.display())]
    MasterKeyFile(PathBuf),
    /// The file of the generated master key is missing, although its database exists.
    #[error(
        "{} is missing, and {database} is not empty: a new key would not open what is sealed in it; put the file back, or \
         set CANDOR_MASTER_KEY to the key that it held; if that is lost for good, set it to a new one and run \
         `candor rekey --accept-loss`", .path.display()
    )]
    MasterKeyGone {
        /// Path of the missing file.
        path: PathBuf,
        /// The database, with secrets masked.
        database: String,
    },
    /// The database was sealed with another master key.
    #[error(
        "the master key does not fit {database}: {reason}; set CANDOR_MASTER_KEY to the ring that it was sealed with, with \
         a new key in front of the old one or without; if the old key is lost for good, `candor rekey --accept-loss` gives \
         up what it sealed"
    )]
    WrongMasterKey {
        /// The database, with secrets masked.
        database: String,
        /// Comparison of the keys in the database with those in the ring.
        reason: String,
    },
    /// A secret was sealed with a key that is not in the ring.
    #[error(
        "cannot open the secrets of {0}: none of the keys in CANDOR_MASTER_KEY sealed them; put the key that did behind \
         the first one, or delete this webhook, and run this again"
    )]
    NoKeyFor(WebhookId),
    /// `candor dev` supports the embedded database only.
    #[error("candor dev runs on the embedded database only; use `candor migrate` and `candor serve` with {0}")]
    DevOnServer(String),
    /// The schema is older than the program.
    #[error("the schema of {database} is older than this program: it lacks {}; run `candor migrate` first, on a cluster with `--distribute`", .pending.join(", "))]
    SchemaOld {
        /// The database, with secrets masked.
        database: String,
        /// Names of the missing migrations.
        pending: Vec<String>,
    },
    /// `candor migrate --check` found pending migrations.
    #[error(
        "{database} lacks {count} migrations; apply them with `candor migrate`, on a cluster with `--distribute`"
    )]
    Pending {
        /// The database, with secrets masked.
        database: String,
        /// Number of pending migrations.
        count: usize,
    },
    /// The embedded database does not exist, and this command does not create one.
    #[error(
        "there is no database at {}; run this in the folder of the service, give --data-dir or CANDOR_DATABASE_URL, or \
         make a new database with `candor migrate`", .0.display()
    )]
    NoDatabase(PathBuf),
    /// `candor doctor` found at least one broken check.
    #[error("problems found: {0}; the output above names the remedies")]
    Unwell(String),
    /// The service that `candor healthcheck` called does not answer or is not ready.
    #[error("the service at {address} is not healthy: {reason}; see its log, or run `candor doctor`")]
    Unhealthy {
        /// Address of the called service.
        address: std::net::SocketAddr,
        /// Error or answer of the service.
        reason: String,
    },
    /// The database does not answer, or answers with an error.
    #[error(
        "cannot use the database {database}: {reason}; check that it runs and that CANDOR_DATABASE_URL is right"
    )]
    Database {
        /// The database, with secrets masked.
        database: String,
        /// Error message of the database.
        reason: String,
    },
    /// The webhook transport could not be set up.
    #[error("cannot send webhooks: {0}; check the name servers and the certificates of this machine")]
    Webhooks(#[from] candor_webhooks::SetupError),
    /// TLS for mails could not be set up.
    #[error("{0}; check the certificates of this machine")]
    Mail(#[from] candor_mail::TlsSetupError),
    /// `candor copy` failed or is incomplete.
    #[error(transparent)]
    Copy(#[from] CopyFailure),
    /// A backup or its restore failed.
    #[error(transparent)]
    Backup(#[from] BackupFailure),
    /// The service rejected the operation of a command, for instance because a name is invalid.
    #[error("cannot {what}: {reason}; {remedy}")]
    Refused {
        /// The operation, as a verb and its object.
        what: String,
        /// Reason of the rejection.
        reason: String,
        /// Remedy, as an instruction to the operator.
        remedy: &'static str,
    },
    /// `candor import` got no API key.
    #[error("{0} is not set; it must hold an API key with the scope employees:write")]
    NoApiKey(&'static str),
    /// The file to import is not a valid file of people.
    #[error("cannot import {}: {reason}; correct the file and try again", .path.display())]
    NotAFileOfPeople {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the file is invalid.
        reason: String,
    },
    /// The service did not accept the uploaded file.
    #[error("cannot import through {url}: {reason}; {outcome}")]
    NotImported {
        /// URL of the service.
        url: String,
        /// Error of the service or of the connection to it.
        reason: String,
        /// Rows that were imported before the failure.
        outcome: ImportOutcome,
    },
    /// A signal ended an import.
    #[error("stopped by {signal}; {outcome}")]
    Interrupted {
        /// Name of the signal, such as `SIGINT`.
        signal: &'static str,
        /// Exit status that shells expect in this case: 128 plus the number of the signal.
        status: u8,
        /// Rows that were imported before the signal.
        outcome: ImportOutcome,
    },
    /// Some rows were rejected.
    #[error("{failed} rows {}; correct them and import the file again: rows that are in are skipped", if *.dry_run { "would fail" } else { "failed" })]
    RowsFailed {
        /// Number of rejected rows.
        failed: usize,
        /// `true` if this was a dry run, which imports nothing.
        dry_run: bool,
    },
    /// An argument has an invalid form.
    #[error("{argument} is {value:?}: {wanted}; see `candor help`")]
    Argument {
        /// Name of the argument.
        argument: &'static str,
        /// The invalid value, as written.
        value: String,
        /// The expected form of the value.
        wanted: String,
    },
    /// A failure that only a defect of the program can explain.
    #[error("cannot {what}: {reason}; this is a defect, please report it")]
    Defect {
        /// The operation, as a verb and its object.
        what: &'static str,
        /// Message of the unexpected failure.
        reason: String,
    },
}

impl Error {
    /// Converts an I/O error into one that names the operation: `verb`, then `path`.
    pub(crate) fn io(verb: &str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{verb} {}", path.as_ref().display());
        move |source| Self::Io { what, source }
    }

    /// Creates the error for a setting with an invalid value.
    pub(crate) fn malformed(setting: Setting, origin: &Origin, value: Option<String>, reason: &str) -> Self {
        let (setting, value, reason) = (origin.spell(setting), value.unwrap_or_default(), reason.to_owned());
        match origin {
            Origin::Flag => Self::MalformedFlag { setting, value, reason },
            Origin::Default | Origin::File(_) | Origin::Environment => Self::Malformed { setting, value, reason },
        }
    }

    /// Converts a master key mismatch into an error that names the database.
    pub(crate) fn wrong_master_key(config: &Config) -> impl FnOnce(WrongKey) -> Self {
        let database = config.database.masked();
        move |error| match error {
            WrongKey::Lacking { .. } | WrongKey::NothingOpens { .. } => {
                Self::WrongMasterKey { database, reason: error.to_string() }
            }
            WrongKey::Failed(error) => Self::cannot("compare the master key with the database")(error),
        }
    }

    /// Converts an error of a use case into one for the command line, with a remedy.
    pub(crate) fn cannot(what: impl Into<String>) -> impl FnOnce(candor_service::Error) -> Self {
        use candor_service::Error as Service;
        let what = what.into();
        move |error| {
            let (reason, remedy) = match error {
                Service::Refused(refusal) => (explained(refusal), "correct the arguments and try again"),
                Service::Unavailable(cause) | Service::TooSlow(cause) => {
                    (cause, "check the database and try again")
                }
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

    /// Returns the lines for standard error, one per problem. Line breaks in database messages are removed.
    #[must_use]
    pub(crate) fn lines(&self) -> Vec<String> {
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Self::Configuration { problems, warnings, .. } = self else { return vec![one_line(self.to_string())] };
        let problems = problems.iter().map(|problem| one_line(problem.to_string()));
        problems.chain(warnings.iter().map(|warning| format!("warning: {warning}"))).collect()
    }

    /// Returns the exit status, by which scripts distinguish the errors.
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

fn explained(refusal: DomainError) -> String {
    match refusal {
        DomainError::NotFound => "there is none with this id".to_owned(),
        DomainError::Invalid(problems) | DomainError::Unprocessable(problems) => {
            let each = problems.as_slice().iter().map(|problem| format!("{} {}", problem.field, problem.message));
            each.collect::<Vec<_>>().join(", ")
        }
        DomainError::Denied(denied) => denied.message().trim_end_matches('.').to_owned(),
        DomainError::Conflict(conflict) => match conflict.attempted_transition {
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
