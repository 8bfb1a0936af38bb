//! `candor identity`: the identity providers of organizations.

use candor_domain::id::OrganizationId;
use candor_service::usecases::identity_trust::{UntrustedDomainError, trust_domain};
use serde_json::json;

use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_settings::Config;

/// Failure to trust a domain.
#[derive(Debug, thiserror::Error)]
#[error("cannot trust {domain}: {cause}; {}", remedy(cause))]
struct TrustError {
    domain: String,
    cause: UntrustedDomainError,
}

impl CommandFailure for TrustError {}

const fn remedy(cause: &UntrustedDomainError) -> &'static str {
    match cause {
        UntrustedDomainError::Taken { .. } => "remove the domain from the email_domains of that provider first",
        UntrustedDomainError::Refused(_) | UntrustedDomainError::Failed(_) => {
            "name a domain that exactly one identity provider of the organization has in its email_domains, see GET \
             /v1/identity-providers"
        }
    }
}

/// Trusts an e-mail domain of an organization without a DNS record.
///
/// # Errors
/// An unknown organization, a domain of no provider or of several, a domain that another provider has proven, or a
/// database that does not answer.
pub(crate) async fn trust(
    config: &Config,
    org: OrganizationId,
    domain: &str,
    output: Output,
) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let trust_result = trust_domain(&services, org, domain).await;
    let trusted_domain = trust_result.map_err(|cause| match cause {
        UntrustedDomainError::Failed(error) => to_command_error(format!("trust {domain} for {org}"))(error),
        cause @ (UntrustedDomainError::Refused(_) | UntrustedDomainError::Taken { .. }) => {
            TrustError { domain: domain.to_owned(), cause }.into()
        }
    })?;
    let (name, provider) = (&trusted_domain.domain, trusted_domain.provider);
    let human_text = if trusted_domain.is_new {
        format!("{name} is proven for {provider} now.")
    } else {
        format!("{name} was proven for {provider} already.")
    };
    let result = json!({"domain": name, "identity_provider_id": provider, "changed": trusted_domain.is_new});
    output.say(&result, &human_text)
}
