//! What the steps of a plan do, decided one by one.

use std::collections::HashMap;

use super::decide::{Judge, Wanted};
use super::report::{self, PlannedRow, RowOutcome};
use super::row_problem::Rejection;
use super::{CsvRow, File, Known, PersonNames, Plan, PlanOptions};
use crate::decision::Decision;
use crate::id::EmployeeId;
use crate::people::Employee;
use crate::text::folded;

/// One row that changes one person. Of thousands of rows only this much is kept; what exactly changes is decided again
/// when their turn comes, see [`Plan::decisions`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The place of the row in the file.
    pub row: usize,
    /// The place of the person among those known; `None` for somebody new.
    pub before: Option<usize>,
    pub(super) id: EmployeeId,
    pub(super) wanted: Wanted,
}

impl Plan {
    /// What a step does, in order; the last decision has the final state. With what the plan was made of, this decides
    /// the same as the plan did.
    ///
    /// # Errors
    /// Why it is refused now: the plan was made of something else.
    pub fn decisions(
        file: &File,
        known: &Known,
        options: &PlanOptions<'_>,
        step: &Step,
    ) -> Result<Vec<Decision<Employee>>, Rejection> {
        let stored = step.before.and_then(|it| known.people.get(it));
        let judge = Judge { file, known, options };
        let row = file.rows.get(step.row).ok_or_else(|| Rejection::conflict("the file has no such row"))?;
        judge.decide(row, step.id, stored, step.wanted)
    }

    /// What would become of each row, with what would change; `names` are those of whoever is stored. Stored
    /// values are left out unless `shows_stored`: a write scope alone reads nothing (decision B3).
    ///
    /// # Errors
    /// As [`Plan::decisions`].
    pub fn rows(
        &self,
        file: &File,
        known: &Known,
        options: &PlanOptions<'_>,
        mut names: PersonNames,
        shows_stored: bool,
    ) -> Result<Vec<PlannedRow>, Rejection> {
        names.people.extend(known.people.iter().map(|it| (it.id, it.email.clone())));
        // In another spelling an address is the same.
        let is_other = |step: &Step, email: &str| {
            step.before.is_none_or(|it| known.people.get(it).is_none_or(|it| folded(&it.email) != folded(email)))
        };
        let given = self.steps.iter().filter_map(|it| Some((it, &file.rows.get(it.row)?.email)));
        let given = given.filter(|(step, email)| is_other(step, email));
        names.people.extend(given.map(|(step, email)| (step.id, email.clone())));
        names.departments.extend(known.departments.iter().map(|it| (it.id, it.name.clone())));
        names.departments.extend(self.departments.iter().map(|(id, it)| (*id, it.state.name.clone())));
        let steps: HashMap<usize, &Step> = self.steps.iter().map(|it| (it.row, it)).collect();
        let changes = |step: &&Step| {
            let before = step.before.and_then(|it| known.people.get(it));
            let decisions = Self::decisions(file, known, options, step)?;
            let after = decisions.last().map(|decision| &decision.state);
            let changes = after.map(|after| report::changes(before, after, &names, shows_stored));
            Ok::<_, Rejection>(changes.unwrap_or_default())
        };
        let planned = |(at, row): (usize, &CsvRow)| {
            Ok(PlannedRow {
                row_number: row.number,
                email: row.email.clone(),
                action: self.outcomes.get(at).unwrap_or(&RowOutcome::Unchanged).action(),
                changes: steps.get(&at).map(changes).transpose()?.unwrap_or_default(),
            })
        };
        file.rows.iter().enumerate().map(planned).collect()
    }
}
