//! Rows from before there was an index of words, which are put into it piece by piece beside the service.

use candor_domain::access::Tenant;

use crate::flat::{Cell, Stored};
use crate::listing::{Listing, TypedListing};
use crate::read::ID;

/// A table of a tenant with rows that are not in the index of words yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Whose rows.
    pub tenant: Tenant,
    /// The table's name.
    pub table: String,
    /// Rows up to this id are in the index.
    pub after: [u8; 16],
}

impl Backlog {
    /// The rows that come next, in the order of their ids.
    #[must_use]
    pub fn next<T: Stored>(&self, limit: u16) -> TypedListing<T> {
        let mut it = Listing::ordered::<T>(ID, false, limit);
        it.after = Some((Cell::Id(self.after), self.after));
        it.alone()
    }
}
