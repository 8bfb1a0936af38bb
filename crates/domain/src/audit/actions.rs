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

/// Actions that entries can have, in the order of their names, each with the kind of resource that its values show: mostly
/// the target. Values of an entry need the access that GET of this kind needs.
pub const ACTIONS: &[(&str, &str)] = &[
    ("api_key.announce_end", "api_key"),
    ("api_key.create", "api_key"),
    ("api_key.create_link", "api_key"),
    ("api_key.open_link", "api_key"),
    ("api_key.remind", "api_key"),
    ("api_key.revoke", "api_key"),
    ("api_key.rotate", "api_key"),
    ("api_key.update", "api_key"),
    ("assignment.cancel", "assignment"),
    ("assignment.create", "assignment"),
    ("assignment.submit", "assignment"),
    ("attribute.archive", "attribute"),
    ("attribute.create", "attribute"),
    ("attribute.restore", "attribute"),
    ("attribute.update", "attribute"),
    ("connector.create", "connector"),
    ("connector.open_issue", "sync_issue"),
    ("connector.pause", "connector"),
    ("connector.release", "connector"),
    ("connector.resolve_issue", "sync_issue"),
    ("connector.resume", "connector"),
    ("connector.sync", "connector"),
    ("connector.update", "connector"),
    ("conversation.archive", "conversation"),
    ("conversation.create", "conversation"),
    ("conversation.update", "conversation"),
    ("department.archive", "department"),
    ("department.create", "department"),
    ("department.restore", "department"),
    ("department.update", "department"),
    ("employee.accept_invitation", "employee"),
    ("employee.change_sign_in_address", "employee"),
    ("employee.confirm_identity", "identity_link"),
    ("employee.create", "employee"),
    ("employee.deactivate", "employee"),
    ("employee.erase", "erasure"),
    ("employee.hold", "legal_hold"),
    ("employee.invite", "employee"),
    ("employee.link", "employee"),
    ("employee.link_identity", "identity_link"),
    ("employee.log_out_identity", "identity_link"),
    ("employee.manage", "employee"),
    ("employee.reactivate", "employee"),
    ("employee.read_personal_data", "personal_data"),
    ("employee.rehire", "employee"),
    ("employee.release", "employee"),
    ("employee.release_hold", "legal_hold"),
    ("employee.unlink_identity", "identity_link"),
    ("employee.update", "employee"),
    ("erasure.complete", "erasure"),
    ("erasure.continue", "erasure"),
    ("erasure.rekey", "erasure"),
    ("identity_provider.create", "identity_provider"),
    ("identity_provider.delete", "identity_provider"),
    ("identity_provider.prove", "identity_provider"),
    ("identity_provider.rekey", "identity_provider"),
    ("identity_provider.update", "identity_provider"),
    ("invitation.mail", "invitation"),
    ("message.create", "message"),
    ("notification.read", "notification"),
    ("notification.read_all", "employee"),
    ("objective.approve", "objective"),
    ("objective.archive", "objective"),
    ("objective.check_in", "objective"),
    ("objective.complete", "objective"),
    ("objective.create", "objective"),
    ("objective.miss", "objective"),
    ("objective.reject", "objective"),
    ("objective.start", "objective"),
    ("objective.submit", "objective"),
    ("objective.update", "objective"),
    ("observation.archive", "observation"),
    ("observation.create", "observation"),
    ("observation.restore", "observation"),
    ("observation.update", "observation"),
    ("organization.continue_export", "organization"),
    ("organization.create", "organization"),
    ("organization.export", "organization"),
    ("organization.update", "organization"),
    ("retention.begin", "retention_run"),
    ("retention.complete", "retention_run"),
    ("retention.erase", "retention_run"),
    ("retention.remove", "retention_run"),
    ("session.begin", "api_key"),
    ("session.refuse", "identity_provider"),
    ("summary.approve", "summary"),
    ("summary.archive", "summary"),
    ("summary.create", "summary"),
    ("summary.feedback", "summary"),
    ("summary.return", "summary"),
    ("summary.share", "summary"),
    ("summary.submit", "summary"),
    ("summary.update", "summary"),
    ("test_data.reset", "organization"),
    ("webhook.create", "webhook"),
    ("webhook.delete", "webhook"),
    ("webhook.disable", "webhook"),
    ("webhook.redeliver", "webhook"),
    ("webhook.rekey", "webhook"),
    ("webhook.replay", "webhook"),
    ("webhook.report_failing", "webhook"),
    ("webhook.rotate", "webhook"),
    ("webhook.test", "webhook"),
    ("webhook.update", "webhook"),
];

/// Returns the kind of resource that the values of an entry with this action show; `None` for an unknown action.
pub(super) fn find_shown_kind(action: &str) -> Option<&'static str> {
    let index = ACTIONS.binary_search_by_key(&action, |(name, _)| name).ok()?;
    ACTIONS.get(index).map(|(_, kind)| *kind)
}

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
        debug_assert!(find_shown_kind(self.action).is_some(), "ACTIONS lacks {}", self.action);
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
        assert!(ACTIONS.is_sorted_by(|(one, _), (next, _)| one < next));
        assert!(ACTIONS.iter().all(|(action, _)| action.split('.').count() == 2));
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
