//! Versions of rows.

/// How often a resource was written; every write counts one up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

impl Version {
    /// The version of a new resource.
    pub const FIRST: Self = Self(1);

    /// The version after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A resource as it was read, with the version it had then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The resource.
    pub value: T,
    /// Its version.
    pub version: Version,
}
