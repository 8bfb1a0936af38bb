//! Cycles of a provider: people in any order, whose managers may come later, and the same people again.

use super::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::time::Instant;

/// People of a cycle. A tenth of them in a quick run.
const PEOPLE: u32 = 10_000;
/// Direct reports of a manager.
const REPORTS: u32 = 10;
/// Distance between the numbers of two people who come one after the other. It has no common divisor with the
/// number of people, so that each of them comes once.
const STEP: u32 = 7_919;
const MAX_UNCHANGED_SECONDS: f64 = 10.0;
/// First seed. No other measure has it, so that no request repeats another one.
const SEEDS: u64 = 96_000;
const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/// Seconds of the cycles of one organization.
struct Round {
    first: f64,
    unchanged: f64,
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let people = if data.options.quick { PEOPLE / 10 } else { PEOPLE };
    let rounds = data.options.rounds().div_ceil(2);
    let rounds = (0..rounds as u64).map(|number| round(instance, people, SEEDS + 10 * number));
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    let line = |what, property: fn(&Round) -> f64, requests: u32, limit| {
        let seconds = typical(&rounds, property);
        let rate = per_second(f64::from(requests) / seconds);
        Line::new(what, instance.store, [rate, String::new()], (seconds, "s"), limit)
    };
    let count = grouped(people.into());
    let again = format!("The same {count} people again, looked up and replaced without a change or an event");
    Ok(vec![
        line(
            format!("{count} new people over SCIM in any order, with managers"),
            |one| one.first,
            people,
            Limit::None,
        ),
        line(again, |one| one.unchanged, 2 * people, Limit::AtMost(MAX_UNCHANGED_SECONDS)),
    ])
}

fn round(instance: &Instance, people: u32, seed: u64) -> Result<Round> {
    let provider = Provider::new(instance)?;
    let started = Instant::now();
    let creates = Traffic::post(&provider.token, |_| USERS.to_owned(), each(people, reporting_user));
    provider.send(&creates, people, seed)?;
    let first = started.elapsed().as_secs_f64();
    expect_managers(&provider, people)?;
    let ids: HashMap<_, _> = provider.people("external_id", "connector_id IS NOT NULL")?.into_iter().collect();
    let id = move |number| ids.get(&format!("id-{number}")).map(ToString::to_string).unwrap_or_default();
    let look_ups = Traffic::get(
        &provider.token,
        each(people, |number| look_up("userName", &format!("person-{number}@example.com"))),
    );
    let replaced = Traffic::with_body(
        &provider.token,
        each(people, move |number| format!("PUT {USERS}/{}", id(number))),
        each(people, reporting_user),
    );
    let events = count_events(&provider)?;
    let started = Instant::now();
    provider.send(&look_ups, people, seed + 1)?;
    provider.send(&replaced, people, seed + 2)?;
    let unchanged = started.elapsed().as_secs_f64();
    match count_events(&provider)? - events {
        0 => Ok(Round { first, unchanged }),
        more => Err(format!("{more} events of a cycle without changes").into()),
    }
}

/// Returns a generator of one value for each person. In its order, managers may come after their reports.
fn each<T>(people: u32, value: impl Fn(u32) -> T) -> impl Fn(&mut crate::random::Random) -> T {
    let place = Cell::new(0_u32);
    move |_| {
        let number = u64::from(place.replace(place.get() + 1)) * u64::from(STEP) % u64::from(people);
        value(u32::try_from(number).unwrap_or_default())
    }
}

/// Returns a person with the `externalId` of their manager. The first person has none.
fn reporting_user(number: u32) -> Value {
    let mut user = user(number);
    if let Some(above) = number.checked_sub(1) {
        user[ENTERPRISE] = json!({"manager": {"value": format!("id-{}", above / REPORTS)}});
    }
    user
}

/// Fails unless every person but the first has a manager.
fn expect_managers(provider: &Provider<'_>, people: u32) -> Result {
    let managed = provider.people("email", "manager_id IS NOT NULL")?.len();
    if managed + 1 == people as usize {
        return Ok(());
    }
    Err(format!("{managed} of {people} people have a manager after a first cycle").into())
}

fn count_events(provider: &Provider<'_>) -> Result<i64> {
    let tenant = provider.instance.store.bytes(provider.tenant);
    provider.instance.database()?.number(&format!("(SELECT count(*) FROM events WHERE tenant_id = {tenant})"))
}
