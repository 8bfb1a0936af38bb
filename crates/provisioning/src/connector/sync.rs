//! Results of syncs of an HR system, and the notice to org admins about failures (decisions G).

use candor_domain::decision::Decision;
use candor_domain::event::EventType;
use candor_domain::fields::string_enum;
use candor_domain::notification::{Notice, Recipients, Type, excerpt};
use candor_domain::time::Timestamp;
use strum::{IntoStaticStr, VariantArray};

use super::Connector;

/// The status of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// The HR system has sent no data yet.
    Pending,
    /// The newest sync was applied in full or in part.
    Active,
    /// The newest sync applied no row.
    Failing,
    /// The brake stopped the identity provider. Changes are refused until an administrator resumes the connector.
    Paused,
}

string_enum!(Status, "ConnectorStatus");

impl Status {
    /// Returns the status of a connector with this newest sync, or without any.
    #[must_use]
    pub fn from_last_sync(last: Option<&Sync>) -> Self {
        match last.map(|sync| sync.status) {
            None => Self::Pending,
            Some(SyncStatus::Succeeded | SyncStatus::Partial) => Self::Active,
            Some(SyncStatus::Failed) => Self::Failing,
        }
    }
}

/// The result of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SyncStatus {
    /// Every row was applied.
    Succeeded,
    /// Some rows had errors and were not applied.
    Partial,
    /// No row was applied: the file could not be read, or every row had errors.
    Failed,
}

string_enum!(SyncStatus, "ConnectorSyncStatus");

/// One sync of an HR system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct Sync {
    pub at: Timestamp,
    pub status: SyncStatus,
    /// The errors of rows that were not applied; truncated before the connector stores them.
    pub message: Option<String>,
}

impl Connector {
    /// Records the result of a sync. Org admins get a notice when syncs begin to fail.
    pub fn record_sync(&self, sync: Sync, at: Timestamp) -> Decision<Self> {
        let was = Status::from_last_sync(self.last_sync.as_ref());
        let fails = Status::from_last_sync(Some(&sync)) == Status::Failing && was != Status::Failing;
        let sync = Sync { message: sync.message.as_deref().map(excerpt), ..sync };
        let notices = fails.then(|| self.failure_notice(&sync)).into_iter().collect();
        let state = Self { last_sync: Some(sync), updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        let mut events = vec![EventType::ConnectorUpdated];
        events.extend(fails.then_some(EventType::ConnectorSyncFailed));
        Decision { notices, ..Decision::for_change(self, state, "connector.sync", events) }
    }

    fn failure_notice(&self, sync: &Sync) -> Notice {
        Notice {
            kind: Type::ConnectorSyncFailed,
            to: Recipients::OrgAdmins,
            title: format!("Sync of {} failed: no rows were applied", self.hris_source),
            body: sync.message.clone().unwrap_or_default(),
            target: self.target(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Draft;
    use super::*;
    use candor_domain::id::ConnectorId;
    use ulid::Ulid;

    const CSV_FEED: &str = r#"{"type": "csv_feed", "hris_source": "acme"}"#;

    #[test]
    fn org_admins_get_a_notice_when_syncs_begin_to_fail() {
        use SyncStatus::{Failed, Partial, Succeeded};
        let time = Timestamp::from_millis(9_000);
        let draft = Draft::parse(serde_json::from_str(CSV_FEED).unwrap()).unwrap();
        let mut connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, time).state;
        assert_eq!(Status::from_last_sync(connector.last_sync.as_ref()), Status::Pending);
        let table = [
            // result, notices, connector status
            (Failed, 1, Status::Failing),
            (Failed, 0, Status::Failing),
            (Succeeded, 0, Status::Active),
            (Partial, 0, Status::Active),
            (Failed, 1, Status::Failing),
            (Partial, 0, Status::Active),
        ];
        for (number, (status, notices, then)) in table.into_iter().enumerate() {
            let message = Some("Row 2".to_owned());
            let decision = connector.record_sync(Sync { at: time, status, message }, time);
            assert_eq!(decision.notices.len(), notices, "{number}");
            assert_eq!(decision.events.contains(&EventType::ConnectorSyncFailed), notices == 1, "{number}");
            assert!(decision.state.updated_at > connector.updated_at, "{number}");
            connector = decision.state;
            assert_eq!(Status::from_last_sync(connector.last_sync.as_ref()), then, "{number}");
        }
    }

    #[test]
    fn long_sync_message_is_truncated() {
        let time = Timestamp::from_millis(9_000);
        let draft = Draft::parse(serde_json::from_str(CSV_FEED).unwrap()).unwrap();
        let connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, time).state;
        let long = Sync { at: time, status: SyncStatus::Failed, message: Some("é".repeat(10_000)) };
        let decision = connector.record_sync(long, time);
        let message = decision.state.last_sync.and_then(|sync| sync.message).unwrap();
        assert!(message.chars().count() < 300 && message.ends_with('…'), "{message}");
        assert_eq!(decision.notices[0].body, message);
    }
}
