//! Memory, time until the service is ready, and size of the binary.

use super::*;
use std::fs;

const MAX_IDLE_MEGABYTES: f64 = 40.0;
const MAX_READY_SECONDS: f64 = 0.5;
const MAX_BINARY_MEGABYTES: f64 = 40.0;

pub(super) fn service(_: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let line = |what, measured: &str, value, at_most| {
        Line::new(what, instance.store, [measured.to_owned(), String::new()], value, Limit::AtMost(at_most))
    };
    let megabytes = instance.idle_bytes as f64 / MEGABYTE;
    let starts = "process start to `/readyz`, filled database";
    Ok(vec![
        line("Idle memory", "resident after some requests", (megabytes, "MB"), MAX_IDLE_MEGABYTES),
        line("Ready", starts, (instance.ready_seconds, "s"), MAX_READY_SECONDS),
    ])
}

/// Measures the size of the binary. Runs for one store only, since the binary contains both.
pub(super) fn binary(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    if data.measured().next().is_some_and(|first| first.store != instance.store) {
        return Ok(vec![]);
    }
    let megabytes = fs::metadata(&data.options.binary)?.len() as f64 / MEGABYTE;
    let figures = ["release build".to_owned(), String::new()];
    let limit = Limit::AtMost(MAX_BINARY_MEGABYTES);
    Ok(vec![Line { store: None, ..Line::new("Binary", instance.store, figures, (megabytes, "MB"), limit) }])
}
