//! All actions of the audit log, which screens offer as a filter, and the creation of entries.

use super::{Actor, AuditDraft, AuditEntry, Change, Origin};
use crate::decision::Resource;
use crate::id::AuditId;
use crate::json::Value;
use crate::people::Employee;
use crate::text::address_key;
use crate::time::Timestamp;

/// Name of the member of a person that has the e-mail address.
const ADDRESS: &str = "email";

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
    "employee.change_sign_in_address",
    "employee.confirm_identity",
    "employee.create",
    "employee.deactivate",
    "employee.erase",
    "employee.hold",
    "employee.invite",
    "employee.link",
    "employee.link_identity",
    "employee.log_out_identity",
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
    "erasure.rekey",
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
    "session.begin",
    "session.refuse",
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
    /// Completes this draft to the audit entry of an actor and a request.
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

impl AuditEntry {
    /// Returns `true` if the entry records that a person got the address of another mailbox, with which the person may
    /// sign in (decision B9). The address that an erasure removes does not count.
    #[must_use]
    pub fn changes_sign_in_address(&self) -> bool {
        let is_of_person = self.target.kind == Employee::NAME && self.action != "employee.erase";
        let has_other_mailbox = |change: &Change| match (&change.from, &change.to) {
            (Value::Text(from), Value::Text(to)) => address_key(from) != address_key(to),
            _ => false,
        };
        is_of_person && self.changes.get(ADDRESS).is_some_and(has_other_mailbox)
    }

    /// Returns a second entry, which records the change of the address alone.
    #[must_use]
    pub fn of_sign_in_address(&self, id: AuditId) -> Self {
        let mut entry = self.without_values();
        entry.id = id;
        "employee.change_sign_in_address".clone_into(&mut entry.action);
        entry
            .changes
            .extend(self.changes.get_key_value(ADDRESS).map(|(name, change)| (name.clone(), change.clone())));
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::*;

    #[test]
    fn actions_are_sorted_and_distinct() {
        assert!(ACTIONS.is_sorted_by(|one, next| one < next));
        assert!(ACTIONS.iter().all(|action| action.split('.').count() == 2));
    }

    #[test]
    fn another_mailbox_has_an_entry_of_its_own() {
        let entry = |kind: &str, action: &str, from: &str, to: &str| {
            let draft = AuditDraft {
                action: "employee.update",
                target: Target { kind: kind.to_owned(), id: "emp_1".to_owned() },
                changes: [
                    ("email".to_owned(), Change::new(&from, &to)),
                    ("job_title".to_owned(), Change::new(&"a", &"b")),
                ]
                .into(),
                comment: Some("x".to_owned()),
            };
            let id = AuditId::from_bytes([1; 16]);
            let actor = Actor::system("test");
            let entry = draft.into_entry(id, Timestamp::from_millis(1), actor, None, Origin::default());
            AuditEntry { action: action.to_owned(), ..entry }
        };
        let (ada, eve) = ("ada@example.com", "eve@example.com");
        for (entry, wanted) in [
            (entry("employee", "employee.update", ada, eve), true),
            (entry("employee", "employee.rehire", ada, eve), true),
            (entry("employee", "employee.update", ada, "Ada@EXAMPLE.com"), false),
            (entry("employee", "employee.erase", ada, eve), false),
            (entry("invitation", "invitation.mail", ada, eve), false),
        ] {
            assert_eq!(entry.changes_sign_in_address(), wanted, "{entry:?}");
        }
        let update = entry("employee", "employee.update", ada, eve);
        let own_entry = update.of_sign_in_address(AuditId::from_bytes([2; 16]));
        assert_eq!((own_entry.action.as_str(), own_entry.comment), ("employee.change_sign_in_address", None));
        assert_eq!(own_entry.changes, [("email".to_owned(), Change::new(&ada, &eve))].into());
        assert_eq!((own_entry.target, own_entry.actor), (update.target, update.actor));
    }
}
