//! The query parameters of a route.

use candor_domain::params::Params;

/// The query parameters of a route, as the domain reads them.
#[derive(Clone, Copy)]
pub struct Query {
    pub(crate) read: fn(&mut Params),
    /// Whether the answer is a page of a list.
    pub is_list: bool,
}

impl Query {
    /// Those of a list.
    pub(crate) const fn list(read: fn(&mut Params)) -> Self {
        Self { read, is_list: true }
    }

    /// Those of a route that answers no list.
    pub(crate) const fn one(read: fn(&mut Params)) -> Self {
        Self { read, is_list: false }
    }
}
