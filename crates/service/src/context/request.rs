//! Context of a request: the caller and the conditions of the request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use candor_domain::access::api_key::KeyHash;
use candor_domain::access::{AdminContext, Caller, PermissionError};
use candor_domain::audit::{Actor, ActorKind, AuditDraft, AuditEntry, Origin, Via};
use candor_domain::decision::{Decision, Resource};
use candor_domain::id::{AuditId, RequestId};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey};
use candor_domain::problem::ValidationErrors;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Version};
use candor_provisioning::Connector;

use crate::context::error::Error;
use crate::context::services::{Services, render};
use crate::context::tokens::bearer_token::BearerToken;

/// Maximum age of a look-up of the caller at a commit. With the maximum age of a cached record (900 ms), lost
/// rights end within a second.
const CONFIRMED: Duration = Duration::from_millis(100);
/// Maximum age of the look-up of the caller at the commit of a write that gives access. For such a write, the caller is
/// looked up in the store instead of the cache.
const GRANT_CONFIRMED: Duration = Duration::from_millis(10);

/// A request without its body, and the services that carry it out.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// The store, the clocks and the other parts that use cases need.
    pub services: Arc<Services>,
    /// The caller of the request, by an API key or a bearer token, with the permissions.
    pub caller: Arc<Caller>,
    /// The key or token of the request, by which the caller is looked up again; `None` if none authenticated the caller.
    pub admission: Option<Admission>,
    /// Id of the request, for logs and the audit log.
    pub request: RequestId,
    /// Client address and user agent, for the audit log.
    pub origin: Origin,
    /// Idempotency key and fingerprint of a POST.
    pub idempotency: Option<Idempotency>,
    /// Condition of the `If-Match` header.
    pub precondition: Option<Precondition>,
    /// Problems with body members that the route does not accept; `None` if there are none.
    pub unexpected_fields: Option<ValidationErrors>,
    /// Admin context that the route requires in addition to the scope.
    pub admin_context: Option<AdminContext>,
    /// `true` if the request is described instead of carried out (decision A18).
    pub dry_run: bool,
}

/// The key or token by which a caller was authenticated.
#[derive(Debug, Clone)]
pub enum Credential {
    /// An API key, by its hash.
    Key(KeyHash),
    /// A bearer token of an identity provider.
    Token(Arc<BearerToken>),
}

/// The credential by which a caller was authenticated, and when.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Key or token.
    pub credential: Credential,
    /// Steady time at which the look-up of the caller began.
    pub at: Duration,
    /// `true` for a write that can give lasting access, see
    /// [`Access::gives_access`](candor_domain::access::Access::gives_access).
    pub gives_access: bool,
}

/// Idempotency of a request: retries with the same key have a single effect.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// Key chosen by the client.
    pub key: IdempotencyKey,
    /// Digest of the request, which reveals a different request with the same key.
    pub fingerprint: Fingerprint,
}

/// Versions of a resource that the client allows to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// `*`: any existing version.
    Any,
    /// One of these versions, each with its [`etag_extra`](crate::Reply::etag_extra). Tags that are not versions match
    /// nothing and are omitted.
    OneOf(Vec<(Version, u64)>),
}

impl RequestContext {
    /// Creates the context of a request of this caller without conditions.
    #[must_use]
    pub fn new(services: Arc<Services>, caller: Arc<Caller>, request: RequestId) -> Self {
        Self {
            services,
            caller,
            admission: None,
            request,
            origin: Origin::default(),
            idempotency: None,
            precondition: None,
            unexpected_fields: None,
            admin_context: None,
            dry_run: false,
        }
    }

    /// Returns `true` if the present caller of the key has kept the rights with which the request began. A request about
    /// keys and providers could give access beyond the end of the key, so its secret must not have been rotated meanwhile,
    /// and its end must be no earlier (decision B7).
    pub(crate) fn is_kept_by(&self, present: &Caller) -> bool {
        let gives_keys = matches!(self.admin_context, Some(AdminContext::Settings | AdminContext::Organization));
        present.has_kept_rights_of(&self.caller) && (!gives_keys || present.has_kept_secret_of(&self.caller))
    }

    /// Checks the client's precondition against the stored version, then that the body has no unexpected fields.
    /// Called once the resource is known to exist: fields are checked after its existence and before its state
    /// (decision A13).
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`]; [`DomainError::Invalid`] for unexpected fields.
    pub fn check_preconditions(&self, version: Version) -> Result<(), Error> {
        if let Some(Precondition::OneOf(tags)) = &self.precondition
            && !tags.iter().any(|(named, _)| *named == version)
        {
            return Err(Error::PreconditionFailed);
        }
        self.unexpected_fields.clone().map_or(Ok(()), |errors| Err(DomainError::Invalid(errors).into()))
    }

    /// Validates a request that changes an existing resource, in the order of decision A13: `If-Match`, fields,
    /// admin context. Returns the parsed fields.
    ///
    /// # Errors
    /// Errors of [`RequestContext::check_preconditions`], of `parse` and of [`RequestContext::authorize`].
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
    /// Errors of [`RequestContext::check_preconditions`] and [`RequestContext::authorize`].
    pub fn validate_action(&self, version: Version) -> Result<(), Error> {
        self.check_preconditions(version)?;
        self.authorize()
    }

    /// Validates a request that creates a resource. Returns the parsed fields.
    ///
    /// # Errors
    /// Errors of `parse` and of [`RequestContext::authorize`].
    pub fn validate_create<D, E: Into<Error>>(&self, parse: impl FnOnce() -> Result<D, E>) -> Result<D, Error> {
        let draft = parse().map_err(Into::into)?;
        self.authorize()?;
        Ok(draft)
    }

    /// Requires the admin context of the route.
    ///
    /// # Errors
    /// Errors of [`Caller::require_admin`].
    pub fn authorize(&self) -> Result<(), Error> {
        self.admin_context.map_or(Ok(()), |context| Ok(self.caller.require_admin(context)?))
    }

    /// Refuses a request whose caller lost rights after the request began. Called before each commit, and after each
    /// wait of a request: for its body, its turn or a lock. So a revocation applies within a second (decision B4), also
    /// to requests that had begun. A write that gives access could give lost rights back, so the rights for such a
    /// write are read from the store.
    ///
    /// # Errors
    /// [`PermissionError::RightsLost`]; errors of the store.
    pub async fn confirm_caller(&self) -> Result<(), Error> {
        let Some(admission) = &self.admission else { return Ok(()) };
        let age = self.services.clock.steady().saturating_sub(admission.at);
        if age < if admission.gives_access { GRANT_CONFIRMED } else { CONFIRMED } {
            return Ok(());
        }
        let (caller, is_anew) = (&self.caller, admission.gives_access);
        let has_kept_rights = match &admission.credential {
            Credential::Key(hash) => {
                self.services.auth.confirm(*hash, |present| self.is_kept_by(present), is_anew).await?
            }
            Credential::Token(token) => self.services.confirm_token(token, caller, is_anew).await?,
        };
        if has_kept_rights { Ok(()) } else { Err(PermissionError::RightsLost.into()) }
    }

    /// Creates the change set of one decision, with its audit entry and its events, which carry the rendered
    /// state. Returns the change set and the new state.
    ///
    /// Changes of one resource within a millisecond are recorded a millisecond apart, as in its `updated_at`
    /// (decision D8). So the audit log lists them in the order in which they happened.
    ///
    /// # Errors
    /// [`Error::Bug`] if the state cannot be rendered.
    pub fn change_set<T: Resource>(
        &self,
        decision: Decision<T>,
        rendered: &Bytes,
        at: Timestamp,
    ) -> Result<(ChangeSet, T), Error> {
        let event_time = at.max(decision.state.updated_at());
        let mut change = ChangeSet::new(self.audit(self.services.id(at), decision.audit, event_time));
        change.events = if T::LINKS_PERMISSION.is_none() {
            self.services.events(&decision.events, rendered, at)
        } else {
            self.services.events(&decision.events, &render(&decision.state.without_linked_ids())?, at)
        };
        Ok((change, decision.state))
    }

    /// Creates the audit entry of a decision that this request caused.
    #[must_use]
    pub fn audit(&self, id: AuditId, draft: AuditDraft, at: Timestamp) -> AuditEntry {
        let via = self.caller.identity_provider.map(|identity_provider_id| Via { identity_provider_id });
        let origin = Origin { via, ..self.origin.clone() };
        draft.into_entry(id, at, self.actor(), Some(self.request.to_string()), origin)
    }

    /// Creates the audit entry of a decision that a connector makes by this request. The entry names the API key
    /// in addition to the connector.
    #[must_use]
    pub fn audit_of_connector(
        &self,
        connector: &Connector,
        id: AuditId,
        draft: AuditDraft,
        at: Timestamp,
    ) -> AuditEntry {
        let mut entry = self.audit(id, draft, at);
        entry.act_as(connector.id, &connector.hris_source);
        entry
    }

    /// Returns the actor of the request: the key, or the person of a bearer token.
    fn actor(&self) -> Actor {
        let caller = &self.caller;
        let (kind, id) = match (caller.identity_provider, caller.bound_to()) {
            (Some(_), Some(person)) => (ActorKind::Employee, person.to_string()),
            (_, _) => (ActorKind::ApiKey, caller.key.to_string()),
        };
        Actor { kind, id: Some(id), name: caller.name.clone() }
    }
}
