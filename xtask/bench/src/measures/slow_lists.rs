//! Requests of one tenant while another one requests lists that no index answers.

use super::*;

const MAX_TAIL: f64 = 3.0;
/// Rows of the watched tenant.
const OBSERVATIONS: usize = 200;
/// Seed that no other turn has, so that no request repeats another one.
const SEED: u64 = 6_000;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let address = instance.service.address;
    let mut lines = vec![];
    for (number, (what, watched)) in (0..).zip(watched_requests(instance)?) {
        let seed = |round: u64, contender: u64| SEED + 100 * number + 2 * round + contender;
        let contenders: [Contender<'_>; 2] = [
            Box::new(|time, round| {
                let (key, seed) = (instance.api.key.clone(), seed(round, 0));
                let load =
                    || burst(address, &Traffic::slow_lists(&key), Shape::for_time(CLIENTS, time, seed)).map(drop);
                Ok(beside(address, &watched, seed, load)?.1)
            }),
            Box::new(|time, round| Ok(beside(address, &watched, seed(round, 1), || wait(time))?.1)),
        ];
        let what = format!("p99 of another tenant's {what} beside {CLIENTS} clients with slow questions");
        lines.push(data.compare(instance, &contenders)?.tail(what, MAX_TAIL));
    }
    Ok(lines)
}

/// Requests of a new tenant with few rows: GETs of one person, first pages, and creates.
pub(super) fn watched_requests(instance: &Instance) -> Result<[(&'static str, Traffic); 3]> {
    let tenant = instance.create_organization()?;
    let person = tenant.create_person()?;
    let path = format!("/v1/employees/{}", person.id);
    let creates = Traffic::creates_about(&[person]);
    burst(instance.service.address, &creates, Shape::for_requests(OBSERVATIONS, SEED))?;
    Ok([
        ("GET", Traffic::read(&tenant.key, path)),
        ("list of 50", Traffic::first_page(&tenant.key, "")),
        ("create", creates),
    ])
}
