//! People (§4.3).

mod change;
pub mod csv;
mod view;

pub use change::{create, deactivate, reactivate, rehire, update};
pub use view::{get, list};
