//! Disabling of subscriptions whose receivers fail or are gone (§3.4, decision F3).

use candor_domain::audit::Target as AuditTarget;
use candor_domain::decision::{Decision, Resource};
use candor_domain::event::EventType;
use candor_domain::notification::{Notice, Recipients, Type};
use candor_domain::receiver_url::ReceiverUrl;
use candor_domain::time::Timestamp;

use super::Subscription;

/// The reason to disable a subscription (decision F3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisableReason {
    /// Too many attempts have failed over too long a time.
    Failing,
    /// The receiver at this URL responded with 410.
    Gone {
        /// URL of the request.
        url: String,
    },
}

impl Subscription {
    /// Disables the subscription for this reason, with a notice to the org admins and an event (§3.4, decision
    /// F3). Returns `None` if the subscription is inactive or the reason does not apply to its present state.
    #[must_use]
    pub fn disable(&self, why: &DisableReason, at: Timestamp) -> Option<Decision<Self>> {
        let applies = match why {
            DisableReason::Failing => self.streak.disables(at),
            // A 410 from an earlier URL must not disable deliveries to the present one.
            DisableReason::Gone { url } => self.url == *url,
        };
        (self.active && applies).then(|| {
            let state = Self { active: false, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
            let notice = self.disabled_notice(why);
            let decision = Decision::for_change(self, state, "webhook.disable", vec![EventType::WebhookDisabled]);
            Decision { notices: vec![notice], ..decision }
        })
    }

    /// Returns the subscription as its events show it: the URL has only scheme, host and port, and headers have no
    /// values. Other receivers get these events, and the rest of the URL may be a secret.
    #[must_use]
    pub fn for_events(&self) -> Self {
        let origin = ReceiverUrl::parse(&self.url).map(|url| url.url().origin().ascii_serialization());
        Self { url: origin.unwrap_or_default(), headers: self.headers.without_values(), ..self.clone() }
    }

    fn disabled_notice(&self, why: &DisableReason) -> Notice {
        // Names only the host, which identifies the receiver: the rest of the URL may be a secret.
        let host = ReceiverUrl::parse(&self.url).ok().and_then(|url| url.url().host_str().map(str::to_owned));
        let cause = match why {
            DisableReason::Failing => {
                format!("The last {} attempts failed, over more than 24 hours.", self.streak.failures)
            }
            DisableReason::Gone { .. } => "The receiver responded with 410 Gone.".to_owned(),
        };
        Notice {
            kind: Type::WebhookDisabled,
            to: Recipients::OrgAdmins,
            title: format!("Webhook to {} was disabled", host.as_deref().unwrap_or("a receiver")),
            body: format!("{cause} Delivery is paused until the subscription is made active again."),
            target: AuditTarget { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, subscription};
    use super::*;

    #[test]
    fn gone_receiver_disables_the_subscription_at_once() {
        let subscription_before =
            Subscription { url: "https://example.com/T0/secret?a=b".to_owned(), ..subscription() };
        let gone_reason = DisableReason::Gone { url: subscription_before.url.clone() };
        let Decision { state, events, audit, notices } = subscription_before.disable(&gone_reason, NOON).unwrap();
        assert_eq!(
            (state.active, state.streak, state.updated_at > NOON),
            (false, subscription_before.streak, true)
        );
        assert_eq!(
            (events.as_slice(), audit.action),
            ([EventType::WebhookDisabled].as_slice(), "webhook.disable")
        );
        assert!(!state.wants(EventType::WebhookDisabled), "it is not told about itself");
        let [notice] = notices.as_slice() else { panic!("{notices:?}") };
        let text = format!("{} {}", notice.title, notice.body);
        assert!(text.contains("example.com") && text.contains("410") && !text.contains("secret"), "{text}");
        assert_eq!(state.disable(&gone_reason, NOON), None, "only once");
        let subscription_elsewhere =
            Subscription { url: "https://example.com/new".to_owned(), ..subscription_before };
        assert_eq!(subscription_elsewhere.disable(&gone_reason, NOON), None, "the URL has changed since");
        let json = serde_json::to_string(&state.for_events()).unwrap();
        assert!(json.contains(r#""url":"https://example.com","#), "{json}");
    }
}
