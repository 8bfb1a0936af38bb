//! Changes: the feed of events as rows to store and rows to remove.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
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
use crate::generated::tables::ROW_TYPES;
#[cfg(feature = "operations")]
use crate::generated::types::ExportRow;
use crate::request::{Core, Options, Spec};

/// Maximum number of events that one request returns.
const PAGE: &str = "100";
/// Text that replaces what an erased person wrote, and the titles of conversations about erased data.
const ERASED: &str = "[erased]";
/// Type of the row of a check-in.
const CHECK_IN: &str = "check_in";

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

    /// Starts at a time at most 30 days ago, or with `now` at the next event. A cursor takes precedence.
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
    /// [`Error::Unreadable`] if the data does not fit the type of the row.
    pub fn to_typed(&self) -> Result<ExportRow, Error> {
        let data: Value = serde_json::from_str(self.data.get()).map_err(Error::Unreadable)?;
        ExportRow::try_from(json!({"type": self.row_type, "data": data})).map_err(Error::Unreadable)
    }
}

/// Selection of removed rows, by their ids or by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemovedRows {
    /// The rows with these ids, and the messages and check-ins that belong to them.
    Ids(Vec<String>),
    /// The rows about this erased person. Messages of the person, and conversations about the person or a removed row,
    /// stay without their texts.
    AboutPerson(String),
}

/// Rows that the service removed at one time.
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
    /// A copy that starts with the rows of an export, and then gets every batch from its `events_cursor` on, has
    /// the current data, without anything that was erased or removed since. Polls with growing pauses of up to 5
    /// seconds, and continues after temporary failures.
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
        let removal_rows = match &*event.event {
            "retention.removed" => Some(RemovedRows::Ids(subject.ids.clone().unwrap_or_default())),
            "erasure.completed" => {
                subject.employee_id.as_deref().map(|id| RemovedRows::AboutPerson(id.to_owned()))
            }
            "employee.erased" => subject.id.as_deref().map(|id| RemovedRows::AboutPerson(id.to_owned())),
            _ => None,
        };
        self.removals.extend(removal_rows.map(|rows| Removal { removed_at: event.created_at.clone(), rows }));
        // The service has removed the texts of this event, because its person was erased later. The event with the
        // removal follows in the feed.
        if subject.erased == Some(true) {
            return;
        }
        let (Some(row_type), Some(id)) = (subject.row_type(), subject.id.as_deref()) else { return };
        match checked_in(&event) {
            None => self.store(row_type, id, event.data.clone()),
            Some((objective, check_in)) => {
                self.store(row_type, id, objective);
                self.store(CHECK_IN, &check_in.id, check_in.data);
            }
        }
    }

    fn store(&mut self, row_type: &'static str, id: &str, data: Box<RawValue>) {
        self.upserts.retain(|row| row.id != id);
        self.upserts.push(ChangedRow { row_type, id: id.to_owned(), data });
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
            let removed_ids = retain(rows, |row| removal.apply_to(row));
            retain(rows, |row| removal.apply_to_dependent(row, |id| removed_ids.contains(id)));
        }
        Ok(())
    }
}

/// Replaces each row by what is left of it, and returns the ids of the rows of which nothing is left.
fn retain(rows: &mut BTreeMap<String, Value>, apply: impl Fn(Value) -> Option<Value>) -> BTreeSet<String> {
    let mut removed_ids = BTreeSet::new();
    rows.retain(|id, row| match apply(row.take()) {
        Some(kept) => {
            *row = kept;
            true
        }
        None => {
            removed_ids.insert(id.clone());
            false
        }
    });
    removed_ids
}

/// Overwrites the title of a conversation and removes the reference to its subject.
fn clear_subject(conversation: &mut Value) {
    conversation["title"] = ERASED.into();
    conversation["about"] = Value::Null;
}

impl Removal {
    /// Returns a stored row as it is after the removal, or `None` if the row was removed. Rows that the removal does
    /// not concern are returned unchanged. A program that applies removals row by row then calls
    /// [`Removal::apply_to_dependent`] for the rows that are left.
    #[must_use]
    pub fn apply_to(&self, mut row: Value) -> Option<Value> {
        let is = |member: &str, id: &str| row[member] == id;
        match &self.rows {
            RemovedRows::Ids(ids) => {
                let is_part = |id: &str| is("conversation_id", id) || is("objective_id", id);
                let is_removed = ids.iter().any(|id| is("id", id) || is_part(id));
                (!is_removed).then_some(row)
            }
            RemovedRows::AboutPerson(person) => {
                let is_message = row["conversation_id"].is_string();
                let is_about = row["about"]["id"] == **person;
                if is_message && is("author_id", person) {
                    row["body"] = ERASED.into();
                } else if is_about {
                    clear_subject(&mut row);
                } else if is("employee_id", person) || is("owner_id", person) {
                    return None;
                }
                Some(row)
            }
        }
    }

    /// Returns a row as it is after this removal has removed other rows: check-ins are removed with their
    /// objective, and a conversation about erased data loses its title. `None` if the row is removed. `is_removed`
    /// returns `true` for the ids of rows that this removal has removed.
    #[must_use]
    pub fn apply_to_dependent(&self, mut row: Value, is_removed: impl Fn(&str) -> bool) -> Option<Value> {
        let depends_on = |id: &Value| id.as_str().is_some_and(&is_removed);
        if depends_on(&row["objective_id"]) {
            return None;
        }
        if matches!(self.rows, RemovedRows::AboutPerson(_)) && depends_on(&row["about"]["id"]) {
            clear_subject(&mut row);
        }
        Some(row)
    }
}

/// A check-in that an event has beside its objective.
struct EventCheckIn {
    id: String,
    data: Box<RawValue>,
}

/// Returns the two rows of the event `objective.checked_in`, the objective and the check-in. `None` for all other
/// events.
fn checked_in(event: &FeedEvent) -> Option<(Box<RawValue>, EventCheckIn)> {
    if event.event != "objective.checked_in" {
        return None;
    }
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(event.data.get()).ok()?;
    let data = members.remove("check_in")?;
    let subject = serde_json::from_str::<Subject<'_>>(data.get()).ok()?;
    let id = subject.id?.into_owned();
    Some((serde_json::value::to_raw_value(&members).ok()?, EventCheckIn { id, data }))
}

/// Returns the time of the last change of a row. Messages and check-ins never change. `None` for a row without
/// times.
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

/// The members of an event's data that identify the changed resource or the removed rows.
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
mod tests;
