//! Callers of bearer tokens: the provider, the link and the person that a token stands for (decision B11).

use candor_domain::access::{
    AccessLevel, AllowedNetworks, BoundPerson, Caller, Permission, Permissions, Quotas, Tenant,
};
use candor_domain::fields::StringEnum;
use candor_domain::id::KeyId;
use candor_domain::people::{self, Employee, Role};
use candor_domain::time::Timestamp;
use candor_tokens::claims::{BearerClaims, TOLERANCE_SECONDS, TokenRules, find_provider};
use candor_tokens::flaw::TokenError;
use candor_tokens::token::{SignedToken, VerifiedToken};

use super::link_decision::LinkError;
use super::{IdentityLink, IdentityProvider, Status};

/// Maximum number of audiences of a token, each of which is looked up.
pub const MAX_TOKEN_AUDIENCES: usize = 10;

/// The cause for which a bearer token authenticates no person. Clients see one text for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BearerError {
    /// The token itself is refused.
    #[error(transparent)]
    Flaw(#[from] TokenError),
    /// The account signs in as no person.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// No provider has proven the issuer with an audience of the token.
    #[error("no identity provider has proven an audience of the token for its issuer")]
    UnknownProvider,
    /// The provider is pending or disabled.
    #[error("the identity provider is not active")]
    InactiveProvider,
    /// There are no keys of the provider, because they cannot be fetched.
    #[error("the keys of the identity provider cannot be fetched")]
    NoKeys,
    /// The token was issued before a logout, or before the link was removed.
    #[error("the token was issued before a logout or the removal of the link")]
    Ended,
}

impl BearerError {
    /// All causes, for metrics.
    pub fn all() -> impl Iterator<Item = Self> {
        let own = [Self::UnknownProvider, Self::InactiveProvider, Self::NoKeys, Self::Ended];
        let flaws = TokenError::ALL.iter().copied().map(Self::Flaw);
        own.into_iter().chain(flaws).chain(LinkError::ALL.iter().copied().map(Self::Link))
    }

    /// Returns the name of the cause in metrics and in the log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flaw(flaw) => flaw.word(),
            Self::Link(refusal) => refusal.word(),
            Self::UnknownProvider => "unknown_provider",
            Self::InactiveProvider => "inactive_provider",
            Self::NoKeys => "no_keys",
            Self::Ended => "ended",
        }
    }
}

/// The account of an accepted token: its link and its person, as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct BearerAccount<'a> {
    /// Data set of the provider.
    pub tenant: Tenant,
    /// Provider of the token.
    pub provider: &'a IdentityProvider,
    /// Link of the account, also a removed one.
    pub link: Option<&'a IdentityLink>,
    /// Person of the link.
    pub person: Option<&'a Employee>,
}

/// Returns the provider of a token among the providers that hold proofs of its audiences.
///
/// # Errors
/// Returns the cause for which the token is for none of these providers.
pub fn choose_provider<'p, P: Copy>(
    token: &SignedToken<'_>,
    providers: &'p [(P, &'p IdentityProvider)],
) -> Result<P, BearerError> {
    let rules: Vec<_> = providers.iter().map(|(key, provider)| (*key, provider.bearer_rules())).collect();
    let key = find_provider(token, rules.iter().map(|(key, rules)| (*key, rules)))?;
    Ok(key)
}

/// Returns the permissions of a bearer token: the permissions of its provider that the token names. A token that
/// names no permission has all permissions of the provider, or none if `must_name`. No token has the scope `scim`.
#[must_use]
pub fn effective_permissions(of_provider: Permissions, named_scopes: &[String], must_name: bool) -> Permissions {
    let known_scopes = named_scopes.iter().filter_map(|word| Permission::from_word(word).ok());
    let named_permissions = known_scopes.fold(Permissions::NONE, Permissions::with);
    if named_permissions == Permissions::NONE && !must_name {
        return of_provider;
    }
    let is_granted = |scope: &Permission| {
        of_provider.has(*scope) && named_permissions.has(*scope) && *scope != Permission::Scim
    };
    Permission::ALL.iter().copied().filter(is_granted).fold(Permissions::NONE, Permissions::with)
}

impl IdentityProvider {
    /// Returns the settings that bearer tokens must match: the settings for all tokens, with the proven audiences
    /// alone.
    #[must_use]
    pub fn bearer_rules(&self) -> TokenRules {
        let mut rules = self.token_rules();
        rules.audiences.retain(|audience| self.proven_audiences.contains(audience));
        rules
    }

    /// Requires a provider whose tokens are accepted.
    ///
    /// # Errors
    /// Returns [`BearerError::InactiveProvider`].
    pub fn require_active(&self) -> Result<(), BearerError> {
        if self.status == Status::Active { Ok(()) } else { Err(BearerError::InactiveProvider) }
    }

    /// Judges a bearer token of the provider.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused.
    pub fn judge_bearer(&self, token: &VerifiedToken, now: Timestamp) -> Result<BearerClaims, BearerError> {
        self.require_active()?;
        Ok(token.to_bearer(&self.bearer_rules(), now)?)
    }
}

impl IdentityLink {
    /// Returns the id under which the requests of the account are counted and logged. No stored key has it.
    #[must_use]
    pub const fn caller_key(&self) -> KeyId {
        KeyId::from_bytes(self.id.to_bytes())
    }
}

impl BearerAccount<'_> {
    /// Returns the caller of a token of the account, or `None` if the account has no link and may get one.
    ///
    /// # Errors
    /// Returns the cause for which the account is refused.
    pub fn authenticate(&self, claims: &BearerClaims) -> Result<Option<Caller>, BearerError> {
        let end = self.link.and_then(|link| link.tokens_after.max(link.bearer_tokens_after));
        if end.is_some_and(|end| claims.issued_at <= end) {
            return Err(BearerError::Ended);
        }
        let Some(link) = self.link.filter(|link| link.removed_at.is_none()) else { return Ok(None) };
        let person = self.person.ok_or(LinkError::NoPerson)?;
        if person.status == people::Status::Deactivated {
            return Err(LinkError::Deactivated.into());
        }
        if link.needs_confirmation(person.returned_at) {
            return Err(LinkError::NeedsAdmin.into());
        }
        let provider = self.provider;
        Ok(Some(Caller {
            tenant: self.tenant,
            key: link.caller_key(),
            name: format!("{} {}", person.first_name, person.last_name),
            scopes: effective_permissions(provider.scopes, &claims.named_scopes, provider.scopes_from_token),
            level: AccessLevel::Standard,
            person: Some(BoundPerson { id: person.id, is_org_admin: person.role == Role::OrgAdmin }),
            connector: None,
            session: None,
            identity_provider: Some(provider.id),
            expires_at: Some(claims.expires_at.plus_seconds(TOLERANCE_SECONDS)),
            allowed_networks: AllowedNetworks::EVERYWHERE,
            secret: None,
            has_previous_secret: false,
            quotas: Quotas::DEFAULT,
        }))
    }
}

#[cfg(test)]
mod tests;
