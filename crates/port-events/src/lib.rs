//! What the outside world is told through: one attempt to deliver a webhook, or to send a mail, as ports.
//!
//! Whoever implements [`WebhookTransport`] or [`MailTransport`] owns sockets, names and addresses; whoever calls it owns
//! queue, words, signature and schedule. An attempt never fails as a call: whatever goes wrong is how the attempt ended.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{ReceiverUrl, Verdict};

pub use candor_domain::people::invitation::MailFailure;
pub use candor_domain::webhook::{AttemptOutcome, FailureReason};

/// One POST to a receiver.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// Where it goes, as the subscription has it.
    pub url: String,
    /// Every header but those of the connection (`Host`, `Content-Length`).
    pub headers: Vec<(&'static str, String)>,
    /// The body, which the headers sign.
    pub body: Bytes,
    /// How long everything together may take: looking up, connecting, sending, and the answer's head (§6.3).
    pub deadline: Duration,
}

/// How one POST went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// What was answered; 0 if nothing was (§2.5).
    pub response_status: u16,
    /// Until the answer, or until it was given up.
    pub duration: Duration,
    /// How it ended.
    pub outcome: AttemptOutcome,
}

/// Sends webhooks.
#[async_trait]
pub trait WebhookTransport: Send + Sync {
    /// Whether a target may be called, for the request that names it (decision F1). Every attempt judges again.
    async fn judge(&self, target: &ReceiverUrl) -> Verdict;

    /// Makes one attempt. It ends by its deadline, whatever the receiver does.
    async fn send(&self, request: WebhookRequest) -> Attempt;
}

/// One mail to one address. It holds secrets, and so it is never printed.
#[derive(Clone)]
pub struct Mail {
    /// What tells it from every other mail: the same for each attempt to send it, so that a mail server can know it again.
    pub id: String,
    /// The address.
    pub to: String,
    /// What it is about, in one line.
    pub subject: String,
    /// What it says, as plain text …
    pub text: String,
    /// … and as HTML.
    pub html: String,
    /// When it was written.
    pub date: Timestamp,
    /// How long everything together may take.
    pub deadline: Duration,
}

/// Sends mails.
#[async_trait]
pub trait MailTransport: Send + Sync {
    /// Hands a mail to a mail server, which takes it or says why not. It ends by its deadline, whatever the server does.
    ///
    /// # Errors
    /// Why it was not taken.
    async fn send(&self, mail: Mail) -> Result<(), MailFailure>;

    /// Nothing is to be sent for a while: connections are closed.
    async fn rest(&self);
}
