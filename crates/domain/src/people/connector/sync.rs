//! What became of what an HR system sends, and when the org admins are told (decisions G).

use strum::{IntoStaticStr, VariantArray};

use super::Connector;
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::fields::Word;
use crate::notification::{Audience, Notice, Type, excerpt};
use crate::time::Timestamp;

/// What becomes of what an HR system sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// It has sent nothing yet.
    Pending,
    /// What it sent last was applied, as far as it can be.
    Active,
    /// Nothing of what it sent last was applied.
    Failing,
}

impl Word for Status {
    const NAME: &'static str = "ConnectorStatus";
}

impl Status {
    /// The status after what was sent last.
    #[must_use]
    pub fn after(last: Option<&Sync>) -> Self {
        match last.map(|it| it.status) {
            None => Self::Pending,
            Some(SyncStatus::Succeeded | SyncStatus::Partial) => Self::Active,
            Some(SyncStatus::Failed) => Self::Failing,
        }
    }
}

/// How much of what was sent was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SyncStatus {
    /// All of it.
    Succeeded,
    /// Some rows had errors.
    Partial,
    /// Nothing: it could not be read, or every row had errors.
    Failed,
}

impl Word for SyncStatus {
    const NAME: &'static str = "ConnectorSyncStatus";
}

/// What became of what was sent once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sync {
    /// When that was.
    pub at: Timestamp,
    /// How much was applied.
    pub status: SyncStatus,
    /// Why not all of it was. What a connector keeps of it is an excerpt.
    pub message: Option<String>,
}

impl Connector {
    /// Notes what became of what the HR system sent. The org admins are told when that begins to fail.
    pub fn synced(&self, sync: Sync, at: Timestamp) -> Decision<Self> {
        let was = Status::after(self.last_sync.as_ref());
        let fails = Status::after(Some(&sync)) == Status::Failing && was != Status::Failing;
        let sync = Sync { message: sync.message.as_deref().map(excerpt), ..sync };
        let notices = fails.then(|| self.sync_failed(&sync)).into_iter().collect();
        let state = Self { last_sync: Some(sync), updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Decision { notices, ..Decision::changed(self, state, "connector.sync", vec![]) }
    }

    fn sync_failed(&self, sync: &Sync) -> Notice {
        Notice {
            kind: Type::ConnectorSyncFailed,
            to: Audience::OrgAdmins,
            title: format!("Nothing of what {} sent was applied", self.hris_source),
            body: sync.message.clone().unwrap_or_default(),
            target: Target { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, Type as ConnectorType};
    use super::*;
    use crate::id::ConnectorId;
    use ulid::Ulid;

    #[test]
    fn org_admins_are_told_when_it_begins_to_fail() {
        use SyncStatus::{Failed, Partial, Succeeded};
        let at = Timestamp::from_millis(9_000);
        let draft =
            Draft { kind: ConnectorType::CsvFeed, hris_source: "acme".to_owned(), mapped_custom_field_keys: vec![] };
        let mut connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, at).state;
        assert_eq!(Status::after(connector.last_sync.as_ref()), Status::Pending);
        let table = [
            // what became of it       is told   then
            (Failed, 1, Status::Failing),
            (Failed, 0, Status::Failing),
            (Succeeded, 0, Status::Active),
            (Partial, 0, Status::Active),
            (Failed, 1, Status::Failing),
            (Partial, 0, Status::Active),
        ];
        for (number, (status, told, then)) in table.into_iter().enumerate() {
            let message = Some("Row 2".to_owned());
            let decision = connector.synced(Sync { at, status, message }, at);
            assert_eq!(decision.notices.len(), told, "{number}");
            assert!(decision.state.updated_at > connector.updated_at, "{number}");
            connector = decision.state;
            assert_eq!(Status::after(connector.last_sync.as_ref()), then, "{number}");
        }
    }

    #[test]
    fn a_long_list_of_problems_is_kept_and_told_in_part() {
        let at = Timestamp::from_millis(9_000);
        let draft =
            Draft { kind: ConnectorType::CsvFeed, hris_source: "acme".to_owned(), mapped_custom_field_keys: vec![] };
        let connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, at).state;
        let long = Sync { at, status: SyncStatus::Failed, message: Some("é".repeat(10_000)) };
        let decision = connector.synced(long, at);
        let kept = decision.state.last_sync.and_then(|it| it.message).unwrap();
        assert!(kept.chars().count() < 300 && kept.ends_with('…'), "{kept}");
        assert_eq!(decision.notices[0].body, kept);
    }
}
