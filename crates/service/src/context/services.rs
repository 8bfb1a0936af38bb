//! The services that use cases and background workers share.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::access::api_key::MAX_OF_ORGANIZATION;
use candor_domain::audit::{Actor, AuditDraft, AuditEntry, Origin};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{AssignmentId, Id, Kind, ObjectiveId};
use candor_domain::notification::UNREAD_DAYS;
use candor_domain::people::invitation::ORGANIZATION_MAILS_PER_DAY;
use candor_domain::refusal::DomainError;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_fair_share::LargeWork;
use candor_port_clock::{Clock, Ids, new_id};
use candor_port_events::WebhookTransport;
use candor_port_identity::{IdentityTransport, NoProviders};
use candor_port_storage::Storage;
use candor_subscriptions::MAX_SUBSCRIPTIONS;
use tokio::sync::{Notify, OwnedMutexGuard};

use crate::context::auth::Authenticator;
use crate::context::clocks::Clocks;
use crate::context::commit_health::CommitHealth;
use crate::context::discovery::Discoveries;
use crate::context::error::Error;
use crate::context::exchange_turns::ExchangeTurns;
use crate::context::export_permits::ExportPermits;
use crate::context::handover::Deliveries;
use crate::context::keyed_locks::KeyedLocks;
use crate::context::limits::Limits;
use crate::context::request_counts::RequestCounters;
use crate::context::scim_log::ScimLog;
use crate::context::search_index::SearchIndex;
use crate::context::tenant_sizes::TenantSizes;
use crate::context::tokens::cache::Tokens;
use crate::context::upload_turns::UploadTurns;
use crate::context::vault::Vault;

/// Maximum attempts of a change whose commits lose against concurrent changes. Retries are safe, because
/// decisions are pure and each plan checks `If-Match` against the rows it has just read.
pub(crate) const ATTEMPTS: usize = 8;

/// Operator settings that use cases need.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// Base URL of links, without `/v1`.
    pub public_url: String,
    /// Maximum number of subscriptions per tenant (decision F10).
    pub max_subscriptions: u32,
    /// Maximum number of valid keys of an organization that act for no person (decision B7).
    pub max_keys: u32,
    /// Retention of unread notifications. Read notifications are not kept longer.
    pub notification_retention: Duration,
    /// `true` if a mail server for invitations is configured.
    pub sends_mail: bool,
    /// Maximum number of invitation mails per day of an organization. Ten times as many once ten of its invitations
    /// were accepted.
    pub mails_per_day: u32,
    /// Deadline of a search (decision A17).
    pub search_deadline: Duration,
    /// Number of rows of an export between two checkpoints (decision H1).
    pub export_checkpoint_rows: u16,
    /// `true` if the console is served, so that portal links lead to it.
    pub has_console: bool,
}

/// Default number of rows of an export between two checkpoints.
const EXPORT_CHECKPOINT_ROWS: u16 = 10_000;
/// Default deadline of a search.
const SEARCH_DEADLINE: Duration = Duration::from_secs(2);
/// Default retention of unread notifications.
const NOTIFICATION_RETENTION: Duration = Duration::from_secs(UNREAD_DAYS as u64 * 86_400);

impl ServiceSettings {
    /// Creates default settings with this base URL of links.
    #[must_use]
    pub const fn with_public_url(public_url: String) -> Self {
        Self {
            public_url,
            max_subscriptions: MAX_SUBSCRIPTIONS,
            max_keys: MAX_OF_ORGANIZATION,
            notification_retention: NOTIFICATION_RETENTION,
            sends_mail: false,
            mails_per_day: ORGANIZATION_MAILS_PER_DAY,
            search_deadline: SEARCH_DEADLINE,
            export_checkpoint_rows: EXPORT_CHECKPOINT_ROWS,
            has_console: false,
        }
    }

    /// Returns the URL of the SCIM service.
    #[must_use]
    pub fn scim_url(&self) -> String {
        format!("{}/scim/v2", self.public_url.trim_end_matches('/'))
    }

    /// Returns the portal link with this code. The code is in the fragment, which browsers never send.
    pub(crate) fn portal_url(&self, start: &str, code: &Secret) -> String {
        format!("{}/console{start}#code={}", self.public_url, code.reveal())
    }

    /// Returns the address of the console that shows why a sign-in was refused.
    pub(crate) fn refusal_url(&self, reason: &str) -> String {
        format!("{}/console#error={reason}", self.public_url)
    }

    /// Returns the link by which the person with this token accepts an invitation.
    pub(crate) fn accept_url(&self, token: &Secret) -> String {
        format!("{}/v1/invitations/accept?token={}", self.public_url, token.reveal())
    }
}

/// The store, the clocks, the vault and the other parts that a use case needs in addition to its request.
pub struct Services {
    /// Store of all persistent data.
    pub store: Arc<dyn Storage>,
    /// Wall clock and steady clock.
    pub clock: Arc<dyn Clock>,
    /// Source of new ids and of randomness.
    pub ids: Arc<dyn Ids>,
    /// Seals secrets before they are stored.
    pub vault: Vault,
    /// Transport that sends webhook requests.
    pub webhook_transport: Arc<dyn WebhookTransport>,
    /// Access to identity providers and to the DNS records of domains. A command has none.
    pub identity_transport: Arc<dyn IdentityTransport>,
    /// Resolves API keys to callers; caches records for under a second.
    pub auth: Authenticator,
    /// Caches of bearer tokens and of the keys of their providers.
    pub tokens: Tokens,
    /// Discovery documents of identity providers.
    pub(crate) discoveries: Discoveries,
    /// Turns of the requests that exchange codes of sign-ins.
    pub(crate) exchange_turns: ExchangeTurns,
    /// Counters of answered requests that are not in the store yet.
    pub request_counters: RequestCounters,
    /// SCIM requests that are not in the log of their connector yet.
    pub scim_log: ScimLog,
    /// Per-key and per-address rate limiter.
    pub limits: Limits,
    /// Outcome of the last commit.
    pub commit_health: CommitHealth,
    /// Operator settings that use cases need.
    pub settings: ServiceSettings,
    /// The engine that delivers webhooks, if this process has one.
    pub(crate) deliveries: Deliveries,
    /// Notified when a mail may be due.
    pub(crate) mail_queued: Notify,
    /// Comparison of the clocks that retention relies on.
    pub(crate) clocks: Clocks,
    /// State of the search index, as far as this process knows it.
    pub(crate) search_index: SearchIndex,
    /// Sizes of the largest organizations, as last measured.
    pub tenant_sizes: TenantSizes,
    /// Limiter of concurrent work on large texts and responses, fair between tenants.
    pub large_work: LargeWork,
    /// Turns of requests with large bodies. They are separate from those of `large_work`, because such a request keeps
    /// its turn while its use case takes turns of `large_work`.
    pub large_bodies: LargeWork,
    /// Turns of uploads of people. Each upload holds the stored people of its file in memory.
    pub uploads: UploadTurns,
    /// Permits of the running exports.
    pub(crate) export_permits: ExportPermits,
    move_locks: KeyedLocks,
    submission_locks: KeyedLocks,
    check_in_locks: KeyedLocks,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Services").finish_non_exhaustive()
    }
}

impl Services {
    /// Creates services with default limits and empty caches.
    #[must_use]
    pub fn new(
        store: Arc<dyn Storage>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        vault: Vault,
        webhook_transport: Arc<dyn WebhookTransport>,
        settings: ServiceSettings,
    ) -> Self {
        let auth = Authenticator::new(Arc::clone(&store), Arc::clone(&clock));
        let limits = Limits::of_process(Arc::clone(&clock));
        let (deliveries, clocks) = (Deliveries::default(), Clocks::observe(&*clock));
        Self {
            store,
            clock,
            ids,
            vault,
            webhook_transport,
            identity_transport: Arc::new(NoProviders),
            auth,
            tokens: Tokens::new(),
            discoveries: Discoveries::default(),
            exchange_turns: ExchangeTurns::default(),
            request_counters: RequestCounters::default(),
            scim_log: ScimLog::default(),
            limits,
            commit_health: CommitHealth::default(),
            settings,
            deliveries,
            mail_queued: Notify::new(),
            clocks,
            search_index: SearchIndex::default(),
            tenant_sizes: TenantSizes::default(),
            large_work: LargeWork::default(),
            large_bodies: LargeWork::default(),
            uploads: UploadTurns::default(),
            export_permits: ExportPermits::default(),
            move_locks: KeyedLocks::default(),
            submission_locks: KeyedLocks::default(),
            check_in_locks: KeyedLocks::default(),
        }
    }

    /// Waits for the lock on moves of people within a tenant's reporting tree.
    ///
    /// The store accepts one of several moves based on the same tree; the remaining ones are decided again. The
    /// lock keeps concurrent moves of this instance from exhausting their attempts.
    pub async fn move_lock(&self, tenant: Tenant) -> OwnedMutexGuard<()> {
        self.move_locks.lock(tenant.to_bytes()).await
    }

    /// Waits for the lock on submissions to an assignment. The version of the assignment admits one submission at a
    /// time, and up to fifty reviewers may submit at once.
    pub(crate) async fn submission_lock(&self, assignment: AssignmentId) -> OwnedMutexGuard<()> {
        self.submission_locks.lock(assignment.to_bytes()).await
    }

    /// Waits for the lock on check-ins of an objective. The version of the objective admits one check-in at a time, and
    /// a whole team may check in at once.
    pub(crate) async fn check_in_lock(&self, objective: ObjectiveId) -> OwnedMutexGuard<()> {
        self.check_in_locks.lock(objective.to_bytes()).await
    }

    /// Creates an id for something created at `at`.
    pub fn id<K: Kind>(&self, at: Timestamp) -> Id<K> {
        new_id(&*self.ids, at)
    }

    /// Creates events of these types with the same data.
    pub(crate) fn events(&self, kinds: &[EventType], rendered: &Bytes, at: Timestamp) -> Vec<Event> {
        let data = String::from_utf8_lossy(rendered).into_owned();
        kinds
            .iter()
            .map(|kind| Event {
                id: self.id(at),
                kind: *kind,
                created_at: at,
                data: data.clone(),
                request_id: None,
            })
            .collect()
    }

    /// Creates the audit entry of a change made by the service itself; `name` is the part of the service.
    pub(crate) fn entry_of_system(&self, name: &str, draft: AuditDraft, occurred_at: Timestamp) -> AuditEntry {
        draft.into_entry(self.id(occurred_at), occurred_at, Actor::system(name), None, Origin::default())
    }
}

/// Renders a resource as JSON.
///
/// # Errors
/// [`Error::Bug`].
pub fn render<T: serde::Serialize>(value: &T) -> Result<Bytes, Error> {
    serde_json::to_vec(value).map(Bytes::from).map_err(|error| Error::Bug(error.to_string()))
}

/// Unwraps a loaded resource.
///
/// # Errors
/// [`DomainError::NotFound`] if it is `None`.
pub fn or_not_found<T>(loaded: Option<T>) -> Result<T, Error> {
    loaded.ok_or(Error::Refused(DomainError::NotFound))
}
