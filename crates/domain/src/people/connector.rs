//! Connectors: how an HR system comes to own part of a person's record (§2.3, decisions G).

mod sync;

use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

pub use sync::{Status, Sync, SyncStatus};

use super::custom::MAX_KEY_CHARS;
use super::{Employee, MANUAL};
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, Reference, Word, as_word};
use crate::id::{ConnectorId, ConnectorKind, EmployeeKind};
use crate::json::Object;
use crate::page::{Key, Listed, Order, SortBy};
use crate::problem::{Flaw, Problems};
use crate::rule::{self, Checked, Field, List, OneOf, Refers, Shape, Text};
use crate::time::Timestamp;

/// The longest `hris_source`.
pub const SOURCE_CHARS: usize = 64;
/// The most custom keys a connector owns.
pub const MAX_MAPPED_KEYS: usize = 32;
/// The most people that one release names.
pub const MAX_RELEASED: usize = 1000;

const READ_ONLY: &[&str] =
    &["id", "status", "last_sync_at", "last_sync_status", "last_sync_message", "created_at", "updated_at"];

const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word(), "Transfer method of the records.");
const HRIS_SOURCE: Field<Checked<String>> = Field::new(
    "hris_source",
    rule::rule(
        |value| {
            let it = rule::as_text(value)?;
            slug(it).map(|()| it.to_owned())
        },
        || Shape::Slug { max: SOURCE_CHARS, except: MANUAL },
    ),
    "Name of the HR system: at most {max} lower-case letters, digits, `-` and `_`. Must not be `manual`.",
);
const MAPPED_KEYS: Field<List<Text>> = Field::new(
    "mapped_custom_field_keys",
    rule::list(MAX_MAPPED_KEYS, rule::text(1..=MAX_KEY_CHARS)),
    "Keys of custom fields that the HR system manages, at most {max}.",
);
const RELEASED: Field<List<Refers<EmployeeKind>>> = Field::new(
    "employee_ids",
    rule::list(MAX_RELEASED, rule::reference("a managed person")),
    "People to release, at most {max}. Default: all people that the connector manages.",
);

/// How the HR system's data comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// As CSV files.
    CsvFeed,
}

impl Word for Type {
    const NAME: &'static str = "ConnectorType";
}

/// A connection to an HR system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connector {
    /// Its id.
    pub id: ConnectorId,
    /// How data comes in.
    pub kind: Type,
    /// What the people it manages show as `hris_source`.
    pub hris_source: String,
    /// The custom keys it owns.
    pub mapped_custom_field_keys: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What became of what the HR system sent last.
    pub last_sync: Option<Sync>,
}

impl Serialize for Connector {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sync = self.last_sync.as_ref();
        let document = Document {
            id: self.id,
            kind: self.kind,
            hris_source: &self.hris_source,
            status: Status::after(sync),
            mapped_custom_field_keys: &self.mapped_custom_field_keys,
            last_sync_at: sync.map(|it| it.at),
            last_sync_status: sync.map(|it| it.status.word()),
            last_sync_message: sync.and_then(|it| it.message.as_deref()),
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        document.serialize(to)
    }
}

/// A connection as it is shown.
#[derive(Serialize)]
struct Document<'a> {
    id: ConnectorId,
    #[serde(rename = "type", serialize_with = "as_word")]
    kind: Type,
    hris_source: &'a str,
    #[serde(serialize_with = "as_word")]
    status: Status,
    mapped_custom_field_keys: &'a [String],
    last_sync_at: Option<Timestamp>,
    last_sync_status: Option<&'static str>,
    last_sync_message: Option<&'a str>,
    created_at: Timestamp,
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

impl Listed for Connector {
    const ORDERS_NAME: &'static str = "ConnectorSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["updated_at", "-updated_at"] },
    ];
}

/// The body of a creation, valid in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    kind: Type,
    hris_source: String,
    mapped_custom_field_keys: Vec<String>,
}

/// A slug: lower-case letters, digits, and dashes or underscores between them.
fn slug(text: &str) -> Result<(), Flaw> {
    crate::text::bounded(text, 1..=SOURCE_CHARS)?;
    let inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-' || it == b'_';
    let edges = [text.as_bytes().first(), text.as_bytes().last()];
    let edged = edges.iter().all(|it| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit()));
    if edged && text.bytes().all(inner) && text != MANUAL {
        return Ok(());
    }
    Err(Flaw::format("a slug of lower-case letters, digits, - and _, other than `manual`"))
}

impl Draft {
    /// The fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (kind, hris_source) = (fields.required(&TYPE), fields.required(&HRIS_SOURCE));
        let keys = fields.present(&MAPPED_KEYS);
        Some(Self { kind: kind?, hris_source: hris_source?, mapped_custom_field_keys: keys.unwrap_or_default() })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(body: Object) -> Result<Self, Problems> {
        Fields::of_new(body, READ_ONLY, Self::read)
    }
}

/// The fields of a release: whom to give back; nobody named = everybody.
pub fn read_release(fields: &mut Fields) -> Option<Vec<Reference<EmployeeKind>>> {
    fields.present(&RELEASED)
}

/// Reads the body of a release: whom to give back; nobody named = everybody.
///
/// # Errors
/// Every field that is wrong.
pub fn parse_release(body: Object) -> Result<Option<Vec<Reference<EmployeeKind>>>, Problems> {
    let mut fields = Fields::new(body);
    let people = read_release(&mut fields);
    fields.finish(Some(people))
}

impl Connector {
    /// Connects an HR system.
    pub fn create(id: ConnectorId, draft: Draft, at: Timestamp) -> Decision<Self> {
        let Draft { kind, hris_source, mapped_custom_field_keys } = draft;
        let state =
            Self { id, kind, hris_source, mapped_custom_field_keys, created_at: at, updated_at: at, last_sync: None };
        Decision::created(state, "connector.create", vec![])
    }

    /// A record that it is in charge of.
    pub(crate) fn in_charge_of(&self, employee: Employee) -> Employee {
        Employee {
            is_hris_managed: true,
            hris_source: self.hris_source.clone(),
            connector_id: Some(self.id),
            ..employee
        }
    }

    /// Takes charge of a person's record; `None` if it is in charge already.
    #[must_use]
    pub fn manage(&self, employee: &Employee, at: Timestamp) -> Option<Decision<Employee>> {
        if employee.connector_id == Some(self.id) {
            return None;
        }
        let updated_at = at.strictly_after(employee.updated_at);
        let state = self.in_charge_of(Employee { updated_at, ..employee.clone() });
        Some(Decision::changed(employee, state, "employee.manage", vec![EventType::EmployeeUpdated]))
    }

    /// Gives a person's record back, with its values; `None` if it is not in charge.
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
    fn a_record_is_managed_until_it_is_released_and_keeps_its_values() {
        let at = Timestamp::from_millis(9_000);
        let draft = Draft { kind: Type::CsvFeed, hris_source: "acme".to_owned(), mapped_custom_field_keys: vec![] };
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
    fn a_source_is_a_slug() {
        for good in ["a", "work-day_2", &"a".repeat(64)] {
            assert_eq!(slug(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "manual", &"a".repeat(65)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }
}
