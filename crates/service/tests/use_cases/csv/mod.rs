//! The CSV upsert on SQLite in memory (§4.3, decisions E).

mod faults;
mod model;
mod rules;

use std::collections::BTreeMap;

use bytes::Bytes;
use candor_domain::access::{AccessLevel, Caller};
use candor_domain::catalog::Department;
use candor_domain::page::{PageRequest, Position, Sort, SortBy, Sortable};
use candor_domain::people::{Employee, Filter, StatusFilter};
use candor_port_storage::StorageExt;
use candor_port_storage::store::People;
use candor_service::usecases::employees::csv::upsert;
use candor_service::{Error, Reply, RequestContext};
use candor_tables::rows;
use serde_json::Value;

use crate::support::{TestServices, json, params};

/// Uploads a file and returns the body of the answer.
async fn upload(world: &TestServices, file: &str) -> Value {
    upload_with(world, &[], file).await
}

async fn upload_with(world: &TestServices, query: &[(&str, &str)], file: &str) -> Value {
    json(&send(world.admin(), query, file).await.unwrap())
}

async fn send(context: RequestContext, query: &[(&str, &str)], file: &str) -> Result<Reply, Error> {
    upsert(context, params(query), Bytes::copy_from_slice(file.as_bytes())).await
}

/// Returns a request of a caller without admin level.
fn standard(world: &TestServices) -> RequestContext {
    let admin = world.admin();
    let caller = Caller { level: AccessLevel::Standard, ..(*admin.caller).clone() };
    world.call(caller)
}

/// Returns created, updated, deactivated and skipped counts, and number and code of each failed row.
fn counts(reply: &Value) -> (u64, u64, u64, u64, Vec<(u64, String)>) {
    let data = &reply["data"];
    let count = |name: &str| data[name].as_u64().unwrap();
    let errors = data["errors"].as_array().unwrap().iter();
    let errors =
        errors.map(|error| (error["row_number"].as_u64().unwrap(), error["code"].as_str().unwrap().to_owned()));
    (count("created"), count("updated"), count("deactivated"), count("skipped"), errors.collect())
}

/// Returns all people, by normalized address.
async fn everybody(world: &TestServices) -> BTreeMap<String, Employee> {
    let filter = Filter { status: StatusFilter::All, ..Filter::default() };
    let (tenant, sort) = (world.admin().caller.tenant, Sort::ascending_by(SortBy::CreatedAt));
    let (mut after, mut all) = (None, BTreeMap::new());
    loop {
        let page = PageRequest { limit: 100, after };
        let page = world.store.page(tenant, rows::employees::list(&filter, sort, &page)).await.unwrap();
        let Some(last) = page.items.last() else { return all };
        after = Some(Position { key: last.key(sort.by).unwrap(), id: last.id.to_bytes() });
        all.extend(page.items.into_iter().map(|item| (item.email_key(), item)));
        if !page.more {
            return all;
        }
    }
}

async fn person(world: &TestServices, email: &str) -> Employee {
    everybody(world).await.remove(email).unwrap_or_else(|| panic!("{email} is not there"))
}

async fn department_of(world: &TestServices, person: &Employee) -> Option<String> {
    let tenant = world.admin().caller.tenant;
    Some(world.store.row::<Department>(tenant, person.department_id?).await.unwrap().unwrap().value.name)
}

/// Asserts that no person is in a cycle and that each person is below their manager in the reporting lines.
async fn assert_tree(world: &TestServices) {
    let all = everybody(world).await;
    let tenant = world.admin().caller.tenant;
    let manager = |id| all.values().find(|person| person.id == id).and_then(|person| person.manager_id);
    for person in all.values() {
        let (mut at, mut steps) = (person.id, 0);
        while let Some(manager_id) = manager(at) {
            at = manager_id;
            steps += 1;
            assert!(at != person.id && steps <= all.len(), "{} is on a cycle", person.email);
        }
        if let Some(manager_id) = person.manager_id {
            let line = world.store.read_reporting(tenant, manager_id, person.id).await.unwrap();
            assert!(line.is_below, "{} is not below their manager", person.email);
        }
    }
}
