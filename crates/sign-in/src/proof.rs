//! Proofs that a domain, a client id or an audience belongs to the organization of a provider (decision B9).
//!
//! Only proven values are used, and each value is proven for one provider of the installation: the first provider
//! that proves it.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::{Caller, Tenant};
use candor_domain::decision::Decision;
use candor_domain::event::EventType;
use candor_domain::id::{IdentityProofId, IdentityProviderId};
use candor_domain::problem::ValueError;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use ring::digest::{SHA256, digest};

use super::email_domain::parse_domain;
use super::{EmailDomain, IdentityProvider, Status};

/// The row of a proof. Its id is a digest of the value, and unique in the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentityProof {
    /// Digest of the value, see [`ProvableValue::proof_id`].
    pub id: IdentityProofId,
    /// Provider that the value is proven for.
    pub identity_provider_id: IdentityProviderId,
    /// Time of the proof.
    pub proven_at: Timestamp,
}

/// A value that can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProvableValue<'a> {
    /// A domain of e-mail addresses.
    Domain(&'a str),
    /// A client id or an audience. Each issuer chooses its own client ids and audiences, so equal texts of two
    /// issuers are different values.
    Audience {
        /// Issuer of the provider.
        issuer: &'a str,
        /// The value.
        audience: &'a str,
    },
}

/// Returns the proof id of the domain in an e-mail address. `None` if the domain cannot be proven.
#[must_use]
pub fn proof_id_of_address(email: &str) -> Option<IdentityProofId> {
    let (_, domain) = email.rsplit_once('@')?;
    let domain = parse_domain(domain).ok()?;
    Some(ProvableValue::Domain(&domain).proof_id())
}

/// Provider that holds a proof, with its organization.
pub type ProofHolder = (Tenant, IdentityProviderId);

/// Values that a check or the operator has proven.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProvenValues {
    /// Domains of the provider.
    pub domains: BTreeSet<String>,
    /// The client id or audiences of the provider.
    pub audiences: BTreeSet<String>,
}

/// The reason why the operator cannot trust a domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmailDomainError {
    /// The text is no domain, or one of public mailboxes.
    #[error("the domain {0}")]
    Malformed(ValueError),
    /// No provider of the organization has the domain.
    #[error("no identity provider of the organization has this domain in its email_domains")]
    Unnamed,
    /// Several providers have the domain.
    #[error("several identity providers of the organization have this domain: {}", join(.0))]
    Ambiguous(Vec<IdentityProviderId>),
}

fn join(ids: &[IdentityProviderId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl ProvableValue<'_> {
    /// Returns the beginning of the digest of the value and its kind.
    #[must_use]
    pub fn proof_id(&self) -> IdentityProofId {
        let text = match self {
            Self::Domain(domain) => format!("domain\n{domain}"),
            Self::Audience { issuer, audience } => format!("audience\n{issuer}\n{audience}"),
        };
        let hash = digest(&SHA256, text.as_bytes());
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(hash.as_ref()).for_each(|(byte, part)| *byte = *part);
        IdentityProofId::from_bytes(bytes)
    }
}

impl IdentityProvider {
    /// Returns the ids of the proofs that the provider holds.
    #[must_use]
    pub fn proof_ids(&self) -> BTreeSet<IdentityProofId> {
        let domains = self.domains.iter().filter(|entry| entry.is_proven);
        let domains = domains.map(|entry| ProvableValue::Domain(&entry.domain).proof_id());
        domains.chain(self.proven_audiences.iter().map(|audience| self.audience_proof(audience))).collect()
    }

    fn audience_proof(&self, audience: &str) -> IdentityProofId {
        ProvableValue::Audience { issuer: &self.issuer, audience }.proof_id()
    }

    /// Selects the values that are settings of the provider and are not proven yet.
    #[must_use]
    pub fn select_unproven(&self, values: &ProvenValues) -> ProvenValues {
        let has_domain = |entry: &&EmailDomain| !entry.is_proven && values.domains.contains(&entry.domain);
        let domains = self.domains.iter().filter(has_domain).map(|entry| entry.domain.clone()).collect();
        let own_audiences = std::iter::once(&self.client_id).chain(&self.audiences);
        let is_new =
            |value: &&String| values.audiences.contains(*value) && !self.proven_audiences.contains(*value);
        ProvenValues { domains, audiences: own_audiences.filter(is_new).cloned().collect() }
    }

    /// Returns the ids of the proofs of these values.
    #[must_use]
    pub fn proof_ids_of(&self, values: &ProvenValues) -> Vec<IdentityProofId> {
        let domains = values.domains.iter().map(|domain| ProvableValue::Domain(domain).proof_id());
        domains.chain(values.audiences.iter().map(|audience| self.audience_proof(audience))).collect()
    }

    /// Records values as proven, or returns `None` if there is none that is not. `holders` has the providers that hold a
    /// proof of one of them. A proven client id or audience makes the provider active. `granter` is the caller, because a
    /// proof puts the access that the provider gives into effect. It is `None` if the operator or a sign-in proves the
    /// values.
    ///
    /// # Errors
    /// Returns [`DomainError::Denied`] if the provider gives more access than the granter has,
    /// [`DomainError::Conflict`] for a value that another provider has proven. Only the organization of that
    /// provider learns its id.
    pub fn prove(
        &self,
        tenant: Tenant,
        values: &ProvenValues,
        holders: &BTreeMap<IdentityProofId, ProofHolder>,
        granter: Option<&Caller>,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        let ProvenValues { domains, audiences } = self.select_unproven(values);
        if !domains.is_empty() || !audiences.is_empty() {
            granter.map_or(Ok(()), |caller| self.may_be_granted_by(caller))?;
        }
        let mut state = self.clone();
        let refuse_holder = |field: &str, value: &str, id: IdentityProofId| match holders.get(&id) {
            Some((holder_tenant, holder)) if *holder != self.id => {
                let visible_holder = (*holder_tenant == tenant).then_some(*holder);
                Err(DomainError::already_taken(field, value, visible_holder))
            }
            _ => Ok(()),
        };
        for entry in state.domains.iter_mut().filter(|entry| domains.contains(&entry.domain)) {
            let id = ProvableValue::Domain(&entry.domain).proof_id();
            refuse_holder("email_domains", &entry.domain, id)?;
            entry.is_proven = true;
        }
        for audience in &audiences {
            let field = if *audience == self.client_id { "client_id" } else { "audiences" };
            refuse_holder(field, audience, self.audience_proof(audience))?;
            state.proven_audiences.push(audience.clone());
        }
        if state.status == Status::Pending && !state.proven_audiences.is_empty() {
            state.status = Status::Active;
        }
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let events = vec![EventType::IdentityProviderUpdated];
        Ok(Some(Decision::for_change(self, state, "identity_provider.prove", events)))
    }

    /// Returns the provider whose domain the operator trusts, with the domain as it is registered.
    ///
    /// # Errors
    /// Returns the reason why the domain cannot be trusted.
    pub fn find_for_domain<'p>(
        providers: &'p [Self],
        domain: &str,
    ) -> Result<(&'p Self, String), EmailDomainError> {
        let domain = parse_domain(domain).map_err(EmailDomainError::Malformed)?;
        let matching_providers: Vec<_> =
            providers.iter().filter(|provider| provider.email_domains.contains(&domain)).collect();
        match matching_providers.as_slice() {
            [] => Err(EmailDomainError::Unnamed),
            [provider] => Ok((*provider, domain)),
            several => Err(EmailDomainError::Ambiguous(several.iter().map(|provider| provider.id).collect())),
        }
    }
}

#[cfg(test)]
mod tests;
