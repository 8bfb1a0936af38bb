//! Detection of poolers such as PgBouncer between the service and the server.
//!
//! In session mode, a client session is one server session. In transaction mode, each transaction may run in
//! another server session, so settings and session locks leak to other clients.

use diesel_async::AsyncPgConnection;

use crate::connection::session::{PLAN_SETTING, SETTINGS, STATEMENT_TIMEOUT, run};
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::schema::session::{SchemaError, connect, schema_error};
use crate::sql::Sql;

/// Texts in a pooler's errors, each with the remedy.
const SIGNS: [(&str, &str); 3] = [
    (
        "unsupported startup parameter",
        "a pooler refuses a parameter of the URL: name the parameter in PgBouncer's ignore_startup_parameters, and \
         set it for the role",
    ),
    ("\" already exists", IN_TRANSACTION_MODE),
    ("\" does not exist", IN_TRANSACTION_MODE),
];
const IN_TRANSACTION_MODE: &str = "a pooler gives each transaction to another session: use its session mode, or \
    PgBouncer from 1.21 with max_prepared_statements";
const PREPARED: &str = "prepared statement \"";

/// Appends the remedy to an error text that a pooler caused.
pub(crate) fn explain_pooler(text: String) -> String {
    let is_sign = |sign: &str| text.contains(sign) && (!sign.starts_with('"') || text.contains(PREPARED));
    match SIGNS.iter().find(|(sign, _)| is_sign(sign)) {
        Some((_, remedy)) => format!("{text} ({remedy})"),
        None => text,
    }
}

/// Returns the statements that give every session of a role the settings of the store's sessions.
#[must_use]
pub fn role_settings() -> Vec<String> {
    let timeout = format!("{}s", STATEMENT_TIMEOUT.as_secs());
    let more = [PLAN_SETTING, ("statement_timeout", timeout.as_str())];
    let statement = |(name, value): (&str, &str)| format!("ALTER ROLE CURRENT_USER SET {name} = '{value}';");
    SETTINGS.into_iter().chain(more).map(statement).collect()
}

/// Statement that sets a session setting to a random value and returns it.
const MARK: &str = "SELECT set_config('candor.session', gen_random_uuid()::text, false)";
/// Query for the value that [`MARK`] set.
const MARKED: &str = "SELECT current_setting('candor.session', true)";

/// Fails if a pooler in transaction mode shares the server session: session locks must hold until they are
/// released.
pub(crate) async fn expect_own_session(
    options: &PostgresOptions,
    connection: &AsyncPgConnection,
) -> Result<(), SchemaError> {
    let mark = run_marked(connection, MARK).await?;
    // Without a second connection, no pooler can have shared the first one.
    let Ok(other) = connect(options).await else { return Ok(()) };
    if run_marked(&other, MARKED).await? != mark {
        return Ok(());
    }
    let reason =
        "a pooler in transaction mode stands before the server; use a URL that leads to the server itself";
    Err(SchemaError::Failed(reason.to_owned()))
}

async fn run_marked(connection: &AsyncPgConnection, sql: &str) -> Result<Option<String>, SchemaError> {
    let rows = run(connection, &Sql::plain(sql), |row| row.text().map_err(Failure::Other)).await;
    Ok(rows.map_err(schema_error)?.into_iter().next().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooler_refusal_is_explained_with_a_remedy() {
        for (text, remedy) in [
            ("db error: FATAL: unsupported startup parameter: options", "ignore_startup_parameters"),
            ("prepared statement \"s3\" already exists", "session mode"),
            ("db error: ERROR: prepared statement \"s12\" does not exist", "session mode"),
        ] {
            let explanation = explain_pooler(text.to_owned());
            assert!(explanation.starts_with(text) && explanation.contains(remedy), "{explanation}");
        }
        for text in ["database \"x\" does not exist", "relation \"t\" already exists", "connection refused"] {
            assert_eq!(explain_pooler(text.to_owned()), text);
        }
    }
}
