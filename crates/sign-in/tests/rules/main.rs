//! Rules of sign-ins as another program sees them: evidence, enumerations and error types.

#![cfg(test)]

#[path = "../../../domain/tests/rules/checks.rs"]
mod checks;
mod evidence;
#[expect(dead_code, reason = "other tests of tokens stand in their crate")]
#[path = "../../../tokens/tests/rules/mint.rs"]
mod mint;
#[expect(dead_code, reason = "other tests of tokens stand in their crate")]
#[path = "../../../tokens/tests/rules/samples.rs"]
mod samples;

use std::collections::BTreeSet;
use std::path::Path;

use candor_domain::access::PermissionError;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_sign_in::bearer::BearerError;
use candor_sign_in::link_decision::LinkError;
use candor_sign_in::sign_in::SignInError;
use candor_sign_in::{EmailDomainError, LinkRule, Status};
use candor_tokens::flaw::TokenError;

use checks::{check_error_types, check_words, name};

#[test]
fn every_word_is_read_back_as_its_value() {
    check_words::<LinkRule>();
    check_words::<Status>();
}

#[test]
fn each_public_error_type_implements_error() {
    let implementing = BTreeSet::from([
        name::<BearerError>(),
        name::<DomainError>(),
        name::<EmailDomainError>(),
        name::<LinkError>(),
        name::<PermissionError>(),
        name::<SignInError>(),
        name::<TokenError>(),
        name::<ValidationErrors>(),
        name::<ValueError>(),
    ]);
    check_error_types(&implementing, Path::new(env!("CARGO_MANIFEST_DIR")));
}
