//! Tests of the temporary server: one database per test, and its end with its owner.

#![cfg(test)]

mod databases;
mod lifetime;
