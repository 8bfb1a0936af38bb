//! Addresses of rows: how a statement finds the rows again that a part of it has found and locked.

/// The columns that tell rows of one table apart within a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Address {
    /// The place of the row in its table, which only the server that stores it knows.
    Place,
    /// The key of the row behind its tenant.
    Key(&'static [&'static str]),
}

impl Address {
    /// The columns of a row as they are selected, each under the name that [`Address::names`] uses.
    pub(crate) fn columns(self) -> String {
        match self {
            Self::Place => "ctid AS place".to_owned(),
            Self::Key(columns) => columns.join(", "),
        }
    }

    /// The same columns of rows that were found as `found`.
    pub(crate) fn names(self, found: &str) -> String {
        let names: &[&str] = if let Self::Key(columns) = self { columns } else { &["place"] };
        names.iter().map(|name| format!("{found}.{name}")).collect::<Vec<_>>().join(", ")
    }

    /// Condition that `row` is the row that was found as `found`. `tenant` is the placeholder of its tenant, which stands
    /// there for the lookup by a key.
    pub(crate) fn is_same(self, row: &str, found: &str, tenant: &str) -> String {
        match self {
            Self::Place => format!("{row}.ctid = {found}.place"),
            Self::Key(columns) => {
                let equal = columns.iter().map(|name| format!(" AND {row}.{name} = {found}.{name}"));
                format!("{row}.tenant_id = {tenant}{}", equal.collect::<String>())
            }
        }
    }

    /// Condition that a row is among those of a query, which is given the columns to select.
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
