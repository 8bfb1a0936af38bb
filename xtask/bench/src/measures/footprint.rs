//! Memory, time to be ready, size of the binary.

use crate::Outcome;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::stage::Stage;
use std::fs;

const MEGABYTE: f64 = 1_000_000.0;
const MOST_IDLE_MEGABYTES: f64 = 40.0;
const MOST_READY_SECONDS: f64 = 0.5;
const MOST_BINARY_MEGABYTES: f64 = 40.0;

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let line = |what: &str, measured: &str, value, unit, most| Line {
            what: what.to_owned(),
            store: Some(side.store),
            measured: measured.to_owned(),
            against: String::new(),
            value,
            unit,
            limit: Limit::AtMost(most),
        };
        let megabytes = side.idle_bytes as f64 / MEGABYTE;
        lines.push(line("Idle memory", "resident after some requests", megabytes, "MB", MOST_IDLE_MEGABYTES));
        let starts = "process start to `/readyz`, filled database";
        lines.push(line("Ready", starts, side.ready_seconds, "s", MOST_READY_SECONDS));
    }
    let bytes = fs::metadata(&options.binary)?.len();
    lines.push(Line {
        what: "Binary".to_owned(),
        store: None,
        measured: "release build".to_owned(),
        against: String::new(),
        value: bytes as f64 / MEGABYTE,
        unit: "MB",
        limit: Limit::AtMost(MOST_BINARY_MEGABYTES),
    });
    Ok(lines)
}
