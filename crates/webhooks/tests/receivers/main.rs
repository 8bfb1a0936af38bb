//! Attempts against receivers that behave, and receivers that do not: each ends as it must, in bounded time.

#![cfg(test)]

mod judge;
mod names;
mod plain;
mod reuse;
mod support;
mod tls;
