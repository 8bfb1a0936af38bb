//! Receivers of webhooks as tests imagine them: nothing is looked up, and nothing is sent.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::webhook::{Target, Verdict};
use candor_port_events::{Attempt, Outcome, Request, WebhookTransport};

/// Judges by the name of the host, and acknowledges everything.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    judged: Mutex<Vec<String>>,
}

impl Receivers {
    /// The URLs that were judged since this was last asked.
    pub(crate) fn judged(&self) -> Vec<String> {
        std::mem::take(&mut *self.judged.lock().unwrap())
    }
}

#[async_trait]
impl WebhookTransport for Receivers {
    async fn judge(&self, target: &Target) -> Verdict {
        self.judged.lock().unwrap().push(target.as_str().to_owned());
        match target.url().host_str() {
            _ if target.url().scheme() != "https" => Verdict::NotHttps,
            Some("private.example") => Verdict::Private,
            Some("unknown.example") => Verdict::Unresolvable,
            _ => Verdict::Allowed,
        }
    }

    async fn send(&self, _: Request) -> Attempt {
        Attempt { response_status: 200, duration: Duration::ZERO, outcome: Outcome::Acknowledged }
    }
}
