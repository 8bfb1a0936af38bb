//! People (§4.3).

mod change;
mod view;

pub use change::{create, deactivate, reactivate, rehire, update};
pub use view::{get, list};
