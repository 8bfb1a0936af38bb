//! Ports for messages to the outside: one attempt to deliver a webhook or to send a mail.
//!
//! Implementations of [`WebhookTransport`] and [`MailTransport`] own the sockets and the lookup of addresses.
//! Their callers own queue, content, signature and schedule. A failed attempt is a normal result: an
//! [`AttemptOutcome`] of a webhook, a [`MailFailure`] of a mail.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;

pub use candor_domain::attempt_failure::{FailureReason, TlsFailure};
pub use candor_domain::people::invitation::MailFailure;
pub use candor_subscriptions::{AttemptOutcome, RequestedPause};

/// One POST request to a receiver.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// Organization of the subscription. The operator may trust a network for some organizations only.
    pub organization: OrganizationId,
    /// URL of the subscription.
    pub url: String,
    /// All headers except those of the connection (`Host`, `Content-Length`).
    pub headers: Vec<(&'static str, String)>,
    /// Headers of the subscription, by name. Their values are secrets.
    pub custom_headers: Vec<(String, Secret)>,
    /// The body, which the signature headers cover.
    pub body: Bytes,
    /// Longest duration of the attempt, from the lookup of the address to the head of the response (§6.3).
    pub deadline: Duration,
}

/// The result of one POST request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// HTTP status of the response; 0 without a response (§2.5).
    pub response_status: u16,
    /// Time until the response or the failure.
    pub duration: Duration,
    /// Success, or the reason of the failure.
    pub outcome: AttemptOutcome,
    /// The `Retry-After` of the response, if it is valid.
    pub retry_after: Option<RequestedPause>,
    /// More about a failure, for the log: a word of [`TlsFailure`], or the target of a redirect.
    pub failure_detail: Option<String>,
}

/// A transport for webhooks.
#[async_trait]
pub trait WebhookTransport: Send + Sync {
    /// Checks whether a webhook URL may be called for an organization (decision F1). The service calls this for each
    /// request that sets the URL; every attempt checks again.
    async fn judge(&self, organization: OrganizationId, target: &ReceiverUrl) -> Verdict;

    /// Makes one attempt, which ends by its deadline.
    async fn send(&self, request: WebhookRequest) -> Attempt;
}

/// One mail to one address. The mail contains secrets, so the type has no `Debug`.
#[derive(Clone)]
pub struct Mail {
    /// Id of the mail, equal for every attempt, so that a mail server can detect duplicates.
    pub id: String,
    /// Address of the recipient.
    pub to: String,
    /// Subject in one line.
    pub subject: String,
    /// Content as plain text, for clients without HTML.
    pub text: String,
    /// Content as an HTML document.
    pub html: String,
    /// Time when the mail was created.
    pub date: Timestamp,
    /// Longest total duration of the attempt.
    pub deadline: Duration,
}

/// A transport for mails.
#[async_trait]
pub trait MailTransport: Send + Sync {
    /// Sends a mail to the mail server, within the deadline of the mail.
    ///
    /// # Errors
    /// Returns the reason why the mail server did not accept the mail.
    async fn send(&self, mail: Mail) -> Result<(), MailFailure>;

    /// Closes idle connections, because no mail is to be sent for a while.
    async fn rest(&self);
}
