//! Error types: each public type can be returned with `?` from a function of another program.

use std::collections::BTreeSet;
use std::path::Path;

use candor_domain::access::PermissionError;
use candor_domain::id::IdError;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::retention::PeriodError;
use candor_domain::signature::SignatureError;
use candor_domain::time::TimeError;

use super::checks::{check_error_types, name};

#[test]
fn each_public_error_type_implements_error() {
    let implementing = BTreeSet::from([
        name::<DomainError>(),
        name::<PeriodError>(),
        name::<TimeError>(),
        name::<IdError>(),
        name::<PermissionError>(),
        name::<SignatureError>(),
        name::<ValidationErrors>(),
        name::<ValueError>(),
    ]);
    check_error_types(&implementing, Path::new(env!("CARGO_MANIFEST_DIR")));
}
