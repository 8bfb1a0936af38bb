//! The access that shows the values of a resource outside of GET: its read scope, and the admin context and the sight
//! that GET of it needs (decisions F6, G).

use super::{AuditEntry, Target};
use crate::access::{Access, Caller, Permission};

/// Actions on a person that tell of a legal hold.
const HOLD_ACTIONS: [&str; 2] = ["employee.hold", "employee.release_hold"];
/// Actions on a person that tell of an account at an identity provider.
const LINK_ACTIONS: [&str; 3] =
    ["employee.confirm_identity", "employee.link_identity", "employee.unlink_identity"];

impl Target {
    /// Returns the access that GET of the resource needs. A kind without GET needs the most.
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
    /// Returns the access that shows the values of the entry: the one that GET of them needs.
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
