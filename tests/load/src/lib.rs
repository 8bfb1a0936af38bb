//! Load on HTTP servers of this machine: prepared requests on many connections, with their latencies.

mod burst;
mod http;
mod random;

pub use burst::{Result, Sample, Shape, WriteRequest, burst, run_beside};
pub use http::{Connection, content_length, head_end};
pub use random::Random;
