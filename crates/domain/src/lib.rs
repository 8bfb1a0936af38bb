//! The rules of Candor: resources, lifecycles, events and access, without any I/O.
//!
//! Everything here is a value or a function of values. Time, identity and stored data come in as arguments; what is to
//! happen goes out as a [`Decision`](decision::Decision). Nothing in this crate reads a clock, a file, the environment
//! or a random source, so every rule can be tested, and embedded, without a database.

pub mod access;
pub mod assignment;
pub mod audit;
pub mod conversation;
pub mod csv;
pub mod decision;
pub mod event;
pub mod fields;
pub mod id;
pub mod idempotency;
pub mod json;
pub mod library;
pub mod notification;
pub mod objective;
pub mod observation;
pub mod organization;
pub mod page;
pub mod params;
pub mod people;
pub mod problem;
pub mod refusal;
pub mod rule;
pub mod search;
pub mod secret;
pub mod signature;
pub mod summary;
pub mod text;
pub mod time;
pub mod visibility;
pub mod webhook;
pub mod window;
