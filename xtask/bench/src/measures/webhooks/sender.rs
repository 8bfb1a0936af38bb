//! The service's own sender without a queue, with the same headers, signatures and bodies.

use crate::measures::*;
use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId};
use candor_domain::secret::Secret;
use candor_domain::signature;
use candor_domain::time::Timestamp;
use candor_port_events::{WebhookRequest, WebhookTransport};
use candor_subscriptions::{AttemptOutcome, headers};
use candor_webhooks::{Sender, SenderSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Timeout of a delivery.
const DEADLINE: Duration = Duration::from_secs(15);
/// Time of every delivery, 2026-01-01. The receivers of the bench ignore it.
const AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A sender on a runtime like the service's.
pub(super) struct SenderAlone {
    runtime: Runtime,
    post: Post,
}

/// Sends requests to one receiver.
#[derive(Debug, Clone)]
pub(super) struct Post {
    sender: Sender,
    url: String,
    secrets: [Secret; 1],
    data: String,
}

impl SenderAlone {
    pub(super) fn new(url: String, data: String) -> Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let post = runtime.block_on(async { Post::new(url, data) })?;
        Ok(Self { runtime, post })
    }

    /// Sends `count` posts, at most `concurrency` at once.
    pub(super) fn rate(&self, count: u32, concurrency: usize) -> Result<Sample> {
        let remaining_count = Arc::new(AtomicU32::new(count));
        let start = Instant::now();
        self.runtime.block_on(async {
            let mut senders = JoinSet::new();
            for _ in 0..concurrency {
                senders.spawn(send_posts(self.post.clone(), Arc::clone(&remaining_count)));
            }
            while let Some(sender_result) = senders.join_next().await {
                sender_result??;
            }
            Result::Ok(())
        })?;
        Ok(Sample::from_rate(f64::from(count) / start.elapsed().as_secs_f64()))
    }
}

/// Sends posts until none is left.
async fn send_posts(post: Post, left: Arc<AtomicU32>) -> std::result::Result<(), String> {
    let (event, body) = post.event(post.data.clone());
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        post.send(&event, body.clone()).await?;
    }
    Ok(())
}

impl Post {
    /// Creates a sender. Call it within a runtime.
    pub(super) fn new(url: String, data: String) -> Result<Self> {
        let trusted_networks = vec!["127.0.0.0/8".parse()?];
        let sender = Sender::new(SenderSettings { trusted: trusted_networks, ..SenderSettings::default() })?;
        Ok(Self { sender, url, secrets: [signature::generate([7; 32])], data })
    }

    /// Posts the event of the resource with this id.
    pub(super) async fn post_event_of(&self, id: &str) -> std::result::Result<(), String> {
        // Replaces the id at the start of the data. All ids of one kind have the same length.
        let start = r#"{"id":""#.len();
        let rest = self.data.get(start + id.len()..).unwrap_or_default();
        let (event, body) = self.event(format!(r#"{{"id":"{id}{rest}"#));
        self.send(&event, body).await
    }

    fn event(&self, data: String) -> (Event, Bytes) {
        let event = Event {
            id: EventId::from_bytes([1; 16]),
            kind: EventType::ObservationCreated,
            created_at: AT,
            data,
            request_id: None,
        };
        let body = Bytes::from(event.body(Tenant::from_bytes([1; 16])));
        (event, body)
    }

    async fn send(&self, event: &Event, body: Bytes) -> std::result::Result<(), String> {
        let headers = headers(event, DeliveryId::from_bytes([1; 16]), &self.secrets, AT, &body, false);
        let (url, custom_headers) = (self.url.clone(), vec![]);
        let request = WebhookRequest {
            organization: Tenant::from_bytes([1; 16]).organization,
            url,
            headers,
            custom_headers,
            body,
            deadline: DEADLINE,
        };
        let attempt = self.sender.send(request).await;
        match attempt.outcome {
            AttemptOutcome::Acknowledged => Ok(()),
            AttemptOutcome::Failed(reason) => Err(format!("the sender alone failed: {reason:?}")),
        }
    }
}
