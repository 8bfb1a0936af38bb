//! Exports: their speed against `COPY` of the same rows, their memory, and the wait of another tenant beside two of
//! them.

use super::copying::seconds;
use super::slow_lists::watched_requests;
use super::tenants::{contender, spin};
use super::*;
use crate::api::{Api, TIMEOUT};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Lower bound for the speed of an export as a multiple of `COPY`.
const MIN_SPEED: f64 = 0.4;
/// Upper bound for the memory of an export in megabytes, without the page caches of the store.
const MAX_MEGABYTES: f64 = 24.0;
/// Upper bound for the p99 of another tenant, as a multiple of its p99 on a machine that another program keeps busy.
const MAX_TAIL: f64 = 1.5;
/// Number of concurrent exports, the most that an organization can have.
const EXPORTS: usize = 2;
/// Exports of a key in a minute.
const QUOTA: usize = 6;
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 90_000;
const PATH: &str = "/v1/exports?resources=observations";

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (speed, memory) = alone(data, instance)?;
    Ok(vec![speed, memory, beside_exports(data, instance)?])
}

/// Measures the seconds and the memory of exports without other requests.
fn alone(data: &DataSet<'_>, instance: &Instance) -> Result<(Line, Line)> {
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
    let rows = grouped(data.size.observations.into());
    let line = |what: String, figures, value, limit| Line::new(what, instance.store, figures, value, limit);
    let exported = typical(&rounds, |(exported, _)| *exported);
    let rate =
        format!("{exported:.1} s, {} rows/s", grouped((f64::from(data.size.observations) / exported).round()));
    let (bare, value, limit) = match typical(&rounds, |(_, bare)| bare.unwrap_or(f64::NAN)) {
        seconds if seconds.is_nan() => (String::new(), (exported, "s"), Limit::None),
        seconds => {
            let ratio = typical(&rounds, |(exported, bare)| bare.unwrap_or(f64::NAN) / exported);
            (format!("`COPY` of the same rows {seconds:.1} s"), (ratio, "×"), Limit::AtLeast(MIN_SPEED))
        }
    };
    let megabytes = peak.saturating_sub(idle) as f64 / MEGABYTE;
    Ok((
        line(format!("Export of {rows} observations"), [rate, bare], value, limit),
        line(
            "Memory of an export above that of the idle service with filled caches".to_owned(),
            [format!("peak of {} exports", rounds.len()), String::new()],
            (megabytes, "MB"),
            Limit::AtMost(MAX_MEGABYTES),
        ),
    ))
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
fn bare_seconds(instance: &Instance) -> Result<Option<f64>> {
    if instance.store != Store::Postgres {
        return Ok(None);
    }
    let tenant = instance.store.bytes(instance.tenant);
    let rows = format!("SELECT * FROM observations WHERE tenant_id = {tenant} ORDER BY id");
    let database = instance.database()?;
    seconds(|| database.run(&format!("COPY ({rows}) TO PROGRAM 'cat >/dev/null'"))).map(Some)
}

/// Measures the reads of another tenant beside two exports, against those on a machine that is as busy.
fn beside_exports(data: &DataSet<'_>, instance: &Instance) -> Result<Line> {
    let [(_, one), (_, list), _] = watched_requests(instance)?;
    let reads = one.mixed_with(&list, 2);
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
    let contenders = [
        contender(instance, &reads, SEED, exports),
        contender(instance, &reads, SEED + 1, |time, _| spin(time)),
        contender(instance, &reads, SEED + 2, |time, _| wait(time)),
    ];
    let comparison = data.compare(instance, &contenders)?.against("busy machine");
    let idle = typical(&comparison.samples[2], |sample| sample.within(0.99));
    let line = comparison.tail(format!("p99 of another tenant's reads beside {EXPORTS} exports"), MAX_TAIL);
    Ok(Line { against: format!("{}; idle p99 {idle:.2} ms", line.against), ..line })
}

/// Exports again and again for a time, at most as often as the quota allows.
fn export_for(client: &Api, time: Duration) -> Result {
    let started = Instant::now();
    for _ in 0..QUOTA {
        let left = time.saturating_sub(started.elapsed());
        if left.is_zero() {
            break;
        }
        client.read_lines(PATH, left)?;
    }
    Ok(())
}
