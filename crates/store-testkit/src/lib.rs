//! The conformance suite that every store must pass, and fixtures for tests on top of a store.
//!
//! A store runs the suite from the file `tests/conformance.rs`, a test target without the default harness. Every
//! case is then a named test for `cargo test` and `cargo nextest`:
//!
//! ```toml
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//! ```ignore
//! use std::process::ExitCode;
//! use candor_store_testkit::{EmptyStore, run};
//!
//! fn main() -> ExitCode {
//!     run(fresh)
//! }
//!
//! /// Creates an empty, migrated store with these limits, or prints the reason and returns `None`.
//! async fn fresh(limits: SlowReads) -> Option<EmptyStore> {
//!     let folder = tempfile::tempdir().expect("a folder");
//!     let path = folder.path().join("candor.db");
//!     Some(EmptyStore {
//!         store: Arc::new(open_store(&path, limits).expect("a store")),
//!         // Runs one statement on the same database, bypassing the store, to corrupt rows.
//!         sql: Arc::new(move |statement| Box::pin(execute(path.clone(), statement))),
//!         // Dropped last, after the store and its runtime.
//!         keep: Box::new(folder),
//!     })
//! }
//! ```
//!
//! Each case gets its own store and a runtime with several threads. Beyond the documentation of the port, the
//! cases require:
//!
//! - A used idempotency key returns `Replayed`, even if the change set has other problems.
//! - A new row with an existing id returns `Taken(Id)`, and the update of a missing row returns `Stale`.
//! - The reporting lines of a change set are in order from the top down. All of them name the version of the
//!   reporting tree before the change set.
//! - A claim of the oldest deliveries returns them in the order in which they became due.
//! - A record is saved as a whole or not at all, with every health delta, even two of one subscription.
//!
//! [`Fixtures`] creates resources, ids and times for any test; [`Faulty`] makes a store fail on request.

mod case;
#[expect(clippy::unwrap_used, clippy::panic, reason = "a case ends where its rule does not hold")]
mod cases;
mod empty_store;
mod faulty;
pub mod fixtures;
mod image;
mod random;
mod run;
mod walk;
#[expect(clippy::expect_used, reason = "a case ends where its rule does not hold")]
mod worker;
#[expect(clippy::expect_used, clippy::panic, reason = "a case ends where its rule does not hold")]
mod world;

pub use case::Case;
pub use empty_store::{EmptyStore, Sql};
pub use faulty::{Fault, Faulty, FaultyCall};
pub use fixtures::Fixtures;
pub use image::sqlite_image;
pub use random::Random;
pub use run::{run, suite};
pub use walk::{place, sort_entries, walk};
pub use world::eventually;
