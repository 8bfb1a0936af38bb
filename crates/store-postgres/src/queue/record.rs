//! Records of the results of leased deliveries.
//!
//! A record locks the subscriptions whose health changes, and then the deliveries still leased by the worker.
//! Every worker locks in the same order. For these deliveries the record writes the log, and updates or deletes
//! their rows. Finally it adds the health deltas. Over all tenants this is one statement after the locks of the
//! subscriptions. For a single tenant on a cluster, each step is a statement that is forwarded unchanged to the
//! tenant's node.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::Id;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, QueueKey, RecordOutcome, WorkerId};
use candor_subscriptions::{Delivery, HealthDelta, Job, Streak};
use candor_tables::RowWriteError;
use candor_tables::flat::{CellReader, Column, SqlValue, Stored, Type};

use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::planner_settings::webhook;
use crate::sql::row::int;

/// Code of a result: the delivery is finished and deleted.
const GONE: i64 = 0;
/// Code of a result: the delivery keeps its attempt number and gets a new due time, or none if it is parked.
const STAYS: i64 = 1;
/// Code of a result: the delivery gets another attempt.
const AGAIN: i64 = 2;
/// Code of a result: the delivery keeps its attempt number and its due time.
const RELEASED: i64 = 3;

/// Results and health deltas in the order in which their rows are locked.
pub(super) struct Results {
    results: Vec<(Job, AttemptResult)>,
    /// At most one delta for each subscription.
    health: Vec<(QueueKey, HealthDelta)>,
}

/// The results and health deltas of one statement.
pub(super) struct ResultSlice<'r> {
    results: Vec<&'r (Job, AttemptResult)>,
    health: Vec<&'r (QueueKey, HealthDelta)>,
}

impl Results {
    /// Sorts the results, and merges the deltas of each subscription.
    pub(super) fn new(mut results: Vec<(Job, AttemptResult)>, health: Vec<(QueueKey, HealthDelta)>) -> Self {
        results
            .sort_by_key(|(job, _)| (job.tenant.to_bytes(), job.webhook_id.to_bytes(), job.event_id.to_bytes()));
        let mut deltas: BTreeMap<_, (QueueKey, HealthDelta)> = BTreeMap::new();
        for (queue, delta) in health {
            let entry = deltas.entry((queue.0.to_bytes(), queue.1.to_bytes()));
            entry.and_modify(|(_, before)| *before = before.and(delta)).or_insert((queue, delta));
        }
        Self { results, health: deltas.into_values().collect() }
    }

    /// Returns the results and deltas of one tenant, or of all tenants.
    pub(super) fn slice(&self, scope: Option<Tenant>) -> ResultSlice<'_> {
        let is_in = |tenant: Tenant| scope.is_none_or(|scope| scope == tenant);
        ResultSlice {
            results: self.results.iter().filter(|(job, _)| is_in(job.tenant)).collect(),
            health: self.health.iter().filter(|((tenant, _), _)| is_in(*tenant)).collect(),
        }
    }
}

/// Builds the statements of a record. The flag is `true` for a statement whose rows are part of the result.
pub(super) fn statements(
    worker: WorkerId,
    scope: Option<Tenant>,
    slice: &ResultSlice<'_>,
) -> Result<Vec<(Sql, bool)>, RowWriteError> {
    let mut record = RecordBuilder::new(worker, scope, slice);
    let (lock_webhooks, log) = (record.lock_webhooks(), record.insert_log_entries()?);
    let (held, changes, health) = (record.hold(), record.changes(), record.add_health());
    if scope.is_none() {
        let log = log.map(|log| format!("logged AS ({log}), ")).unwrap_or_default();
        let [gone, kept] = changes;
        let with = format!(
            "{held}, gone AS ({gone}), kept AS ({kept}), \
             held AS MATERIALIZED (SELECT place FROM gone UNION ALL SELECT place FROM kept), {log}{health}"
        );
        let select = "SELECT count(*), NULL::uuid, NULL::uuid, NULL::bigint, NULL::timestamptz, NULL::boolean \
                      FROM held UNION ALL SELECT 0::bigint, a.tenant_id, a.id, a.failures, a.failing_since, \
                      a.is_failing FROM added AS a";
        let all = record.sql.part(&format!("WITH {with} {select}"));
        return Ok(vec![(record.sql.part(&lock_webhooks), false), (all, true)]);
    }
    let mut texts = vec![];
    if !slice.health.is_empty() {
        texts.push((lock_webhooks, false));
    }
    if !slice.results.is_empty() {
        texts.push((held, false));
        texts.extend(log.map(|log| (log, false)));
        texts.extend(changes.map(|change| (change, true)));
    }
    if !slice.health.is_empty() {
        texts.push((health, true));
    }
    Ok(texts.into_iter().map(|(text, answers)| (record.sql.part(&text), answers)).collect())
}

/// Builder for the texts of a record. Their parameters are bound once, and each statement gets the parameters that
/// its text names.
struct RecordBuilder<'r> {
    sql: Sql,
    slice: &'r ResultSlice<'r>,
    /// Placeholder of the only tenant; `None` if the record concerns all tenants.
    tenant: Option<String>,
    worker: String,
    /// Arrays of deliveries, by column name.
    deliveries: Vec<(&'static str, String)>,
    /// Arrays of health deltas, by column name.
    deltas: Vec<(&'static str, String)>,
}

/// `RETURNING` clause with one result row for each recorded delivery, for a record of one tenant.
const HELD: &str = "RETURNING 1::bigint, NULL::uuid, NULL::uuid, NULL::bigint, NULL::timestamptz, NULL::boolean";

/// Columns that identify a delivery and its attempt within a tenant.
const ATTEMPT: [&str; 3] = ["webhook_id", "event_id", "attempt"];

impl<'r> RecordBuilder<'r> {
    fn new(worker: WorkerId, scope: Option<Tenant>, slice: &'r ResultSlice<'r>) -> Self {
        let mut sql = Sql::default();
        let (tenant, worker) = (scope.map(|tenant| sql.tenant(tenant)), sql.id(worker.0));
        let jobs = || slice.results.iter().map(|(job, _)| job);
        let next = || slice.results.iter().map(|(_, result)| next_state(result));
        let time = |at: Option<Timestamp>| at.map_or(SqlValue::Null(Type::Time), SqlValue::Time);
        let announced_id =
            |job: &Job| job.delivery_id.map_or(SqlValue::Null(Type::Id), |id| SqlValue::Id(id.to_bytes()));
        let deliveries = vec![
            ("tenant_id", sql.ids(jobs().map(|job| job.tenant.to_bytes()))),
            ("webhook_id", sql.ids(jobs().map(|job| job.webhook_id.to_bytes()))),
            ("event_id", sql.ids(jobs().map(|job| job.event_id.to_bytes()))),
            ("attempt", sql.many(Type::Int, jobs().map(|job| SqlValue::Int(i64::from(job.attempt))))),
            ("place", sql.many(Type::Int, (0..).zip(jobs()).map(|(place, _)| SqlValue::Int(place)))),
            ("next", sql.many(Type::Int, next().map(|(what, _)| SqlValue::Int(what)))),
            ("due_at", sql.many(Type::Time, next().map(|(_, at)| time(at)))),
            ("delivery_id", sql.many(Type::Id, jobs().map(announced_id))),
        ];
        let health = || slice.health.iter().map(|(_, delta)| delta);
        let shown_time = |delta: &HealthDelta| time(delta.shown.map(|(at, _)| at));
        let shown_word = |delta: &HealthDelta| {
            let word = delta.shown.map(|(_, status)| status.word().to_owned());
            word.map_or(SqlValue::Null(Type::Text), SqlValue::Text)
        };
        let failures = |delta: &HealthDelta| SqlValue::Int(delta.streak.failures.into());
        let deltas = vec![
            ("tenant_id", sql.ids(slice.health.iter().map(|((tenant, _), _)| tenant.to_bytes()))),
            ("id", sql.ids(slice.health.iter().map(|((_, webhook), _)| webhook.to_bytes()))),
            ("last_at", sql.many(Type::Time, health().map(shown_time))),
            ("last_status", sql.many(Type::Text, health().map(shown_word))),
            ("ends_streak", sql.many(Type::Flag, health().map(|delta| SqlValue::Flag(delta.ends_streak)))),
            ("ends_failing", sql.many(Type::Flag, health().map(|delta| SqlValue::Flag(delta.ends_failing)))),
            ("failures", sql.many(Type::Int, health().map(failures))),
            ("since", sql.many(Type::Time, health().map(|delta| time(delta.streak.since)))),
            ("is_failing", sql.many(Type::Flag, health().map(|delta| SqlValue::Flag(delta.streak.is_failing)))),
            ("fails_at", sql.many(Type::Time, health().map(|delta| time(delta.fails_at)))),
            ("fails_again_at", sql.many(Type::Time, health().map(|delta| time(delta.fails_again_at)))),
        ];
        Self { sql, slice, tenant, worker, deliveries, deltas }
    }

    /// SQL that locks the subscriptions, so that concurrent deltas of other workers are not lost.
    fn lock_webhooks(&self) -> String {
        if let Some(tenant) = &self.tenant {
            let ids = arrays(&self.deltas, &["id"]).join("");
            return format!(
                "SELECT 1 FROM webhooks WHERE tenant_id = {tenant} AND id = ANY({ids}) \
                 ORDER BY id FOR NO KEY UPDATE"
            );
        }
        let queues = unnest(&self.deltas, "p", &["tenant_id", "id"]);
        let webhook_row = webhook("1", "p.tenant_id", "p.id", " FOR NO KEY UPDATE");
        format!("SELECT count(*) FROM {queues} CROSS JOIN LATERAL {webhook_row} AS locked")
    }

    /// SQL that locks the deliveries still leased by the worker, in the order of their keys. Over all tenants this
    /// is the part `mine`. Only the primary key has this order, so the planner cannot choose an index that scans a
    /// whole backlog.
    fn hold(&self) -> String {
        let worker = &self.worker;
        if let Some(tenant) = &self.tenant {
            let these = unnest(&self.deliveries, "u", &["webhook_id", "event_id"]);
            return format!(
                "SELECT 1 FROM delivery_jobs AS j WHERE j.tenant_id = {tenant} AND j.worker = {worker} \
                 AND (j.webhook_id, j.event_id) IN (SELECT u.webhook_id, u.event_id FROM {these}) \
                 ORDER BY j.webhook_id, j.event_id FOR UPDATE"
            );
        }
        let columns: Vec<_> = self.deliveries.iter().map(|(name, _)| *name).collect();
        let these = unnest(&self.deliveries, "u", &columns);
        format!(
            "mine AS MATERIALIZED (SELECT u.place, u.next, u.due_at, u.delivery_id, j.tuple FROM {these} \
             CROSS JOIN LATERAL (SELECT ctid AS tuple FROM delivery_jobs AS j WHERE j.tenant_id = u.tenant_id \
             AND j.webhook_id = u.webhook_id AND j.event_id >= u.event_id AND j.event_id <= u.event_id \
             AND j.worker = {worker} AND j.attempt = u.attempt ORDER BY j.event_id LIMIT 1 FOR UPDATE) AS j)"
        )
    }

    /// Condition that `j` is the delivery of result `m` of the only tenant, and that the worker still has its
    /// lease.
    fn is_held(&self, tenant: &str, m: &str) -> String {
        let same: Vec<_> = ATTEMPT.iter().map(|name| format!("j.{name} = {m}.{name}")).collect();
        format!("j.tenant_id = {tenant} AND {} AND j.worker = {}", same.join(" AND "), self.worker)
    }

    /// SQL that deletes the finished deliveries and updates the remaining ones.
    fn changes(&self) -> [String; 2] {
        let columns = [&ATTEMPT[..], &["next", "due_at", "delivery_id"]].concat();
        let (gone, kept, is_same, returning) = match &self.tenant {
            None => (
                "mine AS m".to_owned(),
                "mine AS m".to_owned(),
                "j.ctid = m.tuple".to_owned(),
                "RETURNING m.place",
            ),
            Some(tenant) => (
                unnest(&self.deliveries, "m", &[&ATTEMPT[..], &["next"]].concat()),
                unnest(&self.deliveries, "m", &columns),
                self.is_held(tenant, "m"),
                HELD,
            ),
        };
        // The promised id differs from the id at the claim: a redelivery was requested during the attempt.
        let is_announced_again = format!("m.next = {AGAIN} AND j.delivery_id IS DISTINCT FROM m.delivery_id");
        let set = format!(
            "due_at = CASE WHEN m.next = {RELEASED} THEN j.due_at \
             WHEN {is_announced_again} THEN LEAST(j.due_at, m.due_at) ELSE m.due_at END, worker = NULL, leased_until = NULL, \
             attempt = CASE WHEN m.next = {AGAIN} THEN j.attempt + 1 ELSE j.attempt END, \
             delivery_id = CASE WHEN m.next = {AGAIN} AND NOT ({is_announced_again}) THEN NULL ELSE j.delivery_id END"
        );
        [
            format!("DELETE FROM delivery_jobs AS j USING {gone} WHERE {is_same} AND m.next = {GONE} {returning}"),
            format!(
                "UPDATE delivery_jobs AS j SET {set} FROM {kept} WHERE {is_same} AND m.next <> {GONE} {returning}"
            ),
        ]
    }

    /// SQL that writes the log entries of the deliveries still leased by the worker. For a single tenant it runs
    /// before the deliveries change, and is `None` without entries.
    fn insert_log_entries(&mut self) -> Result<Option<String>, RowWriteError> {
        let entries: Vec<_> = (0..)
            .zip(&self.slice.results)
            .filter_map(|(place, (job, result))| match result {
                AttemptResult::Settled(settled) => Some(settled.entry.cells().map(|cells| (place, job, cells))),
                AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => {
                    None
                }
            })
            .collect::<Result<_, _>>()?;
        if self.tenant.is_some() && entries.is_empty() {
            return Ok(None);
        }
        let (sql, jobs) = (&mut self.sql, || entries.iter().map(|(_, job, _)| *job));
        let keys = match self.tenant {
            None => vec![
                ("place", sql.many(Type::Int, entries.iter().map(|(place, ..)| SqlValue::Int(*place)))),
                ("tenant_id", sql.ids(jobs().map(|job| job.tenant.to_bytes()))),
            ],
            Some(_) => vec![
                ("webhook_id", sql.ids(jobs().map(|job| job.webhook_id.to_bytes()))),
                ("event_id", sql.ids(jobs().map(|job| job.event_id.to_bytes()))),
                ("attempt", sql.many(Type::Int, jobs().map(|job| SqlValue::Int(i64::from(job.attempt))))),
            ],
        };
        let columns: Vec<&Column> = Delivery::TABLE.columns.iter().chain(Delivery::TABLE.derived).collect();
        let arrays: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let cells = entries
                    .iter()
                    .map(|(.., cells)| cells.get(at).cloned().unwrap_or(SqlValue::Null(column.kind)));
                sql.many(column.kind, cells)
            })
            .collect();
        // The prefix separates the entry's columns from key columns of the same names.
        let list = |prefix: &str| {
            let names = columns.iter().map(|column| format!("{prefix}{}", column.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let key_names: Vec<_> = keys.iter().map(|(name, _)| *name).collect();
        let job_keys: Vec<_> = keys.iter().map(|(_, array)| array.clone()).chain(arrays).collect();
        let these = format!("UNNEST({}) AS u ({}, {})", job_keys.join(", "), key_names.join(", "), list("new_"));
        let (from, is_held, tenant) = match &self.tenant {
            None => (these, "(u.place IN (SELECT h.place FROM held AS h)) IS TRUE".to_owned(), "u.tenant_id"),
            Some(tenant) => (format!("delivery_jobs AS j, {these}"), self.is_held(tenant, "u"), "j.tenant_id"),
        };
        let (names, values) = (list(""), list("u.new_"));
        Ok(Some(format!(
            "INSERT INTO deliveries (tenant_id, {names}) SELECT {tenant}, {values} FROM {from} WHERE {is_held}"
        )))
    }

    /// SQL that adds the health deltas to their subscriptions, with the semantics of [`HealthDelta::apply_to`].
    fn add_health(&self) -> String {
        let set = health_sets();
        let columns = [
            "id",
            "last_at",
            "last_status",
            "ends_streak",
            "ends_failing",
            "failures",
            "since",
            "is_failing",
            "fails_at",
            "fails_again_at",
        ];
        if let Some(tenant) = &self.tenant {
            return format!(
                "UPDATE webhooks AS w SET {set} FROM {} WHERE w.tenant_id = {tenant} AND w.id = p.id \
                 RETURNING 0::bigint, w.tenant_id, w.id, w.failures, w.failing_since, w.is_failing",
                unnest(&self.deltas, "p", &columns),
            );
        }
        let these = unnest(&self.deltas, "p", &[&["tenant_id"], &columns[..]].concat());
        let webhook_tuple = webhook("ctid AS tuple", "p.tenant_id", "p.id", "");
        format!(
            "pulsed AS MATERIALIZED (SELECT p.*, w.tuple FROM {these} CROSS JOIN LATERAL {webhook_tuple} AS w), \
             added AS (UPDATE webhooks AS w SET {set} FROM pulsed AS p WHERE w.ctid = p.tuple \
             RETURNING w.tenant_id, w.id, w.failures, w.failing_since, w.is_failing)"
        )
    }
}

/// `FROM` item under an alias, with some of the bound arrays as columns.
fn unnest(bound: &[(&'static str, String)], alias: &str, columns: &[&str]) -> String {
    format!("UNNEST({}) AS {alias} ({})", arrays(bound, columns).join(", "), columns.join(", "))
}

/// Placeholders of the arrays for these columns.
fn arrays<'b>(bound: &'b [(&'static str, String)], columns: &[&str]) -> Vec<&'b str> {
    let array = |name: &&str| bound.iter().find(|(column, _)| column == name).map(|(_, array)| array.as_str());
    columns.iter().filter_map(array).collect()
}

/// Returns the code for the queued delivery, and its next due time.
const fn next_state(result: &AttemptResult) -> (i64, Option<Timestamp>) {
    match result {
        AttemptResult::Settled(settled) => match settled.retry_at {
            Some(at) => (AGAIN, Some(at)),
            None => (GONE, None),
        },
        AttemptResult::Back(at) => (STAYS, Some(*at)),
        AttemptResult::Released => (RELEASED, None),
        AttemptResult::Parked => (STAYS, None),
        AttemptResult::Gone => (GONE, None),
    }
}

/// Assignments that add deltas `p` to subscriptions `w`. `LEAST` and `GREATEST` ignore nulls.
fn health_sets() -> String {
    format!(
        "failures = CASE WHEN p.ends_streak THEN p.failures \
         ELSE LEAST(COALESCE(w.failures, 0) + p.failures, {MOST}) END, \
         failing_since = CASE WHEN p.ends_streak THEN p.since ELSE LEAST(w.failing_since, p.since) END, \
         last_delivery_status = CASE WHEN p.last_at IS NULL OR w.last_delivery_at > p.last_at \
         THEN w.last_delivery_status ELSE p.last_status END, \
         last_delivery_at = GREATEST(w.last_delivery_at, p.last_at), \
         is_failing = CASE WHEN p.ends_failing THEN p.is_failing \
         ELSE COALESCE(w.is_failing, false) OR p.is_failing END, failing_due = COALESCE(w.failing_due, \
         CASE WHEN w.is_failing THEN NULL ELSE p.fails_at END, p.fails_again_at)",
        MOST = u32::MAX,
    )
}

/// A row of the result: a number of recorded results, and the streak of a subscription, if any. The sum over all
/// rows is the number of recorded results.
pub(super) type Row = (i64, Option<(QueueKey, Streak)>);

/// Reads a row of the result of a record.
pub(super) fn read_row(row: &mut dyn CellReader) -> Result<Row, Failure> {
    let recorded_count = int(row)?;
    let tenant = row.id().map_err(Failure::Other)?.map(Tenant::from_bytes);
    let queue = tenant.zip(row.id().map_err(Failure::Other)?.map(Id::from_bytes));
    let failures = u32::try_from(int(row)?).unwrap_or(u32::MAX);
    let failing_since = row.time().map_err(Failure::Other)?;
    let is_failing = row.flag().map_err(Failure::Other)?.unwrap_or_default();
    Ok((recorded_count, queue.map(|queue| (queue, Streak { failures, since: failing_since, is_failing }))))
}

/// Merges the results of a record's transactions. Results that were not recorded count as lost.
pub(super) fn merge(parts: Vec<Vec<Row>>, results: usize) -> RecordOutcome {
    let (mut held, mut streaks) = (0, vec![]);
    for (count, streak) in parts.into_iter().flatten() {
        held += count.unsigned_abs();
        streaks.extend(streak);
    }
    let results = u64::try_from(results).unwrap_or(u64::MAX);
    RecordOutcome { streaks, lost: results.saturating_sub(held) }
}
