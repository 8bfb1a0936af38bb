//! Counts of the rows of a list by group. The conditions are those of the list, so a count includes exactly the
//! rows that the list shows.

use crate::error::CorruptRowError;
use crate::flat::{CellReader, Column, MemberTable, SqlValue, Type};

/// Parameter that the error names if a count exceeds the limits of slow reads.
pub const GROUP_BY: &str = "group_by";

/// A value by which rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKey {
    /// The text of a column of the counted row.
    Column(Column),
    /// The month of a date column, as text of the form `YYYY-MM`.
    Month(Column),
    /// Each tag of a row; null for rows without tags.
    Tag(MemberTable),
    /// A column of a row in another table, to which the counted row refers by an id.
    Related {
        /// Column of the counted row with that id.
        by: Column,
        /// Name of the table that the id refers to.
        table: &'static str,
        /// Column whose value groups the counted rows.
        column: &'static str,
    },
}

impl GroupKey {
    /// Returns `true` if the value is in the row itself.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Column(_) | Self::Month(_))
    }
}

/// Number of the rows with the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCount {
    /// Values in the order of the keys.
    pub values: Vec<SqlValue>,
    /// Number of rows with these values.
    pub count: u64,
}

/// Counts of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedGroups {
    /// The largest groups, in any order.
    pub groups: Vec<GroupCount>,
    /// Sum of the counts of all groups.
    pub total: u64,
}

impl CountedGroups {
    /// Creates the counts from rows of [`read_count`].
    #[must_use]
    pub fn from_rows(rows: Vec<(GroupCount, u64)>) -> Self {
        let total = rows.first().map_or(0, |(_, total)| *total);
        Self { groups: rows.into_iter().map(|(group, _)| group).collect(), total }
    }
}

/// Reads a row of counts: a value for each key, the number of rows of the group, and the number of all rows.
///
/// # Errors
/// [`CorruptRowError`] naming the table.
pub fn read_count(
    row: &mut dyn CellReader,
    table: &'static str,
    keys: &[GroupKey],
) -> Result<(GroupCount, u64), CorruptRowError> {
    let corrupt = |reason| CorruptRowError { table, column: "count", reason };
    let mut values = vec![];
    for key in keys {
        values.push(match key {
            GroupKey::Column(_) | GroupKey::Month(_) => {
                row.text().map_err(corrupt)?.map_or(SqlValue::Null(Type::Text), SqlValue::Text)
            }
            GroupKey::Tag(_) | GroupKey::Related { .. } => {
                row.id().map_err(corrupt)?.map_or(SqlValue::Null(Type::Id), SqlValue::Id)
            }
        });
    }
    let mut number = || row.int().map(|count| count.unwrap_or_default().unsigned_abs()).map_err(corrupt);
    Ok((GroupCount { values, count: number()? }, number()?))
}
