//! One request from its address to its document, within its time limit.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::ReceiverUrl;
use candor_outbound::policy::{Policy, TrustedNetwork};
use candor_outbound::{AttemptFailure, Dialer, HostNames, OutboundRequest, SetupError, TextRecords};
use candor_port_identity::{CodeExchange, IdentityTransport, ProviderDocument};
use candor_sign_in::fetch_failure::FetchError;
use http::header::{ACCEPT, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, timeout, timeout_at};

use crate::{body, form};

/// Default time limit of a request: lookup, connection, sending, and the whole response.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes of one response: 256 KiB of a document, its head, and the frames of TLS and HTTP/2.
const RESPONSE_BYTES: u64 = 384 * 1024;

/// Settings of an [`IdentityClient`].
#[derive(Debug, Clone)]
pub struct IdentitySettings {
    /// Networks that may be private and called over plain HTTP (`identity.trusted_networks`).
    pub trusted: Vec<TrustedNetwork>,
    /// The name server for host names and TXT records.
    pub names: HostNames,
    /// Certificate authorities in addition to those of the system.
    pub authorities: Vec<CertificateDer<'static>>,
    /// Time limit of a request.
    pub time_limit: Duration,
}

impl Default for IdentitySettings {
    fn default() -> Self {
        Self { trusted: vec![], names: HostNames::default(), authorities: vec![], time_limit: TIME_LIMIT }
    }
}

/// A client of identity providers over HTTP.
#[derive(Debug, Clone)]
pub struct IdentityClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dialer: Dialer,
    text_records: TextRecords,
    time_limit: Duration,
}

impl IdentityClient {
    /// Creates a client. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// Returns the part of the system configuration or the settings that cannot be used.
    pub fn new(settings: IdentitySettings) -> Result<Self, SetupError> {
        let policy = Policy::new_trusting(settings.trusted);
        for trusted in policy.trusted_networks() {
            tracing::info!(
                network = %trusted,
                "identity providers may be called in this network, even if private, and over plain HTTP"
            );
        }
        let dialer = Dialer::new(policy, settings.names, &settings.authorities)?;
        let text_records = TextRecords::new(settings.names)?;
        Ok(Self { inner: Arc::new(Inner { dialer, text_records, time_limit: settings.time_limit }) })
    }
}

#[async_trait]
impl IdentityTransport for IdentityClient {
    fn has_trusted_network(&self, organization: OrganizationId) -> bool {
        self.inner.dialer.has_trusted(organization)
    }

    async fn fetch_document(
        &self,
        organization: OrganizationId,
        address: &str,
    ) -> Result<ProviderDocument, FetchError> {
        let request = Request { method: Method::GET, address, headers: headers(), body: Bytes::new() };
        let (status, document) = self.send(organization, request).await?;
        if status == StatusCode::OK { Ok(document) } else { Err(FetchError::Status(status.as_u16())) }
    }

    async fn exchange_code(&self, exchange: CodeExchange) -> Result<ProviderDocument, FetchError> {
        let mut headers = headers();
        let body = form::write(&exchange, &mut headers);
        let request = Request { method: Method::POST, address: &exchange.token_endpoint, headers, body };
        let (status, document) = self.send(exchange.organization, request).await?;
        if status == StatusCode::OK { Ok(document) } else { Err(form::refusal(status, &document.body)) }
    }

    async fn read_text_records(&self, domain: &str) -> Result<Vec<String>, FetchError> {
        match timeout(self.inner.time_limit, self.inner.text_records.read(domain)).await {
            Ok(Ok(records)) => Ok(records),
            Ok(Err(_)) | Err(_) => Err(FetchError::NoNameServer),
        }
    }
}

/// A request to a provider.
struct Request<'r> {
    method: Method,
    address: &'r str,
    headers: HeaderMap,
    body: Bytes,
}

impl IdentityClient {
    /// Sends a request and reads the response, within the time limit.
    async fn send(
        &self,
        organization: OrganizationId,
        request: Request<'_>,
    ) -> Result<(StatusCode, ProviderDocument), FetchError> {
        let deadline = Instant::now() + self.inner.time_limit;
        let result = timeout_at(deadline, self.attempt(organization, &request, deadline)).await;
        result.unwrap_or(Err(FetchError::Timeout))
    }

    async fn attempt(
        &self,
        organization: OrganizationId,
        request: &Request<'_>,
        deadline: Instant,
    ) -> Result<(StatusCode, ProviderDocument), FetchError> {
        let target = ReceiverUrl::parse(request.address).map_err(|_| FetchError::NotHttps)?;
        let url = target.url();
        let addresses = self.inner.dialer.resolve(organization, url).await.map_err(failure)?;
        let (_, mut connection) = self.inner.dialer.open(url, &addresses, deadline).await.map_err(failure)?;
        let (method, headers, body) = (&request.method, &request.headers, &request.body);
        let outbound = OutboundRequest { method, url, headers, body };
        let response = connection.exchange(outbound, RESPONSE_BYTES).await;
        let response = response.map_err(|error| failure(error.reason().into()))?;
        let (head, body) = response.into_parts();
        if head.status.is_redirection() {
            return Err(FetchError::Redirect);
        }
        let max_age = body::lifetime(&head.headers);
        let body = body::read(&head.headers, body).await?;
        Ok((head.status, ProviderDocument { body, max_age }))
    }
}

fn headers() -> HeaderMap {
    let json = (ACCEPT, HeaderValue::from_static("application/json"));
    HeaderMap::from_iter([json, (USER_AGENT, HeaderValue::from_static("Candor"))])
}

fn failure(attempt: AttemptFailure) -> FetchError {
    FetchError::from_attempt(attempt.reason, attempt.detail.as_deref())
}
