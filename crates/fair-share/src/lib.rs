//! Fair shares of threads, connections and processor time between tenants.
//!
//! Both stores and the service use these limiters, so that one tenant's slow or large work delays
//! only its own requests.

mod expiring_cache;
pub mod large_work;
mod places;
mod row_sizes;
mod turns;

pub use expiring_cache::ExpiringCache;
pub use large_work::{LargeWork, TooMuchWaitsError};
pub use places::{Places, SlowReadPermit, SlowReads};
pub use row_sizes::RowSizes;
pub use turns::FairQueue;
