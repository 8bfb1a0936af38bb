//! Enumerations of words: each value has one word, each word one value, and JSON uses the word.

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, QuotaClass};
use candor_domain::audit::ActorKind;
use candor_domain::catalog::Tone;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::organization::Review;
use candor_domain::params::Archived;
use candor_domain::people::{Role, Status, StatusFilter, connector, invitation};
use candor_domain::problem::Code;
use candor_domain::{
    assignment, attempt_failure, conversation, notification, objective, observation, people, summary,
};

use super::checks::check_words;

#[test]
fn every_word_is_read_back_as_its_value() {
    check_words::<AccessLevel>();
    check_words::<ActorKind>();
    check_words::<candor_domain::access::api_key::ApiKeyKind>();
    check_words::<Archived>();
    check_words::<Environment>();
    check_words::<EventType>();
    check_words::<QuotaClass>();
    check_words::<Review>();
    check_words::<Role>();
    check_words::<Permission>();
    check_words::<Status>();
    check_words::<StatusFilter>();
    check_words::<Tone>();
    check_words::<connector::Type>();
    check_words::<invitation::MailFailure>();
    check_words::<invitation::MailStatus>();
    check_words::<invitation::State>();
    check_words::<assignment::Status>();
    check_words::<assignment::SubmissionStatus>();
    check_words::<conversation::Type>();
    check_words::<notification::Type>();
    check_words::<objective::Confidence>();
    check_words::<objective::ConfidenceFilter>();
    check_words::<objective::Expand>();
    check_words::<objective::Metric>();
    check_words::<objective::ObjectiveGroup>();
    check_words::<objective::Scope>();
    check_words::<objective::Status>();
    check_words::<observation::Expand>();
    check_words::<observation::Type>();
    check_words::<observation::Visibility>();
    check_words::<people::Expand>();
    check_words::<summary::Expand>();
    check_words::<summary::Status>();
    check_words::<summary::ActionKind>();
    check_words::<attempt_failure::FailureReason>();
}

#[test]
fn problem_codes_are_those_of_the_contract() {
    let code_words: Vec<_> = Code::ALL.iter().map(|code| serde_json::to_value(code).unwrap()).collect();
    let expected_words = [
        "required",
        "too_short",
        "too_long",
        "invalid_format",
        "invalid_enum",
        "out_of_range",
        "not_found_in_organization",
        "field_managed_externally",
        "unknown_field",
        "read_only",
        "reporting_cycle",
        "too_deep",
        "invalid_state",
        "limit_reached",
        "not_a_participant",
        "not_a_reviewer",
        "not_possible",
        "scope_mismatch",
    ];
    assert_eq!(code_words, expected_words);
}

#[test]
fn actor_and_event_kinds_serialize_as_their_words() {
    for kind in ActorKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
    for kind in EventType::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
}

#[test]
fn scope_grants_only_itself() {
    for one in Permission::ALL {
        let scopes: Vec<_> =
            Permission::ALL.iter().copied().filter(|scope| Permissions::NONE.with(*one).has(*scope)).collect();
        assert_eq!(scopes, [*one]);
    }
    let every = Permission::ALL.iter().fold(Permissions::NONE, |set, scope| set.with(*scope));
    assert!(
        Permissions::ALL.cover(every) && !every.cover(Permissions::ALL),
        "* also grants scopes that are added later"
    );
    assert_eq!(Permissions::from_words(every.words()), Some(every));
    assert_eq!((Permissions::ALL.words(), Permissions::NONE.words()), (vec!["*"], vec![]));
}
