//! Every operation of the service once, as listed in clients/operations.json.

use std::collections::{HashMap, HashSet};

use candor_client::types::{DepartmentCreate, DepartmentUpdate, EmployeeCreate, EmployeeUpdate, Environment};
use candor_client::types::{ErrorCode, ListAuditLogFilter, ListAuditLogQuery, ListDepartmentsQuery};
use candor_client::{Call, Candor, Error, Page, Pages};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Fixture;
use super::generated::dispatch::{OPERATIONS, call, preview};
use crate::support::PATIENCE;

const STEPS: &str = include_str!("../../../../clients/operations.json");

/// One call, with references to earlier answers filled in.
#[derive(serde::Deserialize)]
pub(super) struct Step {
    pub(super) call: String,
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    body: Value,
    csv: Option<String>,
    #[serde(default)]
    query: Value,
    #[serde(rename = "as")]
    stored_as: Option<String>,
    count: Option<usize>,
    #[serde(default)]
    wait: bool,
    key: Option<String>,
    /// Status of the error that the call must return.
    fails: Option<u16>,
}

impl Step {
    pub(super) fn name(&self) -> &str {
        self.call.split('.').nth(1).unwrap()
    }

    pub(super) fn path(&self, number: usize) -> &str {
        &self.path[number]
    }

    pub(super) fn csv(&self) -> String {
        self.csv.clone().unwrap()
    }

    pub(super) fn body<T: DeserializeOwned>(&self) -> T {
        serde_json::from_value(self.body.clone()).unwrap_or_else(|error| panic!("{}: {error}", self.call))
    }

    pub(super) fn query<T: DeserializeOwned>(&self) -> T {
        serde_json::from_value(self.query.clone()).unwrap_or_else(|error| panic!("{}: {error}", self.call))
    }
}

pub(super) async fn response<T: Serialize + DeserializeOwned + Send + 'static, D: 'static>(
    call: Call<T, D>,
) -> Result<Value, Error> {
    Ok(json!(call.await?))
}

pub(super) async fn first_page<T: Serialize + DeserializeOwned + Send + 'static>(
    list: Pages<T>,
) -> Result<Value, Error> {
    Ok(json!(list.await?.data))
}

/// Returns the value with each `$name.member` replaced by the earlier answer of that name.
fn fill_references(value: &Value, known: &HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) if text.starts_with('$') => {
            let mut members = text[1..].split('.');
            let first = &known[members.next().unwrap()];
            let member_value = members.fold(first, |found, member| match member.parse::<usize>() {
                Ok(number) => &found[number],
                Err(_) => &found[member],
            });
            if text.ends_with("accept_url") || text == "$link.url" {
                // The token of an invitation and the code of a portal link are the end of their links.
                return json!(member_value.as_str().unwrap().rsplit(['=', '/', '#']).next());
            }
            member_value.clone()
        }
        Value::Array(entries) => entries.iter().map(|entry| fill_references(entry, known)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, entry)| (name.clone(), fill_references(entry, known))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[tokio::test]
async fn every_operation_is_called_and_dry_runs_change_nothing() {
    let fixture = Fixture::start();
    let client = fixture.builder().max_retries(0).build().unwrap();
    let steps: Vec<Value> = serde_json::from_str(STEPS).unwrap();
    let (mut known, mut called, mut previews) = (HashMap::new(), Vec::new(), 0);
    let (own, mut states) = (client.me().get().await.unwrap().key_id, HashSet::new());
    for raw in &steps {
        let step: Step = serde_json::from_value(fill_references(raw, &known)).unwrap();
        let client_of_step = match &step.key {
            Some(key) => fixture.builder().api_key(key).build().unwrap(),
            None => client.clone(),
        };
        let newest_before = newest_write(&client, &own).await;
        states.insert(newest_before.clone());
        if let Some(effects) = preview(&client_of_step, &step).await {
            previews += 1;
            let failure = effects.err().map(|error| error.api().unwrap().status.as_u16());
            assert_eq!(failure, step.fails, "{}", step.call);
            assert_eq!(
                newest_write(&client, &own).await,
                newest_before,
                "{}: its dry run changed something",
                step.call
            );
        }
        let carried_out = async {
            loop {
                let response = call(&client_of_step, &step).await;
                let is_empty = response.as_ref().is_ok_and(|response| response == &json!([]));
                if !(step.wait && is_empty) {
                    return response;
                }
            }
        };
        let response = tokio::time::timeout(PATIENCE, carried_out).await.unwrap();
        called.push(step.call.clone());
        if let Some(status) = step.fails {
            let Err(Error::Api(error)) = response else { panic!("{}: {response:?}", step.call) };
            assert_eq!(error.status.as_u16(), status, "{}", step.call);
            continue;
        }
        let response = response.unwrap_or_else(|error| panic!("{}: {error:?}", step.call));
        if let Some(count) = step.count {
            assert_eq!(response.as_array().unwrap().len(), count, "{}", step.call);
        }
        if let Some(name) = step.stored_as {
            known.insert(name, response);
        }
    }
    let missing: Vec<_> = OPERATIONS.iter().filter(|name| !called.iter().any(|call| call == *name)).collect();
    assert_eq!(missing, [""; 0].iter().collect::<Vec<_>>());
    assert!(previews > 50 && states.len() > 60, "{previews} {}: the log has the real writes", states.len());
}

/// Returns the id of the newest audit entry of a key, which stands for the key's last write.
async fn newest_write(client: &Candor, key: &str) -> Option<String> {
    let query = ListAuditLogQuery::new().filter(ListAuditLogFilter::new().actor_id(key)).limit(1);
    let entries = client.audit_log().list(query).await.unwrap();
    entries.data.into_iter().next().map(|entry| entry.id)
}

#[tokio::test]
async fn list_is_read_entry_by_entry_across_pages() {
    let fixture = Fixture::start();
    let client = fixture.client();
    for number in 0..7 {
        client.departments().create(DepartmentCreate::new(format!("D{number}"))).await.unwrap();
    }
    let query = || ListDepartmentsQuery::new().limit(3).sort("name");
    let all = client.departments().list(query()).entries().collect().await.unwrap();
    let names: Vec<_> = all.iter().map(|department| department.name.as_str()).collect();
    assert_eq!(names, ["D0", "D1", "D2", "D3", "D4", "D5", "D6"]);
    let first = client.departments().list(query()).with_response().await.unwrap();
    assert!(first.request_id().unwrap().starts_with("req_"));
    let cursor = first.data.next_cursor.clone().unwrap();
    let rest: Page<_> = client.departments().list(query().limit(10).cursor(cursor)).await.unwrap();
    assert_eq!((first.data.data.len(), first.data.has_more), (3, true));
    assert_eq!((rest.data.len(), rest.has_more), (4, false));
}

#[tokio::test]
async fn response_carries_request_id_quota_and_version() {
    let fixture = Fixture::start();
    let departments = fixture.client().departments();
    let create = || departments.create(DepartmentCreate::new("Sales")).idempotency_key("k").with_response();
    let creation = create().await.unwrap();
    assert_eq!((creation.status.as_u16(), creation.data.name.as_str()), (201, "Sales"));
    assert_eq!((creation.is_replayed(), creation.retries), (false, 0));
    let quota = creation.rate_limit().unwrap();
    assert!(quota.limit > quota.remaining);
    let second_creation = create().await.unwrap();
    assert_eq!((second_creation.is_replayed(), &second_creation.data.id), (true, &creation.data.id));
    let etag = creation.etag().unwrap();
    let read = departments.get(&creation.data.id).if_none_match(etag).await;
    assert!(matches!(read, Err(Error::NotModified)), "{read:?}");
    let stale = departments.update(&creation.data.id, DepartmentUpdate::new().name("S")).if_match("\"0\"").await;
    let stale = stale.unwrap_err();
    assert_eq!((stale.code(), stale.api().unwrap().status.as_u16()), (Some(&ErrorCode::Conflict), 412));
}

#[tokio::test]
async fn dry_run_has_the_effects_of_a_call_and_changes_nothing() {
    let fixture = Fixture::start();
    let employees = fixture.client().employees();
    let person = || EmployeeCreate::new("dry@example.com", "Dry", "Run");
    let effects = employees.create(person()).dry_run().await.unwrap();
    let data = effects.data.unwrap();
    assert_eq!((effects.status, &data["id"], &data["email"]), (201, &json!(null), &json!("dry@example.com")));
    let id = employees.create(person()).await.unwrap().id;
    let update = employees.update(&id, EmployeeUpdate::new().first_name("Wet")).dry_run().await.unwrap();
    assert_eq!(update.changes["first_name"].to, json!("Wet"));
    assert_eq!(employees.get(&id, None).await.unwrap().first_name, "Dry");
    let conflict = employees.create(person()).dry_run().await.unwrap_err();
    assert_eq!(conflict.code(), Some(&ErrorCode::Conflict));
    let report = employees.upsert("email,first_name,last_name\nnew@example.com,New,Person\n", None).dry_run();
    let report = report.await.unwrap();
    let plan = report.plan.unwrap();
    assert_eq!((report.data.created, plan[0].action.as_str()), (1, "create"));
    let people = employees.list(None).entries().collect().await.unwrap();
    assert_eq!(people.len(), 1, "the file changed nothing");
}

#[tokio::test]
async fn absent_member_keeps_and_null_removes_a_value() {
    let fixture = Fixture::start();
    let employees = fixture.client().employees();
    let person = EmployeeCreate::new("a@example.com", "A", "B").job_title("Engineer");
    let id = employees.create(person).await.unwrap().id;
    let renamed_employee = employees.update(&id, EmployeeUpdate::new().first_name("C")).await.unwrap();
    assert_eq!(renamed_employee.job_title.as_deref(), Some("Engineer"));
    let cleared_employee = employees.update(&id, EmployeeUpdate::new().clear_job_title()).await.unwrap();
    assert_eq!(cleared_employee.job_title, None);
}

#[tokio::test]
async fn settings_are_checked_and_addresses_completed() {
    let fixture = Fixture::start();
    let url = fixture.url();
    for base in [url.clone(), format!("{url}/"), format!("{url}/v1"), format!("{url}/v1/")] {
        let client = fixture.builder().base_url(base).environment(Environment::Live).build().unwrap();
        assert_eq!(client.me().get().await.unwrap().environment, Environment::Live);
    }
    let wrong = |builder: candor_client::ClientBuilder| builder.build().unwrap_err().to_string();
    assert!(wrong(fixture.builder().environment(Environment::Test)).contains("not a test key"));
    assert!(wrong(fixture.builder().api_key("")).contains("No API key"));
    assert!(wrong(fixture.builder().base_url("example")).contains("http or https"));
    assert!(!wrong(fixture.builder().base_url("http//ada:hunter2@example")).contains("hunter2"));
    let debug_text = format!("{:?} {:?}", fixture.builder(), fixture.client());
    assert!(!debug_text.contains(&fixture.key.secret), "{debug_text}");
}

#[tokio::test]
async fn secret_of_a_response_is_not_shown_by_debug() {
    let fixture = Fixture::start();
    let body = candor_client::types::ApiKeyCreate::new("k", ["events:read"]);
    let new_key = fixture.client().api_keys().create(body).await.unwrap();
    assert!(new_key.key.expose().starts_with("cdr_live_"));
    assert!(!format!("{new_key:?}").contains(new_key.key.expose()));
    let client = Candor::builder().api_key(new_key.key).base_url(fixture.url()).build().unwrap();
    assert_eq!(client.me().get().await.unwrap().scopes.len(), 1);
}
