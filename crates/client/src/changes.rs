//! Changes: the feed of events as rows to store and rows to remove.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
#[cfg(feature = "operations")]
use serde_json::json;
use serde_json::value::RawValue;

use crate::client::Candor;
use crate::error::Error;
use crate::feed::Position;
#[cfg(feature = "operations")]
use crate::generated::types::ExportRow;
use crate::request::{Core, Options, Spec};

/// Maximum number of events that one request returns.
const PAGE: &str = "100";
/// Text that replaces what an erased person wrote, and the titles of conversations about them.
const ERASED: &str = "[erased]";
/// Types of exported rows by the prefix of their ids. The type of an objective follows from its scope.
const ROW_TYPES: [(&str, &str); 8] = [
    ("emp", "employee"),
    ("obs", "observation"),
    ("sum", "summary"),
    ("cnv", "conversation"),
    ("msg", "message"),
    ("asg", "assignment"),
    ("dep", "department"),
    ("attr", "attribute"),
];

/// Start position of [`Candor::changes`].
#[derive(Clone, Debug, Default)]
pub struct ChangesOptions {
    position: Position,
}

impl ChangesOptions {
    /// Creates settings that start at the oldest event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues at a stored position, such as the `events_cursor` of an export.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.position.cursor = cursor.into();
        self
    }

    /// Starts at a time at most 30 days ago, or `now`. A cursor overrides it.
    #[must_use]
    pub fn since(mut self, since: impl Into<String>) -> Self {
        self.position.since = Some(since.into());
        self
    }
}

/// A resource in its new state, as the row of an export.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangedRow {
    /// Type of the row, as in exports: `employee`, `employee_objective`, ….
    pub row_type: &'static str,
    /// Id of the resource.
    pub id: String,
    /// The resource as GET returns it, as JSON text.
    pub data: Box<RawValue>,
}

#[cfg(feature = "operations")]
impl ChangedRow {
    /// Returns the row with typed data, as [`Candor::export`] does.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if the data is not an object.
    pub fn typed(&self) -> Result<ExportRow, Error> {
        let data: Value = serde_json::from_str(self.data.get()).map_err(Error::Unreadable)?;
        ExportRow::try_from(json!({"type": self.row_type, "data": data})).map_err(Error::Unreadable)
    }
}

/// Which rows the service removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemovedRows {
    /// The rows with these ids, and the messages of removed conversations.
    Ids(Vec<String>),
    /// The rows about this erased person. Messages of the person and conversations about them stay without
    /// their texts.
    AboutPerson(String),
}

/// Rows that the service removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// Time of the event.
    pub removed_at: String,
    /// The removed rows.
    pub rows: RemovedRows,
}

/// The changes of one response of the feed. Store the rows, apply the removals to all stored rows, and store
/// `cursor`, in one transaction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangeBatch {
    /// The last state of each changed resource.
    pub upserts: Vec<ChangedRow>,
    /// Removals to apply after the rows were stored.
    pub removals: Vec<Removal>,
    /// Position behind these changes.
    pub cursor: Option<String>,
}

/// Reads the changes after a position, and waits for new ones.
#[derive(Debug)]
#[must_use = "the feed is read as changes are taken"]
pub struct Changes {
    core: Arc<Core>,
    position: Position,
}

impl Candor {
    /// Returns the changes of all exported resources: first the stored ones, then new ones as they happen.
    ///
    /// The rows of an export and then every batch from its `events_cursor` on result in the current data, without
    /// anything that was erased or removed since. Polls with growing pauses of up to 5 seconds, and continues after
    /// temporary failures.
    pub fn changes(&self, options: ChangesOptions) -> Changes {
        Changes { core: Arc::clone(&self.core), position: options.position }
    }
}

impl Changes {
    /// Returns the next changes, and waits for them if there are none.
    ///
    /// # Errors
    /// Failures that a retry would not change, such as a revoked key.
    pub async fn next(&mut self) -> Result<ChangeBatch, Error> {
        loop {
            self.position.wait().await;
            match self.read().await {
                Ok(page) => {
                    let is_empty = page.data.is_empty();
                    if self.position.advance(page.next_cursor, page.has_more, is_empty) || !is_empty {
                        return Ok(ChangeBatch::new(page.data, self.position.cursor.clone()));
                    }
                }
                Err(error) => self.position.endure(error)?,
            }
        }
    }

    async fn read(&self) -> Result<FeedPage, Error> {
        let mut spec = Spec::new(Method::GET, "/events");
        spec.query.push(("limit".to_owned(), PAGE.to_owned()));
        match (&self.position.cursor, &self.position.since) {
            (Some(cursor), _) => spec.query.push(("cursor".to_owned(), cursor.clone())),
            (None, Some(since)) => spec.query.push(("since".to_owned(), since.clone())),
            (None, None) => {}
        }
        let options = Options { max_retries: Some(0), ..Options::default() };
        let response = self.core.send(&spec, &options).await?;
        serde_json::from_slice(&response.data).map_err(Error::Unreadable)
    }
}

impl ChangeBatch {
    fn new(events: Vec<FeedEvent>, cursor: Option<String>) -> Self {
        let mut batch = Self { upserts: vec![], removals: vec![], cursor };
        for event in events {
            batch.add(event);
        }
        batch
    }

    fn add(&mut self, event: FeedEvent) {
        let Ok(subject) = serde_json::from_str::<Subject<'_>>(event.data.get()) else { return };
        let removed = match &*event.event {
            "retention.removed" => Some(RemovedRows::Ids(subject.ids.clone().unwrap_or_default())),
            "erasure.completed" => {
                subject.employee_id.as_deref().map(|id| RemovedRows::AboutPerson(id.to_owned()))
            }
            "employee.erased" => subject.id.as_deref().map(|id| RemovedRows::AboutPerson(id.to_owned())),
            _ => None,
        };
        self.removals.extend(removed.map(|rows| Removal { removed_at: event.created_at, rows }));
        // The texts of an earlier event about an erased person were removed. The removal follows.
        if subject.erased == Some(true) {
            return;
        }
        if let (Some(row_type), Some(id)) = (subject.row_type(), subject.id.as_deref()) {
            self.upserts.retain(|row| row.id != id);
            let id = id.to_owned();
            self.upserts.push(ChangedRow { row_type, id, data: event.data.clone() });
        }
    }

    /// Applies the changes to rows by their ids. A row that is newer than its change stays.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if a changed row is not a JSON value.
    pub fn apply_to(&self, rows: &mut BTreeMap<String, Value>) -> Result<(), Error> {
        for change in &self.upserts {
            let row: Value = serde_json::from_str(change.data.get()).map_err(Error::Unreadable)?;
            let is_older = rows.get(&change.id).is_some_and(|stored| changed_at(&row) < changed_at(stored));
            if !is_older {
                rows.insert(change.id.clone(), row);
            }
        }
        for removal in &self.removals {
            rows.retain(|_, row| match removal.apply_to(row.take()) {
                Some(kept) => {
                    *row = kept;
                    true
                }
                None => false,
            });
        }
        Ok(())
    }
}

impl Removal {
    /// Returns a stored row as it is after the removal, or `None` if the row was removed. Rows that the removal does
    /// not concern are returned unchanged.
    #[must_use]
    pub fn apply_to(&self, mut row: Value) -> Option<Value> {
        let is = |member: &str, id: &str| row[member] == id;
        match &self.rows {
            RemovedRows::Ids(ids) => {
                let is_removed = ids.iter().any(|id| is("id", id) || is("conversation_id", id));
                (!is_removed).then_some(row)
            }
            RemovedRows::AboutPerson(person) => {
                let is_message = row["conversation_id"].is_string();
                let is_about = row["about"]["id"] == **person;
                if is_message && is("author_id", person) {
                    row["body"] = ERASED.into();
                } else if is_about {
                    row["title"] = ERASED.into();
                    row["about"] = Value::Null;
                } else if is("employee_id", person) || is("owner_id", person) {
                    return None;
                }
                Some(row)
            }
        }
    }
}

/// Returns the time of the last change of a row. Messages never change.
fn changed_at(row: &Value) -> Option<&str> {
    row["updated_at"].as_str().or_else(|| row["created_at"].as_str())
}

#[derive(Deserialize)]
struct FeedPage {
    data: Vec<FeedEvent>,
    next_cursor: Option<String>,
    has_more: bool,
}

#[derive(Deserialize)]
struct FeedEvent {
    event: String,
    created_at: String,
    data: Box<RawValue>,
}

/// The members of an event's data that tell what it changes.
#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    employee_id: Option<Cow<'a, str>>,
    erased: Option<bool>,
    ids: Option<Vec<String>>,
}

impl Subject<'_> {
    /// Returns the type of the exported row, or `None` if exports do not have the resource.
    fn row_type(&self) -> Option<&'static str> {
        let (prefix, _) = self.id.as_deref()?.split_once('_')?;
        if prefix == "obj" {
            let is_own = self.scope.as_deref() == Some("employee");
            return Some(if is_own { "employee_objective" } else { "manager_objective" });
        }
        ROW_TYPES.iter().find(|(known, _)| *known == prefix).map(|(_, row_type)| *row_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn batch(events: &[(&str, Value)]) -> ChangeBatch {
        let data = events.iter().map(|(event, data)| {
            let data = RawValue::from_string(data.to_string()).unwrap();
            FeedEvent { event: (*event).to_owned(), created_at: "2026-03-02T09:00:00.000Z".to_owned(), data }
        });
        ChangeBatch::new(data.collect(), None)
    }

    fn rows(rows: &[Value]) -> BTreeMap<String, Value> {
        rows.iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row.clone())).collect()
    }

    #[test]
    fn type_of_a_row_follows_from_id_and_scope() {
        let changes = batch(&[
            ("conversation.message.created", json!({"id": "msg_1"})),
            ("objective.created", json!({"id": "obj_1", "scope": "employee"})),
            ("objective.created", json!({"id": "obj_2", "scope": "org"})),
            ("webhook.disabled", json!({"id": "whk_1"})),
            ("test.ping", json!({"message": "a test"})),
        ]);
        let types: Vec<_> = changes.upserts.iter().map(|row| row.row_type).collect();
        assert_eq!(types, ["message", "employee_objective", "manager_objective"]);
    }

    #[test]
    fn last_state_of_a_resource_counts_and_newer_rows_stay() {
        let at = |time: &str, text: &str| json!({"id": "obs_1", "updated_at": time, "observation": text});
        let changes = batch(&[("observation.created", at("1", "a")), ("observation.updated", at("2", "b"))]);
        assert_eq!(changes.upserts.len(), 1);
        let (mut old, mut new) = (rows(&[at("1", "a")]), rows(&[at("3", "c")]));
        changes.apply_to(&mut old).unwrap();
        changes.apply_to(&mut new).unwrap();
        assert_eq!((&old["obs_1"]["observation"], &new["obs_1"]["observation"]), (&json!("b"), &json!("c")));
    }

    #[test]
    fn nothing_of_an_erased_person_is_left() {
        let mut copy = rows(&[
            json!({"id": "emp_1", "first_name": "SECRET"}),
            json!({"id": "obs_1", "employee_id": "emp_1", "observation": "SECRET"}),
            json!({"id": "obj_1", "owner_id": "emp_1", "title": "SECRET"}),
            json!({"id": "msg_1", "conversation_id": "cnv_1", "author_id": "emp_1", "body": "SECRET"}),
            json!({"id": "cnv_1", "title": "SECRET", "about": {"type": "employee", "id": "emp_1"}}),
            json!({"id": "obs_2", "employee_id": "emp_2", "author_id": "emp_1", "observation": "kept"}),
            json!({"id": "cnv_2", "title": "kept"}),
            json!({"id": "msg_2", "conversation_id": "cnv_2", "author_id": "emp_2", "body": "SECRET"}),
        ]);
        let changes = batch(&[
            ("observation.created", json!({"id": "obs_3", "employee_id": "emp_1", "observation": "SECRET"})),
            ("objective.created", json!({"id": "obj_9", "erased": true})),
            ("employee.erased", json!({"id": "emp_1", "first_name": "Former"})),
            ("erasure.completed", json!({"id": "era_1", "employee_id": "emp_1"})),
            ("retention.removed", json!({"id": "rtn_1", "ids": ["cnv_2"]})),
        ]);
        changes.apply_to(&mut copy).unwrap();
        assert!(!format!("{copy:?}").contains("SECRET"), "{copy:?}");
        assert_eq!(copy.keys().collect::<Vec<_>>(), ["cnv_1", "emp_1", "msg_1", "obs_2"]);
    }
}
