//! State of a connector of an identity provider: settings, pause, refused syncs and figures (decisions G).

use candor_domain::access::Environment;
use candor_domain::audit::Target;
use candor_domain::decision::{Decision, Resource};
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::ConnectorId;
use candor_domain::notification::{self, Notice, Recipients};
use candor_domain::people::ManagedFields;
use candor_domain::problem::{Code, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BRAKE_SECONDS, Connector, Patch, SyncIssue, Type};

/// Limit of each count of [`ConnectorFigures`], so that its cost has a bound.
pub const MAX_FIGURE: u32 = 100_000;

/// Figures of a connector in one data set. They change without a change of the connector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct ConnectorFigures {
    /// Time of the newest request of the identity provider. Null if there was none. A request is counted within
    /// a few seconds.
    pub last_request_at: Option<Timestamp>,
    /// Time of the newest change of a person by the identity provider. Null if there was none.
    pub last_change_at: Option<Timestamp>,
    /// Number of people that the connector manages, at most 100,000.
    pub people: u32,
    /// Number of open issues, at most 100,000.
    pub open_issues: u32,
    /// `User-Agent` of the newest request of the identity provider. Null if there was none.
    pub user_agent: Option<String>,
}

/// A connector with its statistics.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectorDetails {
    /// The connector of the provider.
    #[serde(flatten)]
    pub connector: Connector,
    /// Figures of the connector in the live data set.
    #[serde(flatten)]
    pub figures: ConnectorFigures,
}

impl Resource for ConnectorDetails {
    type Kind = <Connector as Resource>::Kind;

    fn id(&self) -> ConnectorId {
        self.connector.id
    }

    fn updated_at(&self) -> Timestamp {
        self.connector.updated_at
    }

    fn mark(&self) -> u64 {
        // The figures have no version; their JSON form changes whenever one of them does.
        let text = serde_json::to_string(&self.figures).unwrap_or_default();
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let first: [u8; 8] = digest.as_ref().first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(first).max(1)
    }
}

impl Connector {
    /// Changes the settings of the connector, or returns `None` if nothing changes.
    #[must_use]
    pub fn update(&self, patch: &Patch, at: Timestamp) -> Option<Decision<Self>> {
        let mut state = self.clone();
        state.brake = patch.brake.apply_to(self.brake);
        // `Patch::resolve` has checked the mappings.
        state.custom_field_mappings = patch.mappings(self).unwrap_or_else(|_| self.custom_field_mappings.clone());
        if state == *self {
            return None;
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Some(Decision::for_change(self, state, "connector.update", vec![EventType::ConnectorUpdated]))
    }

    /// Returns the fields of a person that the connector manages in addition to the fields that every connector
    /// manages.
    #[must_use]
    pub fn managed_fields(&self) -> ManagedFields {
        let keys = self.mapped_custom_field_keys.iter().chain(self.custom_field_mappings.keys());
        ManagedFields { keys: keys.cloned().collect(), job_title: self.kind == Type::Scim }
    }

    /// Requires that the connector takes uploads of CSV files.
    ///
    /// # Errors
    /// [`DomainError::Unprocessable`] for a connector of an identity provider.
    pub fn require_uploads(&self) -> Result<(), DomainError> {
        match self.kind {
            Type::CsvFeed => Ok(()),
            Type::Scim => {
                let flaw = ValueError::new(Code::InvalidState, "must be a connector of the type csv_feed");
                Err(DomainError::unprocessable("connector_id", flaw))
            }
        }
    }

    /// Returns the start of the period in which the brake counts deactivations. A resume restarts it.
    #[must_use]
    pub fn brake_since(&self, at: Timestamp) -> Timestamp {
        let hour = at.plus_seconds(-BRAKE_SECONDS);
        self.resumed_at.map_or(hour, |resumed| resumed.max(hour))
    }

    /// Returns `true` if the provider may change people of a data set. A pause stops changes of live data only.
    #[must_use]
    pub fn accepts_changes(&self, environment: Environment) -> bool {
        self.paused_at.is_none() || environment == Environment::Test
    }

    /// Pauses the connector, because the brake refused a deactivation. `None` if it is paused already. Org admins
    /// get a notice. `deactivated` is the number of deactivations within the period.
    #[must_use]
    pub fn pause(&self, deactivated: u64, at: Timestamp) -> Option<Decision<Self>> {
        if self.paused_at.is_some() {
            return None;
        }
        let updated_at = at.strictly_after(self.updated_at);
        let state = Self { paused_at: Some(at), updated_at, ..self.clone() };
        let notice = Notice {
            kind: notification::Type::ConnectorPaused,
            to: Recipients::OrgAdmins,
            title: format!("Changes from {} are paused", self.hris_source),
            body: format!(
                "The identity provider deactivated {deactivated} people within an hour and tried to deactivate \
                 more. Check its assignments, then resume the connector."
            ),
            target: self.target(),
        };
        let events = vec![EventType::ConnectorUpdated, EventType::ConnectorPaused];
        Some(Decision { notices: vec![notice], ..Decision::for_change(self, state, "connector.pause", events) })
    }

    /// Resumes a paused connector. The period of the brake starts again.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the connector is not paused.
    pub fn resume(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        let Some(paused_at) = self.paused_at else {
            return Err(DomainError::transition("status", self.status().word(), "resume"));
        };
        let resumed_at = at.max(paused_at);
        let updated_at = resumed_at.strictly_after(self.updated_at);
        let state = Self { paused_at: None, resumed_at: Some(resumed_at), updated_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "connector.resume", vec![EventType::ConnectorUpdated]))
    }

    /// Returns the notice to org admins about a new issue of a refused request. `None` for an issue without a
    /// refusal, and if another refusal is open, so that many problems of one sync cause one notice. An issue about
    /// the last org admin always causes a notice.
    #[must_use]
    pub fn issue_notice(&self, issue: &SyncIssue, has_open_refusals: bool) -> Option<Notice> {
        let is_told = issue.kind.is_refusal() && (!has_open_refusals || issue.kind == super::IssueKind::LastAdmin);
        is_told.then(|| Notice {
            kind: notification::Type::ConnectorSyncFailed,
            to: Recipients::OrgAdmins,
            title: format!("A change from {} was refused", self.hris_source),
            body: notification::excerpt(&issue.message),
            target: self.target(),
        })
    }

    pub(super) fn target(&self) -> Target {
        Target { kind: Self::NAME.to_owned(), id: self.id.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, IssueDraft, IssueKind, Status};
    use super::*;
    use candor_domain::id::SyncIssueId;
    use ulid::Ulid;

    fn connector() -> Connector {
        let body = r#"{"type": "scim", "hris_source": "okta", "custom_field_mappings": {"badge": "userType"}}"#;
        let draft = Draft::parse(serde_json::from_str(body).unwrap()).unwrap();
        Connector::create(ConnectorId::from_ulid(Ulid(1)), draft, Timestamp::from_millis(1_000)).state
    }

    #[test]
    fn paused_connector_resumes_with_a_new_period() {
        let time = Timestamp::from_millis(10_000_000);
        let active = connector();
        assert_eq!(active.status(), Status::Active);
        assert!(active.resume(time).is_err());
        assert_eq!(active.brake_since(time), time.plus_seconds(-3600));
        let pause_decision = active.pause(20, time).unwrap();
        assert_eq!(pause_decision.events, [EventType::ConnectorUpdated, EventType::ConnectorPaused]);
        assert_eq!(pause_decision.notices.len(), 1);
        let paused_connector = pause_decision.state;
        let accepts = |connector: &Connector| {
            [Environment::Live, Environment::Test].map(|environment| connector.accepts_changes(environment))
        };
        assert_eq!((accepts(&active), accepts(&paused_connector)), ([true, true], [false, true]));
        assert_eq!((paused_connector.status(), paused_connector.paused_at), (Status::Paused, Some(time)));
        assert_eq!(paused_connector.pause(21, time), None);
        let later_time = time.plus_seconds(60);
        let resumed_connector = paused_connector.resume(later_time).unwrap().state;
        assert_eq!((resumed_connector.status(), resumed_connector.paused_at), (Status::Active, None));
        assert_eq!(resumed_connector.brake_since(later_time.plus_seconds(5)), later_time);
        assert_eq!(resumed_connector.brake_since(later_time.plus_seconds(7200)), later_time.plus_seconds(3600));
    }

    #[test]
    fn only_the_first_open_refusal_is_a_notice() {
        let issue = |kind| {
            let message = "Message.".to_owned();
            let draft = IssueDraft { kind, user_name: None, external_id: None, employee_id: None, message };
            SyncIssue::open(SyncIssueId::from_ulid(Ulid(2)), connector().id, draft, Timestamp::from_millis(1))
        };
        for (kind, has_open, is_told) in [
            (IssueKind::ManagerPending, false, false),
            (IssueKind::ManagedElsewhere, false, true),
            (IssueKind::ManagedElsewhere, true, false),
            (IssueKind::LastAdmin, true, true),
        ] {
            let notice = connector().issue_notice(&issue(kind), has_open);
            assert_eq!(notice.is_some(), is_told, "{kind:?} {has_open}");
        }
    }

    #[test]
    fn provider_manages_mapped_fields_and_the_job_title() {
        let fields = connector().managed_fields();
        assert_eq!(fields, ManagedFields { keys: vec!["badge".to_owned()], job_title: true });
        assert!(connector().require_uploads().is_err());
    }

    #[test]
    fn figures_change_the_mark_of_a_connector() {
        let details = |people| {
            let figures = ConnectorFigures { people, ..ConnectorFigures::default() };
            ConnectorDetails { connector: connector(), figures }
        };
        assert_eq!(details(1).mark(), details(1).mark());
        assert_ne!(details(1).mark(), details(2).mark());
    }
}
