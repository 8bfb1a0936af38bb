//! A service on in-memory SQLite with a manual clock and deterministic ids.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::{AccessLevel, AllowedNetworks, Caller, Environment, Permissions, Tenant};
use candor_domain::id::{ConnectorId, EmployeeId, KeyId, OrganizationId, RequestId};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey};
use candor_domain::json::{Object, Value};
use candor_domain::params::Params;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_domain::time::Timestamp;
use candor_port_clock::{ManualClock, SeededIds};
use candor_port_events::{Attempt, AttemptOutcome, WebhookRequest, WebhookTransport};
use candor_port_storage::StorageExt;
use candor_service::context::vault::Vault;
use candor_service::usecases::employees;
use candor_service::usecases::operator::{self, NewKeyRequest};
use candor_service::{Error, Idempotency, Reply, RequestContext, ServiceSettings, Services};
use candor_store_sqlite::SqliteStore;
use candor_store_testkit::Faulty;
use candor_tables::rows;
use candor_test_fixtures::unbound;
use ulid::Ulid;

use crate::stores;

/// Sunday, 1 March 2026, 12:00 UTC.
pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

/// The default master key of all processes.
pub(crate) const KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Webhook receivers that are all allowed and acknowledge everything.
pub(crate) struct Receivers;

#[async_trait]
impl WebhookTransport for Receivers {
    async fn judge(&self, _: OrganizationId, _: &ReceiverUrl) -> Verdict {
        Verdict::Allowed
    }

    async fn send(&self, _: WebhookRequest) -> Attempt {
        let outcome = AttemptOutcome::Acknowledged;
        Attempt {
            response_status: 200,
            duration: Duration::ZERO,
            outcome,
            retry_after: None,
            failure_detail: None,
        }
    }
}

/// A service with one organization.
pub(crate) struct TestServices {
    /// The service under test.
    pub(crate) services: Arc<Services>,
    /// Clock of the service, advanced by the test.
    pub(crate) clock: Arc<ManualClock>,
    /// Store of the service, with injectable faults.
    pub(crate) store: Arc<Faulty<SqliteStore>>,
    /// Id of the only organization.
    pub(crate) organization: OrganizationId,
}

impl TestServices {
    /// Creates a new service and organization.
    pub(crate) async fn new() -> Self {
        Self::with_receivers(|_| Arc::new(Receivers)).await
    }

    /// Creates a service whose webhooks go to the given transport.
    pub(crate) async fn with_receivers(
        receivers: impl FnOnce(&Arc<ManualClock>) -> Arc<dyn WebhookTransport>,
    ) -> Self {
        let clock = Arc::new(ManualClock::starting_at(NOON));
        let store = Arc::new(Faulty::new(stores::in_memory()));
        let services = process(&clock, &store, receivers(&clock), 7);
        let organization = operator::create_organization(&services, "Acme").await.unwrap();
        Self { services, clock, store, organization }
    }

    /// Returns a request of an admin with full permissions on the live data set.
    pub(crate) fn admin(&self) -> RequestContext {
        call_of(&self.services, Tenant::live(self.organization))
    }

    /// Returns a request of this caller.
    pub(crate) fn call(&self, caller: Caller) -> RequestContext {
        RequestContext::new(Arc::clone(&self.services), Arc::new(caller), RequestId::from_ulid(Ulid(9)))
    }

    /// Returns an admin's request with an idempotency key and the fingerprint of `request`.
    pub(crate) fn with_idempotency_key(&self, key: &str, request: &str) -> RequestContext {
        let fingerprint = Fingerprint::from_body("POST", "/", "", request.as_bytes());
        let idempotency = Some(Idempotency { key: IdempotencyKey::parse(key).unwrap(), fingerprint });
        RequestContext { idempotency, ..self.admin() }
    }

    /// Creates a person through the service and returns its id.
    pub(crate) async fn hire(&self, name: &str, manager: Option<EmployeeId>) -> EmployeeId {
        let mut text = serde_json::json!({
            "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example",
        });
        if let Some(manager) = manager {
            text["manager_id"] = manager.to_string().into();
        }
        let reply = employees::create(&self.admin(), body(&text.to_string())).await.unwrap();
        member(&reply, "id").parse().unwrap()
    }

    /// Returns the ids of the people that a connector manages, at most a thousand.
    pub(crate) async fn everybody_managed(&self, connector: ConnectorId) -> Vec<EmployeeId> {
        let people = self
            .store
            .entries(self.admin().caller.tenant, rows::employees::managed_by(connector, None, 1_000))
            .await
            .unwrap();
        people.into_iter().map(|person| person.value.id).collect()
    }

    /// Returns the operator's request for a live admin-level key with all scopes.
    pub(crate) fn key_request(&self) -> NewKeyRequest {
        NewKeyRequest {
            organization: self.organization,
            name: "Key".to_owned(),
            scopes: Permissions::ALL,
            level: AccessLevel::Admin,
            environment: Environment::Live,
            employee: None,
            expires_at: None,
            reads_per_minute: None,
            writes_per_minute: None,
            connector: None,
            scim_per_minute: None,
            allowed_networks: AllowedNetworks::EVERYWHERE,
        }
    }
}

/// Returns a request of an admin with full permissions on this data set.
pub(crate) fn call_of(services: &Arc<Services>, tenant: Tenant) -> RequestContext {
    let name = "Admin".to_owned();
    let caller = Caller { tenant, key: KeyId::from_ulid(Ulid(1)), name, ..unbound(AccessLevel::Admin) };
    RequestContext::new(Arc::clone(services), Arc::new(caller), RequestId::from_ulid(Ulid(9)))
}

/// Returns the request that another process carries out.
pub(crate) fn sent_to(services: &Arc<Services>, context: &RequestContext) -> RequestContext {
    RequestContext { services: Arc::clone(services), ..context.clone() }
}

/// Creates a process on this store, with its own caches.
pub(crate) fn process(
    clock: &Arc<ManualClock>,
    store: &Arc<Faulty<SqliteStore>>,
    receivers: Arc<dyn WebhookTransport>,
    seed: u64,
) -> Arc<Services> {
    let settings = ServiceSettings {
        max_subscriptions: 1_000,
        // Long enough that no search of a test reaches its deadline on a busy machine.
        search_deadline: Duration::from_secs(60),
        ..ServiceSettings::with_public_url("http://localhost:8080".to_owned())
    };
    process_with(clock, store, receivers, (KEY, seed), settings)
}

/// Creates a process with this master key and these settings.
pub(crate) fn process_with(
    clock: &Arc<ManualClock>,
    store: &Arc<Faulty<SqliteStore>>,
    receivers: Arc<dyn WebhookTransport>,
    (key, seed): (&str, u64),
    settings: ServiceSettings,
) -> Arc<Services> {
    let vault = Vault::parse(key).unwrap();
    let (clock, store) = (Arc::clone(clock) as _, Arc::clone(store) as _);
    Arc::new(Services::new(store, clock, Arc::new(SeededIds::new(seed)), vault, receivers, settings))
}

/// Parses a JSON object.
pub(crate) fn body(text: &str) -> Object {
    let Value::Object(members) = serde_json::from_str(text).unwrap() else { panic!("not an object: {text}") };
    members
}

/// Creates the parameters of a query.
pub(crate) fn params(pairs: &[(&str, &str)]) -> Params {
    Params::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

/// Parses the body of a reply.
pub(crate) fn json(reply: &Reply) -> serde_json::Value {
    serde_json::from_slice(&reply.body).unwrap()
}

/// Returns a string member of a reply.
pub(crate) fn member(reply: &Reply, name: &str) -> String {
    json(reply)[name].as_str().unwrap_or_else(|| panic!("no text {name} in {}", json(reply))).to_owned()
}

/// Returns a short name of the outcome, for assertions.
pub(crate) fn kind(result: Result<Reply, Error>) -> &'static str {
    use candor_domain::refusal::DomainError;
    match result {
        Ok(reply) if reply.replayed => "replayed",
        Ok(_) => "done",
        Err(Error::Refused(DomainError::Invalid(_))) => "invalid",
        Err(Error::Refused(DomainError::Unprocessable(_))) => "unprocessable",
        Err(Error::Refused(DomainError::NotFound)) => "not found",
        Err(Error::Refused(DomainError::Denied(_))) => "denied",
        Err(Error::Refused(DomainError::Conflict(_))) => "conflict",
        Err(Error::ScimRefused(_)) => "refused over SCIM",
        Err(Error::Malformed(_)) => "malformed",
        Err(Error::PreconditionFailed) => "precondition failed",
        Err(Error::KeyReused(_)) => "key reused",
        Err(Error::Contended) => "contended",
        Err(Error::Unavailable(_)) => "unavailable",
        Err(Error::TooSlow(_)) => "too slow",
        Err(Error::TooManyLargeReads) => "too many large reads",
        Err(Error::TooManyExports) => "too many exports",
        Err(Error::NotIndexed) => "not indexed",
        Err(Error::Bug(cause)) => panic!("{cause}"),
    }
}
