//! Tables: their columns, their indexes, and whose rows they hold.

use candor_domain::access::Tenant;

use super::Column;

/// A table whose rows are values of one type. Every table starts with `tenant_id`, and its key is
/// `(tenant_id, <first column>)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What is written and read, the id first.
    pub columns: &'static [Column],
    /// What is written for the sake of indexes and never read.
    pub derived: &'static [Column],
    /// What is read behind the columns and never written with the value: facts that narrow calls write, and that do
    /// not count the version up.
    pub recorded: &'static [Column],
    /// What is read behind these from other tables, and stands in no column of this one.
    pub related: &'static [Related],
    /// Whether rows change; then the last column is `version`.
    pub versioned: bool,
    /// A side table by which rows are found.
    pub members: Option<MemberTable>,
    /// The indexes that lead to the rows of a tenant; see [`crate::access_path`].
    pub indexes: &'static [Index],
    /// Columns that no client filters by and that lists ask about beside a person whose rows are few: each of these rows
    /// is looked at.
    pub looked_at: &'static [&'static str],
    /// What the filters of columns are called that have another name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Whether rows belong to the organization and not to one of its data sets: they stand under its live tenant.
    pub of_organization: bool,
    /// Whether a new row can be saved together with those of other change sets, because two rows of one tenant never
    /// want the same value of anything but the id.
    pub shares_commits: bool,
    /// Whether whoever archives a row asks who uses it: then whoever begins to use it keeps it from being archived until
    /// the commit.
    pub held_open: bool,
    /// The background worker that has work after a write to this table.
    pub wakes: Option<BackgroundWorker>,
}

/// A background worker of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackgroundWorker {
    /// Delivers webhooks, and keeps subscriptions in memory.
    Delivery,
    /// Sends mails.
    Mail,
}

/// An index of a table. Every one of them begins with `tenant_id`, which is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The columns behind the tenant, at least as far as lists need them; more may follow in a store.
    pub columns: &'static [&'static str],
    /// Whether no two rows of a tenant have the same values in these columns.
    pub unique: bool,
    /// Whether it leads from each person in its first column to the first of their rows, so that the page of a team is
    /// found by these.
    pub firsts: bool,
    /// Whether so few rows have one value of its first column that they are better put in order than met along another
    /// index that has the order.
    pub of_few: bool,
}

impl Index {
    /// An index in the order of these columns.
    #[must_use]
    pub const fn on(columns: &'static [&'static str]) -> Self {
        Self { columns, unique: false, firsts: false, of_few: false }
    }

    /// An index of values that one row of a tenant can have.
    #[must_use]
    pub const fn unique(columns: &'static [&'static str]) -> Self {
        Self { unique: true, ..Self::on(columns) }
    }

    /// The same index, which leads to the first row of each person.
    #[must_use]
    pub const fn to_firsts(self) -> Self {
        Self { firsts: true, ..self }
    }

    /// The same index, whose first column has few rows of each value.
    #[must_use]
    pub const fn to_few(self) -> Self {
        Self { of_few: true, ..self }
    }
}

impl Table {
    /// A table with nothing but a name, to begin its declaration with.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self {
            name,
            columns: &[],
            derived: &[],
            recorded: &[],
            related: &[],
            versioned: true,
            members: None,
            indexes: &[],
            looked_at: &[],
            parameters: &[],
            of_organization: false,
            shares_commits: false,
            held_open: false,
            wakes: None,
        }
    }

    /// The tenant that rows stand under which somebody of this tenant writes or reads.
    #[must_use]
    pub const fn tenant(&self, own: Tenant) -> Tenant {
        if self.of_organization { Tenant::live(own.organization) } else { own }
    }

    /// Whether its rows have a column.
    #[must_use]
    pub const fn has(&self, column: &Column) -> bool {
        has(self.columns, column) || has(self.derived, column) || has(self.recorded, column)
    }

    /// The columns of the table that are read, in their order.
    pub fn read(&self) -> impl Iterator<Item = &'static Column> {
        self.columns.iter().chain(self.recorded)
    }
}

const fn has(columns: &[Column], wanted: &Column) -> bool {
    let mut at = 0;
    while at < columns.len() {
        if columns[at].kind as u8 == wanted.kind as u8 && is_same(columns[at].name, wanted.name) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A side table `(tenant_id, <member>, <owner>)`: which rows have a certain tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberTable {
    /// Its name.
    pub name: &'static str,
    /// The column with the row's id.
    pub owner: &'static str,
    /// The column with the tag.
    pub member: &'static str,
}

/// Ids of rows of another table that a side table ties to a row. They are looked up by an index whenever
/// the row is read, so they are never out of date, and whoever ties rows together need not write both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// What it is called where a stored value is corrupt.
    pub name: &'static str,
    /// The side table.
    pub members: MemberTable,
    /// The column of the side table with the row's id.
    pub by: &'static str,
    /// The column of the side table with the ids that are read.
    pub ids: &'static str,
    /// The column of the row with the same ids, if it has them as well: a store that can look for many ids at once need not
    /// ask the side table.
    pub column: Option<&'static str>,
    /// The table that these are the ids of.
    pub table: &'static str,
    /// Whether those of archived rows are wanted, or those of the others.
    pub archived: bool,
}
