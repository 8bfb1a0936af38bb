//! Topics of a subscription: single event types or all of them, and which of them a caller may have sent (§2.4,
//! decision F6).

use candor_domain::access::{Caller, PermissionError};
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::problem::ValueError;
use candor_domain::schema::{array, inline_schema, open};
use serde::{Serialize, Serializer};

use super::PayloadForm;

/// The topic for every event type, including types that are added later.
const EVERY: &str = "*";

/// One entry of `event_types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// `*`: events of every type.
    Every,
    /// Events of one type.
    Of(EventType),
}

impl Topic {
    /// Parses a topic.
    ///
    /// # Errors
    /// Returns `invalid_enum` with the list of valid words.
    pub fn from_word(text: &str) -> Result<Self, ValueError> {
        if text == EVERY {
            return Ok(Self::Every);
        }
        EventType::from_word(text).map(Self::Of).map_err(|_| {
            let words: Vec<_> = EventType::words().into_iter().chain([EVERY]).collect();
            ValueError::one_of(&words)
        })
    }

    /// Name of the set of topics in the OpenAPI document.
    pub const NAME: &str = "EventTopic";

    /// Returns the topic as its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => EVERY,
            Self::Of(kind) => kind.word(),
        }
    }
}

/// The topics of `event_types` in their order, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics(Vec<Topic>);

impl Topics {
    /// Creates the list of topics, without duplicates (decision F6).
    #[must_use]
    pub fn new(given: impl IntoIterator<Item = Topic>) -> Self {
        let mut topics = Vec::new();
        for topic in given {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        Self(topics)
    }

    /// Parses stored topics.
    ///
    /// # Errors
    /// Returns `invalid_enum` for an unknown word.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, ValueError> {
        words.into_iter().map(Topic::from_word).collect::<Result<Vec<_>, _>>().map(Self::new)
    }

    /// Returns the topics as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[Topic] {
        &self.0
    }

    /// Returns the topics as bits, see [`EventType::bit`]; `*` sets every bit, including the bits of later types.
    #[must_use]
    pub fn bits(&self) -> i64 {
        self.0.iter().fold(0, |bits, topic| match topic {
            Topic::Every => -1,
            Topic::Of(kind) => bits | kind.bit(),
        })
    }

    /// Checks that this caller may receive the events of these topics in this payload form (decision F6). Returns the
    /// topics, with the types that the caller may read in place of `*`. If the caller may read all types, `*` stays,
    /// and includes later types.
    ///
    /// # Errors
    /// The access that the caller lacks for a type that is an entry of its own.
    pub fn granted_to(&self, caller: &Caller, payload: PayloadForm) -> Result<Self, PermissionError> {
        let may_get = |kind: EventType| payload.may_reach(caller, kind);
        let mut topics = vec![];
        for topic in &self.0 {
            match topic {
                Topic::Of(kind) => {
                    may_get(*kind)?;
                    topics.push(*topic);
                }
                Topic::Every if EventType::ALL.iter().all(|kind| may_get(*kind).is_ok()) => topics.push(*topic),
                Topic::Every => {
                    topics.extend(
                        EventType::ALL.iter().filter(|kind| may_get(**kind).is_ok()).copied().map(Topic::Of),
                    );
                }
            }
        }
        Ok(Self::new(topics))
    }

    /// Returns `true` if this type is an entry of its own.
    #[must_use]
    pub fn name(&self, kind: EventType) -> bool {
        self.0.contains(&Topic::Of(kind))
    }

    /// Returns `true` if events of this type are included.
    #[must_use]
    pub fn cover(&self, kind: EventType) -> bool {
        self.0.iter().any(|topic| matches!(topic, Topic::Every) || *topic == Topic::Of(kind))
    }
}

inline_schema!(Topics, "Topics", |generator| array(&open(generator, Topic::NAME)));

impl Serialize for Topics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|topic| topic.word()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{NOON, object};
    use crate::{Draft, Patch, SealedHeaderPatch, Subscription};
    use candor_domain::access::{AccessLevel, Permission, Permissions};
    use candor_domain::export::ExportedResource;
    use candor_domain::id::WebhookId;
    use candor_domain::receiver_url::Verdict;
    use candor_domain::refusal::DomainError;
    use candor_test_fixtures::unbound;
    use ulid::Ulid;

    #[test]
    fn topic_covers_its_event_type_and_star_covers_all() {
        let all = Topics::from_words(["*"]).unwrap();
        for kind in EventType::ALL {
            let one = Topics::from_words([kind.word()]).unwrap();
            assert_eq!(one.as_slice(), [Topic::Of(*kind)]);
            assert!(all.cover(*kind), "{kind:?}");
            assert_eq!((one.bits(), all.bits()), (kind.bit(), -1));
            let types: Vec<_> = EventType::ALL.iter().filter(|kind| one.cover(**kind)).collect();
            assert_eq!(types, [kind]);
        }
    }

    #[test]
    fn duplicate_topics_are_removed_and_star_keeps_its_neighbors() {
        let topics = Topics::from_words(["test.ping", "*", "test.ping", "*"]).unwrap();
        assert_eq!(serde_json::to_string(&topics).unwrap(), r#"["test.ping","*"]"#);
    }

    fn key(scopes: Permissions) -> Caller {
        Caller { scopes, ..unbound(AccessLevel::Admin) }
    }

    #[test]
    fn subscription_sends_only_types_that_its_key_may_read() {
        let reader = key(Permissions::NONE.with(Permission::ObjectivesRead));
        let create_by = |caller: &Caller, members: &str| {
            let body = format!(r#"{{"url":"https://example.com/",{members}}}"#);
            let draft = Draft::parse(object(&body)).unwrap();
            let id = WebhookId::from_ulid(Ulid(1));
            Subscription::create(id, caller, draft, Verdict::Allowed, vec![], SealedHeaderPatch::new(), NOON)
                .map(|decision| decision.state)
        };
        let every = create_by(&reader, r#""event_types":["*"]"#).unwrap();
        let types: Vec<_> = EventType::ALL.iter().filter(|kind| every.wants(**kind)).collect();
        let readable: Vec<_> =
            EventType::ALL.iter().filter(|kind| reader.may_read_events_of(**kind).is_ok()).collect();
        assert_eq!(types, readable);
        assert!(every.wants(EventType::ObjectiveCreated) && !every.wants(EventType::SummaryCreated));
        let lacking = DomainError::Denied(PermissionError::MissingScope(Permission::SummariesRead));
        let two_types = r#""event_types":["objective.created","summary.created"]"#;
        assert_eq!(create_by(&reader, two_types).unwrap_err(), lacking);
        assert!(create_by(&reader, &format!(r#"{two_types},"payload":"thin""#)).is_ok());
        assert_eq!(
            create_by(&unbound(AccessLevel::Admin), r#""event_types":["*"]"#)
                .unwrap()
                .effective_event_types
                .bits(),
            -1
        );

        // A key that changes which events are sent, where they go, or what is in them, must be allowed to read them.
        let mut subscription_before = create_by(&unbound(AccessLevel::Admin), two_types).unwrap();
        let patch = |webhook: &Subscription, body: &str| {
            let patch = Patch::resolve(&Patch::parse(object(body)), webhook).unwrap();
            let sealed_secret = patch.rotate_secret.then(|| vec![2]);
            webhook
                .update(&reader, patch, Some(Verdict::Allowed), sealed_secret, SealedHeaderPatch::new(), NOON)
                .map(|decision| decision.unwrap().state)
        };
        let less = [r#"{"payload":"thin"}"#, r#"{"event_types":["employee.erased"]}"#];
        let other = [r#"{"url":"https://example.com/other"}"#, r#"{"event_types":["summary.created"]}"#];
        for body in less.iter().chain(&other) {
            assert_eq!(patch(&subscription_before, body).unwrap_err(), lacking, "{body}");
        }
        for body in [r#"{"active":false}"#, r#"{"description":"x"}"#, r#"{"rotate_secret":true}"#] {
            assert!(patch(&subscription_before, body).is_ok(), "{body}");
        }
        // If this change of the URL were accepted, the new URL would get events once the owner restores the types.
        subscription_before.event_types = Topics::new([Topic::Every]);
        assert_eq!(patch(&subscription_before, other[0]).unwrap_err(), lacking);
        subscription_before.effective_event_types = every.effective_event_types.clone();
        let patch_of_target = patch(&subscription_before, other[0]).unwrap();
        assert_eq!(patch_of_target.effective_event_types, every.effective_event_types);
    }

    #[test]
    fn filter_by_department_needs_the_scope_of_employees() {
        let (reader, exporter) = (Permission::ObservationsRead, Permission::ExportsRead);
        let draft_with = |member: &str, payload: &str| {
            let department = candor_domain::id::DepartmentId::from_ulid(Ulid(7));
            let body = format!(
                r#"{{"url":"https://example.com/","event_types":["observation.created"],"payload":"{payload}",
                "filter":{{{member}}}}}"#
            );
            Draft::parse(object(&body.replace("DEPARTMENT", &department.to_string()))).unwrap()
        };
        let create_by = |caller: &Caller, draft: Draft| {
            let id = WebhookId::from_ulid(Ulid(1));
            Subscription::create(id, caller, draft, Verdict::Allowed, vec![], SealedHeaderPatch::new(), NOON)
                .map(|decision| decision.state)
        };
        let update_by = |caller: &Caller, webhook: &Subscription, body: &str| {
            let patch = Patch::resolve(&Patch::parse(object(body)), webhook).unwrap();
            webhook.update(caller, patch, None, None, SealedHeaderPatch::new(), NOON).map(Option::unwrap)
        };
        let department = r#""department_id":["DEPARTMENT"]"#;
        let scopes = Permissions::NONE.with(reader);
        let lacking = DomainError::Denied(PermissionError::MissingScope(Permission::EmployeesRead));
        for payload in ["full", "thin"] {
            let refusal = create_by(&key(scopes), draft_with(department, payload)).unwrap_err();
            assert_eq!(refusal, lacking);
            for more in [Permission::EmployeesRead, exporter] {
                let webhook = create_by(&key(scopes.with(more)), draft_with(department, payload)).unwrap();
                for body in [r#"{"filter":{"type":"strength"}}"#, r#"{"filter":null}"#] {
                    assert_eq!(update_by(&key(scopes), &webhook, body).unwrap_err(), lacking);
                    assert!(update_by(&key(scopes.with(more)), &webhook, body).is_ok());
                }
                assert!(update_by(&key(scopes), &webhook, r#"{"active":false}"#).is_ok());
            }
            assert!(create_by(&key(scopes), draft_with(r#""type":"strength""#, payload)).is_ok());
        }
    }

    #[test]
    fn each_family_of_events_needs_its_read_scope() {
        let exporter = key(Permissions::NONE.with(Permission::ExportsRead));
        let standard = Caller { level: AccessLevel::Standard, ..exporter.clone() };
        for kind in EventType::ALL {
            let read_scope = kind.needed_scope();
            for scope in Permission::ALL.iter().filter(|scope| **scope != Permission::ExportsRead) {
                let is_permitted = read_scope.is_none_or(|needed| needed == *scope);
                assert_eq!(
                    key(Permissions::NONE.with(*scope)).may_read_events_of(*kind).is_ok(),
                    is_permitted,
                    "{kind:?} {scope:?}"
                );
                let may_hear = PayloadForm::Thin.may_reach(&key(Permissions::NONE.with(*scope)), *kind).is_ok();
                assert_eq!(may_hear, is_permitted || !kind.is_hidden_in_log(), "{kind:?} {scope:?}");
            }
            let is_exported =
                |needed| ExportedResource::ALL.iter().any(|resource| resource.read_scope() == needed);
            assert_eq!(exporter.may_read_events_of(*kind).is_ok(), read_scope.is_none_or(is_exported), "{kind:?}");
            assert_eq!(standard.may_read_events_of(*kind).is_ok(), read_scope.is_none(), "{kind:?}");
        }
    }
}
