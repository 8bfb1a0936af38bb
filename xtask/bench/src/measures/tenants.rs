//! The wait of one tenant while another one sends the largest and slowest requests.
//!
//! The loads take all processors of the machine, and so do their clients. Any program that does this delays
//! another one by the time slices of the system. So the comparison is the wait beside as many spinning threads as
//! there are processors.

use super::csv::{Uploads, file};
use super::*;
use std::thread;

/// Number of concurrent requests of the loud tenant, all of one key.
pub(super) const LOUD: usize = 30;
/// Limit on the p99 of another tenant, as a multiple of its p99 on a machine that another program keeps busy.
const MAX_TAIL: f64 = 3.0;
/// Number of rows on a page: the maximum of the API.
const PAGE: usize = 100;
/// Number of custom fields of a person, the most that the API allows.
const FIELDS: usize = 32;
/// Length of a custom field in characters, the most that the API allows.
const FIELD_CHARS: usize = 1_024;
/// Number of members of a wide body, which has about 250 kB, nearly the most that the API allows.
const MEMBERS: usize = 20_000;
/// Number of characters of a summary: the maximum of the API.
const TEXT_CHARS: usize = 20_000;
/// Number of summaries with long texts.
const TEXTS: usize = 300;
/// Number of rows of the watched tenant.
const WATCHED: usize = 200;
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 70_000;

/// Sends the requests of a load for this time. The seed determines the requests.
type Load<'a> = Box<dyn Fn(Duration, u64) -> Result + Send + Sync + 'a>;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let line = |(number, (what, load)): (u64, (&str, Load<'_>))| {
        let what = format!("p99 of another tenant's reads beside {LOUD} clients with {what}");
        tail_beside(data, instance, (&what, MAX_TAIL), SEED + 100 * number, load)
    };
    (0..).zip(loads(instance)?).map(line).collect()
}

/// Compares two p99 of a new tenant's reads: while `load` runs, and while spinning threads keep the machine busy.
pub(super) fn tail_beside(
    data: &DataSet<'_>,
    instance: &Instance,
    (what, at_most): (&str, f64),
    seed: u64,
    load: impl Fn(Duration, u64) -> Result + Send + Sync,
) -> Result<Line> {
    let (address, tenant) = (instance.service.address, instance.create_organization()?);
    let person = tenant.create_person()?;
    let one = Traffic::read(&tenant.key, format!("/v1/employees/{}", person.id));
    burst(address, &Traffic::creates_about(&[person]), Shape::for_requests(WATCHED, SEED))?;
    let reads = one.mixed_with(&Traffic::first_page(&tenant.key), 2);
    let contenders: [Contender<'_>; 2] = [
        Box::new(|time, round| Ok(run_beside(address, &reads, seed + 2 * round, || load(time, seed + round))?.1)),
        Box::new(|time, round| Ok(run_beside(address, &reads, seed + 2 * round + 1, || spin(time))?.1)),
    ];
    Ok(data.compare(instance, &contenders)?.with_label("busy machine").tail(what, at_most))
}

/// Keeps every processor busy for this time.
fn spin(time: Duration) -> Result {
    let end = Instant::now() + time;
    let processors = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| while Instant::now() < end {});
        }
    });
    Ok(())
}

/// Returns the loads, all of other tenants than the one that waits.
fn loads(instance: &Instance) -> Result<[(&'static str, Load<'_>); 7]> {
    let address = instance.service.address;
    let page = move |key: String, path: String| -> Load<'_> {
        Box::new(move |time, seed| {
            let requests = Traffic::read(&key, path.clone()).allow_refusals();
            burst(address, &requests, Shape::for_time(LOUD, time, seed)).map(drop)
        })
    };
    let slow_key = instance.api.key.clone();
    let slow = move |time, seed| {
        burst(address, &Traffic::slow_lists(&slow_key), Shape::for_time(LOUD, time, seed)).map(drop)
    };
    let emoji = create_large_people(instance, "\u{1f600}")?.key;
    let large = create_large_people(instance, "a")?.key;
    let people = format!("/v1/employees?limit={PAGE}");
    let search = format!("/v1/search?types=summaries&limit={PAGE}&q=%E6%BC%A2%E5%AD%97");
    Ok([
        ("emoji in custom fields", page(emoji, people.clone())),
        ("pages of 3.3 MB", page(large.clone(), people)),
        ("searches of long Han texts", page(create_long_texts(instance)?, search)),
        ("filters that no index answers", Box::new(slow)),
        ("pages of the feed", page(large, format!("/v1/events?limit={PAGE}"))),
        ("CSV files of 10,000 people", uploads(instance)?),
        ("bodies of 20,000 members", wide_bodies(instance)?),
    ])
}

/// Returns uploads of the same file, each under a key of its own: the quota of a key is six a minute.
fn uploads(instance: &Instance) -> Result<Load<'_>> {
    let tenant = instance.create_organization()?;
    let uploads = (0..LOUD).map(|_| Uploads::new(&tenant)).collect::<Result<Vec<_>>>()?;
    let people = file("t-", "Ada");
    uploads[0].send(&people, "created")?;
    Ok(Box::new(move |_, _| {
        thread::scope(|scope| {
            let all: Vec<_> =
                uploads.iter().map(|upload| scope.spawn(|| upload.send(&people, "skipped"))).collect();
            let all: Vec<_> =
                all.into_iter().map(|upload| upload.join().map_err(|_| "an upload panicked")?).collect();
            // The service may refuse some uploads of so many.
            all.into_iter().reduce(Result::or).unwrap_or(Ok(0.0)).map(drop)
        })
    }))
}

/// Returns changes of a person with as many custom fields as a body can have. The service refuses each change.
fn wide_bodies(instance: &Instance) -> Result<Load<'_>> {
    let (address, tenant) = (instance.service.address, instance.create_organization()?);
    let path = format!("PATCH /v1/employees/{}", tenant.create_person()?.id);
    let fields: serde_json::Map<String, Value> =
        (0..MEMBERS).map(|number| (format!("f{number}"), json!("v"))).collect();
    let body = json!({"custom_fields": fields});
    Ok(Box::new(move |time, seed| {
        let (path, body) = (path.clone(), body.clone());
        let requests =
            Traffic::with_body(&tenant.key, move |_| path.clone(), move |_| body.clone()).allow_refusals();
        burst(address, &requests, Shape::for_time(LOUD, time, seed)).map(drop)
    }))
}

/// Creates a tenant with a page of people whose custom fields are full of a character.
fn create_large_people(instance: &Instance, character: &str) -> Result<Api> {
    let tenant = instance.create_organization()?;
    let value = character.repeat(FIELD_CHARS);
    let fields: serde_json::Map<String, Value> =
        (0..FIELDS).map(|number| (format!("field_{number}"), json!(value))).collect();
    for number in 0..PAGE {
        let email = format!("person-{number}@example.com");
        let person = json!({"email": email, "first_name": "Ada", "last_name": "Example", "custom_fields": fields});
        tenant.create("/v1/employees", &person)?;
    }
    Ok(tenant)
}

/// Creates a tenant with long texts without blanks. Every second one has the searched word. Returns the key.
fn create_long_texts(instance: &Instance) -> Result<String> {
    let tenant = instance.create_organization()?;
    let person = tenant.create_person()?.id;
    let texts = ["漢字文章", "文章表現"].map(|words| words.repeat(TEXT_CHARS / words.chars().count()));
    for number in 0..TEXTS {
        let summary = json!({"employee_id": person, "title": "Spring", "body": texts[number % 2]});
        tenant.create("/v1/summaries", &summary)?;
    }
    Ok(tenant.key)
}
