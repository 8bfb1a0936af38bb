//! Answers that are kept for retries of a request with an idempotency key (decision B2).

use bytes::Bytes;
use candor_domain::access::Authority;
use candor_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use candor_domain::time::Timestamp;
use candor_port_storage::{StoredAnswer, Version};

use crate::context::call::{Call, Idempotency};
use crate::context::error::Error;
use crate::context::reply::{Outcome, Reply};
use crate::context::shell::Shell;
use crate::context::vault::SealContext;

/// The purpose that kept answers are sealed for.
const REPLAY: &str = "replay";
/// A kept answer that begins with this byte says who asked, and what its tag has beside the version.
const WITH_MARK: u8 = 2;
/// One that begins with this byte says only who asked. Older ones begin with the first byte of a version, zero.
const WITH_ASKER: u8 = 1;

/// Where the answer to a call is kept.
fn replay_place<'a>(call: &Call, key: &'a IdempotencyKey) -> SealContext<'a> {
    SealContext { purpose: REPLAY, tenant: Some(call.caller.tenant), row: key.as_str().as_bytes() }
}

/// A text with its length before it, and what follows.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

impl Shell {
    /// The answer kept for the call's idempotency key, if there is one.
    ///
    /// # Errors
    /// [`Error::KeyReused`] if the key was used for another request, or by an API key whose answers are not for the
    /// caller (decision A13).
    pub async fn kept(&self, call: &Call) -> Result<Option<Reply>, Error> {
        let Some(idempotency) = &call.idempotency else { return Ok(None) };
        let Some(kept) = self.store.replay(call.caller.tenant, &idempotency.key, self.clock.now()).await? else {
            return Ok(None);
        };
        let reused = || Error::KeyReused(idempotency.key.clone());
        if kept.fingerprint != idempotency.fingerprint {
            return Err(reused());
        }
        let (asker, reply) = self.open(&replay_place(call, &idempotency.key), &kept)?;
        if call.caller.authority().may_have_the_answer_to(asker.as_ref()) { Ok(Some(reply)) } else { Err(reused()) }
    }

    /// The answer kept for the call's idempotency key, or else this one.
    ///
    /// # Errors
    /// Those of [`Shell::kept`], and the one given.
    pub(crate) async fn kept_or(&self, call: &Call, otherwise: Result<Reply, Error>) -> Result<Reply, Error> {
        self.kept(call).await?.map_or(otherwise, Ok)
    }

    /// The answer to a request that found nothing to change. It is kept for the call's idempotency key as any other
    /// success is, so that the key stands for this request from now on; what was kept before comes first.
    ///
    /// # Errors
    /// Those of [`Shell::kept`] and of the store.
    pub(crate) async fn keep(&self, call: &Call, reply: Reply, at: Timestamp) -> Result<Reply, Error> {
        let Some(replay) = self.replay_of(call, &reply, at)? else { return Ok(reply) };
        if self.store.keep(call.caller.tenant, replay).await? {
            return Ok(reply);
        }
        self.kept_or(call, Err(Error::Contended)).await
    }

    /// An answer as it is kept for retries, if the call has an idempotency key.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without randomness to seal it.
    pub(crate) fn replay_of(
        &self,
        call: &Call,
        reply: &Reply,
        at: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, Error> {
        let Some(idempotency) = &call.idempotency else { return Ok(None) };
        let (status, location) = reply.outcome.kept();
        let asker = call.caller.authority().to_string();
        let mut plain = Vec::with_capacity(32 + asker.len() + location.len() + reply.body.len());
        plain.push(WITH_MARK);
        plain.extend((asker.len() as u64).to_be_bytes());
        plain.extend(asker.as_bytes());
        plain.extend(reply.version.map_or(0, |it| it.0).to_be_bytes());
        plain.extend(reply.mark.to_be_bytes());
        plain.extend((location.len() as u64).to_be_bytes());
        plain.extend(location.as_bytes());
        plain.extend(&reply.body);
        let sealed = self.vault.seal(&*self.ids, &replay_place(call, &idempotency.key), &plain)?;
        let Idempotency { key, fingerprint } = idempotency.clone();
        Ok(Some(IdempotencyRecord { key, fingerprint, status, sealed, created_at: at }))
    }

    /// Who asked first, where that was written down, and the answer.
    fn open(&self, place: &SealContext<'_>, kept: &StoredAnswer) -> Result<(Option<Authority>, Reply), Error> {
        let plain = self.vault.open(place, &kept.sealed).map_err(|it| Error::Bug(it.to_string()))?;
        let parts = || {
            let (form, rest) = plain.split_first()?;
            let (asker, rest) = match *form {
                WITH_ASKER | WITH_MARK => text(rest).and_then(|(it, rest)| Some((Some(it.parse().ok()?), rest)))?,
                _ => (None, plain.as_slice()),
            };
            let (version, rest) = rest.split_first_chunk::<8>()?;
            let (mark, rest) = if *form == WITH_MARK { rest.split_first_chunk::<8>()? } else { (&[0; 8], rest) };
            let (location, body) = text(rest)?;
            let body = Bytes::copy_from_slice(body);
            Some((asker, i64::from_be_bytes(*version), u64::from_be_bytes(*mark), location.to_owned(), body))
        };
        let incomplete = || Error::Bug("a kept answer is incomplete".to_owned());
        let (asker, version, mark, location, body) = parts().ok_or_else(incomplete)?;
        let version = (version > 0).then_some(Version(version));
        let outcome = Outcome::of_kept(kept.status, location);
        Ok((asker, Reply { outcome, body, version, mark, replayed: true }))
    }
}
