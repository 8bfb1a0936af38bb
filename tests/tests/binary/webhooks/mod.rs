//! Webhook deliveries of the built binary, on both stores.

mod control;
mod kills;
mod ledger;
mod load;
mod signatures;
mod stage;
mod stop;
mod workers;
