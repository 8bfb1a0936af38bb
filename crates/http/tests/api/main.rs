//! The API as a client sees it.
#![cfg(test)]

mod assignments;
mod authorization;
mod bound;
mod conditional;
mod connections;
mod conversations;
mod cors;
mod csv;
mod described;
mod document;
mod encoding;
mod framing;
mod headers;
mod hostile;
mod idempotency;
mod invitation_page;
mod isolation;
mod limits;
mod methods;
mod objectives;
mod observations;
mod outages;
mod pages;
mod people;
mod receivers;
mod records;
mod resources;
mod slow;
mod snapshots;
mod stores;
mod summaries;
mod support;
mod test_data;
mod webhooks;
mod wire;
