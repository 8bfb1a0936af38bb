//! Deliveries from the event to the log, with scripted receivers.

mod contents;
mod ending;
mod failing;
mod failures;
mod leases;
mod pauses;
mod results;
mod secrets;
mod shares;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::audit::{Actor, AuditEntry, Origin, Target as AuditTarget};
use candor_domain::event::{Event, EventType};
use candor_domain::id::{OrganizationId, WebhookId};
use candor_domain::params::Params;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, ManualClock, SeededIds};
use candor_port_events::{Attempt, AttemptOutcome, WebhookRequest, WebhookTransport};
use candor_port_storage::{ChangeSet, Storage, StorageExt};
use candor_service::Services;
use candor_service::context::vault::Vault;
use candor_service::runtime::delivery::{Engine, Settings};
use candor_service::usecases::webhooks;
use candor_subscriptions::{RequestedPause, Schedule, Subscription};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::support::{TestServices, body, json as json_of, member, params, process};

/// A receiver's reaction to an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) enum FakeResponse {
    /// Answers with this status.
    Status(u16),
    /// Answers with this status and `Retry-After`, in seconds.
    RetryAfter(u16, u64),
    /// Does not answer within the timeout.
    Silent,
    /// Answers with 200 once the test releases it.
    Hangs,
}

/// An attempt as the receiver saw it.
#[derive(Debug, Clone)]
pub(super) struct SentAttempt {
    pub(super) at: Timestamp,
    pub(super) url: String,
    pub(super) headers: HashMap<&'static str, String>,
    pub(super) custom_headers: Vec<(String, Secret)>,
    pub(super) body: Value,
    pub(super) raw: Vec<u8>,
}

impl SentAttempt {
    /// Returns the event's id from the body.
    pub(super) fn event(&self) -> String {
        self.body["id"].as_str().unwrap().to_owned()
    }
}

/// Scripted webhook receivers by URL. The default answer is 200.
pub(super) struct Script {
    clock: Arc<ManualClock>,
    responses: Mutex<HashMap<String, FakeResponse>>,
    sent: Mutex<Vec<SentAttempt>>,
    gate: Semaphore,
}

impl Script {
    pub(super) fn answer(&self, url: &str, response: FakeResponse) {
        self.responses.lock().unwrap().insert(url.to_owned(), response);
    }

    /// Removes and returns the attempts that receivers have seen so far.
    pub(super) fn take(&self) -> Vec<SentAttempt> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }

    /// Returns the number of attempts since the last `take`.
    pub(super) fn sent(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    /// Returns the number of attempts to this URL since the last `take`.
    pub(super) fn sent_to(&self, url: &str) -> usize {
        self.sent.lock().unwrap().iter().filter(|request| request.url == url).count()
    }

    /// Releases all hanging attempts, current and future.
    pub(super) fn let_go(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS / 2);
    }
}

#[async_trait]
impl WebhookTransport for Script {
    async fn judge(&self, _: OrganizationId, _: &ReceiverUrl) -> Verdict {
        Verdict::Allowed
    }

    async fn send(&self, request: WebhookRequest) -> Attempt {
        let WebhookRequest { url, headers, custom_headers, body, .. } = request;
        let response = self.responses.lock().unwrap().get(&url).copied().unwrap_or(FakeResponse::Status(200));
        let attempt = SentAttempt {
            at: self.clock.now(),
            url,
            headers: headers.into_iter().collect(),
            custom_headers,
            body: serde_json::from_slice(&body).unwrap(),
            raw: body.to_vec(),
        };
        self.sent.lock().unwrap().push(attempt);
        let (response_status, outcome, millis) = match response {
            FakeResponse::Status(status) | FakeResponse::RetryAfter(status, _) => {
                (status, AttemptOutcome::from_status(status), 3)
            }
            FakeResponse::Silent => (0, AttemptOutcome::Failed(FailureReason::Timeout), 15_000),
            FakeResponse::Hangs => {
                drop(self.gate.acquire().await);
                (200, AttemptOutcome::Acknowledged, 3)
            }
        };
        let retry_after = match response {
            FakeResponse::RetryAfter(_, seconds) => Some(RequestedPause::Seconds(seconds)),
            FakeResponse::Status(_) | FakeResponse::Silent | FakeResponse::Hangs => None,
        };
        Attempt {
            response_status,
            duration: Duration::from_millis(millis),
            outcome,
            retry_after,
            failure_detail: None,
        }
    }
}

/// A service with an engine that the test runs step by step.
pub(super) struct DeliveryTest {
    pub(super) world: TestServices,
    pub(super) script: Arc<Script>,
    pub(super) engine: Arc<Engine>,
    hired: AtomicU64,
}

impl DeliveryTest {
    pub(super) async fn new() -> Self {
        Self::with(Schedule::default()).await
    }

    pub(super) async fn with(schedule: Schedule) -> Self {
        let mut script = None;
        let world = TestServices::with_receivers(|clock| {
            let new_script = Arc::new(Script {
                clock: Arc::clone(clock),
                responses: Mutex::default(),
                sent: Mutex::default(),
                gate: Semaphore::new(0),
            });
            script = Some(Arc::clone(&new_script));
            new_script
        });
        let world = world.await;
        let engine = Engine::new(&world.services, Settings { schedule, ..Settings::default() });
        Self { world, script: script.unwrap(), engine, hired: AtomicU64::new(0) }
    }

    /// Creates another process on the same store.
    pub(super) fn process(&self, seed: u64) -> Arc<Services> {
        process(&self.world.clock, &self.world.store, Arc::clone(&self.script) as _, seed)
    }

    /// Creates another process on the same store, with another key ring.
    pub(super) fn process_with(&self, ring: &str, seed: u64) -> Arc<Services> {
        let vault = Vault::parse(ring).unwrap();
        let (store, clock) = (Arc::clone(&self.world.store) as _, Arc::clone(&self.world.clock) as _);
        let settings = candor_service::ServiceSettings::with_public_url("http://localhost:8080".to_owned());
        let receivers = Arc::clone(&self.script) as _;
        Arc::new(Services::new(store, clock, Arc::new(SeededIds::new(seed)), vault, receivers, settings))
    }

    /// Creates an engine of another process.
    pub(super) fn another(&self, seed: u64) -> Arc<Engine> {
        Engine::new(&self.process(seed), Settings::default())
    }

    pub(super) fn tenant(&self) -> Tenant {
        Tenant::live(self.world.organization)
    }

    /// Subscribes to created employees. Returns the subscription's id and secret.
    pub(super) async fn subscribe(&self, url: &str) -> (WebhookId, String) {
        let text = json!({"url": url, "event_types": ["employee.created"]}).to_string();
        let reply = webhooks::create(&self.world.admin(), body(&text)).await.unwrap();
        (member(&reply, "id").parse().unwrap(), member(&reply, "secret"))
    }

    pub(super) async fn update(&self, id: WebhookId, change: Value) -> Value {
        let body = body(&change.to_string());
        json_of(&webhooks::update(&self.world.admin(), id, body).await.unwrap())
    }

    pub(super) async fn subscription(&self, id: WebhookId) -> Value {
        json_of(&webhooks::get(&self.world.admin(), id, Params::new(vec![])).await.unwrap())
    }

    /// Reads the subscription from the store.
    pub(super) async fn load(&self, id: WebhookId) -> Subscription {
        self.world.store.row::<Subscription>(self.tenant(), id).await.unwrap().unwrap().value
    }

    /// Returns the delivery log, oldest attempt first.
    pub(super) async fn log(&self, id: WebhookId) -> Vec<Value> {
        let (mut entries, mut cursor) = (vec![], None::<String>);
        loop {
            let mut query = vec![("limit", "100")];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = webhooks::deliveries(&self.world.admin(), id, params(&query)).await.unwrap();
            let page = json_of(&page);
            entries.extend(page["data"].as_array().unwrap().iter().cloned());
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                entries.reverse();
                return entries;
            }
        }
    }

    /// Creates a person through the service, which causes an event.
    pub(super) async fn hire(&self) {
        let number = self.hired.fetch_add(1, Ordering::Relaxed);
        self.world.hire(&format!("person{number}"), None).await;
    }

    /// Queues `count` events in one commit without handing them to the engine, as if another process had
    /// committed them.
    pub(super) async fn queue(&self, count: usize) {
        let now = self.world.clock.now();
        let mut change = ChangeSet::new(AuditEntry {
            id: self.world.services.id(now),
            occurred_at: now,
            action: "employee.create".to_owned(),
            actor: Actor::system("test"),
            target: AuditTarget { kind: "employee".to_owned(), id: String::new() },
            changes: Default::default(),
            comment: None,
            request_id: None,
            context: Origin::default(),
        });
        let event = || Event {
            id: self.world.services.id(now),
            kind: EventType::EmployeeCreated,
            created_at: now,
            data: "{}".to_owned(),
            request_id: None,
        };
        change.events = std::iter::repeat_with(event).take(count).collect();
        self.world.store.commit(self.tenant(), change).await.unwrap();
    }

    /// Runs an engine in a background task until `stop`.
    pub(super) fn start(
        &self,
        engine: &Arc<Engine>,
        stop: impl Future<Output = ()> + Send + 'static,
        grace: Duration,
    ) -> JoinHandle<()> {
        self.world.clock.run_steady_time();
        tokio::spawn(Arc::clone(engine).run(stop, grace))
    }

    pub(super) async fn run_once(&self) -> usize {
        self.engine.run_once().await.unwrap()
    }

    /// Advances the clock and runs everything that is due. Returns the number of attempts.
    pub(super) async fn run_once_after(&self, seconds: i64) -> usize {
        self.world.clock.advance_seconds(seconds);
        self.run_once().await
    }
}

/// Returns this member of each entry.
pub(super) fn members(entries: &[Value], name: &str) -> Vec<Value> {
    entries.iter().map(|entry| entry[name].clone()).collect()
}

/// Waits until a condition holds, at most a minute.
pub(super) async fn wait_until(wanted: impl AsyncFn() -> bool) {
    let wait_result = tokio::time::timeout(Duration::from_secs(60), async {
        while !wanted().await {
            tokio::task::yield_now().await;
        }
    });
    assert!(wait_result.await.is_ok(), "the condition does not hold after a minute");
}
