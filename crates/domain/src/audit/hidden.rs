//! Hides the ids of resources that a reader may not see in the changes of a history (decision C9).

use std::collections::BTreeSet;

use super::AuditEntry;
use super::changes::is_shortened;
use crate::json::Value;
use crate::visibility::LinkedId;

impl AuditEntry {
    /// Returns the ids of linked resources in the changed values. Some readers may not see these resources.
    #[must_use]
    pub fn linked_ids(&self) -> BTreeSet<LinkedId> {
        let mut ids = BTreeSet::new();
        for change in self.changes.values() {
            collect(&change.from, &mut ids);
            collect(&change.to, &mut ids);
        }
        ids
    }

    /// Removes the ids of linked resources for which `is_shown` is false: a value that is a hidden id becomes
    /// null, and a list loses its entries that are hidden ids. A change whose two values become equal is omitted, and so
    /// is the change of a list of ids of which only length and digest are kept: they would tell of hidden ids.
    pub fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.changes.retain(|name, change| {
            if holds_linked_ids(name) && (is_shortened(&change.from) || is_shortened(&change.to)) {
                return false;
            }
            let has_hidden_id =
                [&mut change.from, &mut change.to].map(|value| hide(value, is_shown)).contains(&true);
            !has_hidden_id || change.from.canonical() != change.to.canonical()
        });
    }
}

/// Returns `true` if a member of this name can hold ids of linked resources in a list.
fn holds_linked_ids(name: &str) -> bool {
    name.ends_with("_ids") || name == "submissions"
}

fn collect(value: &Value, ids: &mut BTreeSet<LinkedId>) {
    match value {
        Value::Text(text) => ids.extend(LinkedId::parse(text)),
        Value::List(entries) => entries.iter().for_each(|entry| collect(entry, ids)),
        Value::Object(members) => members.iter().for_each(|(_, member)| collect(member, ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_hidden(value: &Value, is_shown: &dyn Fn(LinkedId) -> bool) -> bool {
    matches!(value, Value::Text(text) if LinkedId::parse(text).is_some_and(|id| !is_shown(id)))
}

/// Removes hidden ids from a value. Returns `true` if there were any.
fn hide(value: &mut Value, is_shown: &dyn Fn(LinkedId) -> bool) -> bool {
    if is_hidden(value, is_shown) {
        *value = Value::Null;
        return true;
    }
    match value {
        Value::List(entries) => {
            let count_before = entries.len();
            entries.retain(|entry| !is_hidden(entry, is_shown));
            let hidden_count = entries.iter_mut().filter_map(|entry| hide(entry, is_shown).then_some(())).count();
            hidden_count > 0 || entries.len() < count_before
        }
        Value::Object(members) => {
            members.iter_mut().filter_map(|(_, member)| hide(member, is_shown).then_some(())).count() > 0
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ulid::Ulid;

    use super::*;
    use crate::audit::{Actor, ActorKind, Change, Changes, Origin, Target};
    use crate::id::{AuditId, ObjectiveId, SummaryId};
    use crate::time::Timestamp;

    fn entry() -> AuditEntry {
        AuditEntry {
            id: AuditId::from_ulid(Ulid(1)),
            occurred_at: Timestamp::from_millis(0),
            action: "objective.update".to_owned(),
            actor: Actor { kind: ActorKind::ApiKey, id: None, name: "key".to_owned() },
            target: Target { kind: "objective".to_owned(), id: "obj_1".to_owned() },
            changes: Changes::new(),
            comment: None,
            request_id: None,
            context: Origin::default(),
        }
    }

    #[test]
    fn history_has_no_digest_of_a_list_of_ids() {
        let ids = |count: u128| -> Vec<_> {
            (0..count).map(|id| ObjectiveId::from_ulid(Ulid(id)).to_string()).collect()
        };
        let is_kept = |name: &str, from: u128, to: u128| {
            let mut entry = entry();
            entry.changes.insert(name.into(), Change::new(&ids(from), &ids(to)));
            entry.retain_linked(&|_| true);
            entry.changes.contains_key(name)
        };
        for name in ["included_observation_ids", "linked_summary_ids", "submissions"] {
            assert!(is_kept(name, 1, 2), "{name}");
            assert!(!is_kept(name, 1, 200) && !is_kept(name, 200, 1) && !is_kept(name, 199, 200), "{name}");
        }
        assert!(is_kept("metadata", 1, 200), "no member with ids of linked resources");
    }

    #[test]
    fn history_has_no_hidden_id() {
        let id = |number: u128| ObjectiveId::from_ulid(Ulid(number)).to_string();
        let summary = SummaryId::from_ulid(Ulid(9)).to_string();
        let change = |from: serde_json::Value, to: serde_json::Value| Change::new(&from, &to);
        let mut entry = entry();
        entry.changes.insert("parent_id".into(), change(json!(id(1)), json!(id(2))));
        entry.changes.insert("other_id".into(), change(json!(null), json!(id(2))));
        entry.changes.insert("title".into(), change(json!("obj_none"), json!("b")));
        entry.changes.insert("objective_ids".into(), change(json!([id(1), id(2), summary]), json!([id(1)])));
        entry.changes.insert("same_ids".into(), change(json!([id(1)]), json!([id(1)])));
        entry.changes.insert("same".into(), change(json!({"id": id(1)}), json!({"id": id(1)})));
        entry.changes.insert("nested".into(), change(json!([{"id": id(2)}]), json!([{"id": id(1)}])));
        assert_eq!(entry.linked_ids().len(), 3);
        let visible_id = LinkedId::Objective(ObjectiveId::from_ulid(Ulid(1)));
        entry.retain_linked(&|id| id == visible_id);
        assert_eq!(
            serde_json::to_value(&entry.changes).unwrap(),
            json!({
                "parent_id": {"from": id(1), "to": null},
                "title": {"from": "obj_none", "to": "b"},
                "same_ids": {"from": [id(1)], "to": [id(1)]},
                "same": {"from": {"id": id(1)}, "to": {"id": id(1)}},
                "nested": {"from": [{"id": null}], "to": [{"id": id(1)}]},
            })
        );
    }
}
