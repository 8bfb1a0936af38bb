//! The access that a caller needs to see the values of a resource in another response than its own GET, such as in the
//! audit log (decisions F6, G). It is the access of GET: scope, admin context and the need to see the whole data set.

use super::{AuditEntry, Target};
use crate::access::{Access, Caller, Permission};

/// Actions on a person that tell of a legal hold.
const HOLD_ACTIONS: [&str; 2] = ["employee.hold", "employee.release_hold"];
/// Actions on a person that tell of an account at an identity provider.
const LINK_ACTIONS: [&str; 3] =
    ["employee.confirm_identity", "employee.link_identity", "employee.unlink_identity"];

impl Target {
    /// Returns the access that GET of the resource needs. A kind without GET needs an admin-level key of the
    /// organization with the scope `settings:read`.
    #[must_use]
    pub fn read_access(&self) -> Access {
        match &*self.kind {
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
            "erasure" | "retention_run" => Access::organization_admin(Permission::EmployeesErase),
            _ => Access::organization_admin(Permission::SettingsRead),
        }
    }
}

impl AuditEntry {
    /// Returns the access that a caller needs to see the values of the entry: the access of GET of the resource,
    /// or more if the entry tells of a legal hold or of an account at an identity provider.
    #[must_use]
    pub fn read_access(&self) -> Access {
        if HOLD_ACTIONS.contains(&&*self.action) {
            Access::organization_admin(Permission::EmployeesErase)
        } else if LINK_ACTIONS.contains(&&*self.action) {
            Access::organization_admin(Permission::SettingsRead)
        } else {
            self.target.read_access()
        }
    }

    /// Returns `true` if the caller may see the values of the entry.
    #[must_use]
    pub fn shows_values_to(&self, caller: &Caller) -> bool {
        self.read_access().check(caller).is_ok()
    }
}
