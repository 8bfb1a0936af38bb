//! The conformance suite that every store passes, and fixtures for whoever tests on top of a store.
//!
//! A store runs the suite from one file, `tests/conformance.rs`, as a test with a harness of its own, so that every
//! case is a test by its name for `cargo test` and `cargo nextest` alike:
//!
//! ```toml
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//! ```ignore
//! use std::process::ExitCode;
//! use candor_store_testkit::{Fresh, run};
//!
//! fn main() -> ExitCode {
//!     run(fresh)
//! }
//!
//! /// An empty, migrated store with these limits that nobody else uses; `None`, after saying why, where there cannot be one.
//! async fn fresh(limits: SlowReads) -> Option<Fresh> {
//!     let folder = tempfile::tempdir().expect("a folder");
//!     let path = folder.path().join("candor.db");
//!     Some(Fresh {
//!         store: Arc::new(open_store(&path, limits).expect("a store")),
//!         // Runs one statement on the same database, not through the store: it spoils rows.
//!         sql: Arc::new(move |statement| Box::pin(execute(path.clone(), statement))),
//!         // Dropped last, after the store and the runtime it ran on.
//!         keep: Box::new(folder),
//!     })
//! }
//! ```
//!
//! Each case gets a store of its own on a runtime of its own with several threads. What the cases take for granted
//! beyond the port's words: an answered idempotency key is told (`Replayed`) whatever else is in the way of the change,
//! the id of a new row that exists is `Taken(Id)`, a change of a row that does not exist is `Stale`, and the lines of
//! one change set all name the version that the reporting tree had before it, and are written from the top down.
//! What is claimed as the oldest comes in the order in which it became due; a record is saved whole or not at all, with
//! every delta in it, also two of one subscription.
//!
//! [`Fixtures`] makes resources, ids and times for any test; [`Faulty`] makes a store fail when it is told to.

#[expect(clippy::unwrap_used, clippy::panic, reason = "a case ends where its rule does not hold")]
mod cases;
mod faulty;
pub mod fixtures;
mod random;
mod run;
mod walk;
#[expect(clippy::expect_used, reason = "a case ends where its rule does not hold")]
mod worker;
#[expect(clippy::expect_used, clippy::panic, reason = "a case ends where its rule does not hold")]
mod world;

pub use faulty::{Fault, Faulty, FaultyCall};
pub use fixtures::Fixtures;
pub use random::Random;
pub use run::{Case, Fresh, Sql, run, suite};
pub use walk::{place, sorted, walk};
pub use world::eventually;
