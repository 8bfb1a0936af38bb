//! Tokens of identity providers: the tests have a provider that signs good and hostile tokens. Each hostile token
//! is refused with its cause.

#![cfg(test)]

mod bearer;
mod discovery;
mod keys;
mod login;
mod mint;
mod proof;
mod samples;
mod structure;
