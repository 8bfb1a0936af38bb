//! The client libraries: requests in a row against bare HTTP of the same language, and the speed of
//! `events.follow` on a full feed.

mod rust;

use super::*;
use crate::api::Api;
use serde_json::Value;
use std::process::{Command, Stdio};

const MAX_COST: f64 = 1.1;
const MIN_EVENTS: f64 = 2_000.0;

/// Results for one library.
struct Figures {
    /// Microseconds of a GET with bare HTTP, and with the library.
    micros: [f64; 2],
    /// Time with the library as a multiple of the time with bare HTTP: the median over the rounds.
    ratio: f64,
    events: f64,
}

/// Measures all libraries, on the first store only. Programs in other languages measure their own library.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    if data.measured().next().is_some_and(|first| first.store != instance.store) {
        return Ok(vec![]);
    }
    let mut lines = lines("Rust", instance, &rust::figures(&instance.create_organization()?)?);
    for program in data.options.clients.chunks_exact(3) {
        let figures = printed(&instance.create_organization()?, &program[1], &program[2])?;
        lines.extend(self::lines(&program[0], instance, &figures));
    }
    Ok(lines)
}

/// Runs the program of a language, which reads the address of the service and a key from its environment.
fn printed(api: &Api, program: &str, script: &str) -> Result<Figures> {
    let mut command = Command::new(program);
    command.arg(script).env("CANDOR_URL", format!("http://{}", api.address)).env("CANDOR_API_KEY", &api.key);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{script} failed ({})", output.status).into());
    }
    let printed: Value = serde_json::from_slice(&output.stdout)?;
    let figure = |name: &str| printed[name].as_f64().ok_or_else(|| format!("{script} printed no {name}"));
    Ok(Figures {
        micros: [figure("bare_micros")?, figure("library_micros")?],
        ratio: figure("ratio")?,
        events: figure("events_per_second")?,
    })
}

fn lines(language: &str, instance: &Instance, figures: &Figures) -> Vec<Line> {
    let line = |what: &str, figures, value, limit| Line {
        store: None,
        ..Line::new(format!("{what}, {language} library"), instance.store, figures, value, limit)
    };
    let [bare, library] = figures.micros.map(|micros| format!("{micros:.0} µs each"));
    let events = [per_second(figures.events), String::new()];
    vec![
        line(
            "1,000 GETs in a row",
            [library, format!("bare HTTP with a time limit: {bare}")],
            (figures.ratio, "×"),
            Limit::AtMost(MAX_COST),
        ),
        line("`events.follow`", events, (figures.events, "/s"), Limit::AtLeast(MIN_EVENTS)),
    ]
}
