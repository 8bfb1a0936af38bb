//! Connections to the server, and what travels on them.

pub(crate) mod flight;
pub(crate) mod lanes;
pub(crate) mod pool;
pub(crate) mod session;
pub(crate) mod tls;
pub(crate) mod wire;
