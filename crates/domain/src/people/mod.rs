//! People: the organization's system of record for its employees (§2.3, §3.3, §4.3).

mod change;
pub mod connector;
mod custom;
mod hold;
pub mod invitation;
mod lifecycle;
mod list;
mod org_admin;
pub mod personal_data;

pub use change::{
    Draft, MAX_LINES_AT_ONCE, MAX_REPORTING_DEPTH, ManagedFields, Patch, References, ReportingLine,
    too_deep as reporting_too_deep, too_wide as move_too_wide,
};
pub use custom::{
    Custom, CustomFields, CustomPatch, MAX_FIELDS, MAX_KEY_CHARS, MAX_VALUE_CHARS, MAX_VISIBLE_FIELDS,
};
pub use hold::{Hold, HoldDraft, KnownHold, LegalHold, RELEASE};
pub use invitation::Invitation;
pub use lifecycle::Rehire;
pub use list::{Expand, Filter, StatusFilter};

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::content::{content, optional, or, required};
use crate::decision::{Resource, identity};
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{ConnectorId, DepartmentId, EmployeeId, EmployeeKind};
use crate::rule;
use crate::text::{address_key, fold_case};
use crate::time::Timestamp;

/// Length of the longest first name and of the longest last name, in characters (§8).
pub const NAME_CHARS: usize = 80;
/// Length of the longest job title, in characters.
pub const JOB_TITLE_CHARS: usize = 120;
/// Maximum number of people that `expand=direct_reports` inlines (§8).
pub const MAX_DIRECT_REPORTS: u16 = 100;
/// Value of `hris_source` for people without an HR system (decision D8).
pub const MANUAL: &str = "manual";

/// The role of a person in the organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// A person without people or settings to manage.
    Employee,
    /// A person who manages other people.
    Manager,
    /// A person who administers the organization.
    OrgAdmin,
}

string_enum!(Role, "Role");

/// The employment status of a person (§3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// The person works for the organization.
    Active,
    /// The person has left the organization.
    Deactivated,
    /// The person was invited and has not accepted yet.
    PendingInvite,
}

string_enum!(Status, "EmployeeStatus");

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// A person of the organization.
    #[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
    pub struct Employee {
        /// Id of the person, with the prefix `emp_`.
        pub id: EmployeeId,
        /// E-mail address as given. Unique among all people of the organization, compared without case. Spellings of
        /// one domain, such as `müller.example` and `xn--mller-kva.example`, count as equal.
        pub email: String => set by required(rule::email()),
        /// Id of the person in another system. Unique in the organization. Null if there is none.
        pub external_id: Option<String> => set by optional(external_id::rule()),
        /// First name of the person.
        pub first_name: String => set by required(rule::text(1..=NAME_CHARS)),
        /// Last name of the person.
        pub last_name: String => set by required(rule::text(1..=NAME_CHARS)),
        /// Job title. Null if there is none.
        pub job_title: Option<String> => set by optional(rule::text(1..=JOB_TITLE_CHARS)),
        /// Role of the person in the organization.
        pub role: Role => set by or(rule::word().with_trimming(), Role::Employee),
        /// Id of the manager. Null at the top of a reporting line.
        pub manager_id: Option<EmployeeId>,
        /// Id of the department. Null if there is none.
        pub department_id: Option<DepartmentId>,
        /// Employment status of the person.
        pub status: Status,
        /// Custom data about the person.
        pub custom_fields: CustomFields,
        /// `true` if an HR system manages this record.
        pub is_hris_managed: bool,
        /// HR system that manages this record, or `manual` if there is none.
        pub hris_source: String,
        /// The connector that manages part of this record.
        #[serde(skip)]
        pub connector_id: Option<ConnectorId>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Time of deactivation. Null unless the status is `deactivated`.
        pub deactivated_at: Option<Timestamp>,
        /// Time of the last reactivation or rehire. Older keys stay off until an admin enables them. Null if the
        /// person never left.
        pub returned_at: Option<Timestamp>,
        /// Time at which the person last got another mailbox, with which they may sign in (decision B9).
        #[serde(skip)]
        pub address_changed_at: Option<Timestamp>,
        /// The legal hold, which keeps the data of the person from being erased.
        #[serde(skip)]
        pub hold: Option<Hold>,
        /// Number of changes of the hold, which readers of the person must not see.
        #[serde(skip)]
        pub hold_changes: u32,
        /// Time at which a pseudonym replaced the person. The erasure then removes the other data.
        #[serde(skip)]
        pub erased_at: Option<Timestamp>,
        /// `true` if another person had the mailbox before addresses were compared by mailbox. The person is then
        /// found by no key until they get another address.
        #[serde(skip)]
        pub is_twin: bool,
    }
}

impl Resource for Employee {
    identity!(EmployeeKind);

    fn unseen_changes(&self) -> u32 {
        self.hold_changes
    }

    fn fields_of(&self) -> Option<EmployeeId> {
        (!self.custom_fields.0.is_empty()).then_some(self.id)
    }

    fn field_names(&self) -> Vec<&str> {
        self.custom_fields.0.keys().map(String::as_str).collect()
    }

    fn retain_fields(&mut self, is_shown: &dyn Fn(&str) -> bool) {
        self.custom_fields.0.retain(|key, _| is_shown(key));
    }
}

impl Employee {
    /// Returns the first and the last name, for display.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }

    /// Returns the key under which the address is stored: the key of the mailbox, or the lower-case text of a
    /// twin.
    #[must_use]
    pub fn email_key(&self) -> String {
        if self.is_twin { fold_case(&self.email) } else { address_key(&self.email) }
    }

    /// Returns `true` if this is an address of the person's mailbox.
    #[must_use]
    pub fn has_mailbox(&self, address: &str) -> bool {
        address_key(&self.email) == address_key(address)
    }

    /// Returns `true` if the person keeps their key with this address: it names the same mailbox, or for a twin it
    /// is the same text.
    #[must_use]
    pub fn keeps_key_with(&self, address: &str) -> bool {
        if self.is_twin { self.email == address } else { self.has_mailbox(address) }
    }

    /// Returns the time of the deactivation of a person who is deactivated and not erased.
    #[must_use]
    pub fn left_at(&self) -> Option<Timestamp> {
        self.deactivated_at.filter(|_| self.status == Status::Deactivated && self.erased_at.is_none())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    /// Creates an active person with this number.
    pub(crate) fn employee(number: u128) -> Employee {
        let body = format!(r#"{{"email":"person{number}@example.com","first_name":"Ada","last_name":"Example"}}"#);
        let draft = Draft::parse(serde_json::from_str(&body).unwrap()).unwrap();
        let id = EmployeeId::from_ulid(Ulid(number));
        Employee::create(id, draft, &References::default(), Timestamp::from_millis(1_000)).unwrap().state
    }
}
