//! Webhook subscriptions, their log, and what is asked to be sent once more (§4.4, decisions F).

pub(crate) mod secrets;
