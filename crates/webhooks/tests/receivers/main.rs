//! Attempts against well-behaved and misbehaving receivers; each must end in bounded time.

#![cfg(test)]

mod documented;
mod judge;
mod names;
mod plain;
mod reuse;
mod support;
mod tls;
