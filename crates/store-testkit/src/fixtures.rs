//! Resources, ids and times for tests: plausible, distinct, and equal on every run.

mod identity;
mod provisioning;
mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candor_domain::access::api_key::{ApiKey, ApiKeyKind, KeyHash};
use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permissions, Tenant};
use candor_domain::assignment::{self, Assignment, Submission};
use candor_domain::audit::{Actor, AuditEntry, Changes, Origin, Target};
use candor_domain::catalog::{Attribute, Department, Tone};
use candor_domain::conversation::{About, Conversation, Joins, Message};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{ConversationId, DeliveryKind, EmployeeId, Id, Kind, OrganizationId};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::keyed::Metadata;
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Organization;
use candor_domain::people::{Employee, Invitation};
use candor_domain::summary::{self, Summary};
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, ManualClock, SeededIds, new_id, random32};
use candor_port_storage::queue::WorkerId;
use candor_port_storage::{ChangeSet, ReportingLineChange, Row, Write};

/// Start time of the clock in tests: 2026-03-02T09:00:00.000Z.
const START: Timestamp = Timestamp::from_millis(1_772_442_000_000);

/// A factory of resources. Each has its own id, a millisecond after the previous one, and a number in its texts.
#[derive(Debug)]
pub struct Fixtures {
    /// The clock, which advances by a millisecond per id and otherwise on request.
    pub clock: Arc<ManualClock>,
    /// The source of ids and secrets.
    pub ids: Arc<SeededIds>,
    made: AtomicU64,
}

impl Fixtures {
    /// Creates the factory for a seed; other seeds give other ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (clock, ids) = (Arc::new(ManualClock::starting_at(START)), Arc::new(SeededIds::new(seed)));
        Self { clock, ids, made: AtomicU64::new(0) }
    }

    /// Returns the next number.
    pub fn number(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Advances the clock by a millisecond and returns its time.
    pub fn tick(&self) -> Timestamp {
        self.clock.advance_millis(1);
        self.clock.now()
    }

    /// Creates a new id.
    pub fn id<K: Kind>(&self) -> Id<K> {
        new_id(&*self.ids, self.tick())
    }

    /// Returns 32 unique bytes.
    pub fn bytes32(&self) -> [u8; 32] {
        random32(&*self.ids).unwrap_or_default()
    }

    /// Creates the live data set of a new organization.
    pub fn tenant(&self) -> Tenant {
        Tenant::live(self.id())
    }

    /// Creates an active employee without manager or department.
    pub fn employee(&self) -> Employee {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Employee {
            id,
            email: format!("Person{number}@example.com"),
            first_name: format!("First{number}"),
            last_name: format!("Last{number}"),
            job_title: Some(format!("Job{}", number % 3)),
            created_at: at,
            updated_at: at,
            ..candor_test_fixtures::employee(0)
        }
    }

    /// Creates an observation of a strength.
    pub fn observation(&self, employee_id: EmployeeId) -> Observation {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Observation {
            id,
            employee_id,
            author_id: None,
            kind: observation::Type::Strength,
            observation: format!("Did well, for the time no. {number}."),
            impact: None,
            recommended_action: None,
            attribute_ids: vec![],
            observation_date: at.date(),
            visibility: observation::Visibility::Person,
            requester_id: None,
            created_at: at,
            updated_at: at,
            archived_at: None,
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    /// Creates a proposed objective with a period of one day.
    pub fn objective(&self, owner_id: EmployeeId) -> Objective {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Objective {
            id,
            scope: objective::Scope::Employee,
            owner_id,
            title: format!("Goal {number}"),
            description: None,
            status: objective::Status::Proposed,
            period_start: at.date(),
            period_end: at.date(),
            key_results: vec![],
            progress: None,
            confidence: None,
            last_check_in_at: None,
            parent_id: None,
            linked_summary_ids: vec![],
            created_at: at,
            updated_at: at,
            submitted_at: None,
            approved_at: None,
            changed_since_approval: false,
            completed_at: None,
            reviewed: None,
            held_back: false,
            stated_progress: None,
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    /// Creates a conversation of these people, without messages.
    pub fn conversation(&self, participant_ids: Vec<EmployeeId>) -> Conversation {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Conversation {
            id,
            title: format!("Conversation {number}"),
            about: participant_ids.first().map(|participant_id| About::Employee(*participant_id)),
            participant_ids,
            last_message_at: None,
            created_at: at,
            updated_at: at,
            archived_at: None,
            joins: Joins::default(),
        }
    }

    /// Creates an open assignment that asks these reviewers about a person.
    pub fn assignment(&self, employee_id: EmployeeId, reviewer_ids: Vec<EmployeeId>) -> Assignment {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Assignment {
            id,
            employee_id,
            requester_id: None,
            title: format!("Assignment {number}"),
            instructions: None,
            due_date: None,
            required_submissions: reviewer_ids.len(),
            status: assignment::Status::Open,
            submissions: reviewer_ids.iter().map(|reviewer_id| Submission::pending(*reviewer_id)).collect(),
            reviewer_ids,
            submitted_count: 0,
            created_at: at,
            updated_at: at,
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    /// Creates a message of a person in a conversation.
    pub fn message(&self, conversation_id: ConversationId, author_id: EmployeeId) -> Message {
        let (id, number) = (self.id(), self.number());
        Message { id, conversation_id, author_id, body: format!("Message {number}"), created_at: self.clock.now() }
    }

    /// Creates a draft of a summary without an author.
    pub fn summary(&self, employee_id: EmployeeId) -> Summary {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Summary {
            id,
            employee_id,
            author_id: None,
            edited_by: None,
            editor_ids: vec![],
            past_editor_ids: vec![],
            title: format!("Summary {number}"),
            body: String::new(),
            period_start: None,
            period_end: None,
            status: summary::Status::Draft,
            included_objective_ids: vec![],
            included_observation_ids: vec![],
            employee_feedback: None,
            submitted_at: None,
            approved_at: None,
            shared_at: None,
            archived_at: None,
            created_at: at,
            updated_at: at,
            archived_observation_ids: vec![],
            kept_archived_ids: vec![],
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    /// Creates an unread notification to a person.
    pub fn notification(&self, recipient_id: EmployeeId) -> Notification {
        let (id, number) = (self.id(), self.number());
        Notification {
            id,
            recipient_id,
            kind: notification::Type::ObjectiveSubmitted,
            title: format!("News {number}"),
            body: String::new(),
            target: Target { kind: "objective".to_owned(), id: "obj_1".to_owned() },
            created_at: self.clock.now(),
            read_at: None,
        }
    }

    /// Creates a department that is not archived.
    pub fn department(&self) -> Department {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        let name = format!("Department {number}");
        Department { id, name, created_at: at, updated_at: at, archived_at: None, is_twin: false }
    }

    /// Creates an attribute that is not archived.
    pub fn attribute(&self) -> Attribute {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        Attribute {
            id,
            name: format!("Attribute {number}"),
            category: "Craft".to_owned(),
            tone: Tone::Neutral,
            created_at: at,
            updated_at: at,
            archived_at: None,
            is_twin: false,
        }
    }

    /// Creates an organization with this id.
    pub fn organization(&self, id: OrganizationId) -> Organization {
        Organization::new(id, format!("Organization {}", self.number()), self.tick())
    }

    /// Creates a live key with every scope.
    pub fn api_key(&self) -> ApiKey {
        let (id, number, at) = (self.id(), self.number(), self.clock.now());
        ApiKey {
            id,
            name: format!("Key {number}"),
            kind: ApiKeyKind::Key,
            session_id: Some(self.id()),
            identity_provider_id: Some(self.id()),
            identity_subject: Some(format!("00u{number}")),
            identity_sid: Some(format!("sid {number}")),
            environment: Environment::Live,
            access_level: AccessLevel::Standard,
            scopes: Permissions::ALL,
            employee_id: None,
            last4: "abcd".to_owned(),
            reads_per_minute: None,
            writes_per_minute: None,
            created_at: at,
            updated_at: at,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            link_expires_at: None,
            hash: KeyHash(self.bytes32()),
            previous: None,
            remind_at: None,
            expiring_due: None,
            previous_expiring_due: None,
            connector_id: None,
            scim_per_minute: None,
            allowed_networks: AllowedNetworks::from_texts(["192.0.2.0/24", "2001:db8::/32"]).unwrap_or_default(),
            enabled_at: None,
        }
    }

    /// Creates an invitation of a person.
    pub fn invitation(&self, employee_id: EmployeeId) -> Invitation {
        let (id, token_hash) = (self.id(), self.bytes32());
        let created_at = self.clock.now();
        Invitation {
            id,
            employee_id,
            token_hash,
            created_at,
            accepted_at: None,
            revoked_at: None,
            mail: None,
            domain_hash: None,
        }
    }

    /// Creates the id of a worker.
    pub fn worker(&self) -> WorkerId {
        WorkerId(self.id::<DeliveryKind>().to_bytes())
    }

    /// Creates an audit entry at the current time.
    pub fn audit(&self, action: &str, target: &str) -> AuditEntry {
        AuditEntry {
            id: self.id(),
            occurred_at: self.clock.now(),
            action: action.to_owned(),
            actor: Actor::system("test"),
            target: Target { kind: "employee".to_owned(), id: target.to_owned() },
            changes: Changes::new(),
            comment: None,
            request_id: None,
            context: Origin::default(),
        }
    }

    /// Creates an event at the current time.
    pub fn event(&self, kind: EventType) -> Event {
        let id = self.id();
        Event {
            id,
            kind,
            created_at: self.clock.now(),
            data: format!(r#"{{"number":{}}}"#, self.number()),
            request_id: Some(format!("req_{}", self.number())),
        }
    }

    /// Creates a replay for the idempotency key `key`, stored at the current time.
    ///
    /// # Panics
    /// When the text is not a valid key.
    #[expect(clippy::expect_used, reason = "a test that asks for an impossible key is wrong")]
    pub fn replay(&self, key: &str) -> Replay {
        Replay {
            key: IdempotencyKey::parse(key).expect("a key"),
            fingerprint: Fingerprint::from_body("POST", "/v1/test", "", key.as_bytes()),
            status: 201,
            sealed: format!("sealed {}", self.number()).into_bytes(),
            created_at: self.tick(),
        }
    }

    /// Creates a change set of these writes with an audit entry.
    pub fn change(&self, writes: Vec<Write>) -> ChangeSet {
        ChangeSet { writes, ..ChangeSet::new(self.audit("test.change", "none")) }
    }
}

/// Returns the write of a new employee, with a reporting line if there is a manager.
#[must_use]
pub fn joins(employee: Employee) -> Write {
    let lines = employee.manager_id.map(|_| ReportingLineChange { seen: None });
    Write::employee(&Row::new(employee), lines)
}
