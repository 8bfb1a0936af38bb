//! Connectors: HR systems that manage part of a person's record (§2.3, decisions G).

mod brake;
mod issue;
mod link;
mod sync;
mod traffic;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

pub use brake::{BRAKE_SECONDS, Brake, LinkedPeople};
pub use issue::{IssueDraft, IssueFilter, IssueKind, Resolved, SyncIssue};
pub use link::{LINK_TEXT_CHARS, ScimLink};
pub use sync::{Status, Sync, SyncStatus};
pub use traffic::{KEPT_REQUESTS, ScimRequest};

use super::custom::MAX_KEY_CHARS;
use super::{Employee, MANUAL};
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, Reference, StringEnum, as_word};
use crate::id::{ConnectorId, ConnectorKind, EmployeeKind};
use crate::json::Object;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::problem::{ValidationErrors, ValueError};
use crate::rule::{self, Checked, Field, List, OneOf, ReferenceRule, Shape, Text};
use crate::schema::OpenWord;
use crate::time::Timestamp;

/// Length of the longest `hris_source`, in characters.
pub const SOURCE_CHARS: usize = 64;
/// Most keys of custom fields that one connector manages.
pub const MAX_MAPPED_KEYS: usize = 32;
/// Most people that one release request names.
pub const MAX_RELEASED: usize = 1000;

const READ_ONLY: &[&str] =
    &["id", "status", "last_sync_at", "last_sync_status", "last_sync_message", "created_at", "updated_at"];

const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word());
const HRIS_SOURCE: Field<Checked<String>> = Field::new(
    "hris_source",
    rule::rule(
        |value| {
            let text = rule::as_text(value)?;
            slug(text).map(|()| text.to_owned())
        },
        || Shape::Slug { max: SOURCE_CHARS, except: MANUAL },
    ),
);
const MAPPED_KEYS: Field<List<Text>> =
    Field::new("mapped_custom_field_keys", rule::list(MAX_MAPPED_KEYS, rule::text(1..=MAX_KEY_CHARS)));
const RELEASED: Field<List<ReferenceRule<EmployeeKind>>> = Field::with_about(
    "employee_ids",
    rule::list(MAX_RELEASED, rule::reference()),
    "People to release, at most {max}. Default: all people that the connector manages.",
);

/// The way in which the HR system sends its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// Uploads of CSV files.
    CsvFeed,
}

impl StringEnum for Type {
    const NAME: &'static str = "ConnectorType";
}

/// A connector to an HR system.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "Document<'static>")]
#[expect(missing_docs, reason = "members of the contract, decisions G")]
pub struct Connector {
    pub id: ConnectorId,
    pub kind: Type,
    /// Value of `hris_source` of the people that the connector manages.
    pub hris_source: String,
    /// Keys of custom fields that the connector manages.
    pub mapped_custom_field_keys: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Result of the newest sync.
    pub last_sync: Option<Sync>,
}

impl Serialize for Connector {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sync = self.last_sync.as_ref();
        let document = Document {
            id: self.id,
            kind: self.kind,
            hris_source: &self.hris_source,
            status: Status::following(sync),
            mapped_custom_field_keys: &self.mapped_custom_field_keys,
            last_sync_at: sync.map(|sync| sync.at),
            last_sync_status: sync.map(|sync| sync.status.word()),
            last_sync_message: sync.and_then(|sync| sync.message.as_deref()),
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        document.serialize(to)
    }
}

/// The JSON form of a connector.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    /// Id of the connector, with the prefix `con_`.
    id: ConnectorId,
    /// Transfer method of the records.
    #[serde(rename = "type", serialize_with = "as_word")]
    #[schemars(with = "OpenWord<Type>")]
    kind: Type,
    /// Name of the HR system. Managed people have it as their `hris_source`.
    hris_source: &'a str,
    /// Status, derived from the last upload.
    #[serde(serialize_with = "as_word")]
    #[schemars(with = "OpenWord<Status>")]
    status: Status,
    /// Keys of custom fields that the HR system manages.
    mapped_custom_field_keys: &'a [String],
    /// Time of the last upload. Null if there was none.
    last_sync_at: Option<Timestamp>,
    /// Result of the last upload. Null if there was none.
    #[schemars(with = "Option<OpenWord<SyncStatus>>")]
    last_sync_status: Option<&'static str>,
    /// Reason why rows of the last upload were not applied. Null if all were.
    last_sync_message: Option<&'a str>,
    /// Time of creation, which never changes.
    created_at: Timestamp,
    /// Time of the last change. It increases with every change.
    updated_at: Timestamp,
}

impl Resource for Connector {
    type Kind = ConnectorKind;
    const NAME: &'static str = "connector";

    fn id(&self) -> ConnectorId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

impl Sortable for Connector {
    const ORDERS_NAME: &'static str = "ConnectorSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey {
            by: SortBy::CreatedAt,
            key: |connector| Key::Time(connector.created_at),
            words: &["-created_at", "created_at"],
        },
        SortKey {
            by: SortBy::UpdatedAt,
            key: |connector| Key::Time(connector.updated_at),
            words: &["updated_at", "-updated_at"],
        },
    ];
}

/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    kind: Type,
    hris_source: String,
    mapped_custom_field_keys: Vec<String>,
}

/// Checks a slug: lower-case letters and digits, with dashes or underscores between them.
fn slug(text: &str) -> Result<(), ValueError> {
    crate::text::bounded(text, 1..=SOURCE_CHARS)?;
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    let edges = [text.as_bytes().first(), text.as_bytes().last()];
    let edged =
        edges.iter().all(|edge| edge.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    if edged && text.bytes().all(inner) && text != MANUAL {
        return Ok(());
    }
    Err(ValueError::format("a slug of lower-case letters, digits, - and _, other than `manual`"))
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (kind, hris_source) = (fields.required(&TYPE), fields.required(&HRIS_SOURCE));
        let keys = fields.present(&MAPPED_KEYS);
        Some(Self { kind: kind?, hris_source: hris_source?, mapped_custom_field_keys: keys.unwrap_or_default() })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, Self::read)
    }
}

/// Declares and reads the people of a release; `None` means everyone that the connector manages.
pub fn read_release(fields: &mut Fields) -> Option<Vec<Reference<EmployeeKind>>> {
    fields.present(&RELEASED)
}

/// Reads the people from the body of a release; `None` means everyone that the connector manages.
///
/// # Errors
/// Returns every invalid field.
pub fn parse_release(body: Object) -> Result<Option<Vec<Reference<EmployeeKind>>>, ValidationErrors> {
    let mut fields = Fields::new(body);
    let people = read_release(&mut fields);
    fields.finish(Some(people))
}

impl Connector {
    /// Creates a connector without a sync.
    pub fn create(id: ConnectorId, draft: Draft, at: Timestamp) -> Decision<Self> {
        let Draft { kind, hris_source, mapped_custom_field_keys } = draft;
        let state = Self {
            id,
            kind,
            hris_source,
            mapped_custom_field_keys,
            created_at: at,
            updated_at: at,
            last_sync: None,
        };
        Decision::created(state, "connector.create", vec![EventType::ConnectorCreated])
    }

    /// Returns the person as managed by this connector.
    pub(crate) fn in_charge_of(&self, employee: Employee) -> Employee {
        Employee {
            is_hris_managed: true,
            hris_source: self.hris_source.clone(),
            connector_id: Some(self.id),
            ..employee
        }
    }

    /// Makes this connector the manager of a person's record, or returns `None` if it is already.
    #[must_use]
    pub fn manage(&self, employee: &Employee, at: Timestamp) -> Option<Decision<Employee>> {
        if employee.connector_id == Some(self.id) {
            return None;
        }
        let updated_at = at.strictly_after(employee.updated_at);
        let state = self.in_charge_of(Employee { updated_at, ..employee.clone() });
        Some(Decision::changed(employee, state, "employee.manage", vec![EventType::EmployeeUpdated]))
    }

    /// Ends the management of a person's record and keeps its values; `None` if another source manages the record.
    #[must_use]
    pub fn release(&self, employee: &Employee, at: Timestamp) -> Option<Decision<Employee>> {
        if employee.connector_id != Some(self.id) {
            return None;
        }
        let state = Employee {
            is_hris_managed: false,
            hris_source: MANUAL.to_owned(),
            connector_id: None,
            updated_at: at.strictly_after(employee.updated_at),
            ..employee.clone()
        };
        Some(Decision::changed(employee, state, "employee.release", vec![EventType::EmployeeUpdated]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;
    use ulid::Ulid;

    #[test]
    fn released_record_keeps_its_values() {
        let at = Timestamp::from_millis(9_000);
        let draft =
            Draft { kind: Type::CsvFeed, hris_source: "acme".to_owned(), mapped_custom_field_keys: vec![] };
        let connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, at).state;
        let before = employee(1);
        let managed = connector.manage(&before, at).unwrap().state;
        assert_eq!((managed.is_hris_managed, managed.hris_source.as_str()), (true, "acme"));
        assert!(connector.manage(&managed, at).is_none());
        let released = connector.release(&managed, at).unwrap().state;
        assert_eq!(Employee { updated_at: before.updated_at, ..released.clone() }, before);
        assert!(connector.release(&released, at).is_none());
    }

    #[test]
    fn hris_source_must_be_a_slug() {
        for good in ["a", "work-day_2", &"a".repeat(64)] {
            assert_eq!(slug(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "manual", &"a".repeat(65)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }
}
