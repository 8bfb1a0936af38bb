//! `candor migrate`: brings the schema up to date.

use serde_json::json;

use crate::config::Config;
use crate::error::Error;
use crate::output::Output;
use crate::{store, wiring};

/// Applies the pending migrations, or only names them.
///
/// # Errors
/// [`Error::Database`] if the database does not answer, or a migration fails; [`Error::WrongMasterKey`];
/// [`Error::Pending`] if something is and was only to be named.
pub(crate) async fn run(config: &Config, check: bool, output: Output) -> Result<(), Error> {
    let database = config.database.masked();
    if check {
        let pending = store::pending(config).await?;
        let people = match pending.as_slice() {
            [] => format!("{database} is up to date."),
            names => format!("{database} lacks:\n{}", names.join("\n")),
        };
        output.say(&json!({"database": database, "pending": pending}), &people)?;
        return if pending.is_empty() { Ok(()) } else { Err(Error::Pending { database, count: pending.len() }) };
    }
    wiring::compare_master_key(config).await?;
    let applied = store::migrate(config).await?;
    wiring::record_master_key(config).await?;
    let people = match applied.as_slice() {
        [] => format!("{database} was up to date."),
        names => format!("Applied to {database}:\n{}", names.join("\n")),
    };
    output.say(&json!({"database": database, "applied": applied}), &people)
}
