//! Poolers, such as PgBouncer, that stand between here and the server.
//!
//! In session mode a session is one of the server's own. In transaction mode it is another one for each transaction, so that
//! what a session is set to, and what it has locked, is anybody's.

use diesel_async::AsyncPgConnection;

use crate::connection::session::{PLAN_SETTING, SETTINGS, STATEMENT_TIMEOUT, run};
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::schema::session::{SchemaError, connect, failed};
use crate::sql::Sql;

/// What a pooler's refusals look like, and what is to be done about them.
const SIGNS: [(&str, &str); 3] = [
    (
        "unsupported startup parameter",
        "a pooler refuses what the URL sets: name it in PgBouncer's ignore_startup_parameters and set it for the role",
    ),
    ("\" already exists", IN_TRANSACTION_MODE),
    ("\" does not exist", IN_TRANSACTION_MODE),
];
const IN_TRANSACTION_MODE: &str = "a pooler gives each transaction to another session: use its session mode, or PgBouncer \
    from 1.21 with max_prepared_statements";
const PREPARED: &str = "prepared statement \"";

/// What the server or a pooler said, with what to do where it is a pooler's doing.
pub(crate) fn explained(text: String) -> String {
    let is_sign = |sign: &str| text.contains(sign) && (!sign.starts_with('"') || text.contains(PREPARED));
    match SIGNS.iter().find(|(sign, _)| is_sign(sign)) {
        Some((_, remedy)) => format!("{text} ({remedy})"),
        None => text,
    }
}

/// The statements that give every session of a role the settings which a session of this store has.
#[must_use]
pub fn role_settings() -> Vec<String> {
    let timeout = format!("{}s", STATEMENT_TIMEOUT.as_secs());
    let more = [PLAN_SETTING, ("statement_timeout", timeout.as_str())];
    let statement = |(name, value): (&str, &str)| format!("ALTER ROLE CURRENT_USER SET {name} = '{value}';");
    SETTINGS.into_iter().chain(more).map(statement).collect()
}

/// Sets what only this session knows, and says what that is.
const MARK: &str = "SELECT set_config('candor.session', gen_random_uuid()::text, false)";
/// What this session was set to.
const MARKED: &str = "SELECT current_setting('candor.session', true)";

/// Expects that a session is ours alone: a lock of it must hold until it is given back.
pub(crate) async fn expect_own_session(
    options: &PostgresOptions,
    connection: &AsyncPgConnection,
) -> Result<(), SchemaError> {
    let mark = marked(connection, MARK).await?;
    // Where there is no second connection there is nobody who could be given the first.
    let Ok(other) = connect(options).await else { return Ok(()) };
    if marked(&other, MARKED).await? != mark {
        return Ok(());
    }
    let reason = "a pooler in transaction mode stands in between; this needs a URL that leads to the server itself";
    Err(SchemaError::Failed(reason.to_owned()))
}

async fn marked(connection: &AsyncPgConnection, sql: &str) -> Result<Option<String>, SchemaError> {
    let rows = run(connection, &Sql::plain(sql), |row| row.text().map_err(Failure::Other)).await;
    Ok(rows.map_err(failed)?.into_iter().next().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pooler_refuses_is_told_with_what_to_do() {
        for (text, remedy) in [
            ("db error: FATAL: unsupported startup parameter: options", "ignore_startup_parameters"),
            ("prepared statement \"s3\" already exists", "session mode"),
            ("db error: ERROR: prepared statement \"s12\" does not exist", "session mode"),
        ] {
            let told = explained(text.to_owned());
            assert!(told.starts_with(text) && told.contains(remedy), "{told}");
        }
        for text in ["database \"x\" does not exist", "relation \"t\" already exists", "connection refused"] {
            assert_eq!(explained(text.to_owned()), text);
        }
    }
}
