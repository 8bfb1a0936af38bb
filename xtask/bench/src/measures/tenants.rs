//! The wait of one tenant beside the largest and slowest requests of another: each load is slow for its own tenant.
//!
//! The loads take all processors of the machine, and so do their clients. Any program that does this delays another one
//! by the time slices of the system. So the comparison is the wait beside as many spinning threads as there are
//! processors, and the wait on an idle machine stands beside it.

use crate::Outcome;
use crate::burst::{Sample, Shape, Traffic, beside, burst};
use crate::http::post;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::{Contender, median, take_turns, typical};
use crate::stage::{Side, Stage};
use crate::traffic;
use serde_json::{Value, json};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::csv::{PEOPLE, Uploads, file};
use super::reads::figures;
use super::slow_questions::{wait, watched_reads};

/// Concurrent requests of the loud tenant, all of one key.
const LOUD: usize = 30;
/// Limit on the p99 of another tenant, as a multiple of its p99 on a machine that another program keeps busy.
const MOST: f64 = 3.0;
/// Rows of a page, the most that the API allows.
const PAGE: usize = 100;
/// Custom fields of a person and characters of each, the most that the API allows.
const FIELDS: usize = 32;
const FIELD_CHARS: usize = 1_024;
/// Characters of a summary, the most that the API allows.
const TEXT_CHARS: usize = 20_000;
/// Summaries with long texts.
const TEXTS: usize = 300;
/// Not the seeds of any other turn, so that no request is a retry of another.
const SEED: u64 = 70_000;

/// A load, as a function of its time.
struct Load<'a> {
    what: &'static str,
    run: Box<dyn Fn(Duration, u64) -> Outcome + Send + Sync + 'a>,
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let reads = watched_reads(side)?;
        for (number, load) in (0..).zip(loads(side)?) {
            let line = measure(side, options, &reads, &load, SEED + 100 * number)?;
            println!("{}", line.cells().join(" | "));
            lines.push(line);
        }
    }
    Ok(lines)
}

fn measure(side: &Side, options: &Options, reads: &Rc<Traffic>, load: &Load<'_>, seed: u64) -> Outcome<Line> {
    let contenders = [
        contender(side, reads, seed, &load.run),
        contender(side, reads, seed + 1, |time, _| spin(time)),
        contender(side, reads, seed + 2, |time, _| wait(time)),
    ];
    let samples = take_turns(&contenders, options.rounds(), options.turn())?;
    let pairs = samples[0].iter().zip(&samples[1]);
    let slower = pairs.map(|(with, without): (&Sample, &Sample)| with.within(0.99) / without.within(0.99));
    let idle = typical(&samples[2], |sample| sample.within(0.99));
    Ok(Line {
        what: format!("p99 of another tenant's reads beside {LOUD} clients with {}", load.what),
        store: Some(side.store),
        measured: figures(&samples[0]),
        against: format!("busy machine {}; idle p99 {idle:.2} ms", figures(&samples[1])),
        value: median(slower),
        unit: "×",
        limit: Limit::AtMost(MOST),
    })
}

/// Reads of the watched tenant beside some work.
fn contender<'a>(
    side: &Side,
    reads: &'a Rc<Traffic>,
    seed: u64,
    work: impl Fn(Duration, u64) -> Outcome + Send + Sync + 'a,
) -> Contender<'a> {
    let address = side.service.address;
    Box::new(move |time, round| Ok(beside(address, reads, seed + 3 * round, || work(time, seed + round))?.1))
}

/// Keeps every processor busy for this time.
fn spin(time: Duration) -> Outcome {
    let until = Instant::now() + time;
    let processors = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| while Instant::now() < until {});
        }
    });
    Ok(())
}

/// The loads, each of a tenant of its own.
fn loads(side: &Side) -> Outcome<Vec<Load<'_>>> {
    let address = side.service.address;
    let emoji = tenant_of_large_people(side, "\u{1f600}")?;
    let pages = tenant_of_large_people(side, "a")?;
    let texts = tenant_of_long_texts(side)?;
    let slow = side.key.clone();
    let path = format!("/v1/employees?limit={PAGE}");
    let page = move |key: String, path: String| -> Box<dyn Fn(Duration, u64) -> Outcome + Send + Sync> {
        Box::new(move |time, seed| {
            let requests = traffic::paths_of_any_status(&key, vec![path.clone()]);
            burst(address, &requests, Shape::of_time(LOUD, time, seed)).map(drop)
        })
    };
    let search = format!("/v1/search?types=summaries&limit={PAGE}&q=%E6%BC%A2%E5%AD%97");
    Ok(vec![
        Load { what: "emoji in custom fields", run: page(emoji, path.clone()) },
        Load { what: "pages of 3.3 MB", run: page(pages.clone(), path) },
        Load { what: "searches of long Han texts", run: page(texts, search) },
        Load {
            what: "filters that no index answers",
            run: Box::new(move |time, seed| {
                burst(address, &traffic::slow_questions(&slow), Shape::of_time(LOUD, time, seed)).map(drop)
            }),
        },
        Load { what: "pages of the feed", run: page(pages, format!("/v1/events?limit={PAGE}")) },
        Load { what: "CSV files of 10,000 people", run: uploads(side)? },
    ])
}

/// Uploads of the same file, each under a key of its own: the quota of a key is six a minute.
fn uploads(side: &Side) -> Outcome<Box<dyn Fn(Duration, u64) -> Outcome + Send + Sync>> {
    let (account, address) = (side.another_account()?, side.service.address);
    let keys = (0..LOUD).map(|_| Uploads::at(address, &account.key)).collect::<Outcome<Vec<_>>>()?;
    let people = file("t-", "Ada", PEOPLE);
    if let Some(first) = keys.first() {
        first.send(&people, "created", PEOPLE)?;
    }
    Ok(Box::new(move |_, _| {
        thread::scope(|scope| {
            let all: Vec<_> = keys.iter().map(|key| scope.spawn(|| key.send_any(&people))).collect();
            all.into_iter().try_for_each(|upload| upload.join().map_err(|_| "an upload broke off")?)
        })
    }))
}

/// Another tenant with a page of people whose custom fields are full of a sign; its key.
pub(super) fn tenant_of_large_people(side: &Side, sign: &str) -> Outcome<String> {
    let key = side.another_account()?.key;
    let value = sign.repeat(FIELD_CHARS);
    let fields: serde_json::Map<String, Value> =
        (0..FIELDS).map(|number| (format!("field_{number}"), json!(value))).collect();
    for number in 0..PAGE {
        let email = format!("person-{number}@example.com");
        let person = json!({"email": email, "first_name": "Ada", "last_name": "Example", "custom_fields": fields});
        post(side.service.address, "/v1/employees", &key, "application/json", &person.to_string(), 201)?;
    }
    Ok(key)
}

/// Another tenant with long texts without blanks, of which one in two has the word that is searched; its key.
fn tenant_of_long_texts(side: &Side) -> Outcome<String> {
    let (address, key) = (side.service.address, side.another_account()?.key);
    let person = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"}).to_string();
    let (_, answer) = post(address, "/v1/employees", &key, "application/json", &person, 201)?;
    let text = |signs: &str| signs.repeat(TEXT_CHARS / signs.chars().count());
    let texts = [text("漢字文章"), text("文章表現")];
    for number in 0..TEXTS {
        let body = json!({"employee_id": answer["id"], "title": "Spring", "body": texts[number % 2]});
        post(address, "/v1/summaries", &key, "application/json", &body.to_string(), 201)?;
    }
    Ok(key)
}
