//! Erasure of the data about a person, which leaves the id and a pseudonym.

pub mod texts;
