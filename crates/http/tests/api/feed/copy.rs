//! A client's copy of a data set, made from the lists and kept current by the feed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::TestApi;

/// Lists of the data set, with the parameters that show every row.
const LISTS: [&str; 8] = [
    "observations?filter[archived]=all",
    "employee-objectives?filter[status]=all",
    "manager-objectives?filter[status]=all",
    "employees?filter[status]=all",
    "departments?filter[archived]=all",
    "attributes?filter[archived]=all",
    "summaries?filter[status]=all",
    "assignments?filter[status]=all",
];

/// Resources by id, each as GET shows it.
#[derive(Debug, Default)]
pub(crate) struct Copy(BTreeMap<String, Value>);

/// A reader of one organization.
pub(crate) struct Reader<'a> {
    pub(crate) world: &'a TestApi,
    pub(crate) key: &'a str,
}

impl Reader<'_> {
    async fn get(&self, path: &str) -> Value {
        let response = self.world.bare("GET", &format!("/v1/{path}")).key(self.key).send().await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    async fn pages(&self, list: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (vec![], String::new());
        loop {
            let sign = if list.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{list}{sign}limit=100{cursor}")).await;
            all.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                return all;
            }
            cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
        }
    }

    /// Returns the cursor after all events that exist now.
    pub(crate) async fn end_cursor(&self) -> String {
        self.get("events?since=now").await["next_cursor"].as_str().unwrap().to_owned()
    }

    /// Waits until the feed shows the event that gives the organization this name, and returns all events after the
    /// cursor. On PostgreSQL, an open transaction of any data set delays the feed.
    pub(crate) async fn events_until(&self, cursor: &str, name: &str) -> Vec<Value> {
        loop {
            let events = self.pages(&format!("events?cursor={cursor}")).await;
            let is_last =
                |event: &Value| event["event"] == "organization.updated" && event["data"]["name"] == name;
            if events.iter().any(is_last) {
                return events;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Reads an export, and continues it from its last checkpoint when it breaks off. Returns the resources, and the
    /// feed cursor from before their first row.
    pub(super) async fn export(&self) -> (Copy, String) {
        let (mut copy, mut query, mut cursor) = (Copy::default(), String::new(), None);
        loop {
            // Stays below the quota of exports.
            self.world.clock.advance_seconds(60);
            let path = format!("/v1/exports{query}");
            let lines = self.world.bare("GET", &path).key(self.key).send().await.lines();
            for line in &lines {
                match line["type"].as_str() {
                    Some("header") => {
                        cursor.get_or_insert_with(|| line["events_cursor"].as_str().unwrap().to_owned());
                        assert_eq!(
                            line["events_cursor"].as_str(),
                            cursor.as_deref(),
                            "all parts have the feed cursor of the first part"
                        );
                    }
                    Some("checkpoint") => query = format!("?cursor={}", line["cursor"].as_str().unwrap()),
                    Some("end") => return (copy, cursor.unwrap()),
                    _ => copy.add(line.get("data").cloned()),
                }
            }
            if query.is_empty() {
                // The next request begins a new export.
                cursor = None;
            }
        }
    }

    /// Reads the whole data set.
    pub(crate) async fn read(&self) -> Copy {
        let mut copy = Copy::default();
        for list in LISTS {
            copy.add(self.pages(list).await);
        }
        for list in ["conversations?filter[archived]=all", "connectors", "identity-providers"] {
            copy.add(self.pages(list).await);
        }
        copy.add([self.get("organization").await]);
        for (family, is_own) in [("employee-objectives", true), ("manager-objectives", false)] {
            let is_of =
                |value: &&Value| (value["scope"] == "employee") == is_own && !value["last_check_in_at"].is_null();
            let ids: Vec<_> = copy.with_prefix("obj_").filter(is_of).map(|value| value["id"].clone()).collect();
            for id in ids {
                copy.add(self.pages(&format!("{family}/{}/check-ins", id.as_str().unwrap())).await);
            }
        }
        for conversation in copy.ids("cnv_") {
            copy.add(self.pages(&format!("conversations/{conversation}/messages")).await);
        }
        for person in copy.ids("emp_") {
            let path = format!("/v1/employees/{person}/invitation");
            let response = self.world.bare("GET", &path).key(self.key).send().await;
            if response.status == 200 {
                copy.add([response.json()]);
            }
        }
        copy
    }
}

impl Copy {
    fn add(&mut self, resources: impl IntoIterator<Item = Value>) {
        for resource in resources {
            self.0.insert(resource["id"].as_str().unwrap().to_owned(), resource);
        }
    }

    fn ids(&self, prefix: &str) -> Vec<String> {
        self.0.keys().filter(|id| id.starts_with(prefix)).cloned().collect()
    }

    fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |(id, _)| id.starts_with(prefix)).map(|(_, value)| value)
    }

    /// Applies events in the order of the feed.
    pub(crate) fn apply(&mut self, events: Vec<Value>) {
        for event in events {
            let (kind, data) = (event["event"].as_str().unwrap(), &event["data"]);
            if data["erased"] == true {
                continue;
            }
            match kind {
                "retention.removed" => self.remove(data["ids"].as_array().unwrap()),
                "identity_provider.deleted" => self.remove(&[data["id"].clone()]),
                "erasure.completed" => self.erase(data["employee_id"].as_str().unwrap()),
                "employee.erased" => {
                    self.add([data.clone()]);
                    self.erase(data["id"].as_str().unwrap());
                }
                "objective.checked_in" => {
                    let mut objective = data.clone();
                    let check_in = objective.as_object_mut().unwrap().remove("check_in");
                    self.add([objective].into_iter().chain(check_in));
                }
                _ if ["webhook.", "api_key.", "test.", "retention."]
                    .iter()
                    .any(|prefix| kind.starts_with(prefix)) => {}
                _ => self.add([data.clone()]),
            }
        }
    }

    /// Removes resources, the messages of conversations and the check-ins of objectives.
    fn remove(&mut self, ids: &[Value]) {
        let is_part = |value: &Value, removed: &Value| {
            ["conversation_id", "objective_id"].iter().any(|member| value[*member] == *removed)
        };
        self.0.retain(|id, value| !ids.iter().any(|removed| removed == id || is_part(value, removed)));
    }

    /// Returns the data without the resources that legal holds keep in the service after an erasure, because copies
    /// do not have them (§6.2.1).
    pub(super) fn without_kept(mut self) -> Self {
        let is_erased =
            |person: &Value| person["email"].as_str().is_some_and(|email| email.starts_with("erased-"));
        let erased_people: Vec<_> = self.with_prefix("emp_").filter(|person| is_erased(person)).cloned().collect();
        for person in erased_people {
            self.erase(person["id"].as_str().unwrap());
        }
        self
    }

    /// Removes the resources about an erased person, and blanks the messages of the person and the conversations about
    /// the person (§6.2.1).
    fn erase(&mut self, person: &str) {
        let own_objectives = self.with_prefix("obj_").filter(|value| value["owner_id"] == person);
        let objective_ids: Vec<_> = own_objectives.map(|value| value["id"].clone()).collect();
        self.remove(&objective_ids);
        self.0.retain(|id, value| {
            let is_message = id.starts_with("msg_");
            is_message || value["employee_id"] != person && value["owner_id"] != person
        });
        for (id, value) in &mut self.0 {
            if id.starts_with("msg_") && value["author_id"] == person {
                value["body"] = json!("[erased]");
            }
            if id.starts_with("cnv_") && value["about"]["id"] == person {
                value["title"] = json!("[erased]");
                value["about"] = Value::Null;
            }
        }
    }

    /// Returns the copy without resources that exports omit.
    pub(super) fn exported(mut self) -> Self {
        self.0.retain(|id, _| !["con_", "idp_", "org_", "inv_"].iter().any(|prefix| id.starts_with(prefix)));
        self
    }

    /// Returns the resources with their derived members computed from this copy (§6.2.1).
    pub(crate) fn derived(&self) -> BTreeMap<String, Value> {
        let mut all = self.0.clone();
        for (id, value) in &mut all {
            match id.split('_').next() {
                Some("obj") => value["linked_summary_ids"] = self.linked_summaries(id),
                Some("sum") => self.derive_observations(value),
                Some("cnv") => value["last_message_at"] = self.last_message(id),
                Some("inv") => value["status"] = self.status_of_invitation(value),
                _ => {}
            }
        }
        all.retain(|_, value| !value["id"].as_str().unwrap().starts_with("inv_") || self.is_newest(value));
        all
    }

    fn linked_summaries(&self, objective: &str) -> Value {
        let includes = |summary: &&Value| {
            let ids = summary["included_objective_ids"].as_array().unwrap();
            summary["status"] != "archived" && ids.contains(&json!(objective))
        };
        // Ids sort by the time of creation.
        self.with_prefix("sum_").filter(includes).map(|summary| summary["id"].clone()).collect()
    }

    fn derive_observations(&self, summary: &mut Value) {
        let ids = |member: &str| summary[member].as_array().unwrap().clone();
        let mut observation_ids = ids("included_observation_ids");
        observation_ids.extend(ids("archived_observation_ids"));
        observation_ids.sort_by_key(Value::to_string);
        observation_ids.dedup();
        let is_archived = |id: &Value| !self.0[id.as_str().unwrap()]["archived_at"].is_null();
        let is_open = matches!(summary["status"].as_str(), Some("draft" | "pending_review"));
        let archived_ids: Vec<_> = observation_ids.extract_if(.., |id| is_open && is_archived(id)).collect();
        summary["included_observation_ids"] = json!(observation_ids);
        summary["archived_observation_ids"] = json!(archived_ids);
    }

    fn last_message(&self, conversation: &str) -> Value {
        let messages = self.with_prefix("msg_").filter(|message| message["conversation_id"] == conversation);
        json!(messages.filter_map(|message| message["created_at"].as_str()).max())
    }

    fn status_of_invitation(&self, invitation: &Value) -> Value {
        let person = &self.0[invitation["employee_id"].as_str().unwrap()];
        let is_revoked = invitation["status"] == "pending" && person["status"] != "pending_invite";
        if is_revoked { json!("revoked") } else { invitation["status"].clone() }
    }

    fn is_newest(&self, invitation: &Value) -> bool {
        let key = |value: &Value| (value["created_at"].to_string(), value["id"].to_string());
        self.with_prefix("inv_")
            .filter(|other| other["employee_id"] == invitation["employee_id"])
            .all(|other| key(other) <= key(invitation))
    }
}

/// Returns the resources. Sorts the lists in them whose order has no meaning.
pub(crate) fn comparable(copy: &Copy) -> BTreeMap<String, Value> {
    let mut all = copy.0.clone();
    for summary in all.values_mut() {
        for member in ["included_observation_ids", "archived_observation_ids"] {
            if let Some(ids) = summary.get_mut(member).and_then(Value::as_array_mut) {
                ids.sort_by_key(Value::to_string);
            }
        }
    }
    all
}
