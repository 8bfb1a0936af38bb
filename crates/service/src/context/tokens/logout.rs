//! Judges logout tokens of identity providers (OpenID Connect Back-Channel Logout 1.0).

use candor_domain::access::Tenant;
use candor_domain::access::api_key::hash;
use candor_domain::id::IdentityProviderId;
use candor_port_storage::StorageError;
use candor_sign_in::bearer::{BearerError, MAX_TOKEN_AUDIENCES};
use candor_tokens::claims::LogoutClaims;
use candor_tokens::flaw::TokenError;
use candor_tokens::token::SignedToken;

use crate::context::services::Services;

impl Services {
    /// Returns the claims of a provider's logout token whose audience is the proven client id of the provider. Returns
    /// `None` for any other token, and counts and logs the cause. A disabled provider may log people out too, because
    /// bearer tokens from before the logout would be accepted again once the provider is enabled.
    ///
    /// # Errors
    /// [`StorageError`] if the store did not answer.
    pub(crate) async fn judge_logout(
        &self,
        provider: IdentityProviderId,
        text: &str,
    ) -> Result<Option<(Tenant, LogoutClaims)>, StorageError> {
        let result = self.verify_logout(provider, text).await?;
        Ok(result.map_err(|refusal| self.refuse_token(hash(text), refusal)).ok())
    }

    async fn verify_logout(
        &self,
        id: IdentityProviderId,
        text: &str,
    ) -> Result<Result<(Tenant, LogoutClaims), BearerError>, StorageError> {
        let signed_token = match SignedToken::parse(text) {
            Ok(signed_token) => signed_token,
            Err(flaw) => return Ok(Err(flaw.into())),
        };
        let (issuer, audiences) =
            (signed_token.claimed_issuer().unwrap_or_default(), signed_token.claimed_audiences());
        if audiences.len() > MAX_TOKEN_AUDIENCES {
            return Ok(Err(TokenError::Audience.into()));
        }
        let mut tenant = None;
        for audience in audiences {
            let holder = self.holder_of(issuer, audience, self.clock.now()).await?;
            tenant = tenant.or(holder.filter(|(_, holder)| *holder == id).map(|(tenant, _)| tenant));
        }
        let Some(tenant) = tenant else { return Ok(Err(BearerError::UnknownProvider)) };
        let Some(provider) = self.provider_of(tenant, id, false).await? else {
            return Ok(Err(BearerError::UnknownProvider));
        };
        let (provider, key_id) = (provider.value, signed_token.key_id());
        if !provider.proven_audiences.contains(&provider.client_id) {
            return Ok(Err(BearerError::InactiveProvider));
        }
        let Some(keys) = self.keys_of(&provider.issuer, tenant, id, key_id).await else {
            return Ok(Err(BearerError::NoKeys));
        };
        let verified_token = signed_token.verify(&keys);
        let claims = verified_token.and_then(|token| token.to_logout(&provider.token_rules(), self.clock.now()));
        Ok(claims.map(|claims| (tenant, claims)).map_err(BearerError::from))
    }
}
