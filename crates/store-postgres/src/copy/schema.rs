//! Schema changes of a copy in its target. The progress is a table, and foreign keys are dropped at the start and
//! recreated at the end, because rows arrive in any order.

use candor_domain::time::Date;
use candor_port_storage::copy::CopyProgress;
use candor_port_storage::error::Read;
use tokio_postgres::{Client, Transaction};

use super::map_error;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::migrations::raise_feed;

/// Prefix of the progress keys that hold the statements to recreate foreign keys.
const REFERENCE: &str = "reference ";

const IS_BEGUN: &str = "SELECT to_regclass('copy_progress') IS NOT NULL";
const BEGIN: &str =
    "CREATE TABLE copy_progress (name text PRIMARY KEY, value text NOT NULL); DELETE FROM master_keys";
/// Statements that make the progress table known to every node of a cluster, because a service may connect to any
/// node. Statements on the shards of a table then run one after the other, as changes of foreign keys require.
const BEGIN_ON_NODES: &str = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'; \
                              SELECT citus_add_local_table_to_metadata('copy_progress')";
const STEP: &str = "INSERT INTO copy_progress (name, value) VALUES ($1, $2) \
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// Query for the foreign keys of all tables in the schema.
const REFERENCES: &str = "SELECT quote_ident(c.conname)::text, \
    c.conrelid::regclass::text, pg_get_constraintdef(c.oid) \
    FROM pg_constraint AS c WHERE c.contype = 'f' AND c.conparentid = 0 \
    AND c.connamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'organizations'::regclass) \
    ORDER BY c.conname";

/// Query for the feed offset that places the next event after a given position and after every stored event.
const OFFSET: &str = "SELECT greatest(feed_offset(), \
    greatest($1::bigint, (SELECT max(position) FROM events)) - \
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1), feed_offset()";

/// Statement that queues the copied rows for the full-text index, like rows that were stored before the search
/// existed.
pub(super) const TO_BE_INDEXED: &str = "INSERT INTO search_backlog \
    SELECT tenant_id, t.name, '00000000-0000-0000-0000-000000000000' FROM organizations \
    CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t (name) \
    ON CONFLICT DO NOTHING";

/// Returns `true` if a copy was begun and is not complete.
pub(super) async fn is_begun(client: &Client) -> Read<bool> {
    Ok(client.query_one(IS_BEGUN, &[]).await.map_err(map_error)?.get(0))
}

/// Returns `true` if the database holds any data, under any schema version.
pub(super) async fn is_used(client: &Client) -> Read<bool> {
    let is_there = "SELECT to_regclass('organizations') IS NOT NULL";
    if !client.query_one(is_there, &[]).await.map_err(map_error)?.get::<_, bool>(0) {
        return Ok(false);
    }
    let is_used = client.query_one("SELECT EXISTS (SELECT 1 FROM organizations)", &[]).await.map_err(map_error)?;
    Ok(is_used.get::<_, bool>(0) || is_begun(client).await?)
}

/// Reads the recorded progress of a copy.
pub(super) async fn progress(client: &Client) -> Read<CopyProgress> {
    let rows = client.query("SELECT name, value FROM copy_progress", &[]).await.map_err(map_error)?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Records the progress of a copy.
pub(super) async fn write_down(transaction: &Transaction<'_>, (name, value): &(String, String)) -> Read<()> {
    transaction.execute(STEP, &[name, value]).await.map(drop).map_err(map_error)
}

/// Begins a copy: records the definitions of all foreign keys, and drops the keys.
pub(super) async fn begin(client: &mut Client, is_cluster: bool, first: (String, String)) -> Read<()> {
    let transaction = client.transaction().await.map_err(map_error)?;
    transaction.batch_execute(BEGIN).await.map_err(map_error)?;
    if is_cluster {
        transaction.batch_execute(BEGIN_ON_NODES).await.map_err(map_error)?;
    }
    write_down(&transaction, &first).await?;
    for row in transaction.query(REFERENCES, &[]).await.map_err(map_error)? {
        let [name, table, definition]: [String; 3] = [row.get(0), row.get(1), row.get(2)];
        let recreation = format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition}");
        write_down(&transaction, &(format!("{REFERENCE}{name}"), recreation)).await?;
        let drop = format!("ALTER TABLE {table} DROP CONSTRAINT {name}");
        transaction.batch_execute(&drop).await.map_err(map_error)?;
    }
    transaction.commit().await.map_err(map_error)
}

/// Recreates the foreign keys that [`begin`] dropped, which checks all rows.
pub(super) async fn check_references(client: &mut Client) -> Read<()> {
    for (name, statement) in progress(client).await?.iter().filter(|(name, _)| name.starts_with(REFERENCE)) {
        let transaction = client.transaction().await.map_err(map_error)?;
        transaction.batch_execute(statement).await.map_err(map_error)?;
        transaction.execute("DELETE FROM copy_progress WHERE name = $1", &[name]).await.map_err(map_error)?;
        transaction.commit().await.map_err(map_error)?;
    }
    Ok(())
}

/// Raises the feed offset so that the next event gets a position after `feed_end`, the last position of the source,
/// and after every stored event. The cursors of the source's clients thus remain valid.
pub(super) async fn continue_feed_after(client: &Client, feed_end: i64) -> Read<()> {
    let row = client.query_one(OFFSET, &[&feed_end]).await.map_err(map_error)?;
    let (wanted, now): (i64, i64) = (row.get(0), row.get(1));
    if wanted > now { client.batch_execute(&raise_feed(wanted)).await.map_err(map_error) } else { Ok(()) }
}

/// Returns the last feed position that an event in this database can have.
pub(super) async fn feed_end(client: &Client, layout: SharedLayout) -> Read<i64> {
    Ok(client.query_one(layout.feed_end(), &[]).await.map_err(map_error)?.get(0))
}

/// Returns the last position of the source or of a stored event, whichever is later.
pub(super) async fn last_position(client: &Client, feed_end: i64) -> Read<i64> {
    let last: Option<i64> =
        client.query_one("SELECT max(position) FROM events", &[]).await.map_err(map_error)?.get(0);
    Ok(feed_end.max(last.unwrap_or_default()))
}

/// Creates the partition of a day, unless it exists or the role lacks the permission.
pub(super) async fn make_partition(transaction: &Transaction<'_>, name: &str, day: Date) -> Read<()> {
    transaction.batch_execute("SAVEPOINT day").await.map_err(map_error)?;
    let text = format!(
        "CREATE TABLE IF NOT EXISTS {name} PARTITION OF deliveries \
         FOR VALUES FROM ('{day} 00:00:00+00') TO ('{} 00:00:00+00')",
        day.next()
    );
    let savepoint_end = match transaction.batch_execute(&text).await {
        Ok(()) => "RELEASE SAVEPOINT day",
        Err(error) if matches!(Failure::from_driver(&error), Failure::Forbidden(_)) => "ROLLBACK TO SAVEPOINT day",
        Err(error) => return Err(map_error(error)),
    };
    transaction.batch_execute(savepoint_end).await.map_err(map_error)
}
