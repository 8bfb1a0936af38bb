//! Errors of the configured database, with the remedy of each.

use std::path::PathBuf;

use candor_cli::error::CommandFailure;

/// Failure to use the configured database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The schema is older than the program.
    #[error(
        "the schema of {database} is older than this program: the database lacks {}; run `candor migrate` first, on \
         a cluster with `--distribute`", shorten(.pending)
    )]
    SchemaOld {
        /// The database, with secrets masked.
        database: String,
        /// Names of the missing migrations.
        pending: Vec<String>,
    },
    /// The schema is newer than the program.
    #[error(
        "the schema of {database} is newer than this program: the database has {}, and this program knows up to \
         {newest}; start the newer version of the program, or restore a backup from before the migration",
        .unknown.join(", ")
    )]
    SchemaNew {
        /// The database, with secrets masked.
        database: String,
        /// Versions of the migrations that the program does not have.
        unknown: Vec<String>,
        /// Version of the newest migration of the program.
        newest: String,
    },
    /// The database holds an incomplete copy.
    #[error("a copy into {0} is not complete; repeat the same `candor copy`, or create a new database")]
    UnfinishedCopy(String),
    /// The embedded database does not exist, and this command does not create one.
    #[error(
        "there is no database at {}; run the command in the folder of the service, set --data-dir or \
         CANDOR_DATABASE_URL, or create a new database with `candor migrate`", .0.display()
    )]
    NoDatabase(PathBuf),
    /// The file of the embedded database is damaged.
    #[error("the database {database} is damaged: {reason}; {RESTORE}")]
    Damaged {
        /// The database.
        database: String,
        /// Error message of the database.
        reason: String,
    },
    /// The database does not answer, or answers with an error.
    #[error("cannot use the database {database}: {reason}; {}", remedy(.reason))]
    Unusable {
        /// The database, with secrets masked.
        database: String,
        /// Error message of the database.
        reason: String,
    },
}

impl CommandFailure for StoreError {}

/// Names one migration, or the number of several with the first and the last.
pub(crate) fn shorten(migrations: &[String]) -> String {
    match migrations {
        [first, .., last] => format!("{} migrations, {first} to {last}", migrations.len()),
        _ => migrations.concat(),
    }
}

/// Remedies for error messages of a database, as instructions to the operator. A row applies to a message that
/// contains all its words.
const REMEDIES: [(&[&str], &str); 9] = [
    (
        &["does not support TLS"],
        "set `sslmode=disable` or `sslmode=prefer` in CANDOR_DATABASE_URL, or switch TLS on at the server",
    ),
    (
        &["database \"", "does not exist"],
        "create the database with `CREATE DATABASE`, or correct its name in CANDOR_DATABASE_URL",
    ),
    (
        &["role \"", "does not exist"],
        "create the role with `CREATE ROLE … LOGIN`, or correct the user in CANDOR_DATABASE_URL",
    ),
    (&["password authentication failed"], "correct the user or the password in CANDOR_DATABASE_URL"),
    (
        &["permission denied"],
        "grant the role in CANDOR_DATABASE_URL the privileges that it needs, see the operator's manual",
    ),
    (&["unknown option"], "correct that option in CANDOR_DATABASE_URL"),
    (&["invalid value for option"], "correct that option in CANDOR_DATABASE_URL"),
    (&["is not one of disable"], "correct that option in CANDOR_DATABASE_URL"),
    (
        &["certificate"],
        "give the server a certificate for its host name, or name the authority of its certificate with `sslrootcert`",
    ),
];

/// Messages of SQLite and of its checks for a damaged file.
const DAMAGE: [&str; 3] = ["malformed", "file is not a database", "is damaged"];

/// Returns `true` for the message of a damaged file.
pub(crate) fn is_damage(reason: &str) -> bool {
    DAMAGE.iter().any(|words| reason.contains(words))
}

/// Remedy for a damaged file.
const RESTORE: &str =
    "stop the service, move the files of the database away, and install the newest backup with `candor restore`";

/// Returns the remedy for a message of a database, and a general one for an unknown message.
fn remedy(reason: &str) -> &'static str {
    known_remedy(reason).unwrap_or("check that the database server runs and that CANDOR_DATABASE_URL is right")
}

/// Returns the remedy for a message of a database; `None` for an unknown message.
pub(crate) fn known_remedy(reason: &str) -> Option<&'static str> {
    if is_damage(reason) {
        return Some(RESTORE);
    }
    let has_all = |words: &&[&str]| words.iter().all(|word| reason.contains(word));
    REMEDIES.iter().find(|(words, _)| has_all(words)).map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_fits_the_message_of_the_database() {
        for (reason, wanted) in [
            ("error performing TLS handshake: server does not support TLS", "set `sslmode=disable`"),
            ("db error: FATAL: database \"candor\" does not exist", "create the database with `CREATE DATABASE`"),
            ("db error: FATAL: role \"candor\" does not exist", "create the role with `CREATE ROLE"),
            (
                "db error: FATAL: password authentication failed for user \"candor\"",
                "correct the user or the password",
            ),
            ("invalid connection string: unknown option `sslmod`", "correct that option"),
            ("invalid connection string: invalid value for option `port`", "correct that option"),
            ("the database URL is not valid: sslmode=off is not one of disable, prefer", "correct that option"),
            ("invalid peer certificate: UnknownIssuer", "give the server a certificate"),
            ("the store failed: database disk image is malformed", "stop the service, move the files"),
            (
                "error connecting to server: Connection refused (os error 111)",
                "check that the database server runs",
            ),
        ] {
            assert!(remedy(reason).starts_with(wanted), "{reason}: {}", remedy(reason));
        }
    }

    #[test]
    fn several_migrations_are_counted_in_place_of_a_long_line() {
        let names = ["0001_foundation", "0002_objectives", "0003_webhooks"].map(str::to_owned);
        assert_eq!(shorten(&names), "3 migrations, 0001_foundation to 0003_webhooks");
        assert_eq!(shorten(&names[..1]), "0001_foundation");
    }
}
