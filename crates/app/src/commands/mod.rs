//! The commands of the program, one module for each.

pub(crate) mod backup;
pub(crate) mod config;
pub(crate) mod connector;
pub(crate) mod console;
pub(crate) mod copy;
pub(crate) mod describe;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod erasure;
pub(crate) mod healthcheck;
pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod migrate;
pub(crate) mod org;
pub(crate) mod rekey;
pub(crate) mod sample;
pub(crate) mod serve;
