//! Keeping the log: a partition for each day that comes, and none for days that are over for long enough.

use std::sync::atomic::Ordering;

use candor_domain::time::{Date, Timestamp};
use candor_tables::flat::{Cell, Fetch};
use diesel_async::SimpleAsyncConnection;

use crate::connection::pool::Held;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::nodes::Nodes;
use crate::nodes::transaction::{Transaction, send};
use crate::sql::Sql;
use crate::sql::row::{flag, int};
use crate::store::Warned;

/// Partitions are there for today and so many days more, so that a day without anybody to make them does no harm.
const DAYS_AHEAD: usize = 3;

/// What every partition's name begins with; its day follows.
const PREFIX: &str = "deliveries_";

/// Who writes to the log waits behind whoever waits for a lock on it, so nobody waits for long; what was not done now
/// is done the next time. The default partition is read to see that it holds nothing of the new one's day.
const LIMITS: [&str; 2] = ["SET LOCAL lock_timeout = '100ms'", "SET LOCAL statement_timeout = '2s'"];

/// Where the log is, and its partitions.
const PARTITIONS: &str = "SELECT quote_ident(n.nspname)::text, c.relname::text FROM pg_class AS t \
    JOIN pg_namespace AS n ON n.oid = t.relnamespace JOIN pg_inherits AS i ON i.inhparent = t.oid \
    JOIN pg_class AS c ON c.oid = i.inhrelid WHERE t.oid = 'deliveries'::regclass";

/// Makes the partitions of the days to come, drops those from before `before`, and removes at most `most` rows that
/// old from the default partition; says how many those were.
pub(super) async fn keep(
    (nodes, layout): (&Nodes, SharedLayout),
    warned: &Warned,
    (now, before): (Timestamp, Timestamp),
    most: u32,
) -> Result<u64, Failure> {
    match partition((nodes, layout), now, before).await {
        Err(failure @ Failure::Forbidden(_)) => {
            if !warned.0.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    reason = failure.text(),
                    "the log of deliveries is kept in one table, because this role may make none: give it the right to, or removing what is old takes more and more time"
                );
            }
        }
        other => other?,
    }
    let gone = send(nodes, &Transaction::steered(vec![old_rows(layout, before, most)]), int).await?;
    Ok(gone.first().copied().unwrap_or_default().unsigned_abs())
}

async fn partition((nodes, layout): (&Nodes, SharedLayout), now: Timestamp, before: Timestamp) -> Result<(), Failure> {
    let found = send(nodes, &Transaction::alone(Sql::plain(PARTITIONS)), names).await?;
    let Some((schema, _)) = found.first().cloned() else { return Ok(()) };
    let days: Vec<Date> = found.iter().filter_map(|(_, name)| day_of(name)).collect();
    for day in std::iter::successors(Some(now.date()), |it| Some(it.next())).take(1 + DAYS_AHEAD) {
        if !days.contains(&day) && is_free(nodes, day).await? {
            go_on(change((nodes, layout), &creation(&schema, day)).await)?;
        }
    }
    for day in days.into_iter().filter(|it| start(it.next()) <= before) {
        go_on(change((nodes, layout), &[format!("DROP TABLE {schema}.{}", name(day))]).await)?;
    }
    Ok(())
}

/// A partition that was not changed is changed the next time, and meanwhile the log does without.
fn go_on(changed: Result<(), Failure>) -> Result<(), Failure> {
    let Err(failure) = changed else { return Ok(()) };
    match failure {
        Failure::Lost(_) | Failure::Unconnected(_) | Failure::Forbidden(_) => return Err(failure),
        Failure::Busy(_) | Failure::TimedOut(_) | Failure::Collided(_) | Failure::Unique { .. } => {
            tracing::debug!(reason = failure.text(), "a partition of the log was in use");
        }
        // Another instance has just done it, or the default partition has got the first entries of a day.
        Failure::Redefined(_) => tracing::debug!(reason = failure.text(), "a partition of the log is settled"),
        Failure::Missing | Failure::Check(_) | Failure::Corrupt(_) | Failure::Other(_) => {
            tracing::warn!(reason = failure.text(), "a partition of the log could not be changed");
        }
    }
    Ok(())
}

/// Attaching a table locks the log less than making it a partition at once does: its writers go on.
fn creation(schema: &str, day: Date) -> [String; 2] {
    let (name, next) = (name(day), day.next());
    let attach = format!("ALTER TABLE {schema}.deliveries ATTACH PARTITION {schema}.{name}");
    [
        format!("CREATE TABLE {schema}.{name} (LIKE {schema}.deliveries)"),
        format!("{attach} FOR VALUES FROM ('{day} 00:00:00+00') TO ('{next} 00:00:00+00')"),
    ]
}

/// Runs statements in a transaction that waits for nobody. Each is a message of its own: a limit holds from the next one
/// on, and a cluster hands what changes a table on as it came.
async fn change((nodes, layout): (&Nodes, SharedLayout), statements: &[String]) -> Result<(), Failure> {
    let held = Held::new(nodes.connection(None).await?);
    let connection = held.get()?;
    let run =
        async |text: &str| SimpleAsyncConnection::batch_execute(&mut &*connection, text).await.map_err(Failure::from);
    let changed = async {
        run("BEGIN").await?;
        for limit in layout.partition_settings().iter().copied().chain(LIMITS) {
            run(limit).await?;
        }
        for statement in statements {
            run(statement).await?;
        }
        run("COMMIT").await
    };
    let changed = changed.await;
    if changed.is_err() {
        run("ROLLBACK").await?;
    }
    held.give_back();
    changed
}

/// Whether the default partition has nothing of this day: else it serves that day, and a new partition would be refused.
async fn is_free(nodes: &Nodes, day: Date) -> Result<bool, Failure> {
    let mut sql = Sql::default();
    let (from, to) = (sql.bind(Cell::Time(start(day))), sql.bind(Cell::Time(start(day.next()))));
    sql.push(&format!(
        "SELECT NOT EXISTS (SELECT 1 FROM deliveries_default WHERE created_at >= {from} AND created_at < {to})"
    ));
    Ok(send(nodes, &Transaction::steered(vec![sql]), flag).await?.contains(&true))
}

/// Where tenants are spread over nodes, they are found by their keys, for a place is known to its node alone.
fn old_rows(layout: SharedLayout, before: Timestamp, most: u32) -> Sql {
    let mut sql = Sql::default();
    let (before, most) = (sql.bind(Cell::Time(before)), sql.bind(Cell::Int(i64::from(most))));
    let skip_locked = layout.skip_locked();
    let which = layout.address(&["webhook_id", "status", "created_at", "id"]).is_among(|columns| {
        format!(
            "SELECT {columns} FROM deliveries_default WHERE created_at < {before} ORDER BY created_at LIMIT {most}{skip_locked}"
        )
    });
    sql.push(&format!(
        "WITH gone AS (DELETE FROM deliveries_default WHERE {which} RETURNING 1) SELECT count(*) FROM gone"
    ));
    sql
}

fn names(row: &mut dyn Fetch) -> Result<(String, String), Failure> {
    let mut text = || row.text().map(Option::unwrap_or_default).map_err(Failure::Other);
    Ok((text()?, text()?))
}

/// What the partition of a day is called.
pub(crate) fn name(day: Date) -> String {
    format!("{PREFIX}{}", day.to_string().replace('-', ""))
}

/// The day of a partition; none of one that was not made here.
fn day_of(name: &str) -> Option<Date> {
    let digits = name.strip_prefix(PREFIX)?;
    let (year, rest) = digits.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    format!("{year}-{month}-{day}").parse().ok().filter(|it| self::name(*it) == name)
}

/// The instant when a day begins.
fn start(day: Date) -> Timestamp {
    Timestamp::from_millis(i64::from(day.epoch_days()) * 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_known_by_its_day_and_others_are_left_alone() {
        let day: Date = "2026-03-02".parse().unwrap();
        assert_eq!((name(day).as_str(), day_of(&name(day))), ("deliveries_20260302", Some(day)));
        for other in ["deliveries_default", "deliveries_20260230", "deliveries_202603", "deliveries_2026030a", "events"]
        {
            assert_eq!(day_of(other), None, "{other}");
        }
        assert_eq!(start(day).to_string(), "2026-03-02T00:00:00.000Z");
    }
}
