//! Rules of all enumerations and error types of the crate.

#![cfg(test)]

#[path = "../../../domain/tests/rules/checks.rs"]
mod checks;

use std::collections::BTreeSet;
use std::path::Path;

use candor_domain::access::PermissionError;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_subscriptions::{DeliveryOrigin, ReplaySelection, ScheduleError, Status};

use checks::{check_error_types, check_words, name};

#[test]
fn every_word_is_read_back_as_its_value() {
    check_words::<DeliveryOrigin>();
    check_words::<ReplaySelection>();
    check_words::<Status>();
}

#[test]
fn each_public_error_type_implements_error() {
    let implementing = BTreeSet::from([
        name::<DomainError>(),
        name::<PermissionError>(),
        name::<ScheduleError>(),
        name::<ValidationErrors>(),
        name::<ValueError>(),
    ]);
    check_error_types(&implementing, Path::new(env!("CARGO_MANIFEST_DIR")));
}
