//! The enumerations of the document: each is one named schema, made from the words that the domain reads and writes.
//!
//! Requests refer to the schema itself and so are closed. Answers go through [`open`], because the service may learn new
//! words at any time, and a client that is a version behind should not break over one.

use candor_domain::access::api_key::ApiKey;
use candor_domain::access::{ALL_SCOPES, AccessLevel, Environment, Permission, QuotaClass};
use candor_domain::assignment::{self, Assignment, SubmissionStatus};
use candor_domain::audit::{ActorKind, AuditEntry};
use candor_domain::conversation::{self, Conversation, Message};
use candor_domain::csv;
use candor_domain::decision::Resource;
use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::library::{Attribute, Department, Tone};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{self, FIRST_STATUSES, FIRST_STATUSES_NAME, Family, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Review;
use candor_domain::page::Listed;
use candor_domain::params::Archived;
use candor_domain::people::invitation::{MailFailure, MailStatus};
use candor_domain::people::{self, Connector, Employee, Role, StatusFilter, connector, invitation};
use candor_domain::problem::Code;
use candor_domain::search;
use candor_domain::summary::{self, Summary};
use candor_domain::webhook::{self, Delivery, Only, Subscription, Topic};
use serde_json::{Value, json};

use super::shapes::{Member, named};
use crate::error_response::ErrorCode;

/// The scopes of keys: the permissions of the domain and the word for all of them.
pub(super) const SCOPES: &str = Permission::NAME;
/// What a subscription may ask for.
pub(super) const TOPICS: &str = Topic::NAME;
/// The kinds of resources that a search finds.
pub(super) const HIT_TYPES: &str = "SearchHitType";
const FOUND: [&str; 4] = [Observation::NAME, Objective::NAME, Employee::NAME, Summary::NAME];
/// The codes of entries that are about a field.
pub(super) const FIELD_CODES: &str = "FieldErrorCode";

/// The words of a closed set.
pub(super) fn words<T: Word>() -> Vec<&'static str> {
    T::words()
}

/// One of a set of words, where no other is taken.
fn word<T: Word>() -> Value {
    named(T::NAME)
}

/// One of a set of words that may grow: what the document knows, or a text.
pub(super) fn open(name: &str) -> Value {
    json!({"anyOf": [named(name), {"type": "string"}]})
}

/// The orders of a list.
fn sort<T: Listed>() -> Member {
    let words: Vec<_> = T::sorts().map(|(word, _)| word).collect();
    enumeration(T::ORDERS_NAME, &words, "The orders of this list; a leading `-` puts the largest first.")
}

fn enumeration(name: &'static str, words: &[&str], about: &str) -> Member {
    (name, json!({"type": "string", "enum": words, "description": about}))
}

fn of<T: Word>(about: &str) -> Member {
    enumeration(T::NAME, &words::<T>(), about)
}

fn scopes_of(family: Family) -> Member {
    let words: Vec<_> = family.scopes().iter().map(|it| it.word()).collect();
    enumeration(family.scopes_name(), &words, "The scopes of the objectives that these paths hold.")
}

/// With the types that something fires already.
fn event_types() -> Member {
    let named = |live| {
        let some = EventType::ALL.iter().filter(move |it| it.is_live() == live);
        some.map(|it| it.word()).collect::<Vec<_>>()
    };
    let mut about = "The types of events. More are added over time; pass over those you do not know.".to_owned();
    let later = named(false).join("`, `");
    if !later.is_empty() {
        about.push_str(&format!(" Nothing fires `{later}` yet; subscribing to them is possible beforehand."));
    }
    let (name, mut schema) = of::<EventType>(&about);
    schema["x-live"] = json!(named(true));
    (name, schema)
}

fn topics() -> Member {
    let every = json!({"type": "string", "const": Topic::Every.word()});
    let about = "What a subscription asks for: a type of event, or `*` for all, also those to come.";
    (TOPICS, json!({"anyOf": [word::<EventType>(), every], "description": about}))
}

fn field_codes() -> Member {
    let about = "What is wrong with a field. The first six come with 400, as do `unknown_field` and `read_only`; the \
                 others with 422.";
    (FIELD_CODES, json!({"type": "string", "enum": Code::ALL, "description": about}))
}

/// Every enumeration, by name.
pub(super) fn schemas() -> Vec<Member> {
    let scopes: Vec<_> = words::<Permission>().into_iter().chain([ALL_SCOPES]).collect();
    let first: Vec<_> = FIRST_STATUSES.iter().map(|it| it.word()).collect();
    let mut all = vec![
        of::<observation::Type>("Whether an observation is about something done well or something to do better."),
        of::<observation::Expand>("What an observation can inline."),
        of::<objective::Scope>("Whose goal an objective is: one person's, a manager's team's, or everybody's."),
        of::<objective::Status>("Where an objective stands in its lifecycle."),
        of::<objective::Expand>("What an objective can inline."),
        enumeration(FIRST_STATUSES_NAME, &first, "The statuses that an objective can be created with."),
        scopes_of(Family::Employees),
        scopes_of(Family::Managers),
        of::<assignment::Status>("Where an assignment stands."),
        of::<SubmissionStatus>("Whether a reviewer has submitted."),
        of::<conversation::Type>("What a conversation can be about."),
        of::<summary::Status>("Where a summary stands in its lifecycle."),
        of::<summary::Expand>("What a summary can inline."),
        of::<search::Type>("What can be searched."),
        enumeration(HIT_TYPES, &FOUND, "What kinds of resources a search finds."),
        of::<notification::Type>("What a notification is about."),
        of::<Role>("What a person may do in the organization."),
        of::<people::Status>("Whether a person works in the organization now."),
        of::<StatusFilter>("Which people are wanted, by status."),
        of::<people::Expand>("What a person can inline."),
        of::<Tone>("The sound of feedback with this attribute."),
        of::<Archived>("Which entries are wanted: `false` those in use, `true` those that are archived, or `all`."),
        of::<Review>("Whether something is reviewed before it is approved: it may be, must be, or cannot be."),
        of::<Environment>("The data set of a key: `test` keeps apart what is tried out, and sends no mail."),
        of::<AccessLevel>("Whether a key may do what administrators do."),
        enumeration(SCOPES, &scopes, "What a key may do. `write` does not include `read`; `*` stands for all."),
        of::<QuotaClass>("What a request counts as; each class has a limit of its own."),
        of::<connector::Type>("How records arrive from an HR system."),
        of::<connector::Status>("How a connector does, by what became of what was sent last."),
        of::<connector::SyncStatus>("How much of what was sent was applied."),
        of::<invitation::State>("What became of an invitation."),
        of::<MailStatus>("What has become of a mail; `canceled` was not wanted any more before it was sent."),
        of::<MailFailure>(
            "Why an attempt to send a mail failed; after `refused`, `unsendable` and `expired` none follows.",
        ),
        event_types(),
        topics(),
        of::<ActorKind>("What kind of actor did something."),
        of::<webhook::Status>("How an attempt to deliver ended; after `dropped` no other attempt follows."),
        of::<webhook::FailureReason>("Why an attempt to deliver was not acknowledged."),
        of::<Only>("Which events are delivered again: those never acknowledged, or also those never attempted."),
        of::<csv::Empty>("What an empty cell means: the value stays as it is, or is cleared."),
        of::<csv::Action>("What becomes of a row."),
        of::<ErrorCode>("The stable codes of errors. Branch on these; messages may change."),
        field_codes(),
    ];
    all.extend(sorts());
    all
}

fn sorts() -> [Member; 15] {
    [
        sort::<Observation>(),
        sort::<Objective>(),
        sort::<Assignment>(),
        sort::<Conversation>(),
        sort::<Message>(),
        sort::<Summary>(),
        sort::<Notification>(),
        sort::<Employee>(),
        sort::<Department>(),
        sort::<Attribute>(),
        sort::<ApiKey>(),
        sort::<Connector>(),
        sort::<Subscription>(),
        sort::<Delivery>(),
        sort::<AuditEntry>(),
    ]
}
