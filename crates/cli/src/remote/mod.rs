//! A running service that commands call with an API key of the user.

mod account;
mod api_key;
mod failure;
mod profiles;

pub(crate) use account::{API_KEY, Account, AccountChoice, variable};
pub(crate) use api_key::ApiKey;
pub(crate) use failure::RemoteError;
pub(crate) use profiles::{Profile, ProfileName, Profiles};
