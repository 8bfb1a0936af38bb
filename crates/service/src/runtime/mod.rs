//! The work that this process does without a request: deliveries, mails, what falls due, what expires, the search index.

pub mod delivery;
pub mod mail;
pub mod objective_autostart;
pub mod reminders;
pub mod search_index;
pub mod sweep;
pub mod tenant_sizes;
