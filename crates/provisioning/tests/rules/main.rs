//! Rules of provisioning as another program sees them: dialects, enumerations and error types.

#![cfg(test)]

#[path = "../../../domain/tests/rules/checks.rs"]
mod checks;
mod scim_dialects;

use std::collections::BTreeSet;
use std::path::Path;

use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_provisioning::connector::{IssueKind, Resolved, Status};
use candor_provisioning::{ProvisioningError, ScimError};

use checks::{check_error_types, check_words, name};

#[test]
fn every_word_is_read_back_as_its_value() {
    check_words::<IssueKind>();
    check_words::<Resolved>();
    check_words::<Status>();
}

#[test]
fn each_public_error_type_implements_error() {
    let implementing = BTreeSet::from([
        name::<DomainError>(),
        name::<ProvisioningError>(),
        name::<ScimError>(),
        name::<ValidationErrors>(),
        name::<ValueError>(),
    ]);
    check_error_types(&implementing, Path::new(env!("CARGO_MANIFEST_DIR")));
}
