//! Maintenance of the delivery log: creates a partition for each coming day, and drops expired ones.

use std::sync::atomic::Ordering;

use candor_domain::time::{Date, Timestamp};
use candor_tables::flat::{CellReader, SqlValue};
use diesel_async::SimpleAsyncConnection;

use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::nodes::Nodes;
use crate::nodes::transaction::{Transaction, send};
use crate::sql::Sql;
use crate::sql::row::{flag, int};
use crate::store::PartitionWarning;

/// Number of days after today with a partition, so that a day without maintenance does no harm.
const DAYS_AHEAD: usize = 3;

/// Prefix of a partition's name; the day follows.
const PREFIX: &str = "deliveries_";

/// Limits of a transaction that changes partitions. Writers of the log queue behind a waiting lock request, so the
/// lock timeout is short; the next run retries. The statement timeout covers the scan of the default partition for
/// rows of the new day.
const LIMITS: [&str; 2] = ["SET LOCAL lock_timeout = '100ms'", "SET LOCAL statement_timeout = '2s'"];

/// Query for the schema of the log and the names of its partitions.
const PARTITIONS: &str = "SELECT quote_ident(n.nspname)::text, c.relname::text FROM pg_class AS t \
    JOIN pg_namespace AS n ON n.oid = t.relnamespace JOIN pg_inherits AS i ON i.inhparent = t.oid \
    JOIN pg_class AS c ON c.oid = i.inhrelid WHERE t.oid = 'deliveries'::regclass";

/// Creates the partitions of the coming days, drops those that end by `before`, and removes at most `most` older
/// rows from the default partition. Returns the number of removed rows.
pub(super) async fn keep(
    (nodes, layout): (&Nodes, SharedLayout),
    warned: &PartitionWarning,
    (now, before): (Timestamp, Timestamp),
    most: u32,
) -> Result<u64, Failure> {
    match partition((nodes, layout), now, before).await {
        Err(failure @ Failure::Forbidden(_)) => {
            if !warned.0.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    reason = failure.text(),
                    "cannot create partitions of the delivery log: without them, the deletion of old entries \
                     gets slower. Grant this role CREATE on the schema"
                );
            }
        }
        other => other?,
    }
    let removed_counts =
        send(nodes, &Transaction::with_index_plans(vec![remove_old_rows(layout, before, most)]), int).await?;
    Ok(removed_counts.first().copied().unwrap_or_default().unsigned_abs())
}

async fn partition(
    (nodes, layout): (&Nodes, SharedLayout),
    now: Timestamp,
    before: Timestamp,
) -> Result<(), Failure> {
    let partition_names = send(nodes, &Transaction::single_statement(Sql::plain(PARTITIONS)), names).await?;
    let Some((schema, _)) = partition_names.first().cloned() else { return Ok(()) };
    let days: Vec<Date> = partition_names.iter().filter_map(|(_, name)| day_of(name)).collect();
    for day in std::iter::successors(Some(now.date()), |day| Some(day.next())).take(1 + DAYS_AHEAD) {
        if !days.contains(&day) && is_free(nodes, day).await? {
            ignore_retryable(change((nodes, layout), &creation(&schema, day)).await)?;
        }
    }
    for day in days.into_iter().filter(|day| start(day.next()) <= before) {
        ignore_retryable(change((nodes, layout), &[format!("DROP TABLE {schema}.{}", name(day))]).await)?;
    }
    Ok(())
}

/// Ignores a failed change of a partition: the next run retries the change, and until then the default partition
/// serves the day. Returns only failures that later changes of the same run would have as well.
fn ignore_retryable(changed: Result<(), Failure>) -> Result<(), Failure> {
    let Err(failure) = changed else { return Ok(()) };
    match failure {
        Failure::Lost(_) | Failure::Unconnected(_) | Failure::Forbidden(_) => return Err(failure),
        Failure::Busy(_) | Failure::TimedOut(_) | Failure::Collided(_) | Failure::Unique { .. } => {
            tracing::debug!(reason = failure.text(), "a partition of the log was in use");
        }
        // Another instance made the change, or the default partition already has entries of the day.
        Failure::Redefined(_) => {
            tracing::debug!(reason = failure.text(), "a partition of the log needs no change");
        }
        Failure::NoRoom(_) | Failure::Missing | Failure::Check(_) | Failure::Corrupt(_) | Failure::Other(_) => {
            tracing::warn!(
                reason = failure.text(),
                "cannot change a partition of the delivery log; the next \
                                                     sweep retries"
            );
        }
    }
    Ok(())
}

/// Statements that create a partition. `ATTACH` takes a weaker lock than `CREATE TABLE … PARTITION OF`: writers of
/// the log continue.
fn creation(schema: &str, day: Date) -> [String; 2] {
    let (name, next) = (name(day), day.next());
    let attach = format!("ALTER TABLE {schema}.deliveries ATTACH PARTITION {schema}.{name}");
    [
        format!("CREATE TABLE {schema}.{name} (LIKE {schema}.deliveries)"),
        format!("{attach} FOR VALUES FROM ('{day} 00:00:00+00') TO ('{next} 00:00:00+00')"),
    ]
}

/// Runs statements in a transaction with short timeouts. Each is sent alone: a timeout applies from the next
/// message on, and a cluster forwards only schema changes that are messages of their own.
async fn change((nodes, layout): (&Nodes, SharedLayout), statements: &[String]) -> Result<(), Failure> {
    let pooled_connection = nodes.connection(&[]).await?;
    let connection = pooled_connection.get()?;
    let run = async |text: &str| {
        SimpleAsyncConnection::batch_execute(&mut &*connection, text).await.map_err(Failure::from)
    };
    let partition_change = async {
        run("BEGIN").await?;
        for limit in layout.partition_settings().iter().copied().chain(LIMITS) {
            run(limit).await?;
        }
        for statement in statements {
            run(statement).await?;
        }
        run("COMMIT").await
    };
    let change_result = partition_change.await;
    if change_result.is_err() {
        run("ROLLBACK").await?;
    }
    pooled_connection.give_back();
    change_result
}

/// Returns `true` if the default partition has no rows of the day. Otherwise a new partition would be refused, and
/// the default one serves the day.
async fn is_free(nodes: &Nodes, day: Date) -> Result<bool, Failure> {
    let mut sql = Sql::default();
    let (from, to) = (sql.bind(SqlValue::Time(start(day))), sql.bind(SqlValue::Time(start(day.next()))));
    sql.push(&format!(
        "SELECT NOT EXISTS (SELECT 1 FROM deliveries_default WHERE created_at >= {from} AND created_at < {to})"
    ));
    Ok(send(nodes, &Transaction::with_index_plans(vec![sql]), flag).await?.contains(&true))
}

/// Builds the statement that removes expired rows from the default partition. A cluster finds the rows by key,
/// because a `ctid` is valid only on its node.
fn remove_old_rows(layout: SharedLayout, before: Timestamp, most: u32) -> Sql {
    let mut sql = Sql::default();
    let (before, most) = (sql.bind(SqlValue::Time(before)), sql.bind(SqlValue::Int(i64::from(most))));
    let skip_locked = layout.skip_locked();
    let which = layout.address(&["webhook_id", "status", "created_at", "id"]).is_among(|columns| {
        format!(
            "SELECT {columns} FROM deliveries_default WHERE created_at < {before} ORDER BY created_at \
             LIMIT {most}{skip_locked}"
        )
    });
    sql.push(&format!(
        "WITH gone AS (DELETE FROM deliveries_default WHERE {which} RETURNING 1) SELECT count(*) FROM gone"
    ));
    sql
}

fn names(row: &mut dyn CellReader) -> Result<(String, String), Failure> {
    let mut text = || row.text().map(Option::unwrap_or_default).map_err(Failure::Other);
    Ok((text()?, text()?))
}

/// Returns the name of a day's partition.
pub(crate) fn name(day: Date) -> String {
    format!("{PREFIX}{}", day.to_string().replace('-', ""))
}

/// Returns the day of a partition; `None` if this module did not create it.
fn day_of(name: &str) -> Option<Date> {
    let digits = name.strip_prefix(PREFIX)?;
    let (year, rest) = digits.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    format!("{year}-{month}-{day}").parse().ok().filter(|number| self::name(*number) == name)
}

/// Returns the first instant of a day.
fn start(day: Date) -> Timestamp {
    Timestamp::from_millis(i64::from(day.epoch_days()) * 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_partition_is_recognized_by_its_day() {
        let day: Date = "2026-03-02".parse().unwrap();
        assert_eq!((name(day).as_str(), day_of(&name(day))), ("deliveries_20260302", Some(day)));
        for other in
            ["deliveries_default", "deliveries_20260230", "deliveries_202603", "deliveries_2026030a", "events"]
        {
            assert_eq!(day_of(other), None, "{other}");
        }
        assert_eq!(start(day).to_string(), "2026-03-02T00:00:00.000Z");
    }
}
