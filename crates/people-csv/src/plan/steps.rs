//! Steps of a plan, decided one at a time.

use std::collections::HashMap;

use candor_domain::decision::Decision;
use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;

use super::Plan;
use crate::decide::{ResolvedReferences, RowContext};
use crate::report::{self, PlannedRow, RowOutcome};
use crate::row_problem::UploadRowError;
use crate::{CellCounter, CsvRow, File, PersonNames, PlanOptions, StoredRows};

/// One row that changes one person. A plan of thousands of rows keeps only this much; [`Plan::decisions`] decides
/// the exact change again when it is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// Index of the row in the file.
    pub row: usize,
    /// Index of the person in [`StoredRows::people`], or `None` for a new person.
    pub before: Option<usize>,
    pub(super) id: EmployeeId,
    pub(super) wanted: ResolvedReferences,
}

/// Form in which a plan is shown.
#[derive(Debug)]
pub struct PlanDisplay {
    /// Names of stored people and departments that [`StoredRows`] lacks.
    pub names: PersonNames,
    /// `false` to leave out stored values, because a write scope alone does not permit reading (decision B3).
    pub shows_stored: bool,
    /// Maximum size of the rows as JSON, in bytes.
    pub max_bytes: usize,
}

impl Plan {
    /// Returns the decisions of a step, in order. The last one has the final state. With the arguments of the
    /// plan, these are the decisions of the plan.
    ///
    /// # Errors
    /// A rejection if the plan was made with other arguments.
    pub fn decisions(
        file: &File,
        known: &StoredRows,
        options: &PlanOptions<'_>,
        step: &PlannedStep,
    ) -> Result<Vec<Decision<Employee>>, UploadRowError> {
        let person_before = step.before.and_then(|at| known.people.get(at));
        let judge = RowContext { file, known, options };
        let row = file.rows.get(step.row).ok_or_else(|| UploadRowError::conflict("the file has no such row"))?;
        judge.decide(row, step.id, person_before, step.wanted)
    }

    /// Returns the planned change of each row, and reports the work on each row to `progress`, in cells. The second value
    /// is `true` if the rows end early, at the size of the display.
    ///
    /// # Errors
    /// The errors of [`Plan::decisions`].
    pub fn rows(
        &self,
        file: &File,
        known: &StoredRows,
        options: &PlanOptions<'_>,
        PlanDisplay { mut names, shows_stored, max_bytes }: PlanDisplay,
        progress: &mut CellCounter<'_>,
    ) -> Result<(Vec<PlannedRow>, bool), UploadRowError> {
        names.people.extend(known.people.iter().map(|person| (person.id, person.email.clone())));
        let is_other = |step: &PlannedStep, email: &str| {
            step.before.is_none_or(|at| known.people.get(at).is_none_or(|person| !person.has_mailbox(email)))
        };
        let rows_with_email = self.steps.iter().filter_map(|step| Some((step, &file.rows.get(step.row)?.email)));
        let other_rows = rows_with_email.filter(|(step, email)| is_other(step, email));
        names.people.extend(other_rows.map(|(step, email)| (step.id, email.clone())));
        names
            .departments
            .extend(known.departments.iter().map(|department| (department.id, department.name.clone())));
        names.departments.extend(self.departments.iter().map(|(id, decision)| (*id, decision.state.name.clone())));
        let steps: HashMap<usize, &PlannedStep> = self.steps.iter().map(|step| (step.row, step)).collect();
        let changes = |step: &&PlannedStep| {
            let person_before = step.before.and_then(|at| known.people.get(at));
            let decisions = Self::decisions(file, known, options, step)?;
            let state_after = decisions.last().map(|decision| &decision.state);
            let changes =
                state_after.map(|state_after| report::changes(person_before, state_after, &names, shows_stored));
            Ok::<_, UploadRowError>(changes.unwrap_or_default())
        };
        let mut plan_row = |(at, row): (usize, &CsvRow)| {
            let person = steps.get(&at).and_then(|step| known.people.get(step.before?));
            progress(file.row_cells(row) + person.map_or(0, |person| person.custom_fields.0.len()));
            Ok::<_, UploadRowError>(PlannedRow {
                row_number: row.number,
                email: row.email.clone(),
                action: self.outcomes.get(at).unwrap_or(&RowOutcome::Unchanged).action(),
                changes: steps.get(&at).map(changes).transpose()?.unwrap_or_default(),
            })
        };
        let (mut planned_rows, mut bytes) = (vec![], 0);
        for row in file.rows.iter().enumerate() {
            let planned_row = plan_row(row)?;
            // Rows are separated by commas.
            bytes += report::json_bytes(&planned_row) + 1;
            if bytes > max_bytes {
                return Ok((planned_rows, true));
            }
            planned_rows.push(planned_row);
        }
        Ok((planned_rows, false))
    }
}
