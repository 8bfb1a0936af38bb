//! Connections of clients: their address, how many a client may have, how fast they are read and written.

pub(crate) mod address;
mod blank_line;
pub(crate) mod connections;
pub(crate) mod listening;
pub(crate) mod pace;
pub(crate) mod paced;
pub(crate) mod read_gate;
