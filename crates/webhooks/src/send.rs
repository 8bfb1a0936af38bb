//! One attempt from its URL to its outcome, within its deadline.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_outbound::policy::{Policy, TrustedNetwork};
use candor_outbound::{
    AttemptFailure, Connection, Dialer, HostNames, NoResponse, OutboundRequest, SetupError, Wire,
};
use candor_port_events::{Attempt, WebhookRequest, WebhookTransport};
use candor_subscriptions::{AttemptOutcome, RequestedPause, redirect_target};
use http::header::{HeaderName, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method};
use hyper::Response;
use hyper::body::{Body, Incoming};
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::drains::Drains;
use crate::pool::{Key, Pool};
use crate::response::drain;

/// Longest check of a subscription's URL. A name server that takes longer counts as not knowing the host.
const JUDGE_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of bytes of one response: informational responses before it, its head, and the part of the body that
/// is read.
const RESPONSE_BYTES: u64 = 64 * 1024;
/// Longest wait for a connection to be ready for another request after a response.
const READY_WITHIN: Duration = Duration::from_secs(1);

/// Settings of a [`Sender`].
#[derive(Debug, Clone, Default)]
pub struct SenderSettings {
    /// Networks that may be private and called over plain HTTP (`webhooks.trusted_targets`).
    pub trusted: Vec<TrustedNetwork>,
    /// The name server for host names.
    pub names: HostNames,
    /// Certificate authorities in addition to those of the system.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// A transport that sends webhooks over HTTP.
#[derive(Debug, Clone)]
pub struct Sender {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dialer: Dialer,
    pool: Pool,
    drains: Drains,
}

impl Sender {
    /// Creates a sender. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// Returns the part of the system configuration or the settings that cannot be used.
    pub fn new(settings: SenderSettings) -> Result<Self, SetupError> {
        let policy = Policy::new_trusting(settings.trusted);
        for trusted in policy.trusted_networks() {
            if trusted.network.network().is_loopback() {
                tracing::debug!(network = %trusted, "webhooks may be sent to this loopback network");
            } else if trusted.organization.is_some() {
                tracing::info!(network = %trusted, "webhooks of one organization may be sent to this network, even if private, and over plain HTTP");
            } else {
                tracing::warn!(
                    network = %trusted,
                    "webhooks of every organization may be sent to this network, even if private, and over plain \
                     HTTP; to trust the network for one organization only, write org_…=NETWORK in \
                     CANDOR_WEBHOOKS_TRUSTED_TARGETS"
                );
            }
        }
        let dialer = Dialer::new(policy, settings.names, &settings.authorities)?;
        Ok(Self { inner: Arc::new(Inner { dialer, pool: Pool::default(), drains: Drains::default() }) })
    }

    /// Returns the number of connections in the pool. Connections in use count only if they are shared.
    #[must_use]
    pub fn kept_connections(&self) -> usize {
        self.inner.pool.len()
    }

    /// Closes connections that were idle for too long; to be called periodically.
    pub fn sweep(&self) {
        self.inner.pool.sweep();
    }
}

#[async_trait]
impl WebhookTransport for Sender {
    async fn judge(&self, organization: OrganizationId, target: &ReceiverUrl) -> Verdict {
        match timeout(JUDGE_WITHIN, self.inner.dialer.judge(organization, target.url())).await {
            Ok(Ok(_)) => Verdict::Allowed,
            Ok(Err(verdict)) => verdict,
            Err(_) => Verdict::Unresolvable,
        }
    }

    async fn send(&self, request: WebhookRequest) -> Attempt {
        let start = Instant::now();
        let deadline = start + request.deadline;
        let result = timeout_at(deadline, self.attempt(&request, deadline)).await;
        let duration = start.elapsed();
        match result.unwrap_or_else(|_| Err(FailureReason::Timeout.into())) {
            Ok(answered) => {
                let response_status = answered.response.status().as_u16();
                let values = answered.response.headers().get_all(RETRY_AFTER).iter();
                let retry_after = RequestedPause::from_headers(values.map(HeaderValue::as_bytes));
                let outcome = AttemptOutcome::from_status(response_status);
                let failure_detail = match outcome {
                    AttemptOutcome::Failed(FailureReason::Redirect) => target_of(&request, &answered),
                    AttemptOutcome::Failed(_) | AttemptOutcome::Acknowledged => None,
                };
                self.keep(request.organization, answered);
                Attempt { response_status, duration, outcome, retry_after, failure_detail }
            }
            Err(AttemptFailure { reason, detail: failure_detail }) => {
                let outcome = AttemptOutcome::Failed(reason);
                Attempt { response_status: 0, duration, outcome, retry_after: None, failure_detail }
            }
        }
    }
}

/// Returns the target of a redirect, or `None` if the response names no valid one.
fn target_of(request: &WebhookRequest, answered: &ResponseHead) -> Option<String> {
    let from = ReceiverUrl::parse(&request.url).ok()?;
    redirect_target(&from, answered.response.headers().get(LOCATION)?.as_bytes())
}

/// The head of a response, and its connection.
struct ResponseHead {
    response: Response<Incoming>,
    key: Key,
    connection: Connection,
}

impl Sender {
    async fn attempt(&self, request: &WebhookRequest, deadline: Instant) -> Result<ResponseHead, AttemptFailure> {
        let target = ReceiverUrl::parse(&request.url).map_err(|_| FailureReason::Malformed)?;
        let url = target.url();
        let addresses = self.inner.dialer.resolve(request.organization, url).await?;
        let headers = headers(request)?;
        if let Some((address, connection)) = self.inner.pool.take(url, &addresses) {
            match self.exchange(url, &headers, &request.body, address, connection).await {
                // The receiver closed the idle connection before the request was sent, so a new connection is opened.
                Err(NoResponse::Unsent) => {}
                Err(NoResponse::Failed(reason)) => return Err(reason.into()),
                Ok(answered) => return Ok(answered),
            }
        }
        let (address, connection) = self.inner.dialer.open(url, &addresses, deadline).await?;
        self.exchange(url, &headers, &request.body, address, connection)
            .await
            .map_err(|error| error.reason().into())
    }

    /// Sends a request over a connection and waits for the head of the response.
    async fn exchange(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
        address: SocketAddr,
        mut connection: Connection,
    ) -> Result<ResponseHead, NoResponse> {
        let key = Key::new(url, address);
        let mut guard = SharedGuard { pool: &self.inner.pool, key: &key, shared: connection.is_shared() };
        let request = OutboundRequest { method: &Method::POST, url, headers, body };
        let response = connection.exchange(request, RESPONSE_BYTES).await?;
        guard.shared = false;
        drop(guard);
        Ok(ResponseHead { response, key, connection })
    }

    /// Puts the connection of a response back into the pool if the rest of the response is short. If too many
    /// connections wait for the rest of a response, closes this connection unless it is shared.
    fn keep(&self, owner: OrganizationId, ResponseHead { response, key, mut connection }: ResponseHead) {
        let body = response.into_body();
        let idle = match &connection.wire {
            Wire::One(sender) => body.is_end_stream() && sender.is_ready(),
            Wire::Many(..) => body.is_end_stream(),
        };
        if idle {
            return self.inner.pool.put(key, connection);
        }
        let Some(permit) = self.inner.drains.permit(owner) else {
            if matches!(connection.wire, Wire::Many(..)) {
                self.inner.pool.put(key, connection);
            }
            return;
        };
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            let _permit = permit;
            let drain_result = drain(body).await;
            let ready = match &mut connection.wire {
                Wire::One(sender) => {
                    drain_result && matches!(timeout(READY_WITHIN, sender.ready()).await, Ok(Ok(())))
                }
                // An unread body is one stream of many; dropping the body has reset the stream.
                Wire::Many(..) => true,
            };
            if ready {
                inner.pool.put(key, connection);
            }
        });
    }
}

/// A guard that drops a shared connection from the pool if a request on it gets no response, for example until the
/// deadline. The next attempt must not wait for the same silent connection.
struct SharedGuard<'a> {
    pool: &'a Pool,
    key: &'a Key,
    shared: bool,
}

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        if self.shared {
            self.pool.forget_shared(self.key);
        }
    }
}

fn headers(request: &WebhookRequest) -> Result<HeaderMap, FailureReason> {
    let mut headers = HeaderMap::with_capacity(request.headers.len() + request.custom_headers.len() + 1);
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| FailureReason::Malformed)?;
        let value = HeaderValue::from_str(value).map_err(|_| FailureReason::Malformed)?;
        headers.append(name, value);
    }
    for (name, value) in &request.custom_headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| FailureReason::Malformed)?;
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| FailureReason::Malformed)?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
