//! Exports: their speed against `COPY` of the same rows, their memory, and the wait of another tenant beside two
//! exports.

use super::tenants::tail_beside;
use super::*;
use crate::api::TIMEOUT;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Lower bound for the speed of an export as a multiple of `COPY`.
const MIN_SPEED: f64 = 0.4;
/// Upper bound for the memory of an export in megabytes, without the page caches of the store.
const MAX_MEGABYTES: f64 = 24.0;
/// Upper bound for the p99 of another tenant, as a multiple of its p99 on a machine that another program keeps busy.
const MAX_TAIL: f64 = 1.5;
/// Number of concurrent exports, the most that an organization can have.
const EXPORTS: usize = 2;
/// Maximum number of exports with one key in a minute.
const QUOTA: usize = 6;
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 80_000;
const PATH: &str = "/v1/exports?resources=observations";

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let mut lines = measure_alone(data, instance)?;
    lines.push(beside_exports(data, instance)?);
    Ok(lines)
}

/// Measures the seconds and the memory of exports without other requests.
fn measure_alone(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    // The first export fills the page caches of the store, as any read would.
    export_all(&instance.another_client()?, data)?;
    let idle = instance.service.own_bytes()?;
    let (mut rounds, mut peak) = (vec![], 0);
    for _ in 0..data.options.rounds() {
        let client = instance.another_client()?;
        let (exported, bytes) = instance.service.peak_bytes_during(|| seconds(|| export_all(&client, data)))?;
        rounds.push((exported, bare_seconds(instance)?));
        peak = bytes.max(peak);
    }
    let export_time = median_of(&rounds, |(exported, _)| *exported);
    let rate = format!("{export_time:.1} s, {}", per_second(f64::from(data.size.observations) / export_time));
    let bare = median_of(&rounds, |(_, bare)| *bare);
    let speed = Line::new(
        format!("Export of {} observations", group_thousands(data.size.observations.into())),
        instance.store,
        [rate, format!("`COPY` of the same rows {bare:.1} s")],
        (median_of(&rounds, |(exported, bare)| bare / exported), "×"),
        Limit::AtLeast(MIN_SPEED),
    );
    let memory = Line::new(
        "Memory of an export above that of the idle service with filled caches",
        instance.store,
        [format!("peak of {} exports", rounds.len()), String::new()],
        (peak.saturating_sub(idle) as f64 / MEGABYTE, "MB"),
        Limit::AtMost(MAX_MEGABYTES),
    );
    // SQLite has no `COPY` to compare with.
    Ok(instance.store.pick(vec![speed, memory.clone()], vec![memory]))
}

/// Exports all observations.
fn export_all(client: &Api, data: &DataSet<'_>) -> Result {
    let last: Value = serde_json::from_str(&client.read_lines(PATH, TIMEOUT)?)?;
    let rows = last["counts"]["observations"].as_u64();
    if rows.is_some_and(|rows| rows >= data.size.observations.into()) {
        return Ok(());
    }
    Err(format!("the export ended with {last}").into())
}

/// Returns the seconds in which PostgreSQL writes the same rows as text into a pipe.
fn bare_seconds(instance: &Instance) -> Result<f64> {
    let tenant = instance.store.bytes(instance.tenant);
    let rows = format!("SELECT * FROM observations WHERE tenant_id = {tenant} ORDER BY id");
    let copy = format!("COPY ({rows}) TO PROGRAM 'cat >/dev/null'");
    let database = instance.database()?;
    seconds(|| database.run_by_store(&copy, ""))
}

/// Measures the reads of another tenant beside two exports, against those on a machine that is as busy.
fn beside_exports(data: &DataSet<'_>, instance: &Instance) -> Result<Line> {
    // Keys for each turn, since the quota of a key is `QUOTA` exports a minute.
    let clients = (0..EXPORTS * (data.options.rounds() + 1)).map(|_| instance.another_client());
    let (clients, next) = (clients.collect::<Result<Vec<_>>>()?, AtomicUsize::new(0));
    let exports = |time: Duration, _| {
        let first = next.fetch_add(EXPORTS, Ordering::Relaxed);
        thread::scope(|scope| {
            let all: Vec<_> = clients.iter().cycle().skip(first).take(EXPORTS).collect();
            let all: Vec<_> = all.into_iter().map(|client| scope.spawn(|| export_for(client, time))).collect();
            all.into_iter().try_for_each(|exports| exports.join().map_err(|_| "an export panicked")?)
        })
    };
    let what = "p99 of another tenant's reads beside two exports";
    tail_beside(data, instance, (what, MAX_TAIL), SEED, exports)
}

/// Exports again and again for a time, at most as often as the quota allows.
fn export_for(client: &Api, time: Duration) -> Result {
    let start = Instant::now();
    for _ in 0..QUOTA {
        let remaining_time = time.saturating_sub(start.elapsed());
        if remaining_time.is_zero() {
            break;
        }
        client.read_lines(PATH, remaining_time)?;
    }
    Ok(())
}
