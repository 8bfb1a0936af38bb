//! The schema: its migrations travel in the binary.

use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use candor_port_storage::upkeep::MasterKey;
use candor_tables::flat::Cell;

use crate::connection::session::{Session, run};
use crate::distribute::lacking;
use crate::failure::Failure;
use crate::layout::LAYOUT;
use crate::pooler::{expect_own_session, explained};
use crate::reads::upkeep;
use crate::sql::Sql;
use crate::{ConnectError, PostgresOptions};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Whoever changes the schema holds this advisory lock, so that instances started together do it one after another.
const LOCK: i64 = 0x0063_616e_646f_7201;

/// What [`pending`] calls the step that a restored database needs, see [`rebase_feed`].
pub(crate) const FEED_STEP: &str = "the event feed must be carried on behind the restored events";

/// Why the schema could not be changed or judged.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A step failed; the steps before it stay done, this one is undone.
    #[error("the schema could not be brought up to date: {0}")]
    Failed(String),
}

type Blocking = AsyncConnectionWrapper<AsyncPgConnection>;

/// Applies every pending migration and answers their names. Instances that do so at once wait for each other.
///
/// # Errors
/// [`SchemaError`].
pub async fn migrate(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = locked(options).await?;
    let (connection, mut done) = blocking(connection, |harness| {
        let mut names = vec![];
        for migration in harness.pending_migrations(MIGRATIONS).map_err(text)? {
            harness.run_migration(&migration).map_err(text)?;
            names.push(migration.name().to_string());
        }
        Ok(names)
    })
    .await?;
    if !one(&connection, LAYOUT, flag).await? && rebase_feed(&connection).await? {
        done.push(FEED_STEP.to_owned());
    }
    Ok(done)
}

/// What [`migrate`] would do; nothing is changed. A service must not start while this is not empty.
///
/// # Errors
/// [`SchemaError`].
pub async fn pending(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = connect(options).await?;
    if !one(&connection, "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL", flag).await? {
        let all = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(text)?;
        return Ok(all.iter().map(|it| it.name().to_string()).collect());
    }
    let (connection, mut steps) = blocking(connection, |harness| {
        let pending = harness.pending_migrations(MIGRATIONS).map_err(text)?;
        Ok(pending.iter().map(|it| it.name().to_string()).collect::<Vec<_>>())
    })
    .await?;
    if one(&connection, LAYOUT, flag).await? {
        steps.extend(lacking(&connection).await?);
    } else if steps.is_empty() && one(&connection, FEED_IS_AHEAD, flag).await? {
        steps.push(FEED_STEP.to_owned());
    }
    Ok(steps)
}

/// The newest migration, and a question for whether a database has it.
///
/// # Errors
/// [`SchemaError::Failed`] where the migrations of this program cannot be read.
pub(crate) fn newest() -> Result<(Sql, String), SchemaError> {
    let all = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(text)?;
    let newest = all.iter().map(|it| it.name().version().to_string()).max().unwrap_or_default();
    let mut sql = Sql::default();
    let version = sql.bind(Cell::Text(newest.clone()));
    sql.push(&format!("SELECT EXISTS (SELECT 1 FROM __diesel_schema_migrations WHERE version = {version})"));
    Ok((sql, newest))
}

/// The master keys that have sealed something in a database, whatever its schema; none where there is none yet.
///
/// # Errors
/// [`SchemaError`].
pub async fn master_keys(options: &PostgresOptions) -> Result<Vec<MasterKey>, SchemaError> {
    let connection = connect(options).await?;
    if !one(&connection, "SELECT to_regclass('master_keys') IS NOT NULL", flag).await? {
        return Ok(vec![]);
    }
    run(&connection, &Sql::plain(upkeep::MASTER_KEYS), upkeep::master_key).await.map_err(failed)
}

/// Undoes every migration, the newest first, and answers their names. Everything stored is lost.
///
/// # Errors
/// [`SchemaError`].
pub async fn revert(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = locked(options).await?;
    let (_, names) = blocking(connection, |harness| {
        let versions = harness.revert_all_migrations(MIGRATIONS).map_err(text)?;
        Ok(versions.iter().map(ToString::to_string).collect())
    })
    .await?;
    Ok(names)
}

fn text(error: impl std::fmt::Display) -> SchemaError {
    SchemaError::Failed(explained(error.to_string()))
}

pub(crate) fn failed(failure: Failure) -> SchemaError {
    SchemaError::Failed(explained(failure.text()))
}

pub(crate) fn flag(row: &mut dyn candor_tables::flat::Fetch) -> Result<bool, Failure> {
    row.flag().map(|it| it == Some(true)).map_err(Failure::Other)
}

pub(crate) async fn connect(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let session = Session::new(&options.url, &options.application_name)?;
    session.connect().await.map_err(|it| ConnectError::Unreachable(explained(it.text())).into())
}

/// Waits for its turn without a limit, and lets a step take its time, but never makes the service wait long for a lock
/// that a step waits for.
pub(crate) async fn locked(options: &PostgresOptions) -> Result<AsyncPgConnection, SchemaError> {
    let mut connection = connect(options).await?;
    expect_own_session(options, &connection).await?;
    let lock = format!(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0; \
         SELECT pg_advisory_lock({LOCK}); SET lock_timeout = '10s'"
    );
    connection.batch_execute(&lock).await.map_err(|it| failed(it.into()))?;
    Ok(connection)
}

/// Migrations run through a blocking interface, which must not be entered on a thread that drives a runtime.
async fn blocking<T: Send + 'static>(
    connection: AsyncPgConnection,
    work: impl FnOnce(&mut Blocking) -> Result<T, SchemaError> + Send + 'static,
) -> Result<(AsyncPgConnection, T), SchemaError> {
    let done = tokio::task::spawn_blocking(move || {
        let mut harness = Blocking::from(connection);
        let done = work(&mut harness)?;
        Ok((harness.into_inner(), done))
    });
    done.await.map_err(text)?
}

pub(crate) async fn one<T: Send>(
    connection: &AsyncPgConnection,
    sql: &str,
    read: impl Fn(&mut dyn candor_tables::flat::Fetch) -> Result<T, Failure> + Send,
) -> Result<T, SchemaError> {
    let rows = run(connection, &Sql::plain(sql), read).await.map_err(failed)?;
    rows.into_iter().next().ok_or_else(|| SchemaError::Failed(format!("no answer to {sql}")))
}

/// Whether events were written under later transactions than this cluster has reached. Only the newest are looked at,
/// by an index: a start must not read the whole log.
const FEED_IS_AHEAD: &str = "SELECT COALESCE(max(position), 0) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + feed_offset() \
    FROM (SELECT position FROM events ORDER BY created_at DESC LIMIT 1000) AS newest";

/// How far behind the stored events a new one would come, and the offset now.
const FEED_GAP: &str = "SELECT COALESCE(max(position), 0) - pg_snapshot_xmax(pg_current_snapshot())::text::bigint - feed_offset(), feed_offset() \
    FROM events";

/// An event's place in the feed is its transaction's id plus `feed_offset()`. A dump that is restored into a new cluster
/// brings events of later transactions than that cluster has reached; the offset is raised so that new events come
/// behind them all the same, and pollers miss none.
async fn rebase_feed(connection: &AsyncPgConnection) -> Result<bool, SchemaError> {
    let (gap, offset) = one(connection, FEED_GAP, |row| {
        let mut number = || row.int().map_err(Failure::Other).map(Option::unwrap_or_default);
        Ok((number()?, number()?))
    })
    .await?;
    if gap < 0 {
        return Ok(false);
    }
    let raise = raise_feed(offset + gap + 1);
    SimpleAsyncConnection::batch_execute(&mut &*connection, &raise).await.map_err(|it| failed(it.into()))?;
    Ok(true)
}

/// The statement that sets what is added to the ids of transactions.
pub(crate) fn raise_feed(offset: i64) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION feed_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT {offset}::bigint'"
    )
}
