//! Tables for the access tests: visible resources per read, and permitted relations per write (decision B5).

use serde_json::{Value, json};

use super::relations::{BoundPeople, Kind, RELATIONS, Relation};
use Kind::{
    Asked, Assignment, Draft, Foreign, GoalTalk, Managers, Message, Objective, Observation, Org, Retired, Shared,
    Submitted, SubmittedManagers, Talk, Team,
};
use Relation::{Above, Admin, Author, Organization, Requester, Reviewer, Subject};

/// Expected result of a read.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// The read shows these resources, each to the relations that can see it.
    Shows(VisibleResources),
    /// Only relations with access to all resources may read; other relations are refused.
    Refused,
    /// Only keys of the organization may read; keys of every person are refused.
    ForOrganization,
}

/// Resources that a read shows.
#[derive(Clone, Copy)]
pub(super) struct VisibleResources {
    /// Resources that the read returns directly.
    pub(super) roots: &'static [Kind],
    /// Query strings that the test sends.
    pub(super) queries: &'static [&'static str],
    /// Number of nested levels in the answer.
    pub(super) depth: u8,
    /// `true` if the read shows only a part of the visible resources, such as a person's own notifications.
    pub(super) is_partial: bool,
}

const fn shows(roots: &'static [Kind], depth: u8, queries: &'static [&'static str]) -> Entry {
    Entry::Shows(VisibleResources { roots, queries, depth, is_partial: false })
}

/// A read that shows none of the watched resources.
const NOTHING: Entry = shows(&[], 0, &[""]);
/// Counts contain no ids of the watched resources.
const COUNTS: Entry = shows(&[], 0, &["?group_by=type,month"]);
const COUNTS_OF_GOALS: Entry = shows(&[], 0, &["?group_by=status,month"]);
/// A read limited to the caller's own items; it shows an unspecified part of the visible resources.
const OWN: Entry =
    Entry::Shows(VisibleResources { roots: &[], queries: &["", "?limit=100"], depth: 0, is_partial: true });
/// Attention: a part of the resources that the caller sees.
const ATTENTION: Entry = Entry::Shows(VisibleResources { roots: &[], queries: &[""], depth: 0, is_partial: true });
/// Histories of summaries, which show the people that summaries were shared with nothing.
const SUMMARY_HISTORIES: Entry = Entry::Shows(VisibleResources {
    roots: &[Draft, Shared, Retired],
    queries: &["", "?limit=100"],
    depth: 0,
    is_partial: true,
});

const OBSERVATIONS: &[Kind] = &[Observation, Managers, Foreign, Submitted, SubmittedManagers];
const GOALS: &[&str] = &["?expand=owner", "?expand=owner,linked_summaries"];
const GOAL_LISTS: &[&str] = &["?limit=100", "?limit=100&filter[status]=proposed&expand=linked_summaries"];
const SUMMARIES: &[&str] = &["", "?expand=employee,author,included_objectives,included_observations"];
const SUMMARY_LISTS: &[&str] = &[
    "?limit=100",
    "?limit=100&filter[status]=draft&filter[status]=shared&filter[status]=archived\
     &expand=included_objectives,included_observations",
];

/// Expected result of each read. Every `GET` route must have an entry.
pub(super) const READS: &[(&str, Entry)] = &[
    ("listObservations", shows(OBSERVATIONS, 0, &["?limit=100&filter[archived]=all&expand=employee,attributes"])),
    ("getObservation", shows(OBSERVATIONS, 0, &["", "?expand=employee,attributes"])),
    ("listEmployeeObjectives", shows(&[Objective], 2, GOAL_LISTS)),
    ("getEmployeeObjective", shows(&[Objective], 2, GOALS)),
    ("listEmployeeObjectiveHistory", shows(&[Objective], 0, &[""])),
    ("listEmployeeObjectiveCheckIns", NOTHING),
    ("getEmployeeObjectiveCheckIn", NOTHING),
    ("listManagerObjectiveCheckIns", NOTHING),
    ("getManagerObjectiveCheckIn", NOTHING),
    ("listManagerObjectives", shows(&[Team, Org], 2, GOAL_LISTS)),
    ("getManagerObjective", shows(&[Team, Org], 2, GOALS)),
    ("listManagerObjectiveHistory", shows(&[Team, Org], 0, &[""])),
    ("listSummaries", shows(&[Draft, Shared, Retired], 2, SUMMARY_LISTS)),
    ("getSummary", shows(&[Draft, Shared, Retired], 2, SUMMARIES)),
    ("listSummaryHistory", SUMMARY_HISTORIES),
    ("listConversations", shows(&[Talk, GoalTalk], 1, &["?limit=100", "?filter[archived]=all"])),
    ("getConversation", shows(&[Talk, GoalTalk], 1, &[""])),
    ("listMessages", shows(&[Message], 1, &["?limit=100"])),
    ("getMessage", shows(&[Message], 1, &[""])),
    ("listAssignments", shows(&[Assignment, Asked], 1, &["?limit=100"])),
    ("getAssignment", shows(&[Assignment, Asked], 1, &[""])),
    (
        "search",
        shows(
            &[Observation, Managers, Foreign, Submitted, SubmittedManagers, Objective, Team, Org, Draft, Shared],
            1,
            &["?limit=100&q=calm&types=observations,objectives,employees,summaries"],
        ),
    ),
    ("listNotifications", OWN),
    ("exportData", Entry::ForOrganization),
    ("getPersonalData", Entry::ForOrganization),
    ("getLegalHold", NOTHING),
    ("listErasures", NOTHING),
    ("getErasure", NOTHING),
    ("previewRetention", NOTHING),
    ("listRetentionRuns", NOTHING),
    ("getRetentionRun", NOTHING),
    ("listEvents", Entry::Refused),
    ("getEvent", Entry::Refused),
    ("listAuditLog", Entry::Refused),
    ("listWebhooks", Entry::Refused),
    ("getWebhook", Entry::Refused),
    ("listDeliveries", Entry::Refused),
    ("getDelivery", Entry::Refused),
    ("listAllDeliveries", Entry::Refused),
    ("getWebhookStats", Entry::Refused),
    ("countObservations", COUNTS),
    ("countEmployeeObjectives", COUNTS_OF_GOALS),
    ("countManagerObjectives", COUNTS_OF_GOALS),
    ("getAttention", ATTENTION),
    ("getMe", NOTHING),
    ("getOrganization", NOTHING),
    ("getRequestStats", NOTHING),
    ("listEmployees", NOTHING),
    ("getEmployee", NOTHING),
    ("getInvitation", NOTHING),
    ("listDepartments", NOTHING),
    ("getDepartment", NOTHING),
    ("listAttributes", NOTHING),
    ("getAttribute", NOTHING),
    ("listApiKeys", NOTHING),
    ("getApiKey", NOTHING),
    ("listConnectors", NOTHING),
    ("getConnector", NOTHING),
    ("listIdentityProviders", Entry::ForOrganization),
    ("getIdentityProvider", Entry::ForOrganization),
    ("listIdentityLinks", Entry::ForOrganization),
    ("listSyncIssues", NOTHING),
    ("listScimRequests", NOTHING),
    ("getDocument", NOTHING),
];

/// A write and the relations that may perform it.
pub(super) struct Write {
    pub(super) operation: &'static str,
    /// The resource that it changes; `None` for creations, which have their own tests.
    pub(super) target: Option<Kind>,
    /// Actions that bring the resource into a status in which the write is possible.
    pub(super) before: &'static [&'static str],
    pub(super) open_to: &'static [Relation],
    body: &'static str,
}

impl Write {
    /// Returns the request body for a relation. A key of the organization has to name the person it writes for.
    pub(super) fn body(&self, cast: &BoundPeople, relation: Relation) -> Value {
        let mut body: Value = serde_json::from_str(self.body).unwrap();
        if relation == Organization && matches!(self.operation, "createMessage" | "submitFeedback") {
            let field = if self.operation == "createMessage" { "author_id" } else { "reviewer_id" };
            body[field] = json!(cast.person(Author));
        }
        body
    }
}

const fn new(operation: &'static str) -> Write {
    Write { operation, target: None, before: &[], open_to: &RELATIONS, body: "{}" }
}

const fn on(
    operation: &'static str,
    target: Kind,
    before: &'static [&'static str],
    open_to: &'static [Relation],
    body: &'static str,
) -> Write {
    Write { operation, target: Some(target), before, open_to, body }
}

/// Relations that may change observations: author, org admins and keys of the organization.
const WRITERS: &[Relation] = &[Author, Admin, Organization];
/// Relations that may act on objectives: owner, managers above, org admins and keys of the organization.
const OWNERS: &[Relation] = &[Subject, Above, Admin, Organization];
const ADMINS: &[Relation] = &[Admin, Organization];
/// Relations that may change summaries: author, managers above, org admins and keys of the organization.
const KEEPERS: &[Relation] = &[Author, Above, Admin, Organization];
const TALKERS: &[Relation] = &[Author, Subject, Admin, Organization];

/// Permitted relations of each write to resources with restricted visibility.
pub(super) const WRITES: &[Write] = &[
    new("createObservation"),
    on("updateObservation", Observation, &[], WRITERS, r#"{"impact":"Trust"}"#),
    on("updateObservation", Managers, &[], WRITERS, r#"{"visibility":"person"}"#),
    on("updateObservation", Submitted, &[], WRITERS, r#"{"impact":"Trust"}"#),
    on("archiveObservation", Observation, &[], WRITERS, "{}"),
    on("archiveObservation", SubmittedManagers, &[], WRITERS, "{}"),
    on("restoreObservation", Managers, &["archive"], WRITERS, "{}"),
    new("createEmployeeObjective"),
    on("updateEmployeeObjective", Objective, &[], OWNERS, r#"{"description":"Soon"}"#),
    on("submitEmployeeObjective", Objective, &[], OWNERS, "{}"),
    on("approveEmployeeObjective", Objective, &[], OWNERS, "{}"),
    on("rejectEmployeeObjective", Objective, &[], OWNERS, r#"{"reason":"No"}"#),
    on("completeEmployeeObjective", Objective, &["approve"], OWNERS, "{}"),
    on("missEmployeeObjective", Objective, &["approve", "start"], OWNERS, "{}"),
    on("archiveEmployeeObjective", Objective, &[], OWNERS, "{}"),
    on("createEmployeeObjectiveCheckIn", Objective, &["approve"], OWNERS, r#"{"progress":1}"#),
    new("createManagerObjective"),
    on("updateManagerObjective", Team, &[], OWNERS, r#"{"description":"Soon"}"#),
    on("updateManagerObjective", Org, &[], ADMINS, r#"{"description":"Soon"}"#),
    on("submitManagerObjective", Org, &[], ADMINS, "{}"),
    on("approveManagerObjective", Team, &[], OWNERS, "{}"),
    on("rejectManagerObjective", Org, &[], ADMINS, r#"{"reason":"No"}"#),
    on("completeManagerObjective", Org, &["approve"], ADMINS, "{}"),
    on("missManagerObjective", Team, &["approve", "start"], OWNERS, "{}"),
    on("archiveManagerObjective", Org, &[], ADMINS, "{}"),
    on("createManagerObjectiveCheckIn", Team, &["approve"], OWNERS, r#"{"progress":1}"#),
    on("createManagerObjectiveCheckIn", Org, &["approve"], ADMINS, r#"{"progress":1}"#),
    new("createSummary"),
    on("updateSummary", Draft, &[], KEEPERS, r#"{"body":"Calmer."}"#),
    on("submitSummary", Draft, &[], KEEPERS, "{}"),
    on("approveSummary", Draft, &[], KEEPERS, "{}"),
    on("returnSummary", Draft, &["submit"], KEEPERS, r#"{"reason":"No"}"#),
    on("shareSummary", Draft, &["approve"], KEEPERS, "{}"),
    on("giveSummaryFeedback", Shared, &[], &[Subject, Organization], "{}"),
    on("archiveSummary", Shared, &[], KEEPERS, "{}"),
    new("createConversation"),
    on("updateConversation", Talk, &[], TALKERS, r#"{"title":"Calmer"}"#),
    on("archiveConversation", GoalTalk, &[], TALKERS, "{}"),
    on("createMessage", Talk, &[], &[Author, Subject, Organization], r#"{"body":"Yes."}"#),
    new("createAssignment"),
    on("cancelAssignment", Asked, &[], &[Requester, Admin, Organization], "{}"),
    on(
        "submitFeedback",
        Asked,
        &[],
        &[Author, Reviewer, Organization],
        r#"{"observations":[{"type":"strength","observation":"Calm."}]}"#,
    ),
];
