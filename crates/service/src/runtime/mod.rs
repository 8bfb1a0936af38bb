//! Background work of this process: deliveries, mails, scheduled changes, removal of expired rows, the search
//! index.

pub mod clock_jumps;
pub mod delivery;
mod due;
pub mod erasure;
pub mod mail;
pub mod objective_autostart;
pub mod operational_events;
pub mod provider_removal;
pub mod reminders;
mod removal;
pub mod retention;
pub mod search_index;
pub mod sweep;
pub mod tenant_sizes;
