//! Failures of statements, classified by the required reaction.

mod kinds;

use std::sync::atomic::{AtomicBool, Ordering};

use candor_port_storage::StorageError;
use candor_port_storage::{CommitError, Unique};
use candor_tables::CorruptRowError;
use candor_tables::rows::UNIQUES;
use diesel::ConnectionError;
use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error};

use kinds::{Kind, kind_in_language, kind_of};

/// Prefix of check names. A failing check casts its name to a number, and the server quotes the name in the error.
pub(crate) const CHECK_PREFIX: &str = "candor:";

/// `true` if a session of this process could not set the language of messages to English.
static MESSAGES_ARE_TRANSLATED: AtomicBool = AtomicBool::new(false);

/// Notes that messages of the server may be in another language than English. Returns `true` if this was already
/// known.
pub(crate) fn expect_translated_messages() -> bool {
    MESSAGES_ARE_TRANSLATED.swap(true, Ordering::Relaxed)
}

/// Failure of a statement. The text is for the log.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection was lost; the result of the last statement is unknown.
    Lost(String),
    /// The connection could not be opened; nothing was sent.
    Unconnected(String),
    /// The server is temporarily unable to run the statement.
    Busy(String),
    /// The server lacks disk space or memory, or its disk fails.
    NoRoom(String),
    /// The statement exceeded its timeout.
    TimedOut(String),
    /// The transaction collided with another one and was rolled back.
    Collided(String),
    /// A unique value is taken.
    Unique { constraint: String, text: String },
    /// A referenced row is missing.
    Missing,
    /// A check of our own failed; holds its name.
    Check(String),
    /// A row could not be read.
    Corrupt(StorageError),
    /// The role lacks a permission.
    Forbidden(String),
    /// A definition already exists, or no longer does, because another session changes definitions.
    Redefined(String),
    /// Any failure without a kind of its own.
    Other(String),
}

impl From<CorruptRowError> for Failure {
    fn from(error: CorruptRowError) -> Self {
        Self::Corrupt(error.into())
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Corrupt(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::DatabaseError(kind, info) => Self::from_database(&kind, info.as_ref()),
            Error::BrokenTransactionManager => {
                Self::Lost("an earlier error left the connection unusable".to_owned())
            }
            Error::InvalidCString(_)
            | Error::NotFound
            | Error::QueryBuilderError(_)
            | Error::DeserializationError(_)
            | Error::SerializationError(_)
            | Error::RollbackErrorOnCommit { .. }
            | Error::RollbackTransaction
            | Error::AlreadyInTransaction
            | Error::NotInTransaction
            | Error::IntegerConversion(_)
            | _ => Self::Other(error.to_string()),
        }
    }
}

impl Failure {
    fn from_database(kind: &DatabaseErrorKind, info: &dyn DatabaseErrorInformation) -> Self {
        let text = [Some(info.message()), info.details()].into_iter().flatten().collect::<Vec<_>>().join(": ");
        let is_translated = MESSAGES_ARE_TRANSLATED.load(Ordering::Relaxed);
        let kind = kind_in_language(kind, info.message(), is_translated);
        if kind == Kind::Unique {
            // A cluster forwards only the message of its node, without the constraint name.
            let quoted_name = || info.message().rsplit('"').nth(1);
            let constraint = info.constraint_name().or_else(quoted_name).unwrap_or_default().to_owned();
            return Self::Unique { constraint, text };
        }
        Self::of_kind(kind, info.message(), text)
    }

    /// Builds the failure of a kind; `text` is for the log.
    fn of_kind(kind: Kind, message: &str, text: String) -> Self {
        match kind {
            Kind::Lost => Self::Lost(text),
            Kind::Busy => Self::Busy(text),
            Kind::NoRoom => Self::NoRoom(text),
            Kind::TimedOut => Self::TimedOut(text),
            Kind::Collided => Self::Collided(text),
            Kind::Unique => Self::Unique { constraint: String::new(), text },
            Kind::Missing => Self::Missing,
            Kind::Forbidden => Self::Forbidden(text),
            Kind::Redefined => Self::Redefined(text),
            Kind::Other => Self::Other(text),
            Kind::Check => {
                let is_of_name = |sign: &char| sign.is_ascii_alphanumeric() || *sign == ':';
                let check_name = message.split_once(CHECK_PREFIX).map_or("", |(_, behind)| behind);
                Self::Check(check_name.chars().take_while(is_of_name).collect())
            }
        }
    }

    /// Converts an error of the driver, where Diesel is not involved.
    pub(crate) fn from_driver(error: &tokio_postgres::Error) -> Self {
        let text = with_causes(error);
        if error.is_closed() {
            return Self::Lost(text);
        }
        let message = error.as_db_error().map_or("", |told| told.message());
        Self::of_kind(kind_of(None, error.code(), message), message, text)
    }

    /// Builds the failure for a message of the server.
    #[cfg(test)]
    fn from_message(message: &str, text: String) -> Self {
        Self::of_kind(kind_of(None, None, message), message, text)
    }

    /// Returns `true` if a value of this unique constraint is taken.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        matches!(self, Self::Unique { constraint, .. } if without_number(constraint) == name)
    }

    /// Returns the text for the log.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Lost(text)
            | Self::Unconnected(text)
            | Self::Busy(text)
            | Self::NoRoom(text)
            | Self::TimedOut(text)
            | Self::Collided(text)
            | Self::Unique { text, .. }
            | Self::Forbidden(text)
            | Self::Redefined(text)
            | Self::Other(text) => text,
            Self::Missing => "a referenced row is missing".to_owned(),
            Self::Check(word) => format!("unexpected check {word:?}"),
            Self::Corrupt(error) => error.to_string(),
        }
    }

    /// Converts the failure to the error of a read.
    pub(crate) fn into_storage(self) -> StorageError {
        match self {
            Self::Lost(text)
            | Self::Unconnected(text)
            | Self::Busy(text)
            | Self::TimedOut(text)
            | Self::Collided(text) => StorageError::Unavailable(text),
            Self::NoRoom(text) => StorageError::NoRoom(text),
            Self::Corrupt(error) => error,
            Self::Unique { .. }
            | Self::Missing
            | Self::Check(_)
            | Self::Forbidden(_)
            | Self::Redefined(_)
            | Self::Other(_) => StorageError::Failed(self.text()),
        }
    }

    /// Converts the failure to the error of a commit. A failed check of our own becomes a storage error.
    pub(crate) fn into_commit(self) -> CommitError {
        match self {
            Self::Unique { constraint, text } => match unique(&constraint) {
                Some(it) => CommitError::Taken(it),
                None => CommitError::Storage(StorageError::Failed(text)),
            },
            Self::Missing => CommitError::Missing,
            Self::Lost(_)
            | Self::Unconnected(_)
            | Self::Busy(_)
            | Self::NoRoom(_)
            | Self::TimedOut(_)
            | Self::Collided(_)
            | Self::Check(_)
            | Self::Corrupt(_)
            | Self::Forbidden(_)
            | Self::Redefined(_)
            | Self::Other(_) => CommitError::Storage(self.into_storage()),
        }
    }
}

/// Returns the unique value that the constraint protects. `None` for other constraints.
fn unique(constraint: &str) -> Option<Unique> {
    let constraint = without_number(constraint);
    let matching_unique =
        UNIQUES.iter().find(|column| column.constraint == constraint).map(|column| column.unique);
    matching_unique.or_else(|| constraint.ends_with("_pkey").then_some(Unique::Id))
}

/// Strips the shard number that a node of a cluster appends to constraint names.
fn without_number(constraint: &str) -> &str {
    match constraint.rsplit_once('_') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => constraint,
    }
}

/// Joins the texts of an error and its causes: the driver's own message is only a category such as `db error`.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        let more = it.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = it.source();
    }
    text
}

/// Converts the error of a failed connection attempt.
pub(crate) fn unconnected_failure(error: &ConnectionError) -> Failure {
    let cause = if let ConnectionError::BadConnection(text) = error { text.clone() } else { with_causes(error) };
    Failure::Unconnected(cause)
}

#[cfg(test)]
mod tests {
    use tokio_postgres::error::SqlState;

    use super::*;

    #[test]
    fn check_failure_is_recognized_in_any_server_language() {
        for text in [
            "invalid input syntax for type integer: \"candor:require:3\"",
            "ungültige Eingabesyntax für Typ integer: »candor:require:3«",
        ] {
            let Failure::Check(word) = Failure::from_message(text, String::new()) else { panic!("{text}") };
            assert_eq!(word, "require:3");
        }
    }

    #[test]
    fn transient_failures_are_told_from_permanent_ones() {
        let kinds = |text: &str| match Failure::from_message(text, text.to_owned()) {
            Failure::Lost(_) => "lost",
            Failure::Busy(_) => "busy",
            Failure::NoRoom(_) => "no room",
            Failure::TimedOut(_) => "timed out",
            Failure::Collided(_) => "collided",
            Failure::Unconnected(_)
            | Failure::Unique { .. }
            | Failure::Missing
            | Failure::Check(_)
            | Failure::Corrupt(_)
            | Failure::Other(_) => "other",
            Failure::Forbidden(_) => "forbidden",
            Failure::Redefined(_) => "redefined",
        };
        let table = [
            ("terminating connection due to administrator command", "lost"),
            ("the database system is shutting down", "lost"),
            ("canceling statement due to lock timeout", "busy"),
            ("canceling statement due to statement timeout", "timed out"),
            ("canceling statement due to conflict with recovery", "busy"),
            ("remaining connection slots are reserved for roles with privileges of superuser", "busy"),
            ("sorry, too many clients already", "busy"),
            ("deadlock detected", "collided"),
            ("canceling the transaction since it was involved in a distributed deadlock", "collided"),
            ("connection to the remote node postgres@10.0.0.7:5432 failed with the following error: …", "busy"),
            ("could not establish any connections to the node 10.0.0.7:5432 after 5000 ms", "busy"),
            ("permission denied for schema public", "forbidden"),
            ("must be owner of table deliveries", "forbidden"),
            ("relation \"deliveries_20260302\" already exists", "redefined"),
            (
                "updated partition constraint for default partition \"d\" would be violated by some row",
                "redefined",
            ),
            ("column \"x\" does not exist", "redefined"),
            ("could not extend file \"base/1/2\": No space left on device", "no room"),
            ("could not write to file \"base/pgsql_tmp/1\": Disk quota exceeded", "no room"),
            ("could not read block 4 in file \"base/1/2\": Input/output error", "no room"),
            ("could not fsync file \"pg_wal/1\": Input/output error", "no room"),
            ("out of memory", "no room"),
            ("out of shared memory", "no room"),
            ("temporary file size exceeds temp_file_limit (1024kB)", "no room"),
            ("could not obtain lock on relation \"events\"", "other"),
            ("division by zero", "other"),
        ];
        for (text, kind) in table {
            assert_eq!(kinds(text), kind, "{text}");
        }
    }

    #[test]
    fn unrecognized_failure_in_another_language_is_transient() {
        let kind = |diesel, message, is_translated| kind_in_language(&diesel, message, is_translated);
        let timeout = "Anweisung wird abgebrochen, weil die Sperre nicht rechtzeitig frei wurde";
        assert_eq!(kind(DatabaseErrorKind::Unknown, timeout, true), Kind::Busy);
        assert_eq!(kind(DatabaseErrorKind::Unknown, timeout, false), Kind::Other);
        assert_eq!(kind(DatabaseErrorKind::Unknown, "canceling statement due to lock timeout", true), Kind::Busy);
        assert_eq!(kind(DatabaseErrorKind::UniqueViolation, "doppelter Wert", true), Kind::Unique);
        assert_eq!(kind(DatabaseErrorKind::NotNullViolation, "NULL-Wert", true), Kind::Other);
    }

    #[test]
    fn codes_of_lacking_resources_are_transient_as_a_class() {
        for code in ["53000", "53100", "53200", "53400", "58000", "58030", "58P01"] {
            let kind = kind_of(None, Some(&SqlState::from_code(code)), "ein Text in einer anderen Sprache");
            let error = Failure::of_kind(kind, "", code.to_owned()).into_storage();
            assert!(matches!(error, StorageError::NoRoom(_)), "{code}: {error}");
        }
        assert_eq!(kind_of(None, Some(&SqlState::TOO_MANY_CONNECTIONS), ""), Kind::Busy);
        assert_eq!(kind_of(None, Some(&SqlState::DIVISION_BY_ZERO), ""), Kind::Other);
    }

    #[test]
    fn row_contents_do_not_affect_error_classification() {
        let info = FakeServerError {
            message: "value violates a rule",
            details: "Failing row contains (candor:require:3, deadlock detected, too many, terminating connection).",
        };
        let failure = Failure::from_database(&DatabaseErrorKind::CheckViolation, &info);
        let Failure::Other(text) = failure else { panic!("{failure:?}") };
        assert!(text.contains("Failing row"), "the log shows it: {text}");
        for message in ["value \"too many\" is taken", "invalid input \"deadlock detected\""] {
            let failure = Failure::from_message(message, String::new());
            assert!(matches!(failure, Failure::Other(_)), "{message}: {failure:?}");
        }
    }

    #[test]
    fn unique_violation_of_a_cluster_node_is_read_from_its_message() {
        let message = "duplicate key value violates unique constraint \"employees_email_102027\"";
        let failure = Failure::from_database(
            &DatabaseErrorKind::UniqueViolation,
            &FakeServerError { message, details: "Key …" },
        );
        assert!(matches!(failure.into_commit(), CommitError::Taken(Unique::EmployeeEmail)));
    }

    /// Error information of a server, as a fake.
    struct FakeServerError {
        message: &'static str,
        details: &'static str,
    }

    impl DatabaseErrorInformation for FakeServerError {
        fn message(&self) -> &str {
            self.message
        }
        fn details(&self) -> Option<&str> {
            Some(self.details)
        }
        fn hint(&self) -> Option<&str> {
            None
        }
        fn table_name(&self) -> Option<&str> {
            None
        }
        fn column_name(&self) -> Option<&str> {
            None
        }
        fn constraint_name(&self) -> Option<&str> {
            None
        }
        fn statement_position(&self) -> Option<i32> {
            None
        }
    }

    #[test]
    fn primary_key_violation_is_a_taken_id() {
        assert_eq!(unique("employees_email"), Some(Unique::EmployeeEmail));
        assert_eq!(unique("observations_pkey"), Some(Unique::Id));
        assert_eq!(unique("api_keys_by_hash"), None);
        assert_eq!(unique("employees_email_102345"), Some(Unique::EmployeeEmail), "on a node of a cluster");
        assert_eq!(unique("observations_pkey_102345"), Some(Unique::Id), "on a node of a cluster");
    }
}
