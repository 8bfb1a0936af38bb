//! Rows from before there was an index of words, which are put into it piece by piece beside the service.

use async_trait::async_trait;

use candor_domain::access::Tenant;

use crate::flat::{Cell, Stored};
use crate::listing::{Listing, TypedListing};
use crate::put::AnyRow;
use crate::read::ID;
use crate::store::Read;

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

/// Brings the index of words up to date with rows from before it was there.
#[async_trait]
pub trait Indexing {
    /// Tables with rows that are not in the index yet: those of a tenant, or some of anybody's; at most so many.
    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<Backlog>>;
    /// Puts rows of such a table into the index, but for those that have changed since they were read, which put
    /// themselves there. Then the rows up to an id are in it, or all of them.
    async fn index(&self, backlog: &Backlog, rows: Vec<AnyRow>, up_to: Option<[u8; 16]>) -> Read<()>;
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
