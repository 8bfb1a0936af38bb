//! Connectors: HR systems that manage part of a person's record (§2.3, decisions G).

mod body;
mod brake;
mod brake_count;
mod issue;
mod link;
mod provider;
mod sync;
mod traffic;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

pub use body::{BrakePatch, Draft, PATH_CHARS, Patch, parse_release, read_release};
pub use brake::{BRAKE_SECONDS, Brake, LinkedPeople};
pub use brake_count::{BrakeCount, BrakeDecision};
pub use issue::{IssueDraft, IssueFilter, IssueKind, Resolved, SyncIssue};
pub use link::{ExtraAttributes, LINK_TEXT_CHARS, ScimLink};
pub use provider::{ConnectorDetails, ConnectorFigures, MAX_FIGURE};
pub use sync::{Status, Sync, SyncStatus};
pub use traffic::{KEPT_REQUESTS, ScimRequest};

use candor_domain::access::Caller;
use candor_domain::decision::{Decision, Resource, identity};
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::{ConnectorId, ConnectorKind};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::people::connector::Type;
use candor_domain::people::{Employee, MANUAL};
use candor_domain::time::Timestamp;

/// Length of the longest `hris_source`, in characters.
pub const SOURCE_CHARS: usize = 64;
/// Maximum number of keys of custom fields that one connector manages.
pub const MAX_MAPPED_KEYS: usize = 32;
/// Maximum number of people that one release request names.
pub const MAX_RELEASED: usize = 1000;

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
    /// Limit for deactivations by an identity provider within an hour.
    pub brake: Brake,
    /// SCIM paths by custom field.
    pub custom_field_mappings: BTreeMap<String, String>,
    pub paused_at: Option<Timestamp>,
    /// Time of the last resume, from which the brake counts.
    pub resumed_at: Option<Timestamp>,
}

impl Serialize for Connector {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sync = self.last_sync.as_ref();
        let document = Document {
            id: self.id,
            kind: self.kind,
            hris_source: &self.hris_source,
            status: self.status(),
            mapped_custom_field_keys: &self.mapped_custom_field_keys,
            brake: self.brake,
            custom_field_mappings: &self.custom_field_mappings,
            paused_at: self.paused_at,
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
    #[serde(rename = "type")]
    kind: Type,
    /// Name of the HR system. Managed people have it as their `hris_source`.
    hris_source: &'a str,
    /// Status, derived from the last upload. A connector of the type `scim` is `active` or `paused`.
    status: Status,
    /// Keys of custom fields that the HR system manages, beside those of `custom_field_mappings`.
    mapped_custom_field_keys: &'a [String],
    /// Limit for deactivations by an identity provider. A request above it is refused, and the connector is
    /// paused.
    brake: Brake,
    /// Mapping of custom fields to SCIM attributes: a key of custom fields and the path of an attribute. The
    /// identity provider manages these custom fields.
    custom_field_mappings: &'a BTreeMap<String, String>,
    /// Time at which the brake paused the connector. Null if it is not paused.
    paused_at: Option<Timestamp>,
    /// Time of the last upload. Null if there was none.
    last_sync_at: Option<Timestamp>,
    /// Result of the last upload. Null if there was none.
    #[schemars(with = "Option<SyncStatus>")]
    last_sync_status: Option<&'static str>,
    /// Reason why rows of the last upload were not applied. Null if all were, and for keys that act for a person who is no
    /// org admin.
    last_sync_message: Option<&'a str>,
    /// Time of creation, which never changes.
    created_at: Timestamp,
    /// Time of the last change. It increases with every change.
    updated_at: Timestamp,
}

impl Resource for Connector {
    identity!(ConnectorKind);
}

impl Sortable for Connector {
    const ORDERS_NAME: &'static str = "ConnectorSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |connector| Key::Time(connector.created_at)),
        SortKey::ascending_by(SortBy::UpdatedAt, |connector| Key::Time(connector.updated_at)),
    ];
}

impl Connector {
    /// Returns the connector as a caller sees it. The message of a sync quotes data of people, so only callers that see
    /// all people get it, as with the issues of the connector (decision G).
    #[must_use]
    pub fn shown_to(self, caller: &Caller) -> Self {
        let hides_message = caller.require_full_sight().is_err();
        let last_sync =
            self.last_sync.map(|sync| Sync { message: sync.message.filter(|_| !hides_message), ..sync });
        Self { last_sync, ..self }
    }

    /// Returns the status of the connector.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.kind {
            Type::Scim if self.paused_at.is_some() => Status::Paused,
            Type::Scim => Status::Active,
            Type::CsvFeed => Status::from_last_sync(self.last_sync.as_ref()),
        }
    }

    /// Returns the time of the newest sync if rows of it were not applied and the connector is not paused.
    #[must_use]
    pub fn incomplete_at(&self) -> Option<Timestamp> {
        let incomplete_sync = self.last_sync.as_ref().filter(|sync| sync.status != SyncStatus::Succeeded);
        incomplete_sync.map(|sync| sync.at).filter(|_| self.status() != Status::Paused)
    }

    /// Creates a connector without a sync.
    pub fn create(id: ConnectorId, draft: Draft, at: Timestamp) -> Decision<Self> {
        let Draft { kind, hris_source, mapped_custom_field_keys, brake, custom_field_mappings } = draft;
        let state = Self {
            id,
            kind,
            hris_source,
            mapped_custom_field_keys,
            created_at: at,
            updated_at: at,
            last_sync: None,
            brake,
            custom_field_mappings,
            paused_at: None,
            resumed_at: None,
        };
        Decision::for_creation(state, "connector.create", vec![EventType::ConnectorCreated])
    }

    /// Returns the person as managed by this connector.
    #[must_use]
    pub fn in_charge_of(&self, employee: Employee) -> Employee {
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
        Some(Decision::for_change(employee, state, "employee.manage", vec![EventType::EmployeeUpdated]))
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
        Some(Decision::for_change(employee, state, "employee.release", vec![EventType::EmployeeUpdated]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_test_fixtures::employee;
    use ulid::Ulid;

    #[test]
    fn released_record_keeps_its_values() {
        let release_time = Timestamp::from_millis(9_000);
        let draft = Draft::parse(serde_json::from_str(r#"{"type": "csv_feed", "hris_source": "acme"}"#).unwrap());
        let draft = draft.unwrap();
        let connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, release_time).state;
        let person_before = employee(1);
        let managed_person = connector.manage(&person_before, release_time).unwrap().state;
        assert_eq!((managed_person.is_hris_managed, managed_person.hris_source.as_str()), (true, "acme"));
        assert!(connector.manage(&managed_person, release_time).is_none());
        let released_person = connector.release(&managed_person, release_time).unwrap().state;
        assert_eq!(Employee { updated_at: person_before.updated_at, ..released_person.clone() }, person_before);
        assert!(connector.release(&released_person, release_time).is_none());
    }
}
