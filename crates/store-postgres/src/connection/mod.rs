//! Connections to the server, their settings, and the statements and rows sent over them.

pub(crate) mod hosts;
pub(crate) mod pool;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod shared_connections;
pub(crate) mod standby;
pub(crate) mod tls;
