//! The context of a request: the caller, and the conditions under which the request is carried out.

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
pub struct RequestContext {
    /// The caller, as its API key identifies it.
    pub caller: Arc<Caller>,
    /// The request's id.
    pub request: RequestId,
    /// Client address and user agent, for the audit log.
    pub origin: Origin,
    /// The client's key for exactly one effect, on a POST.
    pub idempotency: Option<Idempotency>,
    /// `If-Match`.
    pub precondition: Option<Precondition>,
    /// Problems with members of a body that the route does not take; `None` if there are none.
    pub unexpected_fields: Option<Problems>,
    /// Admin context that its route needs beside the scope.
    pub admin_context: Option<AdminContext>,
}

/// A request that must have one effect however often it is sent.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// The client's key.
    pub key: IdempotencyKey,
    /// Digest of the request, so that another one with the same key is recognized.
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

impl RequestContext {
    /// Checks the client's precondition against the stored version, then that the body has no unexpected fields. Called
    /// once the resource is known to exist: fields come after the resource and before its state (decision A13).
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`]; [`Refusal::Invalid`] for unexpected fields.
    pub fn check_preconditions(&self, version: Version) -> Result<(), Error> {
        if let Some(Precondition::OneOf(versions)) = &self.precondition
            && !versions.contains(&version)
        {
            return Err(Error::PreconditionFailed);
        }
        self.unexpected_fields.clone().map_or(Ok(()), |errors| Err(Refusal::Invalid(errors).into()))
    }

    /// Validates a request that changes an existing resource, in the order of decision A13: `If-Match`, the fields, admin
    /// context where the route needs it. Returns the parsed fields.
    ///
    /// # Errors
    /// Those of [`RequestContext::check_preconditions`], of `parse` and of [`RequestContext::authorize`].
    pub fn validate_update<D, E: Into<Error>>(
        &self,
        version: Version,
        parse: impl FnOnce() -> Result<D, E>,
    ) -> Result<D, Error> {
        self.check_preconditions(version)?;
        self.validate_create(parse)
    }

    /// Validates a request without fields that acts on an existing resource.
    ///
    /// # Errors
    /// Those of [`RequestContext::check_preconditions`] and [`RequestContext::authorize`].
    pub fn validate_action(&self, version: Version) -> Result<(), Error> {
        self.check_preconditions(version)?;
        self.authorize()
    }

    /// Validates a request that creates a resource. Returns the parsed fields.
    ///
    /// # Errors
    /// Those of `parse` and of [`RequestContext::authorize`].
    pub fn validate_create<D, E: Into<Error>>(&self, parse: impl FnOnce() -> Result<D, E>) -> Result<D, Error> {
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

    /// The audit entry of a decision that this request asked for.
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
