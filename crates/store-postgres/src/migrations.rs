//! Schema of the database. The migrations are embedded in the binary.

use std::collections::HashSet;

use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use candor_tables::flat::SqlValue;

use crate::cluster::LAYOUT;
use crate::cluster::distribute::{self, is_distribution, missing_steps};
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::schema::session::{SchemaError, connect, one, open_locked, schema_error, text};
use crate::sql::Sql;
use crate::sql::row::flag;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Name of the step in [`pending`] that a restored database needs, see [`rebase_feed`].
pub(crate) const FEED_STEP: &str = "the event feed must continue after the restored events";

type BlockingConnection = AsyncConnectionWrapper<AsyncPgConnection>;

/// Applies every pending migration, and raises the feed offset if a restored database needs that. Returns the names of
/// the steps taken. Concurrent runs wait for each other.
///
/// # Errors
/// [`SchemaError`].
pub async fn migrate(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = open_locked(options).await?;
    let (connection, mut done) = run_blocking(connection, |harness| {
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

/// Returns the pending migrations and the other missing steps, such as those of a cluster, without changing
/// anything. A service must not start while there are any.
///
/// # Errors
/// [`SchemaError`].
pub async fn pending(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = connect(options).await?;
    if !one(&connection, "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL", flag).await? {
        let all = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(text)?;
        return Ok(all.iter().map(|migration| migration.name().to_string()).collect());
    }
    let (connection, mut steps) = run_blocking(connection, |harness| {
        let pending = harness.pending_migrations(MIGRATIONS).map_err(text)?;
        Ok(pending.iter().map(|migration| migration.name().to_string()).collect::<Vec<_>>())
    })
    .await?;
    if one(&connection, LAYOUT, flag).await? {
        steps.extend(missing_steps(&connection).await?);
    } else if steps.is_empty() && one(&connection, FEED_IS_AHEAD, flag).await? {
        steps.push(FEED_STEP.to_owned());
    }
    Ok(steps)
}

/// Returns the versions of applied migrations that this program does not have.
///
/// # Errors
/// [`SchemaError`].
pub async fn unknown_migrations(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = connect(options).await?;
    if !one(&connection, "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL", flag).await? {
        return Ok(vec![]);
    }
    let all = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(text)?;
    let known_versions: HashSet<String> =
        all.iter().map(|migration| migration.name().version().to_string()).collect();
    let (_, applied) = run_blocking(connection, |harness| {
        let applied_migrations = harness.applied_migrations().map_err(text)?;
        Ok(applied_migrations.iter().map(ToString::to_string).collect::<Vec<_>>())
    })
    .await?;
    Ok(applied.into_iter().filter(|version| !known_versions.contains(version)).collect())
}

/// Distributes undistributed tables over the nodes of a Citus cluster, and returns the steps taken. No service may
/// use the database meanwhile. Steps completed before a failure persist; another run continues after them.
///
/// # Errors
/// [`SchemaError`], also if the schema is not up to date or the server is no coordinator of a cluster.
pub async fn distribute(options: &PostgresOptions, shards: u16) -> Result<Vec<String>, SchemaError> {
    let lacking = pending(options).await?;
    if lacking.iter().any(|step| !is_distribution(step)) {
        return Err(SchemaError::Failed(format!(
            "the schema lacks {}; run `candor migrate` first",
            lacking.join(", ")
        )));
    }
    distribute::distribute(&open_locked(options).await?, shards).await
}

/// Creates the layout by tenant on a single server, for tests of the statements of that layout.
///
/// # Errors
/// [`SchemaError`].
#[doc(hidden)]
pub async fn lay_out_by_tenant(options: &PostgresOptions) -> Result<(), SchemaError> {
    distribute::lay_out(&open_locked(options).await?).await
}

/// Returns the query that returns `true` if a database has the newest migration, and the version of that migration.
///
/// # Errors
/// [`SchemaError::Failed`] if the embedded migrations cannot be read.
pub(crate) fn newest_migration() -> Result<(Sql, String), SchemaError> {
    let all = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(text)?;
    let newest = all.iter().map(|migration| migration.name().version().to_string()).max().unwrap_or_default();
    let mut sql = Sql::default();
    let newest_parameter = sql.bind(SqlValue::Text(newest.clone()));
    sql.push(&format!(
        "SELECT EXISTS (SELECT 1 FROM __diesel_schema_migrations WHERE version = {newest_parameter})"
    ));
    Ok((sql, newest))
}

/// Reverts every migration, the newest first, and returns their names. All data is lost.
///
/// # Errors
/// [`SchemaError`].
pub async fn revert(options: &PostgresOptions) -> Result<Vec<String>, SchemaError> {
    let connection = open_locked(options).await?;
    let (_, names) = run_blocking(connection, |harness| {
        let versions = harness.revert_all_migrations(MIGRATIONS).map_err(text)?;
        Ok(versions.iter().map(ToString::to_string).collect())
    })
    .await?;
    Ok(names)
}

/// Runs work with the blocking interface of the migrations, which must not run on a thread that drives a runtime.
async fn run_blocking<T: Send + 'static>(
    connection: AsyncPgConnection,
    work: impl FnOnce(&mut BlockingConnection) -> Result<T, SchemaError> + Send + 'static,
) -> Result<(AsyncPgConnection, T), SchemaError> {
    let task_result = tokio::task::spawn_blocking(move || {
        let mut harness = BlockingConnection::from(connection);
        let result = work(&mut harness)?;
        Ok((harness.into_inner(), result))
    });
    task_result.await.map_err(text)?
}

/// Query that returns `true` if the newest events have a position that this server's transactions have not
/// reached. It reads 1,000 events by an index: a start must not read the whole feed.
const FEED_IS_AHEAD: &str = "SELECT COALESCE(max(position), 0) >= \
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint + feed_offset() \
    FROM (SELECT position FROM events ORDER BY created_at DESC LIMIT 1000) AS newest";

/// Query for the distance from the position of a new event to the position of the last stored event, and for the
/// current feed offset.
const FEED_GAP: &str = "SELECT COALESCE(max(position), 0) - pg_snapshot_xmax(pg_current_snapshot())::text::bigint \
    - feed_offset(), feed_offset() \
    FROM events";

/// Raises the feed offset after a restore; returns `false` if the offset is high enough. The feed position of an
/// event is its transaction id plus `feed_offset()`. A dump restored into a new server contains events with higher
/// transaction ids than that server has reached. With the new offset, new events follow all restored ones, and
/// clients that poll the feed miss none.
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
    SimpleAsyncConnection::batch_execute(&mut &*connection, &raise)
        .await
        .map_err(|error| schema_error(error.into()))?;
    Ok(true)
}

/// Statement that sets the feed offset.
pub(crate) fn raise_feed(offset: i64) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION feed_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE \
         AS 'SELECT {offset}::bigint'"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use candor_test_postgres::TestDatabase;

    use super::*;
    use crate::cluster::tables::{by_tenant, on_coordinator, on_every_node};
    use crate::connection::session::run;
    use crate::failure::Failure;

    async fn rows(options: &PostgresOptions, text: &str) -> Vec<String> {
        let read = |row: &mut dyn candor_tables::flat::CellReader| row.text().map_err(Failure::Other);
        let connection = connect(options).await.unwrap();
        run(&connection, &Sql::plain(text), read).await.unwrap().into_iter().flatten().collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn tables_are_placed_once_and_unique_indexes_lead_by_tenant() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let options = PostgresOptions::new(database.url(), 1);
        migrate(&options).await.unwrap();
        lay_out_by_tenant(&options).await.unwrap();
        let mut lists: BTreeMap<&str, u32> = BTreeMap::new();
        for table in by_tenant().chain(on_every_node()).chain(on_coordinator()) {
            *lists.entry(table).or_default() += 1;
        }
        let tables = "SELECT c.relname::text FROM pg_class AS c WHERE c.relkind IN ('r', 'p') \
                      AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname";
        let tables = rows(&options, tables).await;
        for table in &tables {
            assert_eq!(lists.get(table.as_str()), Some(&1), "{table} is listed once, by its placement");
        }
        assert_eq!(lists.len(), tables.len(), "{lists:?}");
        let unique = "SELECT t.relname || ' ' || i.relname FROM pg_index AS x JOIN pg_class AS i \
                      ON i.oid = x.indexrelid \
                      JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_attribute AS a ON a.attrelid = t.oid \
                      AND a.attnum = x.indkey[0] \
                      WHERE x.indisunique AND a.attname <> 'tenant_id' \
                      AND t.relnamespace = 'public'::regnamespace";
        for index in rows(&options, unique).await {
            let table = index.split(' ').next().unwrap();
            assert!(!by_tenant().any(|name| name == table), "{index} does not begin with the tenant");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn server_without_citus_is_refused_as_a_cluster() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let options = PostgresOptions::new(database.url(), 1);
        let early = distribute(&options, 4).await.unwrap_err().to_string();
        assert!(early.contains("candor migrate"), "{early}");
        migrate(&options).await.unwrap();
        if rows(&options, "SELECT extname::text FROM pg_extension").await.iter().any(|name| name == "citus") {
            return;
        }
        let error = distribute(&options, 4).await.unwrap_err().to_string();
        assert!(error.contains("no Citus"), "{error}");
        assert_eq!(pending(&options).await.unwrap(), [""; 0]);
    }
}
