//! Test support: a service on in-memory SQLite or a cluster's database, with a manual clock and deterministic
//! ids.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::body::MessageBody;
use actix_web::http::header::HeaderMap;
use actix_web::test::{TestRequest, call_service, init_service};
use bytes::{Bytes, BytesMut};
use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permission, Permissions};
use candor_domain::id::OrganizationId;
use candor_domain::time::Timestamp;
use candor_http::table::Route;
use candor_http::{Api, HttpSettings, Readiness, configure};
use candor_port_clock::{ManualClock, SeededIds};
use candor_port_storage::Storage;
use candor_service::context::vault::{self, Vault};
use candor_service::usecases::operator::{self, NewKeyRequest};
use candor_service::{ServiceSettings, Services};
use candor_subscriptions::Delivery;
use candor_test_postgres::TestDatabase;
use serde_json::{Value, json};

use crate::identity_check::Providers;
use crate::receivers::{self, Receivers};
use crate::{documented, stores};

/// Limit on every wait of a test. It only ends the test of a broken program.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Start time of the tests: 2026-03-02T09:00:00.000Z.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_772_442_000_000);
/// Base of `Location` headers.
pub(crate) const PUBLIC_URL: &str = "https://candor.example";
/// Default peer address of requests.
const PEER: &str = "192.0.2.1:4242";

/// Returns settings with time limits that the load of the machine does not exceed.
pub(crate) fn patient_settings() -> HttpSettings {
    HttpSettings { request_budget: PATIENCE * 10, body_time: PATIENCE, ..HttpSettings::default() }
}

type Served = Pin<Box<dyn Future<Output = TestResponse>>>;

/// A service with an organization.
pub(crate) struct TestApi {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) services: Arc<Services>,
    pub(crate) readiness: Readiness,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) providers: Arc<Providers>,
    pub(crate) organization: OrganizationId,
    /// A live key with all permissions.
    pub(crate) admin: String,
    serve: Box<dyn Fn(TestRequest) -> Served>,
    _database: Option<TestDatabase>,
}

/// Status, headers and body of an answer.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl TestApi {
    pub(crate) async fn new() -> Self {
        Self::with(patient_settings()).await
    }

    pub(crate) async fn with(settings: HttpSettings) -> Self {
        let (store, database) = stores::usual().await;
        Self { _database: database, ..Self::on(store, settings).await }
    }

    pub(crate) async fn on(store: Arc<dyn Storage>, settings: HttpSettings) -> Self {
        let with_console =
            ServiceSettings { has_console: true, ..ServiceSettings::with_public_url(PUBLIC_URL.to_owned()) };
        Self::create(store, settings, with_console).await
    }

    /// Creates a service that queues invitation mails; no worker sends them.
    pub(crate) async fn mailing() -> Self {
        let (store, database) = stores::usual().await;
        let settings =
            ServiceSettings { sends_mail: true, ..ServiceSettings::with_public_url(PUBLIC_URL.to_owned()) };
        Self { _database: database, ..Self::create(store, patient_settings(), settings).await }
    }

    /// Creates a service whose exports have a checkpoint after every few rows.
    pub(crate) async fn exporting(store: Arc<dyn Storage>, rows: u16) -> Self {
        let settings = ServiceSettings {
            export_checkpoint_rows: rows,
            ..ServiceSettings::with_public_url(PUBLIC_URL.to_owned())
        };
        Self::create(store, patient_settings(), settings).await
    }

    pub(crate) async fn create(
        store: Arc<dyn Storage>,
        settings: HttpSettings,
        service_settings: ServiceSettings,
    ) -> Self {
        let (clock, ids) = (Arc::new(ManualClock::starting_at(START)), Arc::new(SeededIds::new(1)));
        let vault = Vault::parse(&vault::generate(&*ids).unwrap()).unwrap();
        let receivers = Arc::new(Receivers::default());
        let providers = Arc::new(Providers::default());
        let mut services = Services::new(store, clock.clone(), ids, vault, receivers.clone(), service_settings);
        services.identity_transport = Arc::clone(&providers) as _;
        let services = Arc::new(services);
        let readiness = Readiness::new_unready();
        readiness.set_ready();
        let api = Arc::new(Api::new(Arc::clone(&services), settings, readiness.clone()));
        let service = Rc::new(init_service(App::new().configure(configure(api))).await);
        let serve = Box::new(move |request: TestRequest| {
            let service = Rc::clone(&service);
            Box::pin(async move {
                let response = call_service(&*service, request.to_request()).await;
                let (status, headers) = (response.status().as_u16(), response.headers().clone());
                let body = read_body(response.into_body()).await;
                TestResponse { status, headers, body }
            }) as Served
        });
        let organization = operator::create_organization(&services, "Example").await.unwrap();
        let admin = String::new();
        let mut world =
            Self { clock, services, readiness, receivers, providers, organization, admin, serve, _database: None };
        world.admin = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        world
    }

    /// Creates a key of the organization of this service.
    pub(crate) async fn key(&self, scopes: Permissions, level: AccessLevel, environment: Environment) -> String {
        self.key_of(self.organization, scopes, level, environment).await
    }

    /// Creates a key of an organization, with quotas that no test exhausts.
    pub(crate) async fn key_of(
        &self,
        organization: OrganizationId,
        scopes: Permissions,
        level: AccessLevel,
        environment: Environment,
    ) -> String {
        let order = NewKeyRequest {
            organization,
            name: "Test".to_owned(),
            scopes,
            level,
            environment,
            employee: None,
            expires_at: None,
            reads_per_minute: Some(100_000),
            writes_per_minute: Some(100_000),
            connector: None,
            scim_per_minute: None,
            allowed_networks: AllowedNetworks::EVERYWHERE,
        };
        operator::create_key(&self.services, order).await.unwrap().1.reveal().to_owned()
    }

    /// Creates a key with the default quotas.
    pub(crate) async fn ordinary_key(&self) -> String {
        let order = NewKeyRequest {
            organization: self.organization,
            name: "Ordinary".to_owned(),
            scopes: Permissions::ALL,
            level: AccessLevel::Standard,
            environment: Environment::Live,
            employee: None,
            expires_at: None,
            reads_per_minute: None,
            writes_per_minute: None,
            connector: None,
            scim_per_minute: None,
            allowed_networks: AllowedNetworks::EVERYWHERE,
        };
        operator::create_key(&self.services, order).await.unwrap().1.reveal().to_owned()
    }

    /// Creates a live, standard key with these scopes.
    pub(crate) async fn scoped(&self, scopes: &[Permission]) -> String {
        let scopes = scopes.iter().fold(Permissions::NONE, |set, permission| set.with(*permission));
        self.key(scopes, AccessLevel::Standard, Environment::Live).await
    }

    /// Creates a request without a key.
    pub(crate) fn bare(&self, method: &str, path: &str) -> Request<'_> {
        let method = actix_web::http::Method::from_bytes(method.as_bytes()).unwrap();
        let peer: SocketAddr = PEER.parse().unwrap();
        let (asked, route) = (format!("{method} {path}"), documented::route(&method, path));
        let request = TestRequest::with_uri(path).method(method).peer_addr(peer);
        Request { world: self, request, asked, route }
    }

    /// Creates a request with the admin key.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Request<'_> {
        self.bare(method, path).key(&self.admin)
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.ask("GET", path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.ask("POST", path).json(&body).send().await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> TestResponse {
        self.ask("PATCH", path).json(&body).send().await
    }

    /// Advances the clock by a millisecond, creates a resource and returns the resource's id.
    pub(crate) async fn made(&self, path: &str, body: Value) -> String {
        self.clock.advance_millis(1);
        let response = self.post(path, body).await;
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    }

    /// Creates an employee and returns the employee's id.
    pub(crate) async fn employee(&self, email: &str) -> String {
        let body = json!({"email": email, "first_name": "Ada", "last_name": "Example"});
        self.made("/v1/employees", body).await
    }

    /// Attempts every delivery that is due, with this status as the answer.
    pub(crate) async fn attempt_all(&self, status: u16) -> Vec<Delivery> {
        receivers::attempt_all(&self.services, status).await
    }

    /// Creates an employee and an observation about the employee. Returns the observation's id.
    pub(crate) async fn observation(&self, email: &str) -> String {
        let employee = self.employee(email).await;
        let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
        self.made("/v1/observations", body).await
    }
}

/// Returns the bytes of a body, up to its end or its failure.
async fn read_body(mut body: impl MessageBody + Unpin) -> Bytes {
    let mut bytes = BytesMut::new();
    while let Some(Ok(part)) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
        bytes.extend_from_slice(&part);
    }
    bytes.freeze()
}

/// Builder of a request.
pub(crate) struct Request<'a> {
    world: &'a TestApi,
    request: TestRequest,
    /// Method and path, for failure messages.
    asked: String,
    /// Route that matches the request, if any.
    route: Option<&'static Route>,
}

impl Request<'_> {
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self { request: self.request.insert_header((name, value)), ..self }
    }

    pub(crate) fn with_peer(self, peer: &str) -> Self {
        Self { request: self.request.peer_addr(SocketAddr::new(peer.parse().unwrap(), 4242)), ..self }
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) fn body(self, body: impl Into<Bytes>) -> Self {
        Self { request: self.request.set_payload(body), ..self }
    }

    pub(crate) async fn send(self) -> TestResponse {
        let response = (self.world.serve)(self.request).await;
        documented::assert_status(self.route, &self.asked, &response);
        documented::assert_body(self.route, &self.asked, &response);
        response
    }
}

impl TestResponse {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// Returns the lines of an NDJSON answer.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|header| header.to_str().ok())
    }

    /// Returns the error code, after checking the shape of the envelope. An error of SCIM has no code: its status
    /// determines the code that `/v1` would return.
    pub(crate) fn code(&self) -> String {
        let body = self.json();
        if self.header("content-type") == Some("application/scim+json") {
            assert_eq!(body["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:Error"]), "{body}");
            assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
            assert_eq!(body["status"], self.status.to_string(), "{body}");
            let code = match self.status {
                401 => "authentication_required",
                403 => "permission_denied",
                404 => "not_found",
                409 | 412 => "conflict",
                429 => "rate_limited",
                503 => "unavailable",
                _ => "bad_request",
            };
            return code.to_owned();
        }
        let error = body["error"].as_object().unwrap_or_else(|| panic!("no envelope: {body}"));
        assert!(error["message"].as_str().is_some_and(|error| !error.is_empty()), "{body}");
        assert_eq!(error["request_id"].as_str(), self.header("x-request-id"), "{body}");
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        assert!(error.get("details").is_none_or(Value::is_array), "{body}");
        error["code"].as_str().unwrap().to_owned()
    }

    /// Returns status and error code.
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.status, self.code())
    }

    /// Returns field and code of each detail.
    pub(crate) fn problems(&self) -> Vec<(String, String)> {
        let body = self.json();
        let entries = body["error"]["details"].as_array().cloned().unwrap_or_default();
        let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
        entries.iter().map(|entry| (text(entry, "field"), text(entry, "code"))).collect()
    }

    /// Returns the body without the request id, so that answers can be compared.
    pub(crate) fn without_request_id(&self) -> Value {
        let mut body = self.json();
        if let Some(error) = body["error"].as_object_mut() {
            error.remove("request_id");
        }
        body
    }
}
