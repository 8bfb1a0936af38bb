//! Counts of identity providers, at which people sign in and from which programs get tokens, and of those who sign in.

use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_service::context::provider_counts::{ProviderCounts, count_providers};

use super::finding::Finding;

/// Counts the identity providers. Returns `None` if there is none.
pub(super) async fn look(store: &dyn Storage, at: Timestamp) -> Option<Finding> {
    match count_providers(store, at).await {
        Ok(counts) if counts == ProviderCounts::default() => None,
        Ok(counts) => Some(to_finding(&counts)),
        Err(error) => Some(Finding::from_error("sign-in", &error)),
    }
}

fn to_finding(counts: &ProviderCounts) -> Finding {
    let ProviderCounts { active, pending, disabled, with_tokens, last_sign_in_at, people, sessions } = counts;
    let last = last_sign_in_at.map_or_else(|| "no sign-in".to_owned(), |at| format!("the last sign-in at {at}"));
    let says = format!(
        "identity providers: {active} active, {pending} pending, {disabled} disabled; {with_tokens} with bearer \
         tokens; {last}; people with an account: {people}; sessions valid now: {sessions}"
    );
    Finding::good("sign-in", says)
}
