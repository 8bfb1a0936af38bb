//! People of an identity provider over SCIM: requests against those of the API, the wait of another tenant, and
//! whole cycles.

mod cycle;

use super::slow_lists::watched_requests;
use super::tenants::{contender, spin};
use super::*;
use crate::api::Api;
use crate::data_set::DataSet;
use candor_domain::id::EmployeeId;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// People of the provider. A tenth of them in a quick run.
const PEOPLE: u32 = 100_000;
/// Connections of the provider during a cycle. The numbers of people are multiples.
const CONNECTIONS: usize = 20;
/// People whose requests are measured.
const SAMPLE: usize = 2_000;
const MAX_CREATE_COST: f64 = 1.5;
const MAX_LOOK_UP_COST: f64 = 2.0;
const MAX_PATCH_COST: f64 = 1.5;
/// Limit on the p99 of another tenant beside a first cycle, as a multiple of its p99 on a busy machine.
const MAX_TAIL: f64 = 2.0;
/// Deadline for the requests of a cycle.
const PATIENCE: Duration = Duration::from_secs(900);
/// First seed. No other measure has it, so that no request repeats another one.
const SEEDS: u64 = 90_000;
const USERS: &str = "/scim/v2/Users";

/// An organization with the connector of a provider.
struct Provider<'a> {
    instance: &'a Instance,
    /// Client of an administrator.
    api: Api,
    tenant: [u8; 16],
    token: String,
    /// Number of the next new person.
    next: Arc<AtomicU32>,
}

impl<'a> Provider<'a> {
    fn new(instance: &'a Instance) -> Result<Self> {
        let account = instance.create_account()?;
        let api = instance.service.api(&account.key);
        let connector = api.create("/v1/connectors", &json!({"type": "scim", "hris_source": "bench"}))?;
        let token = instance.create_scim_key(&account, &connector)?;
        Ok(Self { instance, api, tenant: account.tenant(), token, next: Arc::default() })
    }

    /// Returns creates of new people.
    fn creates(&self) -> Traffic {
        creates(&self.token, &self.next)
    }

    /// Sends this number of requests on the connections of a cycle.
    fn send(&self, traffic: &Traffic, requests: u32, seed: u64) -> Result {
        let shape = Shape { connections: CONNECTIONS, time: PATIENCE, requests: requests as usize, seed };
        burst(self.instance.service.address, traffic, shape).map(drop)
    }

    /// Returns a text and the id of each person of the organization who meets a condition, by id.
    fn people(&self, text: &str, condition: &str) -> Result<Vec<(String, EmployeeId)>> {
        let (database, store) = (self.instance.database()?, self.instance.store);
        let digits = store.pick("replace(id::text, '-', '')", "hex(id)");
        let tenant = store.bytes(self.tenant);
        let query = format!(
            "SELECT {text} || ' ' || {digits} AS value FROM employees WHERE tenant_id = {tenant} AND {condition} \
             ORDER BY id"
        );
        let rows = database.texts(&query)?.into_iter().map(|row| {
            let (text, digits) = row.rsplit_once(' ').ok_or("a person without a text")?;
            let id = u128::from_str_radix(digits, 16)?;
            Ok((text.to_owned(), EmployeeId::from_bytes(id.to_be_bytes())))
        });
        rows.collect()
    }

    /// Returns some of these people, from the whole list.
    fn sample(&self, text: &str, condition: &str) -> Result<Vec<(String, EmployeeId)>> {
        let people = self.people(text, condition)?;
        let step = people.len().div_ceil(SAMPLE).max(1);
        Ok(people.into_iter().step_by(step).collect())
    }
}

fn creates(token: &str, next: &Arc<AtomicU32>) -> Traffic {
    let next = Arc::clone(next);
    Traffic::post(token, |_| USERS.to_owned(), move |_| user(next.fetch_add(1, Ordering::Relaxed)))
}

/// Returns a person as a provider sends them.
fn user(number: u32) -> Value {
    let address = format!("person-{number}@example.com");
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": address, "externalId": format!("id-{number}"), "active": true,
        "name": {"givenName": "Ada", "familyName": "Example"},
        "emails": [{"value": address, "type": "work", "primary": true}],
    })
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let provider = Provider::new(instance)?;
    let count = if data.options.quick { PEOPLE / 10 } else { PEOPLE };
    let mut lines = vec![beside_first_cycle(data, &provider, count)?];
    instance.database()?.run_by_store("ANALYZE", "")?;
    lines.extend(look_ups(data, &provider)?);
    lines.push(against_creates(data, &provider)?);
    lines.push(against_patches(data, &provider)?);
    lines.extend(cycle::run(data, instance)?);
    Ok(lines)
}

/// Measures the reads of another tenant while the provider sends new people. Sends the rest of them afterwards.
fn beside_first_cycle(data: &DataSet<'_>, provider: &Provider<'_>, count: u32) -> Result<Line> {
    let (instance, address) = (provider.instance, provider.instance.service.address);
    let [(_, one), (_, list), _] = watched_requests(instance)?;
    let reads = one.mixed_with(&list, 2);
    // Traffic stays on its thread, so each turn creates its own.
    let (token, next) = (provider.token.clone(), Arc::clone(&provider.next));
    let load = move |time, seed| {
        burst(address, &creates(&token, &next), Shape::for_time(CONNECTIONS, time, seed)).map(drop)
    };
    let contenders = [
        contender(instance, &reads, SEEDS, load),
        contender(instance, &reads, SEEDS + 1, |time, _| spin(time)),
        contender(instance, &reads, SEEDS + 2, |time, _| wait(time)),
    ];
    let comparison = data.compare(instance, &contenders)?.against("busy machine");
    let left = count.saturating_sub(provider.next.load(Ordering::Relaxed));
    provider.send(&provider.creates(), left, SEEDS + 1_000)?;
    let idle = typical(&comparison.samples[2], |sample| sample.within(0.99));
    let what =
        format!("p99 of another tenant's reads beside a first SCIM cycle of {} people", grouped(count.into()));
    let line = comparison.tail(what, MAX_TAIL);
    Ok(Line { against: format!("{}; idle p99 {idle:.2} ms", line.against), ..line })
}

/// Compares look-ups by each identifier with GETs of the same people.
fn look_ups(data: &DataSet<'_>, provider: &Provider<'_>) -> Result<Vec<Line>> {
    let people = provider.sample("email || ' ' || external_id", "connector_id IS NOT NULL")?;
    let total = grouped(provider.next.load(Ordering::Relaxed).into());
    let gets =
        Traffic::read_any(&provider.api.key, people.iter().map(|(_, id)| format!("/v1/employees/{id}")).collect());
    let mut lines = vec![];
    for (number, (name, path)) in
        (0..).zip([("userName", "userName"), ("externalId", "externalId"), ("e-mail", "emails.value")])
    {
        let paths = people.iter().map(|(texts, _)| look_up(path, texts));
        let traffic = [Traffic::read_any(&provider.token, paths.collect()), gets.clone()];
        let seed = SEEDS + 2_000 + 100 * number;
        let contenders = traffic.map(|traffic| provider.instance.contender(traffic, CLIENTS, seed));
        let what = format!("SCIM look-up by {name} among {total} people, against a GET");
        lines.push(data.compare_reads(provider.instance, &contenders)?.cost(what, MAX_LOOK_UP_COST));
    }
    Ok(lines)
}

/// Returns the path of a look-up. `texts` are the address and the `externalId` of a person.
fn look_up(path: &str, texts: &str) -> String {
    let (address, external_id) = texts.split_once(' ').unwrap_or((texts, ""));
    let value = if path == "externalId" { external_id } else { address };
    format!("{USERS}?filter={path}%20eq%20%22{value}%22")
}

fn against_creates(data: &DataSet<'_>, provider: &Provider<'_>) -> Result<Line> {
    let next = AtomicU32::new(0);
    let employees = Traffic::post(
        &provider.api.key,
        |_| "/v1/employees".to_owned(),
        move |_| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            json!({
                "email": format!("employee-{number}@example.com"), "external_id": format!("e-{number}"),
                "first_name": "Ada", "last_name": "Example",
            })
        },
    );
    let contenders = [(provider.creates(), SEEDS + 3_000), (employees, SEEDS + 3_500)]
        .map(|(traffic, seeds)| provider.instance.contender(traffic, CLIENTS, seeds));
    let comparison = data.compare(provider.instance, &contenders)?;
    Ok(comparison.cost("Create over SCIM against `POST /employees`", MAX_CREATE_COST))
}

/// Compares new names over SCIM with new names of people who have no connector.
fn against_patches(data: &DataSet<'_>, provider: &Provider<'_>) -> Result<Line> {
    let ids = |condition: &str| -> Result<Vec<EmployeeId>> {
        Ok(provider.sample("email", condition)?.into_iter().map(|(_, id)| id).collect())
    };
    let (linked, unlinked) = (ids("connector_id IS NOT NULL")?, ids("connector_id IS NULL")?);
    let scim = Traffic::with_body(
        &provider.token,
        move |random| format!("PATCH {USERS}/{}", random.pick(&linked)),
        |random| {
            let value = format!("Name {:x}", random.next());
            json!({"Operations": [{"op": "Replace", "path": "name.givenName", "value": value}]})
        },
    );
    let employees = Traffic::with_body(
        &provider.api.key,
        move |random| format!("PATCH /v1/employees/{}", random.pick(&unlinked)),
        |random| json!({"first_name": format!("Name {:x}", random.next())}),
    );
    let contenders = [(scim, SEEDS + 4_000), (employees, SEEDS + 4_500)]
        .map(|(traffic, seeds)| provider.instance.contender(traffic, CLIENTS, seeds));
    let comparison = data.compare(provider.instance, &contenders)?;
    Ok(comparison.cost("PATCH of a name over SCIM against `PATCH /employees`", MAX_PATCH_COST))
}
