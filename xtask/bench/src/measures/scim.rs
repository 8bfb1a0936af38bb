//! Requests of an identity provider over SCIM against those of the API with the same values.

use super::*;
use candor_domain::id::EmployeeId;
use candor_test_load::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of people of the provider before the measurement. A quick run has a tenth of it.
const PEOPLE: u32 = 10_000;
const MAX_CREATE_COST: f64 = 1.5;
const MAX_LOOK_UP_COST: f64 = 2.0;
const MAX_PATCH_COST: f64 = 1.5;
/// First seed. No other measure has it, so that no request repeats another one.
const SEEDS: u64 = 90_000;
const USERS: &str = "/scim/v2/Users";

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let account = instance.create_account()?;
    let api = instance.service.api(&account.key);
    let connector = api.create("/v1/connectors", &json!({"type": "scim", "hris_source": "bench"}))?;
    let token = instance.create_scim_key(&account, &connector)?;
    let next = Arc::new(AtomicU32::new(0));
    let linked_people = people(&token, USERS, &next, user);
    let unlinked_people = people(&api.key, "/v1/employees", &next, employee);
    let (address, count) = (instance.service.address, if data.options.quick { PEOPLE / 10 } else { PEOPLE });
    let shape = Shape { connections: CLIENTS, requests: count as usize, ..Shape::for_requests(0, SEEDS) };
    burst(address, &linked_people, shape)?;
    burst(address, &unlinked_people, Shape { seed: SEEDS + 1, ..shape })?;
    instance.database()?.run_by_store("ANALYZE", "")?;
    let ids = |condition| ids(instance, account.tenant(), condition);
    let (linked_ids, unlinked_ids) = (ids("connector_id IS NOT NULL")?, ids("connector_id IS NULL")?);
    let compare = |what: &str, at_most, scim, other, seed| -> Result<Line> {
        let contenders = [(scim, seed), (other, seed + 500)];
        let contenders = contenders.map(|(traffic, seed)| instance.contender(traffic, CLIENTS, SEEDS + seed));
        Ok(data.compare(instance, &contenders)?.cost(what, at_most))
    };
    let look_up = move |random: &mut Random| {
        format!("{USERS}?filter=userName%20eq%20%22person-{}@example.com%22", random.number(0, count))
    };
    let paths = linked_ids.iter().map(|id| format!("/v1/employees/{id}")).collect();
    let (look_ups, gets) = (Traffic::get(&token, look_up), Traffic::read_any(&api.key, paths));
    let patches = Traffic::with_body(
        &token,
        path(USERS, linked_ids),
        |random| json!({"Operations": [{"op": "Replace", "path": "name.givenName", "value": name(random)}]}),
    );
    let renames = Traffic::with_body(
        &api.key,
        path("/v1/employees", unlinked_ids),
        |random| json!({"first_name": name(random)}),
    );
    let look_up =
        format!("SCIM look-up by `userName` among {} people, against a GET", group_thousands((2 * count).into()));
    let create = "Create over SCIM against `POST /employees`";
    let patch = "PATCH of a name over SCIM against `PATCH /employees/{id}`";
    Ok(vec![
        compare(&look_up, MAX_LOOK_UP_COST, look_ups, gets, 1_000)?,
        compare(create, MAX_CREATE_COST, linked_people, unlinked_people, 2_000)?,
        compare(patch, MAX_PATCH_COST, patches, renames, 3_000)?,
    ])
}

/// Returns creates of new people.
fn people(key: &str, path: &'static str, next: &Arc<AtomicU32>, body: fn(u32) -> Value) -> Traffic {
    let next = Arc::clone(next);
    Traffic::post(key, move |_| path.to_owned(), move |_| body(next.fetch_add(1, Ordering::Relaxed)))
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

fn employee(number: u32) -> Value {
    let address = format!("person-{number}@example.com");
    json!({"email": address, "external_id": format!("id-{number}"), "first_name": "Ada", "last_name": "Example"})
}

fn name(random: &mut Random) -> String {
    format!("Name {:x}", random.draw())
}

/// Returns a function for the method and path of a PATCH. Each call picks any of these people.
fn path(list: &'static str, people: Vec<EmployeeId>) -> impl Fn(&mut Random) -> String {
    move |random| format!("PATCH {list}/{}", random.pick(&people))
}

/// Returns the people of an organization who meet a condition.
fn ids(instance: &Instance, tenant: [u8; 16], condition: &str) -> Result<Vec<EmployeeId>> {
    let digits = instance.store.pick("replace(id::text, '-', '')", "hex(id)");
    let tenant = instance.store.bytes(tenant);
    let query = format!("SELECT {digits} AS value FROM employees WHERE tenant_id = {tenant} AND {condition}");
    let ids = instance.database()?.texts(&query)?;
    ids.iter().map(|id| Ok(EmployeeId::from_bytes(u128::from_str_radix(id, 16)?.to_be_bytes()))).collect()
}
