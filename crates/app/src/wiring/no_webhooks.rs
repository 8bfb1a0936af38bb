//! Webhook transport of commands, which send no webhooks.

use std::time::Duration;

use async_trait::async_trait;
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_port_events::{Attempt, AttemptOutcome, FailureReason, WebhookRequest, WebhookTransport};

/// A transport that reaches no receiver. It needs neither name servers nor certificates.
pub(super) struct NoWebhooks;

#[async_trait]
impl WebhookTransport for NoWebhooks {
    async fn judge(&self, _: OrganizationId, _: &ReceiverUrl) -> Verdict {
        Verdict::Unresolvable
    }

    async fn send(&self, _: WebhookRequest) -> Attempt {
        let outcome = AttemptOutcome::Failed(FailureReason::Unresolvable);
        Attempt { response_status: 0, duration: Duration::ZERO, outcome, retry_after: None, failure_detail: None }
    }
}
