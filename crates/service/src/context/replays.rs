//! Replays: the replies stored for retries of requests with an idempotency key (decision B2).

use bytes::Bytes;
use candor_domain::access::{Asker, Caller, PermissionError, Tenant};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_storage::{StoredReplay, Version};

use crate::context::erasing::REMOVED_REPLAY;
use crate::context::error::Error;
use crate::context::reply::{Outcome, Reply};
use crate::context::request::{Credential, Idempotency, RequestContext};
use crate::context::services::Services;
use crate::context::vault::SealContext;

/// Purpose of the seal context of replays.
const REPLAY: &str = "replay";
/// First byte of a replay with the rights and the secret of the requesting key.
const WITH_SECRET: u8 = 4;
/// First byte of a replay from before the secret was stored. It may lack the mark of a reply with a secret.
const WITH_RIGHTS: u8 = 3;
/// Beginnings of the secrets in replies.
const SECRETS: [&[u8]; 3] = [b"cdr_", b"whsec_", b"/invitations/accept?token="];

/// Returns the seal context of the reply to a request.
fn replay_place<'a>(context: &RequestContext, key: &'a IdempotencyKey) -> SealContext<'a> {
    SealContext { purpose: REPLAY, tenant: Some(context.caller.tenant), row: key.as_str().as_bytes() }
}

/// Splits off a text with a length prefix. Returns the text and the remaining bytes; `None` if the bytes are
/// malformed.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

impl Services {
    /// Returns the replay of the request's idempotency key, if there is one.
    ///
    /// # Errors
    /// [`Error::KeyReused`] if the key was used for another request, or by an API key whose replays the caller may
    /// not have (decision A13); [`DomainError::NotFound`] if the replay was removed with the data of a
    /// person; [`PermissionError::RightsLost`] if the caller lost the right to it meanwhile.
    pub async fn find_replay(&self, context: &RequestContext) -> Result<Option<Reply>, Error> {
        let Some(idempotency) = &context.idempotency else { return Ok(None) };
        let Some(replay) = self.store.replay(context.caller.tenant, &idempotency.key, self.clock.now()).await?
        else {
            return Ok(None);
        };
        let key_reused = || Error::KeyReused(idempotency.key.clone());
        if replay.fingerprint != idempotency.fingerprint {
            return Err(key_reused());
        }
        if replay.status == REMOVED_REPLAY {
            return Err(DomainError::NotFound.into());
        }
        let opened_replay = self.open(&replay_place(context, &idempotency.key), &replay)?;
        let asker = Asker::from_caller(&context.caller);
        let Some((first_asker, reply)) = opened_replay.filter(|(first, _)| asker.may_have_the_replay_of(first))
        else {
            return Err(key_reused());
        };
        self.confirm_replay(context, &first_asker).await?;
        Ok(Some(reply))
    }

    /// Refuses a replay to a caller who lost the right to it after the request began. The first request may have rotated
    /// the key of the caller, so for a reply with a secret the present caller is read from the store (decision B7).
    ///
    /// # Errors
    /// Errors of [`RequestContext::confirm_caller`].
    async fn confirm_replay(&self, context: &RequestContext, first_asker: &Asker) -> Result<(), Error> {
        let Some(admission) = &context.admission else { return Ok(()) };
        if !first_asker.gets_secret() {
            return context.confirm_caller().await;
        }
        let may_have = match &admission.credential {
            Credential::Key(hash) => {
                let may_have = |present: &Caller| Asker::from_caller(present).may_have_the_replay_of(first_asker);
                self.auth.confirm(*hash, may_have, true).await?
            }
            Credential::Token(token) => self.confirm_token(token, &context.caller, true).await?,
        };
        if may_have { Ok(()) } else { Err(PermissionError::RightsLost.into()) }
    }

    /// Returns the replay of the request's idempotency key, or else `otherwise`.
    ///
    /// # Errors
    /// Errors of [`Services::find_replay`], and the error in `otherwise`.
    pub(crate) async fn replay_or(
        &self,
        context: &RequestContext,
        otherwise: Result<Reply, Error>,
    ) -> Result<Reply, Error> {
        self.find_replay(context).await?.map_or(otherwise, Ok)
    }

    /// Stores the reply to a request that changed nothing, like any other success, so that its idempotency key
    /// is used. Returns an earlier replay instead, if there is one.
    ///
    /// # Errors
    /// Errors of [`Services::find_replay`] and of the store.
    pub(crate) async fn store_replay(
        &self,
        context: &RequestContext,
        reply: Reply,
        at: Timestamp,
    ) -> Result<Reply, Error> {
        let Some(replay) = self.seal_replay(context, &reply, at)? else { return Ok(reply) };
        if self.store.keep(context.caller.tenant, replay).await? {
            return Ok(reply);
        }
        self.replay_or(context, Err(Error::Contended)).await
    }

    /// Creates the replay of a reply, if the request has an idempotency key.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without randomness for the seal.
    pub(crate) fn seal_replay(
        &self,
        context: &RequestContext,
        reply: &Reply,
        at: Timestamp,
    ) -> Result<Option<Replay>, Error> {
        let Some(idempotency) = &context.idempotency else { return Ok(None) };
        let (status, id) = reply.outcome.to_stored();
        let mut plain = Vec::with_capacity(256 + id.len() + reply.body.len());
        plain.push(WITH_SECRET);
        // Only members that a request makes hold secrets.
        let asker = Asker::from_caller(&context.caller).with_secret(!reply.made_members.is_empty());
        for part in asker.to_texts() {
            plain.extend((part.len() as u64).to_be_bytes());
            plain.extend(part.as_bytes());
        }
        plain.extend(reply.version.map_or(0, |version| version.0).to_be_bytes());
        plain.extend(reply.etag_extra.to_be_bytes());
        plain.extend((id.len() as u64).to_be_bytes());
        plain.extend(id.as_bytes());
        plain.extend(&reply.body);
        let sealed_replay = self.vault.seal(&*self.ids, &replay_place(context, &idempotency.key), &plain)?;
        let Idempotency { key, fingerprint } = idempotency.clone();
        Ok(Some(Replay { key, fingerprint, status, sealed: sealed_replay, created_at: at }))
    }

    /// Creates the replay that marks an idempotency key of the service itself as used. The replay has no reply.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without randomness for the seal.
    pub(crate) fn seal_mark(&self, tenant: Tenant, key: IdempotencyKey, at: Timestamp) -> Result<Replay, Error> {
        let sealed_mark = self.vault.seal(&*self.ids, &Self::replay_context(tenant, key.as_str()), b"")?;
        let fingerprint = Fingerprint::from_body("", key.as_str(), "", b"");
        Ok(Replay { key, fingerprint, status: 200, sealed: sealed_mark, created_at: at })
    }

    /// Returns the seal context of the replay of a key.
    pub(crate) fn replay_context(tenant: Tenant, key: &str) -> SealContext<'_> {
        SealContext { purpose: REPLAY, tenant: Some(tenant), row: key.as_bytes() }
    }

    /// Opens a replay. Returns the rights of the key that first sent the request, and the reply. Returns `None` for a
    /// replay of an earlier version that stored fewer rights.
    fn open(&self, place: &SealContext<'_>, kept: &StoredReplay) -> Result<Option<(Asker, Reply)>, Error> {
        let plain = self.vault.open(place, &kept.sealed).map_err(|error| Error::Bug(error.to_string()))?;
        let Some((&form @ (WITH_SECRET | WITH_RIGHTS), parts)) = plain.split_first() else { return Ok(None) };
        let read = || {
            let (authority, rest) = text(parts)?;
            let (reach, rest) = text(rest)?;
            let (version, rest) = rest.split_first_chunk::<8>()?;
            let (mark, rest) = rest.split_first_chunk::<8>()?;
            let (id, body) = text(rest)?;
            let version = i64::from_be_bytes(*version);
            let reply = Reply {
                outcome: Outcome::from_stored(kept.status, id),
                body: Bytes::copy_from_slice(body),
                version: (version > 0).then_some(Version(version)),
                etag_extra: u64::from_be_bytes(*mark),
                replayed: true,
                made_members: &[],
                made_ids: vec![],
                browser_cookie: None,
            };
            Some((Asker::from_texts(authority, reach)?, reply))
        };
        let (asker, reply) = read().ok_or_else(|| Error::Bug("a replay is incomplete".to_owned()))?;
        let holds = |secret: &[u8]| reply.body.windows(secret.len()).any(|part| part == secret);
        let has_secret = form == WITH_RIGHTS && SECRETS.into_iter().any(holds);
        let asker = if has_secret { asker.with_secret(true) } else { asker };
        Ok(Some((asker, reply)))
    }
}
