//! Descriptions of tables: columns, indexes and ownership.

use candor_domain::access::Tenant;

use super::Column;

/// A table whose rows are values of one type. A table starts with `tenant_id`, and its key is
/// `(tenant_id, <first column>)` unless its [`SchemaTable`](crate::schema::SchemaTable) has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Columns that are written and read, the id first.
    pub columns: &'static [Column],
    /// Columns that are written for indexes and never read.
    pub derived: &'static [Column],
    /// Columns that are read but not written with the value. Separate store operations write them without
    /// incrementing the version.
    pub recorded: &'static [Column],
    /// Ids that are read from other tables, after the columns.
    pub related: &'static [Related],
    /// `true` if rows are updated; then the last column is `version`.
    pub versioned: bool,
    /// Side tables to find rows by tags.
    pub members: &'static [MemberTable],
    /// Indexes within a tenant; see [`crate::access_path`].
    pub indexes: &'static [Index],
    /// Columns whose conditions a scan may check row by row: the conditions exclude few rows, or the list is also
    /// restricted to one person, who has few rows.
    pub looked_at: &'static [&'static str],
    /// Names of filters that differ from their column, as pairs of column and filter.
    pub parameters: &'static [(&'static str, &'static str)],
    /// `true` if rows belong to the organization instead of one data set. They are stored under its live tenant.
    pub of_organization: bool,
    /// `true` if new rows can share a commit with other change sets. Rows with a unique value other than the id
    /// never share one, because two of them may compete for the value.
    pub shares_commits: bool,
    /// `true` if a row in use cannot be archived. A commit that adds a reference then locks the referenced row, so
    /// that it cannot be archived before that commit ends.
    pub held_open: bool,
    /// Background worker that has work after a write to this table.
    pub wakes: Option<BackgroundWorker>,
}

/// A background worker of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackgroundWorker {
    /// Delivers webhooks and caches subscriptions.
    Delivery,
    /// Sends emails of invitations.
    Mail,
}

/// An index of a table, without the leading `tenant_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Columns after the tenant, as far as lists need them. A store may have further ones.
    pub columns: &'static [&'static str],
    /// `true` if the columns are unique within a tenant.
    pub unique: bool,
    /// `true` if the first column is a person, and the index finds the first row of each person in list order.
    /// That bounds the cost of a page of a team.
    pub firsts: bool,
    /// `true` if a value of the first column has few rows: sorting them is cheaper than a scan in another index's
    /// order.
    pub of_few: bool,
}

impl Index {
    /// Creates an index on these columns.
    #[must_use]
    pub const fn of_columns(columns: &'static [&'static str]) -> Self {
        Self { columns, unique: false, firsts: false, of_few: false }
    }

    /// Creates an index on columns that are unique within a tenant.
    #[must_use]
    pub const fn unique(columns: &'static [&'static str]) -> Self {
        Self { unique: true, ..Self::of_columns(columns) }
    }

    /// Marks the index as one that finds the first row of each person.
    #[must_use]
    pub const fn to_firsts(self) -> Self {
        Self { firsts: true, ..self }
    }

    /// Marks the index as one whose first column has few rows per value.
    #[must_use]
    pub const fn to_few(self) -> Self {
        Self { of_few: true, ..self }
    }
}

impl Table {
    /// Returns `true` if at most one row of a tenant has a value in this column.
    #[must_use]
    pub fn is_unique(&self, column: &Column) -> bool {
        column.name == "id" || self.indexes.iter().any(|index| index.unique && index.columns == [column.name])
    }

    /// Creates a table with only a name, as the base of a declaration.
    #[must_use]
    pub const fn with_name(name: &'static str) -> Self {
        Self {
            name,
            columns: &[],
            derived: &[],
            recorded: &[],
            related: &[],
            versioned: true,
            members: &[],
            indexes: &[],
            looked_at: &[],
            parameters: &[],
            of_organization: false,
            shares_commits: false,
            held_open: false,
            wakes: None,
        }
    }

    /// Returns the tenant under which rows of this tenant are stored.
    #[must_use]
    pub const fn tenant(&self, own: Tenant) -> Tenant {
        if self.of_organization { Tenant::live(own.organization) } else { own }
    }

    /// Returns `true` if the table has this column.
    #[must_use]
    pub const fn has(&self, column: &Column) -> bool {
        has(self.columns, column) || has(self.derived, column) || has(self.recorded, column)
    }

    /// Returns the columns that are read, in order.
    pub fn read(&self) -> impl Iterator<Item = &'static Column> {
        self.columns.iter().chain(self.recorded)
    }
}

const fn has(columns: &[Column], wanted: &Column) -> bool {
    let mut index = 0;
    while index < columns.len() {
        if columns[index].kind as u8 == wanted.kind as u8 && is_same(columns[index].name, wanted.name) {
            return true;
        }
        index += 1;
    }
    false
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// A side table `(tenant_id, <member>, <owner>)` that relates rows to tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberTable {
    /// Name of the side table.
    pub name: &'static str,
    /// Column with the row's id.
    pub owner: &'static str,
    /// Column with the tag.
    pub member: &'static str,
}

/// Ids of rows of another table that a side table relates to a row. They are looked up on each read, so that
/// they are always current and a new relation writes only one of the two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// Name in errors about corrupt values.
    pub name: &'static str,
    /// Side table with the relation.
    pub members: MemberTable,
    /// Column of the side table with the row's id.
    pub by: &'static str,
    /// Column of the side table with the related ids.
    pub ids: &'static str,
    /// Column of the row with the same ids, if it has one. A store that looks up many ids at once can skip
    /// the side table.
    pub column: Option<&'static str>,
    /// Table of the related rows.
    pub table: &'static str,
    /// Selects archived related rows if `true`, active ones if `false`.
    pub archived: bool,
    /// Maximum number of ids, those of the newest rows. `None` if a row has a bounded number of members.
    pub newest: Option<usize>,
}
