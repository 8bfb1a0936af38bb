//! Requests to a provider that these tests run: documents, tokens, exchanges and TXT records.

#![cfg(test)]

mod documents;
mod exchange;
mod records;
mod refusals;
mod server;
mod tls;
