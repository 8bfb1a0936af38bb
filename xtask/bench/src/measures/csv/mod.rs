//! Files of ten thousand people: the cost of new, unchanged and changed people, memory, the wait of other clients,
//! and the cost of the index of words.

mod bare;
mod file;

use super::*;
use crate::data::words::wait_until_indexed;
use bare::Bare;
pub(super) use file::{PEOPLE, Uploads, file};
use serde_json::json;

const MAX_AGAINST_BARE_ROWS: f64 = 8.0;
const MAX_UNCHANGED: f64 = 0.4;
const MAX_MEGABYTES: f64 = 100.0;
const MAX_WAIT_MILLIS: f64 = 100.0;
const MAX_AGAINST_UNINDEXED: f64 = 1.3;

/// Seconds of the uploads of a round, and the waits of another writer during some of them.
#[derive(Default)]
struct Round {
    created: f64,
    unchanged: f64,
    updated: f64,
    bare: f64,
    peak_megabytes: f64,
    waits: Vec<Sample>,
}

impl Round {
    fn longest_wait(&self, part: f64) -> f64 {
        self.waits.iter().map(|sample| sample.within(part)).fold(f64::NAN, f64::max)
    }
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (bare, idle) = (Bare::new(instance)?, instance.service.own_bytes()?);
    let rounds = (0..=data.options.rounds()).map(|number| round(data, instance, &bare, idle, number));
    let mut lines = results(instance, &rounds.collect::<Result<Vec<_>>>()?);
    lines.push(against_unindexed(data, instance)?);
    Ok(lines)
}

fn round(data: &DataSet<'_>, instance: &Instance, bare: &Bare<'_>, idle: u64, number: usize) -> Result<Round> {
    let name = format!("n{number}-");
    let (uploads, address) = (Uploads::new(&instance.api)?, instance.service.address);
    let renames = Traffic::renames(&instance.api.key, data.size);
    let (round, peak) = instance.service.peak_bytes_during(|| {
        let created = uploads.send(&file(&name, "Ada", PEOPLE), "created", PEOPLE)?;
        let unchanged = uploads.send(&file(&name, "Ada", PEOPLE), "skipped", PEOPLE)?;
        let updates = file(&name, "Eva", PEOPLE);
        let (updated, one) = beside(address, &renames, 1, || uploads.send(&updates, "updated", PEOPLE))?;
        let others = file(&format!("o{number}-"), "Ada", PEOPLE);
        let (_, other) = beside(address, &renames, 2, || uploads.send(&others, "created", PEOPLE))?;
        Ok(Round { created, unchanged, updated, waits: vec![one, other], ..Round::default() })
    })?;
    let peak_megabytes = peak.saturating_sub(idle) as f64 / MEGABYTE;
    Ok(Round { bare: bare.insert(&name, number)?, peak_megabytes, ..round })
}

/// Returns the results of the rounds. Ignores the times of the first round, which prepares the statements.
fn results(instance: &Instance, rounds: &[Round]) -> Vec<Line> {
    let warm = rounds.get(1..).unwrap_or_default();
    let seconds = |property: fn(&Round) -> f64| format!("{:.2} s", typical(warm, property));
    let created = seconds(|round| round.created);
    let peak = rounds.iter().map(|round| round.peak_megabytes).fold(f64::NAN, f64::max);
    let updated = format!("{PEOPLE} new, unchanged, and changed in {}", seconds(|round| round.updated));
    let line =
        |what, figures, value, at_most| Line::new(what, instance.store, figures, value, Limit::AtMost(at_most));
    vec![
        line(
            "CSV of 10,000 new people, with managers, departments, events and audit entries",
            [created.clone(), format!("one insert of their bare rows {}", seconds(|round| round.bare))],
            (typical(warm, |round| round.created / round.bare), "×"),
            MAX_AGAINST_BARE_ROWS,
        ),
        line(
            "The same CSV again",
            [seconds(|round| round.unchanged), format!("the first time {created}")],
            (typical(warm, |round| round.unchanged / round.created), "×"),
            MAX_UNCHANGED,
        ),
        line(
            "Memory during CSV, above idle, without mapped files",
            [updated, String::new()],
            (peak, "MB"),
            MAX_MEGABYTES,
        ),
        longest_wait(instance, "Longest wait of another writer during CSV".to_owned(), warm, ""),
    ]
}

fn longest_wait(instance: &Instance, what: String, rounds: &[Round], more: &str) -> Line {
    let waits: usize = rounds.iter().flat_map(|round| &round.waits).map(|sample| sample.micros.len()).sum();
    let usual = typical(rounds, |round| round.longest_wait(0.99));
    let longest = typical(rounds, |round| round.longest_wait(1.0));
    let figures = [format!("99% of {waits} within {usual:.0} ms{more}"), String::new()];
    Line::new(what, instance.store, figures, (longest, "ms"), Limit::AtMost(MAX_WAIT_MILLIS))
}

/// Triggers that drop each new row of `search_pending`, so that no row is queued for the full-text index.
const WITHOUT_INDEX: [&str; 2] = [
    "CREATE FUNCTION nowhere() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
     CREATE TRIGGER nowhere BEFORE INSERT ON search_pending FOR EACH ROW EXECUTE FUNCTION nowhere()",
    "CREATE TRIGGER nowhere BEFORE INSERT ON search_pending BEGIN SELECT RAISE(IGNORE); END",
];

/// Compares uploads to a database with the full-text index with uploads to one without the index.
fn against_unindexed(data: &DataSet<'_>, instance: &Instance) -> Result<Line> {
    let candors = [instance.on_empty_database("indexed")?, instance.on_empty_database("unindexed")?];
    let accounts = [candors[0].migrate_with_account()?, candors[1].migrate_with_account()?];
    let databases = [Database::connect(&candors[0].database)?, Database::connect(&candors[1].database)?];
    databases[1].run_by_store(WITHOUT_INDEX[0], WITHOUT_INDEX[1])?;
    let services = [candors[0].serve()?, candors[1].serve()?];
    let mut rounds = vec![];
    for round in 0..=data.options.rounds() {
        let mut seconds = [0.0; 2];
        for (at, seconds) in seconds.iter_mut().enumerate() {
            let uploads = Uploads::new(&services[at].api(&accounts[at].key))?;
            *seconds = uploads.send(&file(&format!("i{round}-"), "Ada", PEOPLE), "created", PEOPLE)?;
            wait_until_indexed(&databases[at])?;
        }
        rounds.push(seconds);
    }
    // The first round prepares statements for the others.
    let warm = rounds.split_off(1);
    let figures = [0, 1].map(|at| format!("{:.2} s", typical(&warm, |seconds| seconds[at])));
    let ratio = median(warm.iter().map(|[with, without]| with / without));
    let what = format!("CSV of {PEOPLE} new people, against one without the index of words");
    Ok(Line::new(what, instance.store, figures, (ratio, "×"), Limit::AtMost(MAX_AGAINST_UNINDEXED)))
}

/// Subscriptions of a tenant, the most that the service allows by default.
const SUBSCRIPTIONS: usize = 100;
/// Rows of a file. Each creates a delivery for every subscription.
const SUBSCRIBED_PEOPLE: u32 = 1_000;

/// Writes of one tenant while another one with many subscriptions uploads a file.
pub(super) fn with_subscriptions(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (receiver, tenant) = (Receiver::start()?, instance.create_organization()?);
    let subscription = json!({"url": receiver.url(), "event_types": ["*"]});
    for _ in 0..SUBSCRIPTIONS {
        tenant.create("/v1/webhooks", &subscription)?;
    }
    let renames = Traffic::renames(&instance.api.key, data.size);
    let mut rounds = vec![];
    for number in 0..=data.options.rounds() {
        let (uploads, file) = (Uploads::new(&tenant)?, file(&format!("s{number}-"), "Ada", SUBSCRIBED_PEOPLE));
        let upload = || uploads.send(&file, "created", SUBSCRIBED_PEOPLE);
        let (created, waits) = beside(instance.service.address, &renames, 3, upload)?;
        rounds.push(Round { created, waits: vec![waits], ..Round::default() });
    }
    let warm = rounds.split_off(1);
    let what = format!(
        "Longest wait of another tenant's writer during a CSV of {SUBSCRIBED_PEOPLE} with {SUBSCRIPTIONS} \
         subscriptions"
    );
    let upload = format!(", upload in {:.2} s", typical(&warm, |round| round.created));
    Ok(vec![longest_wait(instance, what, &warm, &upload)])
}
