//! Who asks for something, and under which conditions.

use std::sync::Arc;

use candor_domain::access::{AdminContext, Caller};
use candor_domain::audit::{Actor, ActorKind, AuditDraft, AuditEntry, Origin};
use candor_domain::id::{AuditId, RequestId};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey};
use candor_domain::problem::Problems;
use candor_domain::refusal::Refusal;
use candor_domain::time::Timestamp;
use candor_port_storage::Version;

use crate::context::error::Error;

/// A request, without its body.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The request's id.
    pub request: RequestId,
    /// Where it came from.
    pub origin: Origin,
    /// The client's key for exactly one effect, on a POST.
    pub idempotency: Option<Idempotency>,
    /// `If-Match`.
    pub precondition: Option<Precondition>,
    /// What the request says where nothing is to be said: the members of a body that its route does not take.
    pub surplus: Option<Problems>,
    /// Admin context that its route needs beside the scope.
    pub admin_context: Option<AdminContext>,
}

/// A request that must have one effect however often it is sent.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// The client's key.
    pub key: IdempotencyKey,
    /// What is asked.
    pub fingerprint: Fingerprint,
}

/// The versions of a resource that a client is willing to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// `*`: any that there is.
    Any,
    /// One of these. A tag that is no version matches nothing and is left out.
    OneOf(Vec<Version>),
}

impl Call {
    /// Checks, once the resource is known to be there, the client's precondition against the version that is stored,
    /// and that the request says no more than it may. Fields come behind the resource and before its state
    /// (decision A13).
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`]; [`Refusal::Invalid`] for surplus members.
    pub fn check(&self, version: Version) -> Result<(), Error> {
        if let Some(Precondition::OneOf(versions)) = &self.precondition
            && !versions.contains(&version)
        {
            return Err(Error::PreconditionFailed);
        }
        self.surplus.clone().map_or(Ok(()), |it| Err(Refusal::Invalid(it).into()))
    }

    /// Checks what may be checked before a change of a resource that is there, in the order of decision A13: `If-Match`,
    /// the fields, admin context where the route wants it. Answers what the fields say.
    ///
    /// # Errors
    /// Those of [`Call::check`], of `parse` and of [`Call::authorize`].
    pub fn admit<D, E: Into<Error>>(&self, version: Version, parse: impl FnOnce() -> Result<D, E>) -> Result<D, Error> {
        self.check(version)?;
        self.admit_new(parse)
    }

    /// [`Call::admit`] for a request whose body says nothing.
    ///
    /// # Errors
    /// Those of [`Call::check`] and [`Call::authorize`].
    pub fn admit_act(&self, version: Version) -> Result<(), Error> {
        self.check(version)?;
        self.authorize()
    }

    /// [`Call::admit`] for what is not there yet.
    ///
    /// # Errors
    /// Those of `parse` and of [`Call::authorize`].
    pub fn admit_new<D, E: Into<Error>>(&self, parse: impl FnOnce() -> Result<D, E>) -> Result<D, Error> {
        let parsed = parse().map_err(Into::into)?;
        self.authorize()?;
        Ok(parsed)
    }

    /// Requires the admin context that the route needs.
    ///
    /// # Errors
    /// Those of [`Caller::require_admin`].
    pub fn authorize(&self) -> Result<(), Error> {
        self.admin_context.map_or(Ok(()), |context| Ok(self.caller.require_admin(context)?))
    }

    /// The audit entry of a decision that this call asked for.
    #[must_use]
    pub fn audit(&self, id: AuditId, draft: AuditDraft, at: Timestamp) -> AuditEntry {
        AuditEntry {
            id,
            occurred_at: at,
            action: draft.action.to_owned(),
            actor: self.actor(),
            target: draft.target,
            changes: draft.changes,
            comment: draft.comment,
            request_id: Some(self.request.to_string()),
            context: self.origin.clone(),
        }
    }

    fn actor(&self) -> Actor {
        Actor { kind: ActorKind::ApiKey, id: Some(self.caller.key.to_string()), name: self.caller.name.clone() }
    }
}
