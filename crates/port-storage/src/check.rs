//! Conditions on stored rows under which a change set can be committed, checked without writing anything.

use candor_domain::conversation::Conversation;
use candor_subscriptions::Subscription;
use candor_tables::flat::{SqlValue, Stored};
use candor_tables::rows::{UNIQUES, UniqueColumn};
use candor_tables::{AnyRow, RowWriteError, Version};

use crate::change::{ChangeSet, CommitError, Require, RowKey, Write};

/// A condition on stored rows under which a change set can be committed.
#[derive(Debug, Clone, PartialEq)]
pub enum CommitCondition {
    /// A condition that the decision relied on.
    Required(Require),
    /// The row has this version.
    HasVersion(RowKey, Version),
    /// No row has this key.
    IsAbsent(RowKey),
    /// The row exists and is not archived.
    IsOpen(RowKey),
    /// No other row has this value in a unique column.
    IsFree(RowKey, UniqueColumn, SqlValue),
    /// The reporting tree of the tenant has this version.
    TreeHasVersion(Version),
}

impl CommitCondition {
    /// Returns the error of a commit for which this condition does not hold.
    #[must_use]
    pub const fn error(&self) -> CommitError {
        match self {
            Self::Required(require) => CommitError::Broken(*require),
            Self::HasVersion(..) | Self::IsOpen(_) | Self::TreeHasVersion(_) => CommitError::Stale,
            Self::IsAbsent(_) => CommitError::Taken(candor_tables::Unique::Id),
            Self::IsFree(_, column, _) => CommitError::Taken(column.unique),
        }
    }
}

impl ChangeSet {
    /// Returns the conditions under which this change set can be committed: the required ones, versions, and
    /// unique values.
    ///
    /// Three parts of a commit have no conditions here. The rows that a change set refers to were read for its
    /// decision. Ids of events, audit entries and notifications are new. Promised attempts of deliveries belong to
    /// operations without dry runs.
    ///
    /// # Errors
    /// Returns [`RowWriteError`] if a row cannot be encoded.
    pub fn conditions(&self) -> Result<Vec<CommitCondition>, RowWriteError> {
        let mut conditions: Vec<_> = self.requires.iter().copied().map(CommitCondition::Required).collect();
        for write in &self.writes {
            match write {
                Write::Put(row) => row_conditions(row, &mut conditions)?,
                Write::PutReporting { row, lines, .. } => {
                    let tree = lines.seen.map(CommitCondition::TreeHasVersion);
                    conditions.extend(tree.filter(|tree| !conditions.contains(tree)));
                    row_conditions(row, &mut conditions)?;
                }
                Write::MessageAdded(id, _) => {
                    conditions
                        .push(CommitCondition::IsOpen(RowKey { table: Conversation::TABLE, id: id.to_bytes() }));
                }
                Write::WebhookRemoved(id, version) => {
                    let key = RowKey { table: Subscription::TABLE, id: id.to_bytes() };
                    conditions.push(CommitCondition::HasVersion(key, *version));
                }
                Write::Removed(key, version) => conditions.push(CommitCondition::HasVersion(*key, *version)),
                Write::NotificationsRead(..)
                | Write::Erase(_)
                | Write::StreakReset(_)
                | Write::FailingReported(_)
                | Write::Enqueue(_)
                | Write::BringForward(..) => {}
            }
        }
        Ok(conditions)
    }
}

fn row_conditions(row: &AnyRow, conditions: &mut Vec<CommitCondition>) -> Result<(), RowWriteError> {
    let key = RowKey { table: row.table(), id: row.id() };
    conditions.push(
        row.version_read()
            .map_or(CommitCondition::IsAbsent(key), |version| CommitCondition::HasVersion(key, version)),
    );
    for column in UNIQUES.iter().filter(|column| column.table == key.table.name) {
        let value = row.cell(column.column)?.filter(|cell| !matches!(cell, SqlValue::Null(_)));
        conditions.extend(value.map(|value| CommitCondition::IsFree(key, *column, value.clone())));
    }
    Ok(())
}
