//! The access that a caller needs to see the values of a resource in another response than its own GET, such as in the
//! audit log (decisions F6, G). It is the access of GET: scope, admin context and the need to see the whole data set.

use super::actions::find_shown_kind;
use super::{AuditEntry, Target};
use crate::access::{Access, Caller, Permission};

/// Returns the access that GET of a kind of resource needs. A kind without GET needs an admin-level key of the
/// organization with the scope `settings:read`.
fn read_access_of(kind: &str) -> Access {
    match kind {
        "employee" | "department" | "invitation" => Access::scope(Permission::EmployeesRead),
        "observation" | "attribute" => Access::scope(Permission::ObservationsRead),
        "objective" | "check_in" => Access::scope(Permission::ObjectivesRead),
        "summary" => Access::scope(Permission::SummariesRead),
        "conversation" | "message" => Access::scope(Permission::ConversationsRead),
        "assignment" => Access::scope(Permission::AssignmentsRead),
        "notification" => Access::scope(Permission::NotificationsRead),
        "webhook" => Access::scope(Permission::WebhooksRead).full_sight(),
        "organization" => Access::scope(Permission::SettingsRead),
        "api_key" | "connector" => Access::settings_admin(Permission::SettingsRead),
        "sync_issue" => Access::settings_admin(Permission::SettingsRead).full_sight(),
        "personal_data" => {
            Access::organization_admin(Permission::EmployeesRead).or_scope(Permission::EmployeesErase)
        }
        "erasure" | "legal_hold" | "retention_run" => Access::organization_admin(Permission::EmployeesErase),
        // Also "identity_link" and "identity_provider".
        _ => Access::organization_admin(Permission::SettingsRead),
    }
}

impl Target {
    /// Returns the access that GET of the resource needs.
    #[must_use]
    pub fn read_access(&self) -> Access {
        read_access_of(&self.kind)
    }

    /// Returns the access that a caller needs to see texts that quote the resource. Texts about a connector quote its sync
    /// issues, which concern people.
    #[must_use]
    pub fn quote_access(&self) -> Access {
        read_access_of(if self.kind == "connector" { "sync_issue" } else { &self.kind })
    }
}

impl AuditEntry {
    /// Returns the access that a caller needs to see the values of the entry: that of GET of the resource that they show,
    /// see [`ACTIONS`](super::ACTIONS). An entry about a person can show a legal hold, an erasure or an account at an
    /// identity provider.
    #[must_use]
    pub fn read_access(&self) -> Access {
        read_access_of(find_shown_kind(&self.action).unwrap_or(&self.target.kind))
    }

    /// Returns `true` if the caller may see the values of the entry.
    #[must_use]
    pub fn shows_values_to(&self, caller: &Caller) -> bool {
        self.read_access().check(caller).is_ok()
    }
}
