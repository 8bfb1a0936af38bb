//! Closed sets of words: each value has one word, each word one value, and the JSON form uses it.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fmt::Debug;

use candor_domain::access::{AccessLevel, Environment, QuotaClass, Scope, Scopes};
use candor_domain::audit::ActorKind;
use candor_domain::event::EventType;
use candor_domain::fields::Word;
use candor_domain::library::Tone;
use candor_domain::organization::Review;
use candor_domain::params::Archived;
use candor_domain::people::{Role, Status, StatusFilter, connector, invitation};
use candor_domain::problem::Code;
use candor_domain::{notification, objective, observation, people, webhook};

fn one_to_one<T: Word + Debug>(count: usize) {
    let words: BTreeSet<_> = T::WORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!((words.len(), T::WORDS.len()), (count, count));
    for (word, value) in T::WORDS {
        assert_eq!(T::from_word(word), Ok(*value));
        assert_eq!(value.word(), *word);
        for other in [word.to_uppercase(), format!("{word} "), word[1..].to_owned()] {
            assert_eq!(T::from_word(&other).map_err(|it| it.code), Err(Code::InvalidEnum), "{other:?}");
        }
    }
}

#[test]
fn every_word_leads_to_its_value_and_back() {
    one_to_one::<AccessLevel>(2);
    one_to_one::<ActorKind>(4);
    one_to_one::<Archived>(3);
    one_to_one::<Environment>(2);
    one_to_one::<EventType>(24);
    one_to_one::<QuotaClass>(4);
    one_to_one::<Review>(3);
    one_to_one::<Role>(3);
    one_to_one::<Scope>(20);
    one_to_one::<Status>(3);
    one_to_one::<StatusFilter>(4);
    one_to_one::<Tone>(3);
    one_to_one::<connector::Type>(1);
    one_to_one::<invitation::State>(4);
    one_to_one::<notification::Type>(4);
    one_to_one::<objective::Expand>(2);
    one_to_one::<objective::Scope>(3);
    one_to_one::<objective::Status>(6);
    one_to_one::<observation::Expand>(2);
    one_to_one::<observation::Type>(2);
    one_to_one::<people::Expand>(3);
    one_to_one::<webhook::FailureReason>(12);
    one_to_one::<webhook::Only>(2);
    one_to_one::<webhook::Origin>(3);
    one_to_one::<webhook::Status>(3);
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
    ];
    assert_eq!(written, wanted);
}

#[test]
fn actors_and_events_are_written_as_their_words() {
    for (word, kind) in ActorKind::WORDS {
        assert_eq!(serde_json::to_value(kind).unwrap(), *word);
    }
    for (word, kind) in EventType::WORDS {
        assert_eq!(serde_json::to_value(kind).unwrap(), *word);
    }
}

#[test]
fn each_scope_is_granted_by_itself_alone() {
    for (_, one) in Scope::WORDS {
        let granted: Vec<_> =
            Scope::WORDS.iter().map(|(_, it)| *it).filter(|it| Scopes::NONE.with(*one).has(*it)).collect();
        assert_eq!(granted, [*one]);
    }
    let every = Scope::WORDS.iter().fold(Scopes::NONE, |set, (_, scope)| set.with(*scope));
    assert!(Scopes::ALL.cover(every) && !every.cover(Scopes::ALL), "* also grants what is added later");
    assert_eq!(Scopes::from_words(every.words()), Some(every));
    assert_eq!((Scopes::ALL.words(), Scopes::NONE.words()), (vec!["*"], vec![]));
}
