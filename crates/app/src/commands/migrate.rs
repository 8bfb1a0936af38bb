//! `candor migrate`: brings the schema up to date.

use serde_json::json;

use crate::{store, wiring};
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_settings::Config;

/// Exit status of `candor migrate --check` when migrations are pending.
const PENDING: u8 = 3;

/// Result of `candor migrate --check` when migrations are pending.
#[derive(Debug, thiserror::Error)]
#[error(
    "the schema of {database} lacks {count} migrations; apply them with `candor migrate`, on a cluster \
         with `--distribute`"
)]
struct PendingMigrationsError {
    /// The database, with secrets masked.
    database: String,
    /// Number of pending migrations.
    count: usize,
}

impl CommandFailure for PendingMigrationsError {
    fn exit_status(&self) -> u8 {
        PENDING
    }
}

/// Prints the pending migrations without applying them.
///
/// # Errors
/// A database that does not answer, or has a newer schema; [`PendingMigrationsError`] if a migration is pending.
pub(crate) async fn check(config: &Config, output: Output) -> Result<(), CommandError> {
    let database = config.database.mask_password();
    store::expect_known_schema(config).await?;
    let pending = store::pending(config).await?;
    let human_text = match pending.as_slice() {
        [] => format!("{database} is up to date."),
        names => format!("{database} lacks:\n{}", names.join("\n")),
    };
    output.say(&json!({"database": database, "pending": pending}), &human_text)?;
    if pending.is_empty() { Ok(()) } else { Err(PendingMigrationsError { database, count: pending.len() }.into()) }
}

/// Prints the SQL statements that configure a role for a pooler in transaction mode.
///
/// # Errors
/// [`CommandError::Io`] if the output cannot be written.
pub(crate) fn role_settings(output: Output) -> Result<(), CommandError> {
    let statements = candor_store_postgres::role_settings();
    output.say(&json!({"statements": statements}), &statements.join("\n"))
}

/// Applies the pending migrations. With `shards`, also distributes the tables into this number of shards.
///
/// # Errors
/// A database that does not answer, or has a newer schema; a migration that fails, a wrong master key.
pub(crate) async fn run(config: &Config, shards: Option<u16>, output: Output) -> Result<(), CommandError> {
    let database = config.database.mask_password();
    store::expect_known_schema(config).await?;
    wiring::compare_master_key(config).await?;
    let mut migrations = store::migrate(config).await?;
    if let Some(shards) = shards {
        migrations.extend(store::distribute(config, shards).await?);
    }
    wiring::record_master_key(config).await?;
    let human_text = match migrations.as_slice() {
        [] => format!("{database} was up to date."),
        names => format!("Applied to {database}:\n{}", names.join("\n")),
    };
    output.say(&json!({"database": database, "applied": migrations}), &human_text)
}
