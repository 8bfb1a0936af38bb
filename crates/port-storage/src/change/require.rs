//! Conditions of a change set about rows that it does not write, and the keys of rows.

use std::fmt;

use candor_domain::id::{DepartmentId, EmployeeId, Id, KeyId};
use candor_domain::time::Timestamp;
use candor_tables::Version;
use candor_tables::flat::{Stored, Table};
use candor_tables::listing::ARCHIVED;

/// A condition that is checked inside the transaction. A lock or an index keeps it true until the commit if
/// necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Require {
    /// The row exists and is not archived; see [`Require::open`].
    Open(RowKey),
    /// No active person belongs to the department, and none joins it until the commit.
    DepartmentVacant(DepartmentId),
    /// The row still has this version; see [`Require::has_version`].
    Unchanged(RowKey, Version),
    /// The data set has fewer rows of a table than a limit; see [`Require::rows_below`]. Concurrent commits with this
    /// condition wait for each other on the row of the organization, which must exist.
    RowsBelow(RowLimit),
    /// The organization has fewer of these keys than this number. Concurrent commits with this condition wait for
    /// each other on the row of the organization, which must exist.
    KeysBelow(ValidKeys, u32),
}

/// The keys of an organization that are valid at a time, act for one person or for none, and end with one session or
/// with none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidKeys {
    /// Person that the keys act for; `None` for keys of the organization.
    pub holder: Option<EmployeeId>,
    /// Session that the keys end with; `None` for keys that no session created.
    pub session: Option<KeyId>,
    /// Time at which the keys are neither revoked nor ended.
    pub at: Timestamp,
}

impl Require {
    /// Requires that a resource exists and is not archived. If its archiving checks for references (see
    /// [`Table::held_open`]), it also stays open until the commit. Other resources may be archived while they
    /// are in use, so that no commit has to wait.
    #[must_use]
    pub fn open<T: Stored>(id: Id<T::Kind>) -> Self {
        const { assert!(T::TABLE.has(&ARCHIVED), "what is never archived is always open") };
        Self::Open(RowKey { table: T::TABLE, id: id.to_bytes() })
    }

    /// Requires that a resource still has this version, and keeps it until the commit.
    #[must_use]
    pub const fn has_version<T: Stored>(id: Id<T::Kind>, version: Version) -> Self {
        const { assert!(T::TABLE.versioned && !T::TABLE.of_organization, "a version of one data set is compared") };
        Self::Unchanged(RowKey { table: T::TABLE, id: id.to_bytes() }, version)
    }

    /// Requires that the data set has fewer than `most` rows of a table. All of them are counted, so `most` should be
    /// low.
    #[must_use]
    pub const fn rows_below<T: Stored>(most: u32) -> Self {
        const { assert!(!T::TABLE.of_organization, "rows are counted in one data set") };
        Self::RowsBelow(RowLimit { table: T::TABLE, most })
    }
}

/// A limit for the rows of a table in a data set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RowLimit {
    /// Table of the rows.
    pub table: &'static Table,
    /// Number of rows at which the limit is reached.
    pub most: u32,
}

impl fmt::Debug for RowLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.table.name, self.most)
    }
}

/// Key of a row of any table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RowKey {
    /// Table of the row.
    pub table: &'static Table,
    /// Id of the row.
    pub id: [u8; 16],
}

impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:032x}", self.table.name, u128::from_be_bytes(self.id))
    }
}
