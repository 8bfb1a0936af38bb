//! Static files and pages for browsers that are no part of the API.

pub(crate) mod asset;
pub(crate) mod console;
pub(crate) mod invitation_page;
