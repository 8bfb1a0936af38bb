//! Addresses of rows: the columns by which a later part of a statement finds the rows that an earlier part locked.

/// Columns that identify the rows of one table within a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Address {
    /// Physical position (`ctid`), which only the server that stores the row knows.
    Place,
    /// Columns of the key after the tenant.
    Key(&'static [&'static str]),
}

impl Address {
    /// Returns the select list of the address, with the column names of [`Address::names`].
    pub(crate) fn columns(self) -> String {
        match self {
            Self::Place => "ctid AS place".to_owned(),
            Self::Key(columns) => columns.join(", "),
        }
    }

    /// Returns the address columns of rows selected as `found`.
    pub(crate) fn names(self, found: &str) -> String {
        let names: &[&str] = if let Self::Key(columns) = self { columns } else { &["place"] };
        names.iter().map(|name| format!("{found}.{name}")).collect::<Vec<_>>().join(", ")
    }

    /// Condition that `row` is the row selected as `found`. `tenant` is the placeholder of the tenant, for the
    /// lookup by key.
    pub(crate) fn is_same(self, row: &str, found: &str, tenant: &str) -> String {
        match self {
            Self::Place => format!("{row}.ctid = {found}.place"),
            Self::Key(columns) => {
                let equal = columns.iter().map(|name| format!(" AND {row}.{name} = {found}.{name}"));
                format!("{row}.tenant_id = {tenant}{}", equal.collect::<String>())
            }
        }
    }

    /// Condition that a row is in the result of a query. `query` builds the query for the given columns.
    pub(crate) fn is_among(self, query: impl Fn(&str) -> String) -> String {
        match self {
            Self::Place => format!("ctid = ANY(ARRAY({}))", query("ctid")),
            Self::Key(columns) => {
                let key = format!("tenant_id, {}", columns.join(", "));
                format!("({key}) IN ({})", query(&key))
            }
        }
    }
}
