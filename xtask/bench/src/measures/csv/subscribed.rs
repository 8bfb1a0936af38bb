//! How long another tenant's writes wait while a file is uploaded whose every row is told to as many receivers as a data
//! set may have.

use serde_json::json;

use super::people::{Uploads, file};
use super::{MOST_WAIT_MILLIS, USUAL};
use crate::Outcome;
use crate::burst::{Sample, beside};
use crate::http::post;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::report::{Limit, Line};
use crate::rounds::median;
use crate::stage::{Side, Stage};
use crate::traffic;

/// As many as a data set may have.
const SUBSCRIPTIONS: usize = 100;
/// Rows of a file; each makes a delivery for every subscription.
const PEOPLE: u32 = 1_000;

/// Uploads by a tenant of their own beside writes of the tenant that has the data.
pub(in crate::measures) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let receiver = Receiver::start()?;
        let key = side.another_account()?.key;
        subscribe(side, &key, &receiver)?;
        let rounds = (0..=options.rounds()).map(|number| round(stage, side, &key, number));
        let rounds = rounds.collect::<Outcome<Vec<_>>>()?;
        lines.push(result(side, rounds.get(1..).unwrap_or_default()));
    }
    Ok(lines)
}

fn subscribe(side: &Side, key: &str, receiver: &Receiver) -> Outcome {
    let body = json!({"url": receiver.url(), "event_types": ["*"]}).to_string();
    for _ in 0..SUBSCRIPTIONS {
        post(side.service.address, "/v1/webhooks", key, "application/json", &body, 201)?;
    }
    Ok(())
}

/// The seconds of an upload, and what the other tenant met meanwhile.
fn round(stage: &Stage, side: &Side, key: &str, number: usize) -> Outcome<(f64, Sample)> {
    let uploads = Uploads::at(side.service.address, key)?;
    let others = traffic::rename(&side.key, stage.size);
    let file = file(&format!("s{number}-"), "Ada", PEOPLE);
    beside(side.service.address, &others, 3, || uploads.send(&file, "created", PEOPLE))
}

fn result(side: &Side, rounds: &[(f64, Sample)]) -> Line {
    let typical = |property: &dyn Fn(&(f64, Sample)) -> f64| median(rounds.iter().map(property));
    let waits = rounds.iter().map(|(_, it)| it.micros.len()).sum::<usize>();
    let usual = typical(&|(_, it)| it.within(USUAL));
    Line {
        what: format!(
            "Longest wait of another tenant's writer during a CSV of {PEOPLE} with {SUBSCRIPTIONS} subscriptions"
        ),
        store: Some(side.store),
        measured: format!("99% of {waits} within {usual:.0} ms, upload in {:.2} s", typical(&|(seconds, _)| *seconds)),
        against: String::new(),
        value: typical(&|(_, it)| it.within(1.0)),
        unit: "ms",
        limit: Limit::AtMost(MOST_WAIT_MILLIS),
    }
}
