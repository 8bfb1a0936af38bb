//! People (§4.3).

mod change;
pub mod csv;
pub mod hold;
pub(crate) mod personal_data;
mod view;

pub use change::{create, deactivate, reactivate, rehire, update};
pub(crate) use change::{org_admins, other_admin};
pub use personal_data::PersonalData;
pub use view::{get, list};

/// `GET /employees/{id}/personal-data`, see [`personal_data::begin`].
pub use personal_data::{begin as begin_personal_data, check as check_personal_data};
