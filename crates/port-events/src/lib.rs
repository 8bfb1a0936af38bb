//! What the outside world is told through: one attempt to deliver a webhook, as a port.
