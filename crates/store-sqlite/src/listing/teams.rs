//! The people below a manager in the statements of lists.
//!
//! The people are read from the closure of the reporting lines. While the closure is rebuilt after a move of many
//! people (`commit/rebuild.rs`), statements follow the managers of the people, which takes about ten times as
//! long.

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_tables::listing::{Condition, Listing};

use crate::commit::rebuild;
use crate::sql::Db;
use crate::text::Draft;

/// Source of the people below a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeamSource {
    /// The closure of the reporting lines.
    Lines,
    /// The managers of the people, while the closure is incomplete.
    People,
}

impl TeamSource {
    /// Returns the source for these lists; [`TeamSource::Lines`] if none of them has a condition on a team.
    pub(crate) fn for_lists(db: &mut Db, tenant: Tenant, lists: &[Listing]) -> Read<Self> {
        let concerns_a_team = |condition: &Condition| {
            matches!(condition, Condition::Within(..) | Condition::Reach(..) | Condition::Without(..))
        };
        let concerns_teams = lists.iter().flat_map(|list| &list.conditions).any(concerns_a_team);
        if concerns_teams { Self::now(db, tenant) } else { Ok(Self::Lines) }
    }

    /// Returns the source of the tenant's teams.
    pub(crate) fn now(db: &mut Db, tenant: Tenant) -> Read<Self> {
        Ok(if rebuild::are_complete(db, tenant)? { Self::Lines } else { Self::People })
    }
}

/// The people below a manager.
#[derive(Clone, Copy)]
pub(crate) struct PeopleBelow {
    pub(crate) source: TeamSource,
    pub(crate) manager: EmployeeId,
    /// `true` if the manager is included.
    pub(crate) itself: bool,
}

impl PeopleBelow {
    /// Adds a query for the ids of the people, in the column `person`.
    pub(crate) fn select(self, draft: &mut Draft, tenant: Tenant) {
        match self.source {
            TeamSource::Lines => {
                draft.with("SELECT descendant_id AS person FROM reporting_lines WHERE tenant_id = ", tenant);
                draft.with(" AND ancestor_id = ", self.manager);
            }
            TeamSource::People => {
                draft.with("SELECT person FROM (WITH RECURSIVE down (person) AS (SELECT id FROM employees WHERE tenant_id = ", tenant);
                draft.with(" AND manager_id = ", self.manager);
                draft.with(" UNION SELECT e.id FROM down CROSS JOIN employees e WHERE e.tenant_id = ", tenant);
                draft.add(" AND e.manager_id = down.person) SELECT person FROM down)");
            }
        }
        if self.itself {
            draft.with(" UNION ALL SELECT ", self.manager);
        }
    }

    /// Adds the condition that the column is one of the people. The people are looked up for each row, or hashed
    /// once if `is_hashed`.
    pub(crate) fn is_met<'d>(
        self,
        draft: &'d mut Draft,
        tenant: Tenant,
        column: &str,
        is_hashed: bool,
    ) -> &'d mut Draft {
        if is_hashed {
            draft.add(&format!(" AND (+t.{column} IN ("));
            self.select(draft, tenant);
            return draft.add("))");
        }
        draft.add(" AND (");
        if self.itself {
            draft.with(&format!("+t.{column} = "), self.manager).add(" OR ");
        }
        self.exists(draft, tenant, column);
        draft.add(")")
    }

    /// Adds the condition that the column is none of the people.
    pub(crate) fn is_unmet<'d>(self, draft: &'d mut Draft, tenant: Tenant, column: &str) -> &'d mut Draft {
        draft.add(" AND NOT ");
        self.exists(draft, tenant, column)
    }

    /// Adds the test whether the person in the column is below the manager.
    fn exists<'d>(self, draft: &'d mut Draft, tenant: Tenant, column: &str) -> &'d mut Draft {
        match self.source {
            TeamSource::Lines => {
                draft.with("EXISTS (SELECT 1 FROM reporting_lines l WHERE l.tenant_id = ", tenant);
                draft.with(" AND l.ancestor_id = ", self.manager);
                draft.add(&format!(" AND l.descendant_id = +t.{column})"))
            }
            TeamSource::People => {
                draft.add("EXISTS (WITH RECURSIVE up (person) AS (SELECT e.manager_id FROM employees e");
                draft.with(" WHERE e.tenant_id = ", tenant).add(&format!(" AND e.id = +t.{column}"));
                draft.add(" UNION SELECT e.manager_id FROM up CROSS JOIN employees e");
                draft.with(" WHERE e.tenant_id = ", tenant).add(" AND e.id = up.person)");
                draft.with(" SELECT 1 FROM up WHERE person = ", self.manager).add(")")
            }
        }
    }
}

/// Returns the people below a manager at any depth.
pub(crate) fn people_below(db: &mut Db, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>> {
    let people = PeopleBelow { source: TeamSource::now(db, tenant)?, manager, itself: false };
    let mut draft = Draft::default();
    people.select(&mut draft, tenant);
    db.rows(draft.finish(), |row| {
        let corrupt = |reason| StorageError::Corrupt { table: "reporting_lines", column: "descendant_id", reason };
        let person = row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))?;
        Ok(Id::from_bytes(person))
    })
}
