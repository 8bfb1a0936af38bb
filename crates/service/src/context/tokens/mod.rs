//! Bearer tokens of identity providers: finds the provider, verifies the signature, and judges the account by what the
//! store has (decision B11).
//!
//! A verified token is cached with its caller. The caller is read again after under a second, like the caller of an API
//! key. So a disabled provider, a removed link and a logout apply within a second, and most requests read nothing.

pub mod bearer_token;
pub mod cache;
mod key_sets;
mod keys;
mod logout;

use std::sync::Arc;

use candor_domain::access::api_key::{KeyHash, hash};
use candor_domain::access::{Caller, Tenant};
use candor_domain::id::IdentityProviderId;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{StorageError, StorageExt};
use candor_sign_in::bearer::{BearerAccount, BearerError, MAX_TOKEN_AUDIENCES, choose_provider};
use candor_sign_in::{IdentityLink, IdentityProvider, ProofHolder, ProvableValue};
use candor_tables::rows::identity_proofs::BY_ID;
use candor_tokens::claims::BearerClaims;
use candor_tokens::flaw::TokenError;
use candor_tokens::key_set::KeySet;
use candor_tokens::token::SignedToken;
use metrics::counter;

use crate::context::services::Services;
use bearer_token::BearerToken;
use cache::{CachedToken, Expiring, REFUSALS};
use keys::ProviderKeys;

/// The result of an authentication by a token.
#[derive(Debug, Clone)]
pub enum TokenResult {
    /// The caller of the token.
    Known(Arc<Caller>, Arc<BearerToken>),
    /// The token is valid, and its account has no link.
    Unlinked(Arc<BearerToken>),
    /// The token authenticates no person.
    Refused,
}

/// The account of a token as the store has it.
struct JudgedAccount {
    caller: Option<Caller>,
    /// Time of the oldest read.
    read_at: Timestamp,
}

impl Services {
    /// Authenticates a bearer token. With `is_anew`, the rights are read from the store instead of the cache.
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub async fn authenticate_token(&self, text: &str, is_anew: bool) -> Result<TokenResult, StorageError> {
        let (hash, now) = (hash(text), self.clock.now());
        let cached_token = self.tokens.recall(hash);
        if let Some(cached_token) = cached_token.as_ref().filter(|_| !is_anew)
            && let Some(caller) = cached_token.caller_at(now)
        {
            return Ok(TokenResult::Known(caller, Arc::clone(&cached_token.token)));
        }
        if !is_anew && self.tokens.is_refused(hash, now) {
            return Ok(TokenResult::Refused);
        }
        let result = match self.verify_again(text, hash, cached_token, now).await? {
            Ok(token) => self.resolve(&token, is_anew).await?.map(|caller| match caller {
                Some(caller) => TokenResult::Known(caller, token),
                None => TokenResult::Unlinked(token),
            }),
            Err(refusal) => Err(refusal),
        };
        Ok(result.unwrap_or_else(|refusal| {
            self.refuse_token(hash, refusal);
            TokenResult::Refused
        }))
    }

    /// Counts and logs a refused token, and remembers it for under a second.
    pub(crate) fn refuse_token(&self, hash: KeyHash, refusal: BearerError) {
        counter!(REFUSALS, "cause" => refusal.word()).increment(1);
        tracing::info!(cause = refusal.word(), "bearer token refused");
        self.tokens.refuse(hash, self.clock.now());
    }

    /// Counts, logs and remembers the refusal of a verified token whose account cannot be linked.
    pub(crate) fn refuse_bearer(&self, token: &BearerToken, refusal: BearerError) {
        self.refuse_token(token.hash, refusal);
    }

    /// Returns `true` if the caller of a token still has the rights with which the request began.
    ///
    /// # Errors
    /// [`StorageError`] if the store was needed and did not answer.
    pub(crate) async fn confirm_token(
        &self,
        token: &Arc<BearerToken>,
        caller: &Caller,
        is_anew: bool,
    ) -> Result<bool, StorageError> {
        let cached_token = self.tokens.recall(token.hash).filter(|_| !is_anew);
        let present_caller = match cached_token.and_then(|cached| cached.caller_at(self.clock.now())) {
            Some(caller) => Some(caller),
            None => self.resolve(token, is_anew).await?.ok().flatten(),
        };
        Ok(present_caller.is_some_and(|present| present.has_kept_rights_of(caller)))
    }

    /// Returns the claims of a verified token by the present settings of its provider.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused.
    pub(crate) fn judge_claims(
        &self,
        token: &BearerToken,
        provider: &IdentityProvider,
    ) -> Result<BearerClaims, BearerError> {
        provider.judge_bearer(&token.token.unpack()?, self.clock.now())
    }

    /// Returns the caller of a verified token, or `None` without a link, and caches it.
    async fn resolve(
        &self,
        token: &Arc<BearerToken>,
        is_anew: bool,
    ) -> Result<Result<Option<Arc<Caller>>, BearerError>, StorageError> {
        let judged_account = match self.judge(token, is_anew).await? {
            Ok(judged_account) => judged_account,
            Err(refusal) => {
                self.tokens.forget(token.hash);
                return Ok(Err(refusal));
            }
        };
        // Only tokens of linked accounts are cached: a provider can sign tokens for accounts without end.
        let Some(caller) = judged_account.caller.map(Arc::new) else {
            self.tokens.forget(token.hash);
            return Ok(Ok(None));
        };
        let read_at = judged_account.read_at;
        self.tokens.remember(CachedToken { token: Arc::clone(token), caller: Some(Arc::clone(&caller)), read_at });
        Ok(Ok(Some(caller)))
    }

    async fn judge(
        &self,
        token: &BearerToken,
        is_anew: bool,
    ) -> Result<Result<JudgedAccount, BearerError>, StorageError> {
        let tenant = token.tenant;
        let Some(provider) = self.provider_of(tenant, token.provider, is_anew).await? else {
            return Ok(Err(BearerError::UnknownProvider));
        };
        let claims = match self.judge_claims(token, &provider.value) {
            Ok(claims) => claims,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let account = IdentityLink::id_of(token.provider, &claims.subject.subject);
        let link = self.store.row::<IdentityLink>(tenant, account).await?.map(|link| link.value);
        let person = match &link {
            Some(link) if link.removed_at.is_none() => {
                self.store.row::<Employee>(tenant, link.employee_id).await?.map(|person| person.value)
            }
            Some(_) | None => None,
        };
        let account =
            BearerAccount { tenant, provider: &provider.value, link: link.as_ref(), person: person.as_ref() };
        let secret = Some(token.hash.mark());
        Ok(account.authenticate(&claims).map(|caller| JudgedAccount {
            caller: caller.map(|caller| Caller { secret, ..caller }),
            read_at: provider.read_at,
        }))
    }

    /// Returns the verified token of a text. A cached token is not verified again while the keys of its provider are
    /// the same.
    async fn verify_again(
        &self,
        text: &str,
        hash: KeyHash,
        cached_token: Option<CachedToken>,
        now: Timestamp,
    ) -> Result<Result<Arc<BearerToken>, BearerError>, StorageError> {
        if let Some(CachedToken { token, .. }) = cached_token {
            let keys = self.keys_of(&token.issuer, token.tenant, token.provider, token.key_id.as_deref()).await;
            if keys.is_some_and(|keys| std::ptr::eq(Arc::as_ptr(&keys), token.keys.as_ptr())) {
                return Ok(Ok(token));
            }
        }
        let signed_token = match SignedToken::parse(text) {
            Ok(signed_token) => signed_token,
            Err(flaw) => return Ok(Err(flaw.into())),
        };
        let (tenant, provider) = match self.find_provider(&signed_token, now).await? {
            Ok(provider) => provider,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let key_id = signed_token.key_id().map(ToOwned::to_owned);
        let issuer = signed_token.claimed_issuer().unwrap_or_default().to_owned();
        let Some(keys) = self.keys_of(&issuer, tenant, provider, key_id.as_deref()).await else {
            return Ok(Err(BearerError::NoKeys));
        };
        let verified_token = signed_token.verify_and_pack(&keys).map_err(BearerError::from);
        let keys = Arc::downgrade(&keys);
        Ok(verified_token
            .map(|token| Arc::new(BearerToken { hash, tenant, provider, issuer, key_id, token, keys })))
    }

    pub(crate) async fn keys_of(
        &self,
        issuer: &str,
        tenant: Tenant,
        provider: IdentityProviderId,
        key_id: Option<&str>,
    ) -> Option<Arc<KeySet>> {
        let keys: Arc<ProviderKeys> = self.tokens.keys_of((tenant.organization, provider), self.clock.now());
        let parts = (&self.identity_transport, &self.clock, &self.large_work);
        keys.get(parts, (tenant.organization, provider), issuer, key_id).await
    }

    /// Returns the active provider of a token, by the issuer and the audiences of the token.
    async fn find_provider(
        &self,
        token: &SignedToken<'_>,
        now: Timestamp,
    ) -> Result<Result<ProofHolder, BearerError>, StorageError> {
        let (issuer, audiences) = (token.claimed_issuer().unwrap_or_default(), token.claimed_audiences());
        if audiences.len() > MAX_TOKEN_AUDIENCES {
            return Ok(Err(TokenError::Audience.into()));
        }
        let mut providers = vec![];
        for audience in audiences {
            let Some(holder) = self.holder_of(issuer, audience, now).await? else { continue };
            if providers.iter().any(|(known, _)| *known == holder) {
                continue;
            }
            if let Some(provider) = self.provider_of(holder.0, holder.1, false).await? {
                providers.push((holder, provider.value));
            }
        }
        if providers.is_empty() {
            return Ok(Err(BearerError::UnknownProvider));
        }
        let candidates: Vec<_> = providers.iter().map(|(holder, provider)| (*holder, &**provider)).collect();
        let holder = match choose_provider(token, &candidates) {
            Ok(holder) => holder,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let chosen_provider = candidates.iter().find(|(candidate, _)| *candidate == holder);
        let is_active = chosen_provider.map_or(Ok(()), |(_, provider)| provider.require_active());
        Ok(is_active.map(|()| holder))
    }

    /// Returns the provider that holds the proof of an audience of an issuer.
    async fn holder_of(
        &self,
        issuer: &str,
        audience: &str,
        now: Timestamp,
    ) -> Result<Option<ProofHolder>, StorageError> {
        let id = ProvableValue::Audience { issuer, audience }.proof_id();
        if let Some(holder) = self.tokens.holder_of(id, now) {
            return Ok(holder);
        }
        let holder = self.store.row_in_any_tenant(BY_ID, id).await?;
        let holder = holder.map(|(tenant, proof)| (tenant, proof.value.identity_provider_id));
        self.tokens.remember_holder(id, holder, now);
        Ok(holder)
    }

    /// Returns a provider from the cache if it was read under a second ago, otherwise from the store. With `is_anew`,
    /// it is always read from the store.
    async fn provider_of(
        &self,
        tenant: Tenant,
        id: IdentityProviderId,
        is_anew: bool,
    ) -> Result<Option<Expiring<Arc<IdentityProvider>>>, StorageError> {
        let now = self.clock.now();
        if let Some(provider) = self.tokens.provider_of(id, now).filter(|_| !is_anew) {
            return Ok(Some(provider));
        }
        let Some(provider) = self.store.row::<IdentityProvider>(tenant, id).await? else { return Ok(None) };
        Ok(Some(self.tokens.remember_provider(tenant.organization, Arc::new(provider.value), now)))
    }
}
