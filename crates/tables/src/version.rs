//! Versions of rows.

use candor_domain::decision::Resource;

/// Number of writes of a resource; each write increments it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

impl Version {
    /// Version of a new resource.
    pub const FIRST: Self = Self(1);

    /// Returns the next version.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A resource with the version at which it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The resource as it was read.
    pub value: T,
    /// Version of `value` in the store.
    pub version: Version,
}

impl<T: Resource> Versioned<T> {
    /// Returns the version that clients see in `ETag` and send in `If-Match`: without the changes that readers of the
    /// resource must not see.
    #[must_use]
    pub fn shown_version(&self) -> Version {
        Version(self.version.0 - i64::from(self.value.unseen_changes()))
    }
}
