//! All actions of the audit log, which screens offer as a filter, and the creation of entries.

use super::{Actor, AuditDraft, AuditEntry, Origin};
use crate::id::AuditId;
use crate::time::Timestamp;

/// Actions that entries can have, in the order of their names.
pub const ACTIONS: &[&str] = &[
    "api_key.announce_end",
    "api_key.create",
    "api_key.create_link",
    "api_key.open_link",
    "api_key.remind",
    "api_key.revoke",
    "api_key.rotate",
    "api_key.update",
    "assignment.cancel",
    "assignment.create",
    "assignment.submit",
    "attribute.archive",
    "attribute.create",
    "attribute.restore",
    "attribute.update",
    "connector.create",
    "connector.open_issue",
    "connector.pause",
    "connector.release",
    "connector.resolve_issue",
    "connector.resume",
    "connector.sync",
    "connector.update",
    "conversation.archive",
    "conversation.create",
    "conversation.update",
    "department.archive",
    "department.create",
    "department.restore",
    "department.update",
    "employee.accept_invitation",
    "employee.confirm_identity",
    "employee.create",
    "employee.deactivate",
    "employee.erase",
    "employee.hold",
    "employee.invite",
    "employee.link",
    "employee.link_identity",
    "employee.manage",
    "employee.reactivate",
    "employee.read_personal_data",
    "employee.rehire",
    "employee.release",
    "employee.release_hold",
    "employee.unlink_identity",
    "employee.update",
    "erasure.complete",
    "erasure.continue",
    "identity_provider.create",
    "identity_provider.delete",
    "identity_provider.prove",
    "identity_provider.rekey",
    "identity_provider.update",
    "invitation.mail",
    "message.create",
    "notification.read",
    "notification.read_all",
    "objective.approve",
    "objective.archive",
    "objective.check_in",
    "objective.complete",
    "objective.create",
    "objective.miss",
    "objective.reject",
    "objective.start",
    "objective.submit",
    "objective.update",
    "observation.archive",
    "observation.create",
    "observation.restore",
    "observation.update",
    "organization.continue_export",
    "organization.create",
    "organization.export",
    "organization.update",
    "retention.begin",
    "retention.complete",
    "retention.erase",
    "retention.remove",
    "summary.approve",
    "summary.archive",
    "summary.create",
    "summary.feedback",
    "summary.return",
    "summary.share",
    "summary.submit",
    "summary.update",
    "test_data.reset",
    "webhook.create",
    "webhook.delete",
    "webhook.disable",
    "webhook.redeliver",
    "webhook.rekey",
    "webhook.replay",
    "webhook.report_failing",
    "webhook.rotate",
    "webhook.test",
    "webhook.update",
];

impl AuditDraft {
    /// Creates the entry of an actor.
    #[must_use]
    pub fn into_entry(
        self,
        id: AuditId,
        occurred_at: Timestamp,
        actor: Actor,
        request_id: Option<String>,
        context: Origin,
    ) -> AuditEntry {
        debug_assert!(ACTIONS.contains(&self.action), "ACTIONS lacks {}", self.action);
        let Self { action, target, changes, comment } = self;
        AuditEntry {
            id,
            occurred_at,
            action: action.to_owned(),
            actor,
            target,
            changes,
            comment,
            request_id,
            context,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_sorted_and_distinct() {
        assert!(ACTIONS.is_sorted_by(|one, next| one < next));
        assert!(ACTIONS.iter().all(|action| action.split('.').count() == 2));
    }
}
