//! Error types: each public type can be returned with `?` from a function of another program.

use std::any::type_name;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use candor_domain::access::PermissionError;
use candor_domain::id::IdError;
use candor_domain::identity::EmailDomainError;
use candor_domain::identity::bearer::BearerError;
use candor_domain::identity::link_decision::LinkError;
use candor_domain::identity::sign_in::SignInError;
use candor_domain::problem::{ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::retention::PeriodError;
use candor_domain::scim::ProvisioningError;
use candor_domain::signature::SignatureError;
use candor_domain::time::TimeError;
use candor_domain::webhook::ScheduleError;
use candor_scim::ScimError;
use candor_tokens::discovery::DiscoveryError;
use candor_tokens::flaw::TokenError;
use candor_tokens::key_set::KeySetError;
use candor_tokens::strict_json::DocumentError;
use candor_tokens::token_response::TokenResponseError;

/// Returns the name of an error type. The function compiles only for types that implement `Error`.
fn name<E: Error>() -> &'static str {
    type_name::<E>().rsplit("::").next().unwrap()
}

/// Adds the error types of the public functions in a folder.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for item in text.split("    pub fn ").chain(text.split("\npub fn ")).skip(1) {
            let signature = item.split('{').next().unwrap();
            // The last arrow: a parameter may be a function that returns a result.
            let Some((_, result)) = signature.rsplit_once("-> ") else { continue };
            let Some((_, error)) = result.strip_prefix("Result<").and_then(|both| both.rsplit_once(", ")) else {
                continue;
            };
            let error = error.trim().trim_end_matches('>').rsplit("::").next().unwrap();
            // `Error` is the type of a serializer, `Self` has its name in other signatures, and one letter is a type
            // parameter.
            let is_named = error.len() > 1 && error.chars().all(char::is_alphanumeric);
            if is_named && !["Error", "Self"].contains(&error) {
                names.insert(error.to_owned());
            }
        }
    }
}

#[test]
fn each_public_error_type_implements_error() {
    let implementing = BTreeSet::from([
        name::<BearerError>(),
        name::<DiscoveryError>(),
        name::<DocumentError>(),
        name::<EmailDomainError>(),
        name::<DomainError>(),
        name::<KeySetError>(),
        name::<LinkError>(),
        name::<PeriodError>(),
        name::<ScheduleError>(),
        name::<TimeError>(),
        name::<IdError>(),
        name::<PermissionError>(),
        name::<ProvisioningError>(),
        name::<ScimError>(),
        name::<SignInError>(),
        name::<SignatureError>(),
        name::<TokenError>(),
        name::<TokenResponseError>(),
        name::<ValidationErrors>(),
        name::<ValueError>(),
    ]);
    let mut names = BTreeSet::new();
    for folder in ["src", "../scim/src", "../tokens/src"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut names);
    }
    assert!(["DomainError", "ScimError", "TokenError"].iter().all(|name| names.contains(*name)), "{names:?}");
    let lacking: Vec<_> = names.iter().filter(|name| !implementing.contains(name.as_str())).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}
