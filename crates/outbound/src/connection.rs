//! Open connections: their protocol, the task that runs them, and the bytes that the peer may still send.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use tokio::task::JoinHandle;

use crate::wire::Allowance;

/// The task that runs a connection. Dropping it closes the connection.
#[derive(Debug)]
pub struct Driver(JoinHandle<()>);

impl Driver {
    /// Wraps the task.
    #[must_use]
    pub const fn new(task: JoinHandle<()>) -> Self {
        Self(task)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The protocol of a connection.
#[derive(Debug)]
pub enum Wire {
    /// HTTP/1.1, with one request at a time.
    One(http1::SendRequest<Full<Bytes>>),
    /// HTTP/2, with concurrent requests.
    Many(http2::SendRequest<Full<Bytes>>),
}

/// An open connection with its read allowance.
#[derive(Debug)]
pub struct Connection {
    /// The protocol, which sends requests.
    pub wire: Wire,
    /// Number of bytes that the peer may still send.
    pub allowance: Allowance,
    /// The task that runs the connection.
    pub driver: Arc<Driver>,
}

impl Connection {
    /// Returns `true` if the connection can take another request.
    #[must_use]
    pub fn is_good(&self) -> bool {
        match &self.wire {
            Wire::One(sender) => sender.is_ready(),
            Wire::Many(sender) => !sender.is_closed(),
        }
    }

    /// Returns `true` if the connection takes concurrent requests.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self.wire, Wire::Many(_))
    }

    /// Returns a handle for another request on the same connection; `None` for HTTP/1.1.
    #[must_use]
    pub fn share(&self) -> Option<Self> {
        match &self.wire {
            Wire::One(..) => None,
            Wire::Many(sender) => Some(Self {
                wire: Wire::Many(sender.clone()),
                allowance: self.allowance.clone(),
                driver: Arc::clone(&self.driver),
            }),
        }
    }
}
