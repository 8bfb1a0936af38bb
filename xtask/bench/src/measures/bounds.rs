//! Bounds of single requests: the wait of another tenant beside the move of many people, and the memory for the data
//! of a person whose changes were large.

use super::*;
use crate::api::TIMEOUT;
use std::fmt::Write;
use std::thread;

/// Number of managers above the people, before and after the move.
const CHAIN: u32 = 30;
/// Number of people below the person who moves.
const BELOW: u32 = 9_900;
/// Limit on the wait of another tenant's write.
const MAX_WAIT_MILLIS: f64 = 100.0;
/// Time before the move in which the other tenant writes.
const BEFORE: Duration = Duration::from_secs(1);
/// Time after the move in which the other tenant writes. The service completes the rest of the move in this time.
const AFTER: Duration = Duration::from_secs(10);
/// Number of changes of the person, each of all custom fields.
const CHANGES: u32 = 2_100;
/// Number of custom fields of a person, the most that the API allows.
const FIELDS: usize = 32;
/// Length of a custom field in characters, the most that the API allows.
const FIELD_CHARS: usize = 1_024;
/// Number of concurrent reads of the person's data, the most that an organization can have.
const READS: usize = 2;
const MAX_MEGABYTES: f64 = 64.0;
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 130_000;

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    Ok(vec![wide_moves(data, instance)?, personal_data(instance)?])
}

/// Measures the longest wait of another tenant's write beside moves between two chains of managers.
fn wide_moves(data: &DataSet<'_>, instance: &Instance) -> Result<Line> {
    let (address, tenant) = (instance.service.address, instance.create_organization()?);
    let writes = Traffic::creates_about(&[instance.create_organization()?.create_person()?]);
    let head = "email,first_name,last_name,manager_email\n";
    let mut managers = head.to_owned();
    for chain in ["p", "q"] {
        let mut manager_email = String::new();
        for level in 0..CHAIN {
            let email = format!("{chain}{level}@example.com");
            // Writing to a text cannot fail.
            let _ = writeln!(managers, "{email},{chain},{level},{manager_email}");
            manager_email = email;
        }
    }
    let _ = writeln!(managers, "x@example.com,X,X,p{}@example.com", CHAIN - 1);
    let mut people = head.to_owned();
    for person in 0..BELOW {
        let _ = writeln!(people, "w{person}@example.com,W,{person},x@example.com");
    }
    tenant.upload(&managers)?;
    tenant.upload(&people)?;
    let moved_path = format!("/v1/employees/{}", id_of(&tenant, "x@example.com")?);
    let ends = ["q", "p"].map(|chain| id_of(&tenant, &format!("{chain}{}@example.com", CHAIN - 1)));
    let [q, p] = ends;
    let ends = [q?, p?];
    let round = |number: usize| {
        let body = json!({"manager_id": ends[number % 2]});
        let (took, waits) = run_beside(address, &writes, SEED + number as u64, || {
            wait(BEFORE)?;
            let took = seconds(|| tenant.send("PATCH", &moved_path, &body).map(drop))?;
            wait(AFTER)?;
            Ok(took)
        })?;
        Ok((took, waits))
    };
    let rounds = (0..data.options.rounds()).map(round).collect::<Result<Vec<(f64, Sample)>>>()?;
    let figures = [
        format!("the move takes {:.0} ms", 1_000.0 * median_of(&rounds, |(took, _)| *took)),
        format!("99% within {:.0} ms", median_of(&rounds, |(_, waits)| waits.millis_within(0.99))),
    ];
    let longest = (median_of(&rounds, |(_, waits)| waits.millis_within(1.0)), "ms");
    let what = format!("Longest wait of another writer beside a move of {} people", group_thousands(BELOW.into()));
    Ok(Line::new(what, instance.store, figures, longest, Limit::AtMost(MAX_WAIT_MILLIS)))
}

fn id_of(tenant: &Api, email: &str) -> Result<String> {
    let page = tenant.get(&format!("/v1/employees?filter%5Bemail%5D={email}"))?;
    Ok(page["data"][0]["id"].as_str().ok_or_else(|| format!("{email} is not found: {page}"))?.to_owned())
}

/// Measures the memory that concurrent reads of a person's data take in addition to the memory of the idle service.
fn personal_data(instance: &Instance) -> Result<Line> {
    let tenant = instance.create_organization()?;
    let path = format!("/v1/employees/{}", tenant.create_person()?.id);
    for number in 0..CHANGES {
        let value = ["漢", "字"][number as usize % 2].repeat(FIELD_CHARS);
        let fields: serde_json::Map<String, Value> =
            (0..FIELDS).map(|field| (format!("field_{field}"), json!(value))).collect();
        tenant.send("PATCH", &path, &json!({"custom_fields": fields}))?;
    }
    let (path, idle) = (format!("{path}/personal-data"), instance.service.own_bytes()?);
    let ((), peak) = instance.service.peak_bytes_during(|| {
        thread::scope(|scope| {
            let reads: Vec<_> =
                (0..READS).map(|_| scope.spawn(|| tenant.read_lines(&path, TIMEOUT).map(drop))).collect();
            reads.into_iter().try_for_each(|read| read.join().map_err(|_| "a read panicked")?)
        })
    })?;
    Ok(Line::new(
        format!(
            "Memory of {READS} reads of a person's data after {} large changes, above idle",
            group_thousands(CHANGES.into())
        ),
        instance.store,
        [format!("{FIELDS} custom fields of {FIELD_CHARS} Han signs in each change"), String::new()],
        (peak.saturating_sub(idle) as f64 / MEGABYTE, "MB"),
        Limit::AtMost(MAX_MEGABYTES),
    ))
}
