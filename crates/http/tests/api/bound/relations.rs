//! Nine relations of callers to one set of resources. Each relation defines the resources that the caller can
//! see and change (decision B5).

use std::collections::BTreeSet;

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use crate::bearer_tokens::{TokenStage, token};
use crate::objectives::{key_for, person};
use crate::support::TestApi;

pub(super) use super::relations_tables::{Entry, READS, VisibleResources, WRITES};

/// Relation of a caller to the resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// Author of the observations and summaries, reviewer of the assignments, participant of the conversations.
    Author,
    /// Subject of the resources, owner of the objectives, participant of the conversations.
    Subject,
    /// Manager of the subject's manager.
    Above,
    /// Manager without a relation to the subject, who reports to `Above`.
    Beside,
    Admin,
    /// Reviewer of the assignments without any other relation.
    Reviewer,
    Stranger,
    /// Requester of the assignments.
    Requester,
    /// An admin-level key of the organization.
    Organization,
}

pub(super) const RELATIONS: [Relation; 9] = {
    use Relation::{Above, Admin, Author, Beside, Organization, Requester, Reviewer, Stranger, Subject};
    [Author, Subject, Above, Beside, Admin, Reviewer, Stranger, Requester, Organization]
};

impl Relation {
    /// Returns `true` for relations that see and change all resources.
    pub(super) fn sees_everything(self) -> bool {
        matches!(self, Self::Admin | Self::Organization)
    }
}

/// Kinds of resources with restricted visibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// An observation by the author.
    Observation,
    /// An observation by the author with visibility `managers`.
    Managers,
    /// An observation without an author, with visibility `managers`.
    Foreign,
    /// An observation submitted to the assignment.
    Submitted,
    /// An observation with visibility `managers`, submitted to the assignment.
    SubmittedManagers,
    /// An objective of the subject.
    Objective,
    /// A team objective, whose owner is the subject as a manager.
    Team,
    /// An objective of the organization.
    Org,
    Draft,
    Shared,
    /// A summary that was shared and then archived.
    Retired,
    /// A conversation about the draft summary.
    Talk,
    /// A conversation about the objective.
    GoalTalk,
    /// A message in the conversation about the draft summary.
    Message,
    /// An assignment with a submission by the author.
    Assignment,
    /// An assignment without submissions.
    Asked,
}

pub(super) const KINDS: [Kind; 16] = [
    Kind::Observation,
    Kind::Managers,
    Kind::Foreign,
    Kind::Submitted,
    Kind::SubmittedManagers,
    Kind::Objective,
    Kind::Team,
    Kind::Org,
    Kind::Draft,
    Kind::Shared,
    Kind::Retired,
    Kind::Talk,
    Kind::GoalTalk,
    Kind::Message,
    Kind::Assignment,
    Kind::Asked,
];

impl Kind {
    /// Returns the relations that see this resource.
    pub(super) fn readers(self) -> &'static [Relation] {
        use Relation::{Above, Admin, Author, Organization, Requester, Reviewer, Subject};
        match self {
            Self::Observation | Self::Shared | Self::Retired => &[Author, Subject, Above, Admin, Organization],
            Self::Managers | Self::Draft => &[Author, Above, Admin, Organization],
            Self::Foreign => &[Above, Admin, Organization],
            Self::Submitted => &[Author, Subject, Above, Requester, Admin, Organization],
            Self::SubmittedManagers => &[Author, Above, Admin, Organization],
            Self::Objective | Self::Team => &[Subject, Above, Admin, Organization],
            Self::Org => &RELATIONS,
            Self::Talk | Self::GoalTalk | Self::Message => &[Author, Subject, Admin, Organization],
            Self::Assignment | Self::Asked => &[Author, Reviewer, Requester, Admin, Organization],
        }
    }

    /// Returns the resources whose ids are part of this resource.
    pub(super) fn contents(self) -> &'static [Self] {
        match self {
            Self::Draft | Self::Shared => &[Self::Observation, Self::Managers, Self::Foreign, Self::Objective],
            Self::Retired => &[Self::Observation],
            Self::Objective => &[Self::Draft, Self::Shared],
            Self::Talk => &[Self::Draft],
            Self::GoalTalk => &[Self::Objective],
            Self::Message => &[Self::Talk],
            Self::Assignment => &[Self::Submitted, Self::SubmittedManagers],
            Self::Observation | Self::Managers | Self::Foreign | Self::Submitted | Self::SubmittedManagers => &[],
            Self::Team | Self::Org | Self::Asked => &[],
        }
    }

    /// Returns the path of the resource's collection.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Observation | Self::Managers | Self::Foreign | Self::Submitted | Self::SubmittedManagers => {
                "/v1/observations"
            }
            Self::Objective => "/v1/employee-objectives",
            Self::Team | Self::Org => "/v1/manager-objectives",
            Self::Draft | Self::Shared | Self::Retired => "/v1/summaries",
            Self::Talk | Self::GoalTalk | Self::Message => "/v1/conversations",
            Self::Assignment | Self::Asked => "/v1/assignments",
        }
    }
}

/// One person and one key for each relation.
pub(super) struct BoundPeople {
    people: Vec<String>,
    keys: Vec<String>,
    /// Bearer tokens of the people, which give the access of their keys.
    tokens: Vec<String>,
}

impl BoundPeople {
    pub(super) async fn gather(world: &TestApi) -> Self {
        let manager_above = person(world, "above", "manager", None).await;
        let boss = person(world, "middle", "manager", Some(&manager_above)).await;
        let subject = person(world, "subject", "manager", Some(&boss)).await;
        let other_manager = person(world, "beside", "manager", Some(&manager_above)).await;
        let author = person(world, "author", "employee", None).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let reviewer = person(world, "reviewer", "employee", Some(&other_manager)).await;
        let stranger = person(world, "stranger", "manager", None).await;
        let requester = person(world, "requester", "employee", None).await;
        let people = vec![author, subject, manager_above, other_manager, admin, reviewer, stranger, requester];
        let mut keys = vec![];
        for id in &people {
            keys.push(key_for(world, id, AccessLevel::Standard).await);
        }
        keys.push(world.admin.clone());
        let stage = TokenStage::begin_unlinked(world, json!({"scopes": ["*"]})).await;
        let mut tokens = vec![];
        for id in &people {
            stage.link(world, id, id).await;
            tokens.push(token(world, json!({"sub": id})));
        }
        Self { people, keys, tokens }
    }

    /// Returns the keys and the tokens of all relations. The organization has no token.
    pub(super) fn callers(&self) -> impl Iterator<Item = (Relation, &str)> {
        let keys = self.keys.iter().map(String::as_str);
        let tokens = self.tokens.iter().map(String::as_str);
        RELATIONS.into_iter().zip(keys).chain(RELATIONS.into_iter().zip(tokens))
    }

    pub(super) fn person(&self, relation: Relation) -> &str {
        &self.people[RELATIONS.iter().position(|known| *known == relation).unwrap()]
    }
}

/// One resource of each kind.
pub(super) struct Fixture(Vec<(Kind, String)>);

impl Fixture {
    pub(super) fn id(&self, kind: Kind) -> &str {
        &self.0.iter().find(|(known, _)| *known == kind).unwrap().1
    }

    /// Returns the resources whose ids occur in a text.
    pub(super) fn kinds_in(&self, text: &str) -> BTreeSet<Kind> {
        self.0.iter().filter(|(_, id)| text.contains(id.as_str())).map(|(kind, _)| *kind).collect()
    }

    pub(super) async fn make(world: &TestApi, cast: &BoundPeople) -> Self {
        let [author, subject] = [Relation::Author, Relation::Subject].map(|relation| cast.person(relation));
        let mut all = vec![];
        for (kind, author, visibility) in [
            (Kind::Observation, json!(author), "person"),
            (Kind::Managers, json!(author), "managers"),
            (Kind::Foreign, Value::Null, "managers"),
        ] {
            let body = json!({"employee_id": subject, "author_id": author, "type": "strength",
                              "observation": "Calm.", "visibility": visibility});
            all.push((kind, world.made("/v1/observations", body).await));
        }
        for (kind, path, scope, owner) in [
            (Kind::Objective, "/v1/employee-objectives", "employee", subject),
            (Kind::Team, "/v1/manager-objectives", "manager", subject),
            (Kind::Org, "/v1/manager-objectives", "org", cast.person(Relation::Admin)),
        ] {
            let mut body = crate::objectives::body(scope, owner);
            body["title"] = json!("Calm");
            all.push((kind, world.made(path, body).await));
        }
        let mut fixture = Self(all);
        fixture.add_summaries(world, subject, author).await;
        fixture.add_conversations(world, subject, author).await;
        fixture.add_assignments(world, cast).await;
        fixture
    }

    async fn add_summaries(&mut self, world: &TestApi, subject: &str, author: &str) {
        let all = [Kind::Observation, Kind::Managers, Kind::Foreign].map(|kind| self.id(kind).to_owned());
        let goals = vec![self.id(Kind::Objective).to_owned()];
        for (kind, observations, objectives, way) in [
            (Kind::Draft, all.to_vec(), goals.clone(), &[][..]),
            (Kind::Shared, all.to_vec(), goals, &["approve", "share"]),
            (Kind::Retired, all[..1].to_vec(), vec![], &["approve", "share", "archive"]),
        ] {
            let body = json!({"employee_id": subject, "author_id": author, "title": "Calm", "body": "Calm.",
                              "included_observation_ids": observations, "included_objective_ids": objectives});
            let id = world.made("/v1/summaries", body).await;
            for action in way {
                let response = world.post(&format!("/v1/summaries/{id}/{action}"), json!({})).await;
                assert_eq!(response.status, 200, "{}", response.text());
            }
            self.0.push((kind, id));
        }
    }

    async fn add_conversations(&mut self, world: &TestApi, subject: &str, author: &str) {
        for (kind, of, about) in
            [(Kind::Talk, "summary", Kind::Draft), (Kind::GoalTalk, "objective", Kind::Objective)]
        {
            let body = json!({"title": "Calm", "participant_ids": [author, subject],
                              "about": {"type": of, "id": self.id(about)}});
            self.0.push((kind, world.made("/v1/conversations", body).await));
        }
        let path = format!("/v1/conversations/{}/messages", self.id(Kind::Talk));
        let message = world.made(&path, json!({"author_id": author, "body": "Calm."})).await;
        self.0.push((Kind::Message, message));
    }

    async fn add_assignments(&mut self, world: &TestApi, cast: &BoundPeople) {
        let person_of = |relation| cast.person(relation);
        let body = json!({"employee_id": person_of(Relation::Subject), "requester_id": person_of(Relation::Requester),
                          "title": "Calm", "reviewer_ids": [person_of(Relation::Author), person_of(Relation::Reviewer)]});
        for kind in [Kind::Asked, Kind::Assignment] {
            self.0.push((kind, world.made("/v1/assignments", body.clone()).await));
        }
        let path = format!("/v1/assignments/{}/submissions", self.id(Kind::Assignment));
        let one = |visibility: &str| json!({"type": "strength", "observation": "Calm.", "visibility": visibility});
        let body =
            json!({"reviewer_id": person_of(Relation::Author), "observations": [one("person"), one("managers")]});
        let submission = world.post(&path, body).await.json();
        let ids = &submission["submissions"][0]["observation_ids"];
        for (number, kind) in [Kind::Submitted, Kind::SubmittedManagers].into_iter().enumerate() {
            self.0.push((kind, ids[number].as_str().unwrap().to_owned()));
        }
    }

    /// Creates a fixture and performs these actions on one of its resources.
    pub(super) async fn prepared(world: &TestApi, cast: &BoundPeople, kind: Kind, actions: &[&str]) -> Self {
        let fixture = Self::make(world, cast).await;
        let path = format!("{}/{}", kind.path(), fixture.id(kind));
        for action in actions {
            let response = match *action {
                "start" => world.patch(&path, json!({"status": "in_progress"})).await,
                action => world.post(&format!("{path}/{action}"), json!({})).await,
            };
            assert_eq!(response.status, 200, "{path} {action}: {}", response.text());
        }
        fixture
    }
}
