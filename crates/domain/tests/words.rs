//! Closed sets of words: each value has one word, each word one value, and the JSON form uses it.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fmt::Debug;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, QuotaClass};
use candor_domain::audit::ActorKind;
use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::library::Tone;
use candor_domain::organization::Review;
use candor_domain::params::Archived;
use candor_domain::people::{Role, Status, StatusFilter, connector, invitation};
use candor_domain::problem::Code;
use candor_domain::{assignment, conversation, notification, objective, observation, people, summary, webhook};

fn one_to_one<T: Word + Debug>() {
    let words: BTreeSet<_> = T::words().into_iter().collect();
    assert_eq!(words.len(), T::ALL.len());
    for value in T::ALL {
        let word = value.word();
        assert_eq!(T::from_word(word), Ok(*value));
        for other in [word.to_uppercase(), format!("{word} "), word[1..].to_owned()] {
            assert_eq!(T::from_word(&other).map_err(|it| it.code), Err(Code::InvalidEnum), "{other:?}");
        }
    }
}

#[test]
fn every_word_leads_to_its_value_and_back() {
    one_to_one::<AccessLevel>();
    one_to_one::<ActorKind>();
    one_to_one::<Archived>();
    one_to_one::<Environment>();
    one_to_one::<EventType>();
    one_to_one::<QuotaClass>();
    one_to_one::<Review>();
    one_to_one::<Role>();
    one_to_one::<Permission>();
    one_to_one::<Status>();
    one_to_one::<StatusFilter>();
    one_to_one::<Tone>();
    one_to_one::<connector::Type>();
    one_to_one::<invitation::MailFailure>();
    one_to_one::<invitation::MailStatus>();
    one_to_one::<invitation::State>();
    one_to_one::<assignment::Status>();
    one_to_one::<assignment::SubmissionStatus>();
    one_to_one::<conversation::Type>();
    one_to_one::<notification::Type>();
    one_to_one::<objective::Expand>();
    one_to_one::<objective::Scope>();
    one_to_one::<objective::Status>();
    one_to_one::<observation::Expand>();
    one_to_one::<observation::Type>();
    one_to_one::<observation::Visibility>();
    one_to_one::<people::Expand>();
    one_to_one::<summary::Expand>();
    one_to_one::<summary::Status>();
    one_to_one::<summary::ActionKind>();
    one_to_one::<webhook::FailureReason>();
    one_to_one::<webhook::Only>();
    one_to_one::<webhook::DeliveryOrigin>();
    one_to_one::<webhook::Status>();
}

#[test]
fn codes_are_those_of_the_contract_and_the_additions() {
    let written: Vec<_> = Code::ALL.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    let wanted = [
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
        "invalid_state",
        "limit_reached",
        "not_a_participant",
        "not_a_reviewer",
    ];
    assert_eq!(written, wanted);
}

#[test]
fn actors_and_events_are_written_as_their_words() {
    for kind in ActorKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
    for kind in EventType::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
}

#[test]
fn each_scope_is_granted_by_itself_alone() {
    for one in Permission::ALL {
        let granted: Vec<_> =
            Permission::ALL.iter().copied().filter(|it| Permissions::NONE.with(*one).has(*it)).collect();
        assert_eq!(granted, [*one]);
    }
    let every = Permission::ALL.iter().fold(Permissions::NONE, |set, scope| set.with(*scope));
    assert!(Permissions::ALL.cover(every) && !every.cover(Permissions::ALL), "* also grants what is added later");
    assert_eq!(Permissions::from_words(every.words()), Some(every));
    assert_eq!((Permissions::ALL.words(), Permissions::NONE.words()), (vec!["*"], vec![]));
}
