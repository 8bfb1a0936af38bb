//! Domains of identity providers that the operator trusts without a DNS record (decision B9).

use candor_domain::access::Tenant;
use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::organization::Organization;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_sign_in::{EmailDomainError, IdentityProvider, ProvenValues};
use candor_tables::rows;

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::identity_proofs::{find_holders, proof_writes};
use crate::context::services::{Services, or_not_found, render};

/// Name of command line users in the audit log.
const OPERATOR: &str = "operator";

/// A domain that the operator trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedDomain {
    /// The domain as it is registered.
    pub domain: String,
    /// Provider that has the domain.
    pub provider: IdentityProviderId,
    /// `false` if the domain was proven before.
    pub is_new: bool,
}

/// Reason why a domain is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum UntrustedDomainError {
    /// The text is no domain that can be trusted, or not exactly one provider of the organization has the domain.
    #[error(transparent)]
    Refused(#[from] EmailDomainError),
    /// Another provider has proven the domain.
    #[error("{provider} of {organization} has proven this domain")]
    Taken {
        /// Organization of the provider that has proven the domain.
        organization: OrganizationId,
        /// The provider that has proven the domain.
        provider: IdentityProviderId,
    },
    /// The organization does not exist, or the store fails.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Records a domain of an organization's provider as proven.
///
/// # Errors
/// [`UntrustedDomainError`].
pub async fn trust_domain(
    services: &Services,
    organization: OrganizationId,
    domain: &str,
) -> Result<TrustedDomain, UntrustedDomainError> {
    let tenant = Tenant::live(organization);
    let organization_row = services.store.row::<Organization>(tenant, organization).await.map_err(Error::from)?;
    or_not_found(organization_row)?;
    let plan = async |at: Timestamp| {
        let provider_rows =
            services.store.entries(tenant, rows::identity_providers::all()).await.map_err(Error::from)?;
        let providers: Vec<_> = provider_rows.iter().map(|row| row.value.clone()).collect();
        let (provider, domain) = IdentityProvider::find_for_domain(&providers, domain)?;
        let values = ProvenValues { domains: [domain.clone()].into(), ..ProvenValues::default() };
        let holders = find_holders(services, &provider.proof_ids_of(&values)).await?;
        if let Some((holder, id)) = holders.values().find(|(_, id)| *id != provider.id) {
            return Err(UntrustedDomainError::Taken { organization: holder.organization, provider: *id });
        }
        let decision = provider.prove(tenant, &values, &holders, None, at).map_err(Error::from)?;
        let trusted_domain = |is_new| TrustedDomain { domain: domain.clone(), provider: provider.id, is_new };
        let version = provider_rows.iter().find(|row| row.value.id == provider.id).map(|row| row.version);
        let (Some(decision), Some(version)) = (decision, version) else {
            return Ok(Attempt::Done(trusted_domain(false)));
        };
        let events = services.events(&decision.events, &render(&decision.state)?, at);
        let proofs = proof_writes(provider, Some(&decision.state), at);
        let mut change = services.change_of_system(tenant, OPERATOR, decision, events, version, at).await?;
        change.writes.extend(proofs);
        Ok(Attempt::Commit(tenant, Box::new(change), trusted_domain(true)))
    };
    services.retry(plan).await
}
