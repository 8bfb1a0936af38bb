//! Webhook deliveries of the built binary, on both stores.

mod control;
mod fixtures;
mod kills;
mod ledger;
mod load;
mod signatures;
mod stop;
mod workers;
