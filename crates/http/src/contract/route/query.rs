//! Query parameters of routes.

use candor_domain::params::Params;

/// Query parameters of a route, described by running the domain's own parser.
#[derive(Clone, Copy)]
pub struct Query {
    pub(crate) read: fn(&mut Params),
    /// `true` if the route answers a page of a list.
    pub is_list: bool,
}

impl Query {
    /// Creates the parameters of a list.
    pub(crate) const fn list(read: fn(&mut Params)) -> Self {
        Self { read, is_list: true }
    }

    /// Creates the parameters of a route that is no list.
    pub(crate) const fn one(read: fn(&mut Params)) -> Self {
        Self { read, is_list: false }
    }
}
