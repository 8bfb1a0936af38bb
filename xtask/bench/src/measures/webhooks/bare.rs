//! The service's own sender without a queue: the same headers, signatures and bodies.

use crate::Outcome;
use crate::burst::Sample;
use crate::receiver::Receiver;
use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId};
use candor_domain::secret::Secret;
use candor_domain::signature;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{AttemptOutcome as Ended, headers};
use candor_port_events::{WebhookRequest, WebhookTransport};
use candor_webhooks::{Sender, SenderSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// What every delivery may take.
const DEADLINE: Duration = Duration::from_secs(15);
/// 2026-01-01: whoever receives here does not look at the time.
const AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A sender on a runtime like the service's.
pub(super) struct Bare {
    runtime: Runtime,
    post: Post,
}

/// What is sent where.
#[derive(Debug, Clone)]
pub(super) struct Post {
    sender: Sender,
    url: String,
    secrets: [Secret; 1],
    data: String,
}

impl Bare {
    pub(super) fn new(receiver: &Receiver, data: String) -> Outcome<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let post = runtime.block_on(async { Post::new(receiver, data) })?;
        Ok(Self { runtime, post })
    }

    /// So many posts, so many of them at once.
    pub(super) fn rate(&self, count: u32, at_once: usize) -> Outcome<Sample> {
        let left = Arc::new(AtomicU32::new(count));
        let begun = Instant::now();
        self.runtime.block_on(async {
            let mut senders = JoinSet::new();
            for _ in 0..at_once {
                senders.spawn(many(self.post.clone(), Arc::clone(&left)));
            }
            while let Some(sent) = senders.join_next().await {
                sent??;
            }
            Outcome::Ok(())
        })?;
        Ok(Sample::of_rate(f64::from(count) / begun.elapsed().as_secs_f64()))
    }
}

/// Posts as long as there is one left.
async fn many(post: Post, left: Arc<AtomicU32>) -> Result<(), String> {
    let (event, body) = post.event(post.data.clone());
    let less = |it: u32| it.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
        post.send(&event, body.clone()).await?;
    }
    Ok(())
}

impl Post {
    /// Must be called within a runtime.
    pub(super) fn new(receiver: &Receiver, data: String) -> Outcome<Self> {
        let trusted = vec!["127.0.0.0/8".parse()?];
        let sender = Sender::new(SenderSettings { trusted, ..SenderSettings::default() })?;
        Ok(Self { sender, url: receiver.url(), secrets: [signature::generate([7; 32])], data })
    }

    /// Posts what has happened to the resource with this id.
    pub(super) async fn about(&self, id: &str) -> Result<(), String> {
        // All ids of one kind are equally long.
        let begin = r#"{"id":""#.len();
        let rest = self.data.get(begin + id.len()..).unwrap_or_default();
        let (event, body) = self.event(format!(r#"{{"id":"{id}{rest}"#));
        self.send(&event, body).await
    }

    fn event(&self, data: String) -> (Event, Bytes) {
        let event =
            Event { id: EventId::from_bytes([1; 16]), kind: EventType::ObservationCreated, created_at: AT, data };
        let body = Bytes::from(event.body(Tenant::from_bytes([1; 16])));
        (event, body)
    }

    async fn send(&self, event: &Event, body: Bytes) -> Result<(), String> {
        let headers = headers(event, DeliveryId::from_bytes([1; 16]), &self.secrets, AT, &body, false);
        let attempt =
            self.sender.send(WebhookRequest { url: self.url.clone(), headers, body, deadline: DEADLINE }).await;
        match attempt.outcome {
            Ended::Acknowledged => Ok(()),
            Ended::Failed(reason) => Err(format!("the sender alone failed: {reason:?}")),
        }
    }
}
